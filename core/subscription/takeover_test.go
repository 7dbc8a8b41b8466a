package subscription_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// takenOver is a subscription that another service began.
func takenOver(t *testing.T, o subscription.Order, from subscription.TakeOver) subscription.State {
	t.Helper()
	sub := subscription.New(o, started)
	created, err := sub.TakeOver(from, started)
	if err != nil {
		t.Fatal(err)
	}
	return created.State
}

func TestTakeOverKeepsWhatWasPaid(t *testing.T) {
	t.Parallel()
	o := order(basic)
	o.Discount = &subscription.Discount{Code: "TENTH", PercentOff: 10}
	s := takenOver(t, o, subscription.TakeOver{
		StartedAt: at("2025-05-31T08:00:00Z"), Anchor: at("2025-05-31T08:00:00Z"), PaidUntil: at("2026-02-28T08:00:00Z"),
		CreditInMinor: 250,
	})
	if s.Status != subscription.StatusActive || !s.CurrentPeriodStart.Equal(at("2026-01-31T08:00:00Z")) ||
		!s.CurrentPeriodEnd.Equal(at("2026-02-28T08:00:00Z")) || !s.StartedAt.Equal(at("2025-05-31T08:00:00Z")) {
		t.Errorf("%s from %s to %s", s.Status, s.CurrentPeriodStart, s.CurrentPeriodEnd)
	}
	if s.PeriodValue != eur(900) || s.Credit != eur(250) {
		t.Errorf("worth %v with credit %v", s.PeriodValue, s.Credit)
	}
	bill, err := subscription.Restore(s).NextBill(s.CurrentPeriodEnd)
	if err != nil || bill.Due() != eur(650) || !bill.PeriodEnd.Equal(at("2026-03-31T08:00:00Z")) {
		t.Errorf("next %v until %s, %v", bill.Due(), bill.PeriodEnd, err)
	}
}

func TestTakeOver_OfAnUncountableDiscount(t *testing.T) {
	t.Parallel()
	o := order(basic)
	o.Discount = &subscription.Discount{PercentOff: math.MaxInt}
	sub := subscription.New(o, started)
	before := sub.State()
	_, err := sub.TakeOver(subscription.TakeOver{PaidUntil: started.Add(7 * day)}, started)
	if !errors.Is(err, money.ErrOverflow) || !reflect.DeepEqual(sub.State(), before) {
		t.Errorf("%v: %+v", err, sub.State())
	}
}

func TestTakeOverOfATrial(t *testing.T) {
	t.Parallel()
	ends := started.Add(5 * day)
	s := takenOver(t, order(trial), subscription.TakeOver{StartedAt: started.Add(-9 * day), TrialEndsAt: ends})
	if s.Status != subscription.StatusTrialing || !s.TrialEndsAt.Equal(ends) || !s.Anchor.Equal(ends) ||
		!s.CurrentPeriodEnd.Equal(ends) || !s.CurrentPeriodStart.Equal(s.StartedAt) || s.PeriodValue.Minor != 0 {
		t.Errorf("%+v", s)
	}
}

func TestTakeOverLeavesADiscountOfOnce(t *testing.T) {
	t.Parallel()
	o := order(basic)
	o.Discount = &subscription.Discount{Code: "HALF", PercentOff: 50, Once: true}
	s := takenOver(t, o, subscription.TakeOver{PaidUntil: started.Add(7 * day), CancelAtPeriodEnd: true})
	if s.PeriodValue != eur(1000) || s.Discount == nil || !s.CancelAtPeriodEnd || !s.CanceledAt.Equal(started) {
		t.Errorf("%+v", s)
	}
	if step, due := s.Next(); step != subscription.StepEnd || !due.Equal(started.Add(7*day)) {
		t.Errorf("%s at %s", step, due)
	}
}

// A discount of once that is left for the next period reduces that one alone, whatever is changed before.
func TestTakeOverUsesADiscountOfOnceOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		to         plan.Offer
		due, after int64
	}{
		"another plan in the period": {pro, 2100, 1550},
		"a period that begins":       {yearly, 14000, 30000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := order(basic)
			o.Discount = &subscription.Discount{Code: "HALF", PercentOff: 50, Once: true}
			end := started.AddDate(0, 0, 28)
			sub := subscription.Restore(takenOver(t, o, subscription.TakeOver{PaidUntil: end, Anchor: end}))
			from := sub.State().CurrentPeriodStart
			bill, err := sub.ChangeBill(c.to, subscription.ChargeNow, from)
			if err != nil || bill.Due() != eur(c.due) {
				t.Fatalf("changes for %v, %v; want %d", bill.Due(), err, c.due)
			}
			if err := sub.StartCharge("pay_1", bill); err != nil {
				t.Fatal(err)
			}
			if _, err := sub.Paid("pay_1"); err != nil {
				t.Fatal(err)
			}
			next, err := sub.NextBill(sub.State().CurrentPeriodEnd)
			if err != nil || next.Due() != eur(c.after) {
				t.Errorf("renews for %v, %v; want %d", next.Due(), err, c.after)
			}
		})
	}
}

