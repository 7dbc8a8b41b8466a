package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/money"
	"sundry/core/period"
)

func TestEachLimitIsTheLastThatIsAllowed(t *testing.T) {
	t.Parallel()
	entitled := func(kind string, value any) func(*Draft) {
		return func(d *Draft) { d.Entitlements = []EntitlementDraft{{Key: "k", Type: kind, Value: value}} }
	}
	credited := func(unit string, amount int64) func(*Draft) {
		return func(d *Draft) { d.Credits = []Credit{{Key: "k", Unit: unit, Amount: amount}} }
	}
	metered := func(included int64) func(*Draft) {
		return func(d *Draft) { d.Meters = []Meter{{EventName: "k", Included: included}} }
	}
	priced := func(amount int64) func(*Draft) {
		return func(d *Draft) { d.Prices[0].AmountInCents = &amount }
	}
	every := func(interval string, count int) func(*Draft) {
		return func(d *Draft) { d.Prices[0].Interval, d.Prices[0].IntervalCount = &interval, &count }
	}
	trial := func(days int) func(*Draft) { return func(d *Draft) { d.TrialDays = days } }
	terms := func(n int) func(*Draft) {
		return func(d *Draft) {
			for i := range n {
				d.Credits = append(d.Credits, Credit{Key: fmt.Sprint("k", i), Unit: "image", Amount: 1})
			}
		}
	}
	prices := func(n int) func(*Draft) {
		return func(d *Draft) {
			d.Prices = nil
			for i := range n {
				p := monthly(100)
				p.Interval, p.Currency = new([]string{"day", "week", "month", "year"}[i%4]), []string{
					"eur", "usd", "gbp", "chf", "sek", "nok", "dkk", "pln", "czk", "cad", "aud", "nzd", "mxn"}[i/4]
				d.Prices = append(d.Prices, p)
			}
		}
	}
	const most = 1_000_000_000_000_000
	for name, c := range map[string]struct {
		change func(*Draft)
		want   string // "" for a sound draft
	}{
		"a limit of 0":      {entitled("limit", json.Number("0")), ""},
		"the highest limit": {entitled("limit", json.Number("1000000000000000")), ""},
		"a limit above the highest": {entitled("limit", json.Number("1000000000000001")),
			"entitlements[0].value OUT_OF_RANGE"},
		"a limit below 0":            {entitled("limit", json.Number("-1")), "entitlements[0].value OUT_OF_RANGE"},
		"a limit that is no integer": {entitled("limit", json.Number("1.5")), "entitlements[0].value WRONG_TYPE"},
		"a limit beyond every integer": {entitled("limit", json.Number("99999999999999999999")),
			"entitlements[0].value WRONG_TYPE"},
		"a limit that is no number": {entitled("limit", "5"), "entitlements[0].value WRONG_TYPE"},
		"a text of 500 characters":  {entitled("text", strings.Repeat("a", 500)), ""},
		"a text of 501 characters":  {entitled("text", strings.Repeat("a", 501)), "entitlements[0].value TOO_LONG"},
		"a limit of each seat": {func(d *Draft) {
			d.Entitlements = []EntitlementDraft{{Key: "k", Type: "limit", Value: json.Number("5"), PerSeat: true}}
		}, ""},
		"a text of each seat": {func(d *Draft) {
			d.Entitlements = []EntitlementDraft{{Key: "k", Type: "text", Value: "a", PerSeat: true}}
		}, "entitlements[0].perSeat NOT_ALLOWED"},
		"a unit of 50 characters":           {credited(strings.Repeat("a", 50), 1), ""},
		"a unit of 51 characters":           {credited(strings.Repeat("a", 51), 1), "credits[0].unit TOO_LONG"},
		"the most credits":                  {credited("image", most), ""},
		"more credits than that":            {credited("image", most+1), "credits[0].amount OUT_OF_RANGE"},
		"no use included":                   {metered(0), ""},
		"the most use included":             {metered(most), ""},
		"more use included than that":       {metered(most + 1), "meters[0].included OUT_OF_RANGE"},
		"less than no use included":         {metered(-1), "meters[0].included OUT_OF_RANGE"},
		"the highest price":                 {priced(99_999_999_999), ""},
		"a higher price":                    {priced(100_000_000_000), "prices[0].amountInCents OUT_OF_RANGE"},
		"every three years by days":         {every("day", 1095), ""},
		"every three years by days and one": {every("day", 1096), "prices[0].intervalCount OUT_OF_RANGE"},
		"every 156 weeks":                   {every("week", 156), ""},
		"every 157 weeks":                   {every("week", 157), "prices[0].intervalCount OUT_OF_RANGE"},
		"every 36 months":                   {every("month", 36), ""},
		"every 37 months":                   {every("month", 37), "prices[0].intervalCount OUT_OF_RANGE"},
		"an unknown interval often":         {every("fortnight", 5000), "prices[0].interval NOT_ALLOWED"},
		"a trial of 730 days":               {trial(730), ""},
		"a trial of -1 days":                {trial(-1), "trialDays OUT_OF_RANGE"},
		"100 credits":                       {terms(100), ""},
		"101 credits":                       {terms(101), "credits TOO_LONG"},
		"50 prices":                         {prices(50), ""},
		"51 prices":                         {prices(51), "prices TOO_LONG"},
		"a trial of 1 day without prices":   {func(d *Draft) { d.Prices, d.TrialDays = nil, 1 }, "prices REQUIRED"},
		"a trial of 1 day of a one-time plan": {
			func(d *Draft) {
				d.TrialDays, d.Prices[0].Interval, d.Prices[0].IntervalCount = 1, nil, nil
			}, "trialDays NOT_ALLOWED",
		},
		"two prices of unknown intervals are not one twice": {
			func(d *Draft) {
				p := monthly(1)
				p.Interval, p.IntervalCount = new("fortnight"), nil
				d.Prices = []PriceDraft{p, p}
			}, "prices[0].interval NOT_ALLOWED, prices[1].interval NOT_ALLOWED",
		},
		"two prices of unknown currencies are not one twice": {
			func(d *Draft) {
				p := monthly(1)
				p.Currency = "EURO"
				d.Prices = []PriceDraft{p, p}
			}, "prices[0].currency INVALID, prices[1].currency INVALID",
		},
	} {
		d := draft("pro", monthly(900))
		c.change(&d)
		if got := strings.Join(faulttest.Lines(t, d.Check()), ", "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestARefusedValueIsExplained(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"boolean": "Expected true or false.", "limit": "Expected an integer from 0 to 1000000000000000.",
		"text": "Expected a string.",
	} {
		d := draft("pro", monthly(900))
		d.Entitlements = []EntitlementDraft{{Key: "k", Type: kind}}
		var f *fault.Error
		if err := d.Check(); !errors.As(err, &f) || len(f.Details) != 1 || f.Details[0].Message != want {
			t.Errorf("%s: %v, want %q", kind, err, want)
		}
	}
}

func TestAnEntitlementSurvivesBeingStored(t *testing.T) {
	t.Parallel()
	for _, e := range []Entitlement{
		{Key: "a", Type: Boolean, Bool: true}, {Key: "b", Type: Boolean}, {Key: "c", Type: Limit, Limit: 12},
		{Key: "d", Type: Text, Text: "gold & silver"},
	} {
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got := Entitlement{Key: "x", Type: Text, Text: "what was before", Bool: true, Limit: 7}
		if err := json.Unmarshal(raw, &got); err != nil || got != e {
			t.Errorf("%s is read as %+v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{`{"key":"a","type":"color","value":true}`, `{"key":1}`,
		`{"key":1,"type":"boolean","value":true}`, `{"key":"a","type":"boolean","value":"x"}`,
		`{"key":"a","type":"limit","value":"x"}`, `{"key":"a","type":"text","value":1}`} {
		if err := new(Entitlement).UnmarshalJSON([]byte(raw)); err == nil {
			t.Errorf("%s is accepted", raw)
		}
	}
}

func TestAnOfferIsDueNowUnlessATrialComesFirst(t *testing.T) {
	t.Parallel()
	price := money.Amount{Minor: 900, Currency: "eur"}
	for name, c := range map[string]struct {
		offer Offer
		due   int64
	}{
		"sold once":                  {Offer{Price: price}, 900},
		"sold once, days of nothing": {Offer{Price: price, TrialDays: 7}, 900},
		"a plan without a trial":     {Offer{Price: price, Interval: period.Month}, 900},
		"a plan with a day of trial": {Offer{Price: price, Interval: period.Month, TrialDays: 1}, 0},
	} {
		if got := c.offer.DueNow(); got != (money.Amount{Minor: c.due, Currency: "eur"}) {
			t.Errorf("%s: %v", name, got)
		}
		if got := c.offer.Recurring(); got != (c.offer.Interval != "") {
			t.Errorf("%s: recurring %v", name, got)
		}
	}
	if (Offer{}).ForAppointments() || !(Offer{VariantID: "var_1"}).ForAppointments() {
		t.Error("only an offer with a variant is for appointments")
	}
}

func TestASetKeepsItsPlansApart(t *testing.T) {
	t.Parallel()
	ids, later := counter(), now.Add(time.Hour)
	set := Restore("crt_1", "lst_1", nil)
	for _, key := range []string{"c", "a", "b"} {
		p, err := set.Put(draft(key, monthly(900)), ids, now)
		if err != nil || p.ID == "" || p.CreatorID != "crt_1" || p.ListingID != "lst_1" || !p.CreatedAt.Equal(now) ||
			!p.UpdatedAt.Equal(now) || p.Revision != 1 {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	uncounted := monthly(700)
	uncounted.IntervalCount = nil
	if p, err := Restore("crt_1", "lst_1", nil).Put(draft("d", uncounted), ids, now); err != nil ||
		p.Prices[0].IntervalCount != 1 {
		t.Errorf("a price without a count: %+v, %v", p.Prices, err)
	}
	keys := func() (keys []string) {
		for _, p := range set.Live() {
			keys = append(keys, p.Key)
		}
		return keys
	}
	if got := keys(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("live are %v", got)
	}
	saved := Restore("crt_1", "lst_1", set.plans)
	if again, err := saved.Put(draft("a", monthly(900)), ids, later); err != nil || len(saved.Changed()) > 0 ||
		!again.UpdatedAt.Equal(now) {
		t.Errorf("the same draft changed %+v, %v", saved.Changed(), err)
	}
	twice := draft("a", monthly(1000))
	for range 2 { // one save raises the revision once, whatever is changed
		if p, err := saved.Put(twice, ids, later); err != nil || p.Revision != 2 || !p.UpdatedAt.Equal(later) ||
			!p.CreatedAt.Equal(now) {
			t.Errorf("%+v, %v", p, err)
		}
		twice.Name = "Another"
	}
	if changed := saved.Changed(); len(changed) != 1 || changed[0].Key != "a" {
		t.Errorf("changed %+v", changed)
	}
	if _, err := saved.Retire("nobody", later); !fault.Is(err, fault.NotFoundCode) {
		t.Errorf("an unknown plan is retired: %v", err)
	}
}

func TestAListingHasAtMostAHundredPlans(t *testing.T) {
	t.Parallel()
	ids, set := counter(), Restore("crt_1", "lst_1", nil)
	for i := range 100 {
		if _, err := set.Put(draft(fmt.Sprint("p", i), monthly(900)), ids, now); err != nil {
			t.Fatalf("plan %d: %v", i, err)
		}
	}
	if _, err := set.Put(draft("one-more", monthly(900)), ids, now); !fault.Is(err, fault.StateConflict) ||
		len(set.plans) != 100 {
		t.Errorf("plan 101: %v", err)
	}
	if _, err := set.Put(draft("p7", monthly(950)), ids, now); err != nil {
		t.Errorf("the change of one that is there: %v", err)
	}
}

// The rank of each plan decides: what was put as the default, the present default, the oldest of the others, the one
// put.
func TestTheDefaultGoesToTheOldestOther(t *testing.T) {
	t.Parallel()
	plan := func(n int, key string, is, retired bool) State {
		return State{ID: fmt.Sprintf("pln_%d", n), Key: key, IsDefault: is, Retired: retired}
	}
	for name, c := range map[string]struct {
		plans []State
		put   string
		want  int
	}{
		"the one just put is to be it": {[]State{plan(1, "a", true, false), plan(2, "b", true, false)},
			"b", 1},
		"the present one keeps it": {[]State{plan(1, "a", false, false), plan(2, "b", true, false)},
			"a", 1},
		"the present one keeps it, an older one before it": {[]State{plan(1, "a", false, false), plan(2, "b", true, false)},
			"", 1},
		"the present one keeps it, an older one after it": {[]State{plan(2, "b", true, false), plan(1, "a", false, false)},
			"", 0},
		"the oldest other gets it": {[]State{plan(3, "c", false, false), plan(2, "b", false, false),
			plan(4, "d", false, false)}, "a", 1},
		"not the one that gave it away":         {[]State{plan(1, "a", false, false), plan(2, "b", false, false)}, "a", 1},
		"the only one keeps it though it would": {[]State{plan(1, "a", false, false)}, "a", 0},
		"never a retired one":                   {[]State{plan(1, "a", true, true), plan(2, "b", false, false)}, "", 1},
		"of two that are to be it the older":    {[]State{plan(2, "b", true, false), plan(1, "a", true, false)}, "", 1},
	} {
		settleDefault(c.plans, c.put)
		for i, p := range c.plans {
			if p.IsDefault != (i == c.want) {
				t.Errorf("%s: %+v", name, c.plans)
				break
			}
		}
	}
}

func TestARefusedIntervalNamesThoseThatThereAre(t *testing.T) {
	t.Parallel()
	s := State{Prices: []Price{{Interval: period.Month}, {Interval: period.Month, IntervalCount: 3}, {Interval: period.Week},
		{Interval: period.Month, IntervalCount: 1}, {Interval: period.Year, IntervalCount: 2}}}
	_, err := s.Price("day", "eur")
	if !fault.Is(err, fault.NotFoundCode) || !strings.Contains(err.Error(), "Its intervals: month, 3 months, week, 2 years.") {
		t.Errorf("%v", err)
	}
	first := State{Prices: []Price{{ID: "1", Interval: period.Week, Amount: money.Amount{Currency: "usd"}},
		{ID: "2", Interval: period.Week, Amount: money.Amount{Currency: "gbp"}}}}
	if p, err := first.Price("", "eur"); err != nil || !reflect.DeepEqual(p, first.Prices[0]) {
		t.Errorf("%+v, %v", p, err)
	}
}
