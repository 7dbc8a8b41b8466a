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

type taskRow struct {
	ID             string `gorm:"primaryKey"`
	Kind           string
	Subject        string
	Class          ports.TaskClass
	CreatorID      string
	DueAt          repo.UnixMillis
	RunAt          repo.UnixMillis
	LeaseUntil     int64
	Token          int64
	Attempts       int
	LastError      string
	ConcurrencyKey string
	TraceParent    *string
}

// TableName implements gorm's tabler.
func (taskRow) TableName() string { return "tasks" }

func (r taskRow) task() ports.Task {
	var traceParent string
	if r.TraceParent != nil {
		traceParent = *r.TraceParent
	}
	return ports.Task{
		ID: r.ID, Kind: r.Kind, Subject: r.Subject, CreatorID: r.CreatorID, ConcurrencyKey: r.ConcurrencyKey,
		DueAt: time.Time(r.DueAt), LeaseUntil: time.UnixMilli(r.LeaseUntil).UTC(), Token: r.Token, Attempts: r.Attempts,
		TraceParent: traceParent,
	}
}

type tasks struct {
	*repo.Base
	clock     clockOffsets
	classOf   func(kind string) ports.TaskClass
	keyOf     func(kind, subject, creatorID string) string
	tracer    ports.Tracer // nil where nothing is traced
	scheduled *dueClasses
	// writes collects the transaction's changes of tasks, made right before its commit.
	writes *taskWrites
}

// dueClasses are the classes of which something is due after a transaction, some more than once.
type dueClasses []ports.TaskClass

func (d *dueClasses) add(classes ...ports.TaskClass) { *d = append(*d, classes...) }

// taskWrites are changes of rows of tasks. They are made last and in the order of the ids, because a task is what an
// account's requests, its workers and its clock all write: in this order they cannot wait for each other in a circle.
type taskWrites []taskWrite

// taskWrite is one of them: a row to insert, with what happens on a conflict, or anything else.
type taskWrite struct {
	id       string
	insert   *taskRow
	conflict string
	do       func() error // nil for a row to insert
	// cancels and finishes mark the two that delete a row.
	cancels, finishes bool
}

// replaces reports whether a task is the same after a write alone as after another and then this one.
func (w taskWrite) replaces(earlier taskWrite) bool {
	return w.id == earlier.id && (earlier.insert != nil || earlier.cancels) && (w.cancels || w.conflict == reschedule)
}

// repeats reports whether a write deletes what an earlier one has deleted.
func (w taskWrite) repeats(earlier taskWrite) bool {
	return w.id == earlier.id && w.cancels && earlier.finishes
}

// mostTogether bounds the rows of one INSERT, and so how many statements there are to prepare.
const mostTogether = 8

// joins reports whether a row can be inserted with some others. None may be met twice.
func (w taskWrite) joins(run []taskWrite) bool {
	last := run[len(run)-1]
	return len(run) < mostTogether && w.insert != nil && last.insert != nil && w.conflict == last.conflict &&
		w.id != last.id
}

// writeTogether makes changes that one statement can make.
func (t tasks) writeTogether(run []taskWrite) error {
	if run[0].do != nil {
		return run[0].do()
	}
	rows := make([]any, len(run))
	for i, write := range run {
		rows[i] = write.insert
	}
	return t.InsertRowsDeferred("schedule "+run[0].id, rows, run[0].conflict)
}

// flush makes all changes. Those of one task keep their order, without those that make no difference.
func (t tasks) flush() error {
	writes := *t.writes
	slices.SortStableFunc(writes, func(a, b taskWrite) int { return strings.Compare(a.id, b.id) })
	last := writes[:0]
	for _, write := range writes {
		switch n := len(last); {
		case n > 0 && write.repeats(last[n-1]):
		case n > 0 && write.replaces(last[n-1]):
			last[n-1] = write
		default:
			last = append(last, write)
		}
	}
	return repo.WriteRuns(last, taskWrite.joins, t.writeTogether)
}

