package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

func TestMetricsNameRoutesNeverPaths(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		session := a.NewSession(t, a.Published(t, nil), "default", "cust-1", nil)
		a.AsBackend(t, http.MethodGet, "/v1/checkout-sessions/"+session.ID, nil).Want(t, 200)
		stray := harness.Unique("nowhere")
		app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/v1/" + stray}).Want(t, 404)
		shown := string(app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/metrics"}).Want(t, 200).Body)
		for end := time.Now().Add(30 * time.Second); !strings.Contains(shown, "\nsundry_invariant_violations{") ||
			!strings.Contains(shown, `kind="identity.sweep",outcome="done"`); time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("nobody has checked the invariants and swept")
			}
			shown = string(app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/metrics"}).Want(t, 200).Body)
		}
		for _, want := range []string{
			`sundry_http_requests_total{method="GET",route="/v1/checkout-sessions/:id",status="200"}`,
			`sundry_http_request_seconds_count{method="POST",route="/v1/auth/sign-up"}`,
			`sundry_tasks_oldest_due_seconds `, `sundry_webhook_attempt_seconds_count `,
			`sundry_task_runs_total{kind="identity.sweep",outcome="done"}`, `go_goroutines `,
		} {
			if !strings.Contains(shown, want) {
				t.Errorf("the metrics lack %s", want)
			}
		}
		for _, secret := range []string{session.ID, session.Secret(), stray} {
			if strings.Contains(shown, secret) {
				t.Errorf("the metrics show %s", secret)
			}
		}
	})
}
