package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/id"
	"sundry/core/money"
	"sundry/core/period"
)

var now = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// counter makes ids that rise, as the service's do.
func counter() func(id.Prefix) string {
	n := 0
	return func(prefix id.Prefix) string {
		n++
		return fmt.Sprintf("%s_%05d", prefix, n)
	}
}

func monthly(amount int64) PriceDraft {
	return PriceDraft{Interval: new("month"), IntervalCount: new(1), Currency: "eur", AmountInCents: &amount}
}

func draft(key string, prices ...PriceDraft) Draft {
	return Draft{Key: key, Name: "Plan", Prices: prices}
}

func TestADraftIsRefusedWithAllItsFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(d *Draft)
		want   []string
	}{
		"a sound draft":           {func(*Draft) {}, nil},
		"a key like a file name":  {func(d *Draft) { d.Key = "Pro plan.txt" }, []string{"planKey INVALID"}},
		"a key of 101 characters": {func(d *Draft) { d.Key = strings.Repeat("a", 101) }, []string{"planKey INVALID"}},
		"no name":                 {func(d *Draft) { d.Name = "" }, []string{"name REQUIRED"}},
		"a blank name":            {func(d *Draft) { d.Name = " \t" }, []string{"name REQUIRED"}},
		"a name of two lines":     {func(d *Draft) { d.Name = "Pro\nBcc: x" }, []string{"name INVALID"}},
		"a long name":             {func(d *Draft) { d.Name = strings.Repeat("é", 201) }, []string{"name TOO_LONG"}},
		"a trial of 731 days":     {func(d *Draft) { d.TrialDays = 731 }, []string{"trialDays OUT_OF_RANGE"}},
		"a trial of a one-time plan": {func(d *Draft) {
			d.TrialDays, d.Prices[0].Interval, d.Prices[0].IntervalCount = 7, nil, nil
		}, []string{"trialDays NOT_ALLOWED"}},
		"a price in thousandths": {func(d *Draft) {
			d.Prices = []PriceDraft{{Currency: "kwd", AmountInCents: new(int64(1505))}}
			d.TrialDays = 0
		}, []string{"prices[0].amountInCents NOT_ALLOWED"}},
		"no prices": {func(d *Draft) { d.Prices = nil }, []string{"prices REQUIRED"}},
		"every fault of one price": {
			func(d *Draft) {
				d.Prices[0] = PriceDraft{Interval: new("fortnight"), Currency: "EUR", AmountInCents: new(int64(-1))}
			},
			[]string{"prices[0].interval NOT_ALLOWED", "prices[0].currency INVALID", "prices[0].amountInCents OUT_OF_RANGE"},
		},
		"an amount that is missing": {func(d *Draft) {
			d.Prices[0].AmountInCents = nil
		}, []string{"prices[0].amountInCents REQUIRED"}},
		"an amount beyond the most": {func(d *Draft) {
			d.Prices[0].AmountInCents = new(int64(MaxAmount + 1))
		}, []string{"prices[0].amountInCents OUT_OF_RANGE"}},
		"a count without interval": {func(d *Draft) {
			d.Prices[0].Interval = nil
		}, []string{"prices[0].intervalCount NOT_ALLOWED"}},
		"a count of zero": {func(d *Draft) {
			d.Prices[0].IntervalCount = new(0)
		}, []string{"prices[0].intervalCount OUT_OF_RANGE"}},
		"four years": {func(d *Draft) {
			d.Prices[0].Interval, d.Prices[0].IntervalCount = new("year"), new(4)
		}, []string{"prices[0].intervalCount OUT_OF_RANGE"}},
		"two prices that a buyer cannot distinguish": {
			func(d *Draft) { d.Prices = append(d.Prices, monthly(5)) }, []string{"prices[1] DUPLICATE"},
		},
		"two one-time prices of a currency": {
			func(d *Draft) {
				once := PriceDraft{Currency: "eur", AmountInCents: new(int64(5))}
				d.Prices = append(d.Prices, once, once)
			}, []string{"prices[2] DUPLICATE"},
		},
		"entitlements of every kind": {
			func(d *Draft) {
				d.Entitlements = []EntitlementDraft{
					{Key: "hd", Type: "boolean", Value: true}, {Key: "api.calls", Type: "limit", Value: json.Number("7")},
					{Key: "maxSeats", Type: "text", Value: "many"},
				}
			}, nil,
		},
		"entitlements with faults": {
			func(d *Draft) {
				d.Entitlements = []EntitlementDraft{
					{Key: "a b", Type: "boolean", Value: "true"}, {Key: "x", Type: "limit", Value: json.Number("1.5")},
					{Key: "x", Type: "limit", Value: json.Number("-1")}, {Key: "y", Type: "color"}, {Key: "", Type: "text"},
				}
			},
			[]string{
				"entitlements[0].key INVALID", "entitlements[0].value WRONG_TYPE", "entitlements[1].value WRONG_TYPE",
				"entitlements[2].key DUPLICATE",
				"entitlements[2].value OUT_OF_RANGE", "entitlements[3].type NOT_ALLOWED", "entitlements[4].key REQUIRED",
				"entitlements[4].value REQUIRED",
			},
		},
		"credits and meters with faults": {
			func(d *Draft) {
				d.Credits = []Credit{{Key: "c", Unit: "image", Amount: 1}, {Key: "c", Amount: 0}}
				d.Meters = []Meter{{EventName: "m", Included: -1}}
			},
			[]string{"credits[1].key DUPLICATE", "credits[1].unit REQUIRED", "credits[1].amount OUT_OF_RANGE",
				"meters[0].included OUT_OF_RANGE"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := draft("pro", monthly(900))
			c.change(&d)
			if got := faulttest.Lines(t, d.Check()); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			set := Restore("crt_a", "lst_a", nil)
			if _, err := set.Put(d, counter(), now); (err == nil) != (c.want == nil) {
				t.Errorf("put: %v", err)
			}
			if changed := set.Changed(); c.want != nil && len(changed) > 0 {
				t.Errorf("a refused draft left %+v", changed)
			}
		})
	}
}

