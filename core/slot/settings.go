package slot

import (
	"cmp"
	"slices"
	"time"

	"sundry/core/civil"
	"sundry/core/fault"
)

// Settings are a creator's working hours, as they write them.
type Settings struct {
	// Timezone is an IANA name.
	Timezone string `json:"timezone"`
	// Weekly repeats every week, Overrides replace single dates.
	Weekly    []WeeklyHours `json:"weekly"`
	Overrides []Override    `json:"overrides"`
}

// Hours are a window, "09:00" to "17:00". An end at or before the start is past midnight; "24:00" may be an end.
type Hours struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// WeeklyHours are a window of a weekday, "monday" to "sunday".
type WeeklyHours struct {
	Weekday string `json:"weekday"`
	Hours
}

// Override replaces the weekday's windows on one date, YYYY-MM-DD; no windows make a day off.
type Override struct {
	Date    string  `json:"date"`
	Windows []Hours `json:"windows"`
}

const (
	maxWeekly    = 168
	maxOverrides = 1000
	maxPerDay    = 24

	minutesADay  = 24 * 60
	minutesAWeek = 7 * minutesADay
)

// time.Weekday's order
var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// NoSettings returns the settings of a creator who has not set any: no hours, UTC.
func NoSettings() Settings {
	return Settings{Timezone: "UTC", Weekly: []WeeklyHours{}, Overrides: []Override{}}
}

// Clean returns the settings with an empty list where there is none.
func (s Settings) Clean() Settings {
	if s.Weekly == nil {
		s.Weekly = []WeeklyHours{}
	}
	s.Overrides = append([]Override{}, s.Overrides...)
	for i := range s.Overrides {
		if s.Overrides[i].Windows == nil {
			s.Overrides[i].Windows = []Hours{}
		}
	}
	return s
}

// Check lists every fault of the settings, as VALIDATION_FAILED.
func (s Settings) Check() error {
	var f fault.Violations
	s.read(&f)
	return f.Err()
}

// Availability returns the settings as rules. Its error is Check's, as INVALID_TIMEZONE when the zone is all that is
// wrong.
func (s Settings) Availability() (Availability, error) {
	var f fault.Violations
	a := s.read(&f)
	return a, civil.AsInvalidTimezone(f.Err())
}

func (s Settings) read(f *fault.Violations) Availability {
	a := Availability{Zone: civil.CheckZone(f, s.Timezone), Overrides: make(map[civil.Date][]Window, len(s.Overrides))}
	s.readWeekly(f, &a)
	s.readOverrides(f, &a)
	return a
}

// placed is a window on the circle of a week, or on a day, with the place in the list that it came from.
type placed struct {
	Window
	at, index int
}

// until returns the end of the window, on the scale of at.
func (p placed) until() int {
	if p.End <= p.Start {
		return p.at + p.End + minutesADay - p.Start
	}
	return p.at + p.End - p.Start
}

func (s Settings) readWeekly(f *fault.Violations, a *Availability) {
	if !f.Check(len(s.Weekly) <= maxWeekly, "weekly", fault.DetailTooLong, "Expected at most 168 windows.") {
		return
	}
	all := make([]placed, 0, len(s.Weekly))
	for i, hours := range s.Weekly {
		at := f.Item("weekly", i)
		day := slices.Index(weekdays, hours.Weekday)
		at.OneOf("weekday", hours.Weekday, weekdays...)
		if w, ok := hours.read(at); ok && day >= 0 {
			a.Weekly[day] = append(a.Weekly[day], w)
			all = append(all, placed{w, day*minutesADay + w.Start, i})
		}
	}
	for _, windows := range a.Weekly {
		sortByStart(windows)
	}
	checkOverlaps(f, "weekly", all, minutesAWeek)
}

func (s Settings) readOverrides(f *fault.Violations, a *Availability) {
	if !f.Check(len(s.Overrides) <= maxOverrides, "overrides", fault.DetailTooLong, "Expected at most 1000 dates.") {
		return
	}
	for i, override := range s.Overrides {
		at := f.Item("overrides", i)
		date, ok := civil.ParseDate(override.Date)
		at.Check(ok, "date", fault.DetailInvalid, "Expected a date such as 2026-03-08.")
		_, twice := a.Overrides[date]
		at.Check(!ok || !twice, "date", fault.DetailDuplicate, "This date is overridden twice. List all its windows in "+
			"one place.")
		if !at.Check(len(override.Windows) <= maxPerDay, "windows", fault.DetailTooLong, "Expected at most 24 windows.") {
			continue
		}
		windows, all := make([]Window, 0, len(override.Windows)), make([]placed, 0, len(override.Windows))
		for j, hours := range override.Windows {
			if w, ok := hours.read(at.Item("windows", j)); ok {
				windows = append(windows, w)
				all = append(all, placed{w, w.Start, j})
			}
		}
		checkOverlaps(at, "windows", all, 0)
		sortByStart(windows)
		a.Overrides[date] = windows
	}
}

func sortByStart(windows []Window) {
	slices.SortFunc(windows, func(a, b Window) int { return cmp.Compare(a.Start, b.Start) })
}

// checkOverlaps refuses each window that begins before an earlier one has ended; turn is when the same windows come
// round again, 0 = never.
func checkOverlaps(f *fault.Violations, list string, all []placed, turn int) {
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	longest := all[0] // of those before, the one that ends last
	if turn > 0 {
		longest = slices.MaxFunc(all, func(a, b placed) int { return cmp.Compare(a.until(), b.until()) })
		longest.at -= turn
	}
	for _, next := range all {
		if longest.until() > next.at && longest.index != next.index {
			later, earlier := max(next.index, longest.index), min(next.index, longest.index)
			f.Item(list, later).Addf("", fault.DetailInvalid, "Overlaps %s[%d]. Make the two one window, or leave no time "+
				"in both.", list, earlier)
		}
		if next.until() > longest.until() {
			longest = next
		}
	}
}

// read is the window, ok only if both ends are times of day.
func (h Hours) read(f *fault.Violations) (Window, bool) {
	start, startOK := parseTime(h.Start)
	end, endOK := parseTime(h.End)
	f.Check(startOK && start < minutesADay, "start", fault.DetailInvalid, "Expected a time of day from 00:00 to 23:59, "+
		"such as 09:00.")
	f.Check(endOK, "end", fault.DetailInvalid, "Expected a time of day from 00:00 to 24:00, such as 17:00.")
	return Window{start, end}, startOK && endOK && start < minutesADay
}

// parseTime reads HH:MM, 24:00 included.
func parseTime(s string) (minute int, ok bool) {
	if s == "24:00" {
		return minutesADay, true
	}
	t, err := time.Parse("15:04", s)
	return t.Hour()*60 + t.Minute(), err == nil && len(s) == len("15:04")
}
