package slot

import (
	"testing"
	"time"
)

func TestOpenUntil_IsTheFirstChange(t *testing.T) {
	t.Parallel()
	const noon = "2026-06-02T12:00:00Z"
	session := func(text string) []Slot {
		at := instant(t, text)
		return []Slot{{start: at.UnixMilli()}, {start: at.Add(time.Hour).UnixMilli()}}
	}
	for name, c := range map[string]struct {
		zone, now string
		notice    int
		listed    []Slot
		want      string
	}{
		"nothing is listed":      {"UTC", noon, 0, nil, "2026-06-03T00:00:00Z"},
		"the creator's day":      {"Europe/Paris", noon, 0, nil, "2026-06-02T22:00:00Z"},
		"the clocks go forward":  {"Europe/Paris", "2026-03-28T23:30:00Z", 0, nil, "2026-03-29T01:00:00Z"},
		"the first of the times": {"UTC", noon, 0, session("2026-06-02T15:00:00Z"), "2026-06-02T15:00:00Z"},
		"its notice":             {"UTC", noon, 120, session("2026-06-02T15:00:00Z"), "2026-06-02T13:00:00.001Z"},
		"a time of another day":  {"UTC", noon, 0, session("2026-06-09T15:00:00Z"), "2026-06-03T00:00:00Z"},
		"another day's notice":   {"UTC", noon, 1440, session("2026-06-03T15:00:00Z"), "2026-06-02T15:00:00.001Z"},
	} {
		q := Query{Availability: availability(t, everyDay(c.zone, "09:00-17:00")), Policy: plain(60), Now: instant(t, c.now)}
		q.Policy.Notice = c.notice
		if got := q.OpenUntil(c.listed); !got.Equal(instant(t, c.want)) || got.Location() != time.UTC {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestSlot_IsInUTC(t *testing.T) {
	t.Parallel()
	s := Slot{start: instant(t, "2026-06-02T15:00:00Z").UnixMilli(), duration: 45}
	if s.StartsAt().Location() != time.UTC || s.EndsAt().Location() != time.UTC {
		t.Errorf("it starts at %v and ends at %v", s.StartsAt(), s.EndsAt())
	}
	if got := s.EndsAt().Sub(s.StartsAt()); got != 45*time.Minute {
		t.Errorf("it lasts %v", got)
	}
}

func TestInterval_Overlaps(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 6, 2, hour, 0, 0, 0, time.UTC) }
	span := func(from, until int) Interval { return Interval{From: at(from), Until: at(until)} }
	for name, c := range map[string]struct {
		a, b Interval
		want bool
	}{
		"the same":                  {span(9, 10), span(9, 10), true},
		"one inside":                {span(9, 12), span(10, 11), true},
		"one that begins inside":    {span(9, 11), span(10, 12), true},
		"one that follows":          {span(9, 10), span(10, 11), false},
		"one that is far":           {span(9, 10), span(12, 13), false},
		"an empty one inside":       {span(9, 12), span(10, 10), false},
		"one from end to beginning": {span(9, 12), span(11, 10), false},
		"two empty ones":            {span(9, 9), span(9, 9), false},
	} {
		if c.a.Overlaps(c.b) != c.want || c.b.Overlaps(c.a) != c.want {
			t.Errorf("%s: %v and %v, want %v", name, c.a.Overlaps(c.b), c.b.Overlaps(c.a), c.want)
		}
	}
}
