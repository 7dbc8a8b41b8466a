// Package otlp receives what a process exports by OTLP over HTTP, as an OpenTelemetry Collector would: it is read by the
// Collector's own parser.
package otlp

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Receiver has received spans and metrics.
type Receiver struct {
	// URL is the endpoint that exporters are given.
	URL    string
	mu     sync.Mutex
	faults []string
	raw    strings.Builder
	spans  map[string]Span
	// metrics has the type of each metric, such as "Sum", by its name.
	metrics map[string]string
	// services are the ids of the processes that sent metrics.
	services map[string]bool
}

// Span is a span of a trace. Ids are in hexadecimal, "" for the parent of a trace's first span.
type Span struct{ TraceID, ID, ParentID, Name string }

// NewReceiver listens until the test ends, and fails it for what a Collector would refuse. authorization is what
// exporters have to send, "" for anything.
func NewReceiver(t *testing.T, authorization string) *Receiver {
	t.Helper()
	r := &Receiver{spans: map[string]Span{}, metrics: map[string]string{}, services: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, sent *http.Request) {
		fault := r.receive(sent, authorization)
		w.Header().Set("Content-Type", "application/x-protobuf")
		if fault != "" {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(func() {
		server.Close()
		for _, fault := range r.faults {
			t.Errorf("sent to the collector: %s", fault)
		}
	})
	r.URL = server.URL
	return r
}

func (r *Receiver) receive(sent *http.Request, authorization string) (fault string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		if fault != "" {
			r.faults = append(r.faults, fault)
		}
	}()
	body, err := io.ReadAll(sent.Body)
	switch {
	case err != nil:
		return err.Error()
	case sent.Method != http.MethodPost, sent.Header.Get("Content-Type") != "application/x-protobuf",
		sent.Header.Get("Content-Encoding") != "":
		return sent.Method + " of " + sent.Header.Get("Content-Type") + sent.Header.Get("Content-Encoding")
	case authorization != "" && sent.Header.Get("Authorization") != authorization:
		return "Authorization " + sent.Header.Get("Authorization")
	}
	r.raw.Write(body)
	switch sent.URL.Path {
	case "/v1/traces":
		err = r.readTraces(body)
	case "/v1/metrics":
		err = r.readMetrics(body)
	default:
		return sent.URL.Path
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (r *Receiver) readTraces(body []byte) error {
	traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(body)
	if err != nil {
		return err
	}
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				r.spans[s.SpanID().String()] = Span{
					s.TraceID().String(), s.SpanID().String(), s.ParentSpanID().String(), s.Name(),
				}
			}
		}
	}
	return nil
}

func (r *Receiver) readMetrics(body []byte) error {
	all, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(body)
	if err != nil {
		return err
	}
	for _, resource := range all.ResourceMetrics().All() {
		if service, ok := resource.Resource().Attributes().Get("service.instance.id"); ok {
			r.services[service.Str()] = true
		}
		for _, scope := range resource.ScopeMetrics().All() {
			for _, m := range scope.Metrics().All() {
				r.metrics[m.Name()] = m.Type().String()
			}
		}
	}
	return nil
}

// Raw returns all that was sent, as bytes.
func (r *Receiver) Raw() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raw.String()
}

// Metric returns the type of a metric, such as "Sum" or "Histogram", "" for one that was not sent.
func (r *Receiver) Metric(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.metrics[name]
}

// Services counts the processes that sent metrics.
func (r *Receiver) Services() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.services)
}

// Trace returns the spans of a trace by their ids.
func (r *Receiver) Trace(id string) Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := maps.Clone(r.spans)
	maps.DeleteFunc(found, func(_ string, s Span) bool { return s.TraceID != id })
	return found
}

// Trace has the spans of one trace by their ids.
type Trace map[string]Span

// Ways lists the distinct names of the spans, each after those that it is within, such as "GET / > transaction".
func (t Trace) Ways() []string {
	var all []string
	for _, s := range t {
		way := s.Name
		for at, ok := t[s.ParentID]; ok; at, ok = t[at.ParentID] {
			way = at.Name + " > " + way
		}
		all = append(all, way)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
