package e2e_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/adapters/cli"
	"sundry/bootstrap"
	"sundry/config"
	"sundry/tests/harness"
	"sundry/tests/stripefake"
	"sundry/tests/testdb"
)

// reconciled runs sundry reconcile on a database that nobody serves, and returns what it says of each payment and last.
func reconciled(t *testing.T, databaseURL string, vars map[string]string, args ...string) (
	lines map[string]string, last string, err error) {
	t.Helper()
	env := maps.Clone(vars)
	env["DATABASE_URL"], env["DATA_DIR"], env["SEED_DEMO"] = databaseURL, t.TempDir(), "false"
	cfg, err := config.FromMap(env)
	if err != nil {
		t.Fatal(err)
	}
	var out, notes strings.Builder
	err = cli.Run(t.Context(), append([]string{"reconcile"}, args...), cli.Host{
		Out: &out, Err: &notes, Open: func(ctx context.Context) (*cli.App, error) {
			program, err := bootstrap.New(ctx, cfg, slog.New(slog.DiscardHandler), bootstrap.Options{})
			if err != nil {
				return nil, err
			}
			return program.ForCommands(), nil
		},
	})
	if notes.Len() > 0 {
		t.Errorf("noted %q", notes.String())
	}
	lines = map[string]string{}
	all := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range all[:len(all)-1] {
		payment, rest, _ := strings.Cut(line, " ")
		_, remedy, _ := strings.Cut(rest, ": ")
		lines[payment], _, _ = strings.Cut(remedy, ":")
	}
	return lines, all[len(all)-1], err
}

// TestReconcile_AfterRecovery sells, takes a copy, sells on, loses the database, and goes on from the copy.
func TestReconcile_AfterRecovery(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		fake := stripefake.New(t)
		vars := map[string]string{
			"STRIPE_SECRET_KEY": "sk_test_1", "STRIPE_PUBLISHABLE_KEY": "pk_test_1", "STRIPE_API_BASE": fake.URL,
			"STRIPE_WEBHOOK_SECRET": stripeWebhookSecret, "APP_SECRET": "a secret of forty characters, for tests.",
		}
		lost := engine.URL(t)
		app := harness.On(t, engine, lost, vars)
		s := stripeShop{app.NewAccount(t), app, fake}
		vars["BASE_URL"] = app.URL // which tokens name
		restart := func(url string) {
			t.Helper()
			s.app = harness.On(t, engine, url, vars)
			s.App = s.app
		}
		paymentOf := func(session harness.Session) string {
			t.Helper()
			return text(t, s.payment(t, session)["metadata"].(map[string]any)["payment_id"])
		}

		before, refundedLater := s.open(t), s.open(t)
		s.submit(t, before, stripefake.Succeeds).Want(t, 200)
		s.submit(t, refundedLater, stripefake.Succeeds).Want(t, 200)
		s.advanceDays(t, 10) // so that the money is available
		described, opened, challenged := s.open(t), s.open(t), s.open(t)
		s.app.Ask(t, harness.Request{Method: post, Path: "/c/" + described.Secret() + "/details", Body: harness.JSON{
			"email": "ada@example.com", "country": "IE",
		}}).Want(t, 200)
		s.submit(t, challenged, stripefake.Challenges).Want(t, 200)
		s.AsBackend(t, post, "/v1/payout-account-sessions", harness.JSON{
			"country": "IE", "returnUrl": "https://shop.example/back",
		}).Want(t, 201)
		accountID := text(t, s.account(t)["accountId"])
		s.fake.Onboard(accountID)
		s.reports(t, "evt_ready", accountID, "ready")
		if err := s.app.Close(); err != nil {
			t.Fatal(err)
		}
		point := time.Now()
		restored := engine.Copy(t, lost)

		restart(lost)
		for _, session := range []harness.Session{described, opened} {
			s.submit(t, session, stripefake.Succeeds).Want(t, 200)
		}
		s.fake.Challenge(t, paymentOf(challenged), true)
		s.app.Ask(t, harness.Request{
			Method: post, Path: "/c/" + challenged.Secret() + "/authenticate", Body: harness.JSON{"approve": true},
		}).Want(t, 200)
		s.AsBackend(t, post, "/v1/refunds", harness.JSON{
			"paymentId": paymentOf(refundedLater), "amountInCents": 500, "reason": "asked",
		}).Want(t, 201)
		paidOut := text(t, s.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 1200}).
			Want(t, 201).Map(t)["id"])
		created := s.open(t)
		s.submit(t, created, stripefake.Succeeds).Want(t, 200)
		otherShop := stripeShop{s.app.NewAccount(t), s.app, fake}
		foreign := otherShop.open(t)
		otherShop.submit(t, foreign, stripefake.Succeeds).Want(t, 200)
		if err := s.app.Close(); err != nil {
			t.Fatal(err)
		}

		want := map[string]string{
			paymentOf(described): "settled", paymentOf(challenged): "settled", paymentOf(opened): "refunded",
			paymentOf(created): "refunded", paymentOf(refundedLater): "refund recorded", paymentOf(foreign): "left open", paidOut: "payout recorded",
		}
		asked := fake.Count("POST")
		for _, args := range [][]string{{point.Format(time.RFC3339)}, {"--apply", point.Format(time.RFC3339)}} {
			if n := fake.Count("POST"); n != asked {
				t.Errorf("%d requests changed something at Stripe, want none", n-asked)
			}
			got, last, err := reconciled(t, restored, vars, args...)
			if !maps.Equal(got, want) || err == nil || !strings.HasPrefix(last, "differences: 7") {
				t.Errorf("%v: got %v, %q, %v; want %v and an error", args, got, last, err, want)
			}
		}
		asked = fake.Count("POST")
		again, _, err := reconciled(t, restored, vars, "--apply", point.Format(time.RFC3339))
		if len(again) != 1 || again[paymentOf(foreign)] != "left open" || err == nil || fake.Count("POST") != asked {
			t.Errorf("again it finds %v, %v, with %d requests", again, err, fake.Count("POST")-asked)
		}

		restart(restored)
		for _, session := range []harness.Session{before, refundedLater, described, challenged} {
			if got := s.Receipt(t, session)["status"]; got != "paid" {
				t.Errorf("a session that was settled is %v", got)
			}
		}
		if got := s.Receipt(t, opened)["status"]; got != "processing" {
			t.Errorf("a session whose payment went back is %v, want it to be paid again", got)
		}
		if got := s.refundsOf(t, paymentOf(refundedLater)); !slices.Equal(got,
			[]string{"succeeded refunded_at_processor 500"}) {
			t.Errorf("the lost refund is %q", got)
		}
		for session, refunded := range map[harness.Session]int64{
			before: 0, refundedLater: 500, described: 0, challenged: 0, opened: 2000, created: 2000, foreign: 0,
		} {
			if got := fake.Refunded(paymentOf(session)); got != refunded {
				t.Errorf("Stripe returned %d of %s, want %d", got, session.ID, refunded)
			}
		}
		if got := s.payoutStatuses(t); !slices.Equal(got, []string{"paid 1200"}) {
			t.Errorf("the lost payout is %q", got)
		}
		verified(t, s.app)
		if unkeyed := fake.Unkeyed(); len(unkeyed) > 0 {
			t.Errorf("sent without an idempotency key: %v", unkeyed)
		}
	})
}
