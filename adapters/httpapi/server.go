// Package httpapi is the JSON API: the route table, the gates before it, strict decoding, the views, and the one map
// from faults to statuses. Handlers translate; decisions are the modules'.
package httpapi

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/prometheus/client_golang/prometheus"

	"sundry/modules/background"
	"sundry/modules/booking"
	"sundry/modules/catalog"
	"sundry/modules/entitlement"
	"sundry/modules/identity"
	"sundry/modules/notify"
	"sundry/modules/sandbox"
	"sundry/modules/selling"
	"sundry/ports"
)

// maxBody is the largest request body accepted (contract §2).
const maxBody = 1 << 20

// maxHeader is the largest request line with its headers: room for a payment link with every parameter at its full
// length (contract §4), percent-encoded.
const maxHeader = 32 << 10

// Config is what the API needs besides the modules.
type Config struct {
	Sandbox bool
	// BaseURL is the public origin of this deployment, without a trailing slash.
	BaseURL string
	// RateLimitPerMinute is per API key; 0 = off.
	RateLimitPerMinute int
	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Answers seals what is kept for repeated requests: an answer may hold what opens something, and is shown to its caller only.
	Answers ports.Sealer
	// Ready reports whether everything behind the API answers.
	Ready func(ctx context.Context) error
	// Metrics is what GET /metrics shows; the API adds its own. A new one when nil.
	Metrics *prometheus.Registry
	// MetricsElsewhere leaves /metrics to Operations.
	MetricsElsewhere bool
}

// Modules are the use cases that the handlers call.
type Modules struct {
	Identity    *identity.Service
	Notify      *notify.Service
	Background  *background.Service
	Selling     *selling.Service
	Booking     *booking.Service
	Catalog     *catalog.Service
	Entitlement *entitlement.Service
	Sandbox     *sandbox.Service // nil in live
}

// Server is the API over fiber.
type Server struct {
	Modules
	cfg      Config
	app      *fiber.App
	store    ports.Store
	clock    ports.Clock
	ids      ports.IDs
	throttle ports.Throttle
	log      *slog.Logger
	metrics  *requestMetrics
}

// New builds the API with all its routes. Pages are mounted on App by the caller.
func New(cfg Config, modules Modules, store ports.Store, clock ports.Clock, ids ports.IDs, throttle ports.Throttle, log *slog.Logger) *Server {
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	s := &Server{Modules: modules, cfg: cfg, store: store, clock: clock, ids: ids, throttle: throttle, log: log, metrics: newRequestMetrics()}
	cfg.Metrics.MustRegister(s.metrics)
	s.app = fiber.New(fiber.Config{
		AppName:               "Sundry",
		Immutable:             true, // fiber reuses its buffers; ours outlive the request
		DisableStartupMessage: true,
		BodyLimit:             maxBody,
		ReadBufferSize:        maxHeader,
		ReadTimeout:           30 * time.Second,
		WriteTimeout:          60 * time.Second,
		IdleTimeout:           2 * time.Minute,
		ErrorHandler:          s.handleError,
		ProxyHeader:           "",
		StrictRouting:         false,
		CaseSensitive:         true,
	})
	s.app.Use(s.identify, s.observe, recover.New())
	s.mount()
	return s
}

// App is the fiber application, for mounting pages and for listening.
func (s *Server) App() *fiber.App { return s.app }

// NotFound answers every path that nobody serves. Mount it last.
func (s *Server) NotFound() { s.app.Use(func(*fiber.Ctx) error { return fiber.ErrNotFound }) }

func requestID(c *fiber.Ctx) string {
	id, _ := c.Locals("requestID").(string)
	return id
}

// identify gives the request its id, which every answer and every log line carries.
func (s *Server) identify(c *fiber.Ctx) error {
	s.nameRequest(c)
	return c.Next()
}

func (s *Server) nameRequest(c *fiber.Ctx) {
	id := s.ids.New("req")
	c.Locals("requestID", id)
	c.Set(fiber.HeaderXRequestID, id)
}

// observe logs and counts the request by its route pattern: a path can hold a checkout secret.
func (s *Server) observe(c *fiber.Ctx) error {
	start := time.Now()
	err := c.Next()
	if err != nil {
		err = s.handleError(c, err)
	}
	took := time.Since(start)
	s.metrics.answered(c.Method(), c.Route().Path, c.Response().StatusCode(), took)
	s.log.DebugContext(c.UserContext(), "request", slog.String("requestId", requestID(c)), slog.String("method", c.Method()),
		slog.String("route", c.Route().Path), slog.Int("status", c.Response().StatusCode()), slog.Duration("took", took))
	return err
}
