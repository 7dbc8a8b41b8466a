package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/otlp"
	"sundry/tests/testdb"
)

// A buyer's request with a traceparent, its charge, its mail and the delivery of its event, which the next process
// makes, are one trace.
func TestTracing_OneTracePerSale(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		collected := otlp.NewReceiver(t, "Bearer of the collector")
		databaseURL := engine.URL(t)
		vars := map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": collected.URL, "APP_SECRET": strings.Repeat("0123456789abcdef", 4),
			"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20of%20the%20collector", "DATA_DIR": t.TempDir(),
			"OTEL_METRICS_EXPORTER": "none", "WEBHOOK_ALLOW_PRIVATE": "true", "RATE_LIMIT_PER_MINUTE": "100000",
		}
		app := harness.On(t, engine, databaseURL, vars)
		a := app.NewAccount(t)
		session := a.NewSession(t, proPlan(t, a), "pro", harness.Unique("user"), nil)
		url, taken := receive(t)
		var made hookEndpoint
		a.AsBackend(t, http.MethodPost, endpointsPath, JSON{"url": url, "events": []string{"payment.completed"}}).
			Want(t, 201).Into(t, &made)
		engine.Exec(t, databaseURL, "INSERT INTO concurrency_pauses (concurrency_key, creator_id, paused_until, due_until) "+
			"VALUES ('"+made.ID+"', '', 9000000000000, 9000000000000)")

		const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
		path := "/v1/sandbox/checkout-sessions/" + session.ID + "/pay"
		app.Ask(t, harness.Request{
			Method: http.MethodPost, Path: path, Bearer: a.Key,
			Headers: map[string]string{"traceparent": "00-" + trace + "-" + parent + "-01"},
			Body:    JSON{"cardNumber": harness.CardSucceeds, "email": "grace.hopper@example.com"},
		}).Want(t, http.StatusOK)
		shown := app.Ask(t, harness.Request{
			Method: http.MethodGet, Path: "/metrics", Headers: map[string]string{"Accept": "application/openmetrics-text"},
		}).Want(t, 200)
		if exemplar := `# {trace_id="` + trace + `"}`; !strings.Contains(string(shown.Body), exemplar) {
			t.Errorf("the metrics lack the exemplar %s", exemplar)
		}
		if err := app.Close(); err != nil {
			t.Fatal(err)
		}
		engine.Exec(t, databaseURL, "DELETE FROM concurrency_pauses")
		second := harness.On(t, engine, databaseURL, vars)
		if got := next(t, taken).header.Get("traceparent"); !strings.HasPrefix(got, "00-"+trace+"-") {
			t.Errorf("the receiver got traceparent %q, want one of trace %s", got, trace)
		}
		harness.Eventually(t, "no task is due", func() bool {
			return engine.Int(t, databaseURL, "SELECT COUNT(*) FROM tasks WHERE trace_parent IS NOT NULL") == 0
		})
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}

		spans := collected.Trace(trace)
		route := "POST /v1/sandbox/checkout-sessions/:id/pay"
		wants := []string{
			route + " > processor charge", route + " > transaction > task webhook.deliver > webhook POST",
			"task webhook.deliver > SELECT", route + " > transaction > task mail.send > mail send",
		}
		if engine.Name == testdb.Postgres.Name {
			wants = append(wants, "transaction > BATCH", "redis ")
		} else {
			wants = append(wants, "transaction > INSERT")
		}
		ways := spans.Ways()
		for _, want := range wants {
			if !slices.ContainsFunc(ways, func(way string) bool { return strings.Contains(way, want) }) {
				t.Errorf("the trace has no %q:\n%s", want, strings.Join(ways, "\n"))
			}
		}
		roots := 0
		for _, span := range spans {
			switch {
			case span.ParentID == parent:
				roots++
			case spans[span.ParentID] == (otlp.Span{}):
				t.Errorf("span %q has a parent that was not sent", span.Name)
			}
		}
		if roots != 1 {
			t.Errorf("%d spans are within the client's, want 1", roots)
		}
		for _, secret := range []string{"grace", "example.com", a.Key, made.Secret, harness.CardSucceeds, session.Secret()} {
			if strings.Contains(collected.Raw(), secret) {
				t.Errorf("a span contains %q", secret)
			}
		}
	})
}

// With the setting off, nothing is sent, stored or added to deliveries.
func TestTracing_OffSendsNothing(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		for name, set := range map[string]func(url string) map[string]string{
			"no collector": func(string) map[string]string { return map[string]string{} },
			"disabled": func(url string) map[string]string {
				return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_SDK_DISABLED": "true"}
			},
		} {
			collected := otlp.NewReceiver(t, "")
			vars := set(collected.URL)
			vars["WEBHOOK_ALLOW_PRIVATE"] = "true"
			app := harness.New(t, engine, vars)
			a := app.NewAccount(t)
			url, taken := receive(t)
			a.AsBackend(t, http.MethodPost, endpointsPath, JSON{"url": url, "events": []string{"payment.completed"}}).
				Want(t, 201)
			a.Pay(t, a.NewSession(t, proPlan(t, a), "pro", "ada", nil), harness.CardSucceeds).Want(t, 200)
			if got := next(t, taken).header.Get("traceparent"); got != "" {
				t.Errorf("%s: the receiver got traceparent %q, want none", name, got)
			}
			if n := engine.Int(t, app.DatabaseURL, "SELECT COUNT(*) FROM tasks WHERE trace_parent IS NOT NULL"); n != 0 {
				t.Errorf("%s: %d tasks have a trace, want 0", name, n)
			}
			if err := app.Close(); err != nil {
				t.Fatal(err)
			}
			if sent := collected.Raw(); sent != "" {
				t.Errorf("%s: %q was sent, want nothing", name, sent)
			}
		}
	})
}
