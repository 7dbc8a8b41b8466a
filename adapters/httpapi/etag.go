package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// SendWithETag responds with the JSON body under its strong entity tag, or 304 without a body when the caller has it.
func SendWithETag(c *fiber.Ctx, etag string, body []byte) error {
	c.Set(fiber.HeaderETag, etag)
	c.Set(fiber.HeaderCacheControl, "private, no-cache") // may be kept, must be asked about
	if matchesETag(c.Get(fiber.HeaderIfNoneMatch), etag) {
		c.Status(fiber.StatusNotModified)
		return nil
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(body)
}

// matchesETag reads If-None-Match: "*" or a list of tags. A tag that a proxy has weakened still counts (RFC 9110,
// 13.1.2).
func matchesETag(header, etag string) bool {
	if header == "" {
		return false
	}
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// ETagOf returns the strong entity tag of a body: it changes with any byte.
func ETagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:18]) + `"`
}
