package access

import (
	"context"
	"errors"
	"time"

	"sundry/core/access"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/plan"
	"sundry/core/text"
	"sundry/ports"
)

const maxNote = 500

// GrantRequest describes a manual grant: a plan of a listing, or entitlements and credits that the caller chooses.
type GrantRequest struct {
	Listing, Plan string // catalog key and plan key
	Entitlements  []plan.EntitlementDraft
	Credits       []plan.Credit
	ExpiresAt     time.Time // account time; zero = it lasts
	Note          string
}

// Check adds to f every fault of granting this to the customer, except those that depend on the clock, and returns
// the grant.
func (g GrantRequest) Check(externalCustomerID string, f *fault.Violations) access.ManualGrant {
	customer.ValidateExternalID("externalCustomerId", externalCustomerID, f)
	byPlan, loose := g.Listing != "" || g.Plan != "", len(g.Entitlements)+len(g.Credits) > 0
	switch {
	case byPlan && loose:
		f.Add("listing", fault.DetailNotAllowed, "Give a plan of a listing, or entitlements and credits, not both.")
	case byPlan:
		f.Check(
			g.Listing != "", "listing", fault.DetailRequired,
			"Expected the catalog key of the listing that has the plan.",
		)
		f.Check(g.Plan != "", "plan", fault.DetailRequired, "Expected the key of a plan of the listing.")
	case !loose:
		f.Add("listing", fault.DetailRequired, "Give a plan of a listing, or entitlements and credits.")
	}
	text.CheckLines(f, "note", g.Note, maxNote)
	return access.ManualGrant{ExpiresAt: g.ExpiresAt, Note: g.Note, Terms: plan.Terms{
		Entitlements: plan.ParseEntitlements(f, "entitlements", g.Entitlements),
		Credits:      plan.CheckCredits(f, "credits", g.Credits),
	}}
}

// GrantManually gives the customer what the request contains. VALIDATION_FAILED with every fault, also for the
// service's id of a customer whose access is read under another name; STATE_CONFLICT for that of one who was erased;
// the refusals of ports.PlanTerms.
func (s *Service) GrantManually(
	ctx context.Context, creatorID, externalCustomerID string, request GrantRequest,
) (*access.Grant, error) {
	var granted *access.Grant
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	var f fault.Violations
	given := request.Check(externalCustomerID, &f)
	f.Check(
		request.ExpiresAt.IsZero() || request.ExpiresAt.After(now), "expiresAt", fault.DetailOutOfRange,
		"Expected a time in the future.",
	)
	if err := f.Err(); err != nil {
		return nil, err
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := s.checkName(ctx, r, creatorID, externalCustomerID); err != nil {
			return err
		}
		if request.Listing != "" {
			offer, err := s.deps.Terms.TermsOf(ctx, r, creatorID, request.Listing, request.Plan)
			if err != nil {
				return err
			}
			given.Offer = &offer
		}
		_, err := s.withLockedAccess(ctx, r, creatorID, externalCustomerID, func(c *lockedAccess) (access.Cause, error) {
			granted = access.NewManual(s.deps.IDs.New(id.Grant), creatorID, externalCustomerID, given, c.now)
			return access.Cause{Kind: access.GrantCreated, ID: granted.State().ID}, c.add(ctx, granted)
		})
		if err == nil {
			err = s.audit(ctx, r, identity.AccessGranted, granted.State())
		}
		if err != nil || given.ExpiresAt.IsZero() {
			return err
		}
		return r.Tasks.Schedule(ctx, TaskExpire, granted.State().ID, creatorID, given.ExpiresAt)
	})
	return granted, err
}

// checkName refuses the service's id of a customer who has another name by now, which they keep until the transaction
// ends: nothing that is given under that id would be read. VALIDATION_FAILED, and STATE_CONFLICT for the id of one who
// was erased: a note would be about the person again.
func (s *Service) checkName(ctx context.Context, r ports.Repos, creatorID, name string) error {
	if !id.Valid(id.Customer, name) {
		return nil
	}
	known, err := s.deps.Customers.CustomerForShare(ctx, r, name)
	switch {
	case fault.Is(err, fault.CustomerNotFound):
		return nil
	case err != nil:
		return err
	case known.CreatorID != creatorID:
		return nil
	case customer.AccessKey(known.ExternalCustomerID, known.ID) == name:
		return known.RefuseErased()
	}
	return known.RefuseAsName()
}

// audit records what was done to a manual grant, with its customer.
func (s *Service) audit(ctx context.Context, r ports.Repos, kind identity.AccountEventKind, g access.State) error {
	return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: g.CreatorID, Kind: kind, ObjectID: g.ID, Note: g.ExternalCustomerID,
	})
}

// RevokeManually ends a manual grant. Revoking it again responds the same. NOT_FOUND for a grant that is not this
// customer's, STATE_CONFLICT for one from another source or one that has expired.
func (s *Service) RevokeManually(
	ctx context.Context, creatorID, externalCustomerID, grantID string,
) (*access.Grant, error) {
	if !id.Valid(id.Grant, grantID) {
		return nil, errNoGrant()
	}
	var revoked *access.Grant
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		_, err := s.withLockedAccess(ctx, r, creatorID, externalCustomerID, func(c *lockedAccess) (access.Cause, error) {
			var err error
			if revoked, err = c.own(ctx, grantID); err != nil {
				return access.Cause{}, err
			}
			if changed, err := revoked.Revoke(c.now); err != nil || !changed {
				return access.Cause{}, err
			}
			if err := c.repos.Access.Grants.Update(ctx, revoked); err != nil {
				return access.Cause{}, err
			}
			if err := s.audit(ctx, r, identity.AccessRevoked, revoked.State()); err != nil {
				return access.Cause{}, err
			}
			return access.Cause{Kind: access.GrantRevoked, ID: grantID}, r.Tasks.Cancel(ctx, TaskExpire, grantID)
		})
		return err
	})
	return revoked, err
}

// errNoGrant is the same for an unknown grant and for another customer's.
func errNoGrant() error { return fault.NotFound("grant of this customer") }

// own is the customer's grant with this id, running or ended. NOT_FOUND.
func (c *lockedAccess) own(ctx context.Context, grantID string) (*access.Grant, error) {
	if running := c.find(grantID); running != nil {
		return running, nil
	}
	g, err := c.repos.Access.Grants.Get(ctx, c.document.CreatorID, grantID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && g.State().ExternalCustomerID != c.document.ExternalCustomerID {
		return nil, errNoGrant()
	}
	return g, err
}