func TestThePriceThatABuyerGets(t *testing.T) {
	t.Parallel()
	price := func(name string, interval period.Interval, currency money.Currency) Price {
		return Price{ID: name, Interval: interval, Amount: money.Amount{Minor: 1, Currency: currency}}
	}
	mixed := []Price{price("year-eur", period.Year, "eur"), price("month-usd", period.Month, "usd"),
		price("month-eur", period.Month, "eur"), price("once-eur", "", "eur")}
	quarter := price("quarter-eur", period.Month, "eur")
	quarter.IntervalCount = 3
	both := []Price{quarter, price("month-eur", period.Month, "eur"), price("year-eur", period.Year, "eur")}
	once := []Price{price("once-usd", "", "usd"), price("once-eur", "", "eur")}
	for name, c := range map[string]struct {
		prices   []Price
		every    period.Cadence
		currency money.Currency
		want     string // empty: refused with NOT_FOUND
	}{
		"the currency of the listing first":        {mixed, "month", "eur", "month-eur"},
		"else the first price of the interval":     {mixed, "month", "gbp", "month-usd"},
		"no interval means month":                  {mixed, "", "eur", "month-eur"},
		"no interval and no month means the first": {mixed[:1], "", "usd", "year-eur"},
		"an interval that the plan lacks":          {mixed, "week", "eur", ""},
		"every third month":                        {both, "month:3", "eur", "quarter-eur"},
		"month is every month":                     {both, "month", "eur", "month-eur"},
		"the only price of the interval":           {both[:1], "month", "eur", "quarter-eur"},
		"a number that the plan lacks":             {both, "month:6", "eur", ""},
		"two years that the plan lacks":            {both, "year:2", "eur", ""},
		"a one-time plan ignores the interval":     {once, "month", "eur", "once-eur"},
		"a one-time plan in another currency":      {once, "", "gbp", "once-usd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := State{Prices: c.prices}.Price(c.every, c.currency)
			if got.ID != c.want || (err != nil) != (c.want == "") || err != nil && !fault.Is(err, fault.NotFoundCode) {
				t.Errorf("got %q, %v; want %q", got.ID, err, c.want)
			}
		})
	}
}

