package subscription_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// change applies a change of plan as if what is due had been paid.
func change(t *testing.T, sub *subscription.Subscription, to plan.Offer,
	now time.Time) (subscription.Bill, subscription.State) {
	t.Helper()
	bill, err := sub.ChangeBill(to, subscription.ChargeNow, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sub.Apply(bill); err != nil {
		t.Fatal(err)
	}
	return bill, sub.State()
}

func TestAChangeOfPlanIsProratedToTheDayAndTheCent(t *testing.T) {
	t.Parallel()
	quarter := offer("quarter", 9000, period.Month, 3, 0)
	for name, c := range map[string]struct {
		from, to     plan.Offer
		after        time.Duration
		due, credit  int64
		moves        bool
		unused, rest int64
	}{
		// 31 January to 28 February is 28 days.
		"on the first day the whole difference":     {basic, pro, 0, 2100, 0, false, -1000, 3100},
		"the day that has begun counts as left":     {basic, pro, day - 1, 2100, 0, false, -1000, 3100},
		"a day later one day less":                  {basic, pro, day, 2025, 0, false, -964, 2989},
		"half way half of it":                       {basic, pro, 14 * day, 1050, 0, false, -500, 1550},
		"on the last day one day of it":             {basic, pro, 28*day - 1, 75, 0, false, -36, 111},
		"the other way the difference is credited":  {pro, basic, 14 * day, 0, 1050, false, -1550, 500},
		"another interval begins at once, in full":  {basic, yearly, 14 * day, 29500, 0, true, -500, 30000},
		"another count of intervals does too":       {basic, quarter, 14 * day, 8500, 0, true, -500, 9000},
		"a shorter interval leaves the rest behind": {yearly, basic, 365 * day / 5, 0, 23000, true, -24000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := begin(t, c.from)
			before, now := sub.State(), started.Add(c.after)
			bill, s := change(t, sub, c.to, now)
			if bill.Due() != eur(c.due) || s.Credit != eur(c.credit) || s.Offer.PriceID != c.to.PriceID ||
				s.PeriodValue != c.to.Price {
				t.Errorf("due %d, credit %d, want %d and %d", bill.Due().Minor, s.Credit.Minor, c.due, c.credit)
			}
			if bill.Lines[0].Amount != eur(c.unused) || bill.Lines[1].Amount != eur(c.rest) {
				t.Errorf("lines %+v", bill.Lines)
			}
			if c.moves && !s.Anchor.Equal(now) || !c.moves && (s.CurrentPeriodEnd != before.CurrentPeriodEnd ||
				s.Anchor != before.Anchor) {
				t.Errorf("anchor %s, period to %s", s.Anchor, s.CurrentPeriodEnd)
			}
		})
	}
}

func TestThousandthsAreProratedToWhatCanBeCharged(t *testing.T) {
	t.Parallel()
	in := func(o plan.Offer, minor int64) plan.Offer {
		o.Price = money.Amount{Minor: minor, Currency: "kwd"}
		return o
	}
	bill, _ := change(t, begin(t, in(basic, 10_000)), in(pro, 31_010), started.Add(day)) // 27 of 28 days are left
	if bill.Lines[0].Amount.Minor != -9640 || bill.Lines[1].Amount.Minor != 29_900 || bill.Due().Minor != 20_260 {
		t.Errorf("due %v, %+v", bill.Due(), bill.Lines)
	}
}

func TestCreditIsUsedUpByTheNextCharges(t *testing.T) {
	t.Parallel()
	sub := begin(t, pro)
	_, s := change(t, sub, basic, started) // 21.00 to the customer's credit
	for _, want := range []struct{ due, credit int64 }{{0, 1100}, {0, 100}, {900, 0}, {1000, 0}} {
		bill, err := sub.NextBill(s.CurrentPeriodEnd)
		if err != nil {
			t.Fatal(err)
		}
		s = renew(t, sub, s.CurrentPeriodEnd)
		if bill.Due() != eur(want.due) || s.Credit != eur(want.credit) || bill.Subtotal != eur(1000) {
			t.Fatalf("due %+v, credit %+v, want %+v", bill.Due(), s.Credit, want)
		}
	}
}

