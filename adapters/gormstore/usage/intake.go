package usage

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
	"sundry/core/fault"
	core "sundry/core/usage"
	"sundry/ports"
)

// Intake implements ports.UsageIntake.
type Intake struct {
	engine repo.Engine
	write  *gorm.DB
	// writers take turns; reports that have one key meet in the database.
	writers [intakeWriters]*repo.Batcher[*submission]
	turn    atomic.Uint64
	waiting atomic.Int64 // reports, over all writers
}

var _ ports.UsageIntake = (*Intake)(nil)

const (
	intakeWriters = 2
	// maxSubmissions bounds the requests of one write, and maxWaiting the reports that may wait: more are refused.
	maxSubmissions = 2_000
	maxWaiting     = 40_000
	intakeTimeout  = 10 * time.Second
)

// NewIntake returns the hot path of reporting. write is the writing connection of an engine without a pool.
func NewIntake(engine repo.Engine, write *gorm.DB) *Intake {
	in := &Intake{engine: engine, write: write}
	for i := range in.writers {
		in.writers[i] = repo.NewBatcher(repo.BatchConfig[*submission]{
			MaxBatch: maxSubmissions, Timeout: intakeTimeout, Capacity: maxWaiting, Write: in.writeBatch,
		})
	}
	return in
}

// submission contains the reports of one request.
type submission struct {
	reports  []ports.IncomingReport
	outcomes []ports.IntakeOutcome
}

// Accept implements ports.UsageIntake.
func (in *Intake) Accept(ctx context.Context, reports []ports.IncomingReport) ([]ports.IntakeOutcome, error) {
	n := int64(len(reports))
	defer in.waiting.Add(-n)
	if in.waiting.Add(n) > maxWaiting {
		refusal := fault.New(fault.RateLimited, "Too many usage reports are waiting to be written. Try again in a moment.")
		refusal.RetryAfter = time.Second
		return nil, refusal
	}
	one := &submission{reports, make([]ports.IntakeOutcome, len(reports))}
	writer := in.writers[in.turn.Add(1)%intakeWriters]
	if err := writer.Do(ctx, one); err != nil {
		return nil, fmt.Errorf("accept usage: %w", err)
	}
	return one.outcomes, nil
}

// writeBatch writes submissions in one commit.
func (in *Intake) writeBatch(ctx context.Context, all []*submission) []error {
	batch := newIntakeBatch(all)
	write := in.writePostgres
	if in.engine.Pool == nil {
		write = in.writeSQLite
	}
	results := make([]error, len(all))
	if err := in.engine.Retry(ctx, func(ctx context.Context) error { return write(ctx, batch) }); err != nil {
		for i := range results {
			results[i] = err
		}
		return results
	}
	batch.settle()
	return results
}

// intakeKey is the unique key of a report.
type intakeKey struct{ creatorID, key string }

// keyedReport is the report that a key belongs to.
type keyedReport struct {
	id          string
	fingerprint []byte
}

// intakeBatch is the work of one write. Of several reports under one key only the first is written.
type intakeBatch struct {
	submissions []*submission
	first       []ports.IncomingReport
	// written are the ids of the reports that were, and known whatever the keys of the others stand for.
	written map[string]bool
	known   map[intakeKey]keyedReport
}

func newIntakeBatch(all []*submission) *intakeBatch {
	b := &intakeBatch{submissions: all}
	seen := map[intakeKey]bool{}
	for _, one := range all {
		for _, r := range one.reports {
			if k := (intakeKey{r.CreatorID, r.Key}); !seen[k] {
				seen[k] = true
				b.first = append(b.first, r)
			}
		}
	}
	// Writers that take keys in one order do not wait for each other in a circle.
	slices.SortFunc(b.first, func(a, c ports.IncomingReport) int {
		return cmp.Or(cmp.Compare(a.CreatorID, c.CreatorID), cmp.Compare(a.Key, c.Key))
	})
	return b
}

