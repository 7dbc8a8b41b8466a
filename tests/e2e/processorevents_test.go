package e2e_test

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// processorEvent is an event as the sandbox processor signs it.
func processorEvent(t *testing.T, app *harness.App, body harness.JSON, at time.Time) harness.Request {
	t.Helper()
	root, err := os.ReadFile(filepath.Join(app.DataDir, "app_secret"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := hkdf.Key(sha256.New, []byte(strings.TrimSpace(string(root))), nil, "sundry/processor-events", 32)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%d.%s", at.Unix(), payload)
	return harness.Request{
		Method: post, Path: "/v1/processor-events", Body: string(payload),
		Headers: map[string]string{
			"Stripe-Signature": fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil))),
			"Content-Type":     "application/json",
		},
	}
}

func TestOnlySignedProcessorEventsAreTaken(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		good := processorEvent(
			t, app, harness.JSON{"id": "evt_1", "kind": "dispute", "objectId": "dp_unknown"}, time.Now(),
		)
		for name, change := range map[string]func(r *harness.Request){
			"no signature": func(r *harness.Request) { delete(r.Headers, "Stripe-Signature") },
			"an empty one": func(r *harness.Request) { r.Headers["Stripe-Signature"] = "" },
			"another's": func(r *harness.Request) {
				r.Headers["Stripe-Signature"] = fmt.Sprintf("t=%d,v1=%064d", time.Now().Unix(), 0)
			},
			"another body":        func(r *harness.Request) { r.Body = "{}" },
			"a time of no number": func(r *harness.Request) { r.Headers["Stripe-Signature"] = "t=x,v1=00" },
			"an old one": func(r *harness.Request) {
				*r = processorEvent(t, app, harness.JSON{"id": "evt_2"}, time.Now().Add(-6*time.Minute))
			},
			"one of the future": func(r *harness.Request) {
				*r = processorEvent(t, app, harness.JSON{"id": "evt_2"}, time.Now().Add(6*time.Minute))
			},
		} {
			r := good
			r.Headers = map[string]string{
				"Stripe-Signature": good.Headers["Stripe-Signature"], "Content-Type": "application/json",
			}
			change(&r)
			if response := app.Ask(t, r); response.Status != 401 {
				t.Errorf("%s gets %d %s", name, response.Status, response.Body)
			}
		}
	})
}

// Events only name what to read again, so a doubled or late one changes nothing.
func TestDoubledAndLateProcessorEventsAreHarmless(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		id, receipt := w.dispute(t, w.book(t, 10000))
		w.AsBackend(t, post, "/v1/disputes/"+id+"/evidence", harness.JSON{"text": "winning_evidence"}).Want(t, 200)
		object := "dp_sandbox_" + strings.TrimPrefix(text(t, receipt["paymentId"]), "pay_")
		for _, eventID := range []string{"evt_a", "evt_a", "evt_b", "evt_" + object + "/opened"} {
			app.Ask(t, processorEvent(t, app, harness.JSON{"id": eventID, "kind": "dispute", "objectId": object,
				"creatorId": w.ID}, time.Now())).Want(t, 200)
		}
		w.advance(t, 60) // runs what is due
		w.wantBalance(t, "after the late events", 9500, 0, 0, 0)
		if opened, closed := w.events(t, "dispute.opened"), w.events(t, "dispute.closed"); opened != 1 || closed != 1 {
			t.Errorf("%d dispute.opened, %d dispute.closed", opened, closed)
		}
		verified(t, app)
	})
}
