package httpapi

import (
	"bytes"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
)

// checkFraming refuses requests that two servers could read differently, and bodies that are not sent as they are. The
// connection of the former closes, for nobody knows where the next request begins.
func checkFraming(c *fiber.Ctx) error {
	header := &c.Request().Header
	if why := ambiguous(header.RawHeaders(), header.IsHTTP11()); why != "" {
		c.Response().SetConnectionClose()
		return fault.New(fault.ValidationFailed, why)
	}
	if len(header.ContentEncoding()) > 0 {
		return fault.New(fault.UnsupportedMediaType, "Send the body as it is, without Content-Encoding.")
	}
	return c.Next()
}

// ambiguous returns the reason why two servers could disagree on the request's end, fields or host (RFC 9112, 2.2, 3.2,
// 5, 6.1 and 6.3); "" for none. headers are the lines as they were sent.
func ambiguous(headers []byte, http11 bool) string {
	lengths, codings, hosts := 0, 0, 0
	for line := range bytes.SplitSeq(bytes.TrimSuffix(headers, []byte("\n")), []byte("\n")) {
		line, ended := bytes.CutSuffix(line, []byte("\r"))
		name, _, named := bytes.Cut(line, []byte(":"))
		switch {
		case len(headers) == 0 || ended && len(line) == 0:
		case !ended:
			return "A header's line ends without CR. End lines with CR LF."
		case line[0] == ' ' || line[0] == '\t':
			return "A header is folded over several lines. Send it in one."
		case bytes.ContainsAny(name, " \t"):
			return "A header's name contains a blank. Send the colon right after the name."
		case !named: // refused by the parser
		case bytes.EqualFold(name, []byte(fiber.HeaderContentLength)):
			lengths++
		case bytes.EqualFold(name, []byte(fiber.HeaderTransferEncoding)):
			codings++
		case bytes.EqualFold(name, []byte(fiber.HeaderHost)):
			hosts++
		}
	}
	switch {
	case lengths > 0 && codings > 0:
		return "The request has both Content-Length and Transfer-Encoding. Send one of them."
	case codings > 1 || codings > 0 && !http11:
		return "Send Transfer-Encoding once, and over HTTP/1.1 only."
	case hosts > 1 || hosts == 0 && http11:
		return "Send Host exactly once."
	}
	return ""
}
