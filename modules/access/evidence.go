package access

import (
	"context"
	"errors"
	"strings"

	"sundry/core/access"
	"sundry/core/apiformat"
	"sundry/core/dispute"
	"sundry/core/payment"
	"sundry/ports"
)

var _ ports.EvidenceSource = (*Service)(nil)

// AddEvidence implements ports.EvidenceSource: the access that the payment gave, and what happened to the customer's
// access since.
func (s *Service) AddEvidence(ctx context.Context, r ports.Repos, paid payment.State, into *dispute.Collected) error {
	grants, err := givenBy(ctx, r, paid)
	if err != nil || len(grants) == 0 {
		return err
	}
	for _, g := range grants[:min(len(grants), dispute.MaxCollected)] {
		state := g.State()
		into.Access = append(into.Access, dispute.Access{
			Description: describeGrant(state), StartedAt: dispute.Moment{Time: state.StartedAt},
			EndedAt: dispute.Moment{Time: state.EndedAt}, EndReason: apiformat.Text(state.EndReason),
		})
	}
	history, err := r.Access.Snapshots.ListHistory(
		ctx, paid.CreatorID, grants[0].State().ExternalCustomerID, dispute.MaxCollected,
	)
	for _, change := range history {
		if !change.At.Before(paid.CreatedAt) {
			into.Activity = append(into.Activity, dispute.Activity{
				At: dispute.Moment{Time: change.At}, Kind: string(change.Cause.Kind),
			})
		}
	}
	return err
}

func givenBy(ctx context.Context, r ports.Repos, paid payment.State) ([]*access.Grant, error) {
	switch paid.Purpose {
	case payment.ForCheckout:
		return r.Access.Grants.ListByCheckout(ctx, paid.CreatorID, paid.SubjectID)
	case payment.ForSubscription:
		g, err := r.Access.Grants.GetBySource(ctx, paid.CreatorID, access.Subscription, paid.SubjectID)
		if errors.Is(err, ports.ErrNotFound) {
			return nil, nil
		}
		return []*access.Grant{g}, err
	case payment.ForInvoice:
	}
	return nil, nil
}

// describeGrant names what a grant gives: its plan, else its entitlements.
func describeGrant(s access.State) string {
	if s.Plan != nil {
		return s.Plan.ListingKey + ", plan " + s.Plan.Key
	}
	var keys []string
	for _, e := range s.Entitlements {
		keys = append(keys, e.Key)
	}
	if len(keys) == 0 {
		return string(s.Source)
	}
	return strings.Join(keys, ", ")
}
