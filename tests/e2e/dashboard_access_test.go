package e2e_test

import (
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestACustomersPageSaysWhyAccessEnded(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		booked := w.booked(t)
		w.AsBackend(t, post, "/v1/appointments/"+booked.ID+"/cancel", JSON{}).Want(t, 200)
		session := w.session(t)
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		sold := text(t, w.Receipt(t, session)["subscriptionId"])
		w.AsBackend(t, post, "/v1/subscriptions/"+sold+"/pause", nil).Want(t, 200)
		v := w.Visit(t)
		for checkoutID, want := range map[string]string{
			booked.CheckoutID: "<small>Appointments canceled</small>",
			session.ID:        "<small>The subscription ended or is paused</small>",
		} {
			customer := text(t, w.Receipt(t, harness.Session{ID: checkoutID})["customerId"])
			shown := groupOf(v.Open(t, "/dashboard/customers/"+customer), "Access")
			if !strings.Contains(shown, want) {
				t.Errorf("%q is not in %s", want, shown)
			}
		}
	})
}
