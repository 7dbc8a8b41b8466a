package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestListenAndTriggerRefuseWrongArguments(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no URL":                      {"--key", "k", "--forward-to", "nonsense"},
		"a URL that nothing posts to": {"--key", "k", "--forward-to", "ftp://localhost/"},
		"a secret that is none":       {"--key", "k", "--secret", "%"},
		"an address without http":     {"--key", "k", "--api", "127.0.0.1:8080"},
		"a flag that is none":         {"--port", "1"}, "a word": {"--key", "k", "now"},
		"a type that is none": {"--key", "k", "--events", "invoice.*,invoice.payed"},
		"a time that is none": {"--key", "k", "--since", "yesterday"}, "a time to come": {"--key", "k", "--since", "-2h"},
	} {
		if _, err := newListener(args); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for name, args := range map[string][]string{"no type": nil, "an unknown type": {"coffee.made", "--key", "k"},
		"two types": {"invoice.paid", "refund.created", "--key", "k"}} {
		if _, err := newTrigger(args); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestListenFiltersByTypeAndFamily(t *testing.T) {
	t.Parallel()
	l, err := newListener([]string{"--key", "k", "--events", "invoice.*, refund.created,"})
	if err != nil {
		t.Fatal(err)
	}
	for event, want := range map[string]bool{"invoice.paid": true, "refund.created": true, "refund.failed": false,
		"invoices.x": false} {
		if l.wants(event) != want {
			t.Errorf("%s: %v", event, !want)
		}
	}
}

// A delivery follows no redirect, so a receiver that redirects gets nothing in live either.
func TestListen_FollowsNoRedirect(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hooks" {
			http.Redirect(w, r, "/hooks/", http.StatusMovedPermanently)
		}
	}))
	t.Cleanup(receiver.Close)
	l, err := newListener([]string{"--key", "k", "--forward-to", receiver.URL + "/hooks"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := l.forward(t.Context(), "evt_1", []byte("{}")), "301 Moved Permanently"; got != want {
		t.Errorf("a redirect is reported as %q, want %q", got, want)
	}
}

func TestListenBeginsWhereItIsTold(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for since, want := range map[string]time.Time{
		"": now, "90m": now.Add(-90 * time.Minute), "2026-11-24T01:02:03Z": time.Date(2026, 11, 24, 1, 2, 3, 0, time.UTC),
	} {
		l, err := newListener([]string{"--key", "k", "--since", since})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.begin(now); err != nil || !got.Equal(want) {
			t.Errorf("--since %q begins at %v, %v; want %v", since, got, err, want)
		}
	}
}

// The list of listings has those of all accounts, so the one that is named may be anywhere in it.
func TestTrigger_SellsTheListing(t *testing.T) {
	t.Parallel()
	sold := make(chan string, 9)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/v1/catalog":
			_, _ = w.Write([]byte(`{"listings":[{"key":"guide","slug":"the-guide"}]}`))
		case "/v1/listings/the-guide":
			_, _ = w.Write([]byte(`{"id":"lst_1","type":"DIGITAL"}`))
		case "/v1/checkout-sessions":
			sold <- string(body)
			_, _ = w.Write([]byte(`{"id":"cs_1"}`))
		default:
			_, _ = w.Write([]byte(`{"data":[]}`))
		}
	}))
	t.Cleanup(service.Close)
	args := []string{"trigger", "payment.completed", "--key", "k", "--api", service.URL, "--listing"}
	err := Run(t.Context(), append(args, "guide"), Host{Out: io.Discard})
	if err != nil || len(sold) != 1 {
		t.Fatalf("%d sold, %v; want one", len(sold), err)
	}
	if got := <-sold; !strings.Contains(got, `"listingId":"lst_1"`) {
		t.Errorf("sold %s, want lst_1", got)
	}
	err = Run(t.Context(), append(args, "giude"), Host{Out: io.Discard})
	if want := "sells no listing giude of type"; err == nil || !strings.Contains(err.Error(), want) || len(sold) != 0 {
		t.Errorf("got %v, want %q in it", err, want)
	}
}
