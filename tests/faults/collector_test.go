//go:build unix

package faults

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/otlp"
)

// A collector receives the trace of a sale, from the buyer's request to the delivery of its event by another
// process, and the metrics of both processes.
func TestACollectorReceivesASale(t *testing.T) {
	t.Parallel()
	received := otlp.NewReceiver(t, "")
	d := Distributed(t)
	maps.Copy(d.env, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": received.URL, "OTEL_METRIC_EXPORT_INTERVAL": "1000", "RATE_LIMIT_PER_MINUTE": "100000", // which asks Redis
	})
	serve, worker := d.Start(t, "serve", nil), d.Start(t, "worker", nil)
	account := serve.App.NewAccount(t)
	receiver := listen(t)
	receiver.subscribe(t, account)
	session := account.NewSession(t, account.Published(t, nil), "default", "ada", nil)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	pay := "/v1/sandbox/checkout-sessions/"
	serve.App.Ask(t, harness.Request{
		Method: http.MethodPost, Path: pay + session.ID + "/pay", Bearer: account.Key,
		Headers: map[string]string{"traceparent": "00-" + trace + "-b7ad6b7169203331-01"},
		Body:    harness.JSON{"cardNumber": harness.CardSucceeds, "email": "ada@example.com"},
	}).Want(t, http.StatusOK)
	harness.Eventually(t, "the event and the mail are sent", func() bool {
		return d.Count(t, "SELECT COUNT(*) FROM deliveries WHERE status = 'delivered'") == 1 &&
			d.Count(t, "SELECT COUNT(*) FROM tasks WHERE trace_parent IS NOT NULL") == 0
	})
	serve.Terminate(t)
	worker.Terminate(t)

	route := "POST " + pay + ":id/pay"
	ways := received.Trace(trace).Ways()
	for _, want := range []string{
		route + " > transaction > BATCH", route + " > processor charge", route + " > transaction > task webhook.deliver > webhook POST",
		"task webhook.deliver > SELECT", "task mail.send > mail send", "redis ",
	} {
		if !slices.ContainsFunc(ways, func(way string) bool { return strings.Contains(way, want) }) {
			t.Errorf("the trace has no %q:\n%s", want, strings.Join(ways, "\n"))
		}
	}
	for _, way := range ways {
		if !strings.HasPrefix(way, route) {
			t.Errorf("%q is not within the request", way)
		}
	}
	for name, want := range map[string]string{
		"sundry_payments_total": "Sum", "sundry_http_request_seconds": "Histogram", "sundry_task_runs_total": "Sum",
		"sundry_database_connections": "Gauge", "go_gc_duration_seconds": "Summary",
	} {
		if got := received.Metric(name); got != want {
			t.Errorf("the metric %s is %q, want %q", name, got, want)
		}
	}
	if n := received.Services(); n != 2 {
		t.Errorf("%d processes sent metrics, want 2", n)
	}
}