// settle gives each report its outcome.
func (b *intakeBatch) settle() {
	for _, r := range b.first {
		if b.written[r.ID] {
			b.known[intakeKey{r.CreatorID, r.Key}] = keyedReport{r.ID, r.Fingerprint[:]}
		}
	}
	for _, one := range b.submissions {
		for i, r := range one.reports {
			if b.written[r.ID] {
				one.outcomes[i] = ports.IntakeOutcome{ID: r.ID}
				continue
			}
			if kept, ok := b.known[intakeKey{r.CreatorID, r.Key}]; ok {
				one.outcomes[i] = ports.IntakeOutcome{ID: kept.id, Duplicate: true, SameBody: slices.Equal(kept.fingerprint,
					r.Fingerprint[:])}
				continue
			}
			one.outcomes[i] = ports.IntakeOutcome{Moved: true}
		}
	}
}

// missing are the keys of the reports that were not written.
func (b *intakeBatch) missing() (creators, keys []string) {
	for _, r := range b.first {
		if !b.written[r.ID] {
			creators, keys = append(creators, r.CreatorID), append(keys, r.Key)
		}
	}
	return creators, keys
}

// AcceptSQL writes the reports whose stream and clock are still what they were placed by and whose key is new. IS TRUE
// makes the planner hash the moved accounts and the written keys: it cannot know how many there are, and would compare
// each report with each of them.
const AcceptSQL = `
WITH x AS MATERIALIZED (SELECT nextval('usage_positions') AS position),
moved AS MATERIALIZED (
    SELECT a.creator_id FROM unnest($12::text[], $13::bigint[]) AS a (creator_id, offset_ms)
        LEFT JOIN clock_offsets c ON c.creator_id = a.creator_id
    WHERE COALESCE(c.offset_ms, 0) <> a.offset_ms
), e AS MATERIALIZED (
    SELECT r.* FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bigint[],
        $8::bigint[], $9::bigint[],
        $10::text[], $11::boolean[], $14::bytea[], $15::text[]) AS r (id, creator_id, key, fingerprint, stream_id,
            version, period_start, occurred_at, received_at, quantity, ordered, unique_value, dimensions)
    JOIN usage_streams s ON s.id = r.stream_id AND s.version = r.version AND NOT s.closed
    WHERE (r.creator_id NOT IN (SELECT moved.creator_id FROM moved)) IS TRUE
), k AS (
    INSERT INTO usage_keys (stream_id, period_start, received_at, position, event_id, creator_id, key, fingerprint)
    SELECT e.stream_id, e.period_start, e.received_at, x.position, e.id, e.creator_id, e.key, e.fingerprint FROM e, x
        ORDER BY e.creator_id COLLATE "C", e.key COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING event_id
), u AS (
    INSERT INTO usage_unique_values (creator_id, stream_id, period_start, value, event_id)
    SELECT DISTINCT ON (e.stream_id, e.period_start, e.unique_value)
        e.creator_id, e.stream_id, e.period_start, e.unique_value, e.id
    FROM e WHERE e.unique_value IS NOT NULL AND (e.id IN (SELECT k.event_id FROM k)) IS TRUE
        ORDER BY e.stream_id, e.period_start, e.unique_value, e.id
    ON CONFLICT DO NOTHING RETURNING event_id
)
INSERT INTO usage_events (stream_id, period_start, occurred_at, received_at, position, ordered, quantity, id,
creator_id, unique_value, key, dimensions)
SELECT e.stream_id, e.period_start, e.occurred_at, e.received_at, x.position, e.ordered,
CASE WHEN e.unique_value IS NULL OR (e.id IN (SELECT u.event_id FROM u)) IS TRUE THEN e.quantity::numeric ELSE 0 END,
e.id, e.creator_id, e.unique_value, e.key, NULLIF(e.dimensions, '')
FROM e, x WHERE (e.id IN (SELECT k.event_id FROM k)) IS TRUE RETURNING id`

const knownKeysSQL = `
SELECT k.creator_id, k.key, k.event_id, k.fingerprint
FROM unnest($1::text[], $2::text[]) AS r (creator_id, key) JOIN usage_keys k ON k.creator_id = r.creator_id
AND k.key = r.key`

