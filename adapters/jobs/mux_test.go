package jobs

import (
	"context"
	"errors"
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

func TestAFailureIsKeptWithoutSecrets(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]Handler{
		"an error": func(context.Context, ports.Task) error { return errors.New("sk_live_0123456789 was refused") },
		"a panic":  func(context.Context, ports.Task) error { panic("sk_live_0123456789 was refused") },
	} {
		queue := &failures{}
		mux := NewMux(queue, realClock{}, NewMetrics(queue, realClock{}, slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler))
		mux.Handle("test.run", Rest, handle)
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
