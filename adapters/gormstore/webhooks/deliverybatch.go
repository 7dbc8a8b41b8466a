package webhooks

import (
	"sundry/adapters/gormstore/repo"
	"sundry/core/webhook"
	"sundry/ports"
)

// deliveredAttempt is a delivery that has arrived, to be recorded.
type deliveredAttempt struct {
	task     ports.Task
	delivery webhook.DeliveryState
	attempt  webhook.Attempt
}

// recordSQL records deliveries that have arrived and ends their tasks, both or neither of each. It returns the tasks.
// It locks as other transactions do, or it would deadlock with a replay: deliveries by their events, then tasks by
// their ids. The rows are locked in queries within own and mine: Citus loses columns of one that locks by itself and is
// kept for others.
const recordSQL = `
WITH runs AS MATERIALIZED (
    SELECT unnest(@tasks::text[]) AS task, unnest(@tokens::bigint[]) AS token,
        unnest(@deliveries::text[]) AS delivery, unnest(@creators::text[]) AS creator,
        unnest(@revisions::bigint[]) AS revision, unnest(@counts::bigint[]) AS count,
        unnest(@rounds::bigint[]) AS round, unnest(@numbers::bigint[]) AS number, unnest(@ats::bigint[]) AS at,
        unnest(@codes::bigint[]) AS code, unnest(@tooks::bigint[]) AS took, unnest(@bodies::text[]) AS body
), own AS MATERIALIZED (
    SELECT * FROM (
        SELECT r.* FROM runs r JOIN deliveries d ON d.id = r.delivery AND d.revision = r.revision - 1
        ORDER BY d.event_id, d.id FOR UPDATE OF d
    ) AS locked
), mine AS MATERIALIZED (
    SELECT * FROM (
        SELECT o.* FROM own o JOIN tasks t ON t.id = o.task AND t.token = o.token
        ORDER BY t.id FOR UPDATE OF t
    ) AS locked
), ended AS (
    DELETE FROM tasks USING mine WHERE tasks.id = mine.task
), logged AS (
    INSERT INTO delivery_attempts (creator_id, delivery_id, number, at, status_code, duration_ms, error, response_body)
    SELECT creator, delivery, number, at, code, took, '', body FROM mine
)
UPDATE deliveries SET status = 'delivered', attempt_count = mine.count, round_attempts = mine.round,
next_attempt_at = NULL, revision = mine.revision
FROM mine WHERE deliveries.id = mine.delivery RETURNING mine.task`

// deliveredColumns are the columns of recordSQL.
func deliveredColumns(all []deliveredAttempt) repo.Columns {
	columns := repo.NewColumns()
	for _, a := range all {
		columns.Add(map[string]any{
			"tasks": a.task.ID, "tokens": a.task.Token, "deliveries": a.delivery.ID, "creators": a.delivery.CreatorID,
			"revisions": a.delivery.Revision, "counts": a.delivery.AttemptCount, "rounds": a.delivery.RoundAttempts,
			"numbers": a.attempt.Number, "ats": a.attempt.At.UnixMilli(), "codes": a.attempt.StatusCode,
			"tooks": a.attempt.Duration.Milliseconds(), "bodies": a.attempt.ResponseBody,
		})
	}
	return columns
}
