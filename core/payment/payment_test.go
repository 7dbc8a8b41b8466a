package payment_test

import (
	"reflect"
	"testing"
	"time"

	"sundry/core/money"
	"sundry/core/payment"
)

var all = []payment.Status{
	payment.Pending, payment.RequiresAction, payment.Processing, payment.Succeeded, payment.Declined, payment.Canceled,
}

// may is the drawn state machine: from each status, what the processor may report next.
var may = map[payment.Status][]payment.Status{
	payment.Pending: {payment.RequiresAction, payment.Processing, payment.Succeeded, payment.Declined,
		payment.Canceled},
	payment.RequiresAction: {payment.Processing, payment.Succeeded, payment.Declined, payment.Canceled},
	payment.Processing:     {payment.RequiresAction, payment.Succeeded, payment.Declined, payment.Canceled},
	payment.Canceled:       {payment.Succeeded},
}

func in(status payment.Status) *payment.Payment {
	p := payment.NewPending(payment.Intent{
		ID: "pay_1", CreatorID: "crt_1", Subject: payment.Subject{Purpose: payment.ForCheckout, SubjectID: "cs_1"},
		Amount: money.Amount{Minor: 100, Currency: "eur"}, Method: "pm_1", SaveCard: true,
	}, time.Unix(0, 0))
	s := p.State()
	s.Status = status
	return payment.Restore(s)
}

func TestEveryStatusTakesEveryOutcomeAsDrawn(t *testing.T) {
	t.Parallel()
	for _, from := range all {
		for _, to := range all {
			p, now := in(from), time.Unix(100, 0)
			before := p.State()
			changed, err := p.Apply(payment.Outcome{Status: to, Method: "pm_saved", Brand: "visa", Last4: "4242"}, now)
			after := p.State()
			allowed := false
			for _, next := range may[from] {
				allowed = allowed || next == to
			}
			switch {
			case from == to || to == payment.Pending:
				if changed || err != nil || !reflect.DeepEqual(after, before) {
					t.Errorf("%s gets %s again: changed %v, %v", from, to, changed, err)
				}
			case allowed:
				if !changed || err != nil || after.Status != to || after.Revision != before.Revision+1 ||
					after.Method != "pm_saved" || after.Last4 != "4242" {
					t.Errorf("%s to %s: %+v, %v", from, to, after, err)
				}
				if after.SettledAt.IsZero() == to.Final() {
					t.Errorf("%s to %s: settled at %s", from, to, after.SettledAt)
				}
			default:
				if changed || err == nil || !reflect.DeepEqual(after, before) {
					t.Errorf("%s to %s must be refused and change nothing: %+v, %v", from, to, after, err)
				}
			}
		}
	}
}

func TestOnlyASucceededPaymentIsDocumentedAndOnlyOnce(t *testing.T) {
	t.Parallel()
	for _, status := range all {
		p := in(status)
		before := p.State()
		err := p.Document("cus_1", "ABCDEF-R-000001")
		after := p.State()
		if status != payment.Succeeded {
			if err == nil || !reflect.DeepEqual(after, before) {
				t.Errorf("%s: %+v, %v", status, after, err)
			}
			continue
		}
		if err != nil || after.Sale.ReceiptNumber != "ABCDEF-R-000001" || after.CustomerID != "cus_1" ||
			after.Revision != before.Revision {
			t.Errorf("%+v, %v", after, err)
		}
		if err := p.Document("cus_2", "ABCDEF-R-000002"); err == nil || !reflect.DeepEqual(p.State(), after) {
			t.Errorf("documented twice: %+v", p.State())
		}
	}
}

