package slot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
)

func TestATimeWithSeatsLeftStaysOpen(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 6, 2, hour, 0, 0, 0, time.UTC) }
	busy := func(hour int) Interval { return Interval{From: at(hour), Until: at(hour + 1)} }
	q := Query{
		Availability: availability(t, everyDay("UTC", "09:00-13:00")),
		Policy:       Policy{Duration: 60, HorizonDays: 30, DailyCap: 2},
		Busy:         Busy{busy(9), busy(10)}, Booked: []time.Time{at(9), at(10)}, Seats: 3,
		Shared: []Shared{{StartsAt: at(9), Left: 2}, {StartsAt: at(10)}, {StartsAt: at(8), Left: 1}},
		Now:    at(0),
	}
	shown := func() string {
		var all []string
		for _, s := range Open(q, date(t, "2026-06-02"), date(t, "2026-06-02"), time.UTC) {
			all = append(all, fmt.Sprint(s.StartsAt().Hour(), ":", s.Seats()))
		}
		return strings.Join(all, " ")
	}
	if got := shown(); got != "9:2" {
		t.Errorf("at the cap open are %s", got)
	}
	q.Policy.DailyCap = 3
	if got := shown(); got != "9:2 11:3 12:3" {
		t.Errorf("open are %s", got)
	}
	for hour, want := range map[int]fault.Code{9: "", 10: fault.SlotTaken, 8: fault.SlotNotOffered} {
		if got := fault.CodeOf(Check(q, at(hour))); Check(q, at(hour)) != nil && got != want {
			t.Errorf("%d: %s, want %s", hour, got, want)
		}
	}
	q.Seats = 0
	if got := shown(); got != "9:2 11:1 12:1" {
		t.Errorf("of single times open are %s", got)
	}
}

func TestTheLastSeatOfAnOnlySharedTimeIsOpen(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 6, 2, hour, 0, 0, 0, time.UTC) }
	for left, want := range map[int]bool{0: false, 1: true, 2: true} {
		q := Query{
			Availability: availability(t, everyDay("UTC", "09:00-13:00")), Policy: plain(60), Seats: 3, Now: at(0),
			Busy: Busy{{From: at(9), Until: at(10)}}, Shared: []Shared{{StartsAt: at(9), Left: left}},
		}
		if got := Check(q, at(9)) == nil; got != want {
			t.Errorf("with %d seats left it is open: %v, want %v", left, got, want)
		}
		q.Shared = append([]Shared{{StartsAt: at(10), Left: 1}}, q.Shared...)
		if got := Check(q, at(9)) == nil; got != want {
			t.Errorf("with %d seats left behind another time it is open: %v, want %v", left, got, want)
		}
	}
}