func TestTheFirstOfTheCurrenciesWins(t *testing.T) {
	t.Parallel()
	prices := []Price{{ID: "eur", Interval: period.Month, Amount: money.Amount{Currency: "eur"}},
		{ID: "usd", Interval: period.Month, Amount: money.Amount{Currency: "usd"}}}
	for want, currencies := range map[string][]money.Currency{"eur": {"gbp", "eur", "usd"}, "usd": {"usd", "eur"}} {
		if got, err := (State{Prices: prices}).Price("month", currencies...); err != nil || got.ID != want {
			t.Errorf("of %v: %s, %v; want %s", currencies, got.ID, err, want)
		}
	}
}

func TestAPlanKeepsThePrepaidUseThatItSells(t *testing.T) {
	t.Parallel()
	set := Restore("crt_a", "lst_a", nil)
	d := draft("top-up", PriceDraft{Currency: "eur", AmountInCents: new(int64(900))})
	d.UsageCredits = []UsageCredit{{AmountInCents: 1000, Currency: "eur"}}
	if s, err := set.Put(d, counter(), now); err != nil || !reflect.DeepEqual(s.Terms.UsageCredits, d.UsageCredits) {
		t.Errorf("%+v, %v", s.Terms.UsageCredits, err)
	}
	d.UsageCredits = []UsageCredit{}
	if s, err := set.Put(d, counter(), now); err != nil || s.Terms.UsageCredits != nil {
		t.Errorf("%+v, %v", s.Terms.UsageCredits, err)
	}
}

func TestThePriceInACurrency(t *testing.T) {
	t.Parallel()
	price := func(name string, interval period.Interval, currency money.Currency) Price {
		return Price{ID: name, Interval: interval, Amount: money.Amount{Minor: 1, Currency: currency}}
	}
	mixed := State{Prices: []Price{price("month-eur", period.Month, "eur"), price("year-eur", period.Year, "eur"),
		price("year-usd", period.Year, "usd"), price("once-gbp", "", "gbp")}}
	for name, c := range map[string]struct {
		every    period.Cadence
		currency money.Currency
		want     string // the price, or what the refusal says
	}{
		"the interval in it":               {"year", "usd", "year-usd"},
		"no interval means its month":      {"", "eur", "month-eur"},
		"no interval and no month":         {"", "usd", "year-usd"},
		"an interval in another currency":  {"month", "usd", "in usd. Its intervals in usd: year."},
		"no one-time price for a month":    {"month", "gbp", "No such interval in this plan in gbp."},
		"a currency that the plan has not": {"month", "jpy", "no price in jpy. Its currencies: eur, usd, gbp."},
		"nothing in a currency it has not": {"", "jpy", "no price in jpy. Its currencies: eur, usd, gbp."},
	} {
		got, err := mixed.PriceIn(c.every, c.currency)
		refused := err != nil && fault.Is(err, fault.NotFoundCode) && strings.Contains(err.Error(), c.want)
		if !refused && (err != nil || got.ID != c.want) {
			t.Errorf("%s: got %q, %v; want %q", name, got.ID, err, c.want)
		}
	}
}

