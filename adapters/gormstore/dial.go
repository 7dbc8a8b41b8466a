package gormstore

import (
	"context"
	"net"
	"strings"
	"syscall"
	"time"
)

// goneAfter is the silence after which a database server is taken for gone: one that lost its power, or its network,
// closes no connection. Without it the system waits for a quarter of an hour, and for longer on an idle connection.
const goneAfter = 30 * time.Second

// dial connects to a database server so that one that vanishes is noticed: an idle connection asks it to respond, and
// what was sent has to be received.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: goneAfter / 3, Interval: goneAfter / 6, Count: 4,
	}}
	if strings.HasPrefix(network, "tcp") {
		dialer.Control = func(_, _ string, conn syscall.RawConn) error { return giveUpAfter(conn, goneAfter) }
	}
	return dialer.DialContext(ctx, network, address)
}
