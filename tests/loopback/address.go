// Package loopback finds addresses on this machine for the processes that tests start.
package loopback

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports below those that systems give to clients: a connection of somebody else never takes one between its choice
// and its use.
const (
	lowestPort  = 15_000
	highestPort = 32_000
)

// FreeAddress returns a loopback address that nobody listened on a moment ago, for a process that gets it as its
// setting.
func FreeAddress(ctx context.Context) (string, error) {
	var err error
	for range 100 {
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // any free port will do
		var listener net.Listener
		if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", err
}
