package identity_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/fault"
	core "sundry/core/identity"
	"sundry/ports"
)

func (h *fixture) invite(t *testing.T, by core.User, address string, role core.Role) (core.MemberState, string) {
	t.Helper()
	m, err := h.InviteMember(t.Context(), by, core.MemberRequest{Email: address, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	_, link, _ := strings.Cut(h.MemberInvitationURL(m.Link()), "/join/")
	return m, link
}

func TestMembers_JoinOnceAndAreRemovedAtOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ctx := t.Context()
		ada := h.signUp(t, "ada@example.com").User
		m, first := h.invite(t, ada, "Grace@Example.com ", core.RoleSupport)
		again, link := h.invite(t, ada, "grace@example.com", core.RoleAnalyst)
		if again.ID != m.ID || again.Role != core.RoleAnalyst {
			t.Errorf("the second invitation is %+v", again)
		}
		join := func(link string) (string, error) {
			return h.JoinBrowser(ctx, link, core.Joining{Name: "Grace", Password: password}, core.Client{})
		}
		_, err := join(first)
		wantCode(t, "the link before", err, fault.NotFoundCode)
		_, err = join(link + "x")
		wantCode(t, "an invented link", err, fault.NotFoundCode)
		_, err = h.SignIn(ctx, "grace@example.com", password, home)
		wantCode(t, "signing in before joining", err, fault.Unauthenticated)

		var joined, refused int
		var cookie string
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 4 { // a doubled click
			all.Go(func() {
				c, err := join(link)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					joined, cookie = joined+1, c
				} else {
					refused++
				}
			})
		}
		all.Wait()
		if joined != 1 || refused != 3 {
			t.Fatalf("the link was accepted %d times and refused %d times", joined, refused)
		}
		browser, err := h.AuthenticateBrowser(ctx, cookie)
		if err != nil || browser.User.MemberID != m.ID || browser.Creator.ID != ada.CreatorID ||
			browser.User.Role != core.RoleAnalyst {
			t.Fatalf("the member's browser is %+v, %v", browser.User, err)
		}
		_, err = h.SignUp(ctx, core.Registration{Email: "grace@example.com", Password: password, DisplayName: "G"}, home)
		wantCode(t, "an account with a member's address", err, fault.EmailTaken)
		_, err = h.InviteMember(ctx, ada, core.MemberRequest{Email: "grace@example.com", Role: core.RoleAdmin})
		wantCode(t, "inviting a member", err, fault.EmailTaken)

		in, err := h.SignIn(ctx, "grace@example.com", password, home)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.ChangeMember(ctx, ada, m.ID, core.RoleDeveloper); err != nil {
			t.Fatal(err)
		}
		if got, err := h.AuthenticateToken(ctx, in.AccessToken); err != nil || got.ID() != m.ID ||
			got.CreatorID != ada.CreatorID || got.Role != core.RoleDeveloper {
			t.Errorf("the token from before the change is of %+v, %v", got, err)
		}
		renewed, err := h.Refresh(ctx, in.RefreshToken)
		if err != nil || renewed.User.ID() != m.ID {
			t.Fatalf("the refreshed sign-in is of %+v, %v", renewed.User, err)
		}
		if _, err := h.RemoveMember(ctx, ada, m.ID); err != nil {
			t.Fatal(err)
		}
		_, err = h.AuthenticateToken(ctx, renewed.AccessToken)
		wantCode(t, "the token of who was removed", err, fault.Unauthenticated)
		_, err = h.AuthenticateBrowser(ctx, cookie)
		wantCode(t, "the browser of who was removed", err, fault.Unauthenticated)
		_, err = h.Refresh(ctx, renewed.RefreshToken)
		wantCode(t, "the refresh token of who was removed", err, fault.Unauthenticated)
		_, ownersToken := h.signIn(t, "ada@example.com")
		if _, err = h.AuthenticateToken(ctx, ownersToken); err != nil {
			t.Errorf("the owner is signed out with the member: %v", err)
		}
	})
}

func (h *fixture) signIn(t *testing.T, address string) (in core.User, token string) {
	t.Helper()
	session, err := h.SignIn(t.Context(), address, password, home)
	if err != nil {
		t.Fatal(err)
	}
	return session.User, session.AccessToken
}

// Somebody makes an account with the address of an invitation while it is accepted: one of the two gets it.
func TestMembers_AddressHasOneSignIn(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ctx := t.Context()
		ada := h.signUp(t, "ada@example.com").User
		_, link := h.invite(t, ada, "grace@example.com", core.RoleAdmin)
		var joins, signsUp error
		var both sync.WaitGroup
		both.Go(func() {
			_, joins = h.JoinBrowser(ctx, link, core.Joining{Name: "Grace", Password: password}, core.Client{})
		})
		both.Go(func() {
			_, signsUp = h.SignUp(ctx, core.Registration{
				Email: "grace@example.com", Password: password, DisplayName: "Grace",
			}, home)
		})
		both.Wait()
		if (joins == nil) == (signsUp == nil) {
			t.Errorf("joining: %v, signing up: %v", joins, signsUp)
		}
		for _, err := range []error{joins, signsUp} {
			if err != nil {
				wantCode(t, "the other one", err, fault.EmailTaken)
			}
		}
	})
}

