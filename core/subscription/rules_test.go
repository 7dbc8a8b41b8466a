package subscription_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// with is a subscription in a state of the test's own.
func with(t *testing.T, o plan.Offer, change func(*subscription.State)) *subscription.Subscription {
	t.Helper()
	s := begin(t, o).State()
	change(&s)
	return subscription.Restore(s)
}

func TestEventsAreNamed(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]event.Event{
		"subscription.charge_paid": subscription.ChargePaid{}, "subscription.renewal_due": subscription.RenewalDue{},
		"subscription.money_moved": subscription.MoneyMoved{},
	} {
		if got := e.EventName(); got != want {
			t.Errorf("%T is named %s, want %s", e, got, want)
		}
	}
}

func TestANewSubscriptionHasTheFirstRevision(t *testing.T) {
	t.Parallel()
	if s := subscription.New(order(basic), started).State(); s.Revision != 1 {
		t.Errorf("revision %d", s.Revision)
	}
}

func TestATrialMayLastADay(t *testing.T) {
	t.Parallel()
	s := begin(t, offer("basic", 1000, period.Month, 1, 1)).State()
	if s.Status != subscription.StatusTrialing || !s.TrialEndsAt.Equal(started.Add(day)) ||
		!s.CurrentPeriodEnd.Equal(started.Add(day)) {
		t.Errorf("%+v", s)
	}
}

func TestAPlannedChangeOfTheSameIntervalKeepsTheAnchor(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	if _, err := sub.PlanFor(pro); err != nil {
		t.Fatal(err)
	}
	s := renew(t, sub, sub.State().CurrentPeriodEnd)
	if !s.Anchor.Equal(started) || !s.CurrentPeriodEnd.Equal(at("2026-03-31T10:00:00Z")) ||
		s.Offer.PriceID != pro.PriceID {
		t.Errorf("anchor %s, to %s", s.Anchor, s.CurrentPeriodEnd)
	}
}

func TestALateResumptionBuysAPeriodOfThePlannedPlan(t *testing.T) {
	t.Parallel()
	late := started.Add(45 * day)
	for name, c := range map[string]struct {
		planned *plan.Offer
		price   string
		end     time.Time
	}{
		"the same plan": {nil, basic.PriceID, late.AddDate(0, 1, 0)},
		"another plan":  {&yearly, yearly.PriceID, late.AddDate(1, 0, 0)},
	} {
		sub := with(t, basic, func(s *subscription.State) { s.Status, s.Planned = subscription.StatusPaused, c.planned })
		bill, err := sub.ResumeBill(late)
		if err != nil || bill.Offer.PriceID != c.price || !bill.PeriodEnd.Equal(c.end) {
			t.Errorf("%s: %+v, %v", name, bill, err)
		}
	}
}

// A paused subscription that was canceled costs nothing more once its paid time is over, also before it has ended.
func TestACanceledPauseIsNotCharged(t *testing.T) {
	t.Parallel()
	sub := with(t, basic, func(s *subscription.State) {
		s.Status, s.CancelAtPeriodEnd = subscription.StatusPaused, true
	})
	if bill, err := sub.ResumeBill(started.Add(45 * day)); !fault.Is(err, fault.StateConflict) {
		t.Errorf("%+v, %v; want STATE_CONFLICT", bill, err)
	}
}

