package identity

import (
	"context"
	"errors"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/image"
	"sundry/core/payout"
	"sundry/ports"
)

// Creator returns the owner of an account. NOT_FOUND.
func (s *Service) Creator(ctx context.Context, creatorID string) (identity.CreatorState, error) {
	creator, err := getCreator(ctx, s.deps.Store.Read(ctx), creatorID)
	if err != nil {
		return identity.CreatorState{}, err
	}
	return creator.State(), nil
}

// FindAccount returns the id of the account with an e-mail address, or of the only account where address is empty.
// ports.ErrNotFound.
func (s *Service) FindAccount(ctx context.Context, address string) (creatorID string, err error) {
	creators := s.deps.Store.Read(ctx).Identity.Creators
	var creator *identity.Creator
	if address == "" {
		creator, err = creators.Sole(ctx)
	} else {
		creator, err = creators.GetByEmail(ctx, normalized(address))
	}
	if err != nil {
		return "", err
	}
	return creator.State().ID, nil
}

// EditProfile changes what buyers see of a creator. VALIDATION_FAILED, NOT_FOUND.
func (s *Service) EditProfile(
	ctx context.Context, creatorID string, e identity.ProfileEdit,
) (identity.CreatorState, error) {
	var state identity.CreatorState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		creator, err := getCreator(ctx, r, creatorID)
		if err != nil {
			return err
		}
		before := creator.State().Profile
		schedule := creator.State().PayoutSchedule
		changed, err := creator.EditProfile(e)
		if err != nil {
			return err
		}
		state = creator.State()
		if !changed {
			return nil
		}
		if err := s.keepPolicy(ctx, r, creatorID, before.RefundPolicy, state.Profile.RefundPolicy); err != nil {
			return err
		}
		if err := s.exchangeLogo(ctx, r, creatorID, before.LogoURL, state.Profile.LogoURL); err != nil {
			return err
		}
		if err := r.Identity.Creators.Update(ctx, creator); err != nil {
			return err
		}
		if err := s.logSettings(ctx, r, creatorID, schedule != state.PayoutSchedule); err != nil ||
			state.PayoutSchedule == schedule {
			return err
		}
		return s.deps.Bus.Publish(ctx, r, identity.PayoutScheduleChanged{
			CreatorID: creatorID, Schedule: state.PayoutSchedule,
		})
	})
	return state, err
}

// logSettings records that the profile was changed, and whether the schedule of payouts was.
func (s *Service) logSettings(ctx context.Context, r ports.Repos, creatorID string, schedule bool) error {
	e := identity.Audited{CreatorID: creatorID, Kind: identity.SettingsChanged, ObjectID: creatorID, Note: "profile"}
	if schedule {
		e.Note = "profile, payout schedule"
	}
	return ports.PublishAudited(ctx, r, s.deps.Bus, e)
}

var _ ports.PayoutSchedules = (*Service)(nil)

// PayoutSchedule implements ports.PayoutSchedules.
func (s *Service) PayoutSchedule(ctx context.Context, r ports.Repos, creatorID string) (payout.Schedule, error) {
	creator, err := getCreator(ctx, r, creatorID)
	if err != nil {
		return "", err
	}
	return creator.State().PayoutSchedule, nil
}

// exchangeLogo claims a logo that was uploaded and releases the one before. VALIDATION_FAILED for a picture that is
// not the account's.
func (s *Service) exchangeLogo(ctx context.Context, r ports.Repos, creatorID, before, after string) error {
	if before == after {
		return nil
	}
	if old := image.IDOf(before); old != "" {
		if err := r.Images.Release(ctx, creatorID, old, s.deps.Clock.Real()); err != nil {
			return err
		}
	}
	uploaded := image.IDOf(after)
	if uploaded == "" {
		return nil
	}
	err := r.Images.Claim(ctx, creatorID, uploaded)
	if errors.Is(err, ports.ErrNotFound) {
		return fault.Invalid(fault.Detail{
			Field: "logoUrl", Code: fault.DetailInvalid, Message: "You have uploaded no such image.",
		})
	}
	return err
}

func getCreator(ctx context.Context, r ports.Repos, creatorID string) (*identity.Creator, error) {
	creator, err := r.Identity.Creators.Get(ctx, creatorID)
	return creator, ports.Missing(err, "creator")
}
