package subscription_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// life is a subscription under random triggers, with what must always hold of it.
type life struct {
	t   *rapid.T
	sub *subscription.Subscription
	now time.Time
	// paidUntil is the end of the last period that was paid for or given as a trial.
	paidUntil time.Time
	charges   int
}

var plans = []plan.Offer{
	basic, pro, yearly, offer("week", 700, period.Week, 1, 0), offer("day", 100, period.Day, 1, 0), many(basic, 3), many(pro, 7),
}

// many is an offer in a quantity that it can be sold in.
func many(o plan.Offer, n int) plan.Offer {
	o, err := o.WithSeats(n)
	if err != nil {
		panic(err)
	}
	return o
}

func TestAnyLifeKeepsItsInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SampledFrom(append(plans, trial)).Draw(t, "plan")
		l := &life{t: t, sub: subscription.New(order(first), started), now: started}
		if _, err := l.sub.Activate(l.now); err != nil {
			t.Fatal(err)
		}
		l.paidUntil = l.sub.State().CurrentPeriodEnd
		t.Repeat(map[string]func(*rapid.T){
			"":        func(*rapid.T) { l.invariants() },
			"time":    l.pass,
			"bill":    func(*rapid.T) { l.bill(l.sub.NextBill(l.now)) },
			"resume":  func(*rapid.T) { l.resume() },
			"outcome": l.outcome,
			"change":  l.change,
			"plan":    func(t *rapid.T) { _, _ = l.sub.PlanFor(rapid.SampledFrom(plans).Draw(t, "plan")) },
			"pause":   func(*rapid.T) { _, _ = l.sub.Pause(l.now) },
			"cancel":  func(t *rapid.T) { l.cancel(rapid.IntRange(0, 5).Draw(t, "now") == 0) },
			"card":    func(t *rapid.T) { _, _, _ = l.sub.UseCard(fmt.Sprint("pm_", rapid.IntRange(1, 3).Draw(t, "card"))) },
			"system":  func(*rapid.T) { l.system() },
		})
	})
}

func (l *life) pass(t *rapid.T) {
	l.now = l.now.Add(time.Duration(rapid.Int64Range(0, int64(40*day)).Draw(t, "d")))
}

// bill starts a charge, or applies the bill when nothing is due.
func (l *life) bill(b subscription.Bill, err error) {
	if err != nil {
		return
	}
	if b.Due().Minor < 0 || b.CreditUsed.Minor < 0 || b.CreditAfter.Minor < 0 {
		l.t.Fatalf("a bill below nothing: %+v", b)
	}
	if b.Due().Minor == 0 {
		e, err := l.sub.Apply(b)
		l.applied(e, err)
		return
	}
	l.charges++
	if err := l.sub.StartCharge(fmt.Sprint("pay_", l.charges), b); err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) change(t *rapid.T) {
	mode := rapid.SampledFrom([]subscription.ProrationMode{subscription.ChargeNow, subscription.NextPeriod}).Draw(t,
		"mode")
	if mode == subscription.NextPeriod {
		return
	}
	l.bill(l.sub.ChangeBill(rapid.SampledFrom(plans).Draw(t, "to"), mode, l.now))
}

func (l *life) resume() {
	if _, err := l.sub.Resume(l.now); err != nil {
		l.bill(l.sub.ResumeBill(l.now))
	}
}

func (l *life) outcome(t *rapid.T) {
	id := fmt.Sprint("pay_", l.charges)
	if !l.sub.State().IsAwaiting(id) {
		return
	}
	switch code := rapid.SampledFrom([]string{"", "", "card_declined", "stolen_card", "unsent"}).Draw(t, "outcome"); code {
	case "":
		e, err := l.sub.Paid(id)
		l.applied(e, err)
	case "unsent":
		if err := l.sub.ChargeNotSent(id); err != nil {
			t.Fatal(err)
		}
	default:
		if _, err := l.sub.Declined(id, payment.DeclineReason{Code: payment.DeclineCode(code)}, l.now); err != nil {
			t.Fatal(err)
		}
	}
}

// applied checks that a renewal buys time that was not bought before.
func (l *life) applied(e subscription.Transition, err error) {
	if err != nil {
		l.t.Fatal(err)
	}
	s := l.sub.State()
	if _, ok := e.(subscription.Renewed); ok {
		if s.CurrentPeriodStart.Before(l.paidUntil) && !s.CurrentPeriodStart.Equal(s.TrialEndsAt) { // paid ends a trial
			l.t.Fatalf("the time from %s was paid for until %s", s.CurrentPeriodStart, l.paidUntil)
		}
		if s.Status != subscription.StatusActive || s.Planned != nil || s.Dunning != (subscription.Dunning{}) {
			l.t.Fatalf("renewed: %+v", s)
		}
	}
	l.paidUntil = s.CurrentPeriodEnd
}

func (l *life) cancel(now bool) {
	if now {
		_, _ = l.sub.Cancel(subscription.CancelRequested, l.now)
		return
	}
	_, _ = l.sub.CancelAtPeriodEnd(subscription.CancelRequested, l.now)
}

// system takes the steps that fall due.
func (l *life) system() {
	step, due := l.sub.State().Next()
	if step == subscription.NoStep || l.now.Before(due) {
		return
	}
	switch step {
	case subscription.NoStep:
	case subscription.StepRenew:
		l.bill(l.sub.NextBill(l.now))
	case subscription.StepEnd:
		if _, err := l.sub.End(l.now); err != nil {
			l.t.Fatal(err)
		}
	case subscription.StepExpire:
		if _, err := l.sub.Expire(l.now); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *life) invariants() {
	s := l.sub.State()
	if s.Credit.Minor < 0 || s.PeriodValue.Minor < 0 {
		l.t.Fatalf("less than nothing: %+v", s)
	}
	if !s.CurrentPeriodStart.Before(s.CurrentPeriodEnd) {
		l.t.Fatalf("a period without length: %s to %s", s.CurrentPeriodStart, s.CurrentPeriodEnd)
	}
	if (s.Status == subscription.StatusPastDue) == s.Dunning.FirstFailedAt.IsZero() && !s.Status.Terminal() {
		l.t.Fatalf("%s with %+v", s.Status, s.Dunning)
	}
	if s.Status.Terminal() && (s.Charge != nil || s.Planned != nil || s.EndedAt.IsZero() || s.GivesAccess(l.now)) {
		l.t.Fatalf("over and yet: %+v", s)
	}
	if (s.Status == subscription.StatusPaused) == s.PausedAt.IsZero() && !s.Status.Terminal() {
		l.t.Fatalf("%s, paused at %s", s.Status, s.PausedAt)
	}
	if s.TrialEndsAt.Equal(s.CurrentPeriodEnd) {
		return
	}
	_, start, end := period.Containing(s.Anchor, s.Offer.Interval, s.Offer.IntervalCount, s.CurrentPeriodStart)
	if !start.Equal(s.CurrentPeriodStart) || !end.Equal(s.CurrentPeriodEnd) {
		l.t.Fatalf("[%s, %s) is not a period from %s", s.CurrentPeriodStart, s.CurrentPeriodEnd, s.Anchor)
	}
}
