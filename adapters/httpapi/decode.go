package httpapi

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi/strictjson"
)

// decode reads the body strictly into a new T, with every fault of the document listed at once.
func decode[T any](c *fiber.Ctx) (T, error) {
	var into T
	err := strictjson.Decode(c.Body(), &into)
	return into, err
}

// stamp renders an instant as the contract does: RFC 3339, UTC, milliseconds, Z; null for the zero time.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05.000Z")
	return &s
}

// orNull is null for an empty string.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// or is what p points at, or the zero value: for optional members that may be null.
func or[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
