package taxtable

import (
	"strings"
	"testing"
	"time"

	"sundry/core/money"
	"sundry/core/tax"
)

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestTheTableCoversEveryCountryWhereTaxIsCollected(t *testing.T) {
	t.Parallel()
	table, err := New("IE")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK GB CH NO")
	for _, country := range want {
		rate, ok := table.Rate(country, tax.Electronic, day("2026-11-01"))
		if !ok || rate < 800 || rate > 2700 {
			t.Errorf("%s: %d, %v", country, rate, ok)
		}
		if !tax.SupportsVATID(country) {
			t.Errorf("%s: VAT ids cannot be checked", country)
		}
	}
	if len(table.rows) != len(want) {
		t.Errorf("%d countries, want %d", len(table.rows), len(want))
	}
}

func TestRateFollowsTheDay(t *testing.T) {
	t.Parallel()
	table, err := New("IE")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		country, on string
		want        tax.BasisPoints
		ok          bool
	}{
		"Germany today":                       {"DE", "2026-11-22", 1900, true},
		"Germany's half year of 16 %":         {"DE", "2020-12-31", 1600, true},
		"Germany's first day after it":        {"DE", "2021-01-01", 1900, true},
		"Estonia on the eve of a change":      {"EE", "2025-06-30", 2200, true},
		"Estonia on the day of the change":    {"EE", "2025-07-01", 2400, true},
		"Finland's half percent":              {"FI", "2026-01-01", 2550, true},
		"Switzerland's tenth":                 {"CH", "2024-01-01", 810, true},
		"Romania after August 2025":           {"RO", "2025-08-01", 2100, true},
		"Slovakia in 2025":                    {"SK", "2025-01-01", 2300, true},
		"a country where nothing's collected": {"US", "2026-11-22", 0, false},
		"a day before the table begins":       {"AT", "1980-01-01", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := table.Rate(c.country, tax.Service, day(c.on))
			if got != c.want || ok != c.ok {
				t.Errorf("got %d, %v, want %d, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestCalculateUsesTheSellersCountry(t *testing.T) {
	t.Parallel()
	sale := tax.Sale{
		Lines:        []tax.Line{{Amount: money.Amount{Minor: 11900, Currency: "eur"}, Category: tax.Electronic}},
		BuyerCountry: "DE", BuyerTaxID: "DE136695976", At: day("2026-11-22"),
	}
	for seller, want := range map[string]int64{"IE": 0, "DE": 1900, "GB": 1900} {
		table, err := New(seller)
		if err != nil {
			t.Fatal(err)
		}
		got, err := table.Calculate(t.Context(), sale)
		if err != nil || got.Tax.Minor != want || got.Total.Minor != 11900 {
			t.Errorf("from %s: tax %v of %v, %v, want %d", seller, got.Tax, got.Total, err, want)
		}
	}
}

func TestParseRefusesABadTable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a day that is none":  "DE,2007-13-01,1900",
		"a rate that is none": "DE,2007-01-01,19 %",
		"a rate over 100 %":   "DE,2007-01-01,19000",
		"a missing column":    "DE,2007-01-01",
		"rows out of order":   "DE,2021-01-01,1900\nDE,2007-01-01,1900",
		"the same day twice":  "DE,2021-01-01,1900\nDE,2021-01-01,1600",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if rows, err := parse([]byte("country,from,basis_points\n" + text + "\n")); err == nil {
				t.Errorf("parsed %v", rows)
			}
		})
	}
}
