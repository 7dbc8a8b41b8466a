package identity_test

import (
	"slices"
	"testing"

	"sundry/core/event"
	"sundry/core/identity"
)

func TestBySelf_OfWhatProvesWhoSomebodyIs(t *testing.T) {
	t.Parallel()
	self := []identity.AccountEventKind{"signed_up", "signed_in", "signed_out_everywhere", "password_changed",
		"password_reset", "member_joined", "recovery_code_used"}
	all := identity.AccountEventKinds()
	for i, kind := range all {
		if got, want := kind.BySelf(), slices.Contains(self, kind); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
		if slices.Contains(all[:i], kind) {
			t.Errorf("%s is listed twice", kind)
		}
	}
}

func TestEventsAreNamed(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]event.Event{
		"account.audited": identity.Audited{}, "identity.member_invited": identity.MemberInvitationMade{},
	} {
		if got := e.EventName(); got != want {
			t.Errorf("%T is named %s, want %s", e, got, want)
		}
	}
}
