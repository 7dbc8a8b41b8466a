package telemetry_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"sundry/adapters/telemetry"
	"sundry/ports"
)

// A collector that is busy gets the same spans again. What it receives names the service, the parent and the error's
// type, and nothing of the error's text.
func TestSpansReachABusyCollector(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	received := make(chan *tracepb.TracesData, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var sent tracepb.TracesData
		if err := proto.Unmarshal(body, &sent); err != nil {
			t.Error(err)
		}
		received <- &sent
	}))
	t.Cleanup(server.Close)
	tracer, err := telemetry.New(t.Context(), telemetry.Config{URL: server.URL, Service: "shop"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if got := tracer.TraceParent(t.Context()); got != "" {
		t.Errorf("trace parent %q outside of a span, want none", got)
	}
	_, alone := tracer.Begin(t.Context(), ports.CallSpan, "a poll")
	alone.End("")
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx, span := tracer.Continue(t.Context(), ports.RequestSpan, "GET", parent)
	span.Rename("GET /v1/things")
	_, call := tracer.Begin(ctx, ports.CallSpan, "call", ports.Attribute{Key: "k", Value: "v"})
	call.End(ports.ErrorType(errors.New("user ada@example.com")))
	span.End("")
	if err := tracer.Close(); err != nil {
		t.Fatal(err)
	}
	sent := (<-received).GetResourceSpans()[0]
	if got := sent.GetResource().GetAttributes()[1].GetValue().GetStringValue(); got != "shop" {
		t.Errorf("service %q, want shop", got)
	}
	spans := sent.GetScopeSpans()[0].GetSpans()
	if len(spans) != 2 || spans[0].GetName() != "call" || spans[1].GetName() != "GET /v1/things" {
		t.Fatalf("spans %v, want the call and the request", spans)
	}
	if got := spans[0].GetAttributes()[1].GetValue().GetStringValue(); got != "*errors.errorString" {
		t.Errorf("error type %q", got)
	}
}

// A process that is asked to stop while the collector is down has stopped well: the log says what was lost.
func TestClose_WithoutACollector(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	tracer, err := telemetry.New(t.Context(), telemetry.Config{URL: server.URL}, log)
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracer.Continue(t.Context(), ports.RequestSpan, "GET", "")
	span.End("")
	if err := tracer.Close(); err != nil {
		t.Errorf("close: %v, want no error", err)
	}
	if got := logged.String(); !strings.Contains(got, `msg="telemetry is lost" signal=traces`) {
		t.Errorf("the log is %q, want what was lost", got)
	}
}
