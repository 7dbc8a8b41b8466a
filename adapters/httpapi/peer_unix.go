//go:build linux || darwin || freebsd || netbsd || openbsd

package httpapi

import (
	"errors"
	"net"
	"syscall"
)

// peerClosed reports whether the other side has closed the connection. It peeks without reading, for the next request
// of the connection may already be there. A connection that cannot be inspected counts as open.
func peerClosed(conn net.Conn) bool {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = n == 0 && err == nil || errors.Is(err, syscall.ECONNRESET)
	})
	return gone || err != nil
}
