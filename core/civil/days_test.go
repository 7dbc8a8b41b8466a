package civil_test

import (
	"slices"
	"testing"
	"time"

	"sundry/core/civil"
	"sundry/core/fault/faulttest"
)

func TestDays_CompleteAtEndsToday(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 8, 23, 59, 0, 0, time.UTC)
	invalid := []string{"from INVALID"}
	for name, c := range map[string]struct {
		from, to           string
		wantFrom, wantLast string
		faults             []string
	}{
		"neither":               {"", "", "2026-02-07", "2026-03-08", nil},
		"from a day":            {"2026-01-01", "", "2026-01-01", "2026-03-08", nil},
		"from a day to come":    {"2026-04-01", "", "2026-04-01", "2026-04-01", nil},
		"to a day":              {"", "2025-12-31", "2025-12-02", "2025-12-31", nil},
		"both":                  {"2025-01-01", "2025-01-31", "2025-01-01", "2025-01-31", nil},
		"one day":               {"2025-01-01", "2025-01-01", "2025-01-01", "2025-01-01", nil},
		"two years":             {"2024-01-01", "2025-12-31", "2024-01-01", "2025-12-31", nil},
		"a day more":            {"2024-01-01", "2026-01-01", "2024-01-01", "2026-01-01", invalid},
		"the last before first": {"2025-01-02", "2025-01-01", "2025-01-02", "2025-01-01", invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked civil.Days
			asked.From, _ = civil.ParseDate(c.from)
			asked.To, _ = civil.ParseDate(c.to)
			got, err := asked.CompleteAt(now)
			if faults := faulttest.Lines(t, err); !slices.Equal(faults, c.faults) {
				t.Errorf("refused for %q, want %q", faults, c.faults)
			}
			if got.From.String() != c.wantFrom || got.To.String() != c.wantLast {
				t.Errorf("%v to %v, want %s to %s", got.From, got.To, c.wantFrom, c.wantLast)
			}
		})
	}
}
