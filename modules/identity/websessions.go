package identity

import (
	"context"
	"encoding/hex"
	"errors"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/ports"
)

// maxBrowsers bounds the signed-in browsers that an account is shown.
const maxBrowsers = 50

// Browser is a user who is signed in with a browser.
type Browser struct {
	SessionID string
	// Creator is the account, User who uses it.
	Creator identity.CreatorState
	User    identity.User
	// Confirmed is set for ten minutes after the user has proved who they are.
	Confirmed bool
	// LacksSecondStep is set for a user without the second step that the account requires.
	LacksSecondStep bool
	// FormToken is the CSRF token in every form of this sign-in. Other sites cannot read it.
	FormToken string
}

// SignUpBrowser is SignUp for a browser: it returns the cookie.
func (s *Service) SignUpBrowser(
	ctx context.Context, r identity.Registration, from identity.Client,
) (cookie string, err error) {
	err = s.register(ctx, r, from, s.beginBrowser(from, &cookie))
	return cookie, err
}

// BrowserSignIn is the outcome of a right password: the cookie or, where the user has a second step, what FinishSignIn
// takes.
type BrowserSignIn struct{ Cookie, Pending string }

// SignInBrowser is SignIn for a browser.
func (s *Service) SignInBrowser(
	ctx context.Context, email, password string, from identity.Client,
) (in BrowserSignIn, err error) {
	user, err := s.authenticate(ctx, identity.Credentials{Email: email, Password: password}, from)
	if err != nil {
		return in, err
	}
	err = s.enter(ctx, user, checkedProof{}, from, s.beginBrowser(from, &in.Cookie))
	if fault.Is(err, fault.SecondStepRequired) {
		return BrowserSignIn{Pending: s.newPending(user)}, nil
	}
	return in, err
}

// beginBrowser starts a sign-in under a new id.
func (s *Service) beginBrowser(from identity.Client, cookie *string) beginner {
	return func(ctx context.Context, repos ports.Repos, user identity.User) error {
		sessionID := s.deps.IDs.New(identity.WebSessionPrefix)
		subject := identity.WebSubject(sessionID, user.MemberID != "")
		*cookie = identity.WebToken(sessionID, s.webDigest.sum(subject))
		return repos.Identity.WebSessions.Insert(
			ctx, identity.BeginWebSession(sessionID, user, from, s.deps.Clock.Real()),
		)
	}
}

// AuthenticateBrowser returns the user whom a cookie signs in, with the role that they have now. FORBIDDEN where
// the account is suspended, UNAUTHENTICATED for everything else.
func (s *Service) AuthenticateBrowser(ctx context.Context, cookie string) (Browser, error) {
	sessionID, member, ok := s.readWebToken(cookie)
	if !ok {
		return Browser{}, unauthenticated()
	}
	r := s.deps.Store.Read(ctx)
	session, err := r.Identity.WebSessions.Get(ctx, sessionID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && !session.Valid(s.deps.Clock.Real()) {
		return Browser{}, unauthenticated()
	}
	if err != nil {
		return Browser{}, err
	}
	signedIn := session.State()
	creator, err := r.Identity.Creators.Get(ctx, signedIn.CreatorID)
	if err == nil {
		err = creator.CheckOpen()
	}
	if err != nil {
		return Browser{}, err
	}
	user := creator.State().Owner()
	if member != (signedIn.MemberID != "") {
		return Browser{}, unauthenticated()
	}
	if member {
		user, err = loadUser(ctx, r, signedIn.CreatorID, signedIn.MemberID)
		if errors.Is(err, ports.ErrNotFound) {
			return Browser{}, unauthenticated()
		}
		if err != nil {
			return Browser{}, err
		}
	}
	if session.Use(s.deps.Clock.Real()) {
		err := s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
			return s.touchBrowser(ctx, repos, sessionID)
		})
		if err != nil {
			return Browser{}, err
		}
	}
	lacks := checkSecondStep(ctx, r, creator.State(), user)
	if lacks != nil && !fault.Is(lacks, fault.Forbidden) {
		return Browser{}, lacks
	}
	return Browser{
		SessionID: sessionID, Creator: creator.State(), User: user,
		FormToken: hex.EncodeToString(s.webDigest.sum(identity.FormSubject(sessionID))),
		Confirmed: session.Confirmed(s.deps.Clock.Real()), LacksSecondStep: lacks != nil,
	}, nil
}