func TestMembers_OwnersAreLeftAlone(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ctx := t.Context()
	ada := h.signUp(t, "ada@example.com").User
	owner, _ := h.invite(t, ada, "olga@example.com", core.RoleOwner)
	admin, _ := h.invite(t, ada, "alan@example.com", core.RoleAdmin)
	by := admin.User()
	_, err := h.RemoveMember(ctx, by, owner.ID)
	wantCode(t, "an admin removes an owner", err, fault.Forbidden)
	_, err = h.ChangeMember(ctx, by, owner.ID, core.RoleAnalyst)
	wantCode(t, "an admin demotes an owner", err, fault.Forbidden)
	_, err = h.ChangeMember(ctx, by, admin.ID, core.RoleOwner)
	wantCode(t, "an admin becomes an owner", err, fault.Forbidden)
	_, err = h.InviteMember(ctx, by, core.MemberRequest{Email: "eve@example.com", Role: core.RoleOwner})
	wantCode(t, "an admin invites an owner", err, fault.Forbidden)
	_, err = h.InviteMember(ctx, by, core.MemberRequest{Email: "olga@example.com", Role: core.RoleAnalyst})
	wantCode(t, "an admin demotes an invited owner by another invitation", err, fault.Forbidden)
	for _, u := range []core.User{ada, owner.User()} {
		_, err = h.RemoveMember(ctx, u, ada.CreatorID)
		wantCode(t, "the account's own owner is removed", err, fault.Forbidden)
		_, err = h.ChangeMember(ctx, u, ada.CreatorID, core.RoleAnalyst)
		wantCode(t, "the account's own owner is demoted", err, fault.Forbidden)
	}
	bob := h.signUp(t, "bob@example.com").User
	_, err = h.RemoveMember(ctx, bob, admin.ID)
	wantCode(t, "another account removes a member", err, fault.NotFoundCode)
	if list, err := h.Members(ctx, ada.CreatorID, ports.Page{Limit: 10}); err != nil || len(list.Items) != 2 ||
		list.Items[1].State().Role != core.RoleOwner {
		t.Errorf("the refusals left %+v, %v", list.Items, err)
	}
}

func TestMembers_InvitationsEnd(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ada := h.signUp(t, "ada@example.com").User
	m, link := h.invite(t, ada, "grace@example.com", core.RoleSupport)
	h.clock.Advance(core.MemberInvitationLifetime - time.Second)
	if _, account, err := h.CheckJoin(t.Context(), link); err != nil || account != "Ada" {
		t.Errorf("a second before its end the link opens %q, %v", account, err)
	}
	h.clock.Advance(time.Second)
	_, _, err := h.CheckJoin(t.Context(), link)
	wantCode(t, "a link that has ended", err, fault.NotFoundCode)
	_, link = h.invite(t, ada, "grace@example.com", core.RoleSupport)
	if _, err := h.RemoveMember(t.Context(), ada, m.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = h.CheckJoin(t.Context(), link)
	wantCode(t, "an invitation that was taken back", err, fault.NotFoundCode)
}

func TestMembers_NewPassword(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ctx := t.Context()
	ada := h.signUp(t, "ada@example.com").User
	m, link := h.invite(t, ada, "grace@example.com", core.RoleSupport)
	cookie, err := h.JoinBrowser(ctx, link, core.Joining{Name: "Grace", Password: password}, core.Client{})
	if err != nil {
		t.Fatal(err)
	}
	_, token := h.signIn(t, "grace@example.com")
	_, owners := h.signIn(t, "ada@example.com")
	reset := core.ResetLink{
		CreatorID: ada.CreatorID, MemberID: m.ID, Replaces: core.PasswordMark("hash of " + password),
		ExpiresAt: h.clock.Real().Add(time.Hour),
	}
	_, text, _ := strings.Cut(h.PasswordResetURL(reset), "/reset/")
	if err := h.ResetPassword(ctx, text, "another horse battery", core.Client{}); err != nil {
		t.Fatal(err)
	}
	_, err = h.AuthenticateToken(ctx, token)
	wantCode(t, "the member's token from before", err, fault.Unauthenticated)
	_, err = h.AuthenticateBrowser(ctx, cookie)
	wantCode(t, "the member's browser from before", err, fault.Unauthenticated)
	if _, err := h.AuthenticateToken(ctx, owners); err != nil {
		t.Errorf("the owner's token ends with the member's password: %v", err)
	}
	if _, err := h.SignIn(ctx, "grace@example.com", "another horse battery", home); err != nil {
		t.Errorf("the new password: %v", err)
	}
	wantCode(t, "the link again", h.ResetPassword(ctx, text, "a third horse battery", core.Client{}), fault.NotFoundCode)
}

func TestMembers_KeysDoNoMoreThanTheirMaker(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ada := h.signUp(t, "ada@example.com").User
	for role, refused := range map[core.Role][]string{
		core.RoleOwner: {}, core.RoleAdmin: {"", "payouts"}, core.RoleDeveloper: {"", "payouts", "refunds"},
	} {
		for _, scope := range []string{"", "payouts", "refunds", "webhooks", "read"} {
			by := ada
			by.Role = role
			want := fault.Code("")
			for _, r := range refused {
				if r == scope {
					want = fault.Forbidden
				}
			}
			_, _, err := h.CreateKey(t.Context(), by, core.NewKeyRequest{Name: "n", Scopes: core.RestoreScopes(scope)})
			if got := fault.CodeOf(err); err != nil && got != want || err == nil && want != "" {
				t.Errorf("%s makes a key of %q: %v", role, scope, err)
			}
		}
	}
}
