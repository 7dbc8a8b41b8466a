//go:build !linux

package gormstore

import (
	"syscall"
	"time"
)

// giveUpAfter changes nothing: the system's own limit for what is not acknowledged remains.
func giveUpAfter(syscall.RawConn, time.Duration) error { return nil }
