package telemetry

import (
	"context"
	"maps"
	"net/url"
	"strconv"

	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// TraceSender returns next with a span for each request, which it names to the receiver by the header traceparent.
func TraceSender(t ports.Tracer, next ports.Sender) ports.Sender {
	return tracedSender{t: t, next: next}
}

type tracedSender struct {
	ports.Network
	t    ports.Tracer
	next ports.Sender
}

// Send implements ports.Sender.
func (s tracedSender) Send(ctx context.Context, r ports.OutboundRequest) (ports.OutboundResponse, error) {
	attributes := []ports.Attribute{{Key: "http.request.method", Value: "POST"}}
	if to, err := url.Parse(r.URL); err == nil {
		attributes = append(attributes, ports.Attribute{Key: "server.address", Value: to.Hostname()})
	}
	ctx, span := s.t.Begin(ctx, ports.CallSpan, "webhook POST", attributes...)
	if parent := s.t.TraceParent(ctx); parent != "" {
		headers := map[string]string{traceParentHeader: parent}
		maps.Copy(headers, r.Headers)
		r.Headers = headers
	}
	response, err := s.next.Send(ctx, r)
	failure := ports.ErrorType(err)
	if err == nil {
		status := strconv.Itoa(response.StatusCode)
		span.Set(ports.Attribute{Key: "http.response.status_code", Value: status})
		if response.StatusCode >= 400 {
			failure = status
		}
	}
	span.End(failure)
	return response, err
}

// TraceMailer returns next with a span for each mail.
func TraceMailer(t ports.Tracer, next ports.Mailer) ports.Mailer {
	return tracedMailer{t: t, next: next}
}

type tracedMailer struct {
	ports.Network
	t    ports.Tracer
	next ports.Mailer
}

// Send implements ports.Mailer.
func (m tracedMailer) Send(ctx context.Context, message ports.Message) error {
	ctx, span := m.t.Begin(ctx, ports.CallSpan, "mail send", ports.Attribute{Key: "sundry.mail.id", Value: message.ID})
	err := m.next.Send(ctx, message)
	span.End(ports.ErrorType(err))
	return err
}

// TraceProcessor returns the processor of a provider with a span for each call.
func TraceProcessor(t ports.Tracer, provider string, next ports.Processor) ports.Processor {
	return tracedProcessor{t: t, provider: provider, next: next}
}

type tracedProcessor struct {
	ports.Network
	t        ports.Tracer
	provider string
	next     ports.Processor
}

// call runs one call, which asks for the outcome of an object and returns it.
func call[O any](ctx context.Context, p tracedProcessor, name, object string,
	do func(context.Context) (O, error)) (O, error) {
	ctx, span := p.t.Begin(ctx, ports.CallSpan, "processor "+name,
		ports.Attribute{Key: "sundry.provider", Value: p.provider}, ports.Attribute{Key: "sundry.object.id", Value: object})
	outcome, err := do(ctx)
	span.End(ports.ErrorType(err))
	return outcome, err
}

// Charge implements ports.Processor.
func (p tracedProcessor) Charge(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	return call(ctx, p, "charge", r.PaymentID, func(ctx context.Context) (payment.Outcome, error) {
		return p.next.Charge(ctx, r)
	})
}

// Find implements ports.Processor.
func (p tracedProcessor) Find(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	return call(ctx, p, "find", r.PaymentID, func(ctx context.Context) (payment.Outcome, error) {
		return p.next.Find(ctx, r)
	})
}

// Authenticate implements ports.Processor.
func (p tracedProcessor) Authenticate(ctx context.Context, r ports.ChargeRequest,
	approve bool) (payment.Outcome, error) {
	return call(ctx, p, "authenticate", r.PaymentID, func(ctx context.Context) (payment.Outcome, error) {
		return p.next.Authenticate(ctx, r, approve)
	})
}

// Cancel implements ports.Processor.
func (p tracedProcessor) Cancel(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	return call(ctx, p, "cancel", r.PaymentID, func(ctx context.Context) (payment.Outcome, error) {
		return p.next.Cancel(ctx, r)
	})
}

// Refund implements ports.Processor.
func (p tracedProcessor) Refund(ctx context.Context, r ports.RefundRequest) (refund.Outcome, error) {
	return call(ctx, p, "refund", r.RefundID, func(ctx context.Context) (refund.Outcome, error) {
		return p.next.Refund(ctx, r)
	})
}
