package identity

import (
	"context"
	"errors"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/ports"
)

// Creator is the owner of an account. NOT_FOUND.
func (s *Service) Creator(ctx context.Context, creatorID string) (identity.CreatorState, error) {
	creator, err := getCreator(ctx, s.store.Read(ctx), creatorID)
	if err != nil {
		return identity.CreatorState{}, err
	}
	return creator.State(), nil
}

// EditProfile changes what buyers see of a creator. VALIDATION_FAILED, NOT_FOUND.
func (s *Service) EditProfile(ctx context.Context, creatorID string, e identity.ProfileEdit) (identity.CreatorState, error) {
	var state identity.CreatorState
	err := s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		creator, err := getCreator(ctx, r, creatorID)
		if err != nil {
			return err
		}
		changed, err := creator.EditProfile(e)
		if err != nil {
			return err
		}
		state = creator.State()
		if !changed {
			return nil
		}
		return r.Identity.Creators.Update(ctx, creator)
	})
	return state, err
}

func getCreator(ctx context.Context, r ports.Repos, creatorID string) (*identity.Creator, error) {
	creator, err := r.Identity.Creators.Get(ctx, creatorID)
	if errors.Is(err, ports.ErrNotFound) {
		return nil, fault.NotFound("creator")
	}
	return creator, err
}
