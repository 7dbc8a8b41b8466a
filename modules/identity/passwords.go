package identity

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"

	"sundry/core/email"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/ports"
)

var _ ports.PasswordLinks = (*Service)(nil)

// ChangePassword replaces the password of a creator who knows it, and ends every other sign-in. Attempts are counted as
// those of signing in. VALIDATION_FAILED, RATE_LIMITED.
func (s *Service) ChangePassword(ctx context.Context, b Browser, current, wanted string, from identity.Client) error {
	var f fault.Violations
	f.Check(current != "", "current", fault.DetailRequired, "Your current password is required.")
	identity.CheckNewPassword(&f, "password", b.Creator.Email, wanted)
	if err := f.Err(); err != nil {
		return err
	}
	byAccount := s.signInKey(b.Creator.Email)
	if err := s.admit(ctx, byAccount, s.limits.SignInPerAccount); err != nil {
		return err
	}
	matches, err := s.deps.Passwords.Matches(ctx, b.Creator.PasswordHash, current)
	if err != nil {
		return unlessBusy("check password", err)
	}
	if !matches {
		return fault.Invalid(fault.Detail{
			Field: "current", Code: fault.DetailInvalid, Message: "This is not your current password.",
		})
	}
	if err := s.restore(ctx, byAccount, s.limits.SignInPerAccount); err != nil {
		return err
	}
	return s.setPassword(ctx, b.Creator, wanted, identity.PasswordChanged, b.SessionID, from)
}

// ResetTask is the kind of the task that mails a link to a new password; its subject is the creator's id.
const ResetTask = "identity.password_reset"

// AskPasswordReset schedules a mail with a link that sets a new password, if there is an account. Where there is none,
// it schedules the same task for nobody, so that neither the response nor its time differs.
// Refusals: VALIDATION_FAILED for no address, RATE_LIMITED.
func (s *Service) AskPasswordReset(ctx context.Context, address string, from identity.Client) error {
	address, ok := email.Parse(address)
	if !ok {
		return fault.Invalid(fault.Detail{
			Field: "email", Code: fault.DetailInvalid, Message: "This is not an email address.",
		})
	}
	if err := s.admit(ctx, "reset:address:"+from.Address, s.limits.ResetPerAddress); err != nil {
		return err
	}
	account := s.refreshDigest.sum("reset " + address)
	if err := s.admit(ctx, "reset:account:"+hex.EncodeToString(account[:16]), s.limits.ResetPerAccount); err != nil {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		creatorID := s.deps.IDs.New(id.Creator)
		found, err := r.Identity.Creators.GetByEmail(ctx, address)
		if err == nil {
			creatorID = found.State().ID
		} else if !errors.Is(err, ports.ErrNotFound) {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		return r.Tasks.Schedule(ctx, ResetTask, creatorID, creatorID, now)
	})
}

// MailPasswordReset runs the task.
func (s *Service) MailPasswordReset(ctx context.Context, t ports.Task) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		found, err := r.Identity.Creators.Get(ctx, t.Subject)
		if errors.Is(err, ports.ErrNotFound) {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		now, creator := s.deps.Clock.Real(), found.State()
		err = s.deps.Bus.Publish(ctx, r, identity.PasswordResetAsked{
			Link: identity.ResetLink{
				CreatorID: creator.ID, Replaces: identity.PasswordMark(creator.PasswordHash),
				ExpiresAt: now.Add(identity.ResetLifetime),
			},
			Email: creator.Email, Name: creator.DisplayName, At: now,
		})
		if err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}

// PasswordResetURL implements ports.PasswordLinks.
func (s *Service) PasswordResetURL(l identity.ResetLink) string {
	mac := s.webDigest.sum(l.Subject())
	return s.cfg.BaseURL + "/dashboard/reset/" + l.Text(mac[:])
}

// CheckReset returns the creator whose password a link sets. NOT_FOUND for one that is invalid, expired or used.
func (s *Service) CheckReset(ctx context.Context, text string) (identity.CreatorState, error) {
	link, shown, ok := identity.ParseResetLink(text)
	if mac := s.webDigest.sum(link.Subject()); !ok || subtle.ConstantTimeCompare(shown, mac[:]) != 1 {
		return identity.CreatorState{}, fault.NotFound("link")
	}
	creator, err := s.deps.Store.Read(ctx).Identity.Creators.Get(ctx, link.CreatorID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && !link.Good(creator.State().PasswordHash, s.deps.Clock.Real()) {
		return identity.CreatorState{}, fault.NotFound("link")
	}
	if err != nil {
		return identity.CreatorState{}, err
	}
	return creator.State(), nil
}

// ResetPassword sets a new password by a link, once, and ends every sign-in. VALIDATION_FAILED, NOT_FOUND.
func (s *Service) ResetPassword(ctx context.Context, text, wanted string, from identity.Client) error {
	creator, err := s.CheckReset(ctx, text)
	if err != nil {
		return err
	}
	var f fault.Violations
	identity.CheckNewPassword(&f, "password", creator.Email, wanted)
	if err := f.Err(); err != nil {
		return err
	}
	return s.setPassword(ctx, creator, wanted, identity.PasswordReset, "", from)
}

// setPassword replaces the password that was checked, unless it has changed meanwhile, and ends every sign-in but one.
func (s *Service) setPassword(
	ctx context.Context, checked identity.CreatorState, wanted string, kind identity.AccountEventKind, except string,
	from identity.Client,
) error {
	hash, err := s.deps.Passwords.Hash(ctx, wanted)
	if err != nil {
		return unlessBusy("hash password", err)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		creator, err := r.Identity.Creators.Get(ctx, checked.ID)
		if err != nil {
			return err
		}
		if creator.State().PasswordHash != checked.PasswordHash {
			return fault.NotFound("link")
		}
		creator.SetPassword(hash)
		if err := r.Identity.Creators.Update(ctx, creator); err != nil {
			return err
		}
		if err := s.revokeAll(ctx, r, checked.ID, except); err != nil {
			return err
		}
		return s.logSignIn(ctx, r, checked.ID, kind, from)
	})
}