// atCommit makes a change of a task's row right before the commit, or now outside of a transaction.
func (t tasks) atCommit(write taskWrite) error {
	if t.AtCommit == nil {
		return t.writeTogether([]taskWrite{write})
	}
	*t.writes = append(*t.writes, write)
	t.AtCommit(commitTasks, t.flush)
	return nil
}

// realTime turns account time into real time, and notes whether the workers should poll some classes at once.
func (t tasks) realTime(creatorID string, due time.Time, classes ...ports.TaskClass) (repo.UnixMillis, error) {
	offset, err := t.clock.of(creatorID)
	if err != nil {
		return repo.UnixMillis{}, err
	}
	runAt := due.Add(-offset)
	if isSoon(runAt) {
		t.scheduled.add(classes...)
	}
	return repo.UnixMillis(runAt), nil
}

// isSoon reports whether the workers are woken for a task that is due at a real time: they would find it late.
func isSoon(runAt time.Time) bool { return time.Until(runAt) <= ports.TaskPollInterval }

// reschedule moves a task that is waiting or running, and fences the run.
const reschedule = `ON CONFLICT (id) DO UPDATE SET class = excluded.class, concurrency_key = excluded.concurrency_key,
	due_at = excluded.due_at, run_at = excluded.run_at,
	lease_until = 0, attempts = 0, last_error = '', trace_parent = excluded.trace_parent, token = tasks.token + 1`

// Schedule implements ports.Tasks.
func (t tasks) Schedule(ctx context.Context, kind, subject, creatorID string, due time.Time) error {
	return t.insertTask(ctx, kind, subject, creatorID, due, reschedule)
}

// newToken returns the token of a new row. It is not one that an earlier row of the task had, whose run may still be
// under way: tokens rise by one for each claim, and time by more.
func newToken() int64 { return time.Now().UnixMicro() }

// Ensure implements ports.Tasks.
func (t tasks) Ensure(ctx context.Context, kind, subject, creatorID string, due time.Time) error {
	return t.insertTask(ctx, kind, subject, creatorID, due, "ON CONFLICT (id) DO NOTHING")
}

func (t tasks) insertTask(ctx context.Context, kind, subject, creatorID string, due time.Time,
	conflict string) error {
	class := t.classOf(kind)
	runAt, err := t.realTime(creatorID, due, class)
	if err != nil {
		return err
	}
	row := taskRow{
		ID: kind + ":" + subject, Kind: kind, Subject: subject, Class: class, CreatorID: creatorID,
		DueAt: repo.UnixMillis(due), RunAt: runAt, Token: newToken(), ConcurrencyKey: t.keyOf(kind, subject, creatorID),
		TraceParent: t.traceParent(ctx, time.Time(runAt)),
	}
	return t.atCommit(taskWrite{id: row.ID, insert: &row, conflict: conflict})
}

// traceHorizon limits how far ahead a task may be due that belongs to the trace of what schedules it. What a
// subscription does next month is no part of its sale.
const traceHorizon = time.Hour

// traceParent names the trace that a task continues; nil for none.
func (t tasks) traceParent(ctx context.Context, runAt time.Time) *string {
	if t.tracer == nil || time.Until(runAt) > traceHorizon {
		return nil
	}
	if parent := t.tracer.TraceParent(ctx); parent != "" {
		return &parent
	}
	return nil
}

// Cancel implements ports.Tasks.
func (t tasks) Cancel(_ context.Context, kind, subject string) error {
	id := kind + ":" + subject
	return t.atCommit(taskWrite{id: id, cancels: true, do: func() error {
		return t.ExecDeferred("cancel "+kind, "DELETE FROM tasks WHERE id = ?", id)
	}})
}

