package httpapi

import (
	"slices"

	"github.com/gofiber/fiber/v2"
)

// Route is one line of the route table.
type Route struct {
	Method string
	// Path is in fiber's form: /v1/listings/:id.
	Path string
	Gate Gate
	// Once says how Idempotency-Key is honoured. Every POST behind a secret key has one.
	Once Once
	// Before, where there is one, runs outside the transaction of OnceInTransaction; what it returns runs after it.
	Before func(c *fiber.Ctx) (after func())
	Handle fiber.Handler
	// SandboxOnly routes do not exist in live.
	SandboxOnly bool
}

// Routes is the whole table. Each area adds its own lines in its own file.
func (s *Server) Routes() []Route {
	all := slices.Concat(
		s.healthRoutes(),
		s.authRoutes(),
		s.keyRoutes(),
		s.listingRoutes(),
		s.planRoutes(),
		s.paymentLinkRoutes(),
		s.webhookRoutes(),
		s.taskRoutes(),
		s.sessionRoutes(),
		s.checkoutPageRoutes(),
		s.accessRoutes(),
		s.sandboxClockRoutes(),
		s.schedulingRoutes(),
		s.appointmentRoutes(),
	)
	if s.cfg.Sandbox {
		return all
	}
	return slices.DeleteFunc(all, func(r Route) bool { return r.SandboxOnly })
}

func (s *Server) mount() {
	for _, r := range s.Routes() {
		handler := r.Handle
		switch r.Once {
		case OnceInTransaction:
			handler = s.onceInTransaction(r)
		case OnceLeased:
			handler = s.onceLeased(r)
		case Repeatable:
		}
		if r.Before != nil {
			handler = around(r.Before, handler)
		}
		s.app.Add(r.Method, r.Path, s.gate(r.Gate), handler)
	}
}

func around(before func(c *fiber.Ctx) (after func()), handler fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		after := before(c)
		defer after()
		return handler(c)
	}
}
