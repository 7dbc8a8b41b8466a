package period_test

import (
	"testing"

	"sundry/core/period"
)

func TestACadenceComesBackAsItWent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		interval period.Interval
		count    int
	}{
		"day": {period.Day, 1}, "week:2": {period.Week, 2}, "month:3": {period.Month, 3}, "year": {period.Year, 1},
	} {
		c, err := period.ParseCadence(text)
		interval, count := c.Parts()
		if err != nil || interval != want.interval || count != want.count || string(period.Every(interval, count)) != text {
			t.Errorf("%s: %q, %v", text, c, err)
		}
	}
	if c, err := period.ParseCadence("month:1"); err != nil || c != "month" {
		t.Errorf("every one month: %q, %v", c, err)
	}
	if interval, count := period.Cadence("").Parts(); interval != "" || count != 0 {
		t.Errorf("no cadence: %q, %d", interval, count)
	}
	for _, text := range []string{"", "fortnight", "month:", "month:0", "month:-1", "month:x", "month:3:1"} {
		if c, err := period.ParseCadence(text); err == nil {
			t.Errorf("%q was read as %q", text, c)
		}
	}
}