// fence refuses a run that is no longer the task's. The write that follows at the commit refuses it for certain; this
// spares the work until then. In a pipeline it goes with the next statement that is waited for, if there is one.
func (t tasks) fence(task ports.Task) error {
	if tx, ok := current(t.DB.Statement.Context); ok && tx.pipeline != nil {
		tx.pipeline.begin().fence = &statement{
			op: "finish " + task.ID, sql: "SELECT 1 / COUNT(*) FROM tasks WHERE id = $1 AND token = $2",
			args:        []any{task.ID, task.Token},
			errIfNoRows: ports.ErrFenced,
		}
		return nil
	}
	var current bool
	err := t.DB.Raw("SELECT COUNT(*) > 0 FROM tasks WHERE id = ? AND token = ?", task.ID, task.Token).Scan(&current).Error
	if err == nil && !current {
		err = ports.ErrFenced
	}
	return t.Failure("finish "+task.ID, err)
}

// Done implements ports.Tasks.
func (t tasks) Done(_ context.Context, task ports.Task) error {
	if err := t.fence(task); err != nil {
		return err
	}
	return t.atCommit(taskWrite{id: task.ID, finishes: true, do: func() error {
		return t.ExecChanged("finish "+task.ID, ports.ErrFenced, "DELETE FROM tasks WHERE id = ? AND token = ?", task.ID,
			task.Token)
	}})
}

// Postpone implements ports.Tasks.
func (t tasks) Postpone(_ context.Context, task ports.Task, due time.Time) error {
	if err := t.fence(task); err != nil {
		return err
	}
	runAt, err := t.realTime(task.CreatorID, due, t.classOf(task.Kind))
	if err != nil {
		return err
	}
	return t.atCommit(taskWrite{id: task.ID, do: func() error {
		return t.ExecChanged("postpone "+task.ID, ports.ErrFenced,
			"UPDATE tasks SET due_at = ?, run_at = ?, lease_until = 0, attempts = 0, last_error = '', token = token + 1 WHERE "+
				"id = ? AND token = ?",
			repo.UnixMillis(due), runAt, task.ID, task.Token)
	}})
}

// ResumeKey implements ports.Tasks.
func (t tasks) ResumeKey(_ context.Context, key string) error {
	t.scheduled.add(ports.TaskClasses()...)
	return t.Exec("resume "+key, "DELETE FROM concurrency_pauses WHERE concurrency_key = ?", key)
}

// PauseKey implements ports.Tasks.
func (t tasks) PauseKey(_ context.Context, key, creatorID string, until time.Time) error {
	realUntil, err := t.realTime(creatorID, until, ports.TaskClasses()...)
	if err != nil {
		return err
	}
	return t.Exec("pause "+key, `INSERT INTO concurrency_pauses (concurrency_key, creator_id, paused_until, due_until)
		VALUES (?, ?, ?, ?)
		ON CONFLICT (concurrency_key) DO UPDATE SET paused_until = excluded.paused_until, due_until = excluded.due_until`,
		key, creatorID, realUntil, repo.UnixMillis(until))
}

// LimitKey implements ports.Tasks. The rate is kept as the time that one task uses up of it, rounded up: a key is never
// faster than it may be.
func (t tasks) LimitKey(_ context.Context, key string, limit ports.KeyLimit) error {
	if limit == (ports.KeyLimit{}) {
		return t.Exec("limit "+key, "DELETE FROM concurrency_limits WHERE concurrency_key = ?", key)
	}
	step := 0
	if limit.PerSecond > 0 {
		step = (1000 + limit.PerSecond - 1) / limit.PerSecond
	}
	return t.Exec("limit "+key, `INSERT INTO concurrency_limits (concurrency_key, max_running, step_ms) VALUES (?, ?, ?)
		ON CONFLICT (concurrency_key) DO UPDATE SET max_running = excluded.max_running, step_ms = excluded.step_ms`,
		key, cmp.Or(limit.MaxRunning, ports.MaxPerKey), step)
}

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
	locked, err := (&repo.Base{DB: s.reader(ctx), Dialect: s.dialect}).QueryIDs("find tasks to re-time", misTimed,
		creatorID,
		soonest, offset)
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
	keys, err := (&repo.Base{DB: s.reader(ctx), Dialect: s.dialect}).QueryIDs("find pauses to re-time",
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
