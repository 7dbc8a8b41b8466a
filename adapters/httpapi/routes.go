package httpapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"sundry/core/fault"
	"sundry/ports"
)

// Route is one line of the route table.
type Route struct {
	Method string
	// Path is in fiber's form: /v1/listings/:id.
	Path string
	Auth AuthMode
	// Idempotency specifies how Idempotency-Key is applied. Every POST that takes a secret key has a mode.
	Idempotency IdempotencyMode
	// Before, if set, runs outside the transaction of Transactional; the function that it returns runs after it.
	Before func(c *fiber.Ctx) (after func())
	Handle fiber.Handler
	// WhileSuspended routes stay open to the keys of a suspended account, as every GET does: they serve customers of
	// before.
	WhileSuspended bool
	// MayBeStale routes may miss what was written in the last seconds, where a standby serves them. So may every GET
	// that is a part of an export.
	MayBeStale bool
	// SandboxOnly routes do not exist in live.
	SandboxOnly bool
}

// Area is the part of the API that one area contributes.
type Area struct {
	Routes []Route
	// Document is the area's part of the OpenAPI document, in YAML.
	Document []byte
	// Generated continues Document by what is made of the program itself, once somebody reads it; nil for nothing.
	Generated func() []byte
}

// routeTable returns every route of the deployment: those of the areas and the server's own.
func (s *Server) routeTable(areas []Area) []Route {
	var all []Route
	for _, area := range areas {
		all = append(all, area.Routes...)
	}
	all = append(all, s.operationsRoutes()...)
	all = append(all, s.exportRoutes()...)
	if !s.Live {
		return all
	}
	return slices.DeleteFunc(all, func(r Route) bool { return r.SandboxOnly })
}

func (s *Server) mount() {
	for _, r := range s.routes {
		handler := r.Handle
		if r.Method == fiber.MethodGet {
			handler = allowStale(r.MayBeStale, s.expanding(r, handler))
		}
		if r.Idempotency == Transactional || r.Idempotency == Leased {
			handler = s.idempotent(r)
		}
		if r.Before != nil {
			handler = around(r.Before, handler)
		}
		handlers := []fiber.Handler{s.authMiddleware(r), s.checkQuery(r), handler}
		if r.readableByAnyPage() {
			handlers = append([]fiber.Handler{allowAnyOrigin}, handlers...)
			s.app.Add(fiber.MethodOptions, r.Path, s.preflight(r.Path))
		}
		if r.Method == fiber.MethodGet {
			s.app.Add(fiber.MethodHead, r.Path, handlers...)
		}
		s.app.Add(r.Method, r.Path, handlers...)
	}
}

// checkQuery refuses query parameters that the document does not declare for the route, those that are sent twice
// and, on routes for programs, those without a value: a misspelt filter must not look like one that matched
// everything, nor a second value like one that counted, and a variable that was never set must not list what belongs
// to everyone.
func (s *Server) checkQuery(r Route) fiber.Handler {
	key := operationKey(r.Method, r.Path)
	return func(c *fiber.Ctx) error {
		if c.Context().QueryArgs().Len() == 0 {
			return c.Next()
		}
		query, err := s.document.query()
		if err != nil {
			return err
		}
		known, documented := query[key]
		if !documented {
			return c.Next()
		}
		maybeEmpty := []string{"cursor"} // of a first page
		if r.Auth == Public || r.Auth == SecretKeyOrReturnToken {
			maybeEmpty = known // a form sends every field
		}
		code, faults := checkParameters(c.Context().QueryArgs(), known, maybeEmpty)
		switch {
		case faults == nil:
			return c.Next()
		case r.Method == fiber.MethodGet:
			faults = MergeFieldErrors(faults, valueFaults(c, (*fiber.Ctx).Next))
		case len(Body(c)) > 0:
			c.Locals(refusedQuery{}, faults)
			faults = MergeFieldErrors(faults, valueFaults(c, r.Handle))
		}
		if f, ok := errors.AsType[*fault.Error](faults); ok {
			f.Code = code
		}
		return faults
	}
}

// refusedQuery is the key under which a request with a body carries the faults of its query. Decode returns them, so
// that no handler goes on behind it.
type refusedQuery struct{}

// valueFaults returns the faults that a handler finds in the values of a request whose query is refused already. The
// handler's context is canceled, so that it gets no further than reading them, and its response is dropped.
func valueFaults(c *fiber.Ctx, handle fiber.Handler) error {
	var header fasthttp.ResponseHeader
	c.Response().Header.CopyTo(&header)
	outside := c.UserContext()
	ctx, cancel := context.WithCancel(outside)
	cancel()
	c.SetUserContext(ctx)
	err := handle(c)
	c.SetUserContext(outside)
	c.Response().ResetBody()
	header.CopyTo(&c.Response().Header)
	if !fault.Is(err, fault.ValidationFailed) {
		return nil
	}
	return err
}

// checkParameters returns the faults of the names of a query, and the code of their refusal.
func checkParameters(args *fasthttp.Args, known, maybeEmpty []string) (fault.Code, error) {
	code, f := fault.ValidationFailed, fault.Violations{}
	seen := make([]string, 0, len(known))
	for key, value := range args.All() {
		name := string(key)
		switch {
		case !slices.Contains(known, name):
			code = fault.UnknownParameter
			f.Add(
				parameterLabel(key), fault.DetailUnknownMember,
				"This route has no such query parameter."+fault.DidYouMean(name, known...),
			)
		case slices.Contains(seen, name):
			f.Add(name, fault.DetailDuplicate, "Send the query parameter once.")
		case len(value) == 0 && !slices.Contains(maybeEmpty, name):
			f.Add(name, fault.DetailRequired, "Send a value, or leave the query parameter out.")
		}
		seen = append(seen, name)
	}
	return code, f.Err()
}

// maxParameterLabel bounds how much of a name made up by the caller is repeated in a response, in bytes.
const maxParameterLabel = 64

func parameterLabel(name []byte) string {
	return strings.ToValidUTF8(string(name[:min(len(name), maxParameterLabel)]), "�")
}

// allowStale lets a handler's reads be stale: always, or only for an export. Who asks is authenticated before it.
func allowStale(always bool, handler fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if always || c.Context().UserValue(insider{}) != nil {
			c.SetUserContext(ports.AllowStale(c.UserContext()))
		}
		return handler(c)
	}
}

func around(before func(c *fiber.Ctx) (after func()), handler fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		after := before(c)
		defer after()
		return handler(c)
	}
}

// Private keeps a response out of caches and its address out of referrers.
func Private(handle fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
		return handle(c)
	}
}