// ConfirmBrowser records that the user of a browser knows the password or, with a password of "", has the second step.
// Attempts are counted as those of signing in. VALIDATION_FAILED, UNAUTHENTICATED, RATE_LIMITED.
func (s *Service) ConfirmBrowser(ctx context.Context, b Browser, password string, p Proof, from identity.Client) error {
	if password == "" {
		return s.confirmByStep(ctx, b, p, from)
	}
	if err := s.checkOwnPassword(ctx, b.User, "passwordAgain", password); err != nil {
		if fault.Is(err, fault.ValidationFailed) {
			s.logFailure(ctx, b.User, identity.SignInFailed, from)
		}
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return s.confirm(ctx, r, b.SessionID)
	})
}

func (s *Service) confirm(ctx context.Context, r ports.Repos, sessionID string) error {
	session, err := r.Identity.WebSessions.Get(ctx, sessionID)
	if err != nil {
		return err
	}
	session.Confirm(s.deps.Clock.Real())
	return r.Identity.WebSessions.Update(ctx, session)
}

func (s *Service) confirmByStep(ctx context.Context, b Browser, p Proof, from identity.Client) error {
	checked, err := s.checkProof(ctx, forConfirmation, b.FormToken, b.User, p)
	if err != nil {
		return err
	}
	return s.counted(ctx, b.User, checked, from, func() error {
		return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			step, err := loadSecondStep(ctx, r, b.User)
			if err == nil {
				err = s.useProof(ctx, r, b.User, step, checked, from)
			}
			if err != nil {
				return err
			}
			return s.confirm(ctx, r, b.SessionID)
		})
	})
}

// readWebToken returns the sign-in that a cookie of ours is for, and whether it is a member's.
func (s *Service) readWebToken(cookie string) (sessionID string, member, ok bool) {
	sessionID, shown, ok := identity.ParseWebToken(cookie)
	if !ok {
		return "", false, false
	}
	for _, member = range []bool{false, true} {
		if s.webDigest.made(shown, identity.WebSubject(sessionID, member)) {
			return sessionID, member, true
		}
	}
	return "", false, false
}

// touchBrowser records the last use of a sign-in.
func (s *Service) touchBrowser(ctx context.Context, r ports.Repos, sessionID string) error {
	session, err := r.Identity.WebSessions.Get(ctx, sessionID)
	if err != nil || !session.Use(s.deps.Clock.Real()) {
		return err
	}
	return r.Identity.WebSessions.Update(ctx, session)
}

// GuestFormToken returns the CSRF token of a visitor who is not signed in, derived from their cookie.
func (s *Service) GuestFormToken(cookie string) string {
	return hex.EncodeToString(s.webDigest.sum("guest-form." + cookie))
}

// NewGuest returns a text for that cookie.
func (s *Service) NewGuest() string { return hex.EncodeToString(s.deps.IDs.Random(16)) }

// Browsers lists the browsers in which the user is signed in, newest first, at most 50.
func (s *Service) Browsers(ctx context.Context, u identity.User) ([]identity.WebSessionState, error) {
	found, err := s.deps.Store.Read(ctx).Identity.WebSessions.ListValid(ctx, u, s.deps.Clock.Real(), maxBrowsers)
	all := make([]identity.WebSessionState, len(found))
	for i, one := range found {
		all[i] = one.State()
	}
	return all, err
}

// SignOutBrowser ends one sign-in. Ending it again changes nothing.
func (s *Service) SignOutBrowser(ctx context.Context, sessionID string) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		session, err := repos.Identity.WebSessions.Get(ctx, sessionID)
		if errors.Is(err, ports.ErrNotFound) {
			return nil
		}
		if err != nil || !session.Revoke(s.deps.Clock.Real()) {
			return err
		}
		return repos.Identity.WebSessions.Update(ctx, session)
	})
}

// SignOutEverywhere ends every sign-in of the user, of browsers and of the API, with its access tokens.
func (s *Service) SignOutEverywhere(ctx context.Context, u identity.User, from identity.Client) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		if err := s.revokeAll(ctx, repos, u, ""); err != nil {
			return err
		}
		return s.logSignIn(ctx, repos, u, identity.SignedOutEverywhere, from)
	})
}

// revokeAll ends every sign-in of a user but the named one of a browser.
func (s *Service) revokeAll(ctx context.Context, r ports.Repos, u identity.User, except string) error {
	now := s.deps.Clock.Real()
	if err := r.Identity.WebSessions.RevokeAll(ctx, u, except, now); err != nil {
		return err
	}
	return r.Identity.RefreshFamilies.RevokeAll(ctx, u, now)
}

// SignOutOther ends one of the user's sign-ins by its id. Ending it again changes nothing. NOT_FOUND.
func (s *Service) SignOutOther(ctx context.Context, u identity.User, sessionID string) error {
	session, err := s.deps.Store.Read(ctx).Identity.WebSessions.Get(ctx, sessionID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && !session.State().IsOf(u) {
		return fault.NotFound("sign-in")
	}
	if err != nil {
		return err
	}
	return s.SignOutBrowser(ctx, sessionID)
}
