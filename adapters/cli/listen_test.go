package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestListenAndTriggerRefuseWrongArguments(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no URL": {"--key", "k", "--forward-to", "nonsense"}, "a secret that is none": {"--key", "k", "--secret", "%"},
		"an address without http": {"--key", "k", "--api", "127.0.0.1:8080"},
		"a flag that is none":     {"--port", "1"}, "a word": {"--key", "k", "now"},
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

func TestTrigger_NamesTheListing(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"id":"lst_1","catalogKey":"guide","type":"DIGITAL"}],"hasMore":false}`))
	}))
	t.Cleanup(service.Close)
	args := []string{"trigger", "payment.completed", "--listing", "giude", "--key", "k", "--api", service.URL}
	err := Run(t.Context(), args, Host{})
	if want := "sells no listing giude of type"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
}
