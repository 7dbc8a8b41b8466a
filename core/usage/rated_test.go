package usage_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/usage"
)

func TestALineAsksForWhatEarlierInvoicesHaveNot(t *testing.T) {
	t.Parallel()
	p := usage.Period{Start: at(t, "2026-01-01T00:00:00Z"), End: at(t, "2026-02-01T00:00:00Z")}
	meter, price := usage.Meter{ID: "mtr_1", Name: "Calls", EventName: "calls", Aggregation: usage.Sum},
		usage.Price{ID: "pri_1", Tiers: tiers(t, "10@7 ∞@5")}
	for name, c := range map[string]struct {
		freeUntil     string
		billed        int64
		rated, amount int64
		charges       int
		free          bool
	}{
		"the first":                   {"2026-01-15T00:00:00Z", 0, 80, 80, 2, false},
		"late reports":                {"2026-01-15T00:00:00Z", 50, 80, 30, 2, false},
		"what was billed is too much": {"2026-01-15T00:00:00Z", 90, 80, -10, 2, false},
		"a trial":                     {"2026-02-01T00:00:00Z", 0, 0, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := usage.Use{
				Meter: meter, Price: price, Plan: usage.PlanState{FreeUntil: at(t, c.freeUntil)}, Period: p,
				Quantity: usage.Units(12), BilledMinor: c.billed,
			}.Rate()
			if r.Waits || r.RatedMinor != c.rated || r.BilledMinor != c.billed || r.AmountMinor != c.amount ||
				len(r.Charges) != c.charges || r.Charges == nil || r.Free != c.free {
				t.Errorf("%+v", r)
			}
			if r.MeterID != "mtr_1" || r.MeterName != "Calls" || r.EventName != "calls" || r.Aggregation != usage.Sum ||
				r.PriceID != "pri_1" ||
				!r.PeriodStart.Equal(p.Start) || !r.PeriodEnd.Equal(p.End) || r.Quantity != usage.Units(12) {
				t.Errorf("%+v", r)
			}
			if !r.Settled() {
				t.Error("a line leaves a part of its period")
			}
		})
	}
	dear := usage.Price{Tiers: tiers(t, "∞@99999999999")}
	r := usage.Use{Meter: meter, Price: dear, Period: p, Quantity: usage.Units(2), BilledMinor: 5}.Rate()
	if !r.Waits || r.AmountMinor != 0 || r.Settled() {
		t.Errorf("beyond every invoice: %+v", r)
	}
}

func TestCreditsWaitWhenTheInvoiceIsTooSmall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ amounts, want []int64 }{
		"no credit":              {[]int64{5, 7}, []int64{5, 7}},
		"a credit that fits":     {[]int64{10, -4}, []int64{10, -4}},
		"all of it":              {[]int64{10, -10}, []int64{10, -10}},
		"more than there is":     {[]int64{10, -12}, []int64{10, -10}},
		"two that fit in part":   {[]int64{10, -6, -6}, []int64{10, -6, -4}},
		"one before what it has": {[]int64{-3, 2}, []int64{-2, 2}},
		"nothing to take it off": {[]int64{0, -1}, []int64{0, 0}},
		"no lines":               {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := make([]usage.Rated, len(c.amounts))
			for i, amount := range c.amounts {
				lines[i] = usage.Rated{RatedMinor: amount, AmountMinor: amount}
			}
			usage.Fit(lines)
			var sum int64
			for i, l := range lines {
				sum += l.AmountMinor
				if l.AmountMinor != c.want[i] || l.Settled() != (c.want[i] == c.amounts[i]) {
					t.Errorf("line %d is %d, settled %v; want %d", i, l.AmountMinor, l.Settled(), c.want[i])
				}
			}
			if total := (usage.Preview{Lines: lines}).TotalMinor(); total != sum || total < 0 {
				t.Errorf("the total is %d", total)
			}
		})
	}
}

func TestCreditLeftIsWhatNoLineHasTakenOff(t *testing.T) {
	t.Parallel()
	lines := []usage.Rated{
		{RatedMinor: 4, AmountMinor: 4}, {BilledMinor: 10, RatedMinor: 3, AmountMinor: -7},
		{BilledMinor: 8, RatedMinor: 0, AmountMinor: -8}, {BilledMinor: 5, Waits: true}, {BilledMinor: 5, Free: true},
	}
	usage.Fit(lines)
	if credit, asked := usage.CreditLeft(lines), usage.SumOf(lines); credit != 11 || asked != 0 {
		t.Errorf("a credit of %d, and %d asked for; want 11 and 0", credit, asked)
	}
}

// The sum of capped lines is never negative, and only credits become smaller.
func TestCappedLinesNeverFallBelowZero(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Int64Range(-50, 50), 0, 6).Draw(t, "amounts")
		lines := make([]usage.Rated, len(amounts))
		var charges, credits int64
		for i, amount := range amounts {
			lines[i].AmountMinor = amount
			charges, credits = charges+max(amount, 0), credits+max(-amount, 0)
		}
		before := slices.Clone(lines)
		usage.Fit(lines)
		for i := range lines {
			if now, was := lines[i].AmountMinor, before[i].AmountMinor; was >= 0 && now != was || was < 0 &&
				(now < was || now > 0) {
				t.Fatalf("%d became %d", was, now)
			}
		}
		if total := (usage.Preview{Lines: lines}).TotalMinor(); total != max(charges-credits, 0) {
			t.Fatalf("the sum of %v is %d", amounts, total)
		}
	})
}

