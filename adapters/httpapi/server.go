// Package httpapi is the frame of the JSON API: the route table, authentication, idempotency, strict decoding, paging,
// and the one map from faults to statuses. The handlers and views of each area are in a package of their own below it;
// they translate, and the modules decide.
package httpapi

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"sundry/core/apiformat"
	"sundry/core/id"
	"sundry/ports"
)

// maxBody is the largest request body accepted.
const maxBody = 1 << 20

// maxHeader is the largest request line with its headers: enough for a payment link with every parameter at its full
// length, percent-encoded.
const maxHeader = 32 << 10

// Deps holds what the server depends on.
type Deps struct {
	Live bool
	// Encrypted tells browsers to ask by https only from now on. It is for services whose address begins with https.
	Encrypted bool
	// RateLimitPerMinute is per API key; 0 = off.
	RateLimitPerMinute int
	Auth               Authenticator
	Accounts           Accounts
	Idempotency        ports.IdempotentRequests
	RateLimiter        ports.RateLimiter
	IDs                ports.IDs
	Log                *slog.Logger
	// Requests is notified of every request with a valid secret key; nil for nobody.
	Requests RequestRecorder
	// ClientAddress returns the network that a request comes from; nil where that is not known.
	ClientAddress func(*fiber.Ctx) string
	// Exports records each export before its first line; nil for nobody.
	Exports ExportRecorder
	// Grants lists the grants of an account's export.
	Grants ExportLister
	// RefusedPage responds with a page to a browser whose request was refused before any page saw it. It returns false
	// for clients that do not read pages; nil for none.
	RefusedPage func(c *fiber.Ctx, status int) (done bool)
	// SendFixed builds a handler that sends a body which never changes, in the encoding that the client accepts; nil
	// sends it as it is.
	SendFixed func(body []byte) fiber.Handler
	// Ready reports how what is behind the API does.
	Ready func(ctx context.Context) Readiness
	// Metrics is the registry that GET /metrics shows. The API adds its own; a new registry when nil.
	Metrics *prometheus.Registry
	// OtherCell reports whether there is another cell of a number; nil where there is one cell.
	OtherCell func(ctx context.Context, cell id.Cell) bool
	// Delay estimates how long a request waits for the database at present; nil where nothing is refused for it.
	Delay func() time.Duration
	// Outdated reports whether a later version has taken from the schema what this one may use: every request is refused.
	Outdated func() bool
	// Tracer gives each request a span; nil for none.
	Tracer ports.Tracer
	// MetricsElsewhere leaves /metrics to Operations.
	MetricsElsewhere bool
}

// Server is the API over fiber.
type Server struct {
	Deps
	app      *fiber.App
	routes   []Route
	document Document
	metrics  *requestMetrics
}

// New builds the API with the routes of its areas. Pages are mounted on App by the caller.
func New(d Deps, areas ...Area) *Server {
	if d.Metrics == nil {
		d.Metrics = prometheus.NewRegistry()
	}
	s := &Server{Deps: d, metrics: newRequestMetrics()}
	s.document = newDocument(areas, s.routeTable(areas))
	s.routes = s.routeTable(areas) // with the document to serve
	s.Metrics.MustRegister(s.metrics)
	s.app = fiber.New(fiber.Config{
		AppName:               "Sundry",
		Immutable:             true, // fiber reuses its buffers; ours outlive the request
		DisableStartupMessage: true,
		BodyLimit:             maxBody,
		StreamRequestBody:     true, // for withBody
		// It would read a form of any length, into files.
		DisablePreParseMultipartForm: true,
		ReadBufferSize:               maxHeader,
		ReadTimeout:                  30 * time.Second,
		WriteTimeout:                 60 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		ErrorHandler:                 s.handleError,
		JSONEncoder:                  apiformat.JSON,
		ProxyHeader:                  "",
		StrictRouting:                false,
		CaseSensitive:                true,
	})
	s.app.Server().Handler = acceptAnyMethod(s.withBody(s.app.Server().Handler))
	s.app.Server().HeaderReceived = expectations
	s.app.Use(s.assignRequestID, s.observe, recover.New(), checkFraming, s.shed)
	s.mount()
	return s
}

// acceptAnyMethod lets the router refuse methods that it does not know as it refuses those that a path does not have;
// fiber's own refusal is neither our error's shape nor has a request id. No route has TRACE.
func acceptAnyMethod(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		if !slices.Contains(fiber.DefaultMethods, string(c.Method())) {
			c.Request.Header.SetMethod(fiber.MethodTrace)
		}
		next(c)
	}
}

// App returns the fiber application, for mounting pages and for listening.
func (s *Server) App() *fiber.App { return s.app }

// Routes returns the route table.
func (s *Server) Routes() []Route { return s.routes }

// Document returns the API's OpenAPI document.
func (s *Server) Document() Document { return s.document }

// RequestID names the request, for the few responses to refusals that the frame does not write.
func RequestID(c *fiber.Ctx) string { return requestID(c) }

func requestID(c *fiber.Ctx) string {
	id, _ := c.Locals("requestID").(string)
	return id
}

// assignRequestID gives the request the id that its response and its log lines carry.
func (s *Server) assignRequestID(c *fiber.Ctx) error {
	s.setCommonHeaders(c)
	return c.Next()
}

// oneYear is a value of Strict-Transport-Security: for a year, browsers that were here by https use nothing else.
const oneYear = "max-age=31536000"

// setCommonHeaders sets what every response has, the id of its request among it.
func (s *Server) setCommonHeaders(c *fiber.Ctx) {
	name := s.IDs.New(id.Request)
	c.Locals("requestID", name)
	c.Set(fiber.HeaderXRequestID, name)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	if s.Encrypted {
		c.Set(fiber.HeaderStrictTransportSecurity, oneYear)
	}
}

// observe logs and counts the request by its route pattern: a path can hold a checkout secret.
func (s *Server) observe(c *fiber.Ctx) error {
	start := time.Now()
	c.SetUserContext(ports.WithBegin(c.UserContext(), start))
	span := s.beginSpan(c)
	err := c.Next()
	if err == nil {
		err = s.misdirectedPage(c)
	}
	if err != nil {
		err = s.handleError(c, err)
	}
	var trace string
	if span != nil {
		trace = s.sampledTrace(c)
		endSpan(c, span)
	}
	took := time.Since(start)
	s.metrics.responded(c.Method(), c.Route().Path, c.Response().StatusCode(), took, trace)
	s.recordRequest(c, start, took)
	if s.Log.Enabled(c.UserContext(), slog.LevelDebug) {
		s.Log.DebugContext(
			c.UserContext(), "request", slog.String("requestId", requestID(c)), slog.String("method", c.Method()),
			slog.String("route", c.Route().Path), slog.Int("status", c.Response().StatusCode()),
			slog.Duration("took", took),
		)
	}
	return err
}
