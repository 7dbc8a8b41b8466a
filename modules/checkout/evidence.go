package checkout

import (
	"cmp"
	"context"
	"errors"

	"sundry/core/apiformat"
	"sundry/core/dispute"
	"sundry/core/payment"
	"sundry/ports"
)

var _ ports.EvidenceSource = (*Service)(nil)

// AddEvidence implements ports.EvidenceSource: the buyer as they described themselves, and what they agreed to.
func (s *Service) AddEvidence(ctx context.Context, r ports.Repos, paid payment.State, into *dispute.Collected) error {
	if paid.CheckoutID() == "" {
		return nil
	}
	session, err := r.Checkout.Sessions.Get(ctx, paid.CheckoutID())
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	buyer := session.Buyer
	into.Buyer = dispute.NewBuyer(session.CustomerID, buyer.Name, session.Email, buyer.Address)
	into.Purchase.Country = apiformat.Text(cmp.Or(buyer.Country, session.TaxDetails.Country))
	consent := session.Consent
	if consent == nil {
		return nil
	}
	into.Purchase.Network = apiformat.Text(consent.From.Network)
	into.Purchase.UserAgent = apiformat.Text(consent.From.UserAgent)
	into.Consent = &dispute.Consent{
		AcceptedAt: dispute.Moment{Time: consent.AcceptedAt}, Statement: apiformat.Text(consent.Statement),
		TermsURL: apiformat.Text(consent.TermsURL), ImmediateSupply: apiformat.Text(consent.ImmediateSupply),
	}
	if consent.RefundPolicy == "" {
		return nil
	}
	policy, err := s.deps.Accounts.RefundPolicy(ctx, r, session.CreatorID, consent.RefundPolicy)
	into.RefundPolicy = apiformat.Text(policy)
	return err
}
