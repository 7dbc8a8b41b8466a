package webhooks_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/webhook"
	"sundry/modules/webhooks"
	"sundry/ports"
	"sundry/tests/fakes"
)

func TestAnEventIsWrittenWithItsCauseOrNotAtAll(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e, other := w.endpoint("hooks", "payment.completed"), w.endpoint("other", "customer.*")
		undo := errors.New("rolled back")
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			if err := w.webhooks.Publish(ctx, r, paid()); err != nil {
				return err
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatal(err)
		}
		if got := w.work(); len(got) != 0 || len(w.types()) != 0 || len(w.deliveries(e)) != 0 {
			t.Fatalf("a rolled-back transaction left events %v, sent %v", w.types(), got)
		}
		w.sell()
		got := w.work()
		if len(got) != 1 || got[0].url != e.URL || got[0].id != got[0].envelope.ID ||
			got[0].envelope.Type != "payment.completed" {
			t.Fatalf("sent %+v, want one payment.completed", got)
		}
		if types := w.types(); !slices.Equal(types, []string{"payment.completed"}) {
			t.Errorf("events %v", types)
		}
		if d := w.delivery(e); d.Status != webhook.Delivered || len(d.Attempts) != 1 || d.Attempts[0].StatusCode != 200 {
			t.Errorf("delivery %+v", d)
		}
		if len(w.deliveries(other)) != 0 {
			t.Error("an endpoint got what it does not want")
		}
	})
}

func TestADeliveryIsTriedUntilItArrivesUnderOneID(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("hooks", "*")
		w.respond(e, 500)
		w.sell()
		first := w.work()
		for _, wait := range []time.Duration{6 * time.Second, 6 * time.Minute} {
			w.Advance(wait)
			if again := w.work(); len(first) != 1 || len(again) != 1 || again[0].id != first[0].id {
				t.Fatalf("after %s sent %+v, at first %+v", wait, again, first)
			}
		}
		w.respond(e, 200)
		if early := w.work(); len(early) != 0 {
			t.Fatalf("sent before its time: %+v", early)
		}
		w.Advance(34 * time.Minute)
		if last := w.work(); len(last) != 1 || last[0].id != first[0].id {
			t.Fatalf("the fourth attempt: %+v", last)
		}
		d := w.delivery(e)
		if d.Status != webhook.Delivered || d.AttemptCount != 4 || len(d.Attempts) != 4 || d.Attempts[0].StatusCode != 500 ||
			d.Attempts[3].StatusCode != 200 {
			t.Errorf("delivery %+v", d)
		}
		if s := w.stored(e); s.Failures != 0 {
			t.Errorf("the endpoint is not well: %+v", s)
		}
	})
}

func TestAnOpenCircuitPutsOffWithoutCounting(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e, well := w.endpoint("dead", "*"), w.endpoint("well", "*")
		w.respond(e, 0)
		for range 8 {
			w.sell()
		}
		to := func(all []sent, e webhook.EndpointState) (n int) {
			for _, one := range all {
				if one.url == e.URL {
					n++
				}
			}
			return n
		}
		if got := w.work(); to(got, e) != 5 || to(got, well) != 8 {
			t.Fatalf("%d attempts at the dead endpoint, %d at the other; want 5 and 8", to(got, e), to(got, well))
		}
		counted := 0
		for _, d := range w.deliveries(e) {
			counted += d.AttemptCount
			if d.Status != webhook.Pending || len(d.Attempts) != d.AttemptCount {
				t.Errorf("delivery %+v", d)
			}
		}
		if counted != 5 {
			t.Errorf("%d attempts are counted, want 5", counted)
		}
		w.respond(e, 200)
		for range 10 {
			w.Advance(10 * time.Minute)
			w.work()
		}
		for _, d := range w.deliveries(e) {
			if d.Status != webhook.Delivered {
				t.Errorf("after the endpoint came back: %+v", d)
			}
		}
	})
}

