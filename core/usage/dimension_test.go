package usage_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/fault/faulttest"
	"sundry/core/invoice"
	"sundry/core/metadata"
	"sundry/core/usage"
)

// values reads "model=large region=eu".
func values(text string) usage.Values {
	pairs := map[string]string{}
	for part := range strings.FieldsSeq(text) {
		dimension, value, _ := strings.Cut(part, "=")
		pairs[dimension] = value
	}
	return metadata.New(pairs)
}

// ratedPrice is 10 for the model large, 7 for small in eu, and 1 for the rest.
func ratedPrice(t testing.TB) usage.Price {
	t.Helper()
	return usage.Price{
		TiersMode: usage.Graduated, Tiers: tiers(t, "∞@1"), Rates: []usage.Rate{
			{When: values("model=large"), Tiers: tiers(t, "∞@10")},
			{When: values("model=small region=eu"), Tiers: tiers(t, "∞@7")},
		},
	}
}

func TestDimensionsAreRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("d", 41)
	for name, c := range map[string]struct {
		aggregation, dimensions, want string
	}{
		"of a sum":         {"SUM", "model region", ""},
		"of reports":       {"COUNT", "a b c d e", ""},
		"of the largest":   {"MAX", "model", "dimensions NOT_ALLOWED"},
		"of the last":      {"LAST", "model", "dimensions NOT_ALLOWED"},
		"six":              {"SUM", "a b c d e f", "dimensions TOO_LONG"},
		"one twice":        {"SUM", "model model", "dimensions[1] NOT_ALLOWED"},
		"one too long":     {"SUM", "model " + long, "dimensions[1] TOO_LONG"},
		"one with control": {"SUM", "mo\x01del", "dimensions[0] INVALID"},
		"one of nothing":   {"SUM", "-", "dimensions[0] REQUIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := usage.MeterDraft{Name: "Calls", EventName: "calls", Aggregation: c.aggregation}
			for part := range strings.FieldsSeq(c.dimensions) {
				d.Dimensions = append(d.Dimensions, strings.Trim(part, "-"))
			}
			m, err := d.Parse()
			if wantFaults(t, err, c.want); err == nil && !reflect.DeepEqual(m.Dimensions, d.Dimensions) {
				t.Errorf("%+v", m)
			}
		})
	}
	unique := usage.MeterDraft{
		Name: "Users", EventName: "users", Aggregation: "UNIQUE", UniqueProperty: "userId", Dimensions: []string{"model"},
	}
	_, err := unique.Parse()
	wantFaults(t, err, "dimensions NOT_ALLOWED")
	other := unique
	other.Dimensions = []string{"region"}
	if unique.Equal(other) || !unique.Equal(unique) {
		t.Error("meters that differ in a dimension are equal")
	}
}

func TestRatesAreRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	rate := func(when map[string]string) usage.RateDraft { return usage.RateDraft{When: when, Tiers: rising(1)} }
	large := rate(map[string]string{"model": "large"})
	for name, c := range map[string]struct {
		rates []usage.RateDraft
		mode  string
		want  string
	}{
		"none":                 {nil, "", ""},
		"well":                 {[]usage.RateDraft{large, rate(map[string]string{"model": "large", "region": "eu"})}, "", ""},
		"for nothing":          {[]usage.RateDraft{rate(nil)}, "", "rates[0].when REQUIRED"},
		"for an empty value":   {[]usage.RateDraft{rate(map[string]string{"model": ""})}, "", "rates[0].when.model REQUIRED"},
		"for a long value":     {[]usage.RateDraft{rate(map[string]string{"model": strings.Repeat("v", 101)})}, "", "rates[0].when.model TOO_LONG"},
		"for a long dimension": {[]usage.RateDraft{rate(map[string]string{strings.Repeat("d", 41): "v"})}, "", "rates[0].when." + strings.Repeat("d", 41) + " INVALID"},
		"for the same":         {[]usage.RateDraft{large, large}, "", "rates[1].when NOT_ALLOWED"},
		"for six dimensions": {
			[]usage.RateDraft{rate(map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1", "f": "1"})}, "",
			"rates[0].when TOO_LONG",
		},
		"for no dimension": {[]usage.RateDraft{rate(map[string]string{"": "v"})}, "", "rates[0].when INVALID"},
		"for five dimensions": {
			[]usage.RateDraft{rate(map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", strings.Repeat("d", 40): "1"})}, "", "",
		},
		"without tiers":       {[]usage.RateDraft{{When: large.When}}, "", "rates[0].tiers REQUIRED"},
		"tiers that fall":     {[]usage.RateDraft{{When: large.When, Tiers: []usage.TierDraft{{UpTo: number("1")}}}}, "", "rates[0].tiers[0].unitAmountInCents REQUIRED, rates[0].tiers[0].upTo INVALID"},
		"tiers of a volume":   {[]usage.RateDraft{{When: large.When, Tiers: rising(2)}}, "volume", ""},
		"tiers of packages":   {[]usage.RateDraft{{When: large.When, Tiers: rising(2)}}, "package", "rates[0].tiers NOT_ALLOWED"},
		"one tier of package": {[]usage.RateDraft{large}, "package", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := usage.PriceDraft{
				ProductID: "prd_1", BillingScheme: "usage_based", Currency: "eur", Tiers: rising(1), Rates: c.rates,
				Recurring: &usage.RecurringDraft{Interval: "month"},
			}
			if c.mode != "" {
				d.TiersMode = &c.mode
			}
			if c.mode == "package" {
				d.PackageSize = new(int64(10))
			}
			p, err := d.Parse()
			if wantFaults(t, err, c.want); err != nil {
				return
			}
			file := usage.NewPriceFile(p)
			again, err := file.Draft("prd_1").Parse()
			if err != nil || len(p.Rates) != len(c.rates) || !reflect.DeepEqual(again, p) {
				t.Errorf("got %+v, %v; want %+v", again, err, p)
			}
			text, err := json.Marshal(file)
			if err != nil || strings.Contains(string(text), `"rates"`) != (len(c.rates) > 0) {
				t.Errorf("the file is %s, %v", text, err)
			}
		})
	}
	many := usage.PriceDraft{
		ProductID: "prd_1", BillingScheme: "usage_based", Currency: "eur", Tiers: rising(1),
		Recurring: &usage.RecurringDraft{Interval: "month"},
	}
	for n := range 101 {
		many.Rates = append(many.Rates, rate(map[string]string{"model": fmt.Sprint(n)}))
	}
	_, err := many.Parse()
	wantFaults(t, err, "rates TOO_LONG")
	many.Rates = many.Rates[:100]
	_, err = many.Parse()
	wantFaults(t, err, "")
}

func TestRatesNeedDimensionsOfTheMeter(t *testing.T) {
	t.Parallel()
	p := ratedPrice(t)
	for dimensions, want := range map[string]string{
		"model region": "", "region user model": "", "model": "priceId NOT_ALLOWED", "": "priceId NOT_ALLOWED",
	} {
		err := p.CheckMeter(usage.Meter{Dimensions: strings.Fields(dimensions)})
		if got := strings.Join(faulttest.Lines(t, err), ", "); got != want {
			t.Errorf("of the dimensions %q: %q, want %q", dimensions, got, want)
		}
	}
	if err := (usage.Price{}).CheckMeter(usage.Meter{}); err != nil {
		t.Errorf("a price without rates: %v", err)
	}
}

func TestAReportHasTheValuesOfDimensions(t *testing.T) {
	t.Parallel()
	one := usage.Meter{Dimensions: []string{"model"}}
	if got := one.Values(usage.Report{Properties: map[string]string{"model": "large", "region": "eu"}}); got != values("model=large") {
		t.Errorf("of one dimension: %v", got.Map())
	}
	m := usage.Meter{Dimensions: []string{"model", "region"}}
	for properties, want := range map[string]string{
		"model=large region=eu user=ada": "model=large region=eu", "model=large": "model=large", "user=ada": "",
		"model= region=eu": "region=eu",
	} {
		if got := m.Values(usage.Report{Properties: values(properties).Map()}); got != values(want) {
			t.Errorf("of %s: %s, want %s", properties, got.Text(), want)
		}
	}
	if got := (usage.Meter{}).Values(usage.Report{Properties: map[string]string{"model": "large"}}); got != (usage.Values{}) {
		t.Errorf("without dimensions: %s", got.Text())
	}
}

// rateOf is the index of the rate by which one unit with some values is billed.
func rateOf(t testing.TB, p usage.Price, v usage.Values) int {
	t.Helper()
	all, ok := p.Split([]usage.Combined{{Values: v, Quantity: usage.Units(1)}})
	for i, q := range all {
		if ok && !q.IsZero() {
			return i
		}
	}
	t.Fatal("nothing is billed")
	return 0
}

func TestTheFirstRateThatMatchesBills(t *testing.T) {
	t.Parallel()
	p := ratedPrice(t)
	p.Rates = append(p.Rates, usage.Rate{When: values("region=us"), Tiers: tiers(t, "∞@3")})
	for text, want := range map[string]int{
		"model=large": 0, "model=large region=us": 0, "model=small region=eu": 1, "model=small region=us": 2,
		"model=small": 3, "model=Large": 3, "": 3,
	} {
		if got := rateOf(t, p, values(text)); got != want {
			t.Errorf("%q is billed by rate %d, want %d", text, got, want)
		}
	}
	huge := usage.Quantity{}
	if err := huge.UnmarshalJSON([]byte("8" + strings.Repeat("0", 64))); err != nil {
		t.Fatal(err)
	}
	if _, ok := p.Split([]usage.Combined{{Quantity: huge}, {Quantity: huge}}); ok {
		t.Error("a sum with too many digits is kept")
	}
}

func january(t testing.TB) usage.Period {
	t.Helper()
	return usage.Period{Start: at(t, "2026-01-01T00:00:00Z"), End: at(t, "2026-02-01T00:00:00Z")}
}

// split is a use of a price with quantities by its rates.
func split(t testing.TB, p usage.Price, quantities ...string) usage.Use {
	t.Helper()
	u := usage.Use{Meter: usage.Meter{Name: "Tokens"}, Price: p, Period: january(t)}
	for _, text := range quantities {
		q := quantity(t, text)
		u.Parts = append(u.Parts, usage.Part{Quantity: q})
		u.Quantity, _ = u.Quantity.Add(q)
	}
	return u
}

// written writes lines as "values quantity-included = amount".
func written(lines []usage.Rated) string {
	var all []string
	for _, l := range lines {
		text := fmt.Sprintf("%s %s", l.When(), l.Quantity)
		if !l.Included.IsZero() {
			text += "-" + l.Included.String()
		}
		all = append(all, fmt.Sprintf("%s = %d", text, l.AmountMinor))
	}
	return strings.Join(all, "; ")
}

func TestEachRateIsALine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quantities        string
		included, minimum int64
		want              string
	}{
		"all": {"3 2 4", 0, 0, "model large 3 = 30; model small, region eu 2 = 14; all other 4 = 4"},
		"what is included is of the rates first": {
			"3 2.5 4", 5, 0, "model large 3-3 = 0; model small, region eu 2.5-2 = 4; all other 4 = 4",
		},
		"all is included": {
			"3 2.5 4", 20, 0, "model large 3-3 = 0; model small, region eu 2.5-2.5 = 0; all other 4-4 = 0",
		},
		"a rate is never below zero": {"-3 2 4", 0, 0, "model large -3 = 0; model small, region eu 2 = 14; all other 4 = 4"},
		"the minimum":                {"3 0 4", 0, 100, "model large 3 = 30; all other 4 = 70"},
		"more than the minimum":      {"3 0 4", 0, 34, "model large 3 = 30; all other 4 = 4"},
		"the minimum of nothing":     {"0 0 0", 0, 100, "all other 0 = 100"},
		"nothing":                    {"0 0 0", 0, 0, "all other 0 = 0"},
		"only a rate":                {"0 1 0", 0, 0, "model small, region eu 1 = 7"},
		"each is rounded":            {"0.05 0 0.5", 0, 0, "model large 0.05 = 1; all other 0.5 = 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := split(t, ratedPrice(t), strings.Fields(c.quantities)...)
			u.Included, u.Price.MinimumMinor = c.included, c.minimum
			lines := u.RateAll()
			if got := written(usage.Asked(lines)); len(lines) != 3 || got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	free := split(t, ratedPrice(t), "3", "0", "4")
	free.Plan.FreeUntil, free.Price.MinimumMinor = free.Period.End, 100
	if got := written(usage.Asked(free.RateAll())); got != "model large 3 = 0; all other 4 = 0" {
		t.Errorf("a trial: %s", got)
	}
	cut := split(t, ratedPrice(t), "3", "0", "4")
	cut.Period.Start, cut.Price.MinimumMinor = cut.Period.End, 100
	if got := written(usage.Asked(cut.RateAll())); got != "model large 3 = 30; all other 4 = 4" {
		t.Errorf("a period without length: %s", got)
	}
	unread := split(t, ratedPrice(t))
	unread.Quantity, unread.BilledMinor, unread.Parts = usage.Units(5), 9, nil
	for i, l := range unread.RateAll() {
		if !l.Quantity.IsZero() || l.BilledMinor != 0 || l.AmountMinor != 0 || !l.Rest && len(l.Values) == 0 {
			t.Errorf("line %d without its part: %+v", i, l)
		}
	}
	single := ratedPrice(t)
	if single.Rates = single.Rates[:1]; len(split(t, single, "3", "4").RateAll()) != 2 {
		t.Error("a price with one rate has not two lines")
	}
	single.Rates = nil
	whole := usage.Use{Price: single, Period: cut.Period, Quantity: usage.Units(3)}
	if lines := whole.RateAll(); len(lines) != 1 || !reflect.DeepEqual(lines[0], whole.Rate()) {
		t.Errorf("a price without rates: %+v", lines)
	}
	byPackage := split(t, ratedPrice(t), "11", "0", "1")
	byPackage.Price.TiersMode, byPackage.Price.PackageSize = usage.Package, 10
	if got := written(usage.Asked(byPackage.RateAll())); got != "model large 11 = 20; all other 1 = 1" {
		t.Errorf("packages: %s", got)
	}
}

func TestLateUseIsToldByRate(t *testing.T) {
	t.Parallel()
	u := split(t, ratedPrice(t), "4", "1", "0")
	u.Price.MinimumMinor = 60
	u.Parts[0].BilledMinor, u.Parts[2].BilledMinor = 30, 30 // 3 large, and the minimum
	lines := u.RateAll()
	for i := range lines {
		lines[i].Late = true
	}
	if got := written(usage.Asked(lines)); got != "model large 4 = 10; model small, region eu 1 = 7; all other 0 = -17" {
		t.Errorf("got %s", got)
	}
	if all := usage.Fit(lines); !all || usage.SumOf(lines) != 0 || !lines[2].Settled() {
		t.Errorf("the lines are %s", written(lines))
	}
}

func TestTheRatesOfAPeriodWaitTogether(t *testing.T) {
	t.Parallel()
	for name, quantities := range map[string]string{
		"one amounts to too much":        "1 0 99999999999999",
		"all of them amount to too much": "5000000000 1 50000000000",
		"they do not fit on the invoice": "1 9999999999 3",
		"the first amounts to too much":  "99999999999 0 3",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			price := ratedPrice(t)
			price.MinimumMinor = 5
			other := usage.Rated{AmountMinor: usage.MaxAmount / 2}
			lines := append([]usage.Rated{other}, split(t, price, strings.Fields(quantities)...).RateAll()...)
			if all := usage.Fit(lines); all {
				t.Error("all fit")
			}
			for _, l := range lines[1:] {
				if !l.Waits || l.AmountMinor != 0 || l.RatedMinor != 0 || l.TopUpMinor != 0 || len(l.Charges) != 0 {
					t.Errorf("%+v", l)
				}
			}
			if lines[0].Waits {
				t.Error("another period waits, too")
			}
		})
	}
	two := append(split(t, ratedPrice(t), "9000000000", "0", "0").RateAll(), split(t, ratedPrice(t), "1", "0", "0").RateAll()...)
	for i := range two[3:] {
		two[3+i].PeriodStart = at(t, "2025-12-01T00:00:00Z")
		two[3+i].AmountMinor *= usage.MaxAmount / 10
	}
	if usage.Fit(two); two[0].Waits || !two[3].Waits || !two[5].Waits {
		t.Errorf("two periods: %s", written(two))
	}
}

