package webhooks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sundry/adapters/encrypter"
	"sundry/adapters/system"
	"sundry/core/secret"
	"sundry/modules/webhooks"
	"sundry/ports"
	"sundry/tests/fakes"
)

// silent is a receiver that never responds. It notes how long each attempt would have waited.
type silent struct{ waits []time.Duration }

func (s *silent) Send(ctx context.Context, _ ports.OutboundRequest) (ports.OutboundResponse, error) {
	end, _ := ctx.Deadline()
	s.waits = append(s.waits, time.Until(end))
	return ports.OutboundResponse{}, errors.New("no response")
}

func TestAdvance_GivesUpOnDeadReceivers(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		secrets := encrypter.New(secret.Fixed(make([]byte, 32)))
		receiver := &silent{}
		store := w.store
		w.webhooks = webhooks.New(webhooks.Config{}, webhooks.Deps{
			Store: store, Deliveries: store.Store, Clock: w, IDs: system.NewIDs(), Bus: w, Sender: receiver,
			Encrypter: secrets, Standing: fakes.Standing{},
		})
		dead, live := w.endpoint("dead", "payment.completed"), w.endpoint("live", "customer.*")
		for range 3 {
			w.sell()
		}
		run := func(ctx context.Context) {
			t.Helper()
			claimed, err := store.Claim(t.Context(), ports.DefaultTasks, w.Real(), time.Minute, 10)
			if err != nil || len(claimed) != 3 {
				t.Fatalf("claimed %v, %v after %d attempts", claimed, err, len(receiver.waits))
			}
			for _, task := range claimed {
				if err := w.webhooks.Deliver(ctx, task); err != nil {
					t.Fatal(err)
				}
			}
		}
		advance := ports.InAdvance(t.Context())
		run(advance)
		if len(receiver.waits) != 2 {
			t.Errorf("%d attempts were made, want two", len(receiver.waits))
		}
		for _, wait := range receiver.waits {
			if wait > ports.AdvanceAttemptTimeout {
				t.Errorf("an attempt waits %s", wait)
			}
		}
		given := 0
		for _, d := range w.deliveries(dead) {
			if len(d.Attempts) != 1 || d.Attempts[0].StatusCode != 0 {
				t.Errorf("attempts %+v, want one that failed", d.Attempts)
			} else if strings.Contains(d.Attempts[0].Error, "failed twice") {
				given++
			}
		}
		if given != 1 {
			t.Errorf("%d attempts failed at once, want one", given)
		}
		if ports.AdvanceOf(advance).GivenUp(live.ID) {
			t.Error("another endpoint is given up, too")
		}
		w.Advance(time.Minute)
		run(ports.InAdvance(t.Context())) // the next advance tries again
		if len(receiver.waits) != 4 {
			t.Errorf("%d attempts were made in two advances, want four", len(receiver.waits))
		}
	})
}
