package layout

import (
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// Encoded is a body that is sent many times: it is compressed once for each encoding, when it is first asked for. It is
// safe for concurrent use.
type Encoded struct {
	body         []byte
	brotli, gzip func() []byte
}

// NewEncoded returns a body that must not change any more.
func NewEncoded(body []byte) *Encoded {
	return &Encoded{
		body:   body,
		brotli: sync.OnceValue(func() []byte { return fasthttp.AppendBrotliBytes(nil, body) }),
		gzip:   sync.OnceValue(func() []byte { return fasthttp.AppendGzipBytes(nil, body) }),
	}
}

// Send responds with the body in the encoding that the client prefers.
func (e *Encoded) Send(c *fiber.Ctx) error {
	c.Vary(fiber.HeaderAcceptEncoding)
	switch {
	case c.Request().Header.HasAcceptEncoding("br"):
		c.Set(fiber.HeaderContentEncoding, "br")
		return c.Send(e.brotli())
	case c.Request().Header.HasAcceptEncoding("gzip"):
		c.Set(fiber.HeaderContentEncoding, "gzip")
		return c.Send(e.gzip())
	}
	return c.Send(e.body)
}
