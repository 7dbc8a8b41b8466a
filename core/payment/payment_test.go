package payment_test

import (
	"testing"
	"time"

	"sundry/core/money"
	"sundry/core/payment"
)

var all = []payment.Status{
	payment.Pending, payment.RequiresAction, payment.Processing, payment.Succeeded, payment.Declined, payment.Canceled,
}

// may is the drawn state machine: from each status, what the processor may say next.
var may = map[payment.Status][]payment.Status{
	payment.Pending:        {payment.RequiresAction, payment.Processing, payment.Succeeded, payment.Declined, payment.Canceled},
	payment.RequiresAction: {payment.Processing, payment.Succeeded, payment.Declined, payment.Canceled},
	payment.Processing:     {payment.RequiresAction, payment.Succeeded, payment.Declined, payment.Canceled},
	payment.Canceled:       {payment.Succeeded},
}

func in(status payment.Status) *payment.Payment {
	p := payment.Intend("pay_1", "crt_1", "cs_1", money.Amount{Minor: 100, Currency: "eur"}, "pm_1", true, time.Unix(0, 0))
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
				if changed || err != nil || after != before {
					t.Errorf("%s told %s again: changed %v, %v", from, to, changed, err)
				}
			case allowed:
				if !changed || err != nil || after.Status != to || after.Revision != before.Revision+1 || after.Method != "pm_saved" || after.Last4 != "4242" {
					t.Errorf("%s to %s: %+v, %v", from, to, after, err)
				}
				if after.SettledAt.IsZero() == to.Final() {
					t.Errorf("%s to %s: settled at %s", from, to, after.SettledAt)
				}
			default:
				if changed || err == nil || after != before {
					t.Errorf("%s to %s must be refused and change nothing: %+v, %v", from, to, after, err)
				}
			}
		}
	}
}
