package ports

import (
	"context"
	"errors"
	"fmt"
)

// SpanKind distinguishes what arrives from what is asked of others.
type SpanKind int

// The kinds of spans.
const (
	InternalSpan SpanKind = iota
	// RequestSpan covers the handling of a request.
	RequestSpan
	// TaskSpan covers one run of a task.
	TaskSpan
	// CallSpan covers a call of something outside of this process.
	CallSpan
)

// Tracer records the work of the program as spans of traces. Where nothing is traced there is no Tracer: what holds one
// compares it with nil, so that tracing costs nothing then.
type Tracer interface {
	// Continue begins the span of something that arrives: within the span that traceParent names, as the header
	// traceparent of W3C Trace Context does, else within that of ctx, else in a trace of its own.
	Continue(ctx context.Context, kind SpanKind, name, traceParent string) (context.Context, Span)
	// Begin begins a span within that of ctx. Without one there, it records nothing: polls and sweeps have no traces.
	Begin(ctx context.Context, kind SpanKind, name string, attributes ...Attribute) (context.Context, Span)
	// TraceParent names the span of ctx for Continue; "" without one.
	TraceParent(ctx context.Context) string
}

// Span is a piece of work under way.
type Span interface {
	// Rename sets the name, for a request whose route is known at its end.
	Rename(name string)
	// Set adds attributes. They hold no secret, no address of a person and no value of a row.
	Set(attributes ...Attribute)
	// End ends the span; failure is ErrorType of the error that it ended with, or a code, and "" after success.
	End(failure string)
}

// Attribute describes a span. Keys are those of OpenTelemetry's semantic conventions, or begin with "sundry.".
type Attribute struct {
	Key   string
	Value string
}

// ErrorType names the type of the error that err wraps, "" for nil. The text of an error may hold personal data.
func ErrorType(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fmt.Sprintf("%T", err)
}