func TestAReceiverMayAskForTimeButNotForTooMuch(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		const jitter = 500 * time.Millisecond // a tenth of the schedule's five seconds
		for header, wait := range map[string]time.Duration{
			"120": 2 * time.Minute,
			w.Real().Add(time.Hour).Truncate(time.Second).Format(http.TimeFormat): time.Hour,
			"315360000": 24 * time.Hour, // ten years
			"soon":      5 * time.Second,
			"":          5 * time.Second,
		} {
			e := w.endpoint(fmt.Sprintf("busy-%.16x", header), "payment.*")
			w.mu.Lock()
			w.responses[e.URL] = ports.OutboundResponse{StatusCode: 429, RetryAfter: header}
			w.mu.Unlock()
			w.sell()
			w.work()
			d := w.delivery(e)
			got := d.NextAttemptAt.Sub(w.Real())
			if d.Status != webhook.Pending || got < wait-time.Second || got > wait+jitter {
				t.Errorf("Retry-After %q: %s, next in %s; want about %s", header, d.Status, got, wait)
			}
			w.enable(e, false)
		}
	})
}

func TestAReceiversDateIsReadOnItsOwnClock(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.ahead = 40 * 24 * time.Hour // a sandbox clock that was put forward
		if err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Sandbox.ClockOffsets.Advance(ctx, creatorID, w.ahead)
		}); err != nil {
			t.Fatal(err)
		}
		e := w.endpoint("busy", "payment.*")
		w.mu.Lock()
		w.responses[e.URL] = ports.OutboundResponse{
			StatusCode: 503, RetryAfter: w.Real().Add(time.Hour).Format(http.TimeFormat),
		}
		w.mu.Unlock()
		w.sell()
		w.work()
		d := w.delivery(e)
		if wait := d.NextAttemptAt.Sub(w.Real().Add(w.ahead)); wait < time.Hour-time.Second || wait > time.Hour {
			t.Errorf("%s, next in %s; the receiver asked for an hour", d.Status, wait)
		}
	})
}

func TestABacklogRestsWhileTheCircuitIsOpen(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("dead", "*")
		w.respond(e, 0)
		for range 40 {
			w.sell()
		}
		w.work()
		open := w.stored(e).OpenUntil
		if !open.After(w.Real()) {
			t.Fatalf("the circuit is not open: %+v", w.stored(e))
		}
		claim := func(at time.Time) int {
			tasks, err := w.store.Claim(t.Context(), ports.DefaultTasks, at, time.Minute, 64)
			if err != nil {
				t.Fatal(err)
			}
			return len(tasks)
		}
		if n := claim(open.Add(-time.Millisecond)); n != 0 {
			t.Errorf("%d of its tasks were claimed while the circuit was open", n)
		}
		backlog, err := w.store.Backlog(t.Context(), w.Real())
		if err != nil || len(backlog) != 1 || backlog[0].Due != 0 || backlog[0].Paused < 24 {
			t.Errorf("backlog %+v, %v; want it held where it was", backlog, err)
		}
		if n := claim(open.Add(2 * time.Second)); n != 1 {
			t.Errorf("%d of its tasks were claimed for a probe, want one", n)
		}
		w.enable(e, false)
		if n := claim(open.Add(2 * time.Second)); n < 2 {
			t.Errorf("%d of its tasks were claimed after it was disabled, want them to end", n)
		}
	})
}

