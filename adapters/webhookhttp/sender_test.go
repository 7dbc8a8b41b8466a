package webhookhttp_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"sundry/adapters/webhookhttp"
	"sundry/core/webhook"
	"sundry/ports"
)

const maxResponse = 16 << 10

func send(t *testing.T, s *webhookhttp.Sender, url string, maxWait time.Duration) (ports.OutboundResponse, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	return s.Send(ctx, ports.OutboundRequest{URL: url, Body: []byte(`{"a":1}`),
		Headers: map[string]string{"webhook-id": "evt_1"}})
}

func receiver(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// raw serves every connection with what speak does to it.
func raw(t *testing.T, speak func(c net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					speak(c)
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestTheMessageArrivesAsItWasSigned(t *testing.T) {
	t.Parallel()
	var method, body, kind, id string
	url := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		method, body, kind, id = r.Method, string(b), r.Header.Get("Content-Type"), r.Header.Get("webhook-id")
		w.WriteHeader(http.StatusNoContent)
	})
	response, err := send(t, webhookhttp.New(webhook.Policy{Private: true}), url, 10*time.Second)
	if err != nil || response.StatusCode != 204 || response.Body != "" {
		t.Fatalf("%+v, %v", response, err)
	}
	if method != http.MethodPost || body != `{"a":1}` || kind != "application/json" || id != "evt_1" {
		t.Errorf("arrived: %s %s %s %s", method, body, kind, id)
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Int32
	target := receiver(t, func(http.ResponseWriter, *http.Request) { followed.Add(1) })
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{target, "http://169.254.169.254/latest/meta-data/"} {
			url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", to)
				w.WriteHeader(code)
			})
			response, err := send(t, webhookhttp.New(webhook.Policy{Private: true}), url, 10*time.Second)
			if err != nil || response.StatusCode != code {
				t.Errorf("%d to %s: %+v, %v", code, to, response, err)
			}
		}
	}
	if followed.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

func TestRetryAfterIsHandedOn(t *testing.T) {
	t.Parallel()
	url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "slow \x00 down \xff")
	})
	response, err := send(t, webhookhttp.New(webhook.Policy{Private: true}), url, 10*time.Second)
	if err != nil || response.StatusCode != 429 || response.RetryAfter != "120" ||
		response.Body != "slow \uFFFD down \uFFFD" {
		t.Errorf("%+v, %v", response, err)
	}
}

