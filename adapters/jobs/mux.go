// Package jobs runs background work: the mux (task kind -> one module call), the relay that claims due rows, and two
// dispatchers that carry them to a worker, through asynq or in process.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sundry/ports"
)

// Class is a group of kinds that share workers, so that one class's backlog never delays another.
type Class string

// The classes, one asynq server each.
const (
	Payments Class = "payments"
	Webhooks Class = "webhooks"
	Rest     Class = "rest"
)

// Handler runs one task. Its own transaction ends with Done or Postpone; an error leaves the task to be tried again.
type Handler func(ctx context.Context, t ports.Task) error

// Mux is the table of task kinds.
type Mux struct {
	queue ports.TaskQueue
	clock ports.Clock
	log   *slog.Logger
	kinds map[string]entry
}

type entry struct {
	class  Class
	handle Handler
}

// NewMux returns an empty table over the queue.
func NewMux(queue ports.TaskQueue, clock ports.Clock, log *slog.Logger) *Mux {
	return &Mux{queue: queue, clock: clock, log: log, kinds: map[string]entry{}}
}

// Handle names the one call that a kind makes. Call it during wiring only.
func (m *Mux) Handle(kind string, class Class, handle Handler) {
	if _, taken := m.kinds[kind]; taken {
		panic("jobs: kind wired twice: " + kind)
	}
	m.kinds[kind] = entry{class, handle}
}

// ClassOf is the class of a kind; Rest for one that this version does not know.
func (m *Mux) ClassOf(kind string) Class {
	if e, ok := m.kinds[kind]; ok {
		return e.class
	}
	return Rest
}

// Run runs a claimed task and records a failure. It returns the failure for metrics only: the retry is already a row.
func (m *Mux) Run(ctx context.Context, t ports.Task) error {
	err := m.handle(ctx, t)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ports.ErrFenced):
		return nil // somebody else's now; what this run did was rolled back
	}
	m.log.WarnContext(ctx, "task failed", slog.String("task", t.ID), slog.Int("attempt", t.Attempts), slog.Any("error", err))
	failErr := m.queue.Fail(context.WithoutCancel(ctx), t, err.Error(), m.clock.Real().Add(retryDelay(t.Attempts)))
	if failErr != nil && !errors.Is(failErr, ports.ErrFenced) {
		return errors.Join(err, failErr) // the lease will end and the relay will claim it again
	}
	return err
}

func (m *Mux) handle(ctx context.Context, t ports.Task) (err error) {
	e, ok := m.kinds[t.Kind]
	if !ok {
		return fmt.Errorf("no handler for task kind %q", t.Kind)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("task %s panicked: %v", t.ID, p)
		}
	}()
	return e.handle(ctx, t)
}

// retryDelay is 1 s, 2 s, 4 s … up to an hour.
func retryDelay(attempts int) time.Duration {
	return min(time.Second<<min(max(attempts-1, 0), 12), time.Hour)
}
