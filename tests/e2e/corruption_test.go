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
		verified(t, app)
		openReservations(t, app)
		for _, c := range []struct{ statement, id, named string }{
			{"UPDATE usage_rollups SET quantity = '4' WHERE creator_id = $1", w.ID, "the count of the period is not that of its reports"},
			{"UPDATE usage_rollups SET quantity = '3', reports = 2 WHERE creator_id = $1", w.ID, "the count of the period is not that of its reports"},
			{"UPDATE reservations SET status = 'canceled' WHERE checkout_id = $1", first.CheckoutID, first.ID + ": an appointment and its claim"},
			{"UPDATE reservations SET blocked_until = blocked_until + 864000000, status = 'confirmed' WHERE checkout_id = $1", first.CheckoutID, "overlaps another"},
			{"UPDATE reservations SET starts_at = starts_at + 1 WHERE checkout_id = $1", second.CheckoutID, second.ID + ": an appointment and its claim"},
			{"UPDATE access_snapshots SET version = version + 1 WHERE external_customer_id = $1", *second.ExternalCustomerID, *second.ExternalCustomerID},
			{"UPDATE sessions SET total = total + 1 WHERE id = $1", open.ID, open.ID + " is open, but its total"},
			{"UPDATE sessions SET live_payment_id = 'pay_nowhere' WHERE id = $1", open.ID, open.ID + " is open, but its live payment"},
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
