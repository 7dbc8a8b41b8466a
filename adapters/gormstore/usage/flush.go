package usage

import (
	"context"
	"fmt"
	"time"

	"sundry/adapters/gormstore/repo"
	core "sundry/core/usage"
	"sundry/ports"
)

// summed are the columns of reports that are added up, by more columns before them; %s is the condition on the reports
// e. Ids are ordered by their bytes.
const summed = `MIN(e.creator_id) AS creator_id, s.aggregation,
    CASE s.aggregation WHEN 'SUM' THEN SUM(e.quantity) WHEN 'MAX' THEN MAX(e.quantity)
        ELSE (ARRAY_AGG(e.quantity ORDER BY e.occurred_at DESC, e.id COLLATE "C" DESC)
            FILTER (WHERE s.aggregation = 'LAST'))[1] END AS quantity,
    MAX(e.occurred_at) FILTER (WHERE s.aggregation = 'LAST') AS last_at,
    COALESCE((ARRAY_AGG(e.id ORDER BY e.occurred_at DESC, e.id COLLATE "C" DESC)
        FILTER (WHERE s.aggregation = 'LAST'))[1], '') AS last_id,
    COUNT(*) AS reports
FROM usage_events e JOIN usage_streams s ON s.id = e.stream_id
WHERE e.voided_at IS NULL AND %s`

// totals sums reports by stream and period.
const totals = `
SELECT e.stream_id, e.period_start, ` + summed + `
GROUP BY e.stream_id, e.period_start, s.aggregation`

// merged adds what a statement inserts to a row u that has its key.
const merged = `
        quantity = CASE WHEN u.reports = 0 THEN excluded.quantity
            WHEN u.aggregation = 'SUM' THEN u.quantity + excluded.quantity
            WHEN u.aggregation = 'MAX' THEN GREATEST(u.quantity, excluded.quantity)
            WHEN (excluded.last_at, excluded.last_id COLLATE "C") > (u.last_at, u.last_id COLLATE "C")
                THEN excluded.quantity
            ELSE u.quantity END,
        last_id = CASE WHEN u.last_at IS NULL
            OR (excluded.last_at, excluded.last_id COLLATE "C") > (u.last_at, u.last_id COLLATE "C")
            THEN excluded.last_id ELSE u.last_id END,
        last_at = GREATEST(u.last_at, excluded.last_at), reports = u.reports + excluded.reports`

// nextPosition is behind the reports of the next step: about as many as the limit, because those of one write stay
// together.
const nextPosition = `
SELECT COALESCE((SELECT position FROM usage_events WHERE position > @from AND position < @end
ORDER BY position LIMIT 1 OFFSET @limit), CAST(@end AS BIGINT))`

const flushSQL = `
WITH counted AS (
    INSERT INTO usage_rollups AS u (stream_id, period_start, creator_id, aggregation, quantity, last_at, last_id,
        reports, step, as_of,
        invoice_id, billed_quantity, billed)
    SELECT n.*, CAST(@step AS BIGINT), CAST(@now AS BIGINT) + COALESCE((SELECT c.offset_ms FROM clock_offsets c
        WHERE c.creator_id = n.creator_id), 0), '', 0, 0 FROM (%s) n
    ON CONFLICT (stream_id, period_start) DO UPDATE SET` + merged + `, step = excluded.step,
        as_of = excluded.as_of
    RETURNING 1
), rows AS (SELECT COUNT(*) AS reports FROM usage_events WHERE position >= @from AND position < @until)
SELECT reports, ` + hasDimensions + ` FROM rows`

// Flush implements ports.UsageRollups.
func (t rollups) Flush(_ context.Context, end int64, limit int, now time.Time) (ports.FlushStep, error) {
	const op = "flush usage"
	if t.OnPostgres() { // the watermark only grows, and closings hold it
		if w, err := t.read(""); err != nil || end <= w.position && w.divided == w.position {
			return ports.FlushStep{Number: w.step}, err
		}
	}
	w, err := t.lock()
	if err != nil {
		return ports.FlushStep{}, err
	}
	if !t.OnPostgres() {
		return t.flushOneByOne(w, end, limit, now)
	}
	if end <= w.position { // another process has counted these
		return ports.FlushStep{Number: w.step}, t.divideCounted(w)
	}
	var until, rows int64
	var dimensions bool
	err = repo.ScanRow(t.DB.Raw(nextPosition, map[string]any{"from": w.position, "end": end, "limit": limit}), &until)
	if err != nil {
		return ports.FlushStep{Number: w.step}, t.Failure(op, err)
	}
	args := map[string]any{"from": w.position, "until": until, "step": w.step + 1, "now": now.UnixMilli()}
	query := fmt.Sprintf(flushSQL, fmt.Sprintf(totals, "e.position >= @from AND e.position < @until"))
	if err := repo.ScanRow(t.DB.Raw(query, args), &rows, &dimensions); err != nil {
		return ports.FlushStep{}, t.Failure(op, err)
	}
	if dimensions {
		if err := t.divide(w, until); err != nil {
			return ports.FlushStep{}, err
		}
	}
	return t.moved(w, until, rows, until < end)
}

