package subscription_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// paidChange changes the plan now; what is due is paid by the payment.
func paidChange(t rapid.TB, sub *subscription.Subscription, to plan.Offer, paymentID string, now time.Time) int64 {
	t.Helper()
	bill, err := sub.ChangeBill(to, subscription.ChargeNow, now)
	if err != nil {
		t.Fatal(err)
	}
	return pay(t, sub, bill, paymentID)
}

// pay pays a bill and returns what was due.
func pay(t rapid.TB, sub *subscription.Subscription, bill subscription.Bill, paymentID string) int64 {
	t.Helper()
	if bill.Due().Minor == 0 {
		if _, err := sub.Apply(bill); err != nil {
			t.Fatal(err)
		}
		return 0
	}
	if err := sub.StartCharge(paymentID, bill); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.Paid(paymentID); err != nil {
		t.Fatal(err)
	}
	return bill.Due().Minor
}

func TestMoneyThatWentBackLeavesNoCredit(t *testing.T) {
	t.Parallel()
	dear, week := offer("dear", 30000, period.Month, 1, 0), offer("week", 100, period.Week, 1, 0)
	renewals := func(t *testing.T, sub *subscription.Subscription, n int) {
		t.Helper()
		for range n {
			bill, err := sub.NextBill(sub.State().CurrentPeriodEnd)
			if err != nil {
				t.Fatal(err)
			}
			pay(t, sub, bill, "pay_n")
		}
	}
	for name, c := range map[string]struct {
		to       plan.Offer
		renewals int
		credit   int64 // before the refund
	}{
		"another interval":                     {week, 0, 29900},
		"another interval, renewed by credit":  {week, 3, 29600},
		"another plan, renewed by credit":      {basic, 1, 28000},
		"another plan, refunded in its period": {basic, 0, 29000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := begin(t, dear)
			paidChange(t, sub, c.to, "pay_1", started)
			renewals(t, sub, c.renewals)
			if got := sub.State().Credit; got != eur(c.credit) {
				t.Fatalf("credit %d before the refund, want %d", got.Minor, c.credit)
			}
			sub.Returned(first, eur(30000))
			if s := sub.State(); s.Credit != eur(0) || s.PeriodValue != eur(0) {
				t.Errorf("credit %d, a period worth %d after the refund", s.Credit.Minor, s.PeriodValue.Minor)
			}
		})
	}
}

func TestARefundLeavesOtherPaymentsCredit(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	paidChange(t, sub, yearly, "pay_1", started) // 10.00 unused and 290.00 more
	paidChange(t, sub, basic, "", started)       // 290.00 to the customer's credit
	if got := sub.State().Credit; got != eur(29000) {
		t.Fatalf("credit %d", got.Minor)
	}
	sub.Returned(subscription.Payment{ID: "pay_1", PaidFrom: started}, eur(29000))
	if s := sub.State(); s.Credit.Minor+s.PeriodValue.Minor != 1000 {
		t.Errorf("credit %d, a period worth %d, want the 10.00 of the first payment", s.Credit.Minor, s.PeriodValue.Minor)
	}
}

// A fund of 100 in a period worth 21,700 has 3.18 of the 6.90 that become credit on the last of 30 days, and rounding
// all of them together makes it 4; its payment paid 3.
func TestRoundingCreditsNoPaymentWithMoreThanItPaid(t *testing.T) {
	t.Parallel()
	sub := begin(t, offer("team", 3000, period.Month, 1, 0))
	for range 2 { // to April, which has 30 days
		bill, err := sub.NextBill(sub.State().CurrentPeriodEnd)
		if err != nil {
			t.Fatal(err)
		}
		pay(t, sub, bill, "pay_3")
	}
	last := sub.State().CurrentPeriodEnd.Add(-time.Nanosecond)
	if paid := paidChange(t, sub, offer("pro", 3100, period.Month, 1, 0), "pay_4", last); paid != 3 {
		t.Fatalf("paid %d", paid)
	}
	paidChange(t, sub, offer("pro7", 21700, period.Month, 1, 0), "pay_5", last)
	paidChange(t, sub, basic, "", last)
	want := []subscription.Fund{
		{PaymentID: "pay_3", Value: 138, Credit: 95, Paid: 3000}, {PaymentID: "pay_4", Value: 5, Credit: 3, Paid: 3},
		{PaymentID: "pay_5", Value: 857, Credit: 592, Paid: 620},
	}
	if got := sub.State().Funds; !slices.Equal(got, want) {
		t.Errorf("funds %+v, want %+v", got, want)
	}
}

