package web

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"sundry/core/money"
)

// formatMoney shows minor units as people read them.
func formatMoney(minor int64, currency string) string {
	return money.Amount{Minor: minor, Currency: money.Currency(currency)}.Format()
}

// formatDate is a day, in UTC as every time of the service.
func formatDate(t time.Time) string { return t.UTC().Format("2 January 2006") }

// formatMoment is a day and time with its zone said, for receipts.
func formatMoment(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// formatDay is a day with its name, in the zone that t carries.
func formatDay(t time.Time) string { return t.Format("Monday, 2 January 2006") }

// formatClock is a time of day, in the zone that t carries.
func formatClock(t time.Time) string { return t.Format("15:04") }

// formatInterval says how often a price is charged: "per month", "every 3 months".
func formatInterval(unit string, count int) string { return intervalText("interval.", unit, count) }

// formatBilled says the same of a plan: "Billed monthly", "Billed every 3 months".
func formatBilled(unit string, count int) string { return intervalText("billed.", unit, count) }

func intervalText(prefix, unit string, count int) string {
	if count <= 1 {
		return text(prefix + unit + ".one")
	}
	return text(prefix+unit+".many", count)
}

// formatDays says a number of days.
func formatDays(n int) string {
	if n == 1 {
		return text("days.one")
	}
	return text("days.many", n)
}

// formatMinutes says a length of time.
func formatMinutes(n int) string {
	if n == 1 {
		return text("minutes.one")
	}
	return text("minutes.many", n)
}

// hostOf gives the host a link leads to, so that a buyer sees where they will land.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return strings.TrimPrefix(u.Host, "www.")
}

// plainHost are the hosts that may be written into a header as they are.
var plainHost = regexp.MustCompile(`^(\[[0-9a-fA-F:.]+\]|[0-9A-Za-z._-]+)(:\d+)?$`)

// originOf gives scheme://host of an absolute http(s) address, or "" for anything else.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || !plainHost.MatchString(u.Host) || (u.Scheme != "https" && u.Scheme != "http") {
		return ""
	}
	return fmt.Sprintf("%s://%s", u.Scheme, u.Host)
}
