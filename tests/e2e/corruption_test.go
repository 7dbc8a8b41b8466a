package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// openReservations lets a test make reservations overlap, which both engines forbid.
func openReservations(t *testing.T, app *harness.App) {
	t.Helper()
	if strings.HasPrefix(app.DatabaseURL, "postgres") {
		app.Exec(t, "ALTER TABLE reservations DROP CONSTRAINT reservations_never_overlap")
		return
	}
	app.Exec(t, "DROP TRIGGER reservations_update_never_overlaps")
}

// openSnapshots lets a test delete a snapshot that grants refer to. SQLite leaves that to the connection.
func openSnapshots(t *testing.T, app *harness.App) {
	t.Helper()
	if strings.HasPrefix(app.DatabaseURL, "postgres") {
		app.Exec(t, "ALTER TABLE sandbox_refunds DROP CONSTRAINT sandbox_refunds_payment_id_fkey")
	}
}

// Corrupting a rollup, a reservation, a snapshot or a session behind the program's back makes verify name it.
func TestVerifyNamesEveryCorruptedRowBesideTheBooks(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil) // of its own: it does not survive
		w := newFixture(t, app)
		m := w.usageOf(t)
		m.report(t, "3")
		m.counts(t, "3")
		first, second := w.booked(t), w.booked(t)
		open := w.session(t)
		refunded := w.refunded(t)
		_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
		sold := text(t, receipt["paymentId"])
		w.card(t, w.customer(t)) // a charge of the sandbox without a payment
		customer := harness.Unique("user")
		w.grant(t, customer)
		consume := harness.JSON{"key": "renders", "amount": 3, "idempotencyKey": "use-1"}
		w.AsBackend(t, post, "/v1/customer-access/"+customer+"/credits/consume", consume).Want(t, 200)
		verified(t, app)
		openReservations(t, app)
		openSnapshots(t, app)
		for _, c := range []struct{ statement, id, named string }{
			{
				"UPDATE usage_rollups SET quantity = '4' WHERE creator_id = $1", w.ID,
				m.subscriptionID + ", meter " + m.meterID,
			},
			{
				"UPDATE usage_rollups SET quantity = '3', reports = 2 WHERE creator_id = $1", w.ID,
				"the count of the period is not that of its reports",
			},
			{
				"UPDATE usage_days SET reports = 9 WHERE creator_id = $1", w.ID,
				m.meterID + ": the use of its days",
			},
			{
				"UPDATE reservations SET status = 'canceled' WHERE checkout_id = $1", first.CheckoutID,
				first.ID + ": an appointment and its reservation",
			},
			{
				"UPDATE reservations SET blocked_until = blocked_until + 864000000, status = 'confirmed' WHERE checkout_id = $1",
				first.CheckoutID, "overlaps another",
			},
			{
				"UPDATE reservations SET starts_at = starts_at + 1 WHERE checkout_id = $1", second.CheckoutID,
				second.ID + ": an appointment and its reservation",
			},
			{
				"UPDATE access_snapshots SET version = version + 1 WHERE external_customer_id = $1",
				*second.ExternalCustomerID, *second.ExternalCustomerID,
			},
			{"UPDATE sessions SET total = total + 1 WHERE id = $1", open.ID, open.ID + " is open, but its total"},
			{
				"UPDATE sessions SET live_payment_id = 'pay_nowhere' WHERE id = $1", open.ID,
				open.ID + " is open, but its live payment",
			},
			{"UPDATE credit_uses SET balance = balance + 1 WHERE creator_id = $1", w.ID, "/use-1 is not complete"},
			{"DELETE FROM credit_uses WHERE creator_id = $1", w.ID, "/use-1 is not complete"},
			{
				"UPDATE sandbox_charges SET outcome = '{}' WHERE payment_id = $1", sold,
				sold + " is not what the sandbox processor charged",
			},
			{
				"DELETE FROM sandbox_charges WHERE payment_id = $1", sold,
				sold + " is not what the sandbox processor charged",
			},
			{
				"DELETE FROM sandbox_refunds WHERE refund_id = $1", refunded,
				refunded + " is not what the sandbox processor refunded",
			},
			{
				"DELETE FROM events WHERE type = 'appointment.booked' AND creator_id = $1", w.ID,
				"the events of " + w.ID + " are not complete: position",
			},
			{
				"DELETE FROM access_snapshots WHERE external_customer_id = $1", *second.ExternalCustomerID,
				*second.ExternalCustomerID + ": the snapshot is gone",
			},
		} {
			app.Exec(t, c.statement, c.id)
			lines, err := app.Program.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, c.named) }) {
				t.Errorf("after %s verify reports %q, nothing of %s", c.statement, lines, c.named)
			}
		}
	})
}
