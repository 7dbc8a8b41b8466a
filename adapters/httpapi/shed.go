package httpapi

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
)

// How long a request may have to wait for the database before it is refused at once: a queue without an end serves
// nobody, because who waits longest has given up by then. Who reads gives way first, and a buyer who pays last. All are
// well below the time in which a request has to be answered.
const (
	maxReadWait  = 3 * time.Second
	maxWriteWait = 5 * time.Second
	maxPayWait   = 10 * time.Second
)

// errShed marks a refusal that is not logged: there are as many as requests.
var errShed = errors.New("refused before it began")

// shed refuses requests while the database is overloaded, and all when its schema is of another version. DATABASE_BUSY.
func (s *Server) shed(c *fiber.Ctx) error {
	if slices.Contains(alwaysServed, c.Path()) || strings.HasPrefix(c.Path(), "/assets/") {
		return c.Next()
	}
	if s.Outdated != nil && s.Outdated() {
		return fault.Wrap(
			fault.DatabaseBusy, "This server is being replaced. Nothing was changed: try again in a moment.", errShed,
		)
	}
	if s.Delay == nil || s.Delay() <= maxWait(c.Method(), c.Path()) {
		return c.Next()
	}
	s.metrics.shed.WithLabelValues(c.Method()).Inc()
	return fault.Wrap(
		fault.DatabaseBusy, "There are more requests than can be served. Nothing was changed: try again in a moment.",
		errShed,
	)
}

// alwaysServed need no database, or say how it does.
var alwaysServed = []string{"/healthz", "/readyz", "/metrics"}

func maxWait(method, path string) time.Duration {
	switch {
	case method == fiber.MethodGet || method == fiber.MethodHead:
		return maxReadWait
	case strings.HasSuffix(path, "/pay"), strings.HasSuffix(path, "/authenticate"),
		strings.HasPrefix(path, "/v1/processor-events"):
		return maxPayWait
	}
	return maxWriteWait
}
