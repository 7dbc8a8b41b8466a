package identity

import (
	"context"
	"errors"

	"sundry/core/email"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/ports"
)

// Proof is a second step as a browser sends it: a code, or a passkey.
type Proof struct {
	// Code is of an authenticator app, or a recovery code.
	Code    string
	Passkey PasskeyResponse
}

// checkedProof is a proof whose passkey has been checked; its code is used in the transaction that it opens.
type checkedProof struct {
	code    string
	passkey *identity.Passkey
}

func (p checkedProof) isZero() bool { return p == checkedProof{} }

func normalized(address string) string {
	address, _ = email.Parse(address) // an invalid address finds nobody
	return address
}

// stepKey is the key by which wrong second steps of a user are counted.
func stepKey(u identity.User) string { return "second-step:account:" + u.ID() }

var errWrongStep = fault.New(fault.Unauthenticated, "This code is wrong, or was used before.")

// enter signs a user in whose password was right. SECOND_STEP_REQUIRED where they have a second step and show none,
// UNAUTHENTICATED for a wrong one and where the password has changed meanwhile, RATE_LIMITED.
func (s *Service) enter(
	ctx context.Context, user identity.User, p checkedProof, from identity.Client, begin beginner,
) error {
	return s.counted(ctx, user, p, from, func() error {
		return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			// A password takes long to check, and its change ends only the sign-ins that there are: none is made
			// meanwhile.
			if err := r.Identity.Members.LockAddress(ctx, user.Email); err != nil {
				return err
			}
			now, err := getUser(ctx, r, user.ID())
			if errors.Is(err, ports.ErrNotFound) || err == nil && now.PasswordHash != user.PasswordHash {
				return errWrongPassword
			}
			if err != nil {
				return err
			}
			step, err := loadSecondStep(ctx, r, user)
			if err == nil && (step.State().On() || p.passkey != nil) {
				err = s.useProof(ctx, r, user, step, p, from)
			}
			if err != nil {
				return err
			}
			if err := s.logSignIn(ctx, r, user, identity.SignedIn, from); err != nil {
				return err
			}
			return begin(ctx, r, user)
		})
	})
}

// counted counts a proof as an attempt, unless use accepts it, and records a wrong one.
func (s *Service) counted(
	ctx context.Context, user identity.User, p checkedProof, from identity.Client, use func() error,
) error {
	if p.isZero() {
		return use()
	}
	byAddress := "sign-in:address:" + from.Address
	if err := s.admit(ctx, byAddress, s.limits.SignInPerAddress); err != nil {
		return err
	}
	if err := s.admit(ctx, stepKey(user), s.limits.SecondStepPerAccount); err != nil {
		return err
	}
	if err := use(); err != nil {
		if errors.Is(err, errWrongStep) {
			s.logFailure(ctx, user, identity.SecondStepFailed, from)
		}
		return err
	}
	if err := s.restore(ctx, byAddress, s.limits.SignInPerAddress); err != nil {
		return err
	}
	return s.restore(ctx, stepKey(user), s.limits.SecondStepPerAccount)
}

// useProof accepts a code of the app, a recovery code or a passkey. errWrongStep, and SECOND_STEP_REQUIRED for none.
func (s *Service) useProof(
	ctx context.Context, r ports.Repos, user identity.User, step *identity.SecondStep, p checkedProof,
	from identity.Client,
) error {
	if p.isZero() {
		return fault.New(fault.SecondStepRequired, "This account uses two-step sign-in. Send the code that your "+
			"authenticator app shows, or a recovery code, as code.")
	}
	ok, recovered, err := s.accepts(user, step, p)
	if err != nil {
		return err
	}
	if !ok {
		return errWrongStep
	}
	if err := saveSecondStep(ctx, r, step); err != nil {
		return err
	}
	if !recovered {
		return nil
	}
	return s.usedRecovery(ctx, r, user, len(step.State().Recovery), from)
}

