package identity_test

import (
	"context"
	"strings"
	"testing"

	"sundry/core/fault"
	core "sundry/core/identity"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

// heldStore calls meanwhile once, when a browser's sign-in has been decided and is about to be written.
type heldStore struct {
	ports.Store
	meanwhile func()
}

func (s *heldStore) Atomically(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	return s.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		r.Identity.WebSessions = heldSessions{r.Identity.WebSessions, s}
		return fn(ctx, r)
	})
}

type heldSessions struct {
	ports.WebSessions
	store *heldStore
}

func (s heldSessions) Insert(ctx context.Context, session *core.WebSession) error {
	if meanwhile := s.store.meanwhile; meanwhile != nil {
		s.store.meanwhile = nil
		meanwhile()
	}
	return s.WebSessions.Insert(ctx, session)
}

// A sign-in that was decided by the old password or without a second step ends with the others, even where it is
// written at the same time. This is of PostgreSQL alone: SQLite has one writer at a time.
func TestSignIn_EndsWithAChangeAtOnce(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, h *fixture) (change func() error){
		"password": func(t *testing.T, h *fixture) func() error {
			h.askReset(t, "ada@example.com")
			h.mailResets(t)
			url := h.PasswordResetURL(fakes.Published[core.PasswordResetAsked](h.bus)[0].Link)
			link, from := url[strings.LastIndex(url, "/")+1:], core.Client{Address: home}
			return func() error { return h.ResetPassword(t.Context(), link, "another horse battery", from) }
		},
		"second step": func(t *testing.T, h *fixture) func() error {
			b := h.browse(t, "ada@example.com")
			if err := h.BeginApp(t.Context(), b.User); err != nil {
				t.Fatal(err)
			}
			secret, _, err := h.NewApp(t.Context(), b.User)
			if err != nil {
				t.Fatal(err)
			}
			return func() error {
				_, err := h.ConfirmApp(t.Context(), b, h.code(t, secret))
				return err
			}
		},
	} {
		testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
			if engine.Name == testdb.SQLite.Name {
				return
			}
			url := engine.URL(t)
			h := open(engine.OpenAt(t, url), false)
			defer func() { _ = h.Close() }()
			h.signUp(t, "ada@example.com")
			change, done := prepare(t, h), make(chan struct{})
			h.store.Store = &heldStore{h.store.Store, func() {
				go func() {
					defer close(done)
					if err := change(); err != nil {
						t.Errorf("change of the %s: %v", name, err)
					}
				}()
				engine.AwaitWait(t, url, done)
			}}
			in, err := h.SignInBrowser(t.Context(), "ada@example.com", password, core.Client{Address: home})
			<-done
			if err != nil {
				t.Fatal(err)
			}
			_, err = h.AuthenticateBrowser(t.Context(), in.Cookie)
			wantCode(t, "a sign-in from before the change of the "+name, err, fault.Unauthenticated)
		})
	}
}
