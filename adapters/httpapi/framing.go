package httpapi

import (
	"bytes"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
)

// checkFraming refuses requests that two servers could read differently, and bodies that are not sent as they are. The
// connection of the former closes, for nobody knows where the next request begins.
func checkFraming(c *fiber.Ctx) error {
	if why := ambiguous(c.Request().Header.RawHeaders()); why != "" {
		c.Response().SetConnectionClose()
		return fault.New(fault.ValidationFailed, why)
	}
	if len(c.Request().Header.ContentEncoding()) > 0 {
		return fault.New(fault.UnsupportedMediaType, "Send the body as it is, without Content-Encoding.")
	}
	return c.Next()
}

// ambiguous returns the reason why the end of the body cannot be determined (RFC 9112, 5.1 and 6.3); "" when it can.
func ambiguous(headers []byte) string {
	length, chunked := false, false
	for line := range bytes.SplitSeq(headers, []byte("\n")) {
		name, _, ok := bytes.Cut(line, []byte(":"))
		if !ok || len(name) == 0 {
			continue
		}
		if last := name[len(name)-1]; last == ' ' || last == '\t' {
			return "A header's name ends with a blank. Send the colon right after the name."
		}
		length = length || bytes.EqualFold(name, []byte(fiber.HeaderContentLength))
		chunked = chunked || bytes.EqualFold(name, []byte(fiber.HeaderTransferEncoding))
	}
	if length && chunked {
		return "The request has both Content-Length and Transfer-Encoding. Send one of them."
	}
	return ""
}
