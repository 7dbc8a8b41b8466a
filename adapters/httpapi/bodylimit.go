package httpapi

import (
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	// drainLimit and drainTime bound what is read of a body that is refused for its size.
	drainLimit = 16 << 20
	drainTime  = 5 * time.Second
	// drainPause is how long a sender may be silent before it is taken to be waiting for the answer.
	drainPause = 200 * time.Millisecond
)

// drain reads the rest of a body that was refused for its size. The connection is closed after the answer, and closing
// it with bytes unread would reset it: the caller would see a broken connection and never the 413.
func drain(c *fiber.Ctx) {
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
