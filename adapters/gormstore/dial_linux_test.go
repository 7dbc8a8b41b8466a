package gormstore_test

import (
	"net"
	"syscall"
	"testing"

	"sundry/adapters/gormstore"
)

// TestAServerThatVanishesIsGivenUp reads the limits that the kernel holds for a connection.
func TestAServerThatVanishesIsGivenUp(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at the end
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	conn, err := gormstore.Dial(t.Context(), "tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const userTimeout = 0x12 // TCP_USER_TIMEOUT of linux/tcp.h
	for _, option := range []struct {
		name      string
		level, of int
		want      int
	}{
		{"SO_KEEPALIVE", syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1},
		{"TCP_KEEPIDLE in seconds", syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, 10},
		{"TCP_KEEPINTVL in seconds", syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL, 5},
		{"TCP_KEEPCNT", syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT, 4},
		{"TCP_USER_TIMEOUT in milliseconds", syscall.IPPROTO_TCP, userTimeout, 30_000},
	} {
		var got int
		var failed error
		if err := raw.Control(func(fd uintptr) {
			got, failed = syscall.GetsockoptInt(int(fd), option.level, option.of)
		}); err != nil || failed != nil || got != option.want {
			t.Errorf("%s is %d, %v, %v; want %d", option.name, got, err, failed, option.want)
		}
	}
}
