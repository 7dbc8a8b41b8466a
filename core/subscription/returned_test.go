package subscription_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// first is the payment of the checkout.
var first = subscription.Payment{ID: "pay_0", PaidFrom: started}

func TestRefundReducesThePeriodThenTheCredit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value, worth, credit int64 // of a period of 1000 and a credit of 1050
		changed, seen        bool
	}{
		"nothing":                     {0, 1000, 1050, false, false},
		"a negative amount":           {-5, 1000, 1050, false, false},
		"a cent":                      {1, 999, 1050, true, false},
		"a part of the period":        {400, 600, 1050, true, false},
		"all of the period":           {1000, 0, 1050, true, false},
		"more than the period":        {1300, 0, 750, true, true},
		"more than period and credit": {9999, 0, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := begin(t, pro)
			_, before := change(t, sub, basic, started.Add(14*day))
			e, changed := sub.Returned(first, eur(c.value))
			s := sub.State()
			if changed != c.changed || s.PeriodValue != eur(c.worth) || s.Credit != eur(c.credit) ||
				(s.Revision > before.Revision) != c.changed {
				t.Errorf("worth %d, credit %d, changed %v", s.PeriodValue.Minor, s.Credit.Minor, changed)
			}
			if updated, ok := e.(subscription.Updated); ok != c.seen || c.seen &&
				string(updated.Previous["creditInCents"]) != "1050" {
				t.Errorf("event %+v", e)
			}
		})
	}
}

func TestARefundThatFailsGivesBackWhatItTook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		taken, back int64
		full        bool
		worth       int64
		withdrawn   bool
	}{
		"all":                    {1000, 1000, true, 1000, false},
		"a part":                 {400, 400, false, 1000, true},
		"all of what was a part": {1000, 600, false, 600, true},
		"more than was taken":    {400, 500, true, 1000, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := begin(t, basic)
			sub.Returned(first, eur(c.taken))
			if !sub.Withdraw(subscription.Payment{ID: first.ID, PaidFrom: started}) {
				t.Fatal("nothing was withdrawn")
			}
			before := sub.State()
			changed := refundFailed(sub, subscription.Payment{ID: first.ID, PaidFrom: started}, c.back, c.full)
			s := sub.State()
			if !changed || s.PeriodValue != eur(c.worth) || s.Withdrawn != c.withdrawn || s.Revision != before.Revision+1 {
				t.Errorf("worth %d, withdrawn %v, want %d and %v", s.PeriodValue.Minor, s.Withdrawn, c.worth, c.withdrawn)
			}
		})
	}
	sub := begin(t, basic)
	before := sub.State()
	earlier := subscription.Payment{ID: "pay_0", PaidFrom: started.AddDate(0, -1, 0)}
	if changed := refundFailed(sub, earlier, 1000, true); changed || sub.State().Revision != before.Revision {
		t.Error("the refund of an earlier period changed the current one")
	}
}

// refundFailed makes a refund of a payment fail at the beginning of the first period.
func refundFailed(sub *subscription.Subscription, p subscription.Payment, minor int64, full bool) (changed bool) {
	_, changed = sub.RefundFailed(p, eur(minor), full, started)
	return changed
}

// Of the period's 28 days 14 are left at the change, which leaves credit of 1050, and 7 when the money comes back.
func TestARefundThatFailsAfterACheaperPlan(t *testing.T) {
	t.Parallel()
	change14, back21 := started.Add(14*day), started.Add(21*day)
	for name, c := range map[string]struct {
		before, after int64 // what is refunded before and after the change
		back          int64
		at            time.Time
		credit        int64
		seen          bool
	}{
		"a part, refunded before":      {1000, 0, 1000, change14, 1050, true},
		"a part, refunded long before": {1000, 0, 1000, back21, 800, true},
		"all, refunded after":          {0, 3100, 3100, change14, 1050, true},
		"all, refunded long before":    {0, 3100, 3100, back21, 525, true},
		"what the period is worth":     {0, 1000, 1000, back21, 1050, false},
		"once the period is over":      {0, 3100, 3100, started.AddDate(0, 0, 28), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := begin(t, pro)
			sub.Returned(first, eur(c.before))
			change(t, sub, basic, change14)
			sub.Returned(first, eur(c.after))
			before := sub.State()
			e, changed := sub.RefundFailed(first, eur(c.back), false, c.at)
			s := sub.State()
			if !changed || s.PeriodValue != basic.Price || s.Credit != eur(c.credit) || s.Revision != before.Revision+1 {
				t.Errorf("worth %d with credit of %d, want %d with %d", s.PeriodValue.Minor, s.Credit.Minor, basic.Price.Minor,
					c.credit)
			}
			updated, ok := e.(subscription.Updated)
			if ok != c.seen || c.seen && string(updated.Previous["creditInCents"]) != fmt.Sprint(before.Credit.Minor) {
				t.Errorf("event %+v", e)
			}
		})
	}
}

