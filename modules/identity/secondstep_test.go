package identity_test

import (
	"context"
	"encoding/base32"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/core/fault"
	core "sundry/core/identity"
	"sundry/modules/identity"
	"sundry/ports"
)

const guest = "a guest's form token"

// code returns the code that an app with the secret shows now.
func (h *fixture) code(t *testing.T, secret string) string {
	t.Helper()
	raw, err := base32.StdEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	return core.TOTPCode(raw, h.clock.Real())
}

// browse signs an owner in with a browser.
func (h *fixture) browse(t *testing.T, address string) identity.Browser {
	t.Helper()
	in, err := h.SignInBrowser(t.Context(), address, password, core.Client{Address: home})
	if err != nil || in.Cookie == "" {
		t.Fatalf("signed in as %+v, %v", in, err)
	}
	b, err := h.AuthenticateBrowser(t.Context(), in.Cookie)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// addApp turns two-step sign-in on.
func (h *fixture) addApp(t *testing.T, b identity.Browser) (secret string, codes []string) {
	t.Helper()
	if err := h.BeginApp(t.Context(), b.User); err != nil {
		t.Fatal(err)
	}
	secret, address, err := h.NewApp(t.Context(), b.User)
	if err != nil || !strings.Contains(address, secret) {
		t.Fatalf("the new app is %q, %q, %v", secret, address, err)
	}
	codes, err = h.ConfirmApp(t.Context(), b, h.code(t, secret))
	if err != nil || len(codes) != 10 {
		t.Fatalf("the app comes with %d recovery codes, %v", len(codes), err)
	}
	h.clock.Advance(time.Minute) // the code that confirmed the app is used
	return secret, codes
}

func (h *fixture) signInWith(t *testing.T, code string) error {
	t.Helper()
	_, err := h.Service.SignIn(t.Context(), core.Credentials{
		Email: "ada@example.com", Password: password, Code: code,
	}, home)
	return err
}

func (h *fixture) kinds(t *testing.T, creatorID string) map[core.AccountEventKind]int {
	t.Helper()
	log, err := h.AccessLog(t.Context(), creatorID, "", ports.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	n := map[core.AccountEventKind]int{}
	for _, e := range log.Items {
		n[e.Kind]++
	}
	return n
}

func TestSecondStep_AppAtSignIn(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ctx := t.Context()
		before := h.signUp(t, "ada@example.com")
		other, b := h.browse(t, "ada@example.com"), h.browse(t, "ada@example.com")
		secret, _ := h.addApp(t, b)
		_, err := h.AuthenticateToken(ctx, before.AccessToken)
		wantCode(t, "a token from before", err, fault.Unauthenticated)
		if list, err := h.Browsers(ctx, b.User); err != nil || len(list) != 1 || list[0].ID != b.SessionID {
			t.Errorf("signed in are %+v, %v; not %s alone", list, err, b.SessionID)
		}
		wantCode(t, "no code", h.signInWith(t, ""), fault.SecondStepRequired)
		wantCode(t, "a wrong code", h.signInWith(t, "000000"), fault.Unauthenticated)
		code := h.code(t, secret)
		if err := h.signInWith(t, code); err != nil {
			t.Fatalf("the right code: %v", err)
		}
		wantCode(t, "the code again", h.signInWith(t, code), fault.Unauthenticated)
		_ = h.Close() // what is written beside the requests
		if n := h.kinds(t, b.User.CreatorID); n[core.SecondStepAdded] != 1 || n[core.SecondStepFailed] != 2 ||
			n[core.SignInFailed] != 0 {
			t.Errorf("the access log has %v", n)
		}
		if err := h.RemoveApp(ctx, b); err != nil {
			t.Fatal(err)
		}
		if err := h.signInWith(t, ""); err != nil {
			t.Errorf("without an app: %v", err)
		}
		if list, _ := h.Browsers(ctx, other.User); len(list) != 1 {
			t.Errorf("signed in are %+v", list)
		}
	})
}

// A code is shown in two windows at once: one of them signs in.
func TestSecondStep_CodeRace(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.signUp(t, "ada@example.com")
		secret, codes := h.addApp(t, h.browse(t, "ada@example.com"))
		for _, code := range []string{h.code(t, secret), codes[3]} {
			var accepted atomic.Int64
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					err := h.signInWith(t, code)
					if err == nil {
						accepted.Add(1)
					} else if !fault.Is(err, fault.Unauthenticated) {
						t.Errorf("one of several at once: %v", err)
					}
				})
			}
			all.Wait()
			if n := accepted.Load(); n != 1 {
				t.Errorf("the code %q is accepted %d times", code, n)
			}
		}
	})
}

