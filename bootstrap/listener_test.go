package bootstrap

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

func TestOnlyIdleConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	raw, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newListener(raw)
	t.Cleanup(func() { _ = l.Close() })
	dial := func() (client, server net.Conn) {
		client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", raw.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		if server, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		return client, server
	}
	idle, _ := dial()
	speaking, peer := dial()
	if _, err := speaking.Write([]byte("G")); err != nil {
		t.Fatal(err)
	}
	if _, err := peer.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	l.closeIdleConns()
	late, _ := dial()
	for name, c := range map[string]net.Conn{"idle": idle, "late": late} {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the %s connection is still open: %v", name, err)
		}
	}
	if _, err := peer.Write([]byte("H")); err != nil {
		t.Errorf("a connection that had spoken was closed: %v", err)
	}
}