// The plan that runs was bought with the latest payment of its period.
func TestARefundTakesAccessWithTheLatestPayment(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]plan.Offer{"in the same period": pro, "by a longer one": yearly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := begin(t, basic)
			paidChange(t, sub, to, "pay_1", started.Add(14*day))
			upgraded := subscription.Payment{ID: "pay_1", PaidFrom: sub.State().CurrentPeriodStart}
			if sub.Withdraw(first) {
				t.Error("the refund of the first payment takes away what the second bought")
			}
			sub.Returned(first, eur(1000))
			if s := sub.State(); s.Withdrawn || s.PeriodValue.Minor == 0 {
				t.Errorf("%+v", s)
			}
			if !sub.Withdraw(upgraded) || !sub.State().Withdrawn {
				t.Error("the refund of both takes nothing away")
			}
		})
	}
}

func TestNothingIsTakenOffWhatIsOverOrWorthNothing(t *testing.T) {
	t.Parallel()
	over := begin(t, basic)
	if _, err := over.Cancel(subscription.CancelRequested, started); err != nil {
		t.Fatal(err)
	}
	for name, sub := range map[string]*subscription.Subscription{"canceled": over, "a trial": begin(t, trial)} {
		before := sub.State()
		if e, changed := sub.Returned(first, eur(500)); e != nil || changed ||
			sub.State().Revision != before.Revision {
			t.Errorf("%s: %+v, %v", name, e, changed)
		}
	}
}

func TestACreditIsLessWithTheMoneyOfItsPeriod(t *testing.T) {
	t.Parallel()
	sub := begin(t, pro)
	change(t, sub, offer("nothing", 0, basic.Interval, 1, 0), started.Add(14*day))
	if _, changed := sub.Returned(first, eur(50)); !changed || sub.State().Credit != eur(1500) {
		t.Errorf("%v, credit %+v of a period that is worth nothing", changed, sub.State().Credit)
	}
}

func TestRefundWherePeriodAndCreditAreEqual(t *testing.T) {
	t.Parallel()
	state := begin(t, basic).State()
	state.Credit, state.Funds = state.PeriodValue, nil // as it was before payments were told apart
	sub := subscription.Restore(state)
	if _, changed := sub.Returned(first, eur(400)); !changed || sub.State().PeriodValue != eur(600) {
		t.Errorf("%v, a period worth %+v", changed, sub.State().PeriodValue)
	}
}

func TestAPaymentPaysForAPeriodOrForWhatAChangeAddsToIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to plan.Offer
		want     int64
	}{
		"half a period of the difference is the whole difference": {basic, pro, 2100},
		"another interval is worth what it cost":                  {basic, yearly, 29500},
		"nothing was due":                                         {pro, basic, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := begin(t, c.from)
			bill, err := sub.ChangeBill(c.to, subscription.ChargeNow, started.Add(14*day))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := sub.State().ValueOf(bill); err != nil || got != eur(c.want) {
				t.Errorf("%+v, %v, want %d", got, err, c.want)
			}
		})
	}
	sub := begin(t, basic)
	bill := charge(t, sub, "pay_1", sub.State().CurrentPeriodEnd)
	if got, err := sub.State().ValueOf(bill); err != nil || got != eur(1000) {
		t.Errorf("a renewal pays for %+v, %v", got, err)
	}
	if _, err := sub.Paid("pay_1"); err != nil {
		t.Fatal(err)
	}
	if got, err := sub.State().ValueOf(bill); err != nil || got != eur(1000) {
		t.Errorf("a renewal pays for %+v of the period that it has begun, %v", got, err)
	}
	bill, err := sub.ChangeBill(pro, subscription.ChargeNow, sub.State().CurrentPeriodStart.Add(14*day))
	if err != nil {
		t.Fatal(err)
	}
	bill.PeriodValue = usd(3100)
	if got, err := sub.State().ValueOf(bill); err == nil || got != (money.Amount{}) {
		t.Errorf("a change to another currency pays for %+v, %v", got, err)
	}
}

