package gormstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/core/webhook"
	"sundry/ports"
)

// arrival is a delivery that has arrived and waits to be recorded.
type arrival struct {
	task     ports.Task
	delivery webhook.DeliveryState
	attempt  webhook.Attempt
	done     chan error
}

const (
	// mostArrivals bounds one write, and concludeTimeout how long it may take.
	mostArrivals    = 128
	concludeTimeout = 10 * time.Second
)

// arrivals gathers what is to be recorded while a write is under way, for the next one: under load one commit serves many
// deliveries, and without load nobody waits.
type arrivals struct {
	mu      sync.Mutex
	waiting []*arrival
	writing bool
}

// add leaves an arrival to the writer, which it starts when there is none.
func (g *arrivals) add(one *arrival, write func(all []*arrival)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, one)
	if g.writing {
		return
	}
	g.writing = true
	go func() {
		for all := g.take(); len(all) > 0; all = g.take() {
			write(all)
		}
	}()
}

// take hands over what waits; when that is nothing, the writer is done. Of one task's two runs the later waits for the
// next write, which will find it fenced.
func (g *arrivals) take() []*arrival {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all, later []*arrival
	seen := map[string]bool{}
	for _, one := range g.waiting {
		if len(all) == mostArrivals || seen[one.task.ID] {
			later = append(later, one)
			continue
		}
		seen[one.task.ID] = true
		all = append(all, one)
	}
	g.waiting, g.writing = later, len(all) > 0
	return all
}

// concludeSQL records deliveries that have arrived and ends their tasks, both or neither of each. It returns the tasks.
const concludeSQL = `
WITH runs AS MATERIALIZED (
    SELECT * FROM unnest(@tasks::text[], @tokens::bigint[], @deliveries::text[], @creators::text[], @revisions::bigint[], @counts::bigint[],
        @rounds::bigint[], @numbers::bigint[], @ats::bigint[], @codes::bigint[], @tooks::bigint[], @bodies::text[])
    AS r (task, token, delivery, creator, revision, count, round, number, at, code, took, body)
), mine AS MATERIALIZED (
    SELECT r.* FROM runs r JOIN tasks t ON t.id = r.task AND t.token = r.token JOIN deliveries d ON d.id = r.delivery AND d.revision = r.revision - 1
    FOR UPDATE OF t, d
), ended AS (
    DELETE FROM tasks USING mine WHERE tasks.id = mine.task
), logged AS (
    INSERT INTO delivery_attempts (creator_id, delivery_id, number, at, status_code, duration_ms, error, response_body)
    SELECT creator, delivery, number, at, code, took, '', body FROM mine
)
UPDATE deliveries SET status = 'delivered', attempt_count = mine.count, round_attempts = mine.round, next_attempt_at = NULL, revision = mine.revision
FROM mine WHERE deliveries.id = mine.delivery RETURNING mine.task`

// conclude writes arrivals and tells each what became of it.
func (s *Store) conclude(ctx context.Context, all []*arrival) {
	ctx, cancel := context.WithTimeout(ctx, concludeTimeout)
	defer cancel()
	ended, err := s.concludeOnce(ctx, all)
	for attempt := 0; err != nil && s.dialect.retryable(err) && attempt < maxAttempts && backOff(ctx, attempt) == nil; attempt++ {
		ended, err = s.concludeOnce(ctx, all)
	}
	for _, one := range all {
		switch {
		case err != nil:
			one.done <- fmt.Errorf("conclude delivery %s: %w", one.delivery.ID, err)
		case !ended[one.task.ID]:
			one.done <- fmt.Errorf("conclude delivery %s: %w", one.delivery.ID, ports.ErrFenced)
		default:
			one.done <- nil
		}
	}
}

func (s *Store) concludeOnce(ctx context.Context, all []*arrival) (ended map[string]bool, err error) {
	columns := map[string][]any{}
	for _, a := range all {
		for name, value := range map[string]any{
			"tasks": a.task.ID, "tokens": a.task.Token, "deliveries": a.delivery.ID, "creators": a.delivery.CreatorID,
			"revisions": a.delivery.Revision, "counts": a.delivery.AttemptCount, "rounds": a.delivery.RoundAttempts,
			"numbers": a.attempt.Number, "ats": a.attempt.At.UnixMilli(), "codes": a.attempt.StatusCode,
			"tooks": a.attempt.Duration.Milliseconds(), "bodies": a.attempt.ResponseBody,
		} {
			columns[name] = append(columns[name], value)
		}
	}
	args := pgx.NamedArgs{}
	for name, values := range columns {
		args[name] = values
	}
	rows, err := s.pool.Query(ctx, concludeSQL, args)
	if err != nil {
		return nil, err
	}
	tasks, err := pgx.CollectRows(rows, pgx.RowTo[string])
	ended = map[string]bool{}
	for _, id := range tasks {
		ended[id] = true
	}
	return ended, err
}
