package locale

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sundry/core/civil"
	"sundry/core/money"
)

const (
	noBreak       = "\u00a0"
	narrowNoBreak = "\u202f"
)

// Money writes an amount as the reader's language does: $1,234.56 and CHF 1,234.56, 1.234,56 €, 1 234,56 €.
func (l Locale) Money(a money.Amount) string {
	negative, whole, fraction := a.Digits()
	group, point := ",", "."
	switch l.language() {
	case german:
		group, point = ".", ","
	case french:
		group, point = narrowNoBreak, ","
	}
	number := grouped(whole, group)
	if fraction != "" {
		number += point + fraction
	}
	symbol, hasSymbol := a.Currency.Symbol()
	switch {
	case l.language() != english:
		number += noBreak + symbol
	case hasSymbol:
		number = symbol + number
	default:
		number = symbol + noBreak + number
	}
	if negative {
		return "−" + number
	}
	return number
}

// grouped puts a separator between each three digits.
func grouped(digits, separator string) string {
	var out strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteString(separator)
		}
		out.WriteRune(d)
	}
	return out.String()
}

// Date writes the day of t in the zone that t carries: June 15, 2026.
func (l Locale) Date(t time.Time) string { return l.date(t, "month.") }

// ShortDate is Date with a short month: Jun 15, 2026.
func (l Locale) ShortDate(t time.Time) string { return l.date(t, "month.short.") }

func (l Locale) date(t time.Time, months string) string {
	separator := " "
	if l.monthFirst() {
		separator = ", "
	}
	return l.dayOfMonth(t, months) + separator + strconv.Itoa(t.Year())
}

// ShortDay is ShortDate without the year, for axes and lists of one year: Jun 15.
func (l Locale) ShortDay(t time.Time) string { return l.dayOfMonth(t, "month.short.") }

// Month returns the name of a month with its year: June 2026.
func (l Locale) Month(t time.Time) string {
	return l.Text("month."+strconv.Itoa(int(t.Month()))) + " " + strconv.Itoa(t.Year())
}

// ShortMonth returns the short name of a month: Jun.
func (l Locale) ShortMonth(t time.Time) string {
	return l.Text("month.short." + strconv.Itoa(int(t.Month())))
}

func (l Locale) dayOfMonth(t time.Time, months string) string {
	month := l.Text(months + strconv.Itoa(int(t.Month())))
	switch {
	case l.monthFirst():
		return fmt.Sprintf("%s %d", month, t.Day())
	case l.language() == german:
		return fmt.Sprintf("%d. %s", t.Day(), month)
	case l.language() == french && t.Day() == 1:
		return "1er " + month
	}
	return fmt.Sprintf("%d %s", t.Day(), month)
}

// Day is Date with the day of the week before it: Monday, June 15, 2026.
func (l Locale) Day(t time.Time) string {
	separator := ", "
	if l.language() == french {
		separator = " "
	}
	return l.Weekday(t) + separator + l.Date(t)
}

// Weekday returns the name of the day of the week.
func (l Locale) Weekday(t time.Time) string {
	return l.Text("weekday." + strconv.Itoa(int(t.Weekday())))
}

// Clock writes a time of day in the zone that t carries: 2:30 PM or 14:30.
func (l Locale) Clock(t time.Time) string {
	if l.Hour12 {
		return t.Format("3:04 PM")
	}
	return t.Format("15:04")
}

// Moment returns a day and a time of day in UTC, for documents: June 15, 2026, 2:30 PM UTC.
func (l Locale) Moment(t time.Time) string {
	t = t.UTC()
	return l.Date(t) + ", " + l.Clock(t) + " UTC"
}

// Hours returns the times of day between two moments in their zone, with its name and offset from UTC, which alone
// distinguishes apart the two hours that a change of clocks repeats. Where the clocks change in between, both ends name
// theirs; an end on another day names the day.
func (l Locale) Hours(from, to time.Time) string {
	start, end := l.Clock(from), l.ClockAfter(from, to)
	if ZoneName(from) != ZoneName(to) {
		start += " " + ZoneName(from)
	}
	return start + " – " + end + " " + ZoneName(to)
}

// ClockAfter writes the time of to, with its day in front where from is on another day of the zone that both have.
func (l Locale) ClockAfter(from, to time.Time) string {
	if zone := from.Location(); civil.DateIn(zone, from) != civil.DateIn(zone, to) {
		return l.Day(to) + ", " + l.Clock(to)
	}
	return l.Clock(to)
}

// ZoneName returns the abbreviation of the zone that t carries, where it has one, and its offset: EDT (UTC−4), UTC−3.
func ZoneName(t time.Time) string {
	name, _ := t.Zone()
	offset := civil.Offset(t, t.Location())
	if name == "UTC" || name == "" || name[0] == '+' || name[0] == '-' {
		return offset
	}
	return name + " (" + offset + ")"
}

// Interval returns the text of a price's interval: per month, every 3 months. unit is day, week, month or year.
func (l Locale) Interval(unit string, count int) string {
	return l.Count("interval."+unit, max(count, 1))
}

// Billed returns the text of a plan's billing interval: Billed monthly, Billed every 3 months.
func (l Locale) Billed(unit string, count int) string {
	return l.Count("billed."+unit, max(count, 1))
}

// Days returns a number of days.
func (l Locale) Days(n int) string { return l.Count("days", n) }

// Minutes returns a length of time.
func (l Locale) Minutes(n int) string { return l.Count("minutes", n) }

// Size writes a number of bytes in the largest unit of a thousand that it fills: 812 bytes, 4.1 MB.
func (l Locale) Size(bytes int64) string {
	if bytes < 1000 {
		return l.Count("bytes", int(bytes))
	}
	point := "."
	if l.language() != english {
		point = ","
	}
	tenths, units := (bytes+50)/100, []string{"kB", "MB", "GB", "TB"}
	for tenths >= 10_000 && len(units) > 1 {
		tenths, units = (tenths+500)/1000, units[1:]
	}
	return strconv.FormatInt(tenths/10, 10) + point + strconv.FormatInt(tenths%10, 10) + noBreak + units[0]
}
