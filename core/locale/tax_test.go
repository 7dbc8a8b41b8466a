package locale_test

import (
	"testing"

	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/tax"
)

func TestATaxNamesItsRateAndCountry(t *testing.T) {
	t.Parallel()
	share := func(rate tax.BasisPoints, minor int64) tax.Share {
		return tax.Share{Rate: rate, Tax: money.Amount{Minor: minor, Currency: "eur"}}
	}
	german := tax.Details{Country: "DE", Shares: []tax.Share{share(0, 0), share(1900, 463)}}
	swiss := tax.Details{Country: "CH", Shares: []tax.Share{share(810, 81)}}
	for name, c := range map[string]struct {
		language string
		details  tax.Details
		included bool
		want     string
	}{
		"included":           {"en", german, true, "Tax included, 19% (Germany)"},
		"on top":             {"en", german, false, "Tax, 19% (Germany)"},
		"in German":          {"de", swiss, true, "Enthaltene Steuer, 8,1 % (Schweiz)"},
		"in French":          {"fr", swiss, false, "Taxe, 8,1 % (Suisse)"},
		"of several rates":   {"en", tax.Details{Country: "DE", Shares: []tax.Share{share(700, 7), share(1900, 19)}}, false, "Tax"},
		"of an unknown rate": {"en", tax.Details{}, true, "Tax included"},
		"of no country":      {"en", tax.Details{Shares: german.Shares}, true, "Tax included"},
	} {
		if got := (locale.Locale{Language: c.language}).TaxLine(c.details, c.included); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
