package identity_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/identity"
)

func TestEmailConfirmation(t *testing.T) {
	t.Parallel()
	c := identity.Register("crt_1", identity.Registration{Email: "ada@example.com"}, "hash", time.Now())
	if c.ConfirmEmail() || c.CheckSales() != nil || c.State().Revision != 1 {
		t.Errorf("a creator who need not confirm: %+v", c.State())
	}
	c.RequireConfirmation()
	if err := c.CheckSales(); !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "Confirm your email") ||
		c.CheckOpen() != nil {
		t.Errorf("unconfirmed: sales %v, open %v", err, c.CheckOpen())
	}
	if !c.ConfirmEmail() || c.State().Revision != 2 || c.CheckSales() != nil || c.ConfirmEmail() {
		t.Errorf("confirmed: %+v", c.State())
	}
}

func TestEmailLinks(t *testing.T) {
	t.Parallel()
	expires, mac := time.Unix(1772971200, 0).UTC(), []byte("mac")
	confirmation := identity.ConfirmationLink{CreatorID: "crt_01h00000000000000000000000", ExpiresAt: expires}
	if got, shown, ok := identity.ParseConfirmationLink(confirmation.Text(mac)); got != confirmation || !ok ||
		string(shown) != "mac" {
		t.Errorf("got %+v, %q, %t", got, shown, ok)
	}
	invitation := identity.Invitation{Email: "ada@example.com", ExpiresAt: expires}
	if got, shown, ok := identity.ParseInvitation(invitation.Text(mac)); got != invitation || !ok ||
		string(shown) != "mac" {
		t.Errorf("got %+v, %q, %t", got, shown, ok)
	}
	for got, want := range map[string]string{
		confirmation.Subject(): "email-confirmation.crt_01h00000000000000000000000.1772971200",
		invitation.Subject():   "invitation.ada@example.com.1772971200",
	} {
		if got != want {
			t.Errorf("signed is %q, want %q", got, want)
		}
	}
	shouting := identity.Invitation{Email: "ADA@example.com", ExpiresAt: expires}
	for _, text := range []string{
		"", ".", "..", "a.b.c", "a.1.c.d", "!.1.bWFj", "YQ.1.bWFj", "YQ.x.bWFj", "YQ.1.!", shouting.Text(mac),
		invitation.Text(mac) + "\n", "YWRhQGV4YW1wbGUuY29t.x.bWFj", "YWRhQGV4YW1wbGUuY29t.1.!",
		"YWRhQGV4YW1wbGUuY29t!.1.bWFj",
		"01h00000000000000000000000.x.bWFj", "01h00000000000000000000000.1.!",
	} {
		if got, _, ok := identity.ParseInvitation(text); ok {
			t.Errorf("%q is an invitation for %s", text, got.Email)
		}
		if got, _, ok := identity.ParseConfirmationLink(text); ok {
			t.Errorf("%q confirms %s", text, got.CreatorID)
		}
	}
}

func TestSuspension(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	c := identity.Register("crt_1", identity.Registration{Email: "ada@example.com"}, "hash", noon)
	before := c.State()
	if c.Resume() || c.CheckOpen() != nil || c.CheckSales() != nil || c.State() != before {
		t.Errorf("an account in good standing: %+v", c.State())
	}
	if !c.Suspend("sells fakes", noon) || c.State().SuspensionReason != "sells fakes" || c.State().Revision != 2 {
		t.Errorf("suspended: %+v", c.State())
	}
	silent := identity.Register("crt_2", identity.Registration{Email: "bob@example.com"}, "hash", noon)
	if !silent.Suspend("", noon) || !silent.Suspended() {
		t.Errorf("suspended without a reason: %+v", silent.State())
	}
	later := noon.Add(time.Hour)
	if suspended := c.State(); c.Suspend("sells fakes", later) || c.State() != suspended {
		t.Errorf("suspended again: %+v", c.State())
	}
	if !c.Suspend("again", later) || c.State().SuspensionReason != "again" || c.State().SuspendedAt != noon {
		t.Errorf("suspended for another reason: %+v", c.State())
	}
	if !fault.Is(c.CheckOpen(), fault.Forbidden) || !fault.Is(c.CheckSales(), fault.Forbidden) {
		t.Errorf("refusals: %v, %v", c.CheckOpen(), c.CheckSales())
	}
	if !c.Resume() || c.State().Revision != 4 || c.CheckOpen() != nil || c.CheckSales() != nil {
		t.Errorf("resumed: %+v", c.State())
	}
	after := c.State()
	if after.Revision = before.Revision; after != before {
		t.Errorf("resumed: %+v, want %+v", after, before)
	}
}
