package httpapi

import (
	"context"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

// peerPollInterval is the interval at which a waiting request checks that its client is still connected.
const peerPollInterval = time.Second

// ContextUntilDisconnect returns a context for a request that waits: it ends when the client goes away or the server
// stops, neither of which fasthttp reports to a handler. Call stop before the handler returns.
func ContextUntilDisconnect(c *fiber.Ctx) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(c.UserContext())
	stopping, conn := c.Context().Done(), c.Context().Conn()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		watch(ctx, stopping, conn)
		cancel()
	}()
	return ctx, func() {
		cancel()
		<-ended
	}
}

// watch returns when ctx ends, the server is stopping or the other side has closed the connection.
func watch(ctx context.Context, stopping <-chan struct{}, conn net.Conn) {
	tick := time.NewTicker(peerPollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stopping:
			return
		case <-tick.C:
			if peerClosed(conn) {
				return
			}
		}
	}
}
