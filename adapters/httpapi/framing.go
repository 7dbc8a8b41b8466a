package httpapi

import (
	"bytes"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"sundry/core/fault"
)

// checkFraming refuses requests that two servers could read differently, paths that no id or name could be read from,
// and bodies that are not sent as they are. The connection of the first closes, for nobody knows where the next request
// begins.
func checkFraming(c *fiber.Ctx) error {
	header := &c.Request().Header
	if why := ambiguous(header.RawHeaders(), string(header.Protocol())); why != "" {
		c.Response().SetConnectionClose()
		return fault.New(fault.ValidationFailed, why)
	}
	if !utf8.Valid(c.Request().URI().PathOriginal()) {
		return fault.New(fault.ValidationFailed, "The path is not UTF-8. Percent-encode it.")
	}
	if len(header.ContentEncoding()) > 0 {
		return fault.New(fault.UnsupportedMediaType, "Send the body as it is, without Content-Encoding.")
	}
	if len(header.Peek(fiber.HeaderConnection)) > 0 && closes(header.RawHeaders()) {
		c.Response().SetConnectionClose()
	}
	if c.Method() == fiber.MethodOptions && string(header.RequestURI()) == "*" { // of the whole server
		c.Set(fiber.HeaderAllow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		return c.SendStatus(fiber.StatusNoContent)
	}
	return c.Next()
}

// closes reports whether one of the options of the connection is close. The server looks for it only where it is the
// last option and alone.
func closes(headers []byte) bool {
	for line := range bytes.SplitSeq(headers, []byte("\n")) {
		name, options, _ := bytes.Cut(line, []byte(":"))
		if !bytes.EqualFold(name, []byte(fiber.HeaderConnection)) {
			continue
		}
		for option := range bytes.SplitSeq(options, []byte(",")) {
			if bytes.EqualFold(bytes.TrimSpace(option), []byte("close")) {
				return true
			}
		}
	}
	return false
}

// bodyTooLarge is a header by which expectations tells withBody of a body that is too large.
const bodyTooLarge = "Sundry-Body-Too-Large"

// expectations forgets Expect where 100 Continue would be wrong: HTTP/1.0 does not know it, and a body that is too
// large is refused before it is sent (RFC 9110, 10.1.1). The server would wait for the beginning of such a body, so its
// length goes, too.
func expectations(header *fasthttp.RequestHeader) (config fasthttp.RequestConfig) {
	tooLarge := header.ContentLength() > maxBody
	if tooLarge {
		header.SetContentLength(0)
		header.Set(bodyTooLarge, "true")
	}
	if tooLarge || !header.IsHTTP11() {
		header.Del(fiber.HeaderExpect)
	}
	return config
}

// ambiguous returns the reason why two servers could disagree on the request's end, fields, host or sender (RFC 9112,
// 2.2, 3.2, 5, 6.1 and 6.3; RFC 9110, 11.6.2), or that its version is not ours; "" for none. headers are the lines as
// they were sent.
func ambiguous(headers []byte, version string) string {
	http11 := version == "HTTP/1.1"
	if !http11 && version != "HTTP/1.0" {
		return "Use HTTP/1.1 or HTTP/1.0."
	}
	lengths, codings, hosts, credentials := 0, 0, 0, 0
	for line := range bytes.SplitSeq(bytes.TrimSuffix(headers, []byte("\n")), []byte("\n")) {
		line, ended := bytes.CutSuffix(line, []byte("\r"))
		name, value, named := bytes.Cut(line, []byte(":"))
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
			if codings++; !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
				return "Send the body with Content-Length, or with the Transfer-Encoding chunked alone."
			}
		case bytes.EqualFold(name, []byte(fiber.HeaderAuthorization)):
			credentials++
		case bytes.EqualFold(name, []byte(fiber.HeaderHost)):
			if hosts++; bytes.ContainsAny(value, "@/?#") {
				return "Host is a name and a port, not an address."
			}
		}
	}
	switch {
	case lengths > 0 && codings > 0:
		return "The request has both Content-Length and Transfer-Encoding. Send one of them."
	case codings > 1 || codings > 0 && !http11:
		return "Send Transfer-Encoding once, and over HTTP/1.1 only."
	case hosts > 1 || hosts == 0 && http11:
		return "Send Host exactly once."
	case credentials > 1:
		return "Send Authorization once."
	}
	return ""
}