func TestOnlyTheBeginningOfAnEndlessResponseIsRead(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	stopped := make(chan struct{})
	url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(stopped)
		chunk := []byte(strings.Repeat("x", 64<<10))
		for range 10 << 30 / len(chunk) {
			n, err := w.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	response, err := send(t, webhookhttp.New(webhook.Policy{Private: true}), url, 10*time.Second)
	if err != nil || response.StatusCode != 200 || len(response.Body) != maxResponse {
		t.Fatalf("status %d, %d bytes, %v", response.StatusCode, len(response.Body), err)
	}
	select {
	case <-stopped:
	case <-time.After(10 * time.Second):
		t.Fatal("the receiver is still being listened to")
	}
	if sent.Load() > 64<<20 {
		t.Errorf("the receiver could send %d bytes", sent.Load())
	}
}

func TestACompressedResponseIsNotUnfolded(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	var bomb bytes.Buffer // made before the time of the attempt runs
	unfolded := gzip.NewWriter(&bomb)
	_, _ = unfolded.Write(make([]byte, 8<<20)) // into memory, as the next
	_ = unfolded.Close()
	url := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Accept-Encoding")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	response, err := send(t, webhookhttp.New(webhook.Policy{Private: true}), url, 10*time.Second)
	if err != nil || response.StatusCode != 200 || !strings.HasPrefix(response.Body, "\x1f") {
		t.Errorf("status %d, body begins %.2q, %v; want the bytes as they came", response.StatusCode, response.Body, err)
	}
	if got := <-asked; strings.Contains(got, "gzip") {
		t.Errorf("compression was asked for: %q", got)
	}
}

func TestAReceiverThatMisbehavesIsAShortError(t *testing.T) {
	t.Parallel()
	ok := "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
	for _, c := range []struct {
		name  string
		speak func(c net.Conn)
	}{
		{"sends nothing", func(net.Conn) { time.Sleep(3 * time.Second) }},
		{"sends its header a letter at a time", func(c net.Conn) { drip(c, ok) }},
		{"sends its body a letter at a time", func(c net.Conn) {
			_, _ = io.WriteString(c, ok)
			drip(c, strings.Repeat("x", 100))
		}},
		{"resets the connection", func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }},
		{"closes in the middle of the body", func(c net.Conn) { _, _ = io.WriteString(c, ok+"x") }},
		{"speaks no HTTP", func(c net.Conn) { _, _ = io.WriteString(c, "hello\r\n\r\n") }},
		{"sends an endless header", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := io.WriteString(c, "X-A: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
					return
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := raw(t, c.speak)
			begin := time.Now()
			response, err := send(t, webhookhttp.New(webhook.Policy{Private: true}), url+"/?token=secret", 700*time.Millisecond)
			if err == nil {
				t.Fatalf("taken as a response: %+v", response)
			}
			mustBeShort(t, err)
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

// drip writes a letter every 100 ms.
func drip(c net.Conn, s string) {
	for i := range len(s) {
		if _, err := io.WriteString(c, s[i:i+1]); err != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// mustBeShort fails when an error is not fit for the endpoint's owner.
func mustBeShort(t *testing.T, err error) {
	t.Helper()
	for _, part := range []string{"http://", "https://", "token", "127.0.0.1", "localhost"} {
		if strings.Contains(err.Error(), part) {
			t.Errorf("the error %q reveals %q", err, part)
		}
	}
	if len(err.Error()) > 80 {
		t.Errorf("the error is long: %s", err)
	}
}

func TestNothingInsideIsDialled(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	server := receiver(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server, "http://"))
	guarded := webhookhttp.New(webhook.Policy{})
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1",
		"2130706433", "169.254.169.254", "10.0.0.1", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"} {
		response, err := send(t, guarded, "http://"+host+":"+port+"/?token=secret", 5*time.Second)
		if err == nil {
			t.Errorf("%s responded with %+v", host, response)
			continue
		}
		mustBeShort(t, err)
		if host == "localhost" && err.Error() != "the address is not public" {
			t.Errorf("%s: %v; want to be refused by the address it resolves to", host, err)
		}
	}
	if reached.Load() > 0 {
		t.Error("a receiver on loopback was reached")
	}
}

func TestAURLThatCannotBeUsedIsAShortError(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://127.0.0.1:1/?token=secret", "http://no-such-host.invalid/?token=secret",
		"gopher://token/", "http://[::1/?token", ""} {
		_, err := send(t, webhookhttp.New(webhook.Policy{Private: true}), url, 5*time.Second)
		if err == nil {
			t.Errorf("%q was posted to", url)
			continue
		}
		mustBeShort(t, err)
	}
}

func TestSanitizedResponseStaysWithinTheBound(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{
		"NUL":            strings.Repeat("\x00", 16<<10),
		"no UTF-8":       strings.Repeat("a\xff", 8<<10),
		"cut in a rune":  "a" + strings.Repeat("é", 16<<10),
		"cut in a patch": "ab" + strings.Repeat("\x00", 16<<10),
	} {
		url := receiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, response) })
		got, err := send(t, webhookhttp.New(webhook.Policy{Private: true}), url, 10*time.Second)
		if err != nil || len(got.Body) > 16<<10 || len(got.Body) < 16<<10-3 || !utf8.ValidString(got.Body) ||
			strings.Contains(got.Body, "\x00") {
			t.Errorf("%s: %d bytes are kept, %v", name, len(got.Body), err)
		}
	}
}

func TestSandboxNeverReachesCloudMetadata(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"169.254.169.254", "[::ffff:169.254.169.254]", "[fe80::1]", "0.0.0.0", "224.0.0.1",
		"[fd00:ec2::254]"} {
		_, err := send(t, webhookhttp.New(webhook.Policy{Private: true}), "http://"+host+"/latest/meta-data/", 5*time.Second)
		if err == nil || err.Error() != "the address is not public" {
			t.Errorf("%s: %v", host, err)
		}
	}
}
