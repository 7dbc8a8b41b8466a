package gormstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"sundry/ports"
)

// A claim reads no more than the first few due tasks of a concurrency key, so it costs the same however much waits
// behind them: those that are leased are already among these, because a key is claimed from its head.
const keyHead = ports.HighestPerKey

// headSlack is the number of due tasks that are read of a key beyond its limit: leased ones may be behind them that
// have fallen due late, with an earlier time.
const headSlack = 16

// claimSQL picks what is due: @class, @now, and @until, the end of the lease. It reads the keys by a loose index scan
// from the last one, because what is done lies dead at the head of its key until the next VACUUM. It takes from each
// what its limits leave, and mixes the keys by how much each has running: the first task of a quiet one goes before
// the second of a busy one. Among keys that have as many running chance decides: by the time of their tasks, those
// with more due than can be run would all go before a key whose first task falls due a moment later. The rows are then
// locked in a step of their own, so that PostgreSQL neither plans for a third of the table nor locks more than is
// claimed. :mine leaves tasks to an advance, see leftToAnAdvance. @limit is a parameter, so that one text is prepared,
// where it does not matter to the plan; :most is a round number that is no lower.
const claimSQL = `
WITH RECURSIVE keys(key) AS (
    SELECT MAX(concurrency_key) FROM tasks WHERE class = @class AND concurrency_key > ''
    UNION ALL
    SELECT (SELECT MAX(t.concurrency_key) FROM tasks t WHERE t.class = @class AND t.concurrency_key > ''
        AND t.concurrency_key < keys.key) FROM keys WHERE keys.key IS NOT NULL
), open_keys AS (
    SELECT k.key, CASE WHEN p.concurrency_key IS NULL THEN COALESCE(l.max_running, :width) ELSE 1 END AS width,
        CASE WHEN COALESCE(l.step_ms, 0) = 0 THEN CAST(@limit AS BIGINT)
            ELSE (CAST(@now AS BIGINT) + 1000 - CASE WHEN l.spent_until > @now THEN l.spent_until
                ELSE @now END) / l.step_ms END AS tokens
    FROM keys k LEFT JOIN concurrency_pauses p ON p.concurrency_key = k.key
        LEFT JOIN concurrency_limits l ON l.concurrency_key = k.key
    WHERE k.key IS NOT NULL AND COALESCE(p.paused_until, 0) <= @now
), heads AS (
    SELECT o.width, o.tokens, t.id, t.run_at, t.lease_until,
        SUM(CASE WHEN t.lease_until > @now THEN 1 ELSE 0 END) OVER (PARTITION BY o.key) AS running,
        ROW_NUMBER() OVER (PARTITION BY o.key, t.lease_until > @now ORDER BY t.run_at, t.id) AS place
    FROM open_keys o :heads
), picked AS MATERIALIZED (
    SELECT id FROM (
        SELECT id, running + place AS turn FROM heads WHERE lease_until <= @now AND running + place <= width
            AND place <= tokens
        UNION ALL
        SELECT id, ROW_NUMBER() OVER (ORDER BY run_at, id) AS turn FROM (:withoutKey) AS without_key
    ) AS candidates ORDER BY turn, :chance LIMIT @limit
)` + leaseSQL

// claimWithoutKeySQL claims of a class whose tasks have no keys, as most have. It is one index scan, where to start and
// to end claimSQL takes longer than to run it.
const claimWithoutKeySQL = `
WITH picked AS MATERIALIZED (
    SELECT id FROM (:withoutKey) AS without_key ORDER BY run_at, id LIMIT @limit
)` + leaseSQL

// withoutKeySQL are the first due tasks without a key.
const withoutKeySQL = `SELECT id, run_at FROM tasks WHERE class = @class AND concurrency_key = '' AND run_at <= @now
    AND lease_until <= @now:mine ORDER BY run_at, id LIMIT :most`

