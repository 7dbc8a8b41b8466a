package identity

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/ports"
)

// Session holds a signed-in user and their tokens.
type Session struct {
	Creator     identity.CreatorState
	User        identity.User
	AccessToken string
	// ExpiresIn is the lifetime of the access token.
	ExpiresIn    time.Duration
	RefreshToken string
}

// SignUp makes a creator and signs them in. address is the caller's network address. Refusals: VALIDATION_FAILED,
// EMAIL_TAKEN, RATE_LIMITED, and FORBIDDEN where sign-ups are closed or need another invitation. In live, a person
// who was not invited has to confirm the address before selling.
func (s *Service) SignUp(ctx context.Context, r identity.Registration, address string) (in Session, err error) {
	err = s.register(ctx, r, identity.Client{Address: address}, s.beginInto(&in))
	return in, err
}

// SignUpDemo is SignUp of the demo creator of a sandbox, whom its operator makes whatever the sign-ups are.
func (s *Service) SignUpDemo(ctx context.Context, r identity.Registration) (in Session, err error) {
	if r, err = r.Clean(); err != nil {
		return in, err
	}
	err = s.registerAdmitted(ctx, r, true, identity.Client{Address: "127.0.0.1"}, s.beginInto(&in))
	return in, err
}

// beginInto starts a sign-in and stores it in a variable.
func (s *Service) beginInto(in *Session) beginner {
	return func(ctx context.Context, repos ports.Repos, user identity.User) (err error) {
		*in, err = s.begin(ctx, repos, user)
		return err
	}
}

// register checks whether somebody may make an account, and makes it with registerAdmitted.
func (s *Service) register(ctx context.Context, r identity.Registration, from identity.Client, begin beginner) error {
	r, invalid := r.Clean()
	confirmed, err := s.admitRegistration(r)
	if err == nil {
		err = invalid
	}
	if err != nil {
		return err
	}
	return s.registerAdmitted(ctx, r, confirmed, from, begin)
}

// registerAdmitted creates a creator and signs them in with begin, in one transaction.
func (s *Service) registerAdmitted(
	ctx context.Context, r identity.Registration, confirmed bool, from identity.Client, begin beginner,
) error {
	if err := s.admit(ctx, "sign-up:address:"+from.Address, s.limits.SignUpPerAddress); err != nil {
		return err
	}
	hash, err := s.deps.Passwords.Hash(ctx, r.Password)
	if err != nil {
		return unlessBusy("hash password", err)
	}
	creatorID := s.deps.IDs.New(id.Creator)
	creator := identity.Register(creatorID, r, hash, s.deps.Clock.Real())
	if !confirmed {
		creator.RequireConfirmation()
	}
	err = s.deps.Names.Claim(ctx, ports.CreatorEmails, creatorID, r.Email)
	if err == nil {
		err = s.insertCreator(ctx, creator, from, begin)
		if errors.Is(err, ports.ErrDuplicate) || errors.Is(err, ports.ErrDatabaseBusy) { // others leave it open
			s.deps.Names.Release(ctx, ports.CreatorEmails, creatorID)
		}
	}
	if errors.Is(err, ports.ErrDuplicate) {
		return fault.Wrap(fault.EmailTaken, "An account with this email address exists. Sign in instead.", err)
	}
	return err
}

// insertCreator stores a new creator, has the address confirmed where that is due, and signs them in, in one
// transaction.
func (s *Service) insertCreator(
	ctx context.Context, creator *identity.Creator, from identity.Client, begin beginner,
) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		if err := repos.Identity.Members.LockAddress(ctx, creator.State().Email); err != nil {
			return err
		}
		_, err := repos.Identity.Members.GetByEmail(ctx, creator.State().Email)
		if err == nil {
			return &ports.DuplicateError{Index: "members_email"}
		}
		if !errors.Is(err, ports.ErrNotFound) {
			return err
		}
		if err := repos.Identity.Creators.Insert(ctx, creator); err != nil {
			return err
		}
		if creator.State().EmailUnconfirmed {
			if err := s.askConfirmation(ctx, repos, creator.State()); err != nil {
				return err
			}
		}
		if err := s.logSignIn(ctx, repos, creator.State().Owner(), identity.SignedUp, from); err != nil {
			return err
		}
		return begin(ctx, repos, creator.State().Owner())
	})
}

