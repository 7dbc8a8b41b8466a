//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package httpapi

import "net"

// peerClosed cannot know on this system: a client that has disconnected is waited for like one that is connected.
func peerClosed(net.Conn) bool { return false }
