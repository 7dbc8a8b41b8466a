package contract

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/core/event"
	"sundry/core/webhook"
	"sundry/ports"
)

// dueDelivery writes an event, its delivery and the claimed task that makes it.
func dueDelivery(t *testing.T, store StoreAdapter, n int, now time.Time) ports.Task {
	t.Helper()
	id := fmt.Sprintf("dlv_%04d", n)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		record := event.Record{
			ID: fmt.Sprintf("evt_%04d", n), CreatorID: creator, Type: event.PaymentCompleted, CreatedAt: now,
			Data: []byte(`{"n": 1}`),
		}
		d := webhook.NewDelivery(
			webhook.DeliveryState{
				ID: id, CreatorID: creator, EventID: record.ID, EventType: string(record.Type), EndpointID: "we_1",
			},
			now,
		)
		return errors.Join(
			r.Webhooks.Events.Insert(ctx, record), r.Webhooks.Deliveries.Insert(ctx, d.State()),
			r.Tasks.Schedule(ctx, "test.send", id, creator, now),
		)
	})
	return claimOne(t, store, now)
}

func hook(t *testing.T, store StoreAdapter, now time.Time) webhook.EndpointState {
	t.Helper()
	url, events := "https://hooks.example.com/", []string{"*"}
	e := webhook.NewEndpoint("we_1", creator, webhook.EndpointEdit{URL: &url, Events: &events}, []byte("encrypted"),
		now).State()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Webhooks.Endpoints.Insert(ctx, e) })
	return e
}

// arrive records that the task's delivery has arrived.
func arrive(ctx context.Context, store StoreAdapter, task ports.Task, now time.Time) error {
	due, err := store.GetDue(ctx, creator, task.Subject)
	if err != nil {
		return err
	}
	attempt := webhook.Attempt{
		Number: due.Delivery.AttemptCount + 1, At: now, StatusCode: 204, Duration: 30 * time.Millisecond,
		ResponseBody: "thanks",
	}
	d := webhook.RestoreDelivery(due.Delivery)
	d.Record(attempt, 0, 0)
	return store.RecordDelivered(ctx, task, d.State(), attempt)
}

// logged returns the number of the delivery's attempts, and whether it is recorded as delivered.
func logged(t *testing.T, store StoreAdapter, id string) (attempts int, delivered bool) {
	t.Helper()
	r := store.Read(t.Context())
	all, err := r.Webhooks.Deliveries.ListAttempts(t.Context(), creator, []string{id})
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Webhooks.Deliveries.Get(t.Context(), creator, id)
	if err != nil {
		t.Fatal(err)
	}
	if d.Status == webhook.Delivered && (d.AttemptCount != len(all[id]) || !d.NextAttemptAt.IsZero() ||
		all[id][0].ResponseBody != "thanks") {
		t.Errorf("delivered: %+v with %+v", d, all[id])
	}
	return len(all[id]), d.Status == webhook.Delivered
}

func aDueDeliveryIsReadWhole(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	endpoint := hook(t, store, now)
	task := dueDelivery(t, store, 1, now)
	due, err := store.GetDue(t.Context(), creator, task.Subject)
	if err != nil {
		t.Fatal(err)
	}
	r := store.Read(t.Context())
	delivery, deliveryErr := r.Webhooks.Deliveries.Get(t.Context(), creator, task.Subject)
	record, eventErr := r.Webhooks.Events.Get(t.Context(), creator, "evt_0001")
	stored, endpointErr := r.Webhooks.Endpoints.Get(t.Context(), creator, endpoint.ID)
	if err := errors.Join(deliveryErr, eventErr, endpointErr); err != nil {
		t.Fatal(err)
	}
	same(t, "the delivery", due.Delivery, delivery)
	same(t, "the endpoint", due.Endpoint, stored)
	same(t, "the event", due.Event, record)
	same(t, "the clock's offset", due.ClockOffset, 0)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Sandbox.ClockOffsets.Advance(ctx, creator, 40*24*time.Hour)
	})
	if due, err = store.GetDue(t.Context(), creator, task.Subject); err != nil || due.ClockOffset != 40*24*time.Hour {
		t.Errorf("the clock was put forward 40 days, and the delivery's is %v ahead, %v", due.ClockOffset, err)
	}
	_, err = store.GetDue(t.Context(), "crt_other", task.Subject)
	wantError(t, "another account's delivery", err, ports.ErrNotFound)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Webhooks.Endpoints.Delete(ctx, creator, endpoint.ID)
	})
	_, err = store.GetDue(t.Context(), creator, task.Subject)
	wantError(t, "a delivery to an endpoint that is gone", err, ports.ErrNotFound)
}

func aDeliveryIsRecordedWholeOrNotAtAll(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	hook(t, store, now)
	task := dueDelivery(t, store, 1, now)
	old := task
	old.Token--
	wantFenced(t, "an older run", arrive(t.Context(), store, old, now))
	due, err := store.GetDue(t.Context(), creator, task.Subject)
	if err != nil {
		t.Fatal(err)
	}
	again := webhook.RestoreDelivery(due.Delivery)
	again.Requeue(now)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Webhooks.Deliveries.Update(ctx, again.State())
	})
	meanwhile := webhook.RestoreDelivery(due.Delivery)
	meanwhile.Record(webhook.Attempt{StatusCode: 200, At: now}, 0, 0)
	wantFenced(
		t, "a delivery that was changed meanwhile",
		store.RecordDelivered(t.Context(), task, meanwhile.State(), webhook.Attempt{
			Number: 1, At: now, StatusCode: 200,
		}),
	)
	if n, delivered := logged(t, store, task.Subject); n != 0 || delivered {
		t.Errorf("refused, but %d attempts are logged, delivered %v", n, delivered)
	}
	if err := arrive(t.Context(), store, task, now); err != nil { // its task is still there
		t.Fatal(err)
	}
	if n, delivered := logged(t, store, task.Subject); n != 1 || !delivered {
		t.Errorf("%d attempts are logged, delivered %v", n, delivered)
	}
	wantFenced(t, "its task is gone", done(t, store, task))
}

func manyDeliveriesAreRecordedOnceEach(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	hook(t, store, now)
	tasks := make([]ports.Task, 60)
	for i := range tasks {
		tasks[i] = dueDelivery(t, store, i, now)
	}
	var recorded, fenced atomic.Int64
	var runs sync.WaitGroup
	for _, task := range tasks {
		for range 3 { // a dispatcher may double
			runs.Go(func() {
				switch err := arrive(t.Context(), store, task, now); {
				case err == nil:
					recorded.Add(1)
				case errors.Is(err, ports.ErrFenced):
					fenced.Add(1)
				default:
					t.Error(err)
				}
			})
		}
	}
	runs.Wait()
	if recorded.Load() != 60 || fenced.Load() != 120 {
		t.Errorf("%d deliveries were recorded and %d fenced, want 60 and 120", recorded.Load(), fenced.Load())
	}
	for _, task := range tasks {
		if n, delivered := logged(t, store, task.Subject); n != 1 || !delivered {
			t.Errorf("%s: %d attempts are logged, delivered %v", task.Subject, n, delivered)
		}
	}
	claimNone(t, store, now.Add(time.Hour))
}