func TestABillNamesWhatItCharges(t *testing.T) {
	t.Parallel()
	end := at("2026-02-28T10:00:00Z")
	unnamed := basic
	unnamed.PlanName = ""
	for want, o := range map[string]plan.Offer{"App – basic": basic, "App": unnamed} {
		bill, err := begin(t, o).NextBill(end)
		if err != nil || !reflect.DeepEqual(bill.Lines, []payment.Line{{Description: want, Amount: eur(1000)}}) {
			t.Errorf("%+v, %v", bill.Lines, err)
		}
	}
	for name, c := range map[string]struct {
		to   plan.Offer
		want []string
	}{
		"the same interval": {pro, []string{"Unused time on App – basic (14 of 28 days)", "App – pro (14 of 28 days)"}},
		"another interval":  {yearly, []string{"Unused time on App – basic (14 of 28 days)", "App – pro"}},
	} {
		bill, err := begin(t, basic).ChangeBill(c.to, subscription.ChargeNow, started.Add(14*day))
		var got []string
		for _, line := range bill.Lines {
			got = append(got, line.Description)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		const want = "Nicht genutzte Zeit: App – basic (14 von 28 Tagen)"
		if said := bill.Lines[0].Text(locale.ParseTag("de")); said != want {
			t.Errorf("%s: in German %q, want %q", name, said, want)
		}
	}
}

func TestAChangeForTheNextPeriodCostsNothingNow(t *testing.T) {
	t.Parallel()
	bill, err := begin(t, basic).ChangeBill(pro, subscription.NextPeriod, started.Add(day))
	if err != nil || bill.Due() != eur(0) || bill.Lines != nil {
		t.Errorf("%+v, %v", bill, err)
	}
}

func TestNothingIsLeftOfAPeriodThatIsOver(t *testing.T) {
	t.Parallel()
	bill, err := begin(t, basic).ChangeBill(pro, subscription.ChargeNow, started.Add(28*day))
	if err != nil || bill.Due() != eur(0) {
		t.Errorf("%+v, %v", bill, err)
	}
}

// Amounts beyond all commerce are refused and never counted wrongly.
func TestAmountsThatCannotBeCountedAreRefused(t *testing.T) {
	t.Parallel()
	most := basic
	most.Price = eur(math.MaxInt64)
	least := pro
	least.Price = eur(math.MinInt64)
	twice := &subscription.Discount{PercentOff: 200}
	end := started.Add(28 * day)
	for name, call := range map[string]func() error{
		"the first period": func() error {
			o := order(most)
			o.Discount = twice
			_, err := subscription.New(o, started).Activate(started)
			return err
		},
		"the next period": func() error {
			_, err := with(t, most, func(s *subscription.State) { s.Discount = twice }).NextBill(end)
			return err
		},
		"what is unused": func() error {
			_, err := with(t, basic, func(s *subscription.State) {
				s.PeriodValue = eur(math.MinInt64)
			}).ChangeBill(pro, subscription.ChargeNow, started)
			return err
		},
		"the new plan": func() error {
			to := pro
			to.Price = eur(math.MaxInt64)
			_, err := with(t, basic, func(s *subscription.State) {
				s.Discount = twice
			}).ChangeBill(to, subscription.ChargeNow, started)
			return err
		},
		"its share": func() error {
			_, err := begin(t, basic).ChangeBill(least, subscription.ChargeNow, started)
			return err
		},
		"the credit": func() error {
			_, err := with(t, pro, func(s *subscription.State) {
				s.Credit = eur(math.MaxInt64)
			}).ChangeBill(basic, subscription.ChargeNow, started)
			return err
		},
	} {
		if err := call(); !errors.Is(err, money.ErrOverflow) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestADiscountOfOnePercentCounts(t *testing.T) {
	t.Parallel()
	bill, err := with(t, basic, func(s *subscription.State) {
		s.Discount = &subscription.Discount{PercentOff: 1}
	}).NextBill(started.Add(28 * day))
	if err != nil || bill.Due() != eur(990) {
		t.Errorf("%+v, %v", bill, err)
	}
}

func TestABillIsAppliedToARunningSubscriptionOnly(t *testing.T) {
	t.Parallel()
	bill, err := begin(t, basic).NextBill(started.Add(28 * day))
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[subscription.Status]string{
		subscription.StatusIncomplete: "has not begun", subscription.StatusCanceled: "already ended",
		subscription.StatusExpired: "already ended",
	} {
		sub := with(t, basic, func(s *subscription.State) { s.Status = status })
		before := sub.State()
		if _, err := sub.Apply(bill); !fault.Is(err, fault.StateConflict) || !strings.Contains(err.Error(), want) ||
			!reflect.DeepEqual(sub.State(), before) {
			t.Errorf("%s: %v", status, err)
		}
	}
}

func TestAChargeThatNobodySeesRaisesTheRevision(t *testing.T) {
	t.Parallel()
	end := started.Add(28 * day)
	for name, c := range map[string]struct {
		pull func(*subscription.Subscription) error
		want int64
	}{
		"started": {func(*subscription.Subscription) error { return nil }, 1},
		"unsent":  {func(sub *subscription.Subscription) error { return sub.ChargeNotSent("pay_1") }, 2},
		"a declined change": {func(sub *subscription.Subscription) error {
			_, err := sub.Declined("pay_1", payment.DeclineReason{}, end)
			return err
		}, 2},
	} {
		sub := begin(t, basic)
		before := sub.State().Revision
		bill, err := sub.ChangeBill(pro, subscription.ChargeNow, started)
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.StartCharge("pay_1", bill); err != nil {
			t.Fatal(err)
		}
		if err := c.pull(sub); err != nil || sub.State().Revision != before+c.want {
			t.Errorf("%s: %v, revision %d after %d", name, err, sub.State().Revision, before)
		}
	}
	sub := begin(t, basic)
	before := sub.State()
	if err := sub.ChargeNotSent("pay_1"); err == nil || !reflect.DeepEqual(sub.State(), before) {
		t.Errorf("a charge that is not awaited: %v, %+v", err, sub.State())
	}
}

func TestAnotherCardPaysFromNowOn(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	e, changed, err := sub.UseCard("pm_2")
	if err != nil || !changed || e.PaymentMethodID != "pm_2" || sub.State().PaymentMethodID != "pm_2" ||
		string(e.Previous["paymentMethodId"]) != `"pm_1"` {
		t.Errorf("%+v, %v, %v", e, changed, err)
	}
	before := sub.State()
	if _, changed, err := sub.UseCard("pm_2"); changed || err != nil || !reflect.DeepEqual(sub.State(), before) {
		t.Errorf("again: %v, %v", changed, err)
	}
}

func TestACustomerIsTold(t *testing.T) {
	t.Parallel()
	week := 7 * day
	twelve, eleven := offer("year", 9000, period.Month, 12, 0), offer("eleven", 9000, period.Month, 11, 0)
	years, days := offer("two", 9000, period.Year, 2, 0), offer("days", 100, period.Day, 12, 0)
	short := offer("basic", 1000, period.Month, 1, 3)
	for name, c := range map[string]struct {
		sub  *subscription.Subscription
		want time.Time
	}{
		"a week before a year":          {begin(t, yearly), started.AddDate(1, 0, 0).Add(-week)},
		"a week before two years":       {begin(t, years), started.AddDate(2, 0, 0).Add(-week)},
		"a week before twelve months":   {begin(t, twelve), started.AddDate(1, 0, 0).Add(-week)},
		"never before eleven":           {begin(t, eleven), time.Time{}},
		"never before twelve days":      {begin(t, days), time.Time{}},
		"never before a month":          {begin(t, basic), time.Time{}},
		"a week before a trial's end":   {begin(t, trial), started.Add(14*day - week)},
		"at once when a trial is short": {begin(t, short), started},
		"never of a year that is past due": {with(t, yearly, func(s *subscription.State) {
			s.Status, s.Dunning.NextAttemptAt = subscription.StatusPastDue, started
		}), time.Time{}},
		"never of a year that is to end": {with(t, yearly, func(s *subscription.State) {
			s.CancelAtPeriodEnd = true
		}), time.Time{}},
	} {
		if got := c.sub.State().NoticeAt(); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestADiscountIsShownAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		discount *subscription.Discount
		want     *subscription.DiscountView
	}{
		"none": {nil, nil},
		"one percent": {&subscription.Discount{Code: "ONE", PercentOff: 1},
			&subscription.DiscountView{Code: "ONE", PercentOff: new(1)}},
		"an amount": {&subscription.Discount{Code: "FIVE", AmountOff: eur(500)}, &subscription.DiscountView{Code: "FIVE",
			AmountOffInCents: new(int64(500))}},
		"until it ends": {&subscription.Discount{Code: "ONE", PercentOff: 1, EndsAt: started},
			&subscription.DiscountView{Code: "ONE", PercentOff: new(1), EndsAt: new("2026-01-31T10:00:00.000Z")}},
	} {
		s := subscription.State{Discount: c.discount}
		if got := subscription.NewView(s, true).Discount; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestACancellationKeepsWhenItWasAsked(t *testing.T) {
	t.Parallel()
	now := started.Add(2 * day)
	for name, c := range map[string]struct {
		sub  *subscription.Subscription
		want time.Time
	}{
		"at once":          {begin(t, basic), now},
		"scheduled before": {ending(t), started.Add(time.Hour)},
		"while it is tried again": {with(t, basic, func(s *subscription.State) {
			s.Status, s.Dunning.NextAttemptAt = subscription.StatusPastDue, now
		}), now},
	} {
		e, err := c.sub.Cancel(subscription.CancelRequested, now)
		if err != nil || !e.CanceledAt.Equal(c.want) || !e.Dunning.NextAttemptAt.IsZero() || e.CancelAtPeriodEnd ||
			!e.EndedAt.Equal(now) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}

func TestAResumptionTakesBackACancellationOnly(t *testing.T) {
	t.Parallel()
	sub := ending(t)
	e, err := sub.Resume(started.Add(day))
	if err != nil || e.CancelAtPeriodEnd || !e.CanceledAt.IsZero() || e.Status != subscription.StatusActive {
		t.Errorf("%+v, %v", e, err)
	}
	late := with(t, trial, func(s *subscription.State) { s.CancelAtPeriodEnd = true })
	if e, err := late.Resume(late.State().TrialEndsAt.Add(time.Hour)); err != nil ||
		e.Status != subscription.StatusTrialing {
		t.Errorf("a trial whose end is late: %+v, %v", e, err)
	}
}

func TestAResumptionIsRefusedForItsReason(t *testing.T) {
	t.Parallel()
	over := started.Add(40 * day)
	for name, c := range map[string]struct {
		sub  *subscription.Subscription
		want string
	}{
		"paused for too long": {with(t, basic, func(s *subscription.State) {
			s.Status = subscription.StatusPaused
		}), "is over"},
		"paused for too long and to be canceled": {with(t, basic, func(s *subscription.State) {
			s.Status, s.CancelAtPeriodEnd = subscription.StatusPaused, true
		}), "is over"},
		"being charged to resume": {with(t, basic, func(s *subscription.State) {
			s.Status, s.Charge = subscription.StatusPaused, &subscription.Charge{PaymentID: "pay_1"}
		}), "under way"},
		"active and being charged": {with(t, basic, func(s *subscription.State) {
			s.Charge = &subscription.Charge{PaymentID: "pay_1"}
		}), "neither"},
		"active": {begin(t, basic), "neither"},
	} {
		before := c.sub.State()
		if _, err := c.sub.Resume(over); !fault.Is(err, fault.StateConflict) || !strings.Contains(err.Error(), c.want) ||
			!reflect.DeepEqual(c.sub.State(), before) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestTheMetadataOfASubscriptionChange(t *testing.T) {
	t.Parallel()
	// Also of one that is over.
	sub := with(t, basic, func(s *subscription.State) { s.Status = subscription.StatusCanceled })
	before := sub.State()
	change := metadata.Change{Pairs: map[string]string{"ticket": "T-1"}}
	e, changed, err := sub.SetMetadata(change)
	if !changed || err != nil || sub.State().Revision != before.Revision+1 ||
		sub.State().Metadata.Map()["ticket"] != "T-1" || string(e.Previous["metadata"]) != "{}" {
		t.Errorf("%t, %v: %+v, was %s", changed, err, sub.State(), e.Previous)
	}
	after := sub.State()
	if _, changed, err := sub.SetMetadata(change); changed || err != nil || !reflect.DeepEqual(sub.State(), after) {
		t.Errorf("the same again: %t, %v", changed, err)
	}
	many := metadata.Change{Pairs: map[string]string{}}
	for i := range 20 {
		many.Pairs[fmt.Sprint("key-", i)] = "v"
	}
	if _, changed, err := sub.SetMetadata(many); changed || !fault.Is(err, fault.ValidationFailed) ||
		!reflect.DeepEqual(sub.State(), after) {
		t.Errorf("one pair too many: %t, %v", changed, err)
	}
}

func TestRetryAfterDispute_OfWhatOnlyADisputeDelays(t *testing.T) {
	t.Parallel()
	overdue := func(s *subscription.State) {
		s.Status, s.Disputes = subscription.StatusPastDue, []subscription.OpenDispute{{ID: "dsp_1"}}
	}
	retry := started.Add(40 * day)
	for name, c := range map[string]struct {
		change  func(*subscription.State)
		changed bool
	}{
		"overdue and disputed": {overdue, true},
		"not overdue":          {func(s *subscription.State) { overdue(s); s.Status = subscription.StatusActive }, false},
		"not disputed":         {func(s *subscription.State) { overdue(s); s.Disputes = nil }, false},
		"being charged":        {func(s *subscription.State) { overdue(s); s.Charge = &subscription.Charge{} }, false},
	} {
		sub := with(t, basic, c.change)
		want := sub.State()
		e, changed := sub.RetryAfterDispute(retry)
		if c.changed {
			want.Dunning.NextAttemptAt = retry
			want.Revision++
		}
		if changed != c.changed || !reflect.DeepEqual(sub.State(), want) {
			t.Errorf("%s: changed %t: %+v, want %+v", name, changed, sub.State(), want)
		}
		if was := string(e.Previous["nextAttemptAt"]); c.changed && was != "null" {
			t.Errorf("%s: announced that it was %q", name, was)
		}
	}
}

func TestBreakdown_NamesWhatIsTakenOff(t *testing.T) {
	t.Parallel()
	line := func(text string, minor int64) payment.Line {
		return payment.Line{Description: text, Amount: eur(minor)}
	}
	price := line("App", 1000)
	for name, c := range map[string]struct {
		discount, credit int64
		want             []payment.Line
	}{
		"nothing":           {0, 0, []payment.Line{price}},
		"a cent's discount": {1, 0, []payment.Line{price, line("Discount", -1)}},
		"a credit":          {0, 300, []payment.Line{price, line("Credit from an earlier payment", -300)}},
		"discount and credit": {200, 300, []payment.Line{price, line("Discount", -200),
			line("Credit from an earlier payment", -300)}},
	} {
		b := subscription.Bill{Lines: []payment.Line{price}, Subtotal: eur(1000), Discount: eur(c.discount),
			CreditUsed: eur(c.credit)}
		got := b.Breakdown(locale.Default)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		var sum int64
		for _, l := range got {
			sum += l.Amount.Minor
		}
		if sum != b.Due().Minor || b.Lines[0] != price {
			t.Errorf("%s: the lines sum to %d, due is %d", name, sum, b.Due().Minor)
		}
	}
}

func TestABillSaysWhatIsLeftOfTheCredit(t *testing.T) {
	t.Parallel()
	for credit, want := range map[int64]int64{0: 0, 300: 0, 1000: 0, 1300: 300} {
		sub := with(t, basic, func(s *subscription.State) { s.Credit = eur(credit) })
		bill, err := sub.NextBill(sub.State().CurrentPeriodEnd)
		if err != nil || bill.CreditAfter != eur(want) || bill.CreditUsed != eur(credit-want) {
			t.Errorf("of %d: %+v used, %+v left, want %d, %v", credit, bill.CreditUsed, bill.CreditAfter, want, err)
		}
	}
}

// A period whose payment went back gives access again once something is paid for it.
func TestWhatIsPaidForIsNotWithdrawn(t *testing.T) {
	t.Parallel()
	withdrawn := func(credit int64) *subscription.Subscription {
		return with(t, basic, func(s *subscription.State) {
			s.Funds, s.PeriodValue, s.Credit, s.Withdrawn = nil, eur(0), eur(credit), true
		})
	}
	renewed := withdrawn(0)
	if s := renew(t, renewed, renewed.State().CurrentPeriodEnd); s.Withdrawn || !s.TrialEndsAt.IsZero() {
		t.Errorf("renewed: withdrawn %t, a trial until %s", s.Withdrawn, s.TrialEndsAt)
	}
	free := withdrawn(0).State()
	free.Discount = &subscription.Discount{PercentOff: 100}
	renewed = subscription.Restore(free)
	bill, err := renewed.NextBill(free.CurrentPeriodEnd)
	if err != nil {
		t.Fatal(err)
	}
	if pay(t, renewed, bill, ""); renewed.State().Withdrawn {
		t.Error("renewed for nothing, and still withdrawn")
	}
	for name, c := range map[string]struct {
		price, credit int64
		want          bool
	}{
		"a plan that costs something":         {1500, 0, false},
		"a plan that costs a cent":            {1, 0, false},
		"a plan that credit pays in part":     {1500, 1000, false},
		"a plan that credit pays":             {1500, 1500, false},
		"a plan that costs nothing":           {0, 0, true},
		"a plan that costs nothing of credit": {0, 1500, true},
	} {
		sub := withdrawn(c.credit)
		paidChange(t, sub, offer("other", c.price, period.Month, 1, 0), "pay_1", started)
		if got := sub.State().Withdrawn; got != c.want {
			t.Errorf("%s: withdrawn %t", name, got)
		}
	}
}

func TestAChangeDuringTheTrialKeepsTheDiscount(t *testing.T) {
	t.Parallel()
	once := &subscription.Discount{PercentOff: 50, Once: true}
	year := offer("pro", 30000, period.Year, 1, 1)
	for name, c := range map[string]struct {
		from plan.Offer
		kept bool
	}{"on trial": {trial, true}, "in a paid period": {basic, false}} {
		sub := with(t, c.from, func(s *subscription.State) { s.Discount = once })
		before := sub.State()
		bill, err := sub.ChangeBill(year, subscription.ChargeNow, started)
		if err != nil || bill.Offer.TrialDays != 0 || (bill.Due().Minor == 0) != c.kept {
			t.Fatalf("%s: %+v, %v", name, bill, err)
		}
		pay(t, sub, bill, "pay_1")
		s := sub.State()
		if (s.Discount == once) != c.kept || s.CurrentPeriodEnd.Equal(before.CurrentPeriodEnd) != c.kept {
			t.Errorf("%s: discount %+v until %s", name, s.Discount, s.CurrentPeriodEnd)
		}
	}
}

func TestAPlanWithoutATrialBeginsItsPeriodNow(t *testing.T) {
	t.Parallel()
	now := started.Add(3 * day)
	bill, err := begin(t, trial).ChangeBill(pro, subscription.ChargeNow, now)
	if err != nil || bill.Kind != subscription.Conversion || !bill.PeriodStart.Equal(now) ||
		!bill.PeriodEnd.Equal(now.AddDate(0, 1, 0)) {
		t.Errorf("%s from %s to %s, %v", bill.Kind, bill.PeriodStart, bill.PeriodEnd, err)
	}
}

func TestAChangeOfPlanCreditsWhatIsInTheCustomersFavor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ price, due, credit int64 }{
		"a dearer plan":        {1500, 500, 0},
		"a plan of that price": {1000, 0, 0},
		"a cheaper plan":       {999, 0, 1},
	} {
		bill, err := begin(t, basic).ChangeBill(offer("other", c.price, period.Month, 1, 0), subscription.ChargeNow, started)
		if err != nil || bill.Due() != eur(c.due) || bill.CreditAfter != eur(c.credit) {
			t.Errorf("%s: due %+v, credit %+v, %v", name, bill.Due(), bill.CreditAfter, err)
		}
	}
	sub := begin(t, basic)
	sub.Dispute("dsp_1", first)
	bill, err := sub.ChangeBill(offer("cent", 1001, period.Month, 1, 0), subscription.ChargeNow, started)
	if !fault.Is(err, fault.StateConflict) {
		t.Errorf("a plan that costs a cent more during a dispute: %+v, %v", bill, err)
	}
}

func TestADiscountTakesOffNoMoreThanThePrice(t *testing.T) {
	t.Parallel()
	sub := with(t, basic, func(s *subscription.State) { s.Discount = &subscription.Discount{AmountOff: eur(1500)} })
	bill, err := sub.NextBill(sub.State().CurrentPeriodEnd)
	if err != nil || bill.Discount != eur(1000) || bill.Due() != eur(0) || bill.PeriodValue != eur(0) {
		t.Errorf("%+v, %v", bill, err)
	}
}

func TestTheMonthsOfADiscountBeginWithThePaidPeriod(t *testing.T) {
	t.Parallel()
	now, trialEnd := started.Add(3*day), at("2026-03-01T00:00:00Z")
	for name, c := range map[string]struct{ ends, want time.Time }{
		"three months":     {trialEnd.AddDate(0, 3, 0), now.AddDate(0, 3, 0)},
		"a year":           {trialEnd.AddDate(1, 0, 0), now.AddDate(1, 0, 0)},
		"to another day":   {trialEnd.AddDate(0, 3, 1), trialEnd.AddDate(0, 3, 1)},
		"one without ends": {time.Time{}, time.Time{}},
	} {
		sub := with(t, trial, func(s *subscription.State) {
			s.TrialEndsAt, s.CurrentPeriodEnd, s.Anchor = trialEnd, trialEnd, trialEnd
			s.Discount = &subscription.Discount{PercentOff: 50, EndsAt: c.ends}
		})
		paidChange(t, sub, pro, "pay_1", now)
		if got := sub.State().Discount; got == nil || !got.EndsAt.Equal(c.want) {
			t.Errorf("%s: %+v, want until %s", name, got, c.want)
		}
	}
	punctual := with(t, trial, func(s *subscription.State) {
		s.Discount = &subscription.Discount{PercentOff: 50, EndsAt: s.TrialEndsAt.AddDate(0, 3, 0)}
	})
	for range 2 {
		before := punctual.State()
		if got := renew(t, punctual, before.CurrentPeriodEnd).Discount.EndsAt; !got.Equal(before.Discount.EndsAt) {
			t.Errorf("a charge at the period's end moved the discount's to %s", got)
		}
	}
	daily := offer("daily", 100, period.Day, 1, 14)
	sub := with(t, daily, func(s *subscription.State) {
		s.Discount = &subscription.Discount{PercentOff: 50, EndsAt: s.TrialEndsAt.AddDate(0, 1, 0)}
	})
	end := sub.State().TrialEndsAt
	decline(t, sub, "insufficient_funds", end)
	if got := sub.State().Discount.EndsAt; !got.Equal(end.AddDate(0, 1, 0)) {
		t.Errorf("a charge that failed moved the end to %s", got)
	}
	want := end.Add(2*day).AddDate(0, 1, 0)
	for n, late := range []time.Duration{2 * day, 0} {
		if got := renew(t, sub, sub.State().CurrentPeriodEnd.Add(late)).Discount.EndsAt; !got.Equal(want) {
			t.Errorf("after %d payments, the first two days late, it ends at %s, want %s", n+1, got, want)
		}
	}
}