// writePostgres sends the lock and the write in one message: together they are one transaction, and the write sees
// whatever was committed before the lock was taken.
func (in *Intake) writePostgres(ctx context.Context, b *intakeBatch) error {
	b.written, b.known = map[string]bool{}, map[intakeKey]keyedReport{}
	batch := &pgx.Batch{}
	batch.Queue("SELECT pg_advisory_xact_lock_shared($1)", in.engine.Dialect.LockNumber(intakeLock))
	batch.Queue(AcceptSQL, columnsOf(b.first)...)
	results := in.engine.Pool.SendBatch(ctx, batch)
	_, err := results.Exec()
	if err == nil {
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			var ids []string
			ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
			for _, id := range ids {
				b.written[id] = true
			}
		}
	}
	if closeErr := results.Close(); err == nil {
		err = closeErr // the commit's
	}
	if err != nil {
		return err
	}
	creators, keys := b.missing()
	if len(keys) == 0 {
		return nil
	}
	rows, err := in.engine.Pool.Query(ctx, knownKeysSQL, creators, keys)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var k intakeKey
		var kept keyedReport
		if err := rows.Scan(&k.creatorID, &k.key, &kept.id, &kept.fingerprint); err != nil {
			return err
		}
		b.known[k] = kept
	}
	return rows.Err()
}

// Position implements ports.UsageIntake. The exclusive lock is held for one message: it waits for the writes under way,
// and the writes that wait for it take their places behind the one that is read.
func (in *Intake) Position(ctx context.Context) (position int64, err error) {
	if in.engine.Pool == nil {
		return math.MaxInt64, nil // one writer makes the order of inserts that of commits
	}
	err = in.engine.Retry(ctx, func(ctx context.Context) error {
		batch := &pgx.Batch{}
		batch.Queue("SELECT pg_advisory_xact_lock($1)", in.engine.Dialect.LockNumber(intakeLock))
		batch.Queue("SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM usage_positions")
		results := in.engine.Pool.SendBatch(ctx, batch)
		_, err := results.Exec()
		if err == nil {
			err = results.QueryRow().Scan(&position)
		}
		return cmp.Or(err, results.Close())
	})
	if err != nil {
		return 0, fmt.Errorf("read the position of usage reports: %w", err)
	}
	return position, nil
}

// RaisePositions lets the next reports follow all that are there. A copy that was made row by row, as logical
// replication makes it, starts its sequence over: its reports would fall behind what is counted, and never be billed.
func (in *Intake) RaisePositions(ctx context.Context) error {
	if in.engine.Pool == nil {
		return nil
	}
	err := in.engine.Retry(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, in.engine.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", in.engine.Dialect.LockNumber(intakeLock)); err != nil {
				return err
			}
			var last *int64 // read by itself: on Citus the tables are not where the sequence is
			err := tx.QueryRow(ctx, `SELECT GREATEST((SELECT MAX(position) FROM usage_events),
				(SELECT MAX(GREATEST(position, checked)) FROM usage_watermark))`).Scan(&last)
			if err == nil && last != nil {
				_, err = tx.Exec(ctx, "SELECT setval('usage_positions', $1) FROM usage_positions WHERE last_value < $1", *last)
			}
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("raise the positions of usage reports: %w", err)
	}
	return nil
}

// columnsOf turns reports into the arrays of AcceptSQL.
func columnsOf(reports []ports.IncomingReport) []any {
	n := len(reports)
	ids, creators, keys, quantities := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	fingerprints, ordered, values := make([][]byte, n), make([]bool, n), make([][]byte, n)
	dimensions := make([]string, n)
	streams, versions, periods, ats, received := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64,
		n), make([]int64, n)
	var accounts []string
	var offsets []int64
	for i := range reports {
		r := &reports[i]
		if i == 0 || r.CreatorID != reports[i-1].CreatorID || r.ClockOffset != reports[i-1].ClockOffset {
			accounts, offsets = append(accounts, r.CreatorID), append(offsets, r.ClockOffset.Milliseconds())
		}
		ids[i], creators[i], keys[i], quantities[i] = r.ID, r.CreatorID, r.Key, r.Quantity.String()
		fingerprints[i], ordered[i], values[i] = r.Fingerprint[:], r.Ordered, r.UniqueValue
		dimensions[i] = r.Dimensions.Text()
		streams[i], versions[i], periods[i], ats[i], received[i] = r.StreamID, r.StreamVersion, r.PeriodStart.UnixMilli(),
			r.At.UnixMilli(), r.ReceivedAt.UnixMilli()
	}
	return []any{ids, creators, keys, fingerprints, streams, versions, periods, ats, received, quantities, ordered,
		accounts, offsets, values, dimensions}
}

