package slot

import (
	"slices"
	"time"

	"sundry/core/civil"
)

// oracle finds open times the slow way: minute by minute, by what the clocks show and what the rules are, sharing
// nothing with the function but its input. It knows zones whose clocks change on whole minutes.
type oracle struct {
	q     Query
	from  time.Time // of the first minute
	shown []int64   // what the creator's clocks show at each minute, in minutes since 1970
	open  []bool    // whether the creator works
}

// newOracle reads the creator's minutes from two days before first to three after last, days of UTC.
func newOracle(q Query, first, last civil.Date) *oracle {
	o := &oracle{q: q, from: time.Unix(int64(first-2)*86400, 0).UTC()}
	for at := o.from; at.Before(o.from.AddDate(0, 0, int(last-first)+6)); at = at.Add(time.Minute) {
		o.shown = append(o.shown, shownAt(q.Availability.Zone, at))
	}
	o.open = make([]bool, len(o.shown))
	for _, w := range o.windows() {
		for m := w[0]; m < w[1]; m++ {
			o.open[m] = true
		}
	}
	return o
}

func shownAt(zone *time.Location, at time.Time) int64 {
	_, offset := at.In(zone).Zone()
	return (at.Unix() + int64(offset)) / 60
}

// first is the first minute at which the clocks show a reading or a later one.
func (o *oracle) first(reading int64) int {
	for m, shown := range o.shown {
		if shown >= reading {
			return m
		}
	}
	return len(o.shown)
}

// windows are the openings as minutes.
func (o *oracle) windows() [][2]int {
	var all [][2]int
	a := o.q.Availability
	for midnight := o.shown[0] / 1440 * 1440; midnight <= o.shown[len(o.shown)-1]; midnight += 1440 {
		day := civil.Date(midnight / 1440)
		windows, overridden := a.Overrides[day]
		if !overridden {
			windows = a.Weekly[time.Unix(midnight*60, 0).UTC().Weekday()]
		}
		for _, w := range windows {
			begins, ends := midnight+int64(w.Start), midnight+int64(w.End)
			if ends <= begins {
				ends += 1440
			}
			if _, off := a.Overrides[day+1]; off {
				ends = min(ends, midnight+1440)
			}
			all = append(all, [2]int{o.first(begins), o.first(ends)})
		}
	}
	return all
}

// offers are the open times whose start a viewer's clocks show on a day.
func (o *oracle) offers(day civil.Date, viewer *time.Location) []time.Time {
	step := o.q.Policy.Step
	if step == 0 {
		step = o.q.Policy.Duration
	}
	var all []time.Time
	for _, w := range o.windows() {
		for m := w[0]; m < w[1]; m += step {
			at := o.from.Add(time.Duration(m) * time.Minute)
			if shownAt(viewer, at)/1440 == int64(day) && o.allowed(m, at) && !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

func (o *oracle) allowed(m int, at time.Time) bool {
	p := o.q.Policy
	if !at.After(o.q.Now) || at.Before(o.q.Now.Add(time.Duration(p.Notice)*time.Minute)) {
		return false
	}
	today, day := shownAt(o.q.Availability.Zone, o.q.Now)/1440, o.shown[m]/1440
	if day > today+int64(p.HorizonDays) {
		return false
	}
	for i := m; i < m+p.Duration; i++ {
		if i >= len(o.open) || !o.open[i] {
			return false
		}
	}
	for i := -p.BufferBefore; i < p.Duration+p.BufferAfter; i++ {
		minute := at.Add(time.Duration(i) * time.Minute)
		for _, b := range o.q.Busy {
			if minute.Before(b.Until) && b.From.Before(minute.Add(time.Minute)) && b.From.Before(b.Until) {
				return false
			}
		}
	}
	return o.underCaps(day)
}

func (o *oracle) underCaps(day int64) bool {
	sameDay, sameWeek := 0, 0
	for _, at := range o.q.Booked {
		booked := shownAt(o.q.Availability.Zone, at) / 1440
		if booked == day {
			sameDay++
		}
		if (booked+3)/7 == (day+3)/7 { // 1970-01-01 was a Thursday
			sameWeek++
		}
	}
	p := o.q.Policy
	return (p.DailyCap == 0 || sameDay < p.DailyCap) && (p.WeeklyCap == 0 || sameWeek < p.WeeklyCap)
}
