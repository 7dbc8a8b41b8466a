// Package locale is how the service speaks to people: every text of pages and mails by key and language, and how money,
// dates, times and intervals are written for a reader. A translation is a folder of the same files under texts.
package locale

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sundry/core/country"
)

// Locale is a reader's language and habits. The zero value reads as American English.
type Locale struct {
	Language string // en, de or fr; "" = en
	Region   string // ISO 3166-1 alpha-2; "" when the reader names none
	// Hour12 writes half past two in the afternoon as 2:30 PM.
	Hour12 bool
}

// Default is the locale of readers without a known one.
var Default = Locale{Language: english, Region: "US", Hour12: true}

const (
	english = "en"
	german  = "de"
	french  = "fr"
)

// Languages are those with texts of their own.
func Languages() []string { return []string{english, german, french} }

// hour12Regions are where English is written with a twelve-hour clock.
var hour12Regions = []string{"", "US", "CA", "AU", "NZ", "IN", "PK", "BD", "PH", "MY", "EG", "SA", "AE", "CO"}

// monthFirstRegions write the month before the day.
var monthFirstRegions = []string{"", "US", "CA", "PH"}

// Parse reads a browser's Accept-Language: the preferred language that has texts, English when none has, and the first
// region named.
func Parse(acceptLanguage string) Locale {
	l := Locale{Language: english, Region: RegionOf(acceptLanguage)}
	for _, tag := range preferred(acceptLanguage) {
		if language, _, _ := strings.Cut(strings.ToLower(tag), "-"); slices.Contains(Languages(), language) {
			l.Language = language
			break
		}
	}
	l.Hour12 = l.Language == english && slices.Contains(hour12Regions, l.Region)
	return l
}

// hourCycle is the part of a tag that names the clock (RFC 6067): -u-hc-h12 or -u-hc-h23.
const hourCycle = "-u-hc-"

// Full returns the tag with the clock, as ParseTag reads it: en-US-u-hc-h12.
func (l Locale) Full() string {
	if l.Hour12 {
		return l.Tag() + hourCycle + "h12"
	}
	return l.Tag() + hourCycle + "h23"
}

// ParseTag reads what Full wrote, or any tag without a clock.
func ParseTag(tag string) Locale {
	plain, hours, named := strings.Cut(tag, hourCycle)
	l := Parse(plain)
	if named {
		l.Hour12 = hours == "h12"
	}
	return l
}

// ClockOf returns the clock that a tag names; ok is false where it names none.
func ClockOf(tag string) (hour12, ok bool) {
	_, hours, ok := strings.Cut(tag, hourCycle)
	return hours == "h12", ok
}

// WithClock returns the locale with the clock that a reader has chosen, 12 or 24 hours; anything else leaves it as it
// is.
func (l Locale) WithClock(hours string) Locale {
	switch hours {
	case "12":
		l.Hour12 = true
	case "24":
		l.Hour12 = false
	}
	return l
}

// RegionOf guesses a reader's country from the first language that names one: "de-AT" is Austria, "de" is nothing.
func RegionOf(acceptLanguage string) string {
	for _, tag := range preferred(acceptLanguage) {
		parts := strings.Split(tag, "-")
		if region := strings.ToUpper(parts[len(parts)-1]); len(parts) > 1 && country.Valid(region) {
			return region
		}
	}
	return ""
}

// preferred are the tags of an Accept-Language header, best first.
func preferred(header string) []string {
	type weighted struct {
		tag     string
		quality float64
	}
	var tags []weighted
	for part := range strings.SplitSeq(header, ",") {
		tag, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
		quality := 1.0
		if q, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q="); ok {
			if n, err := strconv.ParseFloat(q, 64); err == nil {
				quality = n
			}
		}
		tags = append(tags, weighted{strings.TrimSpace(tag), quality})
	}
	slices.SortStableFunc(tags, func(a, b weighted) int { return cmp.Compare(b.quality, a.quality) })
	out := make([]string, len(tags))
	for i, t := range tags {
		out[i] = t.tag
	}
	return out
}

// Tag returns the BCP 47 tag of the locale, such as en-US, for the lang attribute and the scripts' formats.
func (l Locale) Tag() string {
	if l.Region == "" {
		return l.language()
	}
	return l.language() + "-" + l.Region
}

func (l Locale) language() string { return cmp.Or(l.Language, english) }

// monthFirst distinguishes June 15 from 15 June.
func (l Locale) monthFirst() bool {
	return l.language() == english && slices.Contains(monthFirstRegions, l.Region)
}

// Pattern returns the locale reduced to what decides its texts and formats: few locales have few patterns, so that
// templates can be prepared once for each.
func (l Locale) Pattern() Locale {
	p := Locale{Language: l.language(), Hour12: l.Hour12}
	switch {
	case p.Language != english:
	case l.monthFirst():
		p.Region = "US"
	default:
		p.Region = "GB"
	}
	return p
}

// Patterns are all that Pattern returns.
func Patterns() []Locale {
	var all []Locale
	for _, hour12 := range []bool{true, false} {
		all = append(all,
			Locale{english, "US", hour12}, Locale{english, "GB", hour12}, Locale{german, "", hour12}, Locale{french, "", hour12})
	}
	return all
}
