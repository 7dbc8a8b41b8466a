package httpapi

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
)

// decode reads the body strictly into a new T, with every fault of the document listed at once.
func decode[T any](c *fiber.Ctx) (T, error) {
	var into T
	err := strictjson.Decode(c.Body(), &into)
	return into, err
}

// bodiless is for a POST that takes no body. An empty one and {} are that; what anything else asks for would not happen, and
// its caller should know.
func bodiless(handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if len(c.Body()) > 0 {
			if _, err := decode[struct{}](c); err != nil {
				return err
			}
		}
		return handle(c)
	}
}

// or is what p points at, or the zero value: for optional members that may be null.
func or[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// instant reads an optional member that holds an RFC 3339 time; absent and null are the zero time. What is finer than a
// millisecond is cut off.
func instant(f *fault.Faults, field string, text *string) time.Time {
	if text == nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, *text)
	if !f.Check(err == nil && t.Year() >= 1970 && t.Year() <= 9999, field, fault.DetailInvalid, "A time reads like 2026-03-08T12:00:00Z.") {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}
