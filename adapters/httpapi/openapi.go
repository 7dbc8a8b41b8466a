package httpapi

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"

	"github.com/gofiber/fiber/v2"
)

// OpenAPI is the API's document: the promise to integrators, and what the reference page is made of.
//
//go:embed openapi.yaml
var OpenAPI []byte

// openAPIETag changes with any byte of the document.
var openAPIETag = func() string {
	sum := sha256.Sum256(OpenAPI)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}()

// getOpenAPI serves the document.
func (s *Server) getOpenAPI(c *fiber.Ctx) error {
	c.Set(fiber.HeaderETag, openAPIETag)
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if c.Get(fiber.HeaderIfNoneMatch) == openAPIETag {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, "application/yaml")
	return c.Send(OpenAPI)
}