func TestCreditLeavesWhatCanBeCharged(t *testing.T) {
	t.Parallel()
	sub := begin(t, offer("pro", 2980, period.Month, 1, 0))
	_, s := change(t, sub, basic, started) // 19.80 to the customer's credit
	for _, want := range []struct{ due, credit int64 }{{0, 980}, {50, 30}, {970, 0}} {
		bill, err := sub.NextBill(s.CurrentPeriodEnd)
		if err != nil {
			t.Fatal(err)
		}
		s = renew(t, sub, s.CurrentPeriodEnd)
		if bill.Due() != eur(want.due) || s.Credit != eur(want.credit) {
			t.Fatalf("due %+v, credit %+v, want %+v", bill.Due(), s.Credit, want)
		}
	}
}

func TestCreditPaysForAnUpgrade(t *testing.T) {
	t.Parallel()
	sub := begin(t, pro)
	change(t, sub, basic, started)
	bill, s := change(t, sub, yearly, started)
	if bill.Due() != eur(30000-1000-2100) || s.Credit != eur(0) || bill.CreditUsed != eur(2100) {
		t.Errorf("due %+v, credit %+v", bill.Due(), s.Credit)
	}
}

func TestBackAndForthOnOneDayCostsNothing(t *testing.T) {
	t.Parallel()
	for d := range 28 {
		sub, now := begin(t, basic), started.Add(time.Duration(d)*day)
		up, _ := change(t, sub, pro, now)
		_, s := change(t, sub, basic, now)
		if up.Due() != s.Credit {
			t.Errorf("day %d: paid %d, got %d back", d, up.Due().Minor, s.Credit.Minor)
		}
	}
}

func TestATrialChangesItsPlanForNothing(t *testing.T) {
	t.Parallel()
	sub := begin(t, trial)
	before := sub.State()
	tried := yearly
	tried.TrialDays = 30
	bill, s := change(t, sub, tried, started.Add(day))
	if bill.Due() != eur(0) || s.Status != subscription.StatusTrialing || !s.CurrentPeriodEnd.Equal(before.TrialEndsAt) ||
		s.Credit != eur(0) {
		t.Fatalf("%+v", s)
	}
	if s = renew(t, sub, s.TrialEndsAt); s.CurrentPeriodEnd.Year() != before.TrialEndsAt.Year()+1 ||
		s.PeriodValue != eur(30000) {
		t.Errorf("%+v", s)
	}
}

func TestAPlanWithoutATrialEndsTheTrial(t *testing.T) {
	t.Parallel()
	sub, now := begin(t, trial), started.Add(3*day)
	bill, err := sub.ChangeBill(pro, subscription.ChargeNow, now)
	if err != nil || bill.Due() != eur(3100) {
		t.Fatalf("due %+v, %v", bill.Due(), err)
	}
	if err := sub.StartCharge("pay_1", bill); err != nil {
		t.Fatal(err)
	}
	if e, err := sub.Declined("pay_1", payment.DeclineReason{Code: "card_declined"}, now); e != nil || err != nil ||
		sub.State().Status != subscription.StatusTrialing {
		t.Fatalf("a decline ends the trial: %+v, %v", e, err)
	}
	if err := sub.StartCharge("pay_2", bill); err != nil {
		t.Fatal(err)
	}
	e, err := sub.Paid("pay_2")
	if _, ok := e.(subscription.Renewed); !ok || err != nil {
		t.Fatalf("%+v, %v", e, err)
	}
	s := sub.State()
	if s.Status != subscription.StatusActive || !s.CurrentPeriodStart.Equal(now) || !s.TrialEndsAt.Equal(now) ||
		!s.Anchor.Equal(now) || s.PeriodValue != eur(3100) || s.Offer.PriceID != pro.PriceID {
		t.Errorf("%+v", s)
	}
}