func TestRefundsStayWithinWhatWasPaid(t *testing.T) {
	t.Parallel()
	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }
	for name, c := range map[string]struct {
		status   payment.Status
		refunded int64
		move     func(*payment.Payment) error
		want     int64 // refunded afterwards
		refused  bool
	}{
		"a part": {payment.Succeeded, 0, func(p *payment.Payment) error {
			return p.Refund(eur(40))
		}, 40, false},
		"a single minor unit": {payment.Succeeded, 0, func(p *payment.Payment) error {
			return p.Refund(eur(1))
		}, 1, false},
		"a single one comes back": {payment.Succeeded, 40, func(p *payment.Payment) error {
			return p.ReverseRefund(eur(1))
		}, 39, false},
		"the rest": {payment.Succeeded, 40, func(p *payment.Payment) error {
			return p.Refund(eur(60))
		}, 100, false},
		"a minor unit too much": {payment.Succeeded, 40, func(p *payment.Payment) error {
			return p.Refund(eur(61))
		}, 40, true},
		"nothing": {payment.Succeeded, 40, func(p *payment.Payment) error {
			return p.Refund(eur(0))
		}, 40, true},
		"another currency": {payment.Succeeded, 0, func(p *payment.Payment) error {
			return p.Refund(money.Amount{Minor: 1, Currency: "usd"})
		}, 0, true},
		"of a declined payment": {payment.Declined, 0, func(p *payment.Payment) error {
			return p.Refund(eur(1))
		}, 0, true},
		"a refund comes back": {payment.Succeeded, 40, func(p *payment.Payment) error {
			return p.ReverseRefund(eur(40))
		}, 0, false},
		"more comes back than went": {payment.Succeeded, 40, func(p *payment.Payment) error {
			return p.ReverseRefund(eur(41))
		}, 40, true},
		"nothing comes back": {payment.Succeeded, 40, func(p *payment.Payment) error {
			return p.ReverseRefund(eur(0))
		}, 40, true},
		"another currency came back": {payment.Succeeded, 40, func(p *payment.Payment) error {
			return p.ReverseRefund(money.Amount{Minor: 1, Currency: "usd"})
		}, 40, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := in(c.status).State()
			before.Refunded = eur(c.refunded)
			p := payment.Restore(before)
			err := c.move(p)
			after := p.State()
			if (err != nil) != c.refused || after.Refunded != eur(c.want) || (after.Revision == before.Revision) != c.refused {
				t.Errorf("%v: %+v", err, after)
			}
		})
	}
}

func TestTheProcessorsFeeIsKeptOfASuccess(t *testing.T) {
	t.Parallel()
	for _, status := range []payment.Status{payment.Succeeded, payment.Declined} {
		p := in(payment.Pending)
		if _, err := p.Apply(payment.Outcome{Status: status, Fee: money.Amount{Minor: 27, Currency: "eur"}},
			time.Unix(100, 0)); err != nil {
			t.Fatal(err)
		}
		if fee := p.State().ProcessorFee.Minor; (fee == 27) != (status == payment.Succeeded) {
			t.Errorf("%s: fee %d", status, fee)
		}
	}
}

func TestNothingFollowsAFinalStatusButLateMoney(t *testing.T) {
	t.Parallel()
	for status, want := range map[payment.Status]bool{
		payment.Pending: false, payment.RequiresAction: false, payment.Processing: false,
		payment.Succeeded: true, payment.Declined: true, payment.Canceled: true,
	} {
		if status.Final() != want {
			t.Errorf("%s is final: %v", status, !want)
		}
	}
}

func TestAnAttemptBeginsPending(t *testing.T) {
	t.Parallel()
	if s := in(payment.Pending).State(); s.Revision != 1 || s.Refunded != eur(0) || s.ProcessorFee != eur(0) {
		t.Errorf("%+v", s)
	}
}

func TestAnOutcomeReplacesOnlyWhatItKnows(t *testing.T) {
	t.Parallel()
	known := in(payment.Pending).State()
	known.Method, known.ProcessorID, known.Brand, known.Last4 = "pm_1", "pi_1", "visa", "4242"
	for name, c := range map[string]struct {
		outcome payment.Outcome
		want    func(*payment.State)
	}{
		"nothing":    {payment.Outcome{}, func(*payment.State) {}},
		"the method": {payment.Outcome{Method: "pm_2"}, func(s *payment.State) { s.Method = "pm_2" }},
		"the processor's": {payment.Outcome{ProcessorID: "pi_2"}, func(s *payment.State) {
			s.ProcessorID = "pi_2"
		}},
		"the card": {payment.Outcome{Brand: "mastercard", Last4: "4444"}, func(s *payment.State) {
			s.Brand, s.Last4 = "mastercard", "4444"
		}},
		"a fee in another currency": {payment.Outcome{Fee: money.Amount{Minor: 27, Currency: "usd"}},
			func(*payment.State) {}},
	} {
		p, want := payment.Restore(known), known
		c.outcome.Status = payment.Succeeded
		if _, err := p.Apply(c.outcome, time.Unix(100, 0)); err != nil {
			t.Fatal(err)
		}
		want.Status, want.SettledAt, want.Revision = payment.Succeeded, time.Unix(100, 0), known.Revision+1
		c.want(&want)
		if got := p.State(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestEventsAreNamed(t *testing.T) {
	t.Parallel()
	for event, want := range map[interface{ EventName() string }]string{
		&payment.Settled{}:   "payment.settled",
		&payment.Completed{}: "payment.completed", &payment.Failed{}: "payment.failed",
		&payment.Reversed{}: "payment.reversed",
	} {
		if got := event.EventName(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
