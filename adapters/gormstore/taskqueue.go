package gormstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

var _ ports.TaskQueue = (*Store)(nil)

// writeTask runs one write of a worker.
func (s *Store) writeTask(ctx context.Context, write func(b *repo.Base) error) error {
	return s.gate.do(ctx, func() error { return write(&repo.Base{DB: s.write.WithContext(ctx), Dialect: s.dialect}) })
}

// nextSQL is the first of an account's tasks by the account's clock: one that nothing keeps back at its own time, one
// behind a pause at the pause's end.
const nextSQL = `
SELECT * FROM (
    SELECT t.*, t.due_at AS turn FROM tasks t
    WHERE t.creator_id = @creator AND t.due_at <= @until AND (t.last_error = '' OR t.run_at <= @now)
        AND NOT EXISTS (SELECT 1 FROM concurrency_pauses p WHERE p.concurrency_key = t.concurrency_key
        AND p.due_until > t.due_at)
    ORDER BY t.due_at, t.id LIMIT 1
) AS free
UNION ALL
SELECT * FROM (
    SELECT t.*, p.due_until AS turn FROM concurrency_pauses p JOIN tasks t ON t.concurrency_key = p.concurrency_key
        AND t.creator_id = p.creator_id
    WHERE p.creator_id = @creator AND p.due_until <= @until AND t.due_at < p.due_until AND (t.last_error = ''
        OR t.run_at <= @now)
    ORDER BY p.due_until, t.due_at, t.id LIMIT 1
) AS paused
ORDER BY turn, due_at, id LIMIT 1`

// nextTask is a task and the time of the account at which it runs.
type nextTask struct {
	Task taskRow `gorm:"embedded"`
	Turn repo.UnixMillis
}

// ClaimNext implements ports.TaskQueue.
func (s *Store) ClaimNext(ctx context.Context, creatorID string, now, until time.Time,
	lease time.Duration) (task ports.Task, ok bool, err error) {
	err = s.writeTask(ctx, func(t *repo.Base) error {
		var found []nextTask
		args := map[string]any{"creator": creatorID, "until": until.UnixMilli(), "now": now.UnixMilli()}
		if err := t.DB.Raw(repo.WithColumns[taskRow](t, nextSQL), args).Scan(&found).Error; err != nil {
			return t.Failure("next task of "+creatorID, err)
		}
		if len(found) == 0 {
			return ports.ErrNotFound
		}
		next := found[0].Task
		var rows []taskRow
		err := t.DB.Raw(
			repo.WithColumns[taskRow](t, "UPDATE tasks SET lease_until = ?, token = token + 1, attempts = attempts + 1 "+
				"WHERE id = ? AND token = ? AND lease_until <= ? RETURNING *"),
			now.Add(lease).UnixMilli(), next.ID, next.Token, now.UnixMilli()).Scan(&rows).Error
		if ok = len(rows) > 0; ok {
			next = rows[0]
		}
		next.DueAt = found[0].Turn
		task = next.task()
		return t.Failure("claim "+next.ID, err)
	})
	if err != nil {
		return ports.Task{}, false, err
	}
	return task, ok, nil
}

// alongSQL claims the tasks of a kind up to the account's next task of another kind. PostgreSQL locks them first, so
// that it waits for no other worker.
const alongSQL = `
UPDATE tasks SET lease_until = @lease, token = token + 1, attempts = attempts + 1 WHERE id IN (
    SELECT t.id FROM tasks t
    WHERE t.creator_id = @creator AND t.kind = @kind AND t.due_at <= @until AND t.lease_until <= @now
        AND (t.last_error = '' OR t.run_at <= @now)
        AND NOT EXISTS (SELECT 1 FROM concurrency_pauses p WHERE p.concurrency_key = t.concurrency_key)
        AND NOT EXISTS (SELECT 1 FROM tasks o WHERE o.creator_id = @creator AND o.kind <> @kind
            AND o.due_at < t.due_at AND o.due_at <= @until AND (o.last_error = '' OR o.run_at <= @now))
    ORDER BY t.due_at, t.id LIMIT @limit:locked
) RETURNING *`

