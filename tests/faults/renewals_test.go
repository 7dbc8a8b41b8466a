package faults

import (
	"fmt"
	"net/http"
	"testing"

	"sundry/tests/harness"
)

// subscribers makes n customers with a monthly plan, every other one with a card whose charges are captured and time
// out.
func subscribers(t *testing.T, a *harness.Account, n int) {
	t.Helper()
	listing := a.Published(t, harness.JSON{
		"type": "SUBSCRIPTION", "title": "Press time", "priceInCents": 1000,
		"metadata": harness.JSON{"interval": "month", "intervalCount": 1},
	})
	for i := range n {
		session := a.NewSession(t, listing, "default", fmt.Sprintf("cust-%d", i), nil)
		customer := a.Pay(t, session, harness.CardSucceeds).Want(t, http.StatusOK).Map(t)["customerId"].(string)
		if i%2 == 1 {
			a.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+customer+"/cards",
				harness.JSON{"cardNumber": harness.CardTimesOut}).Want(t, http.StatusCreated)
		}
	}
}

// wantEachPaidOnce waits for every subscription to be renewed, and counts the money.
func (d *Deployment) wantEachPaidOnce(t *testing.T, n int) {
	t.Helper()
	const renewed = "SELECT COUNT(*) FROM subscription_periods WHERE kind = 'renewal'"
	harness.Eventually(
		t, "all subscriptions are renewed", func() bool { return d.Count(t, renewed) == n },
	)
	harness.Eventually(t, "no charge is left", func() bool {
		return d.Count(t, "SELECT COUNT(*) FROM tasks WHERE kind = 'payment.charge'") == 0
	})
	for what, query := range map[string]string{
		"charges of ours":          "SELECT COUNT(*) FROM payments WHERE purpose = 'subscription'",
		"that succeeded":           "SELECT COUNT(*) FROM payments WHERE purpose = 'subscription' AND status = 'succeeded'",
		"charges at the processor": "SELECT COUNT(*) FROM sandbox_charges c JOIN payments p ON p.id = c.payment_id WHERE p.purpose = 'subscription'",
		"receipts":                 "SELECT COUNT(DISTINCT sale) FROM payments WHERE purpose = 'subscription'",
		"events":                   "SELECT COUNT(*) FROM events WHERE type = 'subscription.renewed'",
	} {
		if got := d.Count(t, query); got != n {
			t.Errorf("%d %s, want %d", got, what, n)
		}
	}
	d.Verify(t)
}

func TestRenewalsOfAKilledWorkerAreChargedOnce(t *testing.T) {
	t.Parallel()
	for name, deploy := range map[string]func(testing.TB) *Deployment{"asynq": Distributed, "in process": WithoutRedis} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploy(t)
			serve := d.Start(t, "serve", nil)
			workers := []*Process{d.Start(t, "worker", nil), d.Start(t, "worker", nil)}
			a := serve.App.NewAccount(t)
			subscribers(t, a, 40)
			d.putForward(t, a.ID, 32*day)
			harness.Eventually(t, "the workers are at it", func() bool {
				return d.Count(t, "SELECT COUNT(*) FROM payments WHERE purpose = 'subscription'") > 0
			})
			workers[0].Kill()
			workers[1].Kill()
			t.Logf("killed after %d of 40", d.Count(t, "SELECT COUNT(*) FROM subscription_periods"))
			d.Start(t, "worker", nil)
			d.Start(t, "worker", nil)
			d.wantEachPaidOnce(t, 40)
		})
	}
}
