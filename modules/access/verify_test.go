package access_test

import (
	"context"
	"strings"
	"testing"

	"sundry/core/access"
	"sundry/ports"
)

// verified fails the test when the stored snapshots break a rule.
func (h *fixture) verified() {
	h.t.Helper()
	faults, err := h.Verify(h.t.Context())
	if err != nil || len(faults) > 0 {
		h.t.Errorf("verify: %v %v", faults, err)
	}
}

func TestVerifyFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.buy(paid("1"))
		h.verified()
		h.atomically(func(ctx context.Context, r ports.Repos) error { // a grant that the snapshot does not know of
			return r.Access.Grants.Insert(ctx, access.NewForPurchase("grt_smuggled", paid("2")))
		})
		faults, err := h.Verify(t.Context())
		if err != nil || len(faults) != 1 || !strings.Contains(faults[0], "not the fold") {
			t.Errorf("a smuggled grant: %v %v", faults, err)
		}
		d := h.snapshot()
		h.atomically(func(ctx context.Context, r ports.Repos) error { // and a version that nothing led to
			d.Version = 3
			return r.Access.Snapshots.Update(ctx, d, &access.Changed{PreviousVersion: 1, Version: 3, At: noon})
		})
		faults, err = h.Verify(t.Context())
		if err != nil || len(faults) != 2 || !strings.Contains(faults[1], "2 changes on record, the last of them 3") {
			t.Errorf("a gap: %v %v", faults, err)
		}
	})
}
