package identity

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/operator"
	"sundry/ports"
)

// SecondStep returns what a user shows beside the password; nothing for a user without a second step.
func (s *Service) SecondStep(ctx context.Context, u identity.User) (identity.SecondStepState, error) {
	step, err := loadSecondStep(ctx, s.deps.Store.Read(ctx), u)
	return step.State(), err
}

// loadSecondStep returns the second step of a user, a new one for a user without one.
func loadSecondStep(ctx context.Context, r ports.Repos, u identity.User) (*identity.SecondStep, error) {
	step, err := r.Identity.SecondSteps.Get(ctx, u.ID())
	if errors.Is(err, ports.ErrNotFound) {
		return identity.NewSecondStep(u), nil
	}
	if err != nil {
		return identity.NewSecondStep(u), err
	}
	return step, nil
}

func saveSecondStep(ctx context.Context, r ports.Repos, step *identity.SecondStep) error {
	if step.IsNew() {
		return r.Identity.SecondSteps.Insert(ctx, step)
	}
	return r.Identity.SecondSteps.Update(ctx, step)
}

// SecondStepsOn returns the ids of the users of an account who have a second step.
func (s *Service) SecondStepsOn(ctx context.Context, creatorID string) (map[string]bool, error) {
	steps, err := s.deps.Store.Read(ctx).Identity.SecondSteps.ListOf(ctx, creatorID)
	on := map[string]bool{}
	for _, step := range steps {
		on[step.State().UserID] = step.State().On()
	}
	return on, err
}

// stepChange names a change of a second step in the access log and in the mail about it.
type stepChange struct {
	kind   identity.AccountEventKind
	change identity.SecondStepChange
	note   string
}

// changeSecondStep changes the second step of a user and records it, in one transaction. Turning it on or off ends
// every other sign-in. codes are the recovery codes that come with the first app or passkey. FORBIDDEN where the
// account requires a second step and none would be left.
func (s *Service) changeSecondStep(
	ctx context.Context, b Browser, apply func(step *identity.SecondStep) (stepChange, error),
) (codes []string, err error) {
	made, macs := s.newRecoveryCodes(b.User)
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Identity.Members.LockAddress(ctx, b.User.Email); err != nil {
			return err
		}
		step, err := loadSecondStep(ctx, r, b.User)
		if err != nil {
			return err
		}
		before := step.State().On()
		change, err := apply(step)
		if err != nil {
			return err
		}
		after := step.State().On()
		codes = nil
		if !before && after || change.kind == identity.RecoveryCodesMade {
			step.SetRecovery(macs, s.deps.Clock.Real())
			codes = made
		}
		if before && !after {
			if err := s.checkMayBeOff(ctx, r, b.User.CreatorID); err != nil {
				return err
			}
		}
		if err := saveSecondStep(ctx, r, step); err != nil {
			return err
		}
		if before != after {
			if err := s.revokeAll(ctx, r, b.User, b.SessionID); err != nil {
				return err
			}
		}
		return s.recordStep(ctx, r, b.User, change)
	})
	if errors.Is(err, ports.ErrDuplicate) {
		return nil, fault.Wrap(fault.StateConflict, "You have just set up a second step in another window.", err)
	}
	return codes, err
}

func (s *Service) checkMayBeOff(ctx context.Context, r ports.Repos, creatorID string) error {
	creator, err := getCreator(ctx, r, creatorID)
	if err != nil || !creator.State().SecondStepRequired {
		return err
	}
	return fault.New(fault.Forbidden,
		"This account requires two-step sign-in. Add another app or passkey before you remove this one.")
}

// recordStep writes a change to the access log and has the user mailed.
func (s *Service) recordStep(ctx context.Context, r ports.Repos, u identity.User, c stepChange) error {
	err := s.log(ctx, r, identity.Audited{CreatorID: u.CreatorID, Kind: c.kind, ObjectID: u.MemberID, Note: c.note})
	if err != nil {
		return err
	}
	return s.mailStep(ctx, r, u, c)
}

func (s *Service) mailStep(ctx context.Context, r ports.Repos, u identity.User, c stepChange) error {
	return s.deps.Bus.Publish(ctx, r, identity.SecondStepChanged{
		CreatorID: u.CreatorID, UserID: u.ID(), Email: u.Email, Name: u.Name, Change: c.change, Note: c.note,
		At: s.deps.Clock.Real(),
	})
}

// newRecoveryCodes makes recovery codes and the MACs that are stored of them.
func (s *Service) newRecoveryCodes(u identity.User) (codes []string, macs [][]byte) {
	for range identity.RecoveryCodes {
		code := identity.RecoveryCode(s.deps.IDs.Random(identity.RecoveryEntropy))
		codes, macs = append(codes, code), append(macs, s.webDigest.sum(identity.RecoverySubject(u.ID(), code)))
	}
	return codes, macs
}

// BeginApp makes the secret of a new authenticator app, which NewApp returns until the app has shown a code.
func (s *Service) BeginApp(ctx context.Context, u identity.User) error {
	secret := s.deps.Encrypter.Encrypt(s.deps.IDs.Random(identity.TOTPEntropy))
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		step, err := loadSecondStep(ctx, r, u)
		if err != nil {
			return err
		}
		step.BeginApp(secret, s.deps.Clock.Real())
		return saveSecondStep(ctx, r, step)
	})
}

