package e2e_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// collector receives traces by OTLP over HTTP. TestACollectorReceivesASale has a real one.
type collector struct {
	url   string
	mu    sync.Mutex
	spans []*tracepb.Span
	// raw is everything that was sent.
	raw bytes.Buffer
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		body, err := io.ReadAll(r.Body)
		var sent tracepb.TracesData
		if err != nil || proto.Unmarshal(body, &sent) != nil || r.URL.Path != "/v1/traces" ||
			r.Header.Get("Authorization") != "Bearer of the collector" {
			w.WriteHeader(http.StatusBadRequest)
			t.Errorf("sent to the collector: %s %s (%v)", r.Method, r.URL.Path, err)
			return
		}
		c.raw.Write(body)
		for _, resource := range sent.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// trace returns the spans of a trace by their ids.
func (c *collector) trace(id string) map[string]*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]*tracepb.Span{}
	for _, span := range c.spans {
		if hex.EncodeToString(span.GetTraceId()) == id {
			found[string(span.GetSpanId())] = span
		}
	}
	return found
}

// under reports whether a span is within one of the given name.
func under(trace map[string]*tracepb.Span, span *tracepb.Span, name string) bool {
	for at := span; at != nil; at = trace[string(at.GetParentSpanId())] {
		if at.GetName() == name {
			return true
		}
	}
	return false
}

// namesOf lists the distinct names of spans, sorted.
func namesOf(trace map[string]*tracepb.Span) []string {
	var names []string
	for _, span := range trace {
		names = append(names, span.GetName())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A buyer's request with a traceparent, its charge, its mail and the delivery of its event, which the next process
// makes, are one trace.
func TestTracing_OneTracePerSale(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		collected := newCollector(t)
		databaseURL := engine.URL(t)
		vars := map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": collected.url, "APP_SECRET": strings.Repeat("0123456789abcdef", 4),
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

		spans := collected.trace(trace)
		route, deliver := "POST /v1/sandbox/checkout-sessions/:id/pay", "task webhook.deliver"
		for _, want := range []struct{ name, within string }{
			{"transaction", route}, {"processor charge", route}, {deliver, route}, {"webhook POST", deliver},
			{"task mail.send", route}, {"mail send", "task mail.send"}, {"INSERT", "transaction"}, {"SELECT", deliver},
		} {
			if engine.Name == testdb.Postgres.Name && want.name == "INSERT" {
				want.name = "BATCH"
			}
			found := false
			for _, span := range spans {
				found = found || span.GetName() == want.name && under(spans, span, want.within)
			}
			if !found {
				t.Errorf("no span %q within %q among %q", want.name, want.within, namesOf(spans))
			}
		}
		if engine.Name == testdb.Postgres.Name && !slices.ContainsFunc(namesOf(spans), func(name string) bool {
			return strings.HasPrefix(name, "redis ")
		}) {
			t.Errorf("no command of Redis among %q", namesOf(spans))
		}
		roots := 0
		for _, span := range spans {
			switch {
			case hex.EncodeToString(span.GetParentSpanId()) == parent:
				roots++
			case spans[string(span.GetParentSpanId())] == nil:
				t.Errorf("span %q has a parent that was not sent", span.GetName())
			}
		}
		if roots != 1 {
			t.Errorf("%d spans are within the client's, want 1", roots)
		}
		for _, secret := range []string{"grace", "example.com", a.Key, made.Secret, harness.CardSucceeds, session.Secret()} {
			if bytes.Contains(collected.raw.Bytes(), []byte(secret)) {
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
			collected := newCollector(t)
			vars := set(collected.url)
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
			if sent := fmt.Sprint(collected.trace("")); collected.raw.Len() != 0 {
				t.Errorf("%s: %d bytes were sent, want 0: %s", name, collected.raw.Len(), sent)
			}
		}
	})
}
