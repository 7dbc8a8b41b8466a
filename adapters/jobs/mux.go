// Package jobs runs background work: the mux (task kind -> one module call), the relay that claims due rows, and two
// dispatchers that carry them to a worker, through asynq or in process.
//
// The database is the source of truth. A dispatcher may lose or double what it carries: the row's lease ends and the
// relay claims it again, under a new token that fences every older run.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"time"

	"sundry/core/redact"
	"sundry/ports"
)

const (
	// Lease is the time for which a claimed task belongs to one worker.
	Lease = 20 * time.Second
	// HandlerTimeout bounds one run. It exceeds the 15 s that a webhook endpoint has to respond and ends before the lease.
	HandlerTimeout = 17 * time.Second
	// recordTimeout bounds the note that a run failed.
	recordTimeout = 2 * time.Second
)

// Class is a group of kinds that share workers, so that one class's backlog never delays another.
type Class = ports.TaskClass

// The classes, each with workers of its own.
const (
	Payments = ports.PaymentTasks
	Webhooks = ports.WebhookTasks
	Default  = ports.DefaultTasks
)

// Workers maps each class to the number of its tasks that one process runs at a time.
type Workers map[Class]int

// defaultWorkers are the defaults of the settings. Those of webhooks mostly wait for receivers: eight slow endpoints
// can occupy them all, and then the others share what becomes free.
func defaultWorkers() Workers {
	return Workers{Payments: 8, Webhooks: 8 * ports.MaxPerKey, Default: 8}
}

// Handler runs one task. Its own transaction ends with Done or Postpone; an error leaves the task to be tried again.
type Handler func(ctx context.Context, t ports.Task) error

// MuxDeps contains the dependencies of a Mux.
type MuxDeps struct {
	Kinds   *Kinds
	Queue   ports.TaskQueue
	Clock   ports.Clock
	Metrics *Metrics
	Log     *slog.Logger
	// Tracer gives each run a span; nil for none.
	Tracer ports.Tracer
	// Workers limits the workers that dispatchers start; nil means the defaults of the settings.
	Workers Workers
}

// Mux runs claimed tasks by the table of kinds.
type Mux struct {
	*Kinds
	workers Workers
	queue   ports.TaskQueue
	clock   ports.Clock
	log     *slog.Logger
	metrics *Metrics
	tracer  ports.Tracer
}

var _ ports.TaskRunner = (*Mux)(nil)

// NewMux returns a mux of the kinds, which may be wired later.
func NewMux(d MuxDeps) *Mux {
	if d.Workers == nil {
		d.Workers = defaultWorkers()
	}
	return &Mux{Kinds: d.Kinds, workers: d.Workers, queue: d.Queue, clock: d.Clock, log: d.Log, metrics: d.Metrics,
		tracer: d.Tracer}
}

// Run implements ports.TaskRunner: it runs a claimed task within HandlerTimeout and records a failure. The retry is
// already a row when it returns.
func (m *Mux) Run(ctx context.Context, t ports.Task) error {
	started := time.Now()
	ctx, span := m.beginSpan(ctx, t)
	err := m.handle(ctx, t)
	if span != nil {
		span.End(ports.ErrorType(err))
	}
	outcome := outcomeOf(err)
	m.metrics.ran(m.label(t.Kind), outcome, time.Since(started))
	if outcome != outcomeFailed {
		return nil
	}
	m.log.WarnContext(ctx, "task failed", slog.String("task", t.ID), slog.Int("attempt", t.Attempts),
		slog.Any("error", err))
	record, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	failErr := m.queue.Fail(record, t, redact.Text(err.Error()), m.clock.Real().Add(retryDelay(t.Attempts)))
	if failErr != nil && !errors.Is(failErr, ports.ErrFenced) {
		return errors.Join(err, failErr) // the lease will end and the relay will claim it again
	}
	return err
}

// outcomeOf names the outcome of a run. A fenced task is somebody else's now, and what its run did was rolled back.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return outcomeDone
	case errors.Is(err, ports.ErrFenced):
		return outcomeFenced
	}
	return outcomeFailed
}

// beginSpan begins the span of a run, within the trace of what scheduled it; nil where nothing is traced.
func (m *Mux) beginSpan(ctx context.Context, t ports.Task) (context.Context, ports.Span) {
	if m.tracer == nil {
		return ctx, nil
	}
	ctx, span := m.tracer.Continue(ctx, ports.TaskSpan, "task "+m.label(t.Kind), t.TraceParent)
	span.Set(ports.Attribute{Key: "sundry.task.attempt", Value: strconv.Itoa(t.Attempts)},
		ports.Attribute{Key: "sundry.account.id", Value: t.CreatorID})
	return ctx, span
}

func (m *Mux) handle(ctx context.Context, t ports.Task) (err error) {
	e, ok := m.rows[t.Kind]
	if !ok {
		return fmt.Errorf("no handler for task kind %q", t.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, HandlerTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			m.log.ErrorContext(ctx, "task panicked", slog.String("task", t.ID), slog.Any("panic", p),
				slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("task %s panicked: %v", t.ID, p)
		}
	}()
	return e.handle(ctx, t)
}

// label is the kind as metrics show it: only kinds that are wired, so that their number stays bounded.
func (m *Mux) label(kind string) string {
	if _, ok := m.rows[kind]; ok {
		return kind
	}
	return "unknown"
}

// resume gets a task that has waited since its claim ready to be run now: ErrFenced when it is no longer this claim's.
func (m *Mux) resume(ctx context.Context, id string, token int64) (ports.Task, error) {
	return m.queue.Load(ctx, id, token, m.clock.Real().Add(HandlerTimeout+recordTimeout))
}

// retryDelay is 1 s, 2 s, 4 s … up to an hour.
func retryDelay(attempts int) time.Duration {
	return min(time.Second<<min(max(attempts-1, 0), 12), time.Hour)
}