// NewApp returns the secret of the app that a user is adding, as text and as the address in a QR code. NOT_FOUND.
func (s *Service) NewApp(ctx context.Context, u identity.User) (text, address string, err error) {
	step, err := loadSecondStep(ctx, s.deps.Store.Read(ctx), u)
	if err != nil {
		return "", "", err
	}
	secret, err := s.newAppSecret(step)
	if err != nil {
		return "", "", err
	}
	return identity.TOTPSecretText(secret), identity.TOTPAddress("Sundry", u.Email, secret), nil
}

func (s *Service) newAppSecret(step *identity.SecondStep) ([]byte, error) {
	encrypted := step.State().NewApp(s.deps.Clock.Real())
	if encrypted == nil {
		return nil, fault.NotFound("new app")
	}
	return s.openSecret(encrypted)
}

func (s *Service) openSecret(encrypted []byte) ([]byte, error) {
	secret, err := s.deps.Encrypter.Decrypt(encrypted)
	if err != nil {
		return nil, fmt.Errorf("decrypt the secret of an app: %w", err)
	}
	return secret, nil
}

// ConfirmApp adds the app that shows the right code. The recovery codes that come with a first second step are returned
// this once and kept nowhere. VALIDATION_FAILED, NOT_FOUND, RATE_LIMITED.
func (s *Service) ConfirmApp(ctx context.Context, b Browser, code string) (codes []string, err error) {
	if err := s.admit(ctx, stepKey(b.User), s.limits.SecondStepPerAccount); err != nil {
		return nil, err
	}
	codes, err = s.changeSecondStep(ctx, b, func(step *identity.SecondStep) (stepChange, error) {
		secret, err := s.newAppSecret(step)
		if err == nil {
			err = step.ConfirmApp(secret, code, s.deps.Clock.Real())
		}
		return stepChange{identity.SecondStepAdded, identity.AppAdded, "authenticator app"}, err
	})
	if err != nil {
		return nil, err
	}
	return codes, s.restore(ctx, stepKey(b.User), s.limits.SecondStepPerAccount)
}

// RemoveApp forgets the authenticator app. NOT_FOUND, FORBIDDEN.
func (s *Service) RemoveApp(ctx context.Context, b Browser) error {
	_, err := s.changeSecondStep(ctx, b, func(step *identity.SecondStep) (stepChange, error) {
		if !step.RemoveApp() {
			return stepChange{}, fault.NotFound("authenticator app")
		}
		return stepChange{identity.SecondStepRemoved, identity.AppRemoved, "authenticator app"}, nil
	})
	return err
}

// MakeRecoveryCodes replaces the recovery codes: those from before open nothing. STATE_CONFLICT without a second step.
func (s *Service) MakeRecoveryCodes(ctx context.Context, b Browser) (codes []string, err error) {
	return s.changeSecondStep(ctx, b, func(step *identity.SecondStep) (stepChange, error) {
		if !step.State().On() {
			return stepChange{}, fault.New(fault.StateConflict, "Add an authenticator app or a passkey first.")
		}
		return stepChange{kind: identity.RecoveryCodesMade, change: identity.RecoveryMade}, nil
	})
}

// RequireSecondStep decides whether nobody may use the account without a second step. STATE_CONFLICT for a user who
// would lock themselves out.
func (s *Service) RequireSecondStep(ctx context.Context, by identity.User, required bool) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		step, err := loadSecondStep(ctx, r, by)
		if err != nil {
			return err
		}
		if required && !step.State().On() {
			return fault.New(fault.StateConflict, "Turn on two-step sign-in for yourself first.")
		}
		creator, err := getCreator(ctx, r, by.CreatorID)
		if err != nil || !creator.RequireSecondStep(required) {
			return err
		}
		if err := r.Identity.Creators.Update(ctx, creator); err != nil {
			return err
		}
		note := map[bool]string{true: "two-step sign-in required", false: "two-step sign-in optional"}[required]
		return s.log(ctx, r, identity.Audited{
			CreatorID: by.CreatorID, Kind: identity.SettingsChanged, ObjectID: by.CreatorID, Note: note,
		})
	})
}

// ResetSecondStep forgets the second step of an owner or a member who has lost it, and ends their sign-ins. who and the
// reason are recorded. VALIDATION_FAILED, ports.ErrNotFound for an address that nobody signs in with.
func (s *Service) ResetSecondStep(ctx context.Context, who, address, reason string) error {
	reason, err := operator.CleanReason(reason)
	if err != nil {
		return err
	}
	now := s.deps.Clock.Real()
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		user, err := s.findUser(ctx, r, normalized(address))
		if err != nil {
			return err
		}
		if err := r.Identity.SecondSteps.Delete(ctx, user.ID()); err != nil {
			return err
		}
		if err := s.revokeAll(ctx, r, user, ""); err != nil {
			return err
		}
		if err := r.Operator.Actions.Insert(ctx, operator.Action{
			ID: s.deps.IDs.New(operator.ActionPrefix), Operator: who, Kind: operator.SecondStepReset,
			CreatorID: user.CreatorID, Note: user.Email + ": " + reason, At: now,
		}); err != nil {
			return err
		}
		return s.recordStep(ctx, r, user, stepChange{identity.SecondStepReset, identity.SecondStepLifted, reason})
	})
}

// usedRecovery records that a recovery code has signed a user in.
func (s *Service) usedRecovery(
	ctx context.Context, r ports.Repos, u identity.User, left int, from identity.Client,
) error {
	if err := s.logSignIn(ctx, r, u, identity.RecoveryCodeUsed, from); err != nil {
		return err
	}
	return s.mailStep(ctx, r, u, stepChange{change: identity.RecoveryUsed, note: strconv.Itoa(left)})
}
