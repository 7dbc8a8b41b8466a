package plan_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
)

// pro is sold by the month, the year and the quarter, and in another currency.
var pro = []plan.Price{
	{ID: "pri_month", Interval: period.Month, IntervalCount: 1, Amount: eur(1000)},
	{ID: "pri_year", Interval: period.Year, IntervalCount: 1, Amount: eur(10_000)},
	{ID: "pri_week", Interval: period.Week, IntervalCount: 2, Amount: eur(500)},
	{ID: "pri_usd", Interval: period.Year, IntervalCount: 1, Amount: money.Amount{Minor: 11_000, Currency: "usd"}},
}

func monthly() plan.Offer {
	return plan.Offer{PriceID: "pri_month", Interval: period.Month, IntervalCount: 1, Price: eur(1000), TrialDays: 14}
}

func TestABuyerChangesWhatTheyMay(t *testing.T) {
	t.Parallel()
	all, err := monthly().Adjustable(plan.Changes{Interval: true, Quantity: true}, pro)
	if err != nil || len(all.Intervals) != 3 {
		t.Fatalf("adjustable: %+v, %v", all, err)
	}
	three, err := all.Change("", new(3))
	if err != nil || three.Price != eur(3000) || three.PriceID != "pri_month" {
		t.Fatalf("three: %+v, %v", three, err)
	}
	yearly, err := three.Change("year", nil)
	if err != nil || yearly.Price != eur(30_000) || yearly.Unit() != eur(10_000) || yearly.Seats() != 3 ||
		yearly.PriceID != "pri_year" || yearly.Interval != period.Year || yearly.TrialDays != 14 {
		t.Errorf("by the year: %+v, %v", yearly, err)
	}
	fortnight, err := yearly.Change("week", new(1))
	if err != nil || fortnight.Price != eur(500) || fortnight.IntervalCount != 2 || fortnight.Seats() != 1 {
		t.Errorf("by two weeks: %+v, %v", fortnight, err)
	}
	if back, err := fortnight.Change("month", nil); err != nil || !reflect.DeepEqual(back, all) {
		t.Errorf("as before: %+v, %v", back, err)
	}
	if sold := all.Sold(); !reflect.DeepEqual(sold, monthly()) {
		t.Errorf("sold: %+v", sold)
	}
	stored, err := json.Marshal(yearly)
	var read plan.Offer
	if err != nil || json.Unmarshal(stored, &read) != nil || !reflect.DeepEqual(read, yearly) {
		t.Errorf("stored %s, read %+v", stored, read)
	}
}

func TestAChangeIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		may      plan.Changes
		every    period.Cadence
		quantity *int
		line     string
	}{
		"another interval, where only the quantity may change": {plan.Changes{Quantity: true}, "year", nil, "interval NOT_ALLOWED"},
		"the quantity, where only the interval may change":     {plan.Changes{Interval: true}, "", new(2), "quantity NOT_ALLOWED"},
		"an interval without a price":                          {plan.Changes{Interval: true}, "day", nil, "interval NOT_ALLOWED"},
		"no quantity":                                          {plan.Changes{Quantity: true}, "", new(0), "quantity OUT_OF_RANGE"},
		"anything, where nothing may change":                   {plan.Changes{}, "year", nil, "interval NOT_ALLOWED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			offer, err := monthly().Adjustable(c.may, pro)
			if err != nil {
				t.Fatal(err)
			}
			_, err = offer.Change(c.every, c.quantity)
			wantLines(t, err, c.line)
		})
	}
	once := plan.Offer{PriceID: "pri_once", Price: eur(1000)}
	_, err := once.Adjustable(plan.Changes{Quantity: true}, nil)
	wantLines(t, err, "buyerMayChange NOT_ALLOWED")
	if same, err := once.Adjustable(plan.Changes{}, nil); err != nil || !reflect.DeepEqual(same, once) {
		t.Errorf("nothing to change: %+v, %v", same, err)
	}
}

func TestChangesHaveNames(t *testing.T) {
	t.Parallel()
	var f fault.Violations
	for _, names := range [][]string{{}, {"interval"}, {"quantity"}, {"interval", "quantity"}} {
		if got := plan.ParseChanges(&f, "c", names).Names(); !reflect.DeepEqual(got, names) || f.Err() != nil {
			t.Errorf("%v are read as %v, %v", names, got, f.Err())
		}
	}
	plan.ParseChanges(&f, "c", []string{"price", "interval", "interval"})
	wantLines(t, f.Err(), "c[0] NOT_ALLOWED", "c[2] DUPLICATE")
}

func TestOnlyWhatRenewsIsAnIntervalToChooseFrom(t *testing.T) {
	t.Parallel()
	prices := []plan.Price{{ID: "once", Amount: eur(5000)}, {ID: "month", Interval: period.Month, Amount: eur(1000)}}
	offer, err := monthly().Adjustable(plan.Changes{Interval: true}, prices)
	if err != nil || len(offer.Intervals) != 1 || offer.Intervals[0].ID != "month" {
		t.Errorf("%+v, %v", offer.Intervals, err)
	}
}

func TestASavingIsThatOfAYear(t *testing.T) {
	t.Parallel()
	offer, err := monthly().Adjustable(plan.Changes{Interval: true}, pro)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{7, 23, 0} { // 120, 100 and 130 a year
		if got := offer.Saving(i); got != want {
			t.Errorf("%s saves %d %%, want %d", offer.Intervals[i].ID, got, want)
		}
	}
}

func TestAPlanOfNothingSavesNothing(t *testing.T) {
	t.Parallel()
	free := plan.Offer{Intervals: []plan.Price{
		{Interval: period.Month, Amount: eur(0)}, {Interval: period.Year, Amount: eur(0)},
	}}
	if free.Saving(0) != 0 || free.Saving(1) != 0 {
		t.Errorf("%d %% and %d %%", free.Saving(0), free.Saving(1))
	}
	longer := plan.Offer{Intervals: []plan.Price{
		{Interval: period.Month, IntervalCount: 3, Amount: eur(2700)}, {Interval: period.Month, Amount: eur(1000)},
		{Interval: period.Year, IntervalCount: 2, Amount: eur(10_800)}, {Interval: period.Year, Amount: eur(0)},
		{Interval: period.Month, IntervalCount: 2, Amount: eur(1990)},
	}}
	for i, want := range []int64{10, 0, 55, 100, 0} { // 108, 120, 54, 0 and 119.40 a year
		if got := longer.Saving(i); got != want {
			t.Errorf("the interval %d saves %d %%, want %d", i, got, want)
		}
	}
}

// wantLines checks what a refusal says of which fields.
func wantLines(t *testing.T, err error, lines ...string) {
	t.Helper()
	if got := faulttest.Lines(t, err); !reflect.DeepEqual(got, lines) {
		t.Errorf("refused with %q, want %q", got, lines)
	}
}
