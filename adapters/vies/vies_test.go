package vies_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/vies"
	"sundry/core/tax"
)

var now = time.Date(2026, 11, 22, 13, 0, 0, 0, time.UTC)

// register is one whose service responds as given, and counts what it was asked.
func register(t *testing.T, handle http.HandlerFunc) (*vies.Register, *atomic.Int32) {
	t.Helper()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		handle(w, r)
	}))
	t.Cleanup(server.Close)
	return vies.New(vies.Config{APIBase: server.URL + "/rest-api/", RequesterVATID: "IE 6388047V"}, func() time.Time {
		return now
	}), &asked
}

func TestARegisteredIDComesWithDateAndConsultation(t *testing.T) {
	t.Parallel()
	var sent map[string]string
	r, _ := register(t, func(w http.ResponseWriter, q *http.Request) {
		if q.Method != http.MethodPost || q.URL.Path != "/rest-api/check-vat-number" ||
			q.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %s", q.Method, q.URL, q.Header)
		}
		_ = json.NewDecoder(q.Body).Decode(&sent)
		_, _ = io.WriteString(w, `{"countryCode":"EL","vatNumber":"094259216","requestDate":"2026-11-22T12:59:58.123456Z",`+
			`"valid":true,"requestIdentifier":"WAPIAAAAY1","name":"---","address":"---"}`)
	})
	got, err := r.Check(t.Context(), "GR", "el 094 259 216")
	want := tax.VATCheck{ID: "EL094259216", Registered: true, CheckedAt: time.Date(2026, 11, 22, 12, 59, 58, 123_000_000,
		time.UTC), Consultation: "WAPIAAAAY1"}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if sent["countryCode"] != "EL" || sent["vatNumber"] != "094259216" || sent["requesterMemberStateCode"] != "IE" ||
		sent["requesterNumber"] != "6388047V" {
		t.Errorf("%v", sent)
	}
}

func TestAnUnknownIDIsNotRegistered(t *testing.T) {
	t.Parallel()
	r, _ := register(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"countryCode":"DE","vatNumber":"136695976","valid":false,"requestDate":"yesterday",`+
			`"userError":"INVALID"}`)
	})
	if got, err := r.Check(t.Context(), "DE", "DE136695976"); err != nil || got.Registered || !got.CheckedAt.Equal(now) ||
		got.ID != "DE136695976" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Nothing but a decision about the id that was asked about decides.
func TestWhatIsNoDecisionIsAnError(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]http.HandlerFunc{
		"the member state is down": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"actionSucceed":false,"errorWrappers":[{"error":"MS_UNAVAILABLE"}]}`)
		},
		"the member state is down, and false is only a default": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"countryCode":"DE","vatNumber":"136695976","valid":false,`+
				`"userError":"MS_MAX_CONCURRENT_REQ"}`)
		},
		"a fault": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"valid":true}`, http.StatusInternalServerError)
		},
		"garbage": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Sorry</html>") },
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"no decision": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"countryCode":"DE","vatNumber":"136695976"}`)
		},
		"another id": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"countryCode":"DE","vatNumber":"999999999","valid":true}`)
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"without end": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"countryCode":"`+strings.Repeat("x", 1<<20))
		},
		"a cut connection": func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close()
			}
		},
	} {
		r, asked := register(t, handle)
		if got, err := r.Check(t.Context(), "DE", "DE136695976"); err == nil || got != (tax.VATCheck{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
}

func TestASlowRegisterIsLeft(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	r, _ := register(t, func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-release:
		case <-q.Context().Done():
		}
	})
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := r.Check(ctx, "DE", "DE136695976"); err == nil || got != (tax.VATCheck{}) {
		t.Errorf("%+v, %v", got, err)
	}
}
