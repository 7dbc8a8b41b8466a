package identity

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/ports"
)

// SignedIn is what a creator receives to act with.
type SignedIn struct {
	Creator     identity.CreatorState
	AccessToken string
	// ExpiresIn is how long the access token lasts.
	ExpiresIn    time.Duration
	RefreshToken string
}

// SignUp makes a creator and signs them in. address is the caller's network address. Refusals: VALIDATION_FAILED,
// EMAIL_TAKEN, RATE_LIMITED.
func (s *Service) SignUp(ctx context.Context, r identity.Registration, address string) (SignedIn, error) {
	r, err := r.Clean()
	if err != nil {
		return SignedIn{}, err
	}
	if err := s.admit(ctx, "sign-up:address:"+address, s.limits.SignUpPerAddress); err != nil {
		return SignedIn{}, err
	}
	hash, err := s.passwords.Hash(ctx, r.Password)
	if err != nil {
		return SignedIn{}, unlessBusy("hash password", err)
	}
	var in SignedIn
	err = s.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		creator := identity.Register(s.ids.New(id.Creator), r, hash, s.clock.Real())
		err := repos.Creators.Insert(ctx, creator)
		if errors.Is(err, ports.ErrDuplicate) {
			return fault.Wrap(fault.EmailTaken, "An account with this e-mail address exists. Sign in instead.", err)
		}
		if err != nil {
			return err
		}
		in, err = s.begin(ctx, repos, creator.State())
		return err
	})
	return in, err
}

// SignIn exchanges a password for tokens. address is the caller's network address. Refusals: VALIDATION_FAILED for
// missing members, RATE_LIMITED, and one UNAUTHENTICATED, equal in words and time, for an unknown e-mail address and a
// wrong password.
func (s *Service) SignIn(ctx context.Context, email, password, address string) (SignedIn, error) {
	email, err := identity.CheckCredentials(email, password)
	if err != nil {
		return SignedIn{}, err
	}
	byAddress := "sign-in:address:" + address
	if err := s.admit(ctx, byAddress, s.limits.SignInPerAddress); err != nil {
		return SignedIn{}, err
	}
	// The account's key is hashed: it ends up in Redis, where an e-mail address has no business.
	account := s.refreshDigest.sum("sign-in " + email)
	if err := s.admit(ctx, "sign-in:account:"+hex.EncodeToString(account[:16]), s.limits.SignInPerAccount); err != nil {
		return SignedIn{}, err
	}
	creator, err := s.checkPassword(ctx, email, password)
	if err != nil {
		return SignedIn{}, err
	}
	limit := s.limits.SignInPerAddress
	if err := s.throttle.GiveBack(ctx, byAddress, limit.Attempts, limit.Window); err != nil {
		return SignedIn{}, fmt.Errorf("give back a sign-in attempt: %w", err)
	}
	var in SignedIn
	err = s.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		in, err = s.begin(ctx, repos, creator)
		return err
	})
	return in, err
}

// checkPassword finds the creator with this address and password. For an unknown address the hasher does
// the same work for nothing, so that the time taken tells nothing.
func (s *Service) checkPassword(ctx context.Context, email, password string) (identity.CreatorState, error) {
	var state identity.CreatorState
	creator, err := s.store.Read(ctx).Creators.ByEmail(ctx, email)
	switch {
	case err == nil:
		state = creator.State()
	case !errors.Is(err, ports.ErrNotFound):
		return state, err
	}
	matches, err := s.passwords.Matches(ctx, state.PasswordHash, password)
	if err != nil {
		return state, unlessBusy("check password", err)
	}
	if !matches {
		return identity.CreatorState{}, fault.New(fault.Unauthenticated, "The e-mail address or the password is wrong.")
	}
	return state, nil
}

// Refresh exchanges a refresh token for new tokens. A token that was exchanged before ends the whole sign-in.
func (s *Service) Refresh(ctx context.Context, refreshToken string) (SignedIn, error) {
	if refreshToken == "" {
		return SignedIn{}, fault.Invalid(fault.Detail{Field: "refreshToken", Code: fault.DetailRequired, Message: "A refresh token is required."})
	}
	familyID, ok := identity.ParseRefreshToken(refreshToken)
	if !ok {
		return SignedIn{}, identity.RefusedRefresh()
	}
	shown := s.refreshDigest.sum(refreshToken)
	var in SignedIn
	var refusal error
	err := s.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) (err error) {
		in, refusal, err = s.rotate(ctx, repos, familyID, shown)
		return err
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return SignedIn{}, err
	}
	return in, nil
}

