package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/ports"
)

// The purposes of ceremonies.
const (
	forNewPasskey   = "create"
	forSignIn       = "sign-in"
	forSecondStep   = "second-step"
	forConfirmation = "confirm"
)

// PasskeyRequest asks a browser to create or use a passkey. The form sends Ceremony back with the response.
type PasskeyRequest struct {
	// Options is JSON for the browser.
	Options  string
	Ceremony string
}

// PasskeyResponse is the browser's response to a PasskeyRequest. The zero value means that there is none.
type PasskeyResponse struct{ Ceremony, Response string }

var errPasskey = fault.New(fault.Unauthenticated, "This passkey isn’t accepted, or the page was open for too long. "+
	"Try again.")

// OffersPasskeys reports whether browsers can have passkeys of this deployment: its address has a name.
func (s *Service) OffersPasskeys() bool { return s.deps.Passkeys != nil }

func passkeyUser(u identity.User) ports.PasskeyUser {
	return ports.PasskeyUser{ID: u.ID(), Name: u.Email, DisplayName: u.Name}
}

// BeginPasskey returns what a browser makes a passkey with. NOT_FOUND where passkeys are not offered.
func (s *Service) BeginPasskey(ctx context.Context, b Browser) (PasskeyRequest, error) {
	if !s.OffersPasskeys() {
		return PasskeyRequest{}, fault.NotFound("passkey")
	}
	step, err := s.SecondStep(ctx, b.User)
	if err != nil {
		return PasskeyRequest{}, err
	}
	options, ceremony, err := s.deps.Passkeys.BeginCreate(passkeyUser(b.User), step.Passkeys)
	return s.request(forNewPasskey, b.FormToken, options, ceremony), err
}

// AddPasskey keeps the passkey that a browser has made, under a name. The recovery codes that come with a first second
// step are returned this once and kept nowhere. VALIDATION_FAILED, UNAUTHENTICATED, LIMIT_REACHED.
func (s *Service) AddPasskey(
	ctx context.Context, b Browser, name string, response PasskeyResponse,
) (codes []string, err error) {
	ceremony, err := s.openCeremony(ctx, forNewPasskey, b.FormToken, response.Ceremony)
	if err != nil {
		return nil, err
	}
	made, err := s.deps.Passkeys.Create(passkeyUser(b.User), ceremony, []byte(response.Response))
	if errors.Is(err, ports.ErrPasskeyRefused) {
		return nil, errPasskey
	}
	if err != nil {
		return nil, err
	}
	made.ID, made.Name, made.CreatedAt = s.deps.IDs.New(identity.PasskeyPrefix), name, s.deps.Clock.Real()
	return s.changeSecondStep(ctx, b, func(step *identity.SecondStep) (stepChange, error) {
		return stepChange{identity.SecondStepAdded, identity.PasskeyAdded, "passkey " + name}, step.AddPasskey(made)
	})
}

// RemovePasskey forgets a passkey. NOT_FOUND, FORBIDDEN.
func (s *Service) RemovePasskey(ctx context.Context, b Browser, passkeyID string) error {
	_, err := s.changeSecondStep(ctx, b, func(step *identity.SecondStep) (stepChange, error) {
		name, ok := step.RemovePasskey(passkeyID)
		if !ok {
			return stepChange{}, fault.NotFound("passkey")
		}
		return stepChange{identity.SecondStepRemoved, identity.PasskeyRemoved, "passkey " + name}, nil
	})
	return err
}

// BeginPasskeySignIn returns what any passkey signs its user in with; zero where passkeys are not offered. guest is the
// browser's form token.
func (s *Service) BeginPasskeySignIn(guest string) (PasskeyRequest, error) {
	return s.beginUse(forSignIn, guest, identity.User{}, nil)
}

// BeginConfirmation returns what a user who is signed in proves a passkey with; zero for a user without one.
func (s *Service) BeginConfirmation(ctx context.Context, b Browser) (app bool, request PasskeyRequest, err error) {
	step, err := s.SecondStep(ctx, b.User)
	if err == nil && len(step.Passkeys) > 0 {
		request, err = s.beginUse(forConfirmation, b.FormToken, b.User, step.Passkeys)
	}
	return len(step.AppSecret) > 0, request, err
}