func TestWhatTheOwnerAsksForDoesNotWaitForAnOpenCircuit(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(w *fixture, e webhook.EndpointState) error{
		"a delivery again": func(w *fixture, e webhook.EndpointState) error {
			_, err := w.webhooks.Redeliver(w.t.Context(), creatorID, e.ID, w.deliveries(e)[0].ID)
			return err
		},
		"a test": func(w *fixture, e webhook.EndpointState) error {
			_, err := w.webhooks.Test(w.t.Context(), creatorID, e.ID)
			return err
		},
		"a replay": func(w *fixture, e webhook.EndpointState) error {
			_, _, err := w.webhooks.Replay(w.t.Context(), creatorID, e.ID, webhooks.ReplayRange{From: w.Real().Add(-time.Hour)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				e := w.endpoint("repaired", "*")
				w.respond(e, 0)
				for range 6 {
					w.sell()
				}
				w.work()
				w.respond(e, 200)
				if sent := w.work(); len(sent) != 0 || !w.stored(e).OpenUntil.After(w.Real()) {
					t.Fatalf("the circuit is not open: %+v", w.stored(e))
				}
				if err := ask(w, e); err != nil {
					t.Fatal(err)
				}
				if sent := w.work(); len(sent) == 0 || w.stored(e).Failures != 0 {
					t.Errorf("%d attempts went out at once, the endpoint is %+v", len(sent), w.stored(e))
				}
			})
		})
	}
}

// A delivery that waits for its endpoint shows when it can be tried, in the list and alone.
func TestDeliveries_ShowTheNextAttempt(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("down", "payment.*")
		w.respond(e, 0)
		for range 6 {
			w.sell()
		}
		w.work()
		check := func(state string, right func(d webhooks.Delivered) bool) {
			t.Helper()
			for _, listed := range w.deliveries(e) {
				alone, err := w.webhooks.Delivery(t.Context(), creatorID, e.ID, listed.ID)
				if err != nil {
					t.Fatal(err)
				}
				for name, d := range map[string]webhooks.Delivered{"listed": listed, "alone": alone} {
					if !right(d) {
						t.Errorf("%s, %s: next attempt at %s", state, name, d.NextAttemptAt)
					}
				}
			}
		}
		until := w.stored(e).OpenUntil
		if !until.After(w.Real()) {
			t.Fatal("the circuit is not open")
		}
		check("circuit open", func(d webhooks.Delivered) bool { return !d.NextAttemptAt.Before(until) })
		w.enable(e, false)
		check("disabled", func(d webhooks.Delivered) bool { return d.NextAttemptAt.IsZero() })
	})
}

// A disabled endpoint keeps its backlog until it is enabled.
func TestADisabledEndpointKeepsItsBacklog(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("gone", "payment.*")
		watch := w.endpoint("watch", "webhook_endpoint.disabled")
		w.respond(e, 410)
		w.sell()
		got := w.work()
		if s := w.stored(e); s.Enabled || s.DisabledReason != webhook.DisabledByGone {
			t.Fatalf("after 410: %+v", s)
		}
		if len(got) != 2 || got[1].url != watch.URL {
			t.Errorf("sent %+v, want the owner notified once", got)
		}
		w.sell()
		w.Advance(time.Hour)
		if got := w.work(); len(got) != 0 {
			t.Fatalf("a disabled endpoint was sent %+v", got)
		}
		for _, d := range w.deliveries(e) {
			if d.Status != webhook.Pending || !d.NextAttemptAt.IsZero() {
				t.Errorf("%s is %s, next at %s; want it waiting for no time", d.ID, d.Status, d.NextAttemptAt)
			}
		}
		if _, err := w.webhooks.Test(t.Context(), creatorID, e.ID); !refused(err, fault.StateConflict) {
			t.Errorf("a test of a disabled endpoint: %v", err)
		}
		w.respond(e, 200)
		w.enable(e, true)
		if got := w.work(); len(got) != 2 || got[0].id == got[1].id {
			t.Errorf("enabled again: sent %+v, want both events", got)
		}
		w.Advance(48 * time.Hour)
		if got := w.work(); len(got) != 0 {
			t.Errorf("sent once more: %+v", got)
		}
	})
}