// rotate exchanges the family's token. refusal is an answer that must be committed, not rolled back: a token that was
// used twice ends its family.
func (s *Service) rotate(ctx context.Context, repos ports.Repos, familyID string, shown digest) (in SignedIn, refusal, err error) {
	family, err := repos.RefreshFamilies.ByID(ctx, familyID)
	if errors.Is(err, ports.ErrNotFound) {
		return in, identity.RefusedRefresh(), nil
	}
	if err != nil {
		return in, nil, err
	}
	next := identity.NewRefreshToken(familyID, s.ids.Random(identity.RefreshEntropy))
	nextHash := s.refreshDigest.sum(next)
	changed, refusal := family.Rotate(shown[:], nextHash[:], s.clock.Real())
	if changed {
		err = repos.RefreshFamilies.Save(ctx, family)
	}
	if err != nil || refusal != nil {
		return in, refusal, err
	}
	creator, err := repos.Creators.ByID(ctx, family.State().CreatorID)
	if err != nil {
		return in, nil, err
	}
	in, err = s.grant(creator.State(), family.State(), next)
	return in, nil, err
}

// SignOut ends the sign-in that the refresh token belongs to or, when there is none, the one that the access token
// came from. A refresh token that is unknown or has ended is no error: its bearer is signed out, as asked.
func (s *Service) SignOut(ctx context.Context, refreshToken, accessToken string) error {
	familyID, ok := identity.ParseRefreshToken(refreshToken)
	switch {
	case refreshToken == "" && accessToken == "":
		return fault.Invalid(fault.Detail{Field: "refreshToken", Code: fault.DetailRequired, Message: "A refresh token is required."})
	case refreshToken == "":
		token, valid := s.tokens.Verify(accessToken, s.clock.Real())
		if !valid {
			return unauthenticated()
		}
		familyID, _, _ = strings.Cut(token.ID, ".")
	case !ok:
		return nil
	}
	return s.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		family, err := repos.RefreshFamilies.ByID(ctx, familyID)
		if errors.Is(err, ports.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if !family.Revoke(s.clock.Real()) {
			return nil
		}
		return repos.RefreshFamilies.Save(ctx, family)
	})
}

// AuthenticateToken returns whose access token this is. UNAUTHENTICATED for everything else.
func (s *Service) AuthenticateToken(_ context.Context, token string) (creatorID string, err error) {
	t, ok := s.tokens.Verify(token, s.clock.Real())
	if !ok {
		return "", unauthenticated()
	}
	return t.CreatorID, nil
}

// begin starts a family of refresh tokens for the creator.
func (s *Service) begin(ctx context.Context, repos ports.Repos, creator identity.CreatorState) (SignedIn, error) {
	familyID := s.ids.New(identity.RefreshFamilyPrefix)
	token := identity.NewRefreshToken(familyID, s.ids.Random(identity.RefreshEntropy))
	hash := s.refreshDigest.sum(token)
	family := identity.BeginFamily(familyID, creator.ID, hash[:], s.clock.Real())
	if err := repos.RefreshFamilies.Insert(ctx, family); err != nil {
		return SignedIn{}, err
	}
	return s.grant(creator, family.State(), token)
}

// grant signs the access token that goes with a family's newest refresh token. Its id names both, so that an access
// token is enough to sign out.
func (s *Service) grant(creator identity.CreatorState, family identity.RefreshFamilyState, refreshToken string) (SignedIn, error) {
	now := s.clock.Real()
	access, err := s.tokens.Sign(ports.AccessToken{
		ID:        family.ID + "." + strconv.FormatInt(family.Generation, 10),
		CreatorID: creator.ID, IssuedAt: now, ExpiresAt: now.Add(identity.AccessTokenLifetime),
	})
	if err != nil {
		return SignedIn{}, fmt.Errorf("sign access token of %s: %w", creator.ID, err)
	}
	return SignedIn{Creator: creator, AccessToken: access, ExpiresIn: identity.AccessTokenLifetime, RefreshToken: refreshToken}, nil
}

// admit counts one attempt. RATE_LIMITED says how long to wait.
func (s *Service) admit(ctx context.Context, key string, limit identity.Limit) error {
	wait, err := s.throttle.Allow(ctx, key, limit.Attempts, limit.Window)
	if err != nil {
		return fmt.Errorf("count attempt: %w", err)
	}
	if wait > 0 {
		return tooMany(wait)
	}
	return nil
}

func tooMany(wait time.Duration) error {
	f := fault.New(fault.RateLimited, "Too many attempts. Wait as Retry-After says.")
	f.RetryAfter = wait
	return f
}

// unlessBusy turns ErrBusy into RATE_LIMITED and anything else into a fault of ours.
func unlessBusy(doing string, err error) error {
	if errors.Is(err, ports.ErrBusy) {
		return tooMany(time.Second)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func unauthenticated() error { return fault.New(fault.Unauthenticated, "The credential is not valid.") }
