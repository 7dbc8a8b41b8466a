package gormstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"sundry/ports"
)

// A claim looks at no more than a lane's first few due tasks, so it costs the same however much waits behind them: those
// that are leased already stand among these, because a lane is claimed from its head.
const laneHead = 4 * ports.LaneWidth

// rateStep is how much of its time one task uses up of a lane's rate, in ms.
const rateStep = int64(time.Second/time.Millisecond) / ports.LaneRate

// claimSQL picks what is due: @class, @now, and @until, the end of the lease. It hops from lane to lane through the index,
// takes from each what its width and its rate leave, and mixes the lanes by how much each has already: the first of a
// quiet one goes before the second of a busy one. The rows are then locked in a step of their own, so that PostgreSQL
// neither plans for a third of the table nor locks more than is claimed.
const claimSQL = `
WITH RECURSIVE lanes(lane) AS (
    SELECT MIN(lane) FROM tasks WHERE class = @class AND lane > ''
    UNION ALL
    SELECT (SELECT MIN(t.lane) FROM tasks t WHERE t.class = @class AND t.lane > lanes.lane) FROM lanes WHERE lanes.lane IS NOT NULL
), open_lanes AS (
    SELECT l.lane, CASE WHEN h.lane IS NULL THEN :width ELSE 1 END AS width,
        (CAST(@now AS BIGINT) + 1000 - CASE WHEN r.spent_until > @now THEN r.spent_until ELSE @now END) / :step AS tokens
    FROM lanes l LEFT JOIN lane_holds h ON h.lane = l.lane LEFT JOIN lane_rates r ON r.lane = l.lane
    WHERE l.lane IS NOT NULL AND COALESCE(h.held_until, 0) <= @now
), heads AS (
    SELECT o.width, o.tokens, t.id, t.run_at, t.lease_until,
        SUM(CASE WHEN t.lease_until > @now THEN 1 ELSE 0 END) OVER (PARTITION BY o.lane) AS running,
        ROW_NUMBER() OVER (PARTITION BY o.lane, t.lease_until > @now ORDER BY t.run_at, t.id) AS place
    FROM open_lanes o :heads
), picked AS MATERIALIZED (
    SELECT id FROM (
        SELECT id, run_at, running + place AS turn FROM heads WHERE lease_until <= @now AND running + place <= width AND place <= tokens
        UNION ALL
        SELECT id, run_at, ROW_NUMBER() OVER (ORDER BY run_at, id) AS turn FROM (
            SELECT id, run_at FROM tasks WHERE class = @class AND lane = '' AND run_at <= @now AND lease_until <= @now ORDER BY run_at, id LIMIT :limit
        ) AS without_lane
    ) AS candidates ORDER BY turn, run_at LIMIT :limit
), due AS MATERIALIZED (
    SELECT id, lane FROM tasks WHERE id IN (SELECT id FROM picked) AND run_at <= @now AND lease_until <= @now:locked
):charge
UPDATE tasks SET lease_until = @until, token = token + 1, attempts = attempts + 1 WHERE id IN (SELECT id FROM due)
RETURNING id, kind, subject, creator_id, due_at, run_at, lease_until, token, attempts, lane`

// chargeSQL moves a lane's rate on by the given time.
const chargeSQL = ` ON CONFLICT (lane) DO UPDATE SET spent_until =
    CASE WHEN r.spent_until > @now THEN r.spent_until ELSE @now END + excluded.spent_until - @now`

// headOf is the condition and order of a lane's first due tasks.
var headOf = "FROM tasks WHERE class = @class AND lane = o.lane AND run_at <= @now ORDER BY run_at, id LIMIT " + strconv.Itoa(laneHead)

func (d postgresDialect) claim(limit int) string {
	return fillClaim(limit, "CROSS JOIN LATERAL (SELECT id, run_at, lease_until "+headOf+") t", " FOR UPDATE SKIP LOCKED",
		", charged AS (INSERT INTO lane_rates AS r (lane, spent_until) SELECT lane, @now + :step * COUNT(*) FROM due WHERE lane > '' GROUP BY lane"+chargeSQL+")")
}

// claim is without LATERAL and without writing WITHs, which SQLite does not know.
func (d sqliteDialect) claim(limit int) string {
	return fillClaim(limit, "JOIN tasks t ON t.id IN (SELECT id "+headOf+")", "", "")
}

func fillClaim(limit int, heads, locked, charge string) string {
	return strings.NewReplacer(":heads", heads, ":locked", locked, ":charge", strings.ReplaceAll(charge, ":step", strconv.FormatInt(rateStep, 10)),
		":width", strconv.Itoa(ports.LaneWidth), ":step", strconv.FormatInt(rateStep, 10), ":limit", strconv.Itoa(limit)).Replace(claimSQL)
}

// Claim implements ports.TaskQueue.
func (s *Store) Claim(ctx context.Context, class ports.TaskClass, now time.Time, lease time.Duration, limit int) ([]ports.Task, error) {
	query := s.dialect.claim(limit)
	args := map[string]any{"class": string(class), "now": now.UnixMilli(), "until": now.Add(lease).UnixMilli()}
	claim := s.claimAlone
	if s.pool != nil {
		claim = s.claimInTurn
	}
	rows, err := claim(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("claim tasks: %w", err)
	}
	slices.SortFunc(rows, func(a, b taskRow) int {
		return cmp.Or(time.Time(a.RunAt).Compare(time.Time(b.RunAt)), strings.Compare(a.ID, b.ID))
	})
	claimed := make([]ports.Task, len(rows))
	for i, row := range rows {
		claimed[i] = row.task()
	}
	return claimed, nil
}

// claimInTurn lets one process at a time claim of a class, or two would fill a lane twice. Lock and claim travel together:
// a process that is stopped in between holds nobody up.
func (s *Store) claimInTurn(ctx context.Context, query string, args map[string]any) ([]taskRow, error) {
	var batch pgx.Batch
	batch.Queue(strings.Replace(s.dialect.lock(), "?", "$1", 1), s.dialect.lockNumber(fmt.Sprint("claim ", args["class"])))
	batch.Queue(query, pgx.NamedArgs(args))
	results := s.pool.SendBatch(ctx, &batch)
	defer func() { _ = results.Close() }() // an error of it came out of the reading already
	if _, err := results.Exec(); err != nil {
		return nil, err
	}
	found, err := results.Query()
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (r taskRow, err error) {
		err = row.Scan(&r.ID, &r.Kind, &r.Subject, &r.CreatorID, &r.DueAt, &r.RunAt, &r.LeaseUntil, &r.Token, &r.Attempts, &r.Lane)
		return r, err
	})
}

// claimAlone is the claim of SQLite's one writer.
func (s *Store) claimAlone(ctx context.Context, query string, args map[string]any) (rows []taskRow, err error) {
	err = s.write.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Raw(query, args).Scan(&rows).Error; err != nil {
			return err
		}
		lanes := map[string]int64{}
		for _, row := range rows {
			if row.Lane != "" {
				lanes[row.Lane]++
			}
		}
		for lane, n := range lanes {
			args["lane"], args["spent"] = lane, n*rateStep
			if err := tx.Exec("INSERT INTO lane_rates AS r (lane, spent_until) VALUES (@lane, @now + @spent)"+chargeSQL, args).Error; err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}
