package identity

import (
	"context"
	"encoding/hex"
	"errors"

	"sundry/core/email"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/ports"
)

var _ ports.AccountLinks = (*Service)(nil)

// ChangePassword replaces the password of a user who knows it, and ends every other sign-in. Attempts are counted as
// those of signing in. VALIDATION_FAILED, RATE_LIMITED.
func (s *Service) ChangePassword(ctx context.Context, b Browser, current, wanted string, from identity.Client) error {
	var f fault.Violations
	f.Check(current != "", "current", fault.DetailRequired, "Your current password is required.")
	identity.CheckNewPassword(&f, "password", b.User.Email, wanted)
	if err := f.Err(); err != nil {
		return err
	}
	if err := s.checkOwnPassword(ctx, b.User, "current", current); err != nil {
		return err
	}
	return s.setPassword(ctx, b.User, wanted, identity.PasswordChanged, b.SessionID, from)
}

// checkOwnPassword checks the password that a user who is signed in gives in a member of a request.
// VALIDATION_FAILED, RATE_LIMITED.
func (s *Service) checkOwnPassword(ctx context.Context, u identity.User, field, password string) error {
	byAccount := s.signInKey(u.Email)
	if err := s.admit(ctx, byAccount, s.limits.SignInPerAccount); err != nil {
		return err
	}
	matches, err := s.deps.Passwords.Matches(ctx, u.PasswordHash, password)
	if err != nil {
		return unlessBusy("check password", err)
	}
	if !matches {
		return fault.Invalid(fault.Detail{
			Field: field, Code: fault.DetailInvalid, Message: "This is not your current password.",
		})
	}
	return s.restore(ctx, byAccount, s.limits.SignInPerAccount)
}

// parseAddress normalizes an email address. VALIDATION_FAILED for a text that is none.
func parseAddress(text string) (string, error) {
	address, ok := email.Parse(text)
	if !ok {
		return "", fault.Invalid(fault.Detail{
			Field: "email", Code: fault.DetailInvalid, Message: "This is not an email address.",
		})
	}
	return address, nil
}

// ResetTask is the kind of the task that mails a link to a new password; its subject is the user's id.
const ResetTask = "identity.password_reset"

// AskPasswordReset schedules a mail with a link that sets a new password, if there is an account. Where there is none,
// it schedules the same task for nobody, so that neither the response nor its time differs.
// Refusals: VALIDATION_FAILED for no address, RATE_LIMITED.
func (s *Service) AskPasswordReset(ctx context.Context, address string, from identity.Client) error {
	address, err := parseAddress(address)
	if err != nil {
		return err
	}
	if err := s.admit(ctx, "reset:address:"+from.Address, s.limits.ResetPerAddress); err != nil {
		return err
	}
	account := s.refreshDigest.sum("reset " + address)
	if err := s.admit(ctx, "reset:account:"+hex.EncodeToString(account[:16]), s.limits.ResetPerAccount); err != nil {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		user, err := s.findUser(ctx, r, address)
		if errors.Is(err, ports.ErrNotFound) {
			user, err = identity.User{CreatorID: s.deps.IDs.New(id.Creator)}, nil
		}
		if err != nil {
			return err
		}
		return ports.ScheduleIn(ctx, r, 0, ResetTask, user.ID(), user.CreatorID)
	})
}

// MailPasswordReset runs the task.
func (s *Service) MailPasswordReset(ctx context.Context, t ports.Task) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		user, err := getUser(ctx, r, t.Subject)
		if errors.Is(err, ports.ErrNotFound) {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		now := s.deps.Clock.Real()
		err = s.deps.Bus.Publish(ctx, r, identity.PasswordResetAsked{
			Link: identity.ResetLink{
				CreatorID: user.CreatorID, MemberID: user.MemberID, Replaces: identity.PasswordMark(user.PasswordHash),
				ExpiresAt: now.Add(identity.ResetLifetime),
			},
			Email: user.Email, Name: user.Name, At: now,
		})
		if err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}

// getUser loads an owner or a member by id. ports.ErrNotFound.
func getUser(ctx context.Context, r ports.Repos, userID string) (identity.User, error) {
	if !identity.IsMember(userID) {
		return loadUser(ctx, r, userID, "")
	}
	member, err := r.Identity.Members.Get(ctx, userID)
	if err != nil {
		return identity.User{}, err
	}
	return loadUser(ctx, r, member.State().CreatorID, userID)
}

// PasswordResetURL implements ports.AccountLinks.
func (s *Service) PasswordResetURL(l identity.ResetLink) string {
	return s.cfg.BaseURL + "/dashboard/reset/" + l.Text(s.webDigest.sum(l.Subject()))
}

// CheckReset returns the user whose password a link sets. NOT_FOUND for one that is invalid, expired or used.
func (s *Service) CheckReset(ctx context.Context, text string) (identity.User, error) {
	link, shown, ok := identity.ParseResetLink(text)
	if !ok || !s.webDigest.made(shown, link.Subject()) {
		return identity.User{}, fault.NotFound("link")
	}
	user, err := getUser(ctx, s.deps.Store.Read(ctx), link.UserID())
	return ports.Visible(user, err, link.Good(user.PasswordHash, s.deps.Clock.Real()), "link")
}

// ResetPassword sets a new password by a link, once, and ends every sign-in. VALIDATION_FAILED, NOT_FOUND.
func (s *Service) ResetPassword(ctx context.Context, text, wanted string, from identity.Client) error {
	user, err := s.CheckReset(ctx, text)
	if err != nil {
		return err
	}
	var f fault.Violations
	identity.CheckNewPassword(&f, "password", user.Email, wanted)
	if err := f.Err(); err != nil {
		return err
	}
	return s.setPassword(ctx, user, wanted, identity.PasswordReset, "", from)
}

// setPassword replaces the password that was checked, unless it has changed meanwhile, and ends every sign-in but one.
func (s *Service) setPassword(
	ctx context.Context, checked identity.User, wanted string, kind identity.AccountEventKind, except string,
	from identity.Client,
) error {
	hash, err := s.deps.Passwords.Hash(ctx, wanted)
	if err != nil {
		return unlessBusy("hash password", err)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Identity.Members.LockAddress(ctx, checked.Email); err != nil {
			return err
		}
		user, err := getUser(ctx, r, checked.ID())
		if user, err = ports.Visible(user, err, user.PasswordHash == checked.PasswordHash, "link"); err != nil {
			return err
		}
		if err := savePassword(ctx, r, user, hash); err != nil {
			return err
		}
		if err := s.revokeAll(ctx, r, user, except); err != nil {
			return err
		}
		return s.logSignIn(ctx, r, user, kind, from)
	})
}

func savePassword(ctx context.Context, r ports.Repos, user identity.User, hash string) error {
	if user.MemberID != "" {
		member, err := r.Identity.Members.Get(ctx, user.MemberID)
		if err != nil {
			return err
		}
		member.SetPassword(hash)
		return r.Identity.Members.Update(ctx, member)
	}
	creator, err := r.Identity.Creators.Get(ctx, user.CreatorID)
	if err != nil {
		return err
	}
	creator.SetPassword(hash)
	return r.Identity.Creators.Update(ctx, creator)
}
