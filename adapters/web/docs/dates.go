package docs

import (
	"regexp"
	"time"
)

// exampleDay is the day on which the document's examples take place.
const exampleDay = "2026-03-08"

var dateInText = regexp.MustCompile(`\b20\d\d-[01]\d-[0-3]\d`)

// asOf moves every date of a text by as many days as have passed since the examples were written, so that samples name
// times to come where they did.
func asOf(now time.Time, text string) string {
	written, err := time.Parse(time.DateOnly, exampleDay)
	if err != nil {
		return text
	}
	days := int(now.UTC().Truncate(24*time.Hour).Sub(written) / (24 * time.Hour))
	return dateInText.ReplaceAllStringFunc(text, func(found string) string {
		day, err := time.Parse(time.DateOnly, found)
		if err != nil {
			return found // not a date after all
		}
		return day.AddDate(0, 0, days).Format(time.DateOnly)
	})
}

// firstMonday is the first Monday that is at least a week away: a day on which the demo creator is open.
func firstMonday(now time.Time) string {
	day := now.UTC().AddDate(0, 0, 7)
	for day.Weekday() != time.Monday {
		day = day.AddDate(0, 0, 1)
	}
	return day.Format(time.DateOnly)
}
