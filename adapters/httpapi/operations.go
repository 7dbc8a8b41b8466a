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
	}
	if s.MetricsElsewhere {
		return routes
	}
	return append(routes, s.metricsRoute())
}

type healthView struct {
	Status string `json:"status"`
}

// getHealth reports that the process is up.
func (s *Server) getHealth(c *fiber.Ctx) error { return c.JSON(healthView{Status: "ok"}) }

// getReady reports whether the database, and Redis where there is one, work.
func (s *Server) getReady(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), 2*time.Second)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		s.Log.WarnContext(ctx, "not ready", slog.Any("error", err))
		return c.Status(fiber.StatusServiceUnavailable).JSON(healthView{Status: "unavailable"})
	}
	return c.JSON(healthView{Status: "ok"})
}