func (s *Service) accepts(
	user identity.User, step *identity.SecondStep, p checkedProof,
) (ok, recovered bool, err error) {
	now := s.deps.Clock.Real()
	if p.passkey != nil {
		return step.UsePasskey(*p.passkey, now), false, nil
	}
	if encrypted := step.State().AppSecret; len(encrypted) > 0 {
		secret, err := s.openSecret(encrypted)
		if err != nil {
			return false, false, err
		}
		if step.UseCode(secret, p.code, now) {
			return true, false, nil
		}
	}
	subject := identity.RecoverySubject(user.ID(), p.code)
	if subject == "" {
		return false, false, nil
	}
	ok = step.UseRecovery(s.webDigest.sum(subject))
	return ok, ok, nil
}

// checkSecondStep refuses a user without the second step that the account requires. FORBIDDEN.
func checkSecondStep(ctx context.Context, r ports.Repos, creator identity.CreatorState, u identity.User) error {
	if !creator.SecondStepRequired {
		return nil
	}
	step, err := loadSecondStep(ctx, r, u)
	if err != nil {
		return err
	}
	return creator.CheckSecondStep(step.State().On())
}

// SecondStepPage lists the second steps with which a browser may complete a sign-in.
type SecondStepPage struct {
	// App is set for a user with an authenticator app. Recovery codes always work.
	App bool
	// Passkey asks the browser for one; zero for a user without one.
	Passkey PasskeyRequest
}

// PendingSignIn returns what ends a sign-in whose password was right; guest is the browser's form token. NOT_FOUND for
// one that is invalid, or took too long.
func (s *Service) PendingSignIn(ctx context.Context, pending, guest string) (SecondStepPage, error) {
	user, err := s.pendingUser(ctx, pending)
	if err != nil {
		return SecondStepPage{}, err
	}
	step, err := s.SecondStep(ctx, user)
	if err != nil {
		return SecondStepPage{}, err
	}
	p := SecondStepPage{App: len(step.AppSecret) > 0}
	if len(step.Passkeys) > 0 {
		p.Passkey, err = s.beginUse(forSecondStep, guest, user, step.Passkeys)
	}
	return p, err
}

// pendingUser returns the user of a sign-in whose password was right. NOT_FOUND.
func (s *Service) pendingUser(ctx context.Context, text string) (identity.User, error) {
	link, shown, ok := identity.ParseResetLink(text)
	pending := identity.PendingSignIn{ResetLink: link}
	if !ok || !s.webDigest.made(shown, pending.Subject()) {
		return identity.User{}, fault.NotFound("sign-in")
	}
	user, err := getUser(ctx, s.deps.Store.Read(ctx), pending.UserID())
	return ports.Visible(user, err, pending.Good(user.PasswordHash, s.deps.Clock.Real()), "sign-in")
}

func (s *Service) newPending(u identity.User) string {
	pending := identity.NewPendingSignIn(u, s.deps.Clock.Real())
	return pending.Text(s.webDigest.sum(pending.Subject()))
}

// FinishSignIn ends a sign-in by its second step: it returns the cookie. guest is the browser's form token. NOT_FOUND
// for a sign-in that took too long, UNAUTHENTICATED for a wrong code, RATE_LIMITED.
func (s *Service) FinishSignIn(
	ctx context.Context, pending, guest string, p Proof, from identity.Client,
) (cookie string, err error) {
	user, err := s.pendingUser(ctx, pending)
	if err == nil {
		err = s.deps.Standing.CheckOpen(ctx, user.CreatorID)
	}
	if err != nil {
		return "", err
	}
	checked, err := s.checkProof(ctx, forSecondStep, guest, user, p)
	if err != nil {
		return "", err
	}
	if checked.isZero() {
		return "", errWrongStep
	}
	err = s.enter(ctx, user, checked, from, s.beginBrowser(from, &cookie))
	return cookie, err
}

// checkProof checks the passkey of a proof, which must be the user's. UNAUTHENTICATED.
func (s *Service) checkProof(
	ctx context.Context, purpose, holder string, user identity.User, p Proof,
) (checkedProof, error) {
	if p.Passkey.Response == "" {
		return checkedProof{code: p.Code}, nil
	}
	owner, used, err := s.checkPasskey(ctx, purpose, holder, p.Passkey)
	if err == nil && owner != user.ID() {
		err = errPasskey
	}
	return checkedProof{passkey: &used}, err
}
