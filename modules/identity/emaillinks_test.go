package identity_test

import (
	"strings"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/fault"
	core "sundry/core/identity"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

// forEachSignUps runs the test for a deployment with such sign-ups.
func forEachSignUps(t *testing.T, live bool, mode core.SignUps, test func(t *testing.T, h *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		h := open(store, live)
		h.signUps = mode
		h.Service = h.replica(live)
		test(t, h)
		_ = h.Close()
	})
}

func (h *fixture) register(t *testing.T, address, invitation string) (core.CreatorState, error) {
	t.Helper()
	in, err := h.SignUp(t.Context(), core.Registration{
		Email: address, Password: password, DisplayName: "Ada", Invitation: invitation,
	}, home)
	return in.Creator, err
}

func TestSignUps_ConfirmInLive(t *testing.T) {
	t.Parallel()
	forEachSignUps(t, true, core.SignUpsOpen, func(t *testing.T, h *fixture) {
		ada, err := h.register(t, "ada@example.com", "")
		if err != nil || !ada.EmailUnconfirmed {
			t.Fatalf("signed up: %+v, %v", ada, err)
		}
		asked := fakes.Published[core.EmailConfirmationAsked](h.bus)
		if len(asked) != 1 || asked[0].Email != "ada@example.com" {
			t.Fatalf("mails: %+v", asked)
		}
		_, text, _ := strings.Cut(h.EmailConfirmationURL(asked[0].Link), "/dashboard/confirm/")
		another := asked[0].Link
		another.ExpiresAt = another.ExpiresAt.Add(time.Hour)
		for name, wrong := range map[string]string{
			"no link": "x", "a link without its MAC": text[:len(text)-2], "another link's MAC": another.Text(nil) + text,
		} {
			wantCode(t, name, h.ConfirmEmail(t.Context(), wrong), fault.NotFoundCode)
		}
		for range 2 { // again, it changes nothing
			if err := h.ConfirmEmail(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		creator, err := h.Creator(t.Context(), ada.ID)
		if err != nil || creator.EmailUnconfirmed || creator.Revision != ada.Revision+1 {
			t.Errorf("confirmed: %+v, %v", creator, err)
		}
		h.bus.Take()
		if err := h.AskEmailConfirmation(t.Context(), ada.ID); err != nil || len(h.bus.Take()) != 0 {
			t.Errorf("asked although it is confirmed: %v", err)
		}
	})
}

func TestSignUps_ConfirmationIsAskedAgain(t *testing.T) {
	t.Parallel()
	forEachSignUps(t, true, core.SignUpsOpen, func(t *testing.T, h *fixture) {
		ada, err := h.register(t, "ada@example.com", "")
		if err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(core.ConfirmationLifetime)
		first := fakes.Published[core.EmailConfirmationAsked](h.bus)[0]
		_, text, _ := strings.Cut(h.EmailConfirmationURL(first.Link), "/dashboard/confirm/")
		wantCode(t, "an old link", h.ConfirmEmail(t.Context(), text), fault.NotFoundCode)
		h.bus.Take()
		for range 3 {
			if err := h.AskEmailConfirmation(t.Context(), ada.ID); err != nil {
				t.Fatal(err)
			}
		}
		wantCode(t, "asked too often", h.AskEmailConfirmation(t.Context(), ada.ID), fault.RateLimited)
		if n := len(h.bus.Take()); n != 3 {
			t.Errorf("%d mails, want three", n)
		}
	})
}

func TestSignUps_SandboxConfirmsNothing(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ada := h.signUp(t, "ada@example.com").Creator
	if names := h.bus.TakeNames(); ada.EmailUnconfirmed || len(names) != 0 {
		t.Errorf("%+v, published %q", ada, names)
	}
}

func TestSignUps_Invite(t *testing.T) {
	t.Parallel()
	forEachSignUps(t, true, core.SignUpsInvite, func(t *testing.T, h *fixture) {
		page, err := h.Invite(t.Context(), "root", " Ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		_, invitation, _ := strings.Cut(page, "/dashboard/sign-up?invitation=")
		if got := h.Invited(invitation); got != "ada@example.com" {
			t.Errorf("it is for %q", got)
		}
		for name, c := range map[string]struct{ address, invitation string }{
			"without an invitation":        {"ada@example.com", ""},
			"with that of somebody else":   {"eve@example.com", invitation},
			"with a text that is not one":  {"ada@example.com", "x"},
			"with one that was made up":    {"ada@example.com", invitation[:len(invitation)-2] + "00"},
			"with an address that is none": {"", ""},
		} {
			_, err := h.register(t, c.address, c.invitation)
			wantCode(t, name, err, fault.Forbidden)
		}
		ada, err := h.register(t, "ada@example.com", invitation)
		if err != nil || ada.EmailUnconfirmed {
			t.Fatalf("invited: %+v, %v", ada, err)
		}
		_, err = h.register(t, "ada@example.com", invitation)
		wantCode(t, "a second time", err, fault.EmailTaken)
		_, err = h.Invite(t.Context(), "root", "ada@example.com")
		wantCode(t, "inviting who has an account", err, fault.EmailTaken)
		_, err = h.Invite(t.Context(), "root", "ada")
		wantCode(t, "inviting no address", err, fault.ValidationFailed)
		actions, err := h.store.Store.Read(t.Context()).Operator.Actions.List(t.Context(), "", ports.Page{Limit: 9})
		if err != nil || len(actions.Items) != 1 || actions.Items[0].Note != "ada@example.com" {
			t.Errorf("the record is %+v, %v", actions.Items, err)
		}
	})
}

func TestSignUps_InvitationEnds(t *testing.T) {
	t.Parallel()
	forEachSignUps(t, false, core.SignUpsInvite, func(t *testing.T, h *fixture) {
		page, err := h.Invite(t.Context(), "root", "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		_, invitation, _ := strings.Cut(page, "=")
		h.clock.Advance(core.InvitationLifetime)
		_, err = h.register(t, "ada@example.com", invitation)
		wantCode(t, "after two weeks", err, fault.Forbidden)
		h.signUps = core.SignUpsClosed
		closed := h.replica(false)
		_, err = closed.SignUp(t.Context(), core.Registration{Email: "ada@example.com"}, home)
		wantCode(t, "where sign-ups are closed", err, fault.Forbidden)
	})
}