func TestTheBreakdownOfABillSumsToWhatIsDue(t *testing.T) {
	t.Parallel()
	o := order(trial)
	o.Discount = &subscription.Discount{PercentOff: 50}
	sub := subscription.New(o, started)
	if _, err := sub.Activate(started); err != nil {
		t.Fatal(err)
	}
	state := sub.State()
	state.Credit = eur(300)
	bill, err := subscription.Restore(state).ChangeBill(pro, subscription.ChargeNow, started.Add(day))
	want := []payment.Line{
		{Description: "App – pro", Amount: eur(3100)}, {Description: "Discount", Amount: eur(-1550)},
		{Description: "Credit from an earlier payment", Amount: eur(-300)},
	}
	if got := bill.Breakdown(locale.Default); err != nil || bill.Due() != eur(1250) || !slices.Equal(got, want) {
		t.Errorf("%+v of %v, %v", got, bill.Due(), err)
	}
	if off := bill.Breakdown(locale.ParseTag("de"))[1]; off.Description != "Rabatt" {
		t.Errorf("a German reads %q of a discount", off.Description)
	}
}

func TestTheMonthsOfADiscountCountFromTheEndOfATrial(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends, want string
	}{
		"three months":              {"2026-05-14T10:00:00Z", "2026-05-10T10:00:00Z"},
		"a day that was taken over": {"2026-05-20T00:00:00Z", "2026-05-20T00:00:00Z"},
	} {
		o := order(trial)
		o.Discount = &subscription.Discount{PercentOff: 50, EndsAt: at(c.ends)}
		sub := subscription.New(o, started)
		if _, err := sub.Activate(started); err != nil {
			t.Fatal(err)
		}
		bill, err := sub.ChangeBill(pro, subscription.ChargeNow, at("2026-02-10T10:00:00Z"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sub.Apply(bill); err != nil {
			t.Fatal(err)
		}
		if s := sub.State(); !s.Discount.EndsAt.Equal(at(c.want)) {
			t.Errorf("%s: the discount ends at %v, want %s", name, s.Discount.EndsAt, c.want)
		}
	}
}

func TestAPlannedChangeTakesEffectWithTheNextPeriod(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	e, err := sub.PlanFor(yearly)
	if err != nil || e.Offer.PriceID != basic.PriceID || string(e.Previous["plannedChange"]) != "null" ||
		len(e.Previous) != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	end := sub.State().CurrentPeriodEnd
	s := renew(t, sub, end)
	if s.Offer.PriceID != yearly.PriceID || s.Planned != nil || !s.Anchor.Equal(end) ||
		!s.CurrentPeriodEnd.Equal(end.AddDate(1, 0, 0)) {
		t.Fatalf("%+v", s)
	}
	if _, err := sub.PlanFor(basic); err != nil {
		t.Fatal(err)
	}
	if e, err = sub.PlanFor(yearly); err != nil || e.Planned != nil {
		t.Errorf("back to the present plan: %+v, %v", e.Planned, err)
	}
}

// Staying on the present plan takes a planned change back and costs nothing, also where the period was paid with a
// discount that is used up.
func TestTakingAPlannedChangeBackIsFree(t *testing.T) {
	t.Parallel()
	o := order(pro)
	o.Discount = &subscription.Discount{ID: "dsc_1", Code: "HALF", PercentOff: 50, Once: true}
	sub := subscription.New(o, started)
	if _, err := sub.Activate(started); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.PlanFor(basic); err != nil {
		t.Fatal(err)
	}
	before := sub.State()
	bill, err := sub.ChangeBill(pro, subscription.ChargeNow, started.Add(day))
	if err != nil || bill.Due() != eur(0) || bill.PeriodValue != before.PeriodValue {
		t.Fatalf("%+v, %v; want nothing due", bill, err)
	}
	if _, err := sub.Apply(bill); err != nil {
		t.Fatal(err)
	}
	if s := sub.State(); s.Planned != nil || s.PeriodValue != before.PeriodValue || s.Credit != before.Credit {
		t.Errorf("%+v", s)
	}
}

func TestResumingKeepsThePlannedChange(t *testing.T) {
	t.Parallel()
	sub := begin(t, pro)
	if _, err := sub.PlanFor(basic); err != nil {
		t.Fatal(err)
	}
	now := sub.State().CurrentPeriodStart
	if _, err := sub.CancelAtPeriodEnd(subscription.CancelRequested, now); err != nil {
		t.Fatal(err)
	}
	if v := subscription.NewView(sub.State(), false); v.PlannedChange != nil {
		t.Errorf("the view of a subscription that ends has the planned change %+v", v.PlannedChange)
	}
	e, err := sub.Resume(now)
	if err != nil || string(e.Previous["plannedChange"]) != "null" {
		t.Fatalf("resumed from %s, %v", e.Previous, err)
	}
	if v := subscription.NewView(sub.State(), false); v.PlannedChange == nil || v.PlannedChange.Plan != basic.PlanKey {
		t.Errorf("resumed with the planned change %+v, want %s", v.PlannedChange, basic.PlanKey)
	}
	if s := renew(t, sub, sub.State().CurrentPeriodEnd); s.Offer.PriceID != basic.PriceID {
		t.Errorf("renewed as %s, want %s", s.Offer.Name(), basic.Name())
	}
}

func TestChangeNeedsAnotherPlanOfListingAndCurrency(t *testing.T) {
	t.Parallel()
	foreign, dollars, once := pro, pro, pro
	foreign.ListingID, dollars.Price.Currency, once.Interval = "lst_2", "usd", ""
	for name, to := range map[string]plan.Offer{"another listing": foreign, "another currency": dollars, "one-time": once,
		"the same": basic} {
		sub := begin(t, basic)
		if _, err := sub.ChangeBill(to, subscription.ChargeNow, started); err == nil {
			t.Errorf("%s is a change", name)
		}
		if _, err := sub.PlanFor(to); err == nil || sub.State().Planned != nil {
			t.Errorf("%s can be planned", name)
		}
	}
}

func TestDiscountsLastAsLongAsAgreed(t *testing.T) {
	t.Parallel()
	months := func(n int) time.Time { return started.AddDate(0, n, 0) }
	for name, c := range map[string]struct {
		offer    plan.Offer
		discount subscription.Discount
		first    int64 // the value of the first period
		due      []int64
	}{
		"once, with the first payment": {basic, subscription.Discount{PercentOff: 50, Once: true}, 500,
			[]int64{1000, 1000}},
		"once, after a trial": {trial, subscription.Discount{PercentOff: 50, Once: true}, 0,
			[]int64{500, 1000}},
		"for two months": {basic, subscription.Discount{PercentOff: 15, EndsAt: months(2).Add(-day)}, 850,
			[]int64{850, 1000}},
		"forever":                        {basic, subscription.Discount{AmountOff: eur(300)}, 700, []int64{700, 700, 700}},
		"never more than the price":      {basic, subscription.Discount{AmountOff: eur(5000)}, 0, []int64{0, 0}},
		"another currency takes nothing": {basic, subscription.Discount{AmountOff: usd(300)}, 1000, []int64{1000}},
		"a half cent is rounded half up": {offer("odd", 1001, period.Month, 1, 0), subscription.Discount{PercentOff: 50},
			500, []int64{500}},
		"it is over when the period begins": {basic, subscription.Discount{PercentOff: 50, EndsAt: months(0).Add(28 * day)},
			500, []int64{1000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := order(c.offer)
			o.Discount = &c.discount
			sub := subscription.New(o, started)
			if _, err := sub.Activate(started); err != nil {
				t.Fatal(err)
			}
			if got := sub.State().PeriodValue; got != eur(c.first) {
				t.Errorf("the first period is worth %d, want %d", got.Minor, c.first)
			}
			for n, want := range c.due {
				end := sub.State().CurrentPeriodEnd
				bill, err := sub.NextBill(end)
				if err != nil || bill.Due() != eur(want) {
					t.Fatalf("renewal %d costs %d, want %d (%v)", n+1, bill.Due().Minor, want, err)
				}
				renew(t, sub, end)
			}
		})
	}
}

func TestADiscountThatIsOverIsShownNoMore(t *testing.T) {
	t.Parallel()
	o := order(basic)
	o.Discount = &subscription.Discount{PercentOff: 50, EndsAt: started.Add(30 * day)}
	sub := subscription.New(o, started)
	if _, err := sub.Activate(started); err != nil || sub.State().Discount == nil {
		t.Fatal("gone at once", err)
	}
	renew(t, sub, sub.State().CurrentPeriodEnd)
	if s := renew(t, sub, sub.State().CurrentPeriodEnd); s.Discount != nil {
		t.Errorf("%+v", s.Discount)
	}
}

func TestAPauseKeepsThePeriodAndALongOneCostsAnother(t *testing.T) {
	t.Parallel()
	short, long := begin(t, basic), begin(t, basic)
	before := short.State()
	for _, sub := range []*subscription.Subscription{short, long} {
		if e, err := sub.Pause(started.Add(day)); err != nil || !e.PausedAt.Equal(started.Add(day)) ||
			e.GivesAccess(started.Add(day)) {
			t.Fatalf("%+v, %v", e, err)
		}
	}
	e, err := short.Resume(started.Add(20 * day))
	if err != nil || e.CurrentPeriodEnd != before.CurrentPeriodEnd || e.Anchor != before.Anchor || !e.PausedAt.IsZero() {
		t.Errorf("%+v, %v", e, err)
	}
	late := started.Add(45 * day)
	bill, err := long.ResumeBill(late)
	if err != nil || bill.Due() != eur(1000) || !bill.PeriodStart.Equal(late) || !bill.Anchor.Equal(late) {
		t.Fatalf("%+v, %v", bill, err)
	}
	if err := long.StartCharge("pay_1", bill); err != nil {
		t.Fatal(err)
	}
	refused := long.State()
	if _, err := long.Resume(late); err == nil || !strings.Contains(err.Error(), "under way") {
		t.Fatalf("a second resumption gets %v", err)
	}
	if _, err := long.ResumeBill(late); err == nil || !strings.Contains(err.Error(), "under way") {
		t.Fatalf("a second resumption costs: %v", err)
	}
	if e, err := long.Declined("pay_1", payment.DeclineReason{Code: "card_declined"}, late); e != nil || err != nil ||
		long.State().Status != subscription.StatusPaused {
		t.Fatalf("a resumption that fails leaves it paused: %v, %v, %+v", e, err, refused)
	}
	if err := long.StartCharge("pay_2", bill); err != nil {
		t.Fatal(err)
	}
	if e, err := long.Paid("pay_2"); err != nil || e.EventName() != "subscription.renewed" ||
		!long.State().PausedAt.IsZero() {
		t.Fatalf("%v, %v", e, err)
	}
}

func TestAPausedTrialGoesOnAsATrial(t *testing.T) {
	t.Parallel()
	sub := begin(t, trial)
	if _, err := sub.Pause(started.Add(day)); err != nil {
		t.Fatal(err)
	}
	if e, err := sub.Resume(started.Add(2 * day)); err != nil || e.Status != subscription.StatusTrialing {
		t.Fatalf("%+v, %v", e, err)
	}
}

func TestAFailedChangeOfPlanChangesNothing(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	before := subscription.NewView(sub.State(), true)
	bill, err := sub.ChangeBill(pro, subscription.ChargeNow, started)
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.StartCharge("pay_1", bill); err != nil {
		t.Fatal(err)
	}
	if err := sub.StartCharge("pay_2", bill); err == nil || !sub.State().IsAwaiting("pay_1") ||
		sub.State().IsAwaiting("pay_2") {
		t.Fatal("two charges at once")
	}
	if e, err := sub.Declined("pay_1", payment.DeclineReason{Code: "card_declined"}, started); e != nil || err != nil {
		t.Fatalf("%v, %v", e, err)
	}
	if after := subscription.NewView(sub.State(), true); !reflect.DeepEqual(after, before) {
		t.Errorf("%+v", after)
	}
}

func TestMoneyForACanceledSubscriptionIsNotAwaited(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	end := sub.State().CurrentPeriodEnd
	charge(t, sub, "pay_1", end)
	if _, err := sub.Cancel(subscription.CancelRequested, end); err != nil {
		t.Fatal(err)
	}
	if sub.State().IsAwaiting("pay_1") {
		t.Error("still awaited")
	}
	if err := sub.StartCharge("pay_2", subscription.Bill{}); err == nil {
		t.Error("an ended subscription is charged")
	}
}
