package webhookhttp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sundry/core/webhook"
)

func TestAFetchIsBoundedAndStaysWhereItMay(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/calendar":
			_, _ = fmt.Fprint(w, r.Method+" "+r.Header.Get("User-Agent"))
		case "/once":
			http.Redirect(w, r, "/calendar", http.StatusFound)
		case "/forever":
			http.Redirect(w, r, "/forever", http.StatusFound)
		case "/away":
			http.Redirect(w, r, "ftp://calendar.example.com/", http.StatusFound)
		case "/user":
			http.Redirect(w, r, "http://user:password@"+r.Host+"/calendar", http.StatusFound)
		case "/large":
			for range 6 << 10 {
				_, _ = w.Write(make([]byte, 1<<10))
			}
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	inside, outside := NewFetcher(webhook.Policy{Private: true}), NewFetcher(webhook.Policy{})
	for path, want := range map[string]string{"/calendar": "GET Sundry-Calendars/1", "/once": "GET Sundry-Calendars/1"} {
		if got, err := inside.Fetch(t.Context(), server.URL+path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{
		"/forever": "redirects", "/away": "redirects", "/user": "redirects", "/large": "larger than 5 MiB",
		"/gone": "the response was 403",
	} {
		got, err := inside.Fetch(t.Context(), server.URL+path)
		if err == nil || !strings.Contains(err.Error(), want) || len(got) > 0 || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %d bytes, %v, want %q", path, len(got), err, want)
		}
	}
	if _, err := outside.Fetch(t.Context(), server.URL+"/calendar"); err == nil ||
		err.Error() != "the address is not public" {
		t.Errorf("a private address: %v", err)
	}
	if _, err := inside.Fetch(t.Context(), "::"); err == nil {
		t.Error("no address is fetched")
	}
}

func TestAPictureIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	if imageStep > 2*time.Second || imageTimeout > 5*time.Second {
		t.Errorf("a step takes up to %s and a picture up to %s", imageStep, imageTimeout)
	}
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(hang) })
	body, err := imageFetcher(webhook.Policy{Private: true}, 50*time.Millisecond).Fetch(t.Context(), server.URL)
	if err == nil || len(body) > 0 {
		t.Errorf("a host that never responds gave %d bytes, %v", len(body), err)
	}
}
