package locale_test

import (
	"slices"
	"testing"

	"sundry/core/locale"
)

// FuzzParse: whatever a browser sends, the language has texts, and the tag is read as the same locale.
func FuzzParse(f *testing.F) {
	for _, header := range []string{
		"", "de", "de-CH,fr;q=0.9", "*", "en-US;q=0", "fr;q=x", "zh-Hant-TW,en;q=0.1", ";;,,--", "de-u-hc-h12", "EN_us",
	} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		parsed := locale.Parse(header)
		if !slices.Contains(locale.Languages(), parsed.Language) {
			t.Errorf("%q has the language %q", header, parsed.Language)
		}
		if again := locale.ParseTag(parsed.Full()); again != parsed {
			t.Errorf("%q is %+v, whose tag %q is %+v", header, parsed, parsed.Full(), again)
		}
	})
}