// holding is a subscription of basic with funds of its first period.
func holding(t *testing.T, funds ...subscription.Fund) *subscription.Subscription {
	t.Helper()
	return with(t, basic, func(s *subscription.State) {
		s.Funds, s.PeriodValue, s.Credit = funds, eur(0), eur(0)
		for _, f := range funds {
			s.PeriodValue.Minor += f.Value
			s.Credit.Minor += f.Credit
		}
	})
}

func TestACheaperPlanCreditsThosePaymentsThatPaid(t *testing.T) {
	t.Parallel()
	type funds = []subscription.Fund
	less, cent := offer("less", 900, period.Month, 1, 0), offer("cent", 999, period.Month, 1, 0)
	week := offer("week", 100, period.Week, 1, 0)
	fund := func(id string, value, credit, paid int64) subscription.Fund {
		return subscription.Fund{PaymentID: id, Value: value, Credit: credit, Paid: paid}
	}
	for name, c := range map[string]struct {
		before funds
		to     plan.Offer
		after  time.Duration
		want   funds
	}{
		"by the value of each": {
			funds{fund("pay_0", 600, 0, 600), fund("pay_1", 400, 0, 400)}, less, 0,
			funds{fund("pay_0", 540, 60, 600), fund("pay_1", 360, 40, 400)},
		},
		"also of one whose amount was not recorded": {
			funds{fund("pay_0", 600, 0, 0), fund("pay_1", 400, 0, 400)}, less, 0,
			funds{fund("pay_0", 540, 60, 0), fund("pay_1", 360, 40, 400)},
		},
		"no more than the payment": {
			funds{fund("pay_0", 500, 480, 500), fund("pay_1", 500, 0, 500)}, less, 0,
			funds{fund("pay_0", 450, 500, 500), fund("pay_1", 450, 80, 500)},
		},
		"none of one that is all credit": {
			funds{fund("pay_0", 500, 500, 500), fund("pay_1", 500, 0, 500)}, less, 0,
			funds{fund("pay_0", 450, 500, 500), fund("pay_1", 450, 100, 500)},
		},
		"nothing is lost where all are": {
			funds{fund("pay_0", 500, 500, 500), fund("pay_1", 500, 500, 500)}, cent, 0,
			funds{fund("pay_0", 500, 500, 500), fund("pay_1", 499, 501, 500)},
		},
		"another interval uses the oldest": {
			funds{fund("pay_0", 500, 0, 500), fund("pay_1", 500, 0, 500)}, week, 0,
			funds{fund("pay_0", 100, 400, 500), fund("pay_1", 0, 500, 500)},
		},
		"also one that ends with the period": {
			funds{fund("pay_0", 500, 0, 500), fund("pay_1", 500, 0, 500)}, week, 21 * day,
			funds{fund("pay_0", 100, 25, 500), fund("pay_1", 0, 125, 500)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := holding(t, c.before...)
			if paid := paidChange(t, sub, c.to, "", started.Add(c.after)); paid != 0 {
				t.Fatalf("paid %d", paid)
			}
			if got := sub.State().Funds; !slices.Equal(got, c.want) {
				t.Errorf("funds %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestTheLeastFundsCount(t *testing.T) {
	t.Parallel()
	unrecorded := with(t, basic, func(s *subscription.State) { s.Funds, s.PeriodValue, s.Credit = nil, eur(0), eur(1) })
	want := []subscription.Fund{{Value: 1}, {PaymentID: "pay_n", Value: 999, Paid: 999}}
	if got := renew(t, unrecorded, unrecorded.State().CurrentPeriodEnd).Funds; !slices.Equal(got, want) {
		t.Errorf("a cent of credit that no payment is known of: %+v, want %+v", got, want)
	}
	sub := holding(t, subscription.Fund{PaymentID: "pay_0", Value: 1000, Paid: 1000})
	if paid := paidChange(t, sub, offer("more", 1001, period.Month, 1, 0), "pay_1", started); paid != 1 {
		t.Fatalf("paid %d", paid)
	}
	want = []subscription.Fund{{PaymentID: "pay_0", Value: 1000, Paid: 1000}, {PaymentID: "pay_1", Value: 1, Paid: 1}}
	if got := sub.State().Funds; !slices.Equal(got, want) {
		t.Errorf("a cent more: %+v, want %+v", got, want)
	}
}

// The money that is back pays for nothing of the cheaper plan, so it is credit.
func TestARefundFailsWhileAChangeOfPlanIsCharged(t *testing.T) {
	t.Parallel()
	sub := holding(t, subscription.Fund{PaymentID: "pay_0", Value: 1000, Credit: 300, Paid: 1300})
	sub.Returned(first, eur(1000))
	bill, err := sub.ChangeBill(offer("half", 500, period.Month, 1, 0), subscription.ChargeNow, started)
	if err == nil {
		err = sub.StartCharge("pay_1", bill)
	}
	if err != nil || bill.Due() != eur(200) || !refundFailed(sub, first, 1000, false) {
		t.Fatalf("due %+v of %+v, %v", bill.Due(), sub.State(), err)
	}
	if _, err := sub.Paid("pay_1"); err != nil {
		t.Fatal(err)
	}
	want := []subscription.Fund{
		{PaymentID: "pay_0", Value: 300, Credit: 1000, Paid: 1300}, {PaymentID: "pay_1", Value: 200, Paid: 200},
	}
	if s := sub.State(); !slices.Equal(s.Funds, want) || s.PeriodValue != eur(500) {
		t.Errorf("a period worth %d, funds %+v, want %+v", s.PeriodValue.Minor, s.Funds, want)
	}
}

// On the first day of a period nothing is used up, so what is left is what was paid less what went back.
func TestRefundsDuringChangesMakeAndLoseNoMoney(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sub := subscription.New(order(rapid.SampledFrom(plans).Draw(t, "first")), started)
		if _, err := sub.Activate(started); err != nil {
			t.Fatal(err)
		}
		left := sub.State().PeriodValue.Minor
		for i := range rapid.IntRange(1, 6).Draw(t, "changes") {
			to, id := rapid.SampledFrom(plans).Draw(t, "to"), fmt.Sprint("pay_", i+1)
			to.PriceID += id
			var back, part int64
			var of subscription.Payment
			if funds := sub.State().Funds; len(funds) > 0 {
				f := rapid.SampledFrom(funds).Draw(t, "of")
				of = subscription.Payment{ID: f.PaymentID, PaidFrom: started}
				back, part = f.Value, rapid.Int64Range(0, f.Value).Draw(t, "part")
			}
			fails := rapid.Bool().Draw(t, "fails")
			if fails { // what went back before comes back during the charge
				sub.Returned(of, eur(part))
			}
			bill, err := sub.ChangeBill(to, subscription.ChargeNow, started)
			if err != nil {
				t.Fatal(err)
			}
			if bill.Due().Minor == 0 {
				if _, err := sub.Apply(bill); err != nil {
					t.Fatal(err)
				}
				if fails {
					left -= part
				}
			} else if err := sub.StartCharge(id, bill); err != nil {
				t.Fatal(err)
			} else {
				if fails {
					sub.RefundFailed(of, eur(part), part == back, started)
				} else if _, changed := sub.Returned(of, eur(part)); changed {
					left -= part
				}
				if _, err := sub.Paid(id); err != nil {
					t.Fatal(err)
				}
				left += bill.Due().Minor
			}
			s := sub.State()
			if got := s.PeriodValue.Minor + s.Credit.Minor; got != left || s.PeriodValue.Minor > to.Price.Minor {
				t.Fatalf("a period worth %d of %d and credit of %d, want %d together", s.PeriodValue.Minor, to.Price.Minor,
					s.Credit.Minor, left)
			}
		}
	})
}

// A charge that an earlier version began has no value that it replaces, nor shares.
func TestABillOfAnEarlierVersionIsPaid(t *testing.T) {
	t.Parallel()
	for _, to := range []plan.Offer{pro, yearly} {
		var paid [2]subscription.State
		for i := range paid {
			sub := begin(t, basic)
			bill, err := sub.ChangeBill(to, subscription.ChargeNow, started.Add(14*day))
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				bill.Replaced = money.Amount{}
				bill.Lines = []payment.Line{{Amount: bill.Lines[0].Amount}, {Amount: bill.Lines[1].Amount}}
			}
			pay(t, sub, bill, "pay_1")
			paid[i] = sub.State()
		}
		if !slices.Equal(paid[1].Funds, paid[0].Funds) || paid[1].PeriodValue != to.Price {
			t.Errorf("%s: funds %+v of %+v, want %+v", to.PriceID, paid[1].Funds, paid[1].PeriodValue, paid[0].Funds)
		}
	}
}

// What is left of the payments never exceeds what was paid, each fund never what its payment paid in the period's value
// and as credit, and nothing of a payment is left once all of it went back.
func TestFundsNeverExceedTheirPayments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := started
		firstPlan := rapid.SampledFrom(plans).Draw(t, "first")
		sub := subscription.New(order(firstPlan), now)
		if _, err := sub.Activate(now); err != nil {
			t.Fatal(err)
		}
		paid := map[string]int64{"pay_0": firstPlan.Price.Minor}
		for i := range rapid.IntRange(1, 10).Draw(t, "steps") {
			id, s := fmt.Sprint("pay_", i+1), sub.State()
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				now = s.CurrentPeriodEnd
				bill, err := sub.NextBill(now)
				if err != nil {
					t.Fatal(err)
				}
				paid[id] = pay(t, sub, bill, id)
				if got := sub.State().PeriodValue; got != bill.PeriodValue {
					t.Fatalf("a period worth %d is renewed for %d", got.Minor, bill.PeriodValue.Minor)
				}
			case 1:
				to := rapid.SampledFrom(plans).Draw(t, "to")
				to.PriceID += fmt.Sprint(i)
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(s.CurrentPeriodEnd.Sub(now)-1)).Draw(t, "after")))
				paid[id] = paidChange(t, sub, to, id, now)
			case 2:
				back := fmt.Sprint("pay_", rapid.IntRange(0, i).Draw(t, "back"))
				sub.Returned(subscription.Payment{ID: back, PaidFrom: s.CurrentPeriodStart}, eur(1<<40))
				for _, f := range sub.State().Funds {
					if f.PaymentID == back {
						t.Fatalf("%s went back, and there is %+v", back, f)
					}
				}
			}
			s = sub.State()
			var value, credit int64
			for _, f := range s.Funds {
				value, credit = value+f.Value, credit+f.Credit
				if f.Value < 0 || f.Credit < 0 || f.Credit > paid[f.PaymentID] {
					t.Fatalf("%+v of a payment of %d", f, paid[f.PaymentID])
				}
			}
			if value != s.PeriodValue.Minor || credit != s.Credit.Minor {
				t.Fatalf("funds of %d and %d, value %d, credit %d", value, credit, s.PeriodValue.Minor, s.Credit.Minor)
			}
		}
	})
}

