package httpapi

import (
	"errors"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	// drainLimit and drainTime bound the part of an oversized request that is read.
	drainLimit = 16 << 20
	drainTime  = 5 * time.Second
	// drainPause is the silence after which a sender is assumed to wait for the response.
	drainPause = 200 * time.Millisecond
)

// handleReadError handles an error of reading a request, before any handler saw it. done means that the response is
// complete.
func (s *Server) handleReadError(c *fiber.Ctx, err error) (done bool) {
	s.setCommonHeaders(c)
	switch {
	case errors.Is(err, fiber.ErrRequestTimeout), errors.Is(err, fiber.ErrBadGateway):
		// The caller fell silent, often before the first byte on a kept-alive connection, or disconnected. Clients
		// and proxies understand a bare 408 and send their request over another connection.
		c.Status(fiber.StatusRequestTimeout)
		return true
	case errors.Is(err, fiber.ErrRequestEntityTooLarge), errors.Is(err, fiber.ErrRequestHeaderFieldsTooLarge):
		drainBody(c)
		return s.RefusedPage != nil && s.RefusedPage(c, fiber.StatusRequestEntityTooLarge)
	}
	return false
}

// drainBody reads the rest of a request that was refused for its size. The connection is closed after the response,
// and closing it with bytes unread would reset it: the caller would see a broken connection and never the refusal.
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