// leaseSQL leases what was picked.
const leaseSQL = `, due AS MATERIALIZED (
    SELECT id, concurrency_key FROM tasks WHERE id IN (SELECT id FROM picked) AND run_at <= @now
        AND lease_until <= @now:locked
):charge
UPDATE tasks SET lease_until = @until, token = token + 1, attempts = attempts + 1 WHERE id IN (SELECT id FROM due)
RETURNING id, kind, subject, creator_id, due_at, run_at, lease_until, token, attempts, concurrency_key,
    trace_parent`

// chargeSQL moves a key's rate on by what was claimed of it, step_ms for each task.
const chargeSQL = `UPDATE concurrency_limits SET spent_until =
    CASE WHEN spent_until > @now THEN spent_until ELSE CAST(@now AS BIGINT) END + step_ms * `

// headOf is the condition and order of a key's first due tasks.
const headOf = "FROM tasks WHERE class = @class AND concurrency_key = o.key AND run_at <= @now:mine ORDER BY run_at, " +
	"id LIMIT "

// leftToAnAdvance leaves out what waits of an account whose clock is held: the advance that holds it runs these tasks
// one after the other, in the order of account time, and a worker beside it would make two things that fall due
// together happen in either order, or have the advance wait for a receiver as long as a worker does.
const leftToAnAdvance = " AND (lease_until > @now OR NOT EXISTS (SELECT 1 FROM clock_offsets c WHERE c.creator_id = " +
	"tasks.creator_id AND c.held_until > @now))"

// lockedSQL leaves what a transaction is writing to the next claim.
const lockedSQL = " FOR UPDATE SKIP LOCKED"

func (d postgresDialect) claimSQL(limit int) string {
	return fillClaim(claimSQL, limit, "CROSS JOIN LATERAL (SELECT id, run_at, lease_until "+headOf+"o.width + "+
		strconv.Itoa(headSlack)+") t",
		// random() would do, but Citus refuses it in a statement that writes.
		"md5(id || CAST(@now AS TEXT))", lockedSQL,
		", charged AS ("+chargeSQL+`claimed.n
			FROM (SELECT concurrency_key, COUNT(*) AS n FROM due GROUP BY concurrency_key) AS claimed
			WHERE concurrency_limits.concurrency_key = claimed.concurrency_key AND step_ms > 0)`)
}

// claimSQL is without LATERAL, which would know the key's own limit, and without writing WITHs: SQLite has neither.
func (d sqliteDialect) claimSQL(limit int) string {
	return fillClaim(claimSQL, limit, "JOIN tasks t ON t.id IN (SELECT id "+headOf+strconv.Itoa(keyHead)+")", "random()",
		"", "")
}

// mostDue bounds how many due tasks of one key are counted.
const mostDue = 100_000

// dueSQL reads the due tasks key by key, as a claim does, so that its cost grows with what is due and not with what
// waits for its time: prepared plans expect a third of the table to be due and would scan it.
func (postgresDialect) dueSQL() string {
	return keysSQL() + ` SELECT t.* FROM keys CROSS JOIN LATERAL (
		SELECT id, kind, creator_id, concurrency_key, run_at, lease_until FROM tasks
		WHERE class = keys.class AND concurrency_key = keys.key AND run_at <= ? ORDER BY run_at, id
		LIMIT ` + strconv.Itoa(mostDue) + `
	) t`
}

func (sqliteDialect) dueSQL() string {
	return "SELECT id, kind, creator_id, concurrency_key, run_at, lease_until FROM tasks WHERE class IN (" +
		classNames(", ") + ") AND run_at <= ?"
}

// keysSQL names the concurrency keys of each class in keys, the empty one among them, by a loose index scan.
func keysSQL() string {
	return `WITH RECURSIVE keys(class, key) AS (
		SELECT column1, CAST('' AS TEXT) FROM (VALUES (` + classNames("), (") + `)) AS classes
		UNION ALL
		SELECT class, (SELECT MIN(t.concurrency_key) FROM tasks t WHERE t.class = keys.class AND t.concurrency_key > keys.key)
		FROM keys WHERE key IS NOT NULL
	)`
}

