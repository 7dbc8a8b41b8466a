package jobs

import (
	"context"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/ports"
	"sundry/tests/testredis"
)

// newAsynq returns a dispatcher with one worker of a class, which runs handle.
func newAsynq(t *testing.T, connection *redis.Client, prefix string, handle Handler) *Asynq {
	t.Helper()
	queue, log := &fakeQueue{}, slog.New(slog.DiscardHandler)
	mux := NewMux(MuxDeps{Kinds: NewKinds(), Queue: queue, Clock: realClock{},
		Metrics: NewMetrics(queue, realClock{}, log), Log: log, Workers: Workers{Payments: 1, Webhooks: 1, Default: 1}})
	mux.Handle("test.run", Default, handle)
	d := NewAsynq(connection, prefix, mux, log)
	t.Cleanup(func() { d.Stop(context.WithoutCancel(t.Context())) })
	return d
}

// leased is a claimed task whose lease need not be prolonged.
func leased(id string) ports.Task {
	return ports.Task{ID: id, Kind: "test.run", Token: 1, LeaseUntil: time.Now().Add(10 * Lease)}
}

func TestAMessageThatNobodyHeardOfIsFound(t *testing.T) {
	t.Parallel()
	connection, prefix, ran := testredis.Client(t, testredis.Shared), rand.Text(), make(chan string, 1)
	handle := func(_ context.Context, task ports.Task) error { ran <- task.ID; return nil }
	sender, receiver := newAsynq(t, connection, prefix, handle), newAsynq(t, connection, prefix, handle)
	if err := sender.enqueue(t.Context(), Default, []ports.Task{leased("a")}); err != nil {
		t.Fatal(err)
	}
	receiver.Start(func(Class) {})
	select {
	case <-ran:
	case <-time.After(30 * ports.TaskPollInterval):
		t.Error("it was not run")
	}
}

// TestOneProcessNeedsNoRedis fills the workers of the only process, beside a Redis that does not respond.
func TestOneProcessNeedsNoRedis(t *testing.T) {
	t.Parallel()
	away := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = away.Close() })
	release, ran := make(chan struct{}), make(chan string, 2)
	d := newAsynq(t, away, rand.Text(), func(_ context.Context, task ports.Task) error {
		<-release
		ran <- task.ID
		return nil
	})
	d.Start(func(Class) {})
	for _, id := range []string{"a", "b"} {
		for d.Capacity(t.Context(), Default) == 0 { // until the worker has taken the one before
			time.Sleep(time.Millisecond)
		}
		if handed, err := d.Dispatch(t.Context(), Default, leased(id)); handed != 1 || err != nil {
			t.Fatalf("%s: handed over %d, %v", id, handed, err)
		}
	}
	for _, others := range []int64{0, 1} { // the other left with Redis
		d.others.Store(others)
		if capacity := d.Capacity(t.Context(), Default); capacity != 0 || d.others.Load() != 0 {
			t.Errorf("with %d others capacity %d, want none", others, capacity)
		}
	}
	close(release)
	<-ran
	<-ran
}
