package httpapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"
)

func (s *Server) operationsRoutes() []Route {
	routes := []Route{
		{Method: fiber.MethodGet, Path: "/healthz", Handle: s.getHealth},
		{Method: fiber.MethodGet, Path: "/readyz", Handle: s.getReady},
		{Method: fiber.MethodGet, Path: "/openapi.yaml", Handle: s.sendDocument(s.document.YAML, "application/yaml")},
		{
			Method: fiber.MethodGet, Path: "/openapi.json",
			Handle: s.sendDocument(s.document.JSON, fiber.MIMEApplicationJSON),
		},
		{Method: fiber.MethodGet, Path: "/openapi-client.json", Handle: s.sendClientDocument()},
	}
	if s.MetricsElsewhere {
		return routes
	}
	return append(routes, s.metricsRoute())
}

// Readiness is the state of the services behind the API.
type Readiness struct {
	// Database is the error of writing to the database; nil when that works.
	Database error
	// Outdated tells that a later version has taken from the schema what this one may use.
	Outdated bool
	// Redis is RedisOK or RedisUnavailable, and "" where there is none. No request needs it.
	Redis string
}

// States of Redis.
const (
	RedisOK          = "ok"
	RedisUnavailable = "unavailable"
)

// Reasons for which a process is not ready.
const (
	databaseReason = "database"
	schemaReason   = "schema"
)

type healthView struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	Redis  string `json:"redis,omitempty"`
}

// getHealth reports that the process is up.
func (s *Server) getHealth(c *fiber.Ctx) error { return c.JSON(healthView{Status: "ok"}) }

// getReady reports whether the database can be written, and has a schema that this version can use. A Redis that is
// away is shown and takes no process out.
func (s *Server) getReady(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), 2*time.Second)
	defer cancel()
	found := s.Ready(ctx)
	if found.Outdated {
		return c.Status(fiber.StatusServiceUnavailable).
			JSON(healthView{Status: "unavailable", Reason: schemaReason, Redis: found.Redis})
	}
	if found.Database != nil {
		s.Log.WarnContext(ctx, "not ready", slog.Any("error", found.Database))
		return c.Status(fiber.StatusServiceUnavailable).
			JSON(healthView{Status: "unavailable", Reason: databaseReason, Redis: found.Redis})
	}
	return c.JSON(healthView{Status: "ok", Redis: found.Redis})
}