func TestNothingIsChargedWhileADisputeIsOpen(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	bill, err := sub.ChangeBill(pro, subscription.ChargeNow, started)
	if err != nil {
		t.Fatal(err)
	}
	if !sub.Dispute("dsp_1", first) || sub.Dispute("dsp_1", first) || !sub.State().Suspended() {
		t.Fatalf("%+v", sub.State().Disputes)
	}
	end := sub.State().CurrentPeriodEnd
	if step, _ := sub.State().Next(); step != subscription.NoStep {
		t.Errorf("the next step is %s", step)
	}
	if _, err := sub.NextBill(end); err == nil {
		t.Error("a renewal is billed")
	}
	if sub.StartCharge("pay_1", bill) == nil {
		t.Error("a change of plan is charged")
	}
	if _, err := sub.ChangeBill(pro, subscription.ChargeNow, started); !fault.Is(err, fault.StateConflict) {
		t.Errorf("a change of plan that costs something is billed: %v", err)
	}
	if _, err := sub.ChangeBill(pro, subscription.NextPeriod, started); err != nil {
		t.Errorf("a change of plan that costs nothing now: %v", err)
	}
	late := end.AddDate(0, 2, 3)
	if sub.State().GivesAccess(late) || !sub.State().GivesAccess(end.Add(-1)) {
		t.Error("access does not end with the period")
	}
	if !sub.DisputeClosed("dsp_1") || sub.DisputeClosed("dsp_1") {
		t.Error("the dispute was not closed once")
	}
	if s := renew(t, sub, late); s.CurrentPeriodEnd.Before(late) || s.CurrentPeriodStart.After(late) || s.Held {
		t.Errorf("%s to %s was charged on %s", s.CurrentPeriodStart, s.CurrentPeriodEnd, late)
	}
}

