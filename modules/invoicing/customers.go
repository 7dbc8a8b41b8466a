package invoicing

import (
	"context"

	"sundry/core/customer"
	"sundry/ports"
)

// OnCustomerRenamed stores the integrator's own identifier.
func (s *Service) OnCustomerRenamed(ctx context.Context, r ports.Repos, e customer.Renamed) error {
	return r.Invoicing.Invoices.Rename(ctx, e.CreatorID, e.ID, e.ExternalCustomerID)
}
