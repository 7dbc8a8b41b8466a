package httpapi

import (
	"bytes"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
	"sundry/core/period"
	"sundry/core/plan"
)

// Body returns the request's body as it was sent. fiber's own Body inflates compressed bodies without a limit.
func Body(c *fiber.Ctx) []byte { return c.BodyRaw() }

// Decode reads the body strictly into a new T, with every fault of the document listed at once.
func Decode[T any](c *fiber.Ctx) (T, error) {
	var into T
	err := strictjson.Decode(Body(c), &into)
	if err != nil && isForm(c) {
		err = fault.Invalid(fault.Detail{
			Field: "body", Code: fault.DetailMalformed,
			Message: "The body is a form. Send JSON, with Content-Type: application/json.",
		})
	}
	if query, refused := c.Locals(refusedQuery{}).(error); refused {
		err = MergeFieldErrors(query, err)
	}
	return into, err
}

// isForm reports whether the body is a form's. Programs that post JSON without naming its type often name a form's.
func isForm(c *fiber.Ctx) bool {
	kind := c.Get(fiber.HeaderContentType)
	form := strings.HasPrefix(kind, fiber.MIMEApplicationForm) || strings.HasPrefix(kind, fiber.MIMEMultipartForm)
	body := bytes.TrimSpace(Body(c))
	return form && len(body) > 0 && body[0] != '{' && body[0] != '['
}

// DecodeOptional is Decode for a body that may be absent.
func DecodeOptional[T any](c *fiber.Ctx) (T, error) {
	if len(Body(c)) == 0 {
		var zero T
		return zero, nil
	}
	return Decode[T](c)
}

// WithoutBody wraps a POST that takes no body. An empty body and {} are accepted; any other is refused, because its
// members would have no effect.
func WithoutBody(handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if _, err := DecodeOptional[struct{}](c); err != nil {
			return err
		}
		return handle(c)
	}
}

// ValueOf returns *p, or the zero value for nil: for optional members that may be null.
func ValueOf[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// ReadCadence joins the members interval and intervalCount of a request; "" for neither.
func ReadCadence(f *fault.Violations, interval *string, count *int) period.Cadence {
	if interval == nil {
		f.Check(count == nil, "intervalCount", fault.DetailNotAllowed, "Name the interval that is counted.")
		return ""
	}
	unit, err := period.ParseInterval(*interval)
	_ = f.Nest("interval").Merge(err) // its only error is a fault of the request
	if count != nil {
		plan.CheckCount(f, "intervalCount", unit, *count)
	}
	return period.Every(unit, ValueOf(count))
}

// ReadTime reads an optional member that holds an RFC 3339 time; absent and null are the zero time. What is finer
// than a millisecond is cut off.
func ReadTime(f *fault.Violations, field string, text *string) time.Time {
	if text == nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, *text)
	t = t.UTC().Truncate(time.Millisecond)
	if !f.Check(err == nil && t.Year() >= 1970 && t.Year() <= 9999, field, fault.DetailInvalid,
		"A time reads like 2026-03-08T12:00:00Z.") {
		return time.Time{}
	}
	return t
}
