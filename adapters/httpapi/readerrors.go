package httpapi

import (
	"errors"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	// drainLimit and drainTime bound what is read of a request that is refused for its size.
	drainLimit = 16 << 20
	drainTime  = 5 * time.Second
	// drainPause is how long a sender may be silent before it is taken to be waiting for the response.
	drainPause = 200 * time.Millisecond
)

// handleReadError handles what went wrong while a request was read, before any handler saw it. done means that the
// response is complete.
func (s *Server) handleReadError(c *fiber.Ctx, err error) (done bool) {
	s.setRequestID(c)
	switch {
	case errors.Is(err, fiber.ErrRequestTimeout), errors.Is(err, fiber.ErrBadGateway):
		// The caller fell silent, often before a first byte on a connection kept for later, or is gone. Clients and
		// proxies know a bare 408 for what it is and send what they have over another connection.
		c.Status(fiber.StatusRequestTimeout)
		return true
	case errors.Is(err, fiber.ErrRequestEntityTooLarge), errors.Is(err, fiber.ErrRequestHeaderFieldsTooLarge):
		drainBody(c)
		return s.RefusedPage != nil && s.RefusedPage(c, fiber.StatusRequestEntityTooLarge)
	}
	return false
}

// drainBody reads the rest of a request that was refused for its size. The connection is closed after the response, and closing
// it with bytes unread would reset it: the caller would see a broken connection and never the refusal.
func drainBody(c *fiber.Ctx) {
	conn := c.Context().Conn()
	if conn == nil {
		return
	}
	deadline := time.Now().Add(drainTime)
	buffer := make([]byte, 64<<10)
	for read := 0; read < drainLimit && time.Now().Before(deadline); {
		n, err := readWithin(conn, buffer, drainPause)
		read += n
		if err != nil {
			return
		}
	}
}

func readWithin(conn net.Conn, buffer []byte, pause time.Duration) (int, error) {
	if err := conn.SetReadDeadline(time.Now().Add(pause)); err != nil {
		return 0, err
	}
	return conn.Read(buffer)
}
