// Package slot turns a creator's weekly hours into open times. One function computes which times are open, whether a
// calendar asks for a month of them or a booking for one: what is shown and what is accepted cannot disagree.
//
// Hours are on the creator's wall clock and become instants through package civil. From there on everything is
// elapsed time: a window that a change of clocks makes an hour longer holds an hour more of sessions. Every interval
// is half-open.
package slot

import (
	"slices"
	"time"

	"sundry/core/civil"
	"sundry/core/fault"
)

// Policy contains the rules by which a listing's times are offered. Durations are in minutes.
type Policy struct {
	// Duration is of one session.
	Duration int
	// Step is between offered starts, counted from the beginning of each window; 0 = Duration.
	Step int
	// BufferBefore and BufferAfter must be free around a session; they may lie outside the creator's hours.
	BufferBefore, BufferAfter int
	// Notice is the least time between booking and start of a session.
	Notice int
	// HorizonDays is the number of the creator's days after today that can be booked.
	HorizonDays int
	// DailyCap and WeeklyCap limit the listing's sessions per day, and per week from Monday, of the creator; 0 = none.
	DailyCap, WeeklyCap int
}

// Query is everything that decides which times are open.
type Query struct {
	Availability Availability
	Policy       Policy
	// Busy lists the creator's taken intervals, of any listing, buffers included.
	Busy Busy
	// Booked are the starts of this listing's sessions that count against its caps. It is not read without a cap.
	Booked []time.Time
	// Seats is the number of buyers who can share a time; up to 1 for one.
	Seats int
	// Shared lists the times that have buyers already and take more. They are open although their own reservation is in
	// Busy, and whatever the caps are: a time counts once, however many share it.
	Shared []Shared
	Now    time.Time
}

// Shared is a time that some buyers have, with seats left for others.
type Shared struct {
	StartsAt time.Time
	Left     int
}

// Slot is a time that can be booked. A calendar holds many, so it is small.
type Slot struct {
	start    int64 // milliseconds since 1970 UTC
	duration int32 // minutes
	seats    int32
	// Date is the viewer's, of the start.
	Date civil.Date
}

// StartsAt returns the start of the session, UTC.
func (s Slot) StartsAt() time.Time { return time.UnixMilli(s.start).UTC() }

// EndsAt returns its end, UTC.
func (s Slot) EndsAt() time.Time { return time.UnixMilli(s.start + minutes(int(s.duration))).UTC() }

// Seats returns the number of buyers who can still book it.
func (s Slot) Seats() int { return int(s.seats) }

// String renders the time in UTC and the viewer's date.
func (s Slot) String() string {
	return s.StartsAt().Format(time.RFC3339) + " (" + s.Date.String() + ")"
}

// Open lists the open times of the days from first to last, both included, of a viewer's zone, in order.
func Open(q Query, first, last civil.Date, viewer *time.Location) []Slot {
	zone, from, until := civil.ZoneForDays(viewer, first, last)
	starts := q.starts(from, until)
	slots, shared := make([]Slot, 0, len(starts)), q.shared()
	seats := int32(max(q.Seats, 1)) //nolint:gosec // a few hundred
	for _, at := range starts {
		if day := zone.DateTime(at).Date(); day >= first && day <= last {
			s := Slot{start: at, duration: int32(q.Policy.Duration), seats: seats, Date: day} //nolint:gosec // a few hundred
			if left, has := shared[at]; has {
				s.seats = left
			}
			slots = append(slots, s)
		}
	}
	return slots
}

// OpenUntil returns until when the passing of time alone leaves what Open has listed as it is: until the first of the
// times can no longer be booked, or the creator's next day begins and another day can be. A change of clocks, which may
// bring a day back, ends it too.
func (q Query) OpenUntil(listed []Slot) time.Time {
	tomorrow := civil.DateIn(q.Availability.Zone, q.Now) + 1
	_, until, _ := civil.ZoneForDays(q.Availability.Zone, tomorrow, tomorrow)
	if _, change := q.Now.In(q.Availability.Zone).ZoneBounds(); !change.IsZero() {
		until = min(until, change.UnixMilli())
	}
	for _, s := range listed[:min(len(listed), 1)] {
		until = min(until, s.start-max(1, minutes(q.Policy.Notice))+1)
	}
	return time.UnixMilli(until).UTC()
}

