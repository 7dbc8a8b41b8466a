package httpapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"
)

func (s *Server) healthRoutes() []Route {
	routes := []Route{
		{Method: fiber.MethodGet, Path: "/healthz", Handle: s.getHealth},
		{Method: fiber.MethodGet, Path: "/readyz", Handle: s.getReady},
		{Method: fiber.MethodGet, Path: "/openapi.yaml", Handle: s.getOpenAPI},
	}
	if s.cfg.MetricsElsewhere {
		return routes
	}
	return append(routes, s.metricsRoute())
}

type healthView struct {
	Status string `json:"status"`
}

// getHealth says that the process is up.
func (s *Server) getHealth(c *fiber.Ctx) error { return c.JSON(healthView{Status: "ok"}) }

// getReady says whether the database, and Redis where there is one, answer.
func (s *Server) getReady(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), 2*time.Second)
	defer cancel()
	if err := s.cfg.Ready(ctx); err != nil {
		s.log.WarnContext(ctx, "not ready", slog.Any("error", err))
		return c.Status(fiber.StatusServiceUnavailable).JSON(healthView{Status: "unavailable"})
	}
	return c.JSON(healthView{Status: "ok"})
}
