package country_test

import (
	"testing"

	"sundry/core/country"
	"sundry/core/money"
)

func TestEveryCountryHasACurrency(t *testing.T) {
	t.Parallel()
	for _, c := range country.List("en") {
		got := country.Currency(c.Code)
		if _, err := money.ParseCurrency(string(got)); (err != nil) != (c.Code == "AQ") {
			t.Errorf("%s pays in %q", c.Code, got)
		}
	}
	for code, want := range map[string]money.Currency{
		"DE": "eur", "US": "usd", "PR": "usd", "GB": "gbp", "LI": "chf", "AQ": "", "": "", "XX": "", "de": "",
	} {
		if got := country.Currency(code); got != want {
			t.Errorf("%q pays in %q, want %q", code, got, want)
		}
	}
}

func TestEveryLanguageNamesTheSameCountries(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "de", "fr"} {
		seen := map[string]bool{}
		for _, c := range country.List(language) {
			if seen[c.Code] || len(c.Code) != 2 || c.Name == "" || !country.Valid(c.Code) {
				t.Errorf("%s: %+v", language, c)
			}
			seen[c.Code] = true
		}
		if len(seen) != 249 {
			t.Errorf("%s: %d countries, ISO 3166-1 has 249", language, len(seen))
		}
	}
}

func TestNamesFollowTheLanguage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ code, language, want string }{
		"English":                           {"DE", "en", "Germany"},
		"German":                            {"AT", "de", "Österreich"},
		"French":                            {"DE", "fr", "Allemagne"},
		"a language without a table":        {"DE", "sv", "Germany"},
		"what is no country is shown as is": {"XX", "en", "XX"},
	} {
		if got := country.Name(c.code, c.language); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, code := range []string{"", "XX", "de", "DEU", "D"} {
		if country.Valid(code) {
			t.Errorf("%q is taken for a country", code)
		}
	}
}
