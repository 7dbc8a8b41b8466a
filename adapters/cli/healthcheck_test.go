package cli

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		status int
		addr   func(port string) string
		fails  bool
	}{
		{"a ready process is healthy", http.StatusOK, func(port string) string { return "127.0.0.1:" + port }, false},
		{
			"one that listens everywhere is asked at home", http.StatusOK,
			func(port string) string { return "0.0.0.0:" + port }, false,
		},
		{"a bare port is asked at home", http.StatusOK, func(port string) string { return ":" + port }, false},
		{
			"one whose database is down is not", http.StatusServiceUnavailable,
			func(port string) string { return ":" + port }, true,
		},
		{"an address without a port is refused", http.StatusOK, func(string) string { return "localhost" }, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				w.WriteHeader(c.status)
			}))
			t.Cleanup(server.Close)
			_, port, err := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if err := healthcheck(t.Context(), c.addr(port)); (err != nil) != c.fails {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestHealthcheckFailsWhenNobodyListens(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	addr := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	if err := healthcheck(t.Context(), addr); err == nil {
		t.Error("healthy though nobody listens")
	}
}
