package customers

import (
	"cmp"
	"context"
	"errors"

	"sundry/core/dispute"
	"sundry/core/payment"
	"sundry/ports"
)

var _ ports.EvidenceSource = (*Service)(nil)

// AddEvidence implements ports.EvidenceSource: the customer, where no checkout has described the buyer.
func (s *Service) AddEvidence(ctx context.Context, r ports.Repos, paid payment.State, into *dispute.Collected) error {
	if paid.CustomerID == "" || into.Buyer.Email != nil {
		return nil
	}
	c, err := r.Customers.Customers.Get(ctx, paid.CustomerID)
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	into.Buyer = dispute.NewBuyer(c.ID, cmp.Or(c.Details.Name, c.DisplayName), c.Email, c.Details.Address)
	if into.Purchase.Country == nil {
		into.Purchase.Country = into.Buyer.Country
	}
	return nil
}
