package usage

import "testing"

func TestThresholdReached_ShowsItsKindOfThreshold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ percent, wantPercent int }{
		"a quantity":           {0, 0},
		"one percent":          {1, 1},
		"a part of the plan's": {80, 80},
	} {
		view := ThresholdReached{Alert: Alert{ID: "alr_1", Percent: c.percent}}.View()
		if got := view.ThresholdPercent; (got != nil) != (c.wantPercent > 0) || got != nil && *got != c.wantPercent {
			t.Errorf("%s: the percentage is %v, want %d", name, got, c.wantPercent)
		}
		if (view.Threshold != nil) != (c.wantPercent == 0) {
			t.Errorf("%s: the quantity is %v", name, view.Threshold)
		}
	}
}
