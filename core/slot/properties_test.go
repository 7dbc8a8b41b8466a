package slot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/civil"
	"sundry/core/fault"
)

var zones = []string{
	"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia",
	"Africa/Casablanca",
	"America/St_Johns", "Asia/Beirut", "Africa/Cairo", "America/Nuuk", "America/Havana", "Pacific/Chatham", "Asia/Tokyo",
}

// drawSettings makes settings that are valid: windows lie on a line of quarters of an hour, one after the other.
func drawSettings(t *rapid.T, about civil.Date) Settings {
	s := Settings{Timezone: rapid.SampledFrom(zones).Draw(t, "zone")}
	clock := func(quarter int) string { return fmt.Sprintf("%02d:%02d", quarter%96/4, quarter%4*15) }
	end := func(from, until int) string {
		if until%96 == 0 && until > from && until-from < 96 && rapid.Bool().Draw(t, "24:00") {
			return "24:00"
		}
		return clock(until)
	}
	for at, last := rapid.IntRange(0, 96).Draw(t, "monday"), 7*96; ; {
		length := rapid.IntRange(1, 96).Draw(t, "length")
		if at >= last || at+length > last {
			break
		}
		s.Weekly = append(s.Weekly, WeeklyHours{weekdays[(1+at/96)%7], Hours{clock(at), end(at, at+length)}})
		at += length + rapid.IntRange(0, 60).Draw(t, "pause")
	}
	for _, after := range rapid.SliceOfNDistinct(rapid.IntRange(-2, 6), 0, 3, rapid.ID).Draw(t, "overrides") {
		o := Override{Date: (about + civil.Date(after)).String()}
		for at := rapid.IntRange(0, 60).Draw(t, "from"); at < 96 && len(o.Windows) < 3; {
			length := rapid.IntRange(1, 96).Draw(t, "length")
			o.Windows = append(o.Windows, Hours{clock(at), end(at, at+length)})
			at += length + rapid.IntRange(0, 20).Draw(t, "pause")
		}
		if rapid.IntRange(0, 3).Draw(t, "off") == 0 {
			o.Windows = nil
		}
		s.Overrides = append(s.Overrides, o)
	}
	return s
}

// drawQuery makes a query about the days after about, most of them near a change of clocks.
func drawQuery(t *rapid.T) (q Query, about civil.Date) {
	location, err := civil.ParseZone(rapid.SampledFrom(zones).Draw(t, "near"))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(rapid.IntRange(2010, 2045).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 15, 0,
		0, 0, 0, time.UTC)
	if _, end := at.In(location).ZoneBounds(); !end.IsZero() && end.Before(at.AddDate(1, 0, 0)) {
		at = end.UTC()
	}
	about = civil.DateIn(time.UTC, at) - 1
	if q.Availability, err = drawSettings(t, about).Availability(); err != nil {
		t.Fatal(err)
	}
	minute := func(name string) time.Time {
		return time.Unix(int64(about)*86400,
			0).UTC().Add(time.Duration(rapid.IntRange(-1440, 5*1440).Draw(t, name)) * time.Minute)
	}
	q.Policy = Policy{
		Duration: rapid.SampledFrom([]int{5, 15, 30, 45, 60, 90, 240, 1440}).Draw(t, "duration"),
		Step:     rapid.SampledFrom([]int{0, 0, 5, 20, 30, 60, 77, 720}).Draw(t, "step"),
		Notice:   rapid.SampledFrom([]int{0, 0, 30, 2000}).Draw(t, "notice"), HorizonDays: rapid.IntRange(0, 9).Draw(t,
			"horizon"),
		BufferBefore: rapid.SampledFrom([]int{0, 0, 10, 1440}).Draw(t, "before"),
		BufferAfter:  rapid.SampledFrom([]int{0, 0, 15}).Draw(t, "after"),
		DailyCap:     rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "daily"),
		WeeklyCap:    rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "weekly"),
	}
	q.Now = minute("now").Add(-time.Duration(rapid.SampledFrom([]int{0, 0, 5000}).Draw(t, "earlier")) * time.Minute)
	for range rapid.IntRange(0, 6).Draw(t, "bookings") {
		from := minute("busy")
		q.Busy = append(q.Busy, Interval{from, from.Add(time.Duration(rapid.IntRange(-5, 300).Draw(t, "for")) * time.Minute)})
		q.Booked = append(q.Booked, minute("booked"))
	}
	return q, about
}