func TestSecondStep_RecoveryCodes(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	h.signUp(t, "ada@example.com")
	b := h.browse(t, "ada@example.com")
	_, err := h.MakeRecoveryCodes(t.Context(), b)
	wantCode(t, "codes without a second step", err, fault.StateConflict)
	_, codes := h.addApp(t, b)
	if err := h.signInWith(t, strings.ToUpper(codes[0])); err != nil {
		t.Errorf("a recovery code: %v", err)
	}
	wantCode(t, "the same again", h.signInWith(t, codes[0]), fault.Unauthenticated)
	again, err := h.MakeRecoveryCodes(t.Context(), b)
	if err != nil || len(again) != 10 {
		t.Fatalf("new codes: %q, %v", again, err)
	}
	wantCode(t, "a code from before", h.signInWith(t, codes[1]), fault.Unauthenticated)
	if err := h.signInWith(t, again[9]); err != nil {
		t.Errorf("a new one: %v", err)
	}
	var notes []string
	for _, e := range h.bus.Take() {
		if changed, ok := e.(core.SecondStepChanged); ok {
			notes = append(notes, string(changed.Change)+" "+changed.Note)
		}
	}
	if got := strings.Join(notes, ", "); got != "app_added authenticator app, recovery_used 9, recovery_made , recovery_used 9" {
		t.Errorf("mailed is %s", got)
	}
}

func TestSecondStep_GuessingIsSlowedDown(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	h.signUp(t, "ada@example.com")
	secret, _ := h.addApp(t, h.browse(t, "ada@example.com"))
	for range 10 {
		wantCode(t, "a guess", h.signInWith(t, "000000"), fault.Unauthenticated)
	}
	wantCode(t, "the eleventh", h.signInWith(t, h.code(t, secret)), fault.RateLimited)
	in, err := h.SignInBrowser(t.Context(), "ada@example.com", password, core.Client{Address: "192.0.2.9"})
	if err != nil || in.Pending == "" || in.Cookie != "" {
		t.Fatalf("the password alone: %+v, %v", in, err)
	}
	_, err = h.FinishSignIn(t.Context(), in.Pending, guest, identity.Proof{Code: h.code(t, secret)}, core.Client{})
	wantCode(t, "from another address", err, fault.RateLimited)
	h.clock.Advance(6 * time.Minute)
	if err := h.signInWith(t, h.code(t, secret)); err != nil {
		t.Errorf("the right code six minutes later: %v", err)
	}
}

func TestSecondStep_PendingSignIn(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ctx := t.Context()
	h.signUp(t, "ada@example.com")
	b := h.browse(t, "ada@example.com")
	secret, _ := h.addApp(t, b)
	pending := func() string {
		in, err := h.SignInBrowser(ctx, "ada@example.com", password, core.Client{Address: home})
		if err != nil || in.Pending == "" {
			t.Fatalf("the password: %+v, %v", in, err)
		}
		return in.Pending
	}
	finish := func(text string) error {
		_, err := h.FinishSignIn(ctx, text, guest, identity.Proof{Code: h.code(t, secret)}, core.Client{Address: home})
		return err
	}
	page, err := h.PendingSignIn(ctx, pending(), guest)
	if err != nil || !page.App || page.Passkey.Options != "" {
		t.Errorf("the page is %+v, %v", page, err)
	}
	old := pending()
	wantCode(t, "a text that was changed", finish(old[:len(old)-2]+"AA"), fault.NotFoundCode)
	wantCode(t, "no code", errorOf(h.FinishSignIn(ctx, old, guest, identity.Proof{}, core.Client{})), fault.Unauthenticated)
	if err := finish(old); err != nil {
		t.Errorf("the right code: %v", err)
	}
	old = pending()
	h.clock.Advance(10 * time.Minute)
	wantCode(t, "ten minutes later", finish(old), fault.NotFoundCode)
	old = pending()
	if err := h.ChangePassword(ctx, b, password, "another horse battery", core.Client{}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "after another password", finish(old), fault.NotFoundCode)
}

func errorOf(_ string, err error) error { return err }

