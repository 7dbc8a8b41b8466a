package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// planted is a corruption of rows about an id, and what verify must name after it.
type planted struct{ name, statement, id, named string }

// TestVerifyNamesWhatNoOtherTableRepeats plants faults one after the other in one database, each about a subject of its
// own, and wants a new line about each.
func TestVerifyNamesWhatNoOtherTableRepeats(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil) // of its own: it does not survive
		w := newFixture(t, app)
		cases := slices.Concat(w.plantedSales(t), w.plantedUsage(t), w.plantedSubscriptions(t), w.plantedPayouts(t))
		for range 5 {
			w.advance(t, int64(7*day/time.Second)) // periods are renewed and closed, sales released
		}
		cases = append(cases, w.plantedInvoices(t)...)
		verified(t, app)
		openLedger(t, app)
		known := []string{}
		for _, c := range cases {
			app.Exec(t, c.statement, c.id)
			lines, err := app.Program.Verify(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if !slices.ContainsFunc(lines, func(line string) bool {
				return strings.Contains(line, c.named) && !slices.Contains(known, line)
			}) {
				t.Errorf("%s: verify reports %q, nothing new of %s", c.name, lines, c.named)
			}
			known = append(known, lines...)
		}
	})
}

// plantedSales are about sales of 20.00 with 3.19 of tax contained.
func (w *fixture) plantedSales(t *testing.T) (cases []planted) {
	t.Helper()
	for _, c := range []struct{ name, statement string }{
		{"the tax of a payment", "UPDATE payments SET sale = REPLACE(sale, '319', '318') WHERE id = $1"},
		{"the total of a payment", "UPDATE payments SET sale = REPLACE(sale, '2000', '2001') WHERE id = $1"},
		{"the tax of a receipt's column", "UPDATE documents SET tax = tax - 1 WHERE subject_id = $1"},
		{
			"the tax of a receipt everywhere",
			"UPDATE documents SET tax = 318, snapshot = REPLACE(REPLACE(snapshot, '319', '318'), '1681', '1682') WHERE subject_id = $1",
		},
		{
			"the parts of a receipt by rate",
			"UPDATE documents SET snapshot = REPLACE(snapshot, '1681', '1680') WHERE subject_id = $1",
		},
		{
			"the total of a receipt's snapshot",
			`UPDATE documents SET snapshot = REPLACE(snapshot, '"total":{"Minor":2000', '"total":{"Minor":2001') WHERE subject_id = $1`,
		},
		{"the day of a receipt", "UPDATE documents SET issued_at = issued_at - 31536000000 WHERE subject_id = $1"},
		{
			"a deleted processor fee",
			"DELETE FROM ledger_postings WHERE source_id = $1 AND kind = 'processor_fee'",
		},
		{"a sale that was released", "UPDATE sales SET released = FALSE WHERE id = $1"},
		{"a sale's day of release", "UPDATE sales SET available_at = available_at + 31536000000 WHERE id = $1"},
		{"a deleted session", "DELETE FROM sessions WHERE payment_id = $1"},
	} {
		id := sold(t, w)
		cases = append(cases, planted{c.name, c.statement, id, id})
	}
	return append(cases, planted{
		"a number that is none", "UPDATE documents SET number = number || 'X' WHERE subject_id = $1", sold(t, w), w.ID + "/R",
	}, planted{
		"the tax of a session", "UPDATE sessions SET tax = tax - 1 WHERE payment_id = $1", sold(t, w),
		"is paid, but its payment does not match its total",
	})
}

// plantedUsage are about billing plans whose first day has been billed.
func (w *fixture) plantedUsage(t *testing.T) (cases []planted) {
	t.Helper()
	const rollup = " WHERE invoice_id <> '' AND stream_id = (SELECT id FROM usage_streams WHERE plan_id = $1)"
	for _, c := range []struct{ name, statement string }{
		{"a billed period", "UPDATE usage_rollups SET invoice_id = '', billed = 0, billed_quantity = '0'" + rollup},
		{"a deleted usage invoice", "DELETE FROM invoices WHERE billing_plan_id = $1"},
		{"a billed amount", "UPDATE usage_rollups SET billed = billed + 10" + rollup},
		{"a billed quantity", "UPDATE usage_rollups SET billed_quantity = '3'" + rollup},
		{
			"a skipped period",
			"UPDATE usage_billing_plans SET current_start = current_start + 86400000, current_end = current_end + 86400000 WHERE id = $1",
		},
		{
			"the tiers of a price",
			`UPDATE usage_prices SET tiers = REPLACE(tiers, '"10"', '"11"') WHERE id = (SELECT price_id FROM usage_billing_plans WHERE id = $1)`,
		},
	} {
		m := w.metered(t, harness.CardSucceeds)
		m.report(t, "5")
		cases = append(cases, planted{c.name, c.statement, m.planID, m.planID})
	}
	return cases
}

func (w *fixture) plantedSubscriptions(t *testing.T) (cases []planted) {
	t.Helper()
	for _, c := range []struct{ name, statement string }{
		{"a period's end", "UPDATE subscriptions SET current_period_end = current_period_end + 2592000000 WHERE id = $1"},
		{"a credit", "UPDATE subscriptions SET credit = credit + 5000 WHERE id = $1"},
		{"the value of the period", "UPDATE subscriptions SET period_value = period_value + 100 WHERE id = $1"},
		{"an anchor", "UPDATE subscriptions SET anchor = anchor - 86400000 WHERE id = $1"},
		{
			"the price of an offer",
			`UPDATE subscriptions SET offer = REPLACE(offer, '"Minor":1000', '"Minor":1001') WHERE id = $1`,
		},
		{"a status", "UPDATE subscriptions SET status = 'canceled' WHERE id = $1"},
		{"the value of a paid period", "UPDATE subscription_periods SET value = value + 1 WHERE subscription_id = $1"},
	} {
		id := w.recurring(t)
		cases = append(cases, planted{c.name, c.statement, id, id})
	}
	return cases
}

func (w *fixture) plantedPayouts(t *testing.T) []planted {
	t.Helper()
	stated, gone := w.paid(t), w.paid(t)
	return []planted{
		{"a deleted payout statement", "DELETE FROM documents WHERE subject_id = $1", stated, stated},
		{"a deleted payout", "DELETE FROM payouts WHERE id = $1", gone, gone + " is gone"},
	}
}

func (w *fixture) plantedInvoices(t *testing.T) []planted {
	t.Helper()
	m := w.metered(t, harness.CardSucceeds)
	lines, paid, again := m.pushed(t), m.pushed(t), m.pushed(t)
	return []planted{
		{
			"a line of an invoice",
			`UPDATE invoices SET lines = REPLACE(lines, '"amountMinor":500', '"amountMinor":400') WHERE id = $1`, lines.ID,
			lines.ID,
		},
		{
			"a second charge", "UPDATE payments SET subject_id = '" + paid.ID + "' WHERE subject_id = $1", again.ID,
			paid.ID + " was charged again",
		},
	}
}
