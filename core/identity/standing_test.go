package identity_test

import (
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/identity"
)

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
	if suspended := c.State(); c.Suspend("again", noon.Add(time.Hour)) || c.State() != suspended {
		t.Errorf("suspended again: %+v", c.State())
	}
	if !fault.Is(c.CheckOpen(), fault.Forbidden) || !fault.Is(c.CheckSales(), fault.Forbidden) {
		t.Errorf("refusals: %v, %v", c.CheckOpen(), c.CheckSales())
	}
	if !c.Resume() || c.State().Revision != 3 || c.CheckOpen() != nil || c.CheckSales() != nil {
		t.Errorf("resumed: %+v", c.State())
	}
	after := c.State()
	if after.Revision = before.Revision; after != before {
		t.Errorf("resumed: %+v, want %+v", after, before)
	}
}