func TestSecondStep_Required(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ctx := t.Context()
	ada := h.signUp(t, "ada@example.com")
	grace, link := h.invite(t, ada.User, "grace@example.com", core.RoleSupport)
	if _, err := h.JoinBrowser(ctx, link, core.Joining{Name: "Grace", Password: password}, core.Client{}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "by who has none", h.RequireSecondStep(ctx, ada.User, true), fault.StateConflict)
	b := h.browse(t, "ada@example.com")
	h.addApp(t, b)
	if err := h.RequireSecondStep(ctx, ada.User, true); err != nil {
		t.Fatal(err)
	}
	_, err := h.SignIn(ctx, "grace@example.com", password, home)
	wantCode(t, "the API, without", err, fault.Forbidden)
	theirs := h.browse(t, "grace@example.com")
	if !theirs.LacksSecondStep {
		t.Error("a browser without one may go on")
	}
	wantCode(t, "turning the only one off", h.RemoveApp(ctx, b), fault.Forbidden)
	if on, err := h.SecondStepsOn(ctx, ada.User.CreatorID); err != nil || !on[ada.User.ID()] || on[grace.ID] {
		t.Errorf("on for %v, %v", on, err)
	}
	h.addApp(t, theirs)
	cookie := h.browseWith(t, "grace@example.com", theirs.User)
	if cookie.LacksSecondStep {
		t.Error("a browser with one may not go on")
	}
	if _, err := h.RemoveMember(ctx, ada.User, grace.ID); err != nil {
		t.Fatal(err)
	}
	if on, _ := h.SecondStepsOn(ctx, ada.User.CreatorID); len(on) != 1 {
		t.Errorf("after the member: %v", on)
	}
}

// browseWith signs in with the password and a new recovery code.
func (h *fixture) browseWith(t *testing.T, address string, u core.User) identity.Browser {
	t.Helper()
	codes, err := h.MakeRecoveryCodes(t.Context(), identity.Browser{User: u})
	if err != nil {
		t.Fatal(err)
	}
	in, err := h.SignInBrowser(t.Context(), address, password, core.Client{Address: home})
	if err != nil {
		t.Fatal(err)
	}
	cookie, err := h.FinishSignIn(t.Context(), in.Pending, guest, identity.Proof{Code: codes[0]}, core.Client{Address: home})
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.AuthenticateBrowser(t.Context(), cookie)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSecondStep_Reset(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ctx := t.Context()
	ada := h.signUp(t, "ada@example.com")
	h.addApp(t, h.browse(t, "ada@example.com"))
	wantCode(t, "without a reason", h.ResetSecondStep(ctx, "root", "ada@example.com", " "), fault.ValidationFailed)
	if err := h.ResetSecondStep(ctx, "root", "bob@example.com", "lost"); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("of nobody: %v", err)
	}
	wantCode(t, "before", h.signInWith(t, ""), fault.SecondStepRequired)
	if err := h.ResetSecondStep(ctx, "root", "Ada@example.com", "lost phone, passport seen"); err != nil {
		t.Fatal(err)
	}
	if err := h.signInWith(t, ""); err != nil {
		t.Errorf("after: %v", err)
	}
	if n := h.kinds(t, ada.User.CreatorID); n[core.SecondStepReset] != 1 {
		t.Errorf("the access log has %v", n)
	}
	actions, err := h.store.Read(ctx).Operator.Actions.List(ctx, ada.User.CreatorID, ports.Page{Limit: 10})
	if err != nil || len(actions.Items) != 1 || !strings.Contains(actions.Items[0].Note, "passport seen") {
		t.Errorf("the operator's record has %+v, %v", actions.Items, err)
	}
}