func drawViewer(t *rapid.T) *time.Location {
	viewer, err := civil.ParseZone(rapid.SampledFrom(zones).Draw(t, "viewer"))
	if err != nil {
		t.Fatal(err)
	}
	return viewer
}

func TestTheOracleAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q, about := drawQuery(t)
		viewer := drawViewer(t)
		o := newOracle(q, about-1, about+4)
		for day := about; day < about+3; day++ {
			got, want := startsOf(Open(q, day, day, viewer)), o.offers(day, viewer)
			if !slices.EqualFunc(got, want, time.Time.Equal) {
				t.Fatalf("%v in %v:\n got %v\nwant %v", day, viewer, got, want)
			}
		}
	})
}

func TestOpenTimesLastUntilOpenUntil(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q, about := drawQuery(t)
		viewer := drawViewer(t)
		last := about + civil.Date(rapid.Int32Range(0, 8).Draw(t, "days"))
		listed := Open(q, about, last, viewer)
		left := q.OpenUntil(listed).Sub(q.Now).Milliseconds()
		if left <= 0 {
			return // a day that comes again
		}
		for _, later := range []int64{left - 1, rapid.Int64Range(0, left-1).Draw(t, "later")} {
			then := q
			then.Now = q.Now.Add(time.Duration(later) * time.Millisecond)
			if got := Open(then, about, last, viewer); !slices.Equal(got, listed) {
				t.Fatalf("%d ms later, of %d:\n got %v\nwant %v", later, left, got, listed)
			}
		}
		if len(listed) == 0 || left > 3_600_000 {
			return
		}
		q.Now = q.Now.Add(time.Duration(left) * time.Millisecond)
		if first := Open(q, about, last, viewer); len(first) > 0 && first[0] == listed[0] &&
			listed[0].start-max(1, minutes(q.Policy.Notice)) < q.Now.UnixMilli() {
			t.Fatalf("%v is listed at %v", first[0], q.Now)
		}
	})
}

func startsOf(slots []Slot) []time.Time {
	var all []time.Time
	for _, s := range slots {
		all = append(all, s.StartsAt())
	}
	return all
}

func TestARangeIsItsDays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q, about := drawQuery(t)
		viewer := drawViewer(t)
		last := about + civil.Date(rapid.Int32Range(0, 40).Draw(t, "days"))
		var days []Slot
		for day := about; day <= last; day++ {
			for _, s := range Open(q, day, day, viewer) {
				if s.Date != day {
					t.Fatalf("%v is listed under %v", s, day)
				}
				days = append(days, s)
			}
		}
		inTime := slices.Clone(days) // which is another order where clocks go back over midnight
		slices.SortFunc(inTime, func(a, b Slot) int { return a.StartsAt().Compare(b.StartsAt()) })
		if got := Open(q, about, last, viewer); !slices.Equal(got, inTime) {
			t.Fatalf("range %v, days %v", got, days)
		}
		for i, s := range days {
			// Where clocks go back over midnight, a later time may be listed under an earlier day: within a day the times rise.
			if civil.DateIn(viewer, s.StartsAt()) != s.Date || i > 0 && days[i-1].Date == s.Date &&
				!days[i-1].StartsAt().Before(s.StartsAt()) {
				t.Fatalf("%v is not in its place: %v", s, days)
			}
		}
	})
}

func TestTheViewersZoneOnlyRegroups(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q, about := drawQuery(t)
		one, other := startsOf(Open(q, about-3, about+20, drawViewer(t))), startsOf(Open(q, about-3, about+20, drawViewer(t)))
		inside := func(all []time.Time) []time.Time { // both show these days, whatever their zones
			return slices.DeleteFunc(all, func(at time.Time) bool {
				day := civil.DateIn(time.UTC, at)
				return day < about-1 || day > about+18
			})
		}
		if one, other = inside(one), inside(other); !slices.Equal(one, other) {
			t.Fatalf("%v in one zone, %v in another", one, other)
		}
	})
}

func TestOpenTimesKeepThePromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q, about := drawQuery(t)
		o := newOracle(q, about-1, about+4)
		for _, s := range Open(q, about, about+2, drawViewer(t)) {
			if !s.EndsAt().Equal(s.StartsAt().Add(time.Duration(q.Policy.Duration) * time.Minute)) {
				t.Fatalf("%v does not last %d minutes", s, q.Policy.Duration)
			}
			blocked := Interval{
				s.StartsAt().Add(-time.Duration(q.Policy.BufferBefore) * time.Minute),
				s.EndsAt().Add(time.Duration(q.Policy.BufferAfter) * time.Minute),
			}
			for _, b := range q.Busy {
				if blocked.Overlaps(b) {
					t.Fatalf("%v overlaps %v", blocked, b)
				}
			}
			for at := s.StartsAt(); at.Before(s.EndsAt()); at = at.Add(time.Minute) {
				if !o.open[int(at.Sub(o.from).Minutes())] {
					t.Fatalf("%v: at %v the creator does not work", s, at)
				}
			}
		}
	})
}

func TestCheckAcceptsExactlyWhatIsOffered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q, about := drawQuery(t)
		day := about + civil.Date(rapid.Int32Range(0, 1).Draw(t, "day"))
		offered := startsOf(Open(q, day, day, time.UTC))
		for at := time.Unix(int64(day)*86400, 0).UTC(); civil.DateIn(time.UTC, at) == day; at = at.Add(time.Minute) {
			err := Check(q, at)
			if slices.ContainsFunc(offered, at.Equal) != (err == nil) {
				t.Fatalf("%v: offered %v, checked %v", at, err != nil, err)
			}
			if err == nil {
				continue
			}
			if want := at.After(q.Now); fault.Is(err, fault.SlotInPast) == want {
				t.Fatalf("%v: %v", at, err)
			}
			free := q
			free.Busy, free.Booked = nil, nil
			if fault.Is(err, fault.SlotTaken) != (Check(free, at) == nil) {
				t.Fatalf("%v: %v, though nothing booked it would be %v", at, err, Check(free, at))
			}
		}
	})
}

func FuzzSettings(f *testing.F) {
	f.Add("Europe/Paris", "monday", "09:00", "17:00", "2026-03-29", int64(1_774_000_000_000))
	f.Add("America/New_York", "sunday", "22:00", "02:00", "2026-11-01", int64(1_793_500_000_000))
	f.Add("Local", "Monday", "24:00", "9:00", "2026-02-30", int64(-1))
	f.Fuzz(func(t *testing.T, zone, weekday, start, end, day string, now int64) {
		h := Hours{start, end}
		s := Settings{Timezone: zone, Weekly: []WeeklyHours{{weekday, h}},
			Overrides: []Override{{Date: day, Windows: []Hours{h}}}}
		a, err := s.Availability()
		if err != nil {
			if !fault.Is(err, fault.ValidationFailed) && !fault.Is(err, fault.InvalidTimezone) {
				t.Fatal(err)
			}
			return
		}
		q := Query{Availability: a, Policy: Policy{Duration: 60, Step: 15, HorizonDays: 60},
			Now: time.UnixMilli(now % (1 << 47))}
		first, _ := civil.ParseDate(strings.TrimSpace(day))
		for _, slot := range Open(q, first, first+7, a.Zone) {
			if err := Check(q, slot.StartsAt()); err != nil {
				t.Fatalf("%v is offered and refused: %v", slot, err)
			}
		}
	})
}

// BenchmarkOpen is a month of a busy creator's calendar; it must stay below 50 µs.
func BenchmarkOpen(b *testing.B) {
	q := Query{
		Availability: availability(b, everyDay("America/New_York", "09:00-17:00")),
		Policy: Policy{Duration: 60, Step: 30, BufferBefore: 10, BufferAfter: 10, HorizonDays: 60, DailyCap: 5,
			WeeklyCap: 20},
		Now: instant(b, "2026-02-20T12:00:00Z"),
	}
	for i := range 60 {
		from := instant(b, "2026-02-20T15:00:00Z").Add(time.Duration(i) * 17 * time.Hour)
		q.Busy = append(q.Busy, Interval{from, from.Add(time.Hour)})
		q.Booked = append(q.Booked, from)
	}
	first, viewer := date(b, "2026-03-01"), location(b, "Europe/Paris")
	b.ReportAllocs()
	for b.Loop() {
		if len(Open(q, first, first+30, viewer)) == 0 {
			b.Fatal("nothing is open")
		}
	}
}