// beginner signs a user in, in the caller's transaction.
type beginner func(ctx context.Context, repos ports.Repos, user identity.User) error

// SignIn exchanges a password for tokens. address is the caller's network address. Refusals: VALIDATION_FAILED for
// missing members, RATE_LIMITED, one UNAUTHENTICATED, equal in words and time, for an unknown e-mail address and a
// wrong password, SECOND_STEP_REQUIRED where a code is missing, and FORBIDDEN for a suspended account and for a user
// without the second step that the account requires.
func (s *Service) SignIn(ctx context.Context, c identity.Credentials, address string) (in Session, err error) {
	from := identity.Client{Address: address}
	user, err := s.authenticate(ctx, c, from)
	if err != nil {
		return Session{}, err
	}
	err = s.enter(ctx, user, checkedProof{code: c.Code}, from, s.beginInto(&in))
	return in, err
}

// authenticate counts an attempt and checks a password.
func (s *Service) authenticate(
	ctx context.Context, c identity.Credentials, from identity.Client,
) (user identity.User, err error) {
	email, err := identity.CheckCredentials(c.Email, c.Password)
	if err != nil {
		return user, err
	}
	byAddress := "sign-in:address:" + from.Address
	if err := s.admit(ctx, byAddress, s.limits.SignInPerAddress); err != nil {
		return user, err
	}
	byAccount := s.signInKey(email)
	if err := s.admit(ctx, byAccount, s.limits.SignInPerAccount); err != nil {
		return user, err
	}
	user, err = s.checkPassword(ctx, email, c.Password, from)
	if err != nil {
		return user, err
	}
	if err := s.restore(ctx, byAddress, s.limits.SignInPerAddress); err != nil {
		return user, err
	}
	if err := s.restore(ctx, byAccount, s.limits.SignInPerAccount); err != nil {
		return user, err
	}
	return user, s.deps.Standing.CheckOpen(ctx, user.CreatorID)
}

var errWrongPassword = fault.New(fault.Unauthenticated, "The email address or the password is wrong.")

// checkPassword finds the owner or the member with this address and password. For an unknown address the hasher does
// the same work for nothing, so that the time taken reveals nothing.
func (s *Service) checkPassword(
	ctx context.Context, email, password string, from identity.Client,
) (identity.User, error) {
	user, err := s.findUser(ctx, s.deps.Store.Read(ctx), email)
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return user, err
	}
	matches, err := s.deps.Passwords.Matches(ctx, user.PasswordHash, password)
	if err != nil {
		return user, unlessBusy("check password", err)
	}
	if !matches && user.CreatorID == "" {
		if err := s.deps.Names.Elsewhere(ctx, ports.CreatorEmails, email); err != nil {
			return user, err
		}
	}
	if !matches {
		s.logFailure(ctx, user, identity.SignInFailed, from)
		return identity.User{}, errWrongPassword
	}
	return user, nil
}

// Refresh exchanges a refresh token for new tokens. A token that was exchanged before ends the whole sign-in. FORBIDDEN
// for a suspended account.
func (s *Service) Refresh(ctx context.Context, refreshToken string) (Session, error) {
	if refreshToken == "" {
		return Session{}, fault.Invalid(fault.Detail{
			Field: "refreshToken", Code: fault.DetailRequired, Message: "A refresh token is required.",
		})
	}
	shown, ok := s.readRefreshToken(refreshToken)
	if !ok {
		return Session{}, cmp.Or(s.deps.Names.MadeElsewhere(ctx, shown.FamilyID), identity.ErrInvalidRefresh())
	}
	var in Session
	var refusal error
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) (err error) {
		in, refusal, err = s.rotate(ctx, repos, shown)
		return err
	})
	if err == nil && refusal != nil {
		err = cmp.Or(s.deps.Names.MadeElsewhere(ctx, shown.FamilyID), refusal)
	}
	if err != nil {
		return Session{}, err
	}
	return in, nil
}

