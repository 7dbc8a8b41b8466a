package webhooks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sundry/core/event"
	"sundry/core/webhook"
	"sundry/ports"
)

// faults returns the findings of Verify.
func (w *fixture) faults() []string {
	w.t.Helper()
	lines, err := w.webhooks.Verify(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return lines
}

func (w *fixture) wantFaults(when string, parts ...string) {
	w.t.Helper()
	lines := w.faults()
	if len(lines) != len(parts) {
		w.t.Errorf("%s: %q, want %d violations", when, lines, len(parts))
		return
	}
	for i, part := range parts {
		if !strings.Contains(lines[i], part) {
			w.t.Errorf("%s: %q, want %q in it", when, lines[i], part)
		}
	}
}

// smuggle writes an event that no endpoint is notified of.
func (w *fixture) smuggle(id string, kind event.Type) {
	w.t.Helper()
	w.atomically(func(ctx context.Context, r ports.Repos) error {
		return r.Webhooks.Events.Insert(ctx, event.Record{
			ID: id, CreatorID: creatorID, Type: kind, CreatedAt: w.Real(), Data: []byte("{}"),
		})
	})
}

func TestVerifyFindsEventsThatWereNotSentToASubscriber(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.smuggle("evt_0", event.PaymentCompleted) // before there was an endpoint
		e, off := w.endpoint("hooks", "payment.*"), w.endpoint("off", "payment.completed")
		w.enable(off, false)
		w.Advance(time.Second)
		w.smuggle("evt_1", event.PaymentCompleted) // when the endpoint may just have come about
		w.Advance(time.Minute)
		w.sell()
		w.smuggle("evt_2", "subscription.created")    // not subscribed
		w.smuggle("evt_3", event.WebhookEndpointTest) // for one endpoint only
		w.wantFaults("nothing is amiss")
		w.smuggle("evt_4", event.PaymentCompleted)
		w.wantFaults(
			"an event without deliveries", "event evt_4 has no delivery to "+e.ID,
			"event evt_4 has no delivery to "+off.ID,
		)
		filters := []string{"payment.completed", "subscription.*"}
		if _, err := w.webhooks.EditEndpoint(
			t.Context(), creatorID, e.ID, webhook.EndpointEdit{Events: &filters},
		); err != nil {
			t.Fatal(err)
		}
		if _, err := w.webhooks.DeleteEndpoint(t.Context(), creatorID, off.ID); err != nil {
			t.Fatal(err)
		}
		w.wantFaults("what was before the present filters, and endpoints that are gone, are not checked")
		w.Advance(time.Minute)
		w.smuggle("evt_5", "subscription.created")
		w.wantFaults("an event of the new filters", "event evt_5 has no delivery to "+e.ID)
	})
}

func TestVerifyFindsDeliveriesThatNobodyWillMake(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("hooks", "payment.*")
		w.respond(e, 500)
		w.sell()
		w.work()
		w.wantFaults("a delivery waits for its next attempt")
		d := w.delivery(e)
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Cancel(ctx, "webhook.deliver", e.ID+"/"+d.ID)
		})
		w.wantFaults("its task is lost", "delivery "+d.ID+" is pending")
		w.enable(e, false)
		w.wantFaults("it waits for the endpoint to be enabled")
		w.enable(e, true)
		w.wantFaults("the backlog is due again")
	})
}

// TestWhatIsWrittenWhileAnEndpointIsSwitchedOnIsSent lets a transaction write an event for an endpoint that is off, and
// switches it on before that transaction has committed.
func TestWhatIsWrittenWhileAnEndpointIsSwitchedOnIsSent(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("hooks", "payment.*")
		w.enable(e, false)
		enabled := make(chan error)
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			if err := w.webhooks.Publish(ctx, r, paid()); err != nil {
				return err
			}
			go func() {
				on := true
				_, err := w.webhooks.EditEndpoint(
					context.WithoutCancel(t.Context()), creatorID, e.ID, webhook.EndpointEdit{Enabled: &on},
				)
				enabled <- err
			}()
			select {
			case err := <-enabled:
				return errors.Join(errors.New("the endpoint was enabled past the event"), err)
			case <-time.After(300 * time.Millisecond):
				return nil
			}
		})
		if err := <-enabled; err != nil {
			t.Fatal(err)
		}
		if got := w.work(); len(got) != 1 {
			t.Errorf("sent %+v, want the event", got)
		}
		w.wantFaults("both have happened")
	})
}
