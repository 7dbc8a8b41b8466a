package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"sundry/ports"
)

// failures remembers why runs failed.
type failures struct {
	fakeQueue
	reasons []string
}

func (q *failures) Fail(_ context.Context, _ ports.Task, reason string, _ time.Time) error {
	q.reasons = append(q.reasons, reason)
	return nil
}

func newMux(queue ports.TaskQueue) *Mux {
	log := slog.New(slog.DiscardHandler)
	return NewMux(MuxDeps{Kinds: NewKinds(), Queue: queue, Clock: realClock{},
		Metrics: NewMetrics(queue, realClock{}, log), Log: log})
}

func TestAFailureIsKeptWithoutSecrets(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]Handler{
		"an error": func(context.Context, ports.Task) error { return errors.New("sk_live_0123456789 was refused") },
		"a panic":  func(context.Context, ports.Task) error { panic("sk_live_0123456789 was refused") },
	} {
		queue := &failures{}
		mux := newMux(queue)
		mux.Handle("test.run", Default, handle)
		err := mux.Run(t.Context(), ports.Task{ID: "test.run:a", Kind: "test.run", Attempts: 1})
		want := "sk_live_[hidden] was refused"
		if name == "a panic" {
			want = "task test.run:a panicked: " + want
		}
		if err == nil || len(queue.reasons) != 1 || queue.reasons[0] != want {
			t.Errorf("%s: %v, kept %q, want %q", name, err, queue.reasons, want)
		}
	}
}

func TestAccountsTakeTurnsInABoundedNumberOfGroups(t *testing.T) {
	t.Parallel()
	queue := &failures{}
	mux := newMux(queue)
	done := func(context.Context, ports.Task) error { return nil }
	mux.Handle("plain", Default, done)
	mux.HandleWithKey("by subject", Webhooks, func(subject string) string { return subject }, done)
	mux.HandleFairly("by account", Payments, done)
	if key := mux.ConcurrencyKey("plain", "a", "crt_1"); key != "" {
		t.Errorf("a plain kind has the key %q", key)
	}
	if key := mux.ConcurrencyKey("by subject", "a", "crt_1"); key != "a" {
		t.Errorf("by subject the key is %q", key)
	}
	groups := map[string]bool{}
	for i := range 10 * accountGroups {
		account := fmt.Sprintf("crt_%d", i)
		key := mux.ConcurrencyKey("by account", "a", account)
		if key != mux.ConcurrencyKey("by account", "b", account) || key == "" {
			t.Fatalf("the tasks of %s are in several groups", account)
		}
		groups[key] = true
	}
	if len(groups) < accountGroups/2 || len(groups) > accountGroups {
		t.Errorf("%d groups", len(groups))
	}
	if mux.ClassOf("by account") != Payments {
		t.Error("its class is lost")
	}
}