func TestADisputedSubscriptionStillEnds(t *testing.T) {
	t.Parallel()
	ending := begin(t, basic)
	if _, err := ending.CancelAtPeriodEnd(subscription.CancelRequested, started); err != nil {
		t.Fatal(err)
	}
	ending.Dispute("dsp_1", first)
	if step, _ := ending.State().Next(); step != subscription.StepEnd {
		t.Errorf("the next step is %q", step)
	}
	given := begin(t, basic)
	decline(t, given, "stolen_card", given.State().CurrentPeriodEnd)
	given.Dispute("dsp_1", first)
	if step, _ := given.State().Next(); step != subscription.StepExpire {
		t.Errorf("the next step is %q", step)
	}
}

func TestWhoCancelsWhileARenewalIsChargedPaysNoMore(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	end := sub.State().CurrentPeriodEnd
	charge(t, sub, "pay_1", end)
	e, err := sub.CancelAtPeriodEnd(subscription.CancelRequested, end)
	if _, ok := e.(subscription.Canceled); !ok || err != nil {
		t.Fatalf("%+v, %v", e, err)
	}
	if s := sub.State(); s.IsAwaiting("pay_1") || !s.EndedAt.Equal(end) || s.CancelReason != subscription.CancelRequested {
		t.Errorf("%+v", s)
	}
	if _, err := sub.Declined("pay_1", payment.DeclineReason{}, end); err == nil {
		t.Error("its outcome is still awaited")
	}
}
