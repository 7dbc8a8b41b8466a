package catalog

import (
	"context"

	"sundry/ports"
)

// Verify checks what must always hold of discounts, and returns one line per violation.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.deps.Store.Read(ctx).Catalog.Audit
	return ports.Checks{
		{
			Find:    audit.OverusedDiscounts,
			Message: "discount %s was used more often than it may be, or its count is not that of its redemptions",
		},
		{Find: audit.UncountedDiscounts, Message: "session %s is paid with a discount that no redemption counts"},
	}.Run(ctx)
}