// TestALongBacklogIsMadeDueInPages enables an endpoint for which more waits than one transaction shall write, and stops
// halfway: of the pages that are left none is made due until it is enabled again, and then each delivery once.
func TestALongBacklogIsMadeDueInPages(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("gone", "payment.*")
		w.enable(e, false)
		const waiting = 700
		for range waiting {
			w.sell()
		}
		w.enable(e, true)
		tasks := w.claim()
		if len(tasks) != 1 || tasks[0].Kind != webhooks.TaskWake {
			t.Fatalf("to enable it made %d tasks due, want the one that goes through the backlog: %+v", len(tasks), tasks)
		}
		w.wantFaults("the rest of the backlog will be made due")
		if err := w.run(tasks[0]); err != nil {
			t.Fatal(err)
		}
		w.enable(e, false)
		if got := w.work(); len(got) != 0 {
			t.Fatalf("a disabled endpoint was sent %d messages", len(got))
		}
		w.enable(e, true)
		w.wantFaults("it goes through the backlog again")
		arrived := map[string]bool{}
		got := w.work()
		for _, one := range got {
			arrived[one.id] = true
		}
		if len(got) != waiting || len(arrived) != waiting {
			t.Errorf("%d messages of %d events arrived, want each of %d once", len(got), len(arrived), waiting)
		}
		w.wantFaults("all were sent")
	})
}

// An owner may turn off what the service has disabled, so that the catalog file that says so is true afterwards.
func TestAnOwnerTurnsOffADisabledEndpoint(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("gone", "payment.*")
		w.respond(e, 410)
		w.sell()
		w.work()
		wanted := webhook.NewEndpointFile(w.stored(e))
		if wanted.Enabled = false; w.stored(e).DisabledReason != webhook.DisabledByGone {
			t.Fatalf("after 410: %+v", w.stored(e))
		}
		var files []webhook.EndpointFile
		w.atomically(func(ctx context.Context, r ports.Repos) (err error) {
			if err := w.webhooks.ImportPart(ctx, r, creatorID, []webhook.EndpointFile{wanted}); err != nil {
				return err
			}
			files, err = w.webhooks.ExportPart(ctx, r, creatorID)
			return err
		})
		if got := w.stored(e).DisabledReason; got != webhook.DisabledByOwner || len(files) != 1 || files[0].Enabled {
			t.Errorf("turned off: reason %q, exported %+v", got, files)
		}
	})
}

// A filter of a later version stays in a catalog file that changes something else, as in the dashboard's form.
func TestImport_KeepsFiltersOfALaterVersion(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("later", "payment.*")
		e.Events = []string{"payment.*", "coffee.made"}
		e.Revision++
		w.atomically(func(ctx context.Context, r ports.Repos) error { return r.Webhooks.Endpoints.Update(ctx, e) })
		wanted := webhook.NewEndpointFile(e)
		wanted.MaxInFlight = 5
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			return w.webhooks.ImportPart(ctx, r, creatorID, []webhook.EndpointFile{wanted})
		})
		if got := w.stored(e); got.MaxInFlight != 5 || !slices.Equal(got.Events, e.Events) {
			t.Errorf("imported %+v", got)
		}
	})
}

// An endpoint with a new address starts without the failures of the old one.
func TestAChangedAddressStartsWithoutFailures(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("dead", "payment.*")
		w.respond(e, 500)
		for range 8 {
			w.sell()
		}
		w.work()
		if s := w.stored(e); !s.OpenUntil.After(w.Real()) {
			t.Fatalf("the circuit is not open: %+v", s)
		}
		w.move(e, "https://well.example.com/")
		if s := w.stored(e); s.Failures != 0 || !s.FailingSince.IsZero() || !s.OpenUntil.IsZero() {
			t.Errorf("the new address begins with %+v", s)
		}
		w.sell()
		if got := w.work(); len(got) == 0 || got[0].url != "https://well.example.com/" {
			t.Errorf("sent %+v, want the new event at the new address at once", got)
		}
	})
}

func TestWhatTheOldAddressSaysIsNotTheNewOnesFault(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("old", "payment.*")
		w.respond(e, 410)
		w.meanwhile = func() { w.move(e, "https://new.example.com/") } // while the old address is thinking
		w.sell()
		w.work()
		if s := w.stored(e); !s.Enabled || s.Failures != 0 || s.URL != "https://new.example.com/" {
			t.Errorf("after the old address responded 410: %+v", s)
		}
		if d := w.delivery(e); d.Status != webhook.Pending || len(d.Attempts) != 1 || d.Attempts[0].StatusCode != 410 {
			t.Errorf("the delivery: %+v; want it logged and waiting", d)
		}
	})
}

