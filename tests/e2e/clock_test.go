package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"sundry/tests/harness"
)

const day = 24 * time.Hour

type clock struct {
	Now time.Time
	Ran int
}

func clockOf(t *testing.T, a *harness.Account) time.Time {
	t.Helper()
	var c clock
	a.AsBackend(t, http.MethodGet, "/v1/sandbox/clock", nil).Want(t, 200).Into(t, &c)
	return c.Now
}

func advance(t *testing.T, a *harness.Account, d time.Duration) clock {
	t.Helper()
	var c clock
	a.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{"seconds": int(d.Seconds())}).
		Want(t, 200).Into(t, &c)
	return c
}

// at reports whether a clock is at an instant or ran on a little from there.
func at(got, want time.Time) bool { return !got.Before(want) && got.Before(want.Add(30*time.Second)) }

func TestTheAccountsClockGoesForward(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		start := clockOf(t, a)
		if c := advance(t, a, day); !at(c.Now, start.Add(day)) {
			t.Errorf("by a day from %v: %v", start, c.Now)
		}
		to := start.Add(40 * day)
		var c clock
		once := func() *harness.Response {
			return a.Once(t, "forty", http.MethodPost, "/v1/sandbox/clock/advance",
				harness.JSON{"to": to.Format(time.RFC3339Nano)}).Want(t, 200)
		}
		first := once()
		first.Into(t, &c)
		if !at(c.Now, to) || !at(clockOf(t, a), to) {
			t.Errorf("to %v: %v", to, c.Now)
		}
		if again := once(); string(again.Body) != string(first.Body) {
			t.Errorf("asked again with the same key: %s after %s", again.Body, first.Body)
		}
		if now := clockOf(t, other); !at(now, start) {
			t.Errorf("another account's clock went to %v", now)
		}
	})
}

func TestAClockRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		start := clockOf(t, a)
		for name, body := range map[string]any{
			"nothing":       harness.JSON{},
			"both":          harness.JSON{"seconds": 1, "to": "2090-01-01T00:00:00Z"},
			"zero":          harness.JSON{"seconds": 0},
			"backwards":     harness.JSON{"seconds": -5},
			"a fraction":    harness.JSON{"seconds": 1.5},
			"text":          harness.JSON{"seconds": "1"},
			"the past":      harness.JSON{"to": "2001-01-01T00:00:00Z"},
			"the far":       harness.JSON{"to": "9999-12-31T23:59:59Z"},
			"no time":       harness.JSON{"to": "tomorrow"},
			"a stray field": harness.JSON{"seconds": 1, "minutes": 1},
		} {
			response := a.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", body)
			if response.Status != 400 {
				t.Errorf("%s: %d %s", name, response.Status, response.Body)
			}
			response.Refuses(t, 400, "VALIDATION_FAILED")
		}
		if now := clockOf(t, a); !at(now, start) {
			t.Errorf("the clock went to %v", now)
		}
		for _, path := range []string{"/v1/sandbox/clock", "/v1/sandbox/clock/advance"} {
			method := http.MethodGet
			if path != "/v1/sandbox/clock" {
				method = http.MethodPost
			}
			a.AsCreator(t, method, path, nil).Refuses(t, 401, "UNAUTHENTICATED")
			app.Ask(t, harness.Request{Method: method, Path: path}).Refuses(t, 401, "UNAUTHENTICATED")
		}
	})
}

func TestASessionExpiresWhenTheClockReachesItsEnd(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		session := a.NewSession(t, a.Published(t, nil), "default", "cust-1", nil)
		status := func() any {
			return a.AsBackend(t, http.MethodGet, "/v1/checkout-sessions/"+session.ID, nil).Want(t, 200).Map(t)["status"]
		}
		advance(t, a, day-time.Minute)
		if got := status(); got != session.Status {
			t.Fatalf("a minute before its end the session is %v", got)
		}
		if c := advance(t, a, 2*time.Minute); c.Ran < 1 {
			t.Errorf("nothing ran: %+v", c)
		}
		if got := status(); got != "expired" {
			t.Errorf("past its end the session is %v", got)
		}
	})
}

func TestAnOpenPaymentIsSettledWhenTheClockMoves(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		session := a.NewSession(t, a.Published(t, nil), "default", "cust-1", nil)
		a.Pay(t, session, harness.CardStaysPending)
		if got := a.Receipt(t, session)["status"]; got != "processing" {
			t.Fatalf("before the clock moves the receipt shows %v", got)
		}
		advance(t, a, time.Second)
		if got := a.Receipt(t, session)["status"]; got != "paid" {
			t.Errorf("after the clock moved the receipt shows %v", got)
		}
	})
}