func TestTheDefaultFollowsWhatIsAsked(t *testing.T) {
	t.Parallel()
	newID := counter()
	set := Restore("crt_a", "lst_a", nil)
	put := func(key string, isDefault bool) {
		d := draft(key, monthly(900))
		d.IsDefault = isDefault
		if _, err := set.Put(d, newID, now); err != nil {
			t.Fatal(err)
		}
	}
	want := func(key, why string) {
		t.Helper()
		for _, p := range set.Live() {
			if p.IsDefault != (p.Key == key) {
				t.Errorf("%s: %s has isDefault %v, want %s alone", why, p.Key, p.IsDefault, key)
			}
		}
	}
	put("one", false)
	want("one", "the only plan is the default")
	put("two", false)
	want("one", "a plan that does not ask changes nothing")
	put("three", true)
	want("three", "a plan that asks becomes it")
	put("three", false)
	want("one", "giving it up passes it to the oldest other")
	if _, err := set.Retire("one", now); err != nil {
		t.Fatal(err)
	}
	want("two", "retiring it passes it to the oldest other")
	put("one", false)
	want("two", "a revived plan does not take it back")
}

// anyDraft draws a draft out of few keys and prices, so that repetitions are common.
func anyDraft(t *rapid.T) Draft {
	d := Draft{Key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"), Name: "Plan",
		IsDefault: rapid.Bool().Draw(t, "isDefault")}
	taken := map[string]bool{}
	for range rapid.IntRange(1, 4).Draw(t, "prices") {
		p := PriceDraft{Currency: rapid.SampledFrom([]string{"eur", "usd"}).Draw(t, "currency"),
			AmountInCents: new(rapid.Int64Range(0, 2).Draw(t, "amount"))}
		interval := rapid.SampledFrom([]string{"", "month", "year"}).Draw(t, "interval")
		if interval != "" {
			p.Interval, p.IntervalCount = &interval, new(rapid.IntRange(1, 2).Draw(t, "count"))
		}
		if k := interval + p.Currency; !taken[k] {
			taken[k] = true
			d.Prices = append(d.Prices, p)
		}
	}
	return d
}

func TestAPriceIdNeverChangesItsMeaning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		newID := counter()
		meaning := map[string]Price{} // every price that ever was, by id
		owner := map[string]string{}
		var stored []State
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			set := Restore("crt_a", "lst_a", stored)
			if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				_, _ = set.Retire(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "retired"), now)
			} else {
				d := anyDraft(t)
				before := set.index(d.Key)
				var old []Price
				if before >= 0 {
					old = stored[before].Prices
				}
				p, err := set.Put(d, newID, now)
				if err != nil {
					t.Fatal(err)
				}
				for _, was := range old {
					for _, is := range p.Prices {
						if was.sameTerms(is) != (was.ID == is.ID) {
							t.Fatalf("%+v became %+v", was, is)
						}
					}
				}
			}
			stored = set.plans
			defaults := 0
			for _, p := range stored {
				if p.IsDefault {
					defaults++
				}
				for _, price := range p.Prices {
					if known, ok := meaning[price.ID]; ok && (known != price || owner[price.ID] != p.Key) {
						t.Fatalf("%s was %+v and is %+v", price.ID, known, price)
					}
					meaning[price.ID], owner[price.ID] = price, p.Key
				}
			}
			if live := set.Live(); defaults != min(len(live), 1) {
				t.Fatalf("%d defaults among %d live plans", defaults, len(live))
			}
		}
	})
}

func TestPuttingTheSameAgainChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		newID, d := counter(), anyDraft(t)
		set := Restore("crt_a", "lst_a", nil)
		first, err := set.Put(d, newID, now)
		if err != nil {
			t.Fatal(err)
		}
		again := Restore("crt_a", "lst_a", set.Changed())
		second, err := again.Put(d, newID, now.Add(time.Hour))
		if err != nil || len(again.Changed()) != 0 || second.Revision != first.Revision ||
			!second.UpdatedAt.Equal(first.UpdatedAt) {
			t.Fatalf("%+v became %+v, %v", first, second, err)
		}
	})
}
