package entitlement

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"sundry/core/access"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/plan"
	"sundry/ports"
)

const maxNote = 500

// Gift is what to give by hand: a plan of a listing, or entitlements and credits of one's own choosing.
type Gift struct {
	Listing, Plan string // catalog key and plan key
	Entitlements  []plan.EntitlementDraft
	Credits       []plan.Credit
	ExpiresAt     time.Time // account time; zero = it lasts
	Note          string
}

// Check adds everything to f that is wrong with giving this to the customer, but for the clock, and returns what is given.
func (g Gift) Check(externalCustomerID string, f *fault.Faults) access.Gift {
	customer.ValidateExternalID("externalCustomerId", externalCustomerID, f)
	byPlan, loose := g.Listing != "" || g.Plan != "", len(g.Entitlements)+len(g.Credits) > 0
	switch {
	case byPlan && loose:
		f.Add("listing", fault.DetailNotAllowed, "Give a plan of a listing, or entitlements and credits, not both.")
	case byPlan:
		f.Check(g.Listing != "", "listing", fault.DetailRequired, "Expected the catalog key of the listing that has the plan.")
		f.Check(g.Plan != "", "plan", fault.DetailRequired, "Expected the key of a plan of the listing.")
	case !loose:
		f.Add("listing", fault.DetailRequired, "Give a plan of a listing, or entitlements and credits.")
	}
	f.Check(utf8.RuneCountInString(g.Note) <= maxNote, "note", fault.DetailTooLong, "Expected at most 500 characters.")
	return access.Gift{ExpiresAt: g.ExpiresAt, Note: g.Note, Terms: plan.Terms{
		Entitlements: plan.ParseEntitlements(f, "entitlements", g.Entitlements),
		Credits:      plan.CheckCredits(f, "credits", g.Credits),
	}}
}

// GrantManually gives the customer what the gift says. VALIDATION_FAILED with every fault; the refusals of
// ports.PlanTerms.
func (s *Service) GrantManually(ctx context.Context, creatorID, externalCustomerID string, gift Gift) (*access.Grant, error) {
	var granted *access.Grant
	now, err := s.clock.Now(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	var f fault.Faults
	given := gift.Check(externalCustomerID, &f)
	f.Check(gift.ExpiresAt.IsZero() || gift.ExpiresAt.After(now), "expiresAt", fault.DetailOutOfRange, "Expected a time in the future.")
	if err := f.Err(); err != nil {
		return nil, err
	}
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if gift.Listing != "" {
			offer, err := s.terms.TermsOf(ctx, r, creatorID, gift.Listing, gift.Plan)
			if err != nil {
				return err
			}
			given.Offer = &offer
		}
		_, err := s.change(ctx, r, creatorID, externalCustomerID, func(c *holder) (access.Cause, error) {
			granted = access.ByHand(s.ids.New(id.Grant), creatorID, externalCustomerID, given, c.now)
			return access.Cause{Kind: access.GrantCreated, ID: granted.State().ID}, c.add(ctx, granted)
		})
		if err != nil || given.ExpiresAt.IsZero() {
			return err
		}
		return r.Tasks.Schedule(ctx, TaskExpire, granted.State().ID, creatorID, given.ExpiresAt)
	})
	return granted, err
}

// RevokeManually takes back a grant that was given by hand; again, it answers the same. NOT_FOUND for a grant that is
// not this customer's, STATE_CONFLICT for one from another source or one that has expired.
func (s *Service) RevokeManually(ctx context.Context, creatorID, externalCustomerID, grantID string) (*access.Grant, error) {
	if !id.Valid(id.Grant, grantID) {
		return nil, errNoGrant()
	}
	var revoked *access.Grant
	err := s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		_, err := s.change(ctx, r, creatorID, externalCustomerID, func(c *holder) (access.Cause, error) {
			var err error
			if revoked, err = c.own(ctx, grantID); err != nil {
				return access.Cause{}, err
			}
			before := revoked.State().Revision
			if err := revoked.Revoke(c.now); err != nil || revoked.State().Revision == before {
				return access.Cause{}, err
			}
			cause := access.Cause{Kind: access.GrantRevoked, ID: grantID}
			return cause, errors.Join(c.edit(ctx, revoked, nil), r.Tasks.Cancel(ctx, TaskExpire, grantID))
		})
		return err
	})
	return revoked, err
}

// errNoGrant is the same for an unknown grant and for another customer's.
func errNoGrant() error { return fault.NotFound("grant of this customer") }

// own is the customer's grant with this id, running or ended. NOT_FOUND.
func (c *holder) own(ctx context.Context, grantID string) (*access.Grant, error) {
	if running := c.find(grantID); running != nil {
		return running, nil
	}
	g, err := c.repos.Grants.Find(ctx, c.document.CreatorID, grantID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && g.State().ExternalCustomerID != c.document.ExternalCustomerID {
		return nil, errNoGrant()
	}
	return g, err
}
