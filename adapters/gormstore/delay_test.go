package gormstore

import (
	"testing"
	"time"
)

func TestDelayIsWhatTheLastHaveWaited(t *testing.T) {
	t.Parallel()
	var g delayGauge
	now := time.Unix(1_800_000_000, 0)
	for _, step := range []struct {
		name  string
		after time.Duration
		seen  turns
		want  time.Duration
	}{
		{"the first look", 0, turns{inUse: 2, max: 2, taken: 10, waits: 4, waited: time.Hour}, 0},
		{"too soon for another", time.Millisecond, turns{max: 2, taken: 11, waits: 5, waited: 2 * time.Hour}, 0},
		{"two have waited", time.Second, turns{inUse: 2, max: 2, taken: 20, waits: 6, waited: time.Hour + 3*time.Second},
			1500 * time.Millisecond},
		{"nobody gets one", time.Second, turns{inUse: 2, max: 2, taken: 20, waits: 6, waited: time.Hour + 3*time.Second},
			2500 * time.Millisecond},
		{"nobody gets one yet", time.Second, turns{inUse: 2, max: 2, taken: 20, waits: 6, waited: time.Hour + 3*time.Second},
			3500 * time.Millisecond},
		{"all were free", time.Second, turns{inUse: 2, max: 2, taken: 30, waits: 6, waited: time.Hour + 3*time.Second}, 0},
		{"idle", time.Hour, turns{max: 2, taken: 30, waits: 6, waited: time.Hour + 3*time.Second}, 0},
	} {
		now = now.Add(step.after)
		if got := g.sample(now, func() turns { return step.seen }); got != step.want {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}
}
