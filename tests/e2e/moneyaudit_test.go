package e2e_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// openLedger lets a test change the ledger, which both engines forbid.
func openLedger(t *testing.T, app *harness.App) {
	t.Helper()
	if strings.HasPrefix(app.DatabaseURL, "postgres") {
		app.Exec(t, "DROP TRIGGER ledger_postings_append_only ON ledger_postings")
		return
	}
	app.Exec(t, "DROP TRIGGER ledger_postings_no_update")
	app.Exec(t, "DROP TRIGGER ledger_postings_no_delete")
}

// Corrupting one row behind the program's back makes verify name it.
func TestVerifyNamesEveryCorruptedRowOfTheBooks(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil) // of its own: it does not survive
		w := newFixture(t, app)
		disputed, _ := w.dispute(t, w.book(t, 2000))
		cases := []struct {
			statement, id, named string
			whole                bool // only all rows can tell
		}{
			{
				statement: "UPDATE ledger_postings SET creator_pending = creator_pending + 1, disputed_funds = -1 " +
					"WHERE source_id = $1 AND kind = 'sale'",
				id: sold(t, w), named: "balance of " + w.ID, whole: true,
			},
			{statement: "UPDATE sales SET tax = tax + 1 WHERE id = $1", id: sold(t, w)},
			{statement: "UPDATE sales SET total = total + 1 WHERE id = $1", id: sold(t, w)},
			{statement: "UPDATE sales SET returned_tax = returned_tax + 1 WHERE id = $1", id: sold(t, w)},
			{statement: "UPDATE sales SET lost = lost + 1 WHERE id = $1", id: sold(t, w)},
			{statement: "UPDATE payments SET refunded = refunded + 1 WHERE id = $1", id: sold(t, w)},
			{statement: "UPDATE payments SET processor_fee = processor_fee + 1 WHERE id = $1", id: sold(t, w)},
			{statement: "DELETE FROM sales WHERE id = $1", id: sold(t, w)},
			{statement: "UPDATE refunds SET amount = amount + 1 WHERE id = $1", id: w.refunded(t)},
			{statement: "UPDATE refunds SET tax = tax + 1 WHERE id = $1", id: w.refunded(t)},
			{
				statement: "UPDATE grants SET end_reason = '', ended_at = NULL WHERE end_reason = 'refunded' AND $1 <> ''",
				id:        w.refundedInFull(t),
			},
			{statement: "UPDATE refunds SET currency = 'usd' WHERE id = $1", id: w.refunded(t)},
			{statement: "UPDATE refunds SET is_full = TRUE WHERE id = $1", id: w.refunded(t)},
			{statement: "UPDATE refunds SET is_full = FALSE WHERE id = $1", id: w.refundedInFull(t)},
			{statement: "UPDATE disputes SET amount = amount - 1 WHERE id = $1", id: disputed},
			{statement: "UPDATE payouts SET amount = amount + 1 WHERE id = $1", id: w.paid(t)},
			{statement: "UPDATE payouts SET currency = 'usd' WHERE id = $1", id: w.paid(t)},
			{statement: "UPDATE sales SET pending = pending + 1 WHERE id = $1", id: sold(t, w)},
			{
				statement: "INSERT INTO ledger_balances VALUES ($1, 'eur', '', 1, 0, 0, 0)", id: w.ID,
				named: "stored balance of " + w.ID, whole: true,
			},
			{
				statement: "INSERT INTO ledger_days VALUES ($1, 'eur', 0, 0, 0, 0, 1, 0, 0)", id: w.ID,
				named: "stored figures of a day of " + w.ID, whole: true,
			},
		}
		verified(t, app)
		openLedger(t, app)
		for _, c := range cases {
			app.Exec(t, c.statement, c.id)
			named := cmp.Or(c.named, c.id)
			if lines := violations(t, app, time.Time{}); !names(lines, named) {
				t.Errorf("after %s verify reports %q, nothing of %s", c.statement, lines, named)
			}
			if lines := violations(t, app, time.Now().Add(-time.Hour)); names(lines, named) == c.whole {
				t.Errorf("after %s verify of the last hour reports %q of %s", c.statement, lines, named)
			}
			if lines := violations(t, app, time.Now().Add(time.Minute)); names(lines, named) {
				t.Errorf("after %s verify of nothing reports %q", c.statement, lines)
			}
		}
	})
}

// violations returns the violations of what was made since a time; zero: of everything.
func violations(t *testing.T, app *harness.App, since time.Time) []string {
	t.Helper()
	verify := app.Program.Verify
	if !since.IsZero() {
		verify = func(ctx context.Context) ([]string, error) { return app.Program.VerifySince(ctx, since) }
	}
	lines, err := verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func names(lines []string, what string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, what) })
}

// sold is the payment of a sale.
func sold(t *testing.T, w *fixture) string {
	t.Helper()
	_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, harness.JSON{
		"customer": harness.JSON{"country": "DE"},
	})
	return text(t, receipt["paymentId"])
}

func TestTheLedgerCannotBeChanged(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		paymentID := sold(t, w)
		for _, statement := range []string{"UPDATE ledger_postings SET kind = 'refund' WHERE source_id = $1",
			"DELETE FROM ledger_postings WHERE source_id = $1"} {
			if err := app.TryExec(t, statement, paymentID); err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("%s: %v", statement, err)
			}
		}
		verified(t, app)
	})
}