func TestConfirmBrowser_BySecondStep(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ctx, from := t.Context(), core.Client{Address: home}
	h.signUp(t, "ada@example.com")
	b := h.browse(t, "ada@example.com")
	err := h.ConfirmBrowser(ctx, b, "", identity.Proof{Code: "000000"}, from)
	wantCode(t, "a code of who has none", err, fault.Unauthenticated)
	secret, _ := h.addApp(t, b)
	h.clock.Advance(time.Hour)
	err = h.ConfirmBrowser(ctx, b, "", identity.Proof{Code: "000000"}, from)
	wantCode(t, "a wrong code", err, fault.Unauthenticated)
	code := h.code(t, secret)
	if err := h.ConfirmBrowser(ctx, b, "", identity.Proof{Code: code}, from); err != nil {
		t.Errorf("the right code: %v", err)
	}
	session, err := h.store.Read(ctx).Identity.WebSessions.Get(ctx, b.SessionID)
	if err != nil || !session.Confirmed(h.clock.Real()) {
		t.Errorf("the sign-in is not confirmed, %v", err)
	}
	wantCode(t, "a sign-in with it", h.signInWith(t, code), fault.Unauthenticated)
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ctx, from := t.Context(), core.Client{Address: home}
		h.signUp(t, "ada@example.com")
		h.signUp(t, "eve@example.com")
		ada, eve := h.browse(t, "ada@example.com"), h.browse(t, "eve@example.com")
		if codes := h.addPasskey(t, ada, "phone"); len(codes) != 10 {
			t.Errorf("the first passkey comes with %q", codes)
		}
		h.addPasskey(t, eve, "laptop")
		request, err := h.BeginPasskeySignIn(guest)
		if err != nil {
			t.Fatal(err)
		}
		mine := identity.PasskeyResponse{Ceremony: request.Ceremony, Response: ada.User.ID() + " phone"}
		signIn := func(token string, p identity.PasskeyResponse) error {
			_, err := h.SignInPasskey(ctx, token, p, from)
			return err
		}
		wantCode(t, "in another browser", signIn("another guest", mine), fault.Unauthenticated)
		if err := signIn(guest, mine); err != nil {
			t.Errorf("a passkey: %v", err)
		}
		wantCode(t, "the same response again", signIn(guest, mine), fault.Unauthenticated)
		request, _ = h.BeginPasskeySignIn(guest)
		mine.Ceremony = request.Ceremony
		h.clock.Advance(10 * time.Minute)
		wantCode(t, "ten minutes later", signIn(guest, mine), fault.Unauthenticated)
		wantCode(t, "no ceremony", signIn(guest, identity.PasskeyResponse{Response: mine.Response}), fault.Unauthenticated)

		in, err := h.SignInBrowser(ctx, "ada@example.com", password, from)
		if err != nil || in.Pending == "" {
			t.Fatalf("the password alone: %+v, %v", in, err)
		}
		for name, response := range map[string]string{"phone": ada.User.ID() + " phone", "laptop": eve.User.ID() + " laptop"} {
			page, err := h.PendingSignIn(ctx, in.Pending, guest)
			if err != nil || page.App || page.Passkey.Options == "" {
				t.Fatalf("the page is %+v, %v", page, err)
			}
			_, err = h.FinishSignIn(ctx, in.Pending, guest, identity.Proof{Passkey: identity.PasskeyResponse{
				Ceremony: page.Passkey.Ceremony, Response: response,
			}}, from)
			if (err == nil) != (name == "phone") {
				t.Errorf("Ada's second step by the %s: %v", name, err)
			}
		}
		step, err := h.SecondStep(ctx, ada.User)
		if err != nil || step.Passkeys[0].LastUsedAt.IsZero() {
			t.Fatalf("the passkey is %+v, %v", step.Passkeys, err)
		}
		wantCode(t, "another's", h.RemovePasskey(ctx, eve, step.Passkeys[0].ID), fault.NotFoundCode)
		if err := h.RemovePasskey(ctx, ada, step.Passkeys[0].ID); err != nil {
			t.Fatal(err)
		}
		request, _ = h.BeginPasskeySignIn(guest)
		mine.Ceremony = request.Ceremony
		wantCode(t, "a passkey that was removed", signIn(guest, mine), fault.Unauthenticated)
	})
}

// lateStore calls meanwhile once, before the next transaction begins.
type lateStore struct {
	ports.Store
	meanwhile func()
}

func (s *lateStore) Atomically(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	if meanwhile := s.meanwhile; meanwhile != nil {
		s.meanwhile = nil
		meanwhile()
	}
	return s.Store.Atomically(ctx, fn)
}

func TestPasskeySignIn_RemovedMeanwhile(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	h.signUp(t, "ada@example.com")
	ada := h.browse(t, "ada@example.com")
	h.addPasskey(t, ada, "stolen phone")
	step, err := h.SecondStep(t.Context(), ada.User)
	if err != nil {
		t.Fatal(err)
	}
	request, err := h.BeginPasskeySignIn(guest)
	if err != nil {
		t.Fatal(err)
	}
	h.store.Store = &lateStore{h.store.Store, func() {
		if err := h.RemovePasskey(t.Context(), ada, step.Passkeys[0].ID); err != nil {
			t.Error(err)
		}
	}}
	_, err = h.SignInPasskey(t.Context(), guest, identity.PasskeyResponse{
		Ceremony: request.Ceremony, Response: ada.User.ID() + " stolen phone",
	}, core.Client{Address: home})
	wantCode(t, "a passkey that is removed as it signs in", err, fault.Unauthenticated)
}

func (h *fixture) addPasskey(t *testing.T, b identity.Browser, name string) (codes []string) {
	t.Helper()
	request, err := h.BeginPasskey(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	response := identity.PasskeyResponse{Ceremony: request.Ceremony, Response: name}
	codes, err = h.AddPasskey(t.Context(), b, name, response)
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.AddPasskey(t.Context(), b, name, response)
	wantCode(t, "the same response again", err, fault.Unauthenticated)
	return codes
}
