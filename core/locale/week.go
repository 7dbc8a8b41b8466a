package locale

import (
	"slices"
	"time"
)

// sundayRegions and saturdayRegions begin their week on these days (CLDR 46); every other region begins it on a Monday.
var (
	sundayRegions = []string{
		"AG", "AS", "BD", "BR", "BS", "BT", "BW", "BZ", "CA", "CO", "DM", "DO", "ET", "GT", "GU", "HK", "HN", "ID", "IL",
		"IN", "IS", "JM", "JP", "KE", "KH", "KR", "LA", "MH", "MM", "MO", "MT", "MX", "MZ", "NI", "NP", "PA", "PE", "PH",
		"PK", "PR", "PT", "PY", "SA", "SG", "SV", "TH", "TT", "TW", "UM", "US", "VE", "VI", "WS", "YE", "ZA", "ZW",
	}
	saturdayRegions = []string{"AE", "AF", "BH", "DJ", "DZ", "EG", "IQ", "IR", "JO", "KW", "LY", "OM", "QA", "SD", "SY"}
)

// FirstWeekday returns the day on which calendars begin the reader's week. English without a region is American.
func (l Locale) FirstWeekday() time.Weekday {
	switch {
	case slices.Contains(sundayRegions, l.Region), l.Region == "" && l.language() == english:
		return time.Sunday
	case slices.Contains(saturdayRegions, l.Region):
		return time.Saturday
	}
	return time.Monday
}