// Check reports whether a session may start at a time: exactly when Open lists it. SLOT_IN_PAST for a time that is not
// in the future, SLOT_NOT_OFFERED for one that nobody could book (off the grid, too soon or too far ahead), SLOT_TAKEN
// for one that is busy or beyond a cap.
func Check(q Query, startsAt time.Time) error {
	if !startsAt.After(q.Now) {
		return fault.New(fault.SlotInPast, "The time is in the past. Choose a time in the future.")
	}
	at := startsAt.UnixMilli()
	whole := startsAt.Equal(time.UnixMilli(at))
	if whole && len(q.starts(at, at+1)) > 0 {
		return nil
	}
	q.Busy, q.Booked, q.Shared = nil, nil, nil // as if nothing were booked
	if whole && len(q.starts(at, at+1)) > 0 {
		return fault.New(fault.SlotTaken, "The time is not free. Read the slots again and choose one of them.")
	}
	return fault.New(fault.SlotNotOffered, "The time is not one that is offered. Read the slots and choose one of them.")
}

// margin is more than a day of any zone can differ from one in UTC, in milliseconds.
const margin = 48 * 3_600_000

func minutes(n int) int64 { return int64(n) * 60_000 }

// starts are the open times in [from, until), in order, all in milliseconds since 1970 UTC.
func (q *Query) starts(from, until int64) []int64 {
	now := q.Now.UnixMilli()
	from = max(from, now+1, now+minutes(q.Policy.Notice))
	today := civil.DateIn(q.Availability.Zone, q.Now)
	lastDay := today + civil.Date(q.Policy.HorizonDays) //nolint:gosec // a few hundred
	until = min(until, int64((lastDay+1).At(0))+margin) // to stop early: the day itself is checked below
	if from >= until || q.Policy.Duration <= 0 {
		return nil
	}
	zone := civil.ZoneBetween(q.Availability.Zone, from-margin, until+minutes(q.Policy.Duration)+margin)
	starts := q.grid(zone, from, until)
	open, busy, caps, shared := starts[:0], q.Busy.sorted(), q.caps(zone), q.shared()
	for _, at := range starts {
		blockedFrom, blockedUntil := at-minutes(q.Policy.BufferBefore), at+minutes(q.Policy.Duration+q.Policy.BufferAfter)
		for len(busy) > 0 && busy[0].until <= blockedFrom {
			busy = busy[1:]
		}
		taken := len(busy) > 0 && busy[0].from < blockedUntil
		day := zone.DateTime(at).Date()
		if _, joins := shared[at]; day <= lastDay && (joins || !taken && !caps.full(day)) {
			open = append(open, at)
		}
	}
	return open
}

// shared maps the times that have seats left to how many.
func (q *Query) shared() map[int64]int32 {
	if len(q.Shared) == 0 {
		return nil
	}
	left := make(map[int64]int32, len(q.Shared))
	for _, s := range q.Shared {
		if s.Left > 0 {
			left[s.StartsAt.UnixMilli()] = int32(s.Left) //nolint:gosec // a few hundred
		}
	}
	return left
}

// grid is the times in [from, until), in order, at which a session would fit into the creator's hours. Each window has
// a grid of its own, from its beginning; a session may run on into a window that follows without a break.
func (q *Query) grid(zone *civil.Zone, from, until int64) []int64 {
	duration, step := minutes(q.Policy.Duration), minutes(q.Policy.Step)
	if step <= 0 {
		step = duration
	}
	first, last := zone.DateTime(from).Date()-2, zone.DateTime(until+duration).Date()+1
	openings, overlapping := q.Availability.openings(zone, first, last)
	var starts []int64
	for _, o := range openings {
		at := o.from
		if at < from {
			at += (from - at + step - 1) / step * step
		}
		for end := min(o.until, until, o.end-duration+1); at < end; at += step {
			starts = append(starts, at)
		}
	}
	if overlapping {
		slices.Sort(starts)
		starts = slices.Compact(starts)
	}
	return starts
}

// caps counts what is booked, per day and per Monday.
type caps struct {
	policy        Policy
	daily, weekly map[civil.Date]int
	asked         civil.Date // the last day asked about, of many times in a row
	reached       bool
}

func (q *Query) caps(zone *civil.Zone) caps {
	c := caps{policy: q.Policy}
	if q.Policy.DailyCap == 0 && q.Policy.WeeklyCap == 0 {
		return c
	}
	c.daily, c.weekly = make(map[civil.Date]int, len(q.Booked)), map[civil.Date]int{}
	for _, at := range q.Booked {
		day := zone.DateTime(at.UnixMilli()).Date()
		c.daily[day]++
		c.weekly[day.Monday()]++
	}
	return c
}

// full reports whether a day takes no more sessions.
func (c *caps) full(day civil.Date) bool {
	if c.asked != day {
		p := c.policy
		c.asked = day
		c.reached = p.DailyCap > 0 && c.daily[day] >= p.DailyCap || p.WeeklyCap > 0 && c.weekly[day.Monday()] >= p.WeeklyCap
	}
	return c.reached
}
