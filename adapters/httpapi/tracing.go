package httpapi

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/ports"
)

// beginSpan begins the span of a request, within that of its client if it names one; nil where nothing is traced.
// Probes are not.
func (s *Server) beginSpan(c *fiber.Ctx) ports.Span {
	if s.Tracer == nil || c.Path() == "/healthz" || c.Path() == "/readyz" || c.Path() == "/metrics" {
		return nil
	}
	ctx, span := s.Tracer.Continue(c.UserContext(), ports.RequestSpan, c.Method(), c.Get("traceparent"))
	c.SetUserContext(ctx)
	return span
}

// sampledTrace returns the id of the request's trace if the collector gets it, else "".
func (s *Server) sampledTrace(c *fiber.Ctx) string {
	const sampled = "01"
	parts := strings.Split(s.Tracer.TraceParent(c.UserContext()), "-")
	if len(parts) != 4 || parts[3] != sampled {
		return ""
	}
	return parts[1]
}

// endSpan names the span by the route pattern: a path can hold a checkout secret.
func endSpan(c *fiber.Ctx, span ports.Span) {
	route, status := c.Route().Path, strconv.Itoa(c.Response().StatusCode())
	span.Rename(c.Method() + " " + route)
	span.Set(ports.Attribute{Key: "http.request.method", Value: c.Method()},
		ports.Attribute{Key: "http.route", Value: route},
		ports.Attribute{Key: "http.response.status_code", Value: status},
		ports.Attribute{Key: "sundry.request.id", Value: requestID(c)})
	failure := ""
	if c.Response().StatusCode() >= fiber.StatusInternalServerError {
		failure = status
	}
	span.End(failure)
}