// readRefreshToken parses a refresh token. ok is false for a text that we did not issue: inventing one for a known
// family changes nothing.
func (s *Service) readRefreshToken(text string) (token identity.RefreshToken, ok bool) {
	token, shown, ok := identity.ParseRefreshToken(text)
	if !ok {
		return token, false
	}
	for _, token.Member = range []bool{false, true} {
		mac := s.refreshDigest.sum(token.Subject())
		if subtle.ConstantTimeCompare(shown, mac[:identity.RefreshMAC]) == 1 {
			return token, true
		}
	}
	return token, false
}

// rotate exchanges the family's token. refusal is a response that must be committed, not rolled back: a token that was
// used twice ends its family.
func (s *Service) rotate(
	ctx context.Context, repos ports.Repos, shown identity.RefreshToken,
) (in Session, refusal, err error) {
	family, err := repos.Identity.RefreshFamilies.Get(ctx, shown.FamilyID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && isMembers(family) != shown.Member {
		return in, identity.ErrInvalidRefresh(), nil
	}
	if err != nil {
		return in, nil, err
	}
	changed, refusal := family.Rotate(shown.Generation, s.deps.Clock.Real())
	if changed {
		err = repos.Identity.RefreshFamilies.Update(ctx, family)
	}
	if err != nil || refusal != nil {
		return in, refusal, err
	}
	in, err = s.grant(ctx, repos, family.State())
	return in, nil, err
}

func isMembers(f *identity.RefreshFamily) bool { return f.State().MemberID != "" }

// SignOut ends the sign-in that the refresh token belongs to or, when there is none, the one that the access token
// came from. A refresh token that is unknown, invented or has ended is no error: its bearer is signed out, as asked.
func (s *Service) SignOut(ctx context.Context, refreshToken, accessToken string) error {
	shown, ok := s.readRefreshToken(refreshToken)
	familyID := shown.FamilyID
	switch {
	case refreshToken == "" && accessToken == "":
		return fault.Invalid(fault.Detail{
			Field: "refreshToken", Code: fault.DetailRequired, Message: "A refresh token is required.",
		})
	case refreshToken == "":
		token, valid := s.deps.Tokens.Verify(accessToken, s.deps.Clock.Real())
		if !valid {
			return unauthenticated()
		}
		familyID, _ = identity.FamilyOfToken(token.ID)
	case !ok:
		return nil
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		family, err := repos.Identity.RefreshFamilies.Get(ctx, familyID)
		if errors.Is(err, ports.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if !family.Revoke(s.deps.Clock.Real()) {
			return nil
		}
		return repos.Identity.RefreshFamilies.Update(ctx, family)
	})
}

// AuthenticateToken returns the user of an access token, with the role that they have now. UNAUTHENTICATED for
// everything else, and for a token whose sign-in has ended.
func (s *Service) AuthenticateToken(ctx context.Context, token string) (identity.User, error) {
	t, ok := s.deps.Tokens.Verify(token, s.deps.Clock.Real())
	if !ok {
		return identity.User{}, unauthenticated()
	}
	familyID, member := identity.FamilyOfToken(t.ID)
	r := s.deps.Store.Read(ctx)
	family, err := r.Identity.RefreshFamilies.Get(ctx, familyID)
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return identity.User{}, unauthenticated()
	case err != nil:
		return identity.User{}, err
	case !family.State().RevokedAt.IsZero() || family.State().CreatorID != t.CreatorID || isMembers(family) != member:
		return identity.User{}, unauthenticated()
	case !member:
		return identity.User{CreatorID: t.CreatorID, Role: identity.RoleOwner}, nil
	}
	user, err := loadUser(ctx, r, t.CreatorID, family.State().MemberID)
	if errors.Is(err, ports.ErrNotFound) {
		return identity.User{}, unauthenticated()
	}
	return user, err
}