func (s *Service) beginUse(
	purpose, holder string, u identity.User, known []identity.Passkey,
) (PasskeyRequest, error) {
	if !s.OffersPasskeys() {
		return PasskeyRequest{}, nil
	}
	options, ceremony, err := s.deps.Passkeys.BeginUse(passkeyUser(u), known)
	return s.request(purpose, holder, options, ceremony), err
}

func (s *Service) request(purpose, holder string, options, ceremony []byte) PasskeyRequest {
	c := identity.Ceremony{
		Purpose: purpose, Holder: holder, Data: ceremony,
		ExpiresAt: s.deps.Clock.Real().Add(identity.CeremonyLifetime),
	}
	return PasskeyRequest{Options: string(options), Ceremony: c.Text(s.webDigest.sum(c.Subject()))}
}

// openCeremony returns what was kept of a ceremony of this browser, once. UNAUTHENTICATED.
func (s *Service) openCeremony(ctx context.Context, purpose, holder, text string) ([]byte, error) {
	c, shown, ok := identity.ParseCeremony(purpose, holder, text)
	if !s.OffersPasskeys() || !ok || !s.webDigest.made(shown, c.Subject()) ||
		!s.deps.Clock.Real().Before(c.ExpiresAt) {
		return nil, errPasskey
	}
	once := sha256.Sum256(shown)
	// Twice the lifetime: a limit of one is whole again only after all of its window.
	quota, err := s.deps.Limiter.Allow(ctx, "passkey:"+hex.EncodeToString(once[:16]), 1, 2*identity.CeremonyLifetime)
	if err == nil && quota.Wait > 0 {
		err = errPasskey
	}
	return c.Data, err
}

// checkPasskey returns whose passkey a browser has proved. UNAUTHENTICATED.
func (s *Service) checkPasskey(
	ctx context.Context, purpose, holder string, p PasskeyResponse,
) (userID string, used identity.Passkey, err error) {
	ceremony, err := s.openCeremony(ctx, purpose, holder, p.Ceremony)
	if err != nil {
		return "", used, err
	}
	steps := s.deps.Store.Read(ctx).Identity.SecondSteps
	userID, used, err = s.deps.Passkeys.Use(ceremony, []byte(p.Response), func(id string) ([]identity.Passkey, error) {
		step, err := steps.Get(ctx, id)
		if errors.Is(err, ports.ErrNotFound) {
			if err := s.deps.Names.MadeElsewhere(ctx, id); err != nil {
				return nil, err
			}
			return nil, ports.ErrPasskeyRefused
		}
		if err != nil {
			return nil, err
		}
		return step.State().Passkeys, nil
	})
	if errors.Is(err, ports.ErrPasskeyRefused) {
		err = errPasskey
	}
	return userID, used, err
}

// SignInPasskey signs in who proves a passkey, without a password: it returns the cookie. guest is the browser's form
// token. UNAUTHENTICATED, RATE_LIMITED, FORBIDDEN for a suspended account.
func (s *Service) SignInPasskey(
	ctx context.Context, guest string, p PasskeyResponse, from identity.Client,
) (cookie string, err error) {
	byAddress := "sign-in:address:" + from.Address
	if err := s.admit(ctx, byAddress, s.limits.SignInPerAddress); err != nil {
		return "", err
	}
	userID, used, err := s.checkPasskey(ctx, forSignIn, guest, p)
	if err != nil {
		return "", err
	}
	user, err := getUser(ctx, s.deps.Store.Read(ctx), userID)
	if errors.Is(err, ports.ErrNotFound) {
		return "", errPasskey
	}
	if err == nil {
		err = s.deps.Standing.CheckOpen(ctx, user.CreatorID)
	}
	if err == nil {
		err = s.enter(ctx, user, checkedProof{passkey: &used}, from, s.beginBrowser(from, &cookie))
	}
	if err != nil {
		return "", err
	}
	return cookie, s.restore(ctx, byAddress, s.limits.SignInPerAddress)
}