// ClaimAlong implements ports.TaskQueue.
func (s *Store) ClaimAlong(ctx context.Context, creatorID, kind string, now, until time.Time, lease time.Duration,
	limit int) (claimed []ports.Task, err error) {
	query := strings.Replace(alongSQL, ":locked", s.dialect.skipLocked(), 1)
	err = s.writeTask(ctx, func(t *repo.Base) error {
		var rows []taskRow
		err := t.DB.Raw(repo.WithColumns[taskRow](t, query), map[string]any{
			"creator": creatorID, "kind": kind, "until": until.UnixMilli(), "now": now.UnixMilli(),
			"lease": now.Add(lease).UnixMilli(), "limit": limit,
		}).Scan(&rows).Error
		slices.SortFunc(rows, func(a, b taskRow) int {
			return cmp.Or(time.Time(a.DueAt).Compare(time.Time(b.DueAt)), cmp.Compare(a.ID, b.ID))
		})
		claimed = make([]ports.Task, len(rows))
		for i, row := range rows {
			claimed[i] = row.task()
		}
		return t.Failure("claim tasks of "+creatorID, err)
	})
	return claimed, err
}

// Load implements ports.TaskQueue.
func (s *Store) Load(ctx context.Context, id string, token int64, until time.Time) (task ports.Task, err error) {
	err = s.writeTask(ctx, func(t *repo.Base) error {
		row, err := repo.TakeOne[taskRow](t, "load task "+id, "id = ? AND token = ?", id, token)
		switch {
		case repo.IsNotFound(err):
			return fmt.Errorf("load task %s: %w", id, ports.ErrFenced)
		case err != nil:
			return err
		case row.LeaseUntil < until.UnixMilli():
			row.LeaseUntil = until.UnixMilli()
			extended := t.DB.Exec("UPDATE tasks SET lease_until = ? WHERE id = ? AND token = ?", row.LeaseUntil, id, token)
			err = t.Changed("extend lease of "+id, extended, ports.ErrFenced)
		}
		task = row.task()
		return err
	})
	return task, err
}

// Fail implements ports.TaskQueue. due_at stays: an account's tasks keep their order.
func (s *Store) Fail(ctx context.Context, task ports.Task, reason string, again time.Time) error {
	err := s.writeTask(ctx, func(t *repo.Base) error {
		return t.Changed("record failure of "+task.ID, t.DB.Exec(
			"UPDATE tasks SET run_at = ?, lease_until = 0, last_error = ?, token = token + 1 WHERE id = ? AND token = ?",
			repo.UnixMillis(again), repo.SanitizeText(reason, 500), task.ID, task.Token), ports.ErrFenced)
	})
	if err == nil && isSoon(again) {
		s.wake(s.classOf(task.Kind))
	}
	return err
}

// Release implements ports.TaskQueue.
func (s *Store) Release(ctx context.Context, task ports.Task) error {
	err := s.writeTask(ctx, func(t *repo.Base) error {
		return t.Changed("release "+task.ID, t.DB.Exec(
			"UPDATE tasks SET lease_until = 0, attempts = attempts - 1, token = token + 1 WHERE id = ? AND token = ?", task.ID,
			task.Token), ports.ErrFenced)
	})
	if err == nil {
		s.wake(s.classOf(task.Kind))
	}
	return err
}

// retimeAhead bounds the tasks that are re-timed, as a lead over the accounts' clocks. It is longer than the pause
// between two sweeps. It is bounded so that an advance does not rewrite tasks due in months.
const retimeAhead = 5 * time.Minute

// misTimed are the tasks of an account that fall due soon and whose real time does not fit its clock. One that failed
// keeps its own time to try again.
const misTimed = "SELECT t.id FROM tasks t WHERE t.creator_id = ? AND t.due_at <= ? AND t.last_error = '' AND " +
	"t.run_at <> t.due_at - ?"

