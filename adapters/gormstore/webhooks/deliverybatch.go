package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/core/webhook"
	"sundry/ports"
)

// deliveredAttempt is a delivery that has arrived, to be recorded.
type deliveredAttempt struct {
	task     ports.Task
	delivery webhook.DeliveryState
	attempt  webhook.Attempt
}

const (
	// maxBatch bounds one write, recordTimeout how long it may take, and maxWaiting what gathers for the next: workers
	// are fewer.
	maxBatch      = 128
	recordTimeout = 10 * time.Second
	maxWaiting    = 64 * maxBatch
)

// recordSQL records deliveries that have arrived and ends their tasks, both or neither of each. It returns the tasks.
const recordSQL = `
WITH runs AS MATERIALIZED (
    SELECT * FROM unnest(@tasks::text[], @tokens::bigint[], @deliveries::text[], @creators::text[],
        @revisions::bigint[], @counts::bigint[],
        @rounds::bigint[], @numbers::bigint[], @ats::bigint[], @codes::bigint[], @tooks::bigint[], @bodies::text[])
    AS r (task, token, delivery, creator, revision, count, round, number, at, code, took, body)
), mine AS MATERIALIZED (
    SELECT r.* FROM runs r JOIN tasks t ON t.id = r.task AND t.token = r.token JOIN deliveries d ON d.id = r.delivery
        AND d.revision = r.revision - 1
    FOR UPDATE OF t, d
), ended AS (
    DELETE FROM tasks USING mine WHERE tasks.id = mine.task
), logged AS (
    INSERT INTO delivery_attempts (creator_id, delivery_id, number, at, status_code, duration_ms, error, response_body)
    SELECT creator, delivery, number, at, code, took, '', body FROM mine
)
UPDATE deliveries SET status = 'delivered', attempt_count = mine.count, round_attempts = mine.round,
next_attempt_at = NULL, revision = mine.revision
FROM mine WHERE deliveries.id = mine.delivery RETURNING mine.task`

// recordBatch writes deliveries that have arrived.
func (s *DeliveryStore) recordBatch(ctx context.Context, all []deliveredAttempt) []error {
	var ended map[string]bool
	err := s.engine.Retry(ctx, func(ctx context.Context) (err error) {
		ended, err = s.recordOnce(ctx, all)
		return err
	})
	results := make([]error, len(all))
	for i, one := range all {
		switch {
		case err != nil:
			results[i] = fmt.Errorf("record delivery %s: %w", one.delivery.ID, err)
		case !ended[one.task.ID]:
			results[i] = fmt.Errorf("record delivery %s: %w", one.delivery.ID, ports.ErrFenced)
		}
	}
	return results
}

func (s *DeliveryStore) recordOnce(ctx context.Context, all []deliveredAttempt) (ended map[string]bool, err error) {
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
	rows, err := s.engine.Pool.Query(ctx, recordSQL, args)
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