// nextDueSQL reads of each key the first task that nobody holds, and the end of the key's pause.
func nextDueSQL() string {
	return keysSQL() + ` SELECT MIN(CASE WHEN paused_until > run_at THEN paused_until ELSE run_at END) FROM (
		SELECT (SELECT t.run_at FROM tasks t WHERE t.class = keys.class AND t.concurrency_key = keys.key
				AND t.lease_until <= ? ORDER BY t.run_at, t.id LIMIT 1) AS run_at,
			(SELECT p.paused_until FROM concurrency_pauses p WHERE p.concurrency_key = keys.key) AS paused_until
		FROM keys WHERE key IS NOT NULL
	) AS heads`
}

// NextDue implements ports.TaskQueue.
func (s *Store) NextDue(ctx context.Context, now time.Time) (time.Time, bool, error) {
	var due sql.NullInt64
	if err := s.reader(ctx).Raw(nextDueSQL(), now.UnixMilli()).Scan(&due).Error; err != nil {
		return time.Time{}, false, fmt.Errorf("next due task: %w", err)
	}
	return time.UnixMilli(due.Int64).UTC(), due.Valid, nil
}

// classNames are the classes of tasks as SQL texts.
func classNames(between string) string {
	names := make([]string, 0, len(ports.TaskClasses()))
	for _, class := range ports.TaskClasses() {
		names = append(names, "'"+string(class)+"'")
	}
	return strings.Join(names, between)
}

func fillClaim(query string, limit int, heads, chance, locked, charge string) string {
	query = strings.NewReplacer(":heads", heads, ":withoutKey", withoutKeySQL, ":chance", chance).Replace(query)
	return strings.NewReplacer(":mine", leftToAnAdvance, ":locked", locked, ":charge", charge,
		":width", strconv.Itoa(ports.MaxPerKey), ":most", strconv.Itoa(roundUp(limit))).Replace(query)
}

// minMost is the least of what a claim reads of the tasks without a key.
const minMost = 64

// roundUp returns the power of two that is no lower than a limit, and at least minMost.
func roundUp(limit int) int {
	return max(minMost, 1<<bits.Len(uint(max(limit, 1)-1)))
}

// Claim implements ports.TaskQueue.
func (s *Store) Claim(ctx context.Context, class ports.TaskClass, now time.Time, lease time.Duration,
	limit int) ([]ports.Task, error) {
	args := map[string]any{
		"class": string(class), "now": now.UnixMilli(), "until": now.Add(lease).UnixMilli(), "limit": limit,
	}
	claim := s.claimAlone
	if s.engine.Pool != nil {
		claim = s.claimAsNeeded
	}
	rows, err := claim(ctx, limit, args)
	if err != nil {
		return nil, fmt.Errorf("claim tasks: %w", err)
	}
	sortByTurn(rows)
	claimed := make([]ports.Task, len(rows))
	for i, row := range rows {
		claimed[i] = row.task()
	}
	return claimed, nil
}

// sortByTurn orders claimed tasks as they are to begin: the first of each concurrency key, then the second of each. By
// their times alone a backlog's would all begin before a quiet key's only one.
func sortByTurn(rows []taskRow) {
	slices.SortFunc(rows, func(a, b taskRow) int {
		return cmp.Or(time.Time(a.RunAt).Compare(time.Time(b.RunAt)), strings.Compare(a.ID, b.ID))
	})
	ofKey, turns := map[string]int{}, map[string]int{}
	for _, row := range rows {
		ofKey[row.ConcurrencyKey]++
		turns[row.ID] = ofKey[row.ConcurrencyKey]
	}
	slices.SortStableFunc(rows, func(a, b taskRow) int { return cmp.Compare(turns[a.ID], turns[b.ID]) })
}

