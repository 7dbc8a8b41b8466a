package identity

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/checkout"
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

// RefundPolicy implements ports.AccountReader.
func (s *Service) RefundPolicy(ctx context.Context, r ports.Repos, creatorID, hash string) (string, error) {
	if hash == "" {
		return "", nil
	}
	creator, err := r.Identity.Creators.Get(ctx, creatorID)
	if err != nil {
		return "", fmt.Errorf("refund policy: %w", err)
	}
	if policy := creator.State().Profile.RefundPolicy; checkout.PolicyHash(policy) == hash {
		return policy, nil
	}
	policy, err := r.Identity.RefundPolicies.Get(ctx, creatorID, hash)
	if errors.Is(err, ports.ErrNotFound) {
		return "", nil
	}
	return policy, err
}

// AgreedPolicy returns the refund policy that an account has or had, by its hash; "" for none.
func (s *Service) AgreedPolicy(ctx context.Context, creatorID, hash string) (string, error) {
	return s.RefundPolicy(ctx, s.deps.Store.Read(ctx), creatorID, hash)
}

// keepPolicy keeps the refund policy that a creator replaces: buyers have agreed to it.
func (s *Service) keepPolicy(ctx context.Context, r ports.Repos, creatorID, before, after string) error {
	if before == "" || before == after {
		return nil
	}
	return r.Identity.RefundPolicies.Insert(ctx, creatorID, checkout.PolicyHash(before), before, s.deps.Clock.Real())
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
