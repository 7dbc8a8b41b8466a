package gormstore

import (
	"cmp"
	"context"
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

// taskWrites are changes of rows of tasks. They are made last and in the order of the ids, because an account's
// requests, its workers and its clock may all write the same tasks: in this order they cannot deadlock.
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