func TestFit_LeavesOutWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	const most = usage.MaxAmount
	for name, c := range map[string]struct {
		amounts, want []int64
		all           bool
	}{
		"all of the limit":          {[]int64{most - 1, 1}, []int64{most - 1, 1}, true},
		"one more":                  {[]int64{most, 1, 0}, []int64{most, 0, 0}, false},
		"a smaller line still fits": {[]int64{most - 5, 6, 5}, []int64{most - 5, 0, 5}, false},
		"the most behind the least": {[]int64{1, most}, []int64{1, 0}, false},
		"one line beyond the limit": {[]int64{most + 1}, []int64{0}, false},
		"credits wait, too":         {[]int64{2, -5}, []int64{2, -2}, true},
	} {
		lines := make([]usage.Rated, len(c.amounts))
		for i, amount := range c.amounts {
			lines[i] = usage.Rated{RatedMinor: amount, AmountMinor: amount}
		}
		if all := usage.Fit(lines); all != c.all {
			t.Errorf("%s: all fit is %t, want %t", name, all, c.all)
		}
		for i, l := range lines {
			if l.AmountMinor != c.want[i] || l.Waits != (c.want[i] == 0 && c.amounts[i] > 0) {
				t.Errorf("%s: line %d is %d, waits %t; want %d", name, i, l.AmountMinor, l.Waits, c.want[i])
			}
		}
	}
}

// Lines that ask for too little wait period by period; a period that asks for nothing has no need to.
func TestCarryOver_LeavesOutWhatIsTooLittle(t *testing.T) {
	t.Parallel()
	may, june := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	charges := []usage.Charge{{}}
	lines := []usage.Rated{
		{PeriodStart: may, AmountMinor: 3, RatedMinor: 3, Charges: charges},
		{PeriodStart: june, Charges: charges},
		{PeriodStart: june, Rest: true, AmountMinor: 4, RatedMinor: 4, Charges: charges},
		{PeriodStart: june, Values: map[string]string{"model": "small"}, Charges: charges},
		{PeriodStart: may, Rest: true, Charges: charges},
	}
	usage.CarryOver(lines)
	for i, waits := range []bool{true, false, true, true, false} {
		if l := lines[i]; l.Waits != waits || l.TooSmall != waits || l.AmountMinor != 0 || l.Settled() == waits {
			t.Errorf("line %d: %+v; want that it waits: %t", i, l, waits)
		}
	}
	if asked := usage.SumOf(lines); asked != 0 {
		t.Errorf("%d are asked for", asked)
	}
	apart := []usage.Rated{
		{PeriodStart: may, Rest: true}, {PeriodStart: june, Rest: true, AmountMinor: 4}, {PeriodStart: june, AmountMinor: 2},
		{PeriodStart: may, Rest: true},
	}
	usage.CarryOver(apart)
	for i, waits := range []bool{false, true, true, false} {
		if apart[i].Waits != waits {
			t.Errorf("line %d of periods side by side waits: %t", i, !waits)
		}
	}
	beside := []usage.Rated{{PeriodStart: may, Rest: true}, {PeriodStart: may, AmountMinor: 2}}
	if usage.CarryOver(beside); beside[0].Waits || !beside[1].Waits {
		t.Errorf("what has no rate waits with the rates: %+v", beside)
	}
}

func TestAPreviewIsTheLinesLessWhatIsPrepaid(t *testing.T) {
	t.Parallel()
	p := usage.Preview{Lines: []usage.Rated{{AmountMinor: 9}, {AmountMinor: -2}}, CreditMinor: 3}
	if got := p.TotalMinor(); got != 4 {
		t.Errorf("a total of %d, want 4", got)
	}
}

func TestAQuantityIsWrittenAsItIsCounted(t *testing.T) {
	t.Parallel()
	if got := (usage.Charge{Quantity: usage.Units(3)}).Counted(); got != "3" {
		t.Error(got)
	}
}

func TestTiers_Large(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"9999": false, "10000": true, "-10000": false,
		"99999999999999999999999999": true} {
		q, err := usage.ParseQuantity(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := tiers(t, "100@0 ∞@10").Large(q); got != want {
			t.Errorf("%s units of 10: got %t, want %t", text, got, want)
		}
	}
	if (usage.Tiers{}).Large(usage.Units(1)) {
		t.Error("without a price nothing is large")
	}
	for _, text := range []string{"∞@10", "100@10 ∞@0"} {
		if !tiers(t, text).Large(usage.Units(10_000)) {
			t.Errorf("the dearest tier of %s is not found", text)
		}
	}
	if most, err := usage.RestoreQuantity(largestQuantity); err != nil || !tiers(t, "∞@99999999999").Large(most) {
		t.Errorf("%v, or what cannot be multiplied is not large", err)
	}
}

func TestATrialIsSettledWhateverWasUsed(t *testing.T) {
	t.Parallel()
	if !(usage.Rated{Free: true, RatedMinor: 5}).Settled() || (usage.Rated{RatedMinor: 5}).Settled() ||
		!(usage.Rated{RatedMinor: 5, BilledMinor: 2, AmountMinor: 3}).Settled() {
		t.Error("a line is settled when it is free or everything is billed")
	}
}

func TestEventsHaveTheirNames(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]interface{ EventName() string }{
		"usage.threshold_reached": usage.ThresholdReached{}, "usage.period_closed": usage.PeriodClosed{},
		"usage.counted": usage.Counted{}, "usage.limit_reached": usage.LimitReached{},
		"usage_credit.granted": usage.CreditGranted{}, "usage_credit.low": usage.CreditLow{},
		"usage_credit.ended": usage.CreditEnded{},
	} {
		if e.EventName() != want {
			t.Errorf("%s, want %s", e.EventName(), want)
		}
	}
}