// writeSQLite writes one by one: its writer is in this process, and messages cost nothing.
func (in *Intake) writeSQLite(ctx context.Context, b *intakeBatch) error {
	b.written, b.known = map[string]bool{}, map[intakeKey]keyedReport{}
	return in.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		versions, offsets := map[int64]int64{}, map[string]int64{}
		for _, r := range b.first {
			version, err := lookUp(db, versions, r.StreamID, "SELECT COALESCE(MAX(version), 0) FROM usage_streams WHERE id = "+
				"? AND NOT closed")
			if err != nil {
				return err
			}
			offset, err := lookUp(db, offsets, r.CreatorID, "SELECT COALESCE(MAX(offset_ms), 0) FROM clock_offsets WHERE "+
				"creator_id = ?")
			if err != nil {
				return err
			}
			if version != r.StreamVersion || offset != r.ClockOffset.Milliseconds() {
				continue
			}
			if err := b.writeOne(db, r); err != nil {
				return err
			}
		}
		return b.readKnown(db)
	})
}

// lookUp reads the number of a row once.
func lookUp[K comparable](db *gorm.DB, known map[K]int64, key K, query string) (int64, error) {
	number, ok := known[key]
	if ok {
		return number, nil
	}
	err := repo.ScanRow(db.Raw(query, key), &number)
	known[key] = number
	return number, err
}

// writeOne writes a report unless its key is taken.
func (b *intakeBatch) writeOne(db *gorm.DB, r ports.IncomingReport) error {
	res := db.Exec("INSERT INTO usage_keys (stream_id, period_start, received_at, position, event_id, creator_id, key, "+
		"fingerprint) VALUES (?, ?, ?, 0, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		r.StreamID, repo.UnixMillis(r.PeriodStart), repo.UnixMillis(r.ReceivedAt), r.ID, r.CreatorID, r.Key, r.Fingerprint[:])
	if res.Error != nil || res.RowsAffected == 0 {
		return res.Error
	}
	b.written[r.ID] = true
	if r.UniqueValue != nil {
		res := db.Exec("INSERT INTO usage_unique_values (creator_id, stream_id, period_start, value, event_id) "+
			"VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			r.CreatorID, r.StreamID, repo.UnixMillis(r.PeriodStart), r.UniqueValue, r.ID)
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected == 0 {
			r.Quantity = core.Quantity{}
		}
	}
	return db.Exec("INSERT INTO usage_events (stream_id, period_start, occurred_at, received_at, ordered, quantity, id, "+
		"creator_id, unique_value, key, dimensions) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, ''))",
		r.StreamID, repo.UnixMillis(r.PeriodStart), repo.UnixMillis(r.At), repo.UnixMillis(r.ReceivedAt), r.Ordered,
		r.Quantity, r.ID, r.CreatorID, r.UniqueValue, r.Key, r.Dimensions.Text()).Error
}

// readKnown looks up what the keys stand for that were not written.
func (b *intakeBatch) readKnown(db *gorm.DB) error {
	creators, keys := b.missing()
	for i := range keys {
		var rows []storedReportRow
		if err := db.Raw("SELECT event_id, fingerprint FROM usage_keys WHERE creator_id = ? AND key = ?", creators[i],
			keys[i]).Scan(&rows).Error; err != nil {
			return err
		}
		for _, row := range rows {
			b.known[intakeKey{creators[i], keys[i]}] = keyedReport{row.EventID, row.Fingerprint}
		}
	}
	return nil
}