func TestTakeOver_AsFarAsItMayGo(t *testing.T) {
	t.Parallel()
	longest := started.Add(730 * day)
	tried := takenOver(t, order(trial), subscription.TakeOver{TrialEndsAt: longest, Anchor: longest})
	if !tried.TrialEndsAt.Equal(longest) || !tried.StartedAt.Equal(started) || !tried.CanceledAt.IsZero() ||
		tried.CancelReason != subscription.NotCanceled {
		t.Errorf("%+v", tried)
	}
	rich := takenOver(t, order(basic), subscription.TakeOver{PaidUntil: started.Add(day), CreditInMinor: 99_999_999_999})
	if rich.Credit != eur(99_999_999_999) || rich.PeriodValue != eur(1000) {
		t.Errorf("%+v", rich)
	}
	unbegun := subscription.New(order(basic), started.Add(-day))
	if e, err := unbegun.TakeOver(subscription.TakeOver{PaidUntil: started.Add(day)}, started); err != nil ||
		!e.StartedAt.Equal(started) {
		t.Errorf("without its start it began %s, %v", e.StartedAt, err)
	}
}

func TestTakeOverRefusals(t *testing.T) {
	t.Parallel()
	soon := started.Add(7 * day)
	for name, c := range map[string]struct {
		from subscription.TakeOver
		want string
	}{
		"neither time":             {subscription.TakeOver{}, "paidUntil REQUIRED"},
		"both times":               {subscription.TakeOver{PaidUntil: soon, TrialEndsAt: soon}, "paidUntil REQUIRED"},
		"a period that is over":    {subscription.TakeOver{PaidUntil: started}, "paidUntil OUT_OF_RANGE"},
		"more than a period ahead": {subscription.TakeOver{PaidUntil: started.Add(40 * day)}, "paidUntil OUT_OF_RANGE"},
		"a trial that is over":     {subscription.TakeOver{TrialEndsAt: started}, "trialEndsAt OUT_OF_RANGE"},
		"a trial of three years":   {subscription.TakeOver{TrialEndsAt: started.Add(1100 * day)}, "trialEndsAt OUT_OF_RANGE"},
		"a trial of a moment too long": {subscription.TakeOver{TrialEndsAt: started.Add(730*day + 1)},
			"trialEndsAt OUT_OF_RANGE"},
		"too much credit": {subscription.TakeOver{PaidUntil: soon, CreditInMinor: 100_000_000_000},
			"creditInCents OUT_OF_RANGE"},
		"an anchor beside a trial":      {subscription.TakeOver{TrialEndsAt: soon, Anchor: started}, "anchor NOT_ALLOWED"},
		"an anchor of other periods":    {subscription.TakeOver{PaidUntil: soon, Anchor: soon.Add(day)}, "anchor INVALID"},
		"a start in the future":         {subscription.TakeOver{PaidUntil: soon, StartedAt: soon}, "startedAt OUT_OF_RANGE"},
		"a debt in the place of credit": {subscription.TakeOver{PaidUntil: soon, CreditInMinor: -1}, "creditInCents OUT_OF_RANGE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := subscription.New(order(basic), started)
			_, err := sub.TakeOver(c.from, started)
			if !fault.Is(err, fault.ValidationFailed) || !strings.Contains(details(err), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if got := sub.State().Status; got != subscription.StatusIncomplete {
				t.Errorf("it is %s after a refusal", got)
			}
		})
	}
	sub := begin(t, basic)
	if _, err := sub.TakeOver(subscription.TakeOver{PaidUntil: soon}, started); !fault.Is(err, fault.StateConflict) {
		t.Errorf("a running one: %v", err)
	}
	once := order(basic)
	once.Offer.Interval, once.Offer.IntervalCount = "", 0
	_, err := subscription.New(once, started).TakeOver(subscription.TakeOver{PaidUntil: soon}, started)
	if !strings.Contains(details(err), "catalog NOT_ALLOWED") {
		t.Errorf("a one-time price: %v", err)
	}
	thousandths := order(basic)
	thousandths.Offer.Price.Currency = "kwd"
	_, err = subscription.New(thousandths, started).TakeOver(
		subscription.TakeOver{PaidUntil: soon, CreditInMinor: 1505}, started,
	)
	if !strings.Contains(details(err), "creditInCents NOT_ALLOWED") {
		t.Errorf("credit in thousandths: %v", err)
	}
}

// details lists the faults of an error: field and code of each.
func details(err error) string {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return ""
	}
	var all []string
	for _, d := range refused.Details {
		all = append(all, d.Field+" "+d.Code)
	}
	return strings.Join(all, ", ")
}
