// Package loopback finds addresses on this machine for the processes that tests start.
package loopback

import (
	"context"
	"net"
)

// FreeAddress is a loopback address that nobody listened on a moment ago, for a process that gets it as its setting.
func FreeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
