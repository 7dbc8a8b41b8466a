package e2e_test

import (
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// scrape reads the metrics.
func scrape(t *testing.T, app *harness.App) string {
	t.Helper()
	return string(app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/metrics"}).Want(t, 200).Body)
}

// scrapeOfEverything runs a program that has done a little of everything, so that it shows each of its metrics.
func scrapeOfEverything(t *testing.T, engine testdb.Engine) string {
	t.Helper()
	app := harness.New(t, engine, map[string]string{"WEBHOOK_ALLOW_PRIVATE": "true", "REDIS_URL": "redis://127.0.0.1:1"})
	a := app.NewAccount(t)
	listing := proPlan(t, a)
	url, taken := receive(t)
	var hook hookEndpoint
	a.AsBackend(t, http.MethodPost, endpointsPath, JSON{"url": url, "events": []string{"payment.completed"}}).
		Want(t, 201).Into(t, &hook)
	sell := func(card string, status int) {
		a.Pay(t, a.NewSession(t, listing, "pro", harness.Unique("user"), nil), card).Want(t, status)
	}
	sell(harness.CardSucceeds, 200)
	next(t, taken)
	app.Exec(t, "INSERT INTO concurrency_pauses (concurrency_key, creator_id, paused_until, due_until) "+
		"VALUES ('"+hook.ID+"', '', 9000000000000, 9000000000000)")
	sell(harness.CardSucceeds, 200)
	sell(harness.CardDeclined, 402)
	session := a.NewSession(t, listing, "pro", "bob", nil)
	a.AsBackend(t, http.MethodPost, "/v1/checkout-sessions/"+session.ID+"/expire", nil).Want(t, 200)
	var shown string
	harness.Eventually(t, "the invariants are checked and an attempt is counted", func() bool {
		shown = scrape(t, app)
		return strings.Contains(shown, "\nsundry_invariant_violations{") &&
			strings.Contains(shown, "\nsundry_webhook_attempts_total{") && strings.Contains(shown, "\nsundry_tasks_held{")
	})
	return shown
}

// scrapeOfSubscriptions runs a program that finds subscriptions when it starts, as it does not count them often.
func scrapeOfSubscriptions(t *testing.T) (shown string) {
	t.Helper()
	url := restored(t, testdb.SQLite, "0.1.0")
	app := harness.On(t, testdb.SQLite, url, map[string]string{"APP_SECRET": upgradeSecret})
	harness.Eventually(t, "the subscriptions are counted", func() bool {
		shown = scrape(t, app)
		return strings.Contains(shown, "\nsundry_subscriptions{")
	})
	return shown
}

func TestMetrics_ShowRecurringRevenue(t *testing.T) {
	t.Parallel()
	shown := scrapeOfSubscriptions(t)
	for _, want := range []string{`sundry_mrr_minor_units{currency="eur"} `, `sundry_subscriptions{status="trialing"} 0`} {
		if !strings.Contains(shown, "\n"+want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// What commits is counted once, by its outcome.
func TestMetrics_CountWhatIsSold(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		shown := scrapeOfEverything(t, engine)
		for _, want := range []string{
			`sundry_payments_total{decline_code="",status="succeeded"} 2`,
			`sundry_payments_total{decline_code="card_declined",status="declined"} 1`,
			`sundry_payments_total{decline_code="",status="canceled"} 0`,
			`sundry_checkout_sessions_total{step="opened"} 4`, `sundry_checkout_sessions_total{step="paid"} 2`,
			`sundry_checkout_sessions_total{step="expired"} 1`, `sundry_invariant_violations{area="treasury"} 0`,
			`sundry_tasks_held{kind="webhook.deliver"} 1`, `sundry_task_age_seconds{kind="webhook.deliver"} 0`,
		} {
			if !strings.Contains(shown, "\n"+want+"\n") {
				t.Errorf("the metrics lack %s", want)
			}
		}
	})
}

var (
	metricType = regexp.MustCompile(`(?m)^# TYPE (sundry_\w+) (\w+)$`)
	metricRow  = regexp.MustCompile("(?m)^\\| `(sundry_\\w+)` \\| (\\w+) \\|")
)

// The table of docs/operations.md has each metric with its type, and no other.
func TestMetrics_AreDocumented(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	typesIn := func(pattern *regexp.Regexp, text string) map[string]string {
		types := map[string]string{}
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			types[match[1]] = match[2]
		}
		return types
	}
	shown := typesIn(metricType, scrapeOfEverything(t, testdb.SQLite)+scrapeOfSubscriptions(t))
	documented := typesIn(metricRow, string(document))
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		if documented[name] != shown[name] {
			t.Errorf("docs/operations.md has %s as %q, want %q", name, documented[name], shown[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if shown[name] == "" {
			t.Errorf("docs/operations.md has %s, which the program does not show", name)
		}
	}
}