// keysFound remembers of which classes the last claim has found tasks with a concurrency key.
type keysFound map[ports.TaskClass]*atomic.Bool

func newKeysFound() keysFound {
	found := keysFound{}
	for _, class := range ports.TaskClasses() {
		found[class] = &atomic.Bool{}
	}
	return found
}

// claimAsNeeded claims by the keys where the class had tasks with one at the last claim, and otherwise without; where
// it turns out to have some now it claims again.
func (s *Store) claimAsNeeded(ctx context.Context, limit int, args map[string]any) ([]taskRow, error) {
	found := s.keysFound[ports.TaskClass(args["class"].(string))] //nolint:forcetypeassert,errcheck // Claim's
	if found.Load() {
		rows, keys, err := s.claimLocked(ctx, s.dialect.claimSQL(limit), args)
		found.Store(keys || err != nil)
		return rows, err
	}
	rows, keys, err := s.claimLocked(ctx, fillClaim(claimWithoutKeySQL, limit, "", "", lockedSQL, ""), args)
	if err != nil || !keys {
		return rows, err
	}
	found.Store(true)
	if args["limit"] = limit - len(rows); len(rows) < limit {
		more, _, err := s.claimLocked(ctx, s.dialect.claimSQL(limit), args)
		return append(rows, more...), err
	}
	return rows, nil
}

// anyKeySQL reports whether any task of a class has a concurrency key. It looks at the index from its end, as claimSQL
// does: EXISTS would read the table from the beginning where most tasks have one.
const anyKeySQL = "SELECT MAX(concurrency_key) IS NOT NULL FROM tasks WHERE class = $1 AND concurrency_key > ''"

// claimLocked lets one process at a time claim of a class, or two would fill a key twice. Lock and claim travel
// together: a process that is stopped in between holds nobody up. keys reports whether any task has a concurrency key.
func (s *Store) claimLocked(
	ctx context.Context, query string, args map[string]any,
) (rows []taskRow, keys bool, err error) {
	var batch pgx.Batch
	batch.Queue(strings.Replace(s.dialect.Lock(), "?", "$1", 1), s.dialect.LockNumber(fmt.Sprint("claim ", args["class"])))
	batch.Queue(anyKeySQL, args["class"]).QueryRow(func(row pgx.Row) error { return row.Scan(&keys) })
	batch.Queue(query, pgx.NamedArgs(args)).Query(func(found pgx.Rows) error {
		for found.Next() {
			var r taskRow
			err := found.Scan(&r.ID, &r.Kind, &r.Subject, &r.CreatorID, &r.DueAt, &r.RunAt, &r.LeaseUntil, &r.Token,
				&r.Attempts, &r.ConcurrencyKey, &r.TraceParent)
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
		return found.Err()
	})
	return rows, keys, s.engine.Pool.SendBatch(ctx, &batch).Close()
}

// claimAlone is the claim of SQLite's one writer.
func (s *Store) claimAlone(ctx context.Context, limit int, args map[string]any) (rows []taskRow, err error) {
	query := s.dialect.claimSQL(limit)
	claim := func(tx *gorm.DB) error {
		if err := tx.Raw(query, args).Scan(&rows).Error; err != nil {
			return err
		}
		perKey := map[string]int64{}
		for _, row := range rows {
			if row.ConcurrencyKey != "" {
				perKey[row.ConcurrencyKey]++
			}
		}
		for key, n := range perKey {
			args["key"], args["claimed"] = key, n
			charge := chargeSQL + "@claimed WHERE concurrency_key = @key AND step_ms > 0"
			if err := tx.Exec(charge, args).Error; err != nil {
				return err
			}
		}
		return nil
	}
	err = s.gate.do(ctx, func() error { return s.write.WithContext(ctx).Transaction(claim) })
	return rows, err
}
