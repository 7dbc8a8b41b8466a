package ical

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"sundry/core/slot"
	"sundry/ports"
)

var _ ports.CalendarReader = Calendars{}

const (
	// mostSteps and mostTime bound what repeating events may cost in one calendar.
	mostSteps = 2_000_000
	mostTime  = 3 * time.Second
	// mostTimes bounds the response; what lies furthest ahead is left out.
	mostTimes = 5000
	// mostADay bounds how often an event may repeat within a day.
	mostADay = 24
	// mostEvents bounds how many events are read.
	mostEvents = 50_000
)

// errTooMuch reports that reading was given up.
var errTooMuch = errors.New("the calendar holds more events than can be read")

// Busy implements ports.CalendarReader. Times without a zone, and whole days, are in the given zone. Canceled and
// transparent events leave time free, and so do those of our own: what was booked here is known here.
func (Calendars) Busy(raw []byte, zone *time.Location, during slot.Interval, ours string) ([]slot.Interval, error) {
	b := busyReader{zone: zone, during: during, ours: "@" + ours, until: time.Now().Add(mostTime),
		written: map[string]timezone{}, zones: map[string]*time.Location{}, moved: map[string]bool{},
		onward: map[string][]change{}}
	if err := lines(raw, b.take); err != nil {
		return nil, err
	}
	if len(b.events) > mostEvents {
		return nil, errTooMuch
	}
	for name, z := range b.written {
		var err error
		if b.zones[name], err = b.load(z); err != nil {
			return nil, err
		}
	}
	for _, e := range b.events {
		if e.recurrenceID != "" {
			b.replace(e)
		}
	}
	for _, changes := range b.onward {
		slices.SortFunc(changes, func(x, y change) int { return x.from.Compare(y.from) })
	}
	for _, e := range b.events {
		if err := b.expand(e); err != nil {
			return nil, err
		}
	}
	return merge(b.found), nil
}

// busyReader collects the busy times of one calendar.
type busyReader struct {
	zone   *time.Location
	during slot.Interval
	ours   string
	until  time.Time
	steps  int

	depth  int // of components, VCALENDAR being 1
	now    *event
	events []event
	// tz is the time zone that is read now, tzid its name. written are all by name, zones those that can be used.
	tz      *timezone
	tzid    string
	written map[string]timezone
	zones   map[string]*time.Location
	// moved are the single times of repeating events that an event of their own replaces.
	moved map[string]bool
	// onward are the changes of all times of a repeating event from one on, by its UID, in order.
	onward map[string][]change
	found  []slot.Interval
}

// change moves the times of a repeating event from one on by a duration, and gives them another length or frees them.
type change struct {
	from   time.Time
	by     time.Duration
	free   bool
	length func(at time.Time) time.Time
}

// event contains the parts of a VEVENT that are kept.
type event struct {
	uid, recurrenceID string
	props             map[string]line
	except, extra     []line
	free              bool
}

// take reads one line.
func (b *busyReader) take(l line) {
	switch {
	case l.name == "BEGIN":
		b.begin(l.value)
	case l.name == "END":
		if b.depth--; b.depth == 1 {
			b.end()
		}
	case b.now != nil && b.depth == 2:
		b.now.set(l)
	case b.tz != nil && b.depth == 2 && l.name == "TZID":
		b.tzid = l.value
	case b.tz != nil:
		b.tz.set(b.depth, l)
	}
}

func (b *busyReader) begin(component string) {
	b.depth++
	switch {
	case b.depth == 2 && strings.EqualFold(component, "VEVENT") && len(b.events) <= mostEvents:
		b.now = &event{props: map[string]line{}}
	case b.depth == 2 && strings.EqualFold(component, "VTIMEZONE") && len(b.written) < mostZones:
		b.tz, b.tzid = &timezone{}, ""
	case b.depth == 3 && b.tz != nil && len(b.tz.observances) < mostObservances:
		b.tz.observances = append(b.tz.observances, observance{})
	}
}

// end keeps the component that ends.
func (b *busyReader) end() {
	if b.now != nil {
		b.events = append(b.events, *b.now)
	}
	if b.tz != nil {
		b.written[b.tzid] = *b.tz
	}
	b.now, b.tz = nil, nil
}

// mostDates bounds the lists of single dates of an event.
const mostDates = 1000

