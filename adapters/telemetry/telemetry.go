// Package telemetry sends the program's traces and metrics to a collector by OTLP over HTTP. It implements ports.Tracer
// on the OpenTelemetry SDK, and traces the ports that call other machines by wrapping them.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"sundry/ports"
)

// shutdownTimeout bounds how long the last spans may take to a collector that does not respond.
const shutdownTimeout = 3 * time.Second

// Config says where a signal goes.
type Config struct {
	// URL receives it, such as http://collector:4318/v1/traces.
	URL string
	// Headers are sent with it.
	Headers map[string]string
	// Service and Version name the program; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override and extend them.
	Service, Version string
	// Instance tells processes of one service apart.
	Instance string
}

// resource describes the process to the collector.
func (c Config) resource(ctx context.Context) (*resource.Resource, error) {
	described, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", c.Service), attribute.String("service.version", c.Version),
		attribute.String("service.instance.id", c.Instance)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return described, nil
}

// Tracer implements ports.Tracer. The SDK reads the sampler, the limits of spans and the sizes of batches from their
// OTEL_* variables.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	log      *slog.Logger
}

var _ ports.Tracer = (*Tracer)(nil)

// New begins to send spans in the background. Close it.
func New(ctx context.Context, c Config, log *slog.Logger) (*Tracer, error) {
	described, err := c.resource(ctx)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, newClient(c, "traces", log))
	if err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(described))
	return &Tracer{provider: provider, tracer: provider.Tracer("sundry"), log: log}, nil
}

// Close sends what is left. What a collector does not take by then is lost, which is logged: the process has done its
// work all the same.
func (t *Tracer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.WarnContext(ctx, "telemetry is lost", slog.String("signal", "traces"), slog.Any("error", err))
	}
	return nil
}

// kinds are the SDK's words for the kinds of spans.
var kinds = map[ports.SpanKind]trace.SpanKind{
	ports.InternalSpan: trace.SpanKindInternal, ports.RequestSpan: trace.SpanKindServer,
	ports.TaskSpan: trace.SpanKindConsumer, ports.CallSpan: trace.SpanKindClient,
}

const traceParentHeader = "traceparent"

// Continue implements ports.Tracer.
func (t *Tracer) Continue(ctx context.Context, kind ports.SpanKind, name,
	traceParent string) (context.Context, ports.Span) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceParentHeader: traceParent})
	ctx, started := t.tracer.Start(ctx, name, trace.WithSpanKind(kinds[kind]))
	return ctx, span{started}
}

// Begin implements ports.Tracer.
func (t *Tracer) Begin(ctx context.Context, kind ports.SpanKind, name string,
	attributes ...ports.Attribute) (context.Context, ports.Span) {
	within := trace.SpanFromContext(ctx)
	if !within.IsRecording() {
		return ctx, span{trace.SpanFromContext(context.Background())}
	}
	ctx, started := t.tracer.Start(ctx, name, trace.WithSpanKind(kinds[kind]))
	begun := span{started}
	begun.Set(attributes...)
	return ctx, begun
}

// TraceParent implements ports.Tracer.
func (t *Tracer) TraceParent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[traceParentHeader]
}

// span implements ports.Span.
type span struct{ of trace.Span }

// Rename implements ports.Span.
func (s span) Rename(name string) { s.of.SetName(name) }

// Set implements ports.Span.
func (s span) Set(attributes ...ports.Attribute) {
	for _, a := range attributes {
		s.of.SetAttributes(attribute.String(a.Key, a.Value))
	}
}

// End implements ports.Span.
func (s span) End(failure string) {
	if failure != "" {
		s.of.SetStatus(codes.Error, "")
		s.of.SetAttributes(attribute.String("error.type", failure))
	}
	s.of.End()
}
