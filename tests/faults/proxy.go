package faults

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy passes TCP connections on to a server until it is cut.
type Proxy struct {
	target   string
	listener net.Listener

	requests atomic.Int64
	// delay holds back what clients send, in nanoseconds.
	delay atomic.Int64

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// NewProxy is in front of the server that an address such as postgres://… or redis://… names.
func NewProxy(t testing.TB, address string) *Proxy {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: u.Host, listener: listener, conns: map[net.Conn]bool{}}
	go p.accept()
	t.Cleanup(func() { _ = listener.Close(); p.Cut() })
	return p
}

// Via is the address with this proxy as its host.
func (p *Proxy) Via(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // NewProxy has parsed it
	}
	u.Host = p.listener.Addr().String()
	return u.String()
}

// Cut drops every connection and refuses new ones, as a server that died.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for conn := range p.conns {
		_ = conn.Close()
	}
	clear(p.conns)
}

// Restore lets connections through again.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

// Slow holds back whatever a client sends for a while; 0 ends that, for what is held back as well.
func (p *Proxy) Slow(by time.Duration) { p.delay.Store(int64(by)) }

// hold waits as long as Slow says.
func (p *Proxy) hold() {
	for began := time.Now(); time.Since(began) < time.Duration(p.delay.Load()); time.Sleep(time.Millisecond) {
	}
}

// Requests counts what clients have sent. What they send together, such as a pipeline, is one.
func (p *Proxy) Requests() int64 { return p.requests.Load() }

// counted counts and holds back reads of what a client sends.
type counted struct {
	io.Reader
	by *Proxy
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if n > 0 {
		c.by.requests.Add(1)
		c.by.hold()
	}
	return n, err
}

func (p *Proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.pass(from)
	}
}

// keep remembers a connection for Cut; false when the proxy is cut.
func (p *Proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cut {
		p.conns[conn] = true
	}
	return !p.cut
}

func (p *Proxy) drop(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
	_ = conn.Close()
}

func (p *Proxy) pass(from net.Conn) {
	defer p.drop(from)
	if !p.keep(from) {
		return
	}
	to, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return
	}
	defer p.drop(to)
	if !p.keep(to) {
		return
	}
	go func() {
		_, _ = io.Copy(to, &counted{from, p})
		p.drop(to)
	}()
	_, _ = io.Copy(from, to)
}