// Retime implements ports.TaskQueue.
func (s *Store) Retime(ctx context.Context, creatorID string) error {
	var clocks []struct {
		CreatorID string
		OffsetMs  int64
	}
	query := s.reader(ctx).Table("clock_offsets").Select("creator_id, offset_ms").Where("offset_ms > 0")
	if creatorID != "" {
		query = query.Where("creator_id = ?", creatorID)
	}
	if err := query.Scan(&clocks).Error; err != nil {
		return fmt.Errorf("re-time tasks: %w", err)
	}
	moved := false
	for _, clock := range clocks {
		some, err := s.retimeAccount(ctx, clock.CreatorID, clock.OffsetMs)
		if err != nil {
			return err
		}
		moved = moved || some
	}
	if moved {
		s.wake()
	}
	return nil
}

// retimeAccount is Retime for one account. A row that a transaction is writing is waited for alone, with nothing else
// locked.
func (s *Store) retimeAccount(ctx context.Context, creatorID string, offset int64) (moved bool, err error) {
	const retime = "UPDATE tasks SET run_at = due_at - ? WHERE id IN "
	soonest := time.Now().Add(retimeAhead).UnixMilli() + offset
	err = s.writeTask(ctx, func(t *repo.Base) error {
		free := t.DB.Exec(retime+"("+misTimed+s.dialect.skipLocked()+")", offset, creatorID, soonest, offset)
		moved = free.RowsAffected > 0
		return t.Failure("re-time tasks", free.Error)
	})
	if err != nil {
		return moved, err
	}
	locked, err := s.base(ctx).QueryIDs("find tasks to re-time", misTimed, creatorID, soonest, offset)
	if err != nil {
		return moved, err
	}
	for _, id := range locked {
		err := s.writeTask(ctx, func(t *repo.Base) error {
			return t.Exec("re-time "+id, retime+"(?) AND last_error = ''", offset, id)
		})
		if err != nil {
			return moved, err
		}
	}
	pauses, err := s.retimePauses(ctx, creatorID, offset)
	return moved || len(locked) > 0 || pauses, err
}

// retimePauses is Retime for the pauses of an account's keys: one that its clock has passed keeps no task back.
func (s *Store) retimePauses(ctx context.Context, creatorID string, offset int64) (moved bool, err error) {
	const misTimed = "creator_id = ? AND paused_until <> due_until - ?"
	keys, err := s.base(ctx).QueryIDs("find pauses to re-time",
		"SELECT concurrency_key FROM concurrency_pauses WHERE "+misTimed, creatorID, offset)
	for _, key := range keys {
		err := s.writeTask(ctx, func(t *repo.Base) error {
			return t.Exec("re-time the pause of "+key,
				"UPDATE concurrency_pauses SET paused_until = due_until - ? WHERE concurrency_key = ? AND "+misTimed, offset, key,
				creatorID, offset)
		})
		if err != nil {
			return moved, err
		}
		moved = true
	}
	return moved, err
}

// Backlog implements ports.TaskQueue.
func (s *Store) Backlog(ctx context.Context, now time.Time) ([]ports.TaskBacklog, error) {
	var rows []struct {
		Kind   string
		Due    int64
		Paused int64
		Oldest repo.UnixMillis
	}
	err := s.reader(ctx).Raw(
		"SELECT kind, COUNT(*) - COUNT(p.concurrency_key) AS due, COUNT(p.concurrency_key) AS paused, "+
			"MIN(CASE WHEN p.concurrency_key IS NULL THEN run_at END) AS oldest "+
			"FROM ("+s.dialect.dueSQL()+") AS due LEFT JOIN concurrency_pauses p ON p.concurrency_key = due.concurrency_key "+
			"AND p.paused_until > ? "+
			"GROUP BY kind ORDER BY kind",
		repo.UnixMillis(now), now.UnixMilli()).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("count tasks: %w", err)
	}
	backlog := make([]ports.TaskBacklog, len(rows))
	for i, row := range rows {
		backlog[i] = ports.TaskBacklog{Kind: row.Kind, Due: row.Due, Paused: row.Paused, Oldest: time.Time(row.Oldest)}
	}
	return backlog, nil
}
