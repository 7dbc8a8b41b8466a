//go:build unix

package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testenv"
)

// collected is what an OpenTelemetry Collector has written: each line of its file is an export of one signal.
type collected struct {
	spans   map[string]collectedSpan // by their ids
	metrics map[string]string        // the kind of each metric, by its name
	// services are the ids of the processes that sent metrics.
	services map[string]bool
}

type collectedSpan struct{ TraceID, SpanID, ParentSpanID, Name string }

// collector runs an OpenTelemetry Collector of the test's own. end stops it and reads what it has received.
func collector(t *testing.T) (address string, end func() collected) {
	t.Helper()
	s := newServer(t, testenv.Need(t, testenv.Collector), "")
	file, settings := filepath.Join(s.dir, "collected.json"), filepath.Join(s.dir, "collector.yaml")
	save(t, settings, fmt.Appendf(nil, `
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {file: {path: %q}}
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [file]}
    metrics: {receivers: [otlp], exporters: [file]}
`, s.addr, file))
	s.args = []string{"--config", settings}
	s.start()
	return "http://" + s.addr, func() collected {
		s.die(syscall.SIGTERM)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := collected{map[string]collectedSpan{}, map[string]string{}, map[string]bool{}}
		for line := range strings.Lines(string(content)) {
			all.read(t, []byte(line))
		}
		return all
	}
}

// read adds one export, in OTLP's JSON.
func (c collected) read(t *testing.T, line []byte) {
	t.Helper()
	var export struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []collectedSpan }
		}
		ResourceMetrics []struct {
			Resource struct {
				Attributes []struct {
					Key   string
					Value struct{ StringValue string }
				}
			}
			ScopeMetrics []struct{ Metrics []map[string]any }
		}
	}
	if err := json.Unmarshal(line, &export); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	for _, resource := range export.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans[span.SpanID] = span
			}
		}
	}
	for _, resource := range export.ResourceMetrics {
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.instance.id" {
				c.services[a.Value.StringValue] = true
			}
		}
		for _, scope := range resource.ScopeMetrics {
			for _, metric := range scope.Metrics {
				for _, kind := range []string{"sum", "gauge", "histogram", "summary"} {
					if metric[kind] != nil {
						c.metrics[fmt.Sprint(metric["name"])] = kind
					}
				}
			}
		}
	}
}

// ways are the names of a trace's spans, each below those that it is within.
func (c collected) ways(trace string) []string {
	var all []string
	for _, span := range c.spans {
		if span.TraceID != trace {
			continue
		}
		way := span.Name
		for at, ok := c.spans[span.ParentSpanID]; ok; at, ok = c.spans[at.ParentSpanID] {
			way = at.Name + " > " + way
		}
		all = append(all, way)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A real collector receives the trace of a sale, from the buyer's request to the delivery of its event by another
// process, and the metrics of both processes.
func TestACollectorReceivesASale(t *testing.T) {
	t.Parallel()
	address, end := collector(t)
	d := Distributed(t)
	maps.Copy(d.env, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_METRIC_EXPORT_INTERVAL": "1000", "RATE_LIMIT_PER_MINUTE": "100000", // which asks Redis
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
	received := end()

	route := "POST " + pay + ":id/pay"
	ways := received.ways(trace)
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
		"sundry_payments_total": "sum", "sundry_http_request_seconds": "histogram", "sundry_task_runs_total": "sum",
		"sundry_database_connections": "gauge", "go_gc_duration_seconds": "summary",
	} {
		if got := received.metrics[name]; got != want {
			t.Errorf("the metric %s is %q, want %q", name, got, want)
		}
	}
	if len(received.services) != 2 {
		t.Errorf("%d processes sent metrics, want 2", len(received.services))
	}
}