func (e *event) set(l line) {
	switch l.name {
	case "UID":
		e.uid = l.value
	case "RECURRENCE-ID":
		e.recurrenceID, e.props[l.name] = l.value, l
	case "DTSTART", "DTEND", "DURATION", "RRULE":
		e.props[l.name] = l
	case "EXDATE", "RDATE":
		for value := range strings.SplitSeq(l.value, ",") {
			one := line{l.name, l.params, value}
			if l.name == "EXDATE" && len(e.except) < mostDates {
				e.except = append(e.except, one)
			} else if l.name == "RDATE" && len(e.extra) < mostDates {
				e.extra = append(e.extra, one)
			}
		}
	case "TRANSP":
		e.free = e.free || strings.EqualFold(l.value, "TRANSPARENT")
	case "STATUS":
		e.free = e.free || strings.EqualFold(l.value, "CANCELLED")
	}
}

// isOurs reports whether an event is an appointment of ours, or the time that a group shares.
func (b *busyReader) isOurs(e event) bool {
	return strings.HasSuffix(e.uid, b.ours) && (strings.HasPrefix(e.uid, "apt_") || strings.HasPrefix(e.uid, "clm_"))
}

// replace notes that an event replaces one time of a repeating event, or that time and all behind it.
func (b *busyReader) replace(e event) {
	of := e.props["RECURRENCE-ID"]
	from, starts := b.instant(of), b.instant(e.props["DTSTART"])
	b.moved[e.uid+"\x00"+from.UTC().String()] = true
	if strings.EqualFold(of.params["RANGE"], "THISANDFUTURE") && !from.IsZero() && !starts.IsZero() {
		b.onward[e.uid] = append(b.onward[e.uid], change{from, starts.Sub(from), e.free, b.length(e, starts)})
	}
}

// changed returns the change that holds for a time of a repeating event.
func (b *busyReader) changed(uid string, at time.Time) (change, bool) {
	changes := b.onward[uid]
	i, found := slices.BinarySearchFunc(changes, at, func(c change, at time.Time) int { return c.from.Compare(at) })
	if found {
		i++
	}
	if i == 0 {
		return change{}, false
	}
	return changes[i-1], true
}

// expand finds every time of an event.
func (b *busyReader) expand(e event) error {
	starts := b.instant(e.props["DTSTART"])
	if e.free || starts.IsZero() || b.isOurs(e) {
		return nil
	}
	length := b.length(e, starts)
	except := map[int64]bool{}
	for _, l := range e.except {
		except[b.instant(l).Unix()] = true
	}
	addUntil := func(at, until time.Time) {
		if except[at.Unix()] || e.recurrenceID == "" && b.moved[e.uid+"\x00"+at.UTC().String()] {
			return
		}
		if c, ok := b.changed(e.uid, at); ok && e.recurrenceID == "" {
			if at = at.Add(c.by); c.free {
				return
			}
			until = c.length(at)
		}
		b.add(at, until)
	}
	add := func(at time.Time) { addUntil(at, length(at)) }
	for _, l := range e.extra {
		if at, until, isPeriod := b.period(l); isPeriod {
			addUntil(at, until)
		} else if !at.IsZero() {
			add(at)
		}
	}
	rule, repeats := e.props["RRULE"]
	if !repeats || e.recurrenceID != "" {
		add(starts)
		return nil
	}
	return b.repeat(rule.value, starts, add)
}

// untilDay is the end of a rule on a day, that day included.
var untilDay = regexp.MustCompile(`\bUNTIL=(\d{8})(;|$)`)

// repeat goes through the times of a rule up to the horizon. Of a rule that makes no sense, or is finer than daily,
// only the first time counts.
func (b *busyReader) repeat(text string, starts time.Time, add func(time.Time)) (err error) {
	add(starts)
	defer func() {
		if recover() != nil { // the library indexes by what a rule contains: the ninth Monday of December
			err = nil
		}
	}()
	text = untilDay.ReplaceAllString(strings.ToUpper(strings.TrimRight(text, "; ")), "UNTIL=${1}T235959$2")
	option, err := rrule.StrToROptionInLocation(text, starts.Location())
	if err != nil || len(text) > 512 || option.Freq > rrule.DAILY ||
		max(1, len(option.Byhour))*max(1, len(option.Byminute))*max(1, len(option.Bysecond)) > mostADay {
		return nil //nolint:nilerr // what an untrusted party wrote wrongly is no fault of ours
	}
	option.Dtstart = starts
	if time.Now().After(b.until) {
		return errTooMuch
	}
	rule, err := rrule.NewRRule(*option)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	for next := rule.Iterator(); ; {
		at, ok := next()
		if !ok || !at.Before(b.during.Until) {
			return nil
		}
		if b.steps++; b.steps > mostSteps || b.steps%1024 == 0 && time.Now().After(b.until) {
			return errTooMuch
		}
		if !at.Equal(starts) {
			add(at)
		}
	}
}