// moved records how far a step came.
func (t rollups) moved(w watermark, until, rows int64, more bool) (ports.FlushStep, error) {
	if rows > 0 {
		w.step++
	}
	err := t.DB.Exec("UPDATE usage_watermark SET position = ?, step = ?, divided = ? WHERE id = 1", until, w.step,
		until).Error
	return ports.FlushStep{Number: w.step, Rows: rows, More: more}, t.Failure("move usage watermark", err)
}

// eventRow contains the columns of a report that counting one by one reads.
type eventRow struct {
	Position    int64
	StreamID    int64
	PeriodStart repo.UnixMillis
	OccurredAt  repo.UnixMillis
	Quantity    core.Quantity
	ID          string
}

// events reads the reports under a condition that were not voided.
func (t rollups) events(op, where string, args ...any) (rows []eventRow, err error) {
	err = t.DB.Raw("SELECT position, stream_id, period_start, occurred_at, quantity, id FROM usage_events e WHERE "+
		"voided_at IS NULL AND "+where, args...).Scan(&rows).Error
	return rows, t.Failure(op, err)
}

// flushOneByOne is Flush on SQLite, which has no exact decimals. One writer makes the order of inserts that of commits.
func (t rollups) flushOneByOne(w watermark, end int64, limit int, now time.Time) (ports.FlushStep, error) {
	rows, err := t.events(
		"flush usage", "position >= ? AND position < ? ORDER BY position LIMIT ?", w.position, end, limit,
	)
	if err == nil && len(rows) == 0 {
		err = t.divideCounted(w)
	}
	if err != nil || len(rows) == 0 {
		return ports.FlushStep{Number: w.step}, err
	}
	counted, streams, err := t.total(rows)
	if err != nil {
		return ports.FlushStep{}, err
	}
	for key, total := range counted {
		s := streams[key.stream]
		offset, err := t.offset(s.CreatorID)
		if err == nil {
			err = t.merge(s, key.period(), total, w.step+1, now.Add(offset))
		}
		if err != nil {
			return ports.FlushStep{}, err
		}
	}
	until := rows[len(rows)-1].Position + 1
	if err := t.divide(w, until); err != nil {
		return ports.FlushStep{}, err
	}
	return t.moved(w, until, int64(len(rows)), len(rows) == limit)
}

// offset returns the lead of the account's clock over real time.
func (t rollups) offset(creatorID string) (time.Duration, error) {
	var ms int64
	err := t.QueryRow("get clock offset", "SELECT COALESCE(MAX(offset_ms), 0) FROM clock_offsets WHERE creator_id = ?",
		[]any{creatorID}, &ms)
	return time.Duration(ms) * time.Millisecond, err
}

// total sums reports by stream and period, and returns the streams by id.
func (t rollups) total(rows []eventRow) (map[rollupKey]core.Total, map[int64]ports.UsageStream, error) {
	counted, known := map[rollupKey]core.Total{}, map[int64]ports.UsageStream{}
	for _, row := range rows {
		s, ok := known[row.StreamID]
		if !ok {
			var err error
			if s, err = streams(t).GetByID(context.Background(), row.StreamID); err != nil {
				return nil, nil, err
			}
			known[row.StreamID] = s
		}
		if err := take(counted, s, row); err != nil {
			return nil, nil, err
		}
	}
	return counted, known, nil
}

func take(counted map[rollupKey]core.Total, s ports.UsageStream, row eventRow) error {
	key := newRollupKey(row.StreamID, time.Time(row.PeriodStart))
	total, ok := counted[key].Take(s.Aggregation, core.Sample{ID: row.ID, At: time.Time(row.OccurredAt),
		Quantity: row.Quantity})
	if !ok {
		return fmt.Errorf("count usage stream %d: %w", row.StreamID, errTooManyDigits)
	}
	counted[key] = total
	return nil
}
