package plan_test

import (
	"slices"
	"strings"
	"testing"

	"sundry/core/fault/faulttest"
	"sundry/core/plan"
)

func TestUsageCreditsListEveryFault(t *testing.T) {
	t.Parallel()
	month, amount := "month", int64(9000)
	for name, c := range map[string]struct {
		interval *string
		credits  []plan.UsageCredit
		want     string
	}{
		"one":                    {nil, []plan.UsageCredit{{AmountInCents: 10000, Currency: "eur", Meter: "api.calls", ExpiresInDays: 90}}, ""},
		"of a price that renews": {&month, []plan.UsageCredit{{AmountInCents: 1, Currency: "eur"}}, "usageCredits NOT_ALLOWED"},
		"of nothing":             {nil, []plan.UsageCredit{{Currency: "eur"}}, "usageCredits[0].amountInCents OUT_OF_RANGE"},
		"of no currency":         {nil, []plan.UsageCredit{{AmountInCents: 1, Currency: "xx"}}, "usageCredits[0].currency INVALID"},
		"in thousandths": {
			nil, []plan.UsageCredit{{AmountInCents: 1005, Currency: "kwd"}}, "usageCredits[0].amountInCents NOT_ALLOWED",
		},
		"in tens of thousandths": {nil, []plan.UsageCredit{{AmountInCents: 1010, Currency: "kwd"}}, ""},
		"for a wrong meter": {
			nil, []plan.UsageCredit{{AmountInCents: 1, Currency: "eur", Meter: "a b"}}, "usageCredits[0].meter INVALID",
		},
		"for less than a day": {
			nil, []plan.UsageCredit{{AmountInCents: 1, Currency: "eur", ExpiresInDays: -1}},
			"usageCredits[0].expiresInDays OUT_OF_RANGE",
		},
		"of too many":                {nil, make([]plan.UsageCredit, 11), "usageCredits TOO_LONG"},
		"of as many as there may be": {nil, slices.Repeat([]plan.UsageCredit{{AmountInCents: 1, Currency: "eur"}}, 10), ""},
		"of the most":                {nil, []plan.UsageCredit{{AmountInCents: 99_999_999_999, Currency: "eur"}}, ""},
		"of more than that": {
			nil, []plan.UsageCredit{{AmountInCents: 100_000_000_000, Currency: "eur"}},
			"usageCredits[0].amountInCents OUT_OF_RANGE",
		},
		"for ten years": {nil, []plan.UsageCredit{{AmountInCents: 1, Currency: "eur", ExpiresInDays: 3650}}, ""},
		"for more than that": {
			nil, []plan.UsageCredit{{AmountInCents: 1, Currency: "eur", ExpiresInDays: 3651}},
			"usageCredits[0].expiresInDays OUT_OF_RANGE",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := plan.Draft{
				Key: "top-up", Name: "Top-up", UsageCredits: c.credits,
				Prices: []plan.PriceDraft{{Interval: c.interval, Currency: "eur", AmountInCents: &amount}},
			}.Check()
			got := strings.Join(faulttest.Lines(t, err), ", ")
			if got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
				t.Errorf("faults %q, want %q", got, c.want)
			}
		})
	}
}
