package access_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	core "sundry/core/access"
	"sundry/modules/access"
	"sundry/ports"
	"sundry/tests/fakes"
)

// announced are the announcements so far, with those that are due now.
func (h *fixture) announced() []core.Announced {
	h.t.Helper()
	fakes.Work(h.t, h.store, h.clock.Real(), func(t ports.Task) error {
		if t.Kind != access.TaskAnnounce {
			return fmt.Errorf("a task of kind %s", t.Kind)
		}
		return h.Announce(h.t.Context(), t)
	})
	return fakes.Published[core.Announced](h.bus)
}

func TestAccessChangesAreAnnouncedTogether(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		wants := func(when string, want ...core.Announced) {
			t.Helper()
			if got := h.announced(); !slices.EqualFunc(got, want, func(a, b core.Announced) bool {
				return a.CreatorID == creator && a.ExternalCustomerID == ada && a.Version == b.Version &&
					a.PreviousVersion == b.PreviousVersion && slices.Equal(a.Changed, b.Changed)
			}) {
				t.Fatalf("%s: announced %+v, want %+v", when, got, want)
			}
		}
		all := []string{"activePlans", "credits", "entitlements"}
		first := core.Announced{Version: 1, PreviousVersion: 0, Changed: all}
		h.buy(paid("1"))
		if got := fakes.Published[core.Announced](h.bus); len(got) != 1 {
			t.Errorf("announced %+v with its cause", got)
		}
		wants("the first change, at once", first)
		h.consume("a", 1)
		h.clock.Advance(time.Second)
		h.buy(paid("2"))
		h.consume("b", 1)
		wants("within two seconds", first)
		h.clock.Advance(time.Second)
		second := core.Announced{Version: 4, PreviousVersion: 1, Changed: all}
		wants("after two seconds", first, second)
		h.clock.Advance(time.Minute)
		wants("once", first, second)
		h.consume("c", 1)
		third := core.Announced{Version: 5, PreviousVersion: 4, Changed: []string{"credits"}}
		wants("after a while, at once", first, second, third)
	})
}

// TestALateAnnouncementIsNotOvertaken changes access while a task is late: what it has to announce is not announced
// without what came before.
func TestALateAnnouncementIsNotOvertaken(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.buy(paid("1"))
		h.consume("a", 1)
		h.clock.Advance(time.Hour)
		h.consume("b", 1)
		if got := fakes.Published[core.Announced](h.bus); len(got) != 1 {
			t.Errorf("announced %+v before the task", got)
		}
		if got := h.announced(); len(got) != 2 || got[1].Version != 3 || got[1].PreviousVersion != 1 {
			t.Errorf("announced %+v, want versions 2 and 3 together", got)
		}
	})
}

// consume uses credits of the plan.
func (h *fixture) consume(key string, amount int64) {
	h.t.Helper()
	use := access.Consumption{
		ConsumeRequest: core.ConsumeRequest{Key: "renders", Unit: "render", Amount: amount}, IdempotencyKey: key,
	}
	if _, err := h.ConsumeCredits(h.t.Context(), creator, ada, use); err != nil {
		h.t.Fatal(err)
	}
}