func TestEnablingDoesNotWaitForARetryThatIsFarAway(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("hooks", "payment.*")
		w.respond(e, 500)
		w.sell()
		first := w.work()
		w.Advance(6 * time.Second)
		w.work() // the next attempt is due in five minutes
		w.enable(e, false)
		w.respond(e, 200)
		w.enable(e, true)
		if got := w.work(); len(first) != 1 || len(got) != 1 || got[0].id != first[0].id {
			t.Errorf("enabled again: sent %+v, want the backlog at once", got)
		}
	})
}

func TestADeletedEndpointIsLeftAlone(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("hooks", "*")
		w.sell()
		if _, err := w.webhooks.DeleteEndpoint(t.Context(), creatorID, e.ID); err != nil {
			t.Fatal(err)
		}
		w.sell()
		if got := w.work(); len(got) != 0 {
			t.Errorf("sent %+v", got)
		}
		if _, err := w.webhooks.DeleteEndpoint(t.Context(), creatorID, e.ID); !refused(err, fault.NotFoundCode) {
			t.Errorf("deleted twice: %v", err)
		}
	})
}

func TestWhatIsSentAgainKeepsItsID(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("hooks", "payment.*")
		begin := w.Real()
		w.sell()
		first := w.work()
		d := w.delivery(e)
		if _, err := w.webhooks.Redeliver(t.Context(), creatorID, e.ID, d.ID); err != nil {
			t.Fatal(err)
		}
		if again := w.work(); len(again) != 1 || again[0].id != first[0].id {
			t.Fatalf("redelivered %+v, at first %+v", again, first)
		}
		if d := w.delivery(e); d.Status != webhook.Delivered || len(d.Attempts) != 2 || d.AttemptCount != 2 ||
			d.Attempts[0].Number != 1 || d.Attempts[1].Number != 2 {
			t.Errorf("after redelivery: %+v, want the log to go on", d)
		}
		w.change() // not for this endpoint
		w.Advance(time.Second)
		late := w.endpoint("late", "payment.*") // younger than the event
		for _, to := range []webhook.EndpointState{e, late} {
			n, _, err := w.webhooks.Replay(t.Context(), creatorID, to.ID, webhooks.ReplayRange{From: begin})
			if err != nil || n != 1 {
				t.Fatalf("replayed %d, %v; want one", n, err)
			}
		}
		again := w.work()
		if len(again) != 2 || again[0].id != first[0].id || again[1].id != first[0].id {
			t.Errorf("replayed %+v, at first %+v", again, first)
		}
		later := webhooks.ReplayRange{From: w.Real().Add(time.Second), To: w.Real().Add(time.Hour)}
		if n, _, err := w.webhooks.Replay(t.Context(), creatorID, e.ID, later); err != nil || n != 0 {
			t.Errorf("a range without events: %d, %v", n, err)
		}
		if _, err := w.webhooks.Redeliver(t.Context(), creatorID, late.ID, d.ID); !refused(err, fault.NotFoundCode) {
			t.Errorf("another endpoint's delivery: %v", err)
		}
	})
}

func TestALongReplayGoesOnWithAnotherCall(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("hooks", "payment.*")
		events := webhooks.ReplayRange{From: w.Real()}
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			for range 1001 {
				if err := w.webhooks.Publish(ctx, r, paid()); err != nil {
					return err
				}
			}
			return nil
		})
		w.tick = time.Second // whenever the account's clock is read
		n, next, err := w.webhooks.Replay(t.Context(), creatorID, e.ID, events)
		if err != nil || n != 500 || next.ID == "" {
			t.Fatalf("replayed %d up to %+v, %v; want the first page", n, next, err)
		}
		w.tick = 0
		w.sell() // after the range
		events.After = next
		n, next, err = w.webhooks.Replay(t.Context(), creatorID, e.ID, events)
		if err != nil || n != 501 || next.ID != "" {
			t.Errorf("then replayed %d up to %+v, %v; want the rest", n, next, err)
		}
	})
}

