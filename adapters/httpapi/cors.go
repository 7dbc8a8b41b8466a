package httpapi

import (
	"strings"

	"github.com/gofiber/fiber/v2"
)

const (
	corsRequestHeaders  = "Accept, Content-Type, If-None-Match"
	corsResponseHeaders = "ETag, Retry-After, X-Request-Id"
	corsMaxAge          = "86400"
)

// readableByAnyPage reports whether a page of any origin may read the route's responses: those that need no
// credential, and those that a return token opens. An address that holds a secret is its own credential, and can be
// requested from anywhere.
func (r Route) readableByAnyPage() bool {
	return r.Method == fiber.MethodGet && (r.Auth == Public || r.Auth == SecretKeyOrReturnToken)
}

// allowAnyOrigin lets pages of any origin read the response, refusals included. No credentials are ever allowed.
func allowAnyOrigin(c *fiber.Ctx) error {
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	c.Set(fiber.HeaderAccessControlExposeHeaders, corsResponseHeaders)
	return c.Next()
}

// preflight responds to a browser that asks which requests it may send to the path of a GET.
func (s *Server) preflight(path string) fiber.Handler {
	methods := []string{fiber.MethodGet, fiber.MethodHead}
	for _, r := range s.routes {
		if r.Path == path && r.Method != fiber.MethodGet {
			methods = append(methods, r.Method)
		}
	}
	allow := strings.Join(append(methods, fiber.MethodOptions), ", ")
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderAllow, allow)
		c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
		c.Set(fiber.HeaderAccessControlAllowMethods, "GET, HEAD, OPTIONS")
		c.Set(fiber.HeaderAccessControlAllowHeaders, corsRequestHeaders)
		c.Set(fiber.HeaderAccessControlMaxAge, corsMaxAge)
		return c.SendStatus(fiber.StatusNoContent)
	}
}
