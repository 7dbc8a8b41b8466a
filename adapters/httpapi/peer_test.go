package httpapi

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

// waiting serves one route that waits until its context ends, and asks it. handled gets how long the handler has
// waited.
func waiting(t *testing.T) (app *fiber.App, client net.Conn, handled <-chan time.Duration) {
	t.Helper()
	ended, begun := make(chan time.Duration, 1), make(chan struct{}, 1)
	app = fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/", func(c *fiber.Ctx) error {
		ctx, stop := ContextUntilDisconnect(c)
		defer stop()
		begun <- struct{}{}
		start := time.Now()
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Second):
		}
		ended <- time.Since(start)
		return nil
	})
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()
	client, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		stopping, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := app.ShutdownWithContext(stopping); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	if _, err := client.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	<-begun
	return app, client, ended
}

func TestWaitingEndsWhenTheClientGoes(t *testing.T) {
	t.Parallel()
	_, client, ended := waiting(t)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if waited := <-ended; waited > 10*time.Second {
		t.Errorf("the handler waited %v for nobody", waited)
	}
}

func TestWaitingEndsWhenTheServerStops(t *testing.T) {
	t.Parallel()
	app, client, ended := waiting(t)
	stopped := make(chan error, 1)
	go func() { stopped <- app.Shutdown() }()
	if waited := <-ended; waited > 10*time.Second {
		t.Errorf("the handler held the server up for %v", waited)
	}
	if _, err := client.Read(make([]byte, 1)); err != nil {
		t.Errorf("the client that waited got no response: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestAClientThatWaitsQuietlyIsNotTakenForGone(t *testing.T) {
	t.Parallel()
	_, client, ended := waiting(t)
	select {
	case waited := <-ended:
		t.Errorf("taken for gone after %v", waited)
	case <-time.After(3 * peerPollInterval / 2):
	}
	// The next request of the connection may be there already: it is not the end of this one.
	if _, err := client.Write([]byte("GET /")); err != nil {
		t.Fatal(err)
	}
	select {
	case waited := <-ended:
		t.Errorf("taken for gone after %v, when it had written ahead", waited)
	case <-time.After(3 * peerPollInterval / 2):
	}
}