func TestTestEventsAreNotReplayed(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		all, other := w.endpoint("all", "*"), w.endpoint("other", "payment.*")
		begin := w.Real()
		for _, e := range []webhook.EndpointState{all, other} {
			if _, err := w.webhooks.Test(t.Context(), creatorID, e.ID); err != nil {
				t.Fatal(err)
			}
		}
		w.sell()
		w.work()
		if n, _, err := w.webhooks.Replay(
			t.Context(), creatorID, all.ID, webhooks.ReplayRange{From: begin},
		); err != nil || n != 1 {
			t.Errorf("replayed %d, %v; want the payment alone", n, err)
		}
		for _, message := range w.work() {
			if message.envelope.Type != "payment.completed" {
				t.Errorf("replayed %s", message.envelope.Type)
			}
		}
	})
}

func TestSecretsAreSealedAtRestAndOverlapForADay(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("hooks", "*")
		first := w.secret(e)
		_, second, err := w.webhooks.RotateSecret(t.Context(), creatorID, e.ID)
		if err != nil || first == second || w.secret(e) != second {
			t.Fatalf("rotated from %s to %s, read %s, %v", first, second, w.secret(e), err)
		}
		for shown, encrypted := range map[string][]byte{first: w.stored(e).PreviousSecret, second: w.stored(e).Secret} {
			plain, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(shown, webhook.SecretPrefix))
			if err != nil || len(plain) != webhook.SecretBytes || !encryptedFrom(encrypted, plain) {
				t.Errorf("%s is at rest as %x, %v", shown, encrypted, err)
			}
		}
		w.mustSign(2)
		w.Advance(webhook.SecretOverlap - time.Millisecond)
		w.mustSign(2)
		w.Advance(time.Millisecond)
		w.mustSign(1)
	})
}

func (w *fixture) secret(e webhook.EndpointState) string {
	w.t.Helper()
	shown, err := w.webhooks.Secret(w.t.Context(), creatorID, e.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return shown
}

// mustSign fails unless a message sent now has that many signatures.
func (w *fixture) mustSign(want int) {
	w.t.Helper()
	w.sell()
	got := w.work()
	if len(got) != 1 || len(strings.Fields(got[0].signature)) != want {
		w.t.Errorf("sent %+v, want %d signatures", got, want)
	}
}

func refused(err error, code fault.Code) bool {
	var e *fault.Error
	return errors.As(err, &e) && e.Code == code
}

func TestAnEndpointThatIsDisabledIsReportedOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		only := func(reason string) {
			t.Helper()
			reported := fakes.Published[webhook.Disabled](&w.Bus)
			if len(reported) != 1 || reported[0].DisabledReason != reason || reported[0].CreatorID != creatorID {
				t.Fatalf("reported %+v, want one because of %q", reported, reason)
			}
			w.Take()
		}
		e := w.endpoint("hooks", "payment.completed")
		w.respond(e, 410)
		w.sell()
		w.work()
		only(webhook.DisabledByGone)
		w.enable(e, true) // its backlog meets the same response: disabled once more
		w.work()
		only(webhook.DisabledByGone)
		w.enable(e, true)
		w.respond(e, 500)
		w.work()
		w.enable(e, false)
		if len(fakes.Published[webhook.Disabled](&w.Bus)) > 0 {
			t.Fatal("reported a failure, or what the owner did")
		}
		w.enable(e, true)
		for range 4 {
			w.sell()
			w.Advance(48 * time.Hour)
			w.work()
		}
		if s := w.stored(e); s.DisabledReason != webhook.DisabledByFailing {
			t.Fatalf("after days of failing: %+v", s)
		}
		only(webhook.DisabledByFailing)
	})
}
