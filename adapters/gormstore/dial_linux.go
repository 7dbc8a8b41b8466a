package gormstore

import (
	"errors"
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h (RFC 5482), which package syscall lacks.
const tcpUserTimeout = 0x12

// giveUpAfter ends a connection whose peer has not acknowledged what was sent for so long.
func giveUpAfter(conn syscall.RawConn, silence time.Duration) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silence.Milliseconds()))
	})
	return errors.Join(err, failed)
}
