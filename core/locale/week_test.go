package locale_test

import (
	"testing"
	"time"

	"sundry/core/locale"
)

func TestWeeksBeginAsTheReaderExpects(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Weekday{
		"de": time.Monday, "de-AT,de;q=0.9": time.Monday, "fr-FR": time.Monday, "fr-CA": time.Sunday,
		"en": time.Sunday, "en-US,en;q=0.9": time.Sunday, "en-GB": time.Monday, "en-IN": time.Sunday,
		"ar-EG,en;q=0.5": time.Saturday, "": time.Sunday,
	} {
		if got := locale.Parse(header).FirstWeekday(); got != want {
			t.Errorf("%q begins on %s, want %s", header, got, want)
		}
	}
}
