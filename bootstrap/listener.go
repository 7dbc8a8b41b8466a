package bootstrap

import (
	"net"
	"sync"
	"sync/atomic"
)

// listener remembers which connections have sent nothing yet. Browsers open such ahead of need, the server counts
// them among its requests, and a shutdown would wait for them until they time out.
type listener struct {
	net.Listener
	mu      sync.Mutex
	idle    map[*connection]struct{}
	closing bool // idle connections are closed at once
	close   func() error
}

func newListener(l net.Listener) *listener {
	return &listener{Listener: l, idle: map[*connection]struct{}{}, close: sync.OnceValue(l.Close)}
}

// Close implements net.Listener. It may be called any number of times.
func (l *listener) Close() error { return l.close() }

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: raw, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		_ = raw.Close()
		return c, nil // its first read ends it
	}
	l.idle[c] = struct{}{}
	return c, nil
}

// closeIdleConns closes the connections that have sent nothing yet, from now on.
func (l *listener) closeIdleConns() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing = true
	for c := range l.idle {
		_ = c.Conn.Close()
	}
	clear(l.idle)
}

func (l *listener) forget(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.idle, c)
}

type connection struct {
	net.Conn
	listener *listener
	known    atomic.Bool
}

// Read implements net.Conn.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if (n > 0 || err != nil) && !c.known.Swap(true) {
		c.listener.forget(c)
	}
	return n, err
}

// Close implements net.Conn.
func (c *connection) Close() error {
	if !c.known.Swap(true) {
		c.listener.forget(c)
	}
	return c.Conn.Close()
}
