package identity_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	core "sundry/core/identity"
	"sundry/modules/identity"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

// mailResets runs the tasks that mail links to a new password, and returns whom they were about.
func (h *fixture) mailResets(t *testing.T) (subjects []string) {
	t.Helper()
	store, ok := h.store.Store.(*testdb.ClockedStore)
	if !ok {
		t.Fatal("not the store")
	}
	claimed, err := store.Claim(t.Context(), ports.DefaultTasks, h.clock.Real(), time.Minute, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range claimed {
		if task.Kind != identity.ResetTask {
			t.Errorf("a task of kind %s", task.Kind)
		}
		if err := h.MailPasswordReset(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		subjects = append(subjects, task.Subject)
	}
	return subjects
}

func (h *fixture) askReset(t *testing.T, address string) {
	t.Helper()
	if err := h.AskPasswordReset(t.Context(), address, core.Client{Address: home}); err != nil {
		t.Fatal(err)
	}
}

func TestPasswordReset_SameWorkForUnknown(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ada := h.signUp(t, "ada@example.com").Creator
		for _, c := range []struct {
			address string
			mails   int
		}{{"ada@example.com", 1}, {"nobody@example.com", 0}} {
			writes, reads := h.store.writes.Load(), h.store.reads.Load()
			h.askReset(t, c.address)
			if w, r := h.store.writes.Load()-writes, h.store.reads.Load()-reads; w != 1 || r != 0 {
				t.Errorf("%s: %d transactions and %d reads, want one transaction", c.address, w, r)
			}
			if early := h.bus.TakeNames(); len(early) > 0 {
				t.Errorf("%s: %v before the response", c.address, early)
			}
			subjects := h.mailResets(t)
			if len(subjects) != 1 || !id.Valid(id.Creator, subjects[0]) || (subjects[0] == ada.ID) != (c.mails == 1) {
				t.Errorf("%s: tasks about %v", c.address, subjects)
			}
			asked := fakes.Published[core.PasswordResetAsked](h.bus)
			if len(asked) != c.mails || c.mails == 1 && asked[0].Email != c.address {
				t.Errorf("%s: mails %+v, want %d", c.address, asked, c.mails)
			}
			h.bus.Take()
		}
		if again := h.mailResets(t); len(again) > 0 {
			t.Errorf("tasks are left: %v", again)
		}
	})
}

func TestPasswordReset_EndsAccessTokens(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		before, bob := h.signUp(t, "ada@example.com"), h.signUp(t, "bob@example.com")
		h.askReset(t, "ada@example.com")
		h.mailResets(t)
		asked := fakes.Published[core.PasswordResetAsked](h.bus)
		if len(asked) != 1 {
			t.Fatalf("%d mails", len(asked))
		}
		url := h.PasswordResetURL(asked[0].Link)
		link := url[strings.LastIndex(url, "/")+1:]
		if got, err := h.AuthenticateToken(t.Context(), before.AccessToken); err != nil || got.CreatorID != before.Creator.ID {
			t.Errorf("before the reset: %s, %v", got, err)
		}
		if err := h.ResetPassword(t.Context(), link, "another horse battery", core.Client{Address: home}); err != nil {
			t.Fatal(err)
		}
		_, err := h.AuthenticateToken(t.Context(), before.AccessToken)
		wantCode(t, "the token of before", err, fault.Unauthenticated)
		if _, err := h.AuthenticateToken(t.Context(), bob.AccessToken); err != nil {
			t.Errorf("another account's token: %v", err)
		}
		after, err := h.SignIn(t.Context(), "ada@example.com", "another horse battery", home)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.AuthenticateToken(t.Context(), after.AccessToken); err != nil || got.CreatorID != before.Creator.ID {
			t.Errorf("after the reset: %s, %v", got, err)
		}
	})
}

func TestPasswordReset_EndsASignInUnderWay(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.signUp(t, "ada@example.com")
		h.askReset(t, "ada@example.com")
		h.mailResets(t)
		url := h.PasswordResetURL(fakes.Published[core.PasswordResetAsked](h.bus)[0].Link)
		h.hasher.matched = func() {
			err := h.ResetPassword(
				t.Context(), url[strings.LastIndex(url, "/")+1:], "another horse battery", core.Client{Address: home})
			if err != nil {
				t.Error(err)
			}
		}
		in, err := h.SignIn(t.Context(), "ada@example.com", password, home)
		wantCode(t, "with the password of before", err, fault.Unauthenticated)
		if in.RefreshToken != "" {
			t.Error("it is signed in")
		}
		if _, err := h.SignIn(t.Context(), "ada@example.com", "another horse battery", home); err != nil {
			t.Errorf("with the new password: %v", err)
		}
	})
}