// earlier bought a period before the current one.
func earlier(id string) subscription.Payment {
	return subscription.Payment{ID: id, PaidFrom: started.AddDate(0, -1, 0)}
}

func TestReturned_OnlyOfThePaymentsOwnFund(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fund    string // its payment
		payment subscription.Payment
		changed bool
	}{
		"its own":                                 {"pay_0", first, true},
		"another payment's":                       {"pay_9", first, false},
		"one without a payment, of this period":   {"", first, true},
		"one without a payment, of a period over": {"", earlier("pay_0"), false},
	} {
		sub := holding(t, subscription.Fund{PaymentID: c.fund, Value: 1000, Paid: 1000})
		before := sub.State()
		_, changed := sub.Returned(c.payment, eur(400))
		if s := sub.State(); changed != c.changed || (s.PeriodValue == eur(600)) != c.changed ||
			(s.Revision == before.Revision+1) != c.changed {
			t.Errorf("%s: changed %t, worth %d", name, changed, s.PeriodValue.Minor)
		}
	}
}

func TestAPaymentPaysForThePeriodThatItsMoneyIsIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		payment subscription.Payment
		pays    bool
	}{
		"a cent of the period":     {earlier("pay_1"), true},
		"credit alone":             {earlier("pay_2"), false},
		"nothing any more":         {earlier("pay_9"), false},
		"nothing, but it began it": {subscription.Payment{ID: "pay_9", PaidFrom: started}, true},
	} {
		sub := holding(t, subscription.Fund{PaymentID: "pay_1", Value: 1, Paid: 1000},
			subscription.Fund{PaymentID: "pay_2", Credit: 5, Paid: 1000})
		before := sub.State()
		if !sub.Dispute("dsp_1", c.payment) || sub.State().Revision != before.Revision+1 {
			t.Fatalf("%s: %+v", name, sub.State())
		}
		if got := sub.State().Suspended(); got != c.pays {
			t.Errorf("%s: suspended %t", name, got)
		}
		if !sub.DisputeClosed("dsp_1") || sub.State().Revision != before.Revision+2 || sub.State().Suspended() {
			t.Errorf("%s: after the dispute %+v", name, sub.State())
		}
		if got := sub.Withdraw(c.payment); got != c.pays || sub.State().Withdrawn != c.pays {
			t.Errorf("%s: withdrawn %t", name, got)
		}
	}
}

func TestAPeriodIsWithdrawnOnceAndByItsLastPayment(t *testing.T) {
	t.Parallel()
	for later, want := range map[int64]bool{0: true, 1: false} {
		sub := holding(t, subscription.Fund{PaymentID: "pay_0", Value: 1000, Paid: 1000},
			subscription.Fund{PaymentID: "pay_1", Value: later, Credit: 5, Paid: 1000})
		before := sub.State().Revision
		if got := sub.Withdraw(first); got != want || (sub.State().Revision == before+1) != want {
			t.Errorf("beside %d of a later payment: withdrawn %t at revision %d", later, got, sub.State().Revision)
		}
		if sub.Withdraw(first) {
			t.Errorf("beside %d of a later payment: withdrawn twice", later)
		}
	}
}

func TestARefundThatFailsFillsThePeriodUp(t *testing.T) {
	t.Parallel()
	sub := holding(t, subscription.Fund{PaymentID: "pay_1", Value: 1000, Paid: 1000})
	if !refundFailed(sub, first, 300, false) || sub.State().PeriodValue != eur(1000) || sub.State().Withdrawn {
		t.Errorf("%+v, want a period worth no more than its price, with its access", sub.State())
	}
	if got := sub.State().Credit; got != eur(300) {
		t.Errorf("credit %d, want the 300 that the period is not worth", got.Minor)
	}
}

func TestASubscriptionThatIsOverKeepsWhatItWas(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	if _, err := sub.Cancel(subscription.CancelRequested, started); err != nil {
		t.Fatal(err)
	}
	before := sub.State()
	_, returned := sub.Returned(first, eur(1000))
	if returned || sub.Withdraw(first) || refundFailed(sub, first, 1000, true) || sub.Dispute("dsp_1", first) ||
		!reflect.DeepEqual(sub.State(), before) {
		t.Errorf("%+v became %+v", before, sub.State())
	}
}
