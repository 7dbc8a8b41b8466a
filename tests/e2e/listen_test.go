package e2e_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"sundry/adapters/cli"
	"sundry/core/webhook"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// lines is a terminal that a test reads while something writes.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestTriggeredEventsAreForwardedSigned(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	a := app.NewAccount(t)
	sellEverything(t, a)

	types := make(chan string, 1000)
	secret := []byte("a secret of the test's own")
	hook, err := standardwebhooks.NewWebhookRaw(secret)
	if err != nil {
		t.Fatal(err)
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || hook.Verify(body, r.Header) != nil {
			t.Errorf("the signature of %s is wrong: %v", body, err)
		}
		_, rest, _ := strings.Cut(string(body), `"type":"`)
		name, _, _ := strings.Cut(rest, `"`)
		types <- name
	}))
	t.Cleanup(receiver.Close)

	var out lines
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	service := []string{"--api", app.URL, "--key", a.Key}
	go func() {
		args := append(
			[]string{"listen", "--forward-to", receiver.URL, "--secret", webhook.FormatSecret(secret)}, service...,
		)
		done <- cli.Run(ctx, args, cli.Host{Out: &out})
	}()
	harness.Eventually(
		t, "it listens",
		func() bool { return strings.Contains(out.String(), "Signing secret: whsec_") },
	)
	for _, event := range cli.TriggerTypes() {
		if err := cli.Run(ctx, append([]string{"trigger", event}, service...), cli.Host{Out: io.Discard}); err != nil {
			t.Errorf("%v", err)
			continue
		}
		awaitType(t, types, event)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "200 OK") {
		t.Errorf("printed %s", out.String())
	}
}

// A group's time is still open after one of its seats was sold.
func TestTrigger_MovesASeatOfAGroup(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		s.AsCreator(t, post, "/v1/listings/"+l.ID+"/variants",
			JSON{"durationMinutes": 60, "seats": 3, "isDefault": true}).Want(t, 201)
		args := []string{"trigger", "appointment.rescheduled", "--listing", l.CatalogKey, "--api", app.URL, "--key", s.Key}
		if err := cli.Run(t.Context(), args, cli.Host{Out: io.Discard}); err != nil {
			t.Fatal(err)
		}
		path := "/v1/events?type=appointment.rescheduled"
		if got := s.AsBackend(t, get, path, nil).Want(t, 200).Map(t)["data"].([]any); len(got) != 1 {
			t.Errorf("%d events were made, want one", len(got))
		}
	})
}

// A buyer of a pack chooses several times, and a seller may want answers first.
func TestTrigger_BooksPacksAndAnswers(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", JSON{"questions": questions()})
		required := JSON{"key": "level", "label": "Level", "type": "select", "options": []string{"S", "M"}, "required": true}
		phone := JSON{"key": "call", "label": "Phone", "type": "phone", "required": true}
		s.AsCreator(t, "PATCH", "/v1/listings/"+l.ID, JSON{"metadata": JSON{
			"questions": append(questions(), required, phone),
		}}).Want(t, 200)
		s.AsCreator(t, post, "/v1/listings/"+l.ID+"/variants",
			JSON{"durationMinutes": 60, "sessionCount": 3, "priceInCents": 9000, "isDefault": true}).Want(t, 201)
		for _, event := range []string{
			"appointment.booked", "appointment.rescheduled", "appointment.canceled", "appointment.outcome_recorded",
		} {
			args := []string{"trigger", event, "--listing", l.CatalogKey, "--api", app.URL, "--key", s.Key}
			if err := cli.Run(t.Context(), args, cli.Host{Out: io.Discard}); err != nil {
				t.Error(err)
			}
		}
	})
}

// What an account sells may be in another currency than the euro, cost little, or nothing.
func TestTrigger_SellsWhatThereIs(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		a.Published(t, JSON{"priceInCents": 400, "currency": "usd"})
		a.Published(t, JSON{"priceInCents": 0, "currency": "usd"})
		a.Published(t, JSON{
			"type": "SUBSCRIPTION", "priceInCents": 900, "currency": "usd", "metadata": JSON{"interval": "month"},
		})
		for _, event := range []string{"refund.created", "dispute.opened", "payout.paid", "usage_credit.low"} {
			args := []string{"trigger", event, "--api", app.URL, "--key", a.Key}
			if err := cli.Run(t.Context(), args, cli.Host{Out: io.Discard}); err != nil {
				t.Error(err)
				continue
			}
			harness.Eventually(t, event+" is made", func() bool {
				list := a.AsBackend(t, get, "/v1/events?type="+event, nil).Want(t, 200).Map(t)
				return len(list["data"].([]any)) > 0
			})
		}
	})
}

func awaitType(t *testing.T, types <-chan string, want string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case got := <-types:
			if got == want {
				return
			}
		case <-deadline:
			t.Errorf("%s never arrived", want)
			return
		}
	}
}

// sellEverything gives the account something of each kind that trigger buys.
func sellEverything(t *testing.T, a *harness.Account) {
	t.Helper()
	a.Published(t, JSON{"title": "Book", "priceInCents": 1200})
	a.Published(t, JSON{
		"type": "SUBSCRIPTION", "title": "Club", "priceInCents": 900, "metadata": JSON{"interval": "month"},
	})
	var weekly []JSON
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		weekly = append(weekly, JSON{"weekday": day, "start": "09:00", "end": "17:00"})
	}
	a.AsCreator(t, http.MethodPut, "/v1/scheduling/availability",
		JSON{"timezone": "Europe/Dublin", "weekly": weekly}).Want(t, http.StatusOK)
	a.AsCreator(t, http.MethodPut, "/v1/scheduling/meeting-settings",
		JSON{"virtual": JSON{"provider": "static", "url": "https://meet.example/a"}}).Want(t, http.StatusOK)
	a.Published(t, JSON{
		"type": "APPOINTMENT", "title": "Lesson", "priceInCents": 9000, "metadata": JSON{"deliveryMethod": "virtual"},
	})
}
