package identity_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"sundry/core/fault"
	core "sundry/core/identity"
)

// Many browsers of one user save at once where all but one filter of a list are saved.
func TestSaveFilter_LimitHoldsAtOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.signUp(t, "ada@example.com")
		u := h.browse(t, "ada@example.com").User
		for round := range 5 {
			h.saveTooMany(t, u, fmt.Sprintf("/dashboard/list-%d", round))
		}
	})
}

func (h *fixture) saveTooMany(t *testing.T, u core.User, list string) {
	t.Helper()
	const browsers = 12
	save := func(name string) error {
		return h.SaveFilter(t.Context(), u, core.SavedFilter{List: list, Name: name, Query: "status=paid"})
	}
	for i := range core.MaxSavedFilters - 1 {
		if err := save(fmt.Sprintf("Filter %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	var saved, refused atomic.Int64
	var all sync.WaitGroup
	for i := range browsers {
		all.Go(func() {
			switch err := save(fmt.Sprintf("At once %d", i)); {
			case err == nil:
				saved.Add(1)
			case fault.Is(err, fault.LimitReached):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if saved.Load() != 1 || refused.Load() != browsers-1 {
		t.Errorf("%d were saved and %d refused, want 1 and %d", saved.Load(), refused.Load(), browsers-1)
	}
	kept, err := h.SavedFilters(t.Context(), u, list)
	if err != nil || len(kept) != core.MaxSavedFilters {
		t.Errorf("%d filters are kept, %v; want %d", len(kept), err, core.MaxSavedFilters)
	}
}

func TestSaveFilter_NothingIsKeptOfARemovedMember(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ada := h.signUp(t, "ada@example.com").User
		for round := range 5 {
			m, _ := h.invite(t, ada, fmt.Sprintf("grace-%d@example.com", round), core.RoleSupport)
			save := func(name string) error {
				f := core.SavedFilter{List: "/dashboard/orders", Name: name, Query: "q=ada"}
				return h.SaveFilter(t.Context(), m.User(), f)
			}
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					if err := save(fmt.Sprintf("At once %d", i)); err != nil && !fault.Is(err, fault.NotFoundCode) {
						t.Error(err)
					}
				})
			}
			if _, err := h.RemoveMember(t.Context(), ada, m.ID); err != nil {
				t.Fatal(err)
			}
			all.Wait()
			wantCode(t, "saving after the removal", save("Late"), fault.NotFoundCode)
			if kept, err := h.SavedFilters(t.Context(), m.User(), "/dashboard/orders"); err != nil || len(kept) > 0 {
				t.Errorf("%d filters are kept, %v", len(kept), err)
			}
		}
	})
}
