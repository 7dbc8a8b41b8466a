package identity

import (
	"context"
	"fmt"

	"sundry/ports"
)

var (
	_ ports.Sellers = (*Service)(nil)
	_ ports.Owners  = (*Service)(nil)
)

// SellerName implements ports.Sellers.
func (s *Service) SellerName(ctx context.Context, r ports.Repos, creatorID string) (string, error) {
	creator, err := r.Creators.ByID(ctx, creatorID)
	if err != nil {
		return "", fmt.Errorf("seller name: %w", err)
	}
	return creator.State().DisplayName, nil
}

// Owner implements ports.Owners.
func (s *Service) Owner(ctx context.Context, r ports.Repos, creatorID string) (name, address string, err error) {
	creator, err := r.Creators.ByID(ctx, creatorID)
	if err != nil {
		return "", "", fmt.Errorf("owner of the account: %w", err)
	}
	state := creator.State()
	return state.DisplayName, state.Email, nil
}