func TestLinesNameTheirRates(t *testing.T) {
	t.Parallel()
	u := split(t, ratedPrice(t), "3", "0", "0")
	u.Price.MinimumMinor, u.Included = 40, 1
	var all []string
	for _, l := range invoice.LinesOf(usage.Asked(u.RateAll())) {
		all = append(all, fmt.Sprintf("%s %s = %d", l.Kind, l.Description, l.AmountMinor))
	}
	want := "usage Tokens (model large) = 20; included Tokens (model large), included in the plan = 0; " +
		"minimum Tokens, up to the minimum of the period = 20"
	if got := strings.Join(all, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	rated := u.RateAll()[0]
	if e := invoice.NewLineExplanation(invoice.Line{Rated: &rated}); !reflect.DeepEqual(e.Values,
		map[string]string{"model": "large"}) {
		t.Errorf("explained by %v", e.Values)
	}
}

// TestThePartsOfAPeriodAreItsWhole: with one price for all rates a period costs the same with rates as without.
func TestThePartsOfAPeriodAreItsWhole(outer *testing.T) {
	outer.Parallel()
	rapid.Check(outer, func(t *rapid.T) {
		p := ratedPrice(outer)
		for i := range p.Rates {
			p.Rates[i].Tiers = p.Tiers
		}
		p.MinimumMinor = rapid.Int64Range(0, 200).Draw(t, "minimum")
		u := usage.Use{Price: p, Period: january(outer), Included: rapid.Int64Range(0, 50).Draw(t, "included")}
		var all []usage.Combined
		for range rapid.IntRange(0, 8).Draw(t, "combinations") {
			one := usage.Combined{
				Values: values(rapid.SampledFrom([]string{
					"model=large", "model=small region=eu", "model=small", "region=eu", "",
				}).Draw(t, "values")),
				Quantity: usage.Units(rapid.Int64Range(0, 40).Draw(t, "quantity")),
			}
			all = append(all, one)
			u.Quantity, _ = u.Quantity.Add(one.Quantity)
		}
		quantities, ok := p.Split(all)
		sum, fits := usage.SumOfQuantities(quantities)
		if !ok || !fits || sum != u.Quantity {
			t.Fatalf("the parts are %s, the whole %s", sum, u.Quantity)
		}
		for _, q := range quantities {
			u.Parts = append(u.Parts, usage.Part{Quantity: q})
		}
		whole := u
		whole.Price.Rates = nil
		var included usage.Quantity
		for _, l := range u.RateAll() {
			included, _ = included.Add(l.Included)
		}
		one := whole.Rate()
		if got := usage.SumOf(u.RateAll()); got != one.AmountMinor || included != one.Included {
			t.Fatalf("by rates %d beyond %s, in all %d beyond %s", got, included, one.AmountMinor, one.Included)
		}
		var asked int64
		for _, l := range invoice.LinesOf(usage.Asked(u.RateAll())) {
			asked += l.AmountMinor
		}
		if asked != one.AmountMinor {
			t.Fatalf("the invoice's lines are %d, want %d", asked, one.AmountMinor)
		}
	})
}

func TestTheRatesOfAPeriodMayAskForTheMost(t *testing.T) {
	t.Parallel()
	lines := split(t, ratedPrice(t), "9999999999", "0", "9").RateAll()
	if all := usage.Fit(lines); !all || usage.SumOf(lines) != usage.MaxAmount {
		t.Errorf("%s", written(lines))
	}
	if lines = split(t, ratedPrice(t), "6000000000", "0", "60000000000").RateAll(); !lines[0].Waits || !lines[2].Waits {
		t.Errorf("%s", written(lines))
	}
}

func TestAnInvoiceShowsWhatItAsksFor(t *testing.T) {
	t.Parallel()
	small, used := map[string]string{"model": "small"}, usage.Units(1)
	for name, c := range map[string]struct {
		line usage.Rated
		want bool
	}{
		"use without a rate that costs nothing":    {usage.Rated{}, true},
		"late use that costs nothing":              {usage.Rated{Late: true}, false},
		"late use that costs something":            {usage.Rated{Late: true, AmountMinor: 1}, true},
		"late use by a rate that costs nothing":    {usage.Rated{Late: true, Values: small, Quantity: used}, false},
		"a rate without use":                       {usage.Rated{Values: small}, false},
		"a rate with use that costs nothing":       {usage.Rated{Values: small, Quantity: used}, true},
		"the rest without use, where nothing else": {usage.Rated{Rest: true}, true},
		"the late rest without use":                {usage.Rated{Rest: true, Late: true}, false},
	} {
		if got := len(usage.Asked([]usage.Rated{c.line})) == 1; got != c.want {
			t.Errorf("%s: shown %t", name, got)
		}
	}
	rest, late := usage.Rated{Rest: true}, usage.Rated{Late: true, AmountMinor: 1}
	period := usage.Rated{Values: small, Quantity: used, AmountMinor: 1}
	if got := usage.Asked([]usage.Rated{period, rest}); len(got) != 1 {
		t.Errorf("beside a rate: %s", written(got))
	}
	if got := usage.Asked([]usage.Rated{late, rest}); len(got) != 2 {
		t.Errorf("behind late use alone: %s", written(got))
	}
	lines := []usage.Rated{{Late: true}, period}
	if usage.Asked(lines); !lines[0].Late || lines[1].Late {
		t.Errorf("the lines became %s", written(lines))
	}
}

func TestQuantitiesAreAddedUpWhereTheyFit(t *testing.T) {
	t.Parallel()
	most, err := usage.RestoreQuantity(largestQuantity)
	if err != nil {
		t.Fatal(err)
	}
	if sum, ok := usage.SumOfQuantities([]usage.Quantity{most, usage.Units(1), usage.Units(-1)}); ok || !sum.IsZero() {
		t.Errorf("%v, %t", sum, ok)
	}
	combined := []usage.Combined{{Values: values("model=large"), Quantity: usage.Units(2)}}
	if parts, ok := ratedPrice(t).Split(combined); !ok || len(parts) != 3 || parts[0] != usage.Units(2) {
		t.Errorf("%v, %t", parts, ok)
	}
}

func TestValuesAreDescribedWithTheirDimensions(t *testing.T) {
	t.Parallel()
	if got := usage.Describe(values("region=eu model=large")); got != "model large, region eu" {
		t.Error(got)
	}
}
