package e2e_test

import (
	"os"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// cure returns the SQL of a section of docs/verify.md, with its placeholders replaced in pairs.
func cure(t *testing.T, section string, replacements ...string) string {
	t.Helper()
	document, err := os.ReadFile("../../docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(document), "\n### "+section+"\n")
	rest, _, _ = strings.Cut(rest, "\n### ")
	_, statement, hasSQL := strings.Cut(rest, "```sql\n")
	statement, _, _ = strings.Cut(statement, ";\n```")
	if !found || !hasSQL {
		t.Fatalf("docs/verify.md has no SQL under %q", section)
	}
	return strings.NewReplacer(replacements...).Replace(statement)
}

// TestCuresOfVerifyWork corrupts a row for each cure of docs/verify.md, carries the cure out as the document has it,
// and wants all invariants to hold again.
func TestCuresOfVerifyWork(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil) // of its own: others would see the faults
		w := newFixture(t, app)
		for _, c := range w.cures(t) {
			verified(t, app)
			c.corrupt()
			found, err := app.Program.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(found, "\n"), c.line) {
				t.Fatalf("%s: verify reports %q, nothing of %q", c.section, found, c.line)
			}
			c.cure()
			harness.Eventually(t, "all invariants hold after: "+c.section, func() bool {
				found, err = app.Program.Verify(t.Context())
				return err == nil && len(found) == 0
			})
		}
	})
}

// cured is a section of docs/verify.md with what leads to it.
type cured struct {
	section, line string
	corrupt, cure func()
}

func (w *fixture) cures(t *testing.T) []cured {
	t.Helper()
	app := w.App
	run := func(statement string, args ...any) func() { return func() { app.Exec(t, statement, args...) } }
	ask := func(method, path string, body any, status int) func() {
		return func() { w.AsBackend(t, method, path, body).Want(t, status) }
	}
	hook := w.endpoint(t)
	w.advance(t, 3600) // every event from now on must have a delivery
	refunded, released, held, totaled, overdue := sold(t, w), sold(t, w), w.holding(t), w.session(t), w.session(t)
	discount := text(t, w.AsCreator(t, post, "/v1/discounts",
		harness.JSON{"code": "CURED", "percentOff": 10, "duration": "once"}).Want(t, 201).Map(t)["id"])
	customer := harness.Unique("user")
	w.Pay(t, w.NewSession(t, w.listing, "pro", customer, nil), harness.CardSucceeds).Want(t, 200)
	meter := w.subscribed(t, harness.CardSucceeds, "SUM").meterID
	return []cured{
		{
			"Put the row back", refunded + " succeeded, but the ledger has no such sale",
			run("UPDATE payments SET refunded = refunded + 1 WHERE id = $1", refunded),
			run("UPDATE payments SET refunded = refunded - 1 WHERE id = $1", refunded),
		},
		{
			"Sum the balance again", "the stored balance of " + w.ID,
			run("INSERT INTO ledger_balances VALUES ($1, 'eur', '', 1, 0, 0, 0)", w.ID),
			run(cure(t, "Sum the balance again", "ACCOUNT", w.ID)),
		},
		{
			"Sum the days again", "the stored figures of a day of " + w.ID,
			run("INSERT INTO ledger_days VALUES ($1, 'eur', 0, 1, 0, 0, 0, 0, 0)", w.ID),
			run(cure(t, "Sum the days again", "ACCOUNT", w.ID)),
		},
		{
			"Count the days again", meter + ": the use of its days",
			run("INSERT INTO usage_days VALUES ($1, 0, 0, $2, 'SUM', '1', NULL, '', 1)", meter, w.ID),
			run(cure(t, "Count the days again")),
		},
		{
			"Count the discount again", "discount " + discount,
			run("UPDATE discounts SET redeemed = 7 WHERE id = $1", discount),
			run(cure(t, "Count the discount again", "DISCOUNT", discount)),
		},
		{
			"Release the time", held.ID + " is not open any more",
			run("UPDATE sessions SET status = 'expired' WHERE id = $1", held.ID),
			run(cure(t, "Release the time", "SESSION", held.ID)),
		},
		{
			"End the session", totaled.ID + " is open, but its total",
			run("UPDATE sessions SET total = total + 1 WHERE id = $1", totaled.ID),
			ask(post, "/v1/checkout-sessions/"+totaled.ID+"/expire", nil, 200),
		},
		{
			"Schedule again", "sale " + released + " is released at another time",
			run("DELETE FROM tasks WHERE kind = 'treasury.release' AND subject = $1", released),
			run(cure(t, "Schedule again", "KIND", "treasury.release", "SUBJECT", released, "ACCOUNT", w.ID)),
		},
		{
			"Schedule again", overdue.ID + " is past its expiry",
			func() {
				run("DELETE FROM tasks WHERE kind = 'checkout.expire' AND subject = $1", overdue.ID)()
				run("UPDATE sessions SET expires_at = 0 WHERE id = $1", overdue.ID)()
			},
			run(cure(t, "Schedule again", "KIND", "checkout.expire", "SUBJECT", overdue.ID, "ACCOUNT", w.ID)),
		},
		{
			"Fold the access again", "is not the fold of the grants",
			run("UPDATE access_snapshots SET body = '{}' WHERE external_customer_id = $1", customer),
			func() {
				granted := w.grant(t, customer)
				ask("DELETE", "/v1/customer-access/"+customer+"/grants/"+granted, nil, 200)()
			},
		},
		{
			"Send again", "has no delivery to " + hook,
			run("DELETE FROM deliveries WHERE endpoint_id = $1", hook),
			ask(post, "/v1/webhook-endpoints/"+hook+"/replay", harness.JSON{"from": "2000-01-01T00:00:00.000Z"}, 202),
		},
	}
}

// holding is an open session that holds a time.
func (w *fixture) holding(t *testing.T) (session harness.Session) {
	t.Helper()
	w.AsBackend(t, post, "/v1/checkout-sessions", harness.JSON{
		"listingId": w.sessionHours(t).ID, "successUrl": "https://shop.example/thanks",
		"appointmentSlot": harness.JSON{"startsAt": w.openTime(t), "timezone": "Asia/Kathmandu", "deliveryMode": "virtual"},
	}).Want(t, 201).Into(t, &session)
	return session
}
