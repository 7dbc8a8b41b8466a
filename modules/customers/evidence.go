package customers

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
	name := cmp.Or(c.Details.Name, c.DisplayName)
	into.Buyer = dispute.Buyer{
		CustomerID: apiformat.Text(c.ID), Name: apiformat.Text(name), Email: apiformat.Text(c.Email),
		Line1: apiformat.Text(c.Details.Line1), Line2: apiformat.Text(c.Details.Line2),
		City: apiformat.Text(c.Details.City), State: apiformat.Text(c.Details.State),
		PostalCode: apiformat.Text(c.Details.PostalCode), Country: apiformat.Text(c.Details.Country),
	}
	if into.Purchase.Country == nil {
		into.Purchase.Country = into.Buyer.Country
	}
	return nil
}
