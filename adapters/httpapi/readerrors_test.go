package httpapi

import (
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/tests/fakes"
)

// newServer is the frame without areas, except for those of the test.
func newServer(t *testing.T, d Deps, areas ...Area) *Server {
	t.Helper()
	d.IDs = oneID{}
	if d.Accounts == nil {
		d.Accounts = fakes.Standing{}
	}
	return New(d, areas...)
}

// oneID names everything alike.
type oneID struct{}

func (oneID) New(prefix id.Prefix) string { return id.New(prefix, [16]byte{}) }
func (oneID) Random(n int) []byte         { return make([]byte, n) }
func (oneID) Cell() id.Cell               { return 0 }

// impatient is a time to read a request in that a test can wait for.
const impatient = 100 * time.Millisecond

// listening is the API on a socket, with a time to read a request in; 0 for the usual one.
func listening(t *testing.T, log io.Writer, readTimeout time.Duration, areas ...Area) (address string) {
	t.Helper()
	s := newServer(t, Deps{Log: slog.New(slog.NewTextHandler(log, nil))}, areas...)
	if readTimeout > 0 {
		s.App().Server().ReadTimeout = readTimeout
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.App().Listener(listener) }()
	t.Cleanup(func() {
		if err := s.App().Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// exchange sends the text and returns all that comes back until the other side closes.
func exchange(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	response, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%v after %q", err, response)
	}
	return string(response)
}

func TestWhatCannotBeReadIsAnsweredOverTheSocket(t *testing.T) {
	t.Parallel()
	var log, other strings.Builder
	usual, waitsBriefly := listening(t, &other, 0), listening(t, &log, impatient)
	const refused, next = `"code":"VALIDATION_FAILED"`, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct{ sent, status, body string }{
		"nothing is sent": {"", "408", ""},
		"half a request":  {"GET /healthz HT", "408", ""},
		"half a body": {
			"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{", "408", "",
		},
		"no HTTP at all": {"hello\r\n\r\n", "400", `"code":"VALIDATION_FAILED"`},
		"a length twice": {
			"POST / HTTP/1.1\r\nHost: x\r\nAuthorization: s3cret\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
			"400", `"code":"VALIDATION_FAILED"`,
		},
		"headers without end": {
			"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", maxHeader) + "\r\n\r\n", "400",
			`"code":"VALIDATION_FAILED"`,
		},
		"a body that is declared too big": {
			"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n" + strings.Repeat("a", 1<<20+1),
			"413", `"code":"PAYLOAD_TOO_LARGE"`,
		},
		"a blank before the colon": {
			"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\n{}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "400", `"code":"VALIDATION_FAILED"`,
		},
		"a length beside chunks": {
			"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
			"400", `"code":"VALIDATION_FAILED"`,
		},
		"no Host":               {"GET /healthz HTTP/1.1\r\n\r\n" + next, "400", refused},
		"no Host beside others": {"GET /healthz HTTP/1.1\r\nAccept: */*\r\n\r\n" + next, "400", refused},
		"two Hosts":             {"GET /healthz HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n" + next, "400", refused},
		"two Transfer-Encodings": {
			"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" +
				"0\r\n\r\n" + next, "400", refused,
		},
		"chunks over HTTP/1.0": {
			"POST /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n" + next, "400",
			refused,
		},
		"a blank inside a name": {"GET /healthz HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n" + next, "400", refused},
		"a folded header":       {"GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n" + next, "400", refused},
		"a folded header, by a tab": {
			"GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\r\n\tHost: y\r\n\r\n" + next, "400", refused,
		},
		"a line without CR": {"GET /healthz HTTP/1.1\r\nHost: x\nA: b\r\n\r\n" + next, "400", refused},
		"an empty line without CR": {
			"POST /healthz HTTP/1.1\r\nHost: x\r\n\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + next, "400", refused,
		},
		"a body that grows too big": {
			"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n" + strings.Repeat("a", 1<<20+1) +
				"\r\n0\r\n\r\n",
			"413", `"code":"PAYLOAD_TOO_LARGE"`,
		},
	} {
		address := usual
		if c.status == "408" {
			address = waitsBriefly
		}
		response := exchange(t, address, c.sent)
		head, body, _ := strings.Cut(response, "\r\n\r\n")
		if !strings.HasPrefix(head, "HTTP/1.1 "+c.status+" ") || !strings.Contains(head, "X-Request-Id: req_") ||
			!strings.Contains(head, "Connection: close") {
			t.Errorf("%s: %q", name, head)
		}
		if strings.Contains(response, "HTTP/1.1 200 ") {
			t.Errorf("%s: what follows is served, too: %q", name, body)
		}
		if strings.Contains(body, "s3cret") {
			t.Errorf("%s: the response repeats a credential: %q", name, body)
		}
		if c.body == "" && body != "" || !strings.Contains(body, c.body) {
			t.Errorf("%s: body %q", name, body)
		}
	}
	if log.Len()+other.Len() > 0 {
		t.Errorf("callers' silence is no fault of ours: %s", log.String()+other.String())
	}
}

func TestPlainRequestsAreServed(t *testing.T) {
	t.Parallel()
	address := listening(t, io.Discard, 0)
	for name, sent := range map[string]string{
		"without Host over HTTP/1.0": "GET /healthz HTTP/1.0\r\n\r\n",
		"with Host over HTTP/1.0":    "GET /healthz HTTP/1.0\r\nHost: x\r\n\r\n",
		"with Host over HTTP/1.1":    "GET /healthz HTTP/1.1\r\nhost: x\r\nConnection: close\r\n\r\n",
		"with an empty Host":         "GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
		"with chunks": "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		if response := exchange(t, address, sent); !strings.HasPrefix(response, "HTTP/1.1 200 ") {
			t.Errorf("%s: %q", name, response)
		}
	}
}
