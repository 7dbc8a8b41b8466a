package identity

import (
	"context"
	"fmt"

	"sundry/ports"
)

var _ ports.Sellers = (*Service)(nil)

// SellerName implements ports.Sellers.
func (s *Service) SellerName(ctx context.Context, r ports.Repos, creatorID string) (string, error) {
	creator, err := r.Creators.ByID(ctx, creatorID)
	if err != nil {
		return "", fmt.Errorf("seller name: %w", err)
	}
	return creator.State().DisplayName, nil
}