// length returns a function from the start of an occurrence to its end. Days are counted on the wall clock.
func (b *busyReader) length(e event, starts time.Time) func(at time.Time) time.Time {
	whole := isDate(e.props["DTSTART"])
	if end, ok := e.props["DTEND"]; ok {
		ends := b.instant(end)
		if whole {
			days := int(ends.Sub(starts).Hours()/24 + 0.5)
			return func(at time.Time) time.Time { return at.AddDate(0, 0, max(days, 1)) }
		}
		return func(at time.Time) time.Time { return at.Add(ends.Sub(starts)) }
	}
	days, rest := duration(e.props["DURATION"].value)
	if whole && days == 0 {
		days = 1
	}
	return func(at time.Time) time.Time { return at.AddDate(0, 0, days).Add(rest) }
}

// add keeps what of a time lies in the horizon.
func (b *busyReader) add(from, until time.Time) {
	if from.Before(b.during.From) {
		from = b.during.From
	}
	if until.After(b.during.Until) {
		until = b.during.Until
	}
	if from.Before(until) {
		b.found = append(b.found, slot.Interval{From: from.UTC(), Until: until.UTC()})
		if len(b.found) > 4*mostTimes {
			b.found = merge(b.found)
		}
	}
}

func isDate(l line) bool { return len(l.value) == len("20060102") }

// instant reads a date or a time; the zero time for what is neither.
func (b *busyReader) instant(l line) time.Time {
	zone := b.zoneOf(l.params["TZID"])
	for layout, in := range map[string]*time.Location{"20060102": b.zone, "20060102T150405": zone,
		"20060102T150405Z": time.UTC} {
		if len(l.value) != len(layout) {
			continue
		}
		if t, err := time.ParseInLocation(layout, l.value, in); err == nil && t.Year() >= 1900 {
			return t
		}
	}
	return time.Time{}
}

// period reads a date or a time, or one with an end or a length of its own: from/until or from/PT1H.
func (b *busyReader) period(l line) (at, until time.Time, isPeriod bool) {
	from, end, isPeriod := strings.Cut(l.value, "/")
	at = b.instant(line{params: l.params, value: from})
	if !isPeriod || at.IsZero() {
		return at, at, isPeriod
	}
	if until = b.instant(line{params: l.params, value: end}); until.IsZero() {
		days, rest := duration(end)
		until = at.AddDate(0, 0, days).Add(rest)
	}
	return at, until, true
}

// duration reads P15DT5H0M20S or P7W, as days and the rest: no time for anything else.
func duration(text string) (days int, rest time.Duration) {
	text, found := strings.CutPrefix(strings.TrimPrefix(strings.ToUpper(text), "+"), "P")
	if !found {
		return 0, 0
	}
	date, clock, _ := strings.Cut(text, "T")
	var weeks, daysOnly int
	if _, err := fmt.Sscanf(date, "%dW", &weeks); err == nil {
		return min(max(weeks, 0), 520) * 7, 0
	}
	if _, err := fmt.Sscanf(date, "%dD", &daysOnly); err != nil {
		daysOnly = 0
	}
	if parsed, err := time.ParseDuration(strings.ToLower(clock)); err == nil && parsed > 0 {
		rest = parsed
	}
	return min(max(daysOnly, 0), 3650), rest
}

// merge puts intervals in order and joins those that touch: the nearest mostTimes of them.
func merge(all []slot.Interval) []slot.Interval {
	slices.SortFunc(all, func(a, b slot.Interval) int { return cmp.Compare(a.From.UnixNano(), b.From.UnixNano()) })
	merged := all[:0]
	for _, i := range all {
		if last := len(merged) - 1; last >= 0 && !i.From.After(merged[last].Until) {
			if i.Until.After(merged[last].Until) {
				merged[last].Until = i.Until
			}
			continue
		}
		merged = append(merged, i)
	}
	return merged[:min(len(merged), mostTimes)]
}
