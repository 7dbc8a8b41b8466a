package identity

import (
	"context"
	"fmt"

	"sundry/core/identity"
	"sundry/ports"
)

var _ ports.AccountReader = (*Service)(nil)

// SellerName implements ports.AccountReader.
func (s *Service) SellerName(ctx context.Context, r ports.Repos, creatorID string) (string, error) {
	creator, err := r.Identity.Creators.Get(ctx, creatorID)
	if err != nil {
		return "", fmt.Errorf("seller name: %w", err)
	}
	return creator.State().DisplayName, nil
}

// Storefront implements ports.AccountReader.
func (s *Service) Storefront(ctx context.Context, r ports.Repos, creatorID string) (identity.Storefront, error) {
	creator, err := r.Identity.Creators.Get(ctx, creatorID)
	if err != nil {
		return identity.Storefront{}, fmt.Errorf("storefront: %w", err)
	}
	return creator.Storefront(), nil
}

// Notifications implements ports.AccountReader.
func (s *Service) Notifications(
	ctx context.Context, r ports.Repos, creatorID string,
) (identity.Notifications, error) {
	creator, err := r.Identity.Creators.Get(ctx, creatorID)
	if err != nil {
		return identity.Notifications{}, fmt.Errorf("notifications: %w", err)
	}
	return creator.State().Notifications, nil
}

// Account implements ports.AccountReader.
func (s *Service) Account(ctx context.Context, r ports.Repos, creatorID string) (name, address string, err error) {
	creator, err := r.Identity.Creators.Get(ctx, creatorID)
	if err != nil {
		return "", "", fmt.Errorf("owner of the account: %w", err)
	}
	state := creator.State()
	return state.DisplayName, state.Email, nil
}