// begin starts a family of refresh tokens for the user.
func (s *Service) begin(ctx context.Context, repos ports.Repos, user identity.User) (Session, error) {
	familyID := s.deps.IDs.New(identity.RefreshFamilyPrefix)
	family := identity.BeginFamily(familyID, user, s.deps.Clock.Real())
	if err := repos.Identity.RefreshFamilies.Insert(ctx, family); err != nil {
		return Session{}, err
	}
	return s.grant(ctx, repos, family.State())
}

// grant renders the family's valid refresh token and signs the access token that goes with it. Both depend on nothing
// else, so that a retry gets the same pair. The access token's id names the refresh token, so that it is enough to sign
// out. FORBIDDEN for a suspended account, and for a user without the second step that the account requires.
func (s *Service) grant(
	ctx context.Context, repos ports.Repos, family identity.RefreshFamilyState,
) (Session, error) {
	creator, err := repos.Identity.Creators.Get(ctx, family.CreatorID)
	if err == nil {
		err = creator.CheckOpen()
	}
	if err != nil {
		return Session{}, err
	}
	user, err := loadUser(ctx, repos, family.CreatorID, family.MemberID)
	if errors.Is(err, ports.ErrNotFound) {
		return Session{}, identity.ErrInvalidRefresh()
	}
	if err == nil {
		err = checkSecondStep(ctx, repos, creator.State(), user)
	}
	if err != nil {
		return Session{}, err
	}
	token := family.Token()
	access, err := s.deps.Tokens.Sign(ports.AccessToken{
		ID: token.Subject(), CreatorID: user.CreatorID, IssuedAt: family.RotatedAt,
		ExpiresAt: family.RotatedAt.Add(identity.AccessTokenLifetime),
	})
	if err != nil {
		return Session{}, fmt.Errorf("sign access token of %s: %w", user.ID(), err)
	}
	return Session{Creator: creator.State(), User: user, AccessToken: access, ExpiresIn: identity.AccessTokenLifetime,
		RefreshToken: token.Text(s.refreshDigest.sum(token.Subject()))}, nil
}

// admit counts one attempt. RATE_LIMITED specifies how long to wait.
func (s *Service) admit(ctx context.Context, key string, limit identity.Limit) error {
	return ports.Admit(ctx, s.deps.Limiter, ports.Attempt{
		Key: key, Limit: limit.Attempts, Window: limit.Window, Message: tooManyAttempts,
	})
}

// restore undoes admit for an attempt that was no guess.
func (s *Service) restore(ctx context.Context, key string, limit identity.Limit) error {
	if err := s.deps.Limiter.Refund(ctx, key, limit.Attempts, limit.Window); err != nil {
		return fmt.Errorf("refund a sign-in attempt: %w", err)
	}
	return nil
}

// signInKey is the key that attempts on an account are counted by. It is hashed: it ends up in Redis, where an e-mail
// address has no business.
func (s *Service) signInKey(email string) string {
	account := s.refreshDigest.sum("sign-in " + email)
	return "sign-in:account:" + hex.EncodeToString(account[:16])
}

const tooManyAttempts = "Too many attempts. Wait as long as Retry-After specifies."

// unlessBusy turns ErrBusy into RATE_LIMITED and anything else into a fault of ours.
func unlessBusy(op string, err error) error {
	if errors.Is(err, ports.ErrBusy) {
		return fault.TooMany(tooManyAttempts, time.Second)
	}
	return fmt.Errorf("%s: %w", op, err)
}

func unauthenticated() error { return fault.New(fault.Unauthenticated, "The credential is not valid.") }
