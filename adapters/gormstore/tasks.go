package gormstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"sundry/ports"
)

type taskRow struct {
	ID         string `gorm:"primaryKey"`
	Kind       string
	Subject    string
	Class      ports.TaskClass
	CreatorID  string
	DueAt      millis
	RunAt      millis
	LeaseUntil int64
	Token      int64
	Attempts   int
	LastError  string
	Lane       string
}

// TableName implements gorm's tabler.
func (taskRow) TableName() string { return "tasks" }

func (r taskRow) task() ports.Task {
	return ports.Task{
		ID: r.ID, Kind: r.Kind, Subject: r.Subject, CreatorID: r.CreatorID, Lane: r.Lane,
		DueAt: time.Time(r.DueAt), LeaseUntil: time.UnixMilli(r.LeaseUntil).UTC(), Token: r.Token, Attempts: r.Attempts,
	}
}

// soon is how near a task must be due for its scheduling to wake the workers; later ones are found by their own looks.
const soon = time.Second

type tasks struct {
	table
	classOf   func(kind string) ports.TaskClass
	laneOf    func(kind, subject string) string
	scheduled *bool
}

// offsetOf is how far the account's clock runs ahead; it turns account time into real time. An advance that commits
// between this and the writing of run_at is made good by Retime.
func offsetOf(db *gorm.DB, creatorID string) (time.Duration, error) {
	if creatorID == "" {
		return 0, nil
	}
	tx, _ := current(db.Statement.Context)
	if offset, known := tx.offsets[creatorID]; known {
		return offset, nil
	}
	var ms int64
	query := offsetQuery(creatorID, &ms)
	if err := scan(db.Raw(query.sql, query.args...), query.into...); err != nil {
		return 0, err
	}
	return rememberOffset(db, creatorID, ms), nil
}

func offsetQuery(creatorID string, into *int64) rowQuery {
	return rowQuery{
		sql: "SELECT COALESCE(MAX(offset_ms), 0) FROM clock_offsets WHERE creator_id = ?", args: []any{creatorID}, into: []any{into},
	}
}

// rememberOffset keeps an offset for the rest of the transaction.
func rememberOffset(db *gorm.DB, creatorID string, ms int64) time.Duration {
	offset := time.Duration(ms) * time.Millisecond
	if tx, ok := current(db.Statement.Context); ok {
		tx.offsets[creatorID] = offset
	}
	return offset
}

// realTime turns account time into real time, and notes whether the workers should look at once.
func (t tasks) realTime(creatorID string, due time.Time) (millis, error) {
	offset, err := offsetOf(t.db, creatorID)
	if err != nil {
		return millis{}, t.failure("read clock offset", err)
	}
	runAt := due.Add(-offset)
	if time.Until(runAt) <= soon {
		*t.scheduled = true
	}
	return millis(runAt), nil
}

// scheduleAnew moves a task that is waiting or running, and fences whoever runs it.
const scheduleAnew = `ON CONFLICT (id) DO UPDATE SET class = excluded.class, lane = excluded.lane, due_at = excluded.due_at, run_at = excluded.run_at,
	lease_until = 0, attempts = 0, last_error = '', token = tasks.token + 1`

// Schedule implements ports.Tasks.
func (t tasks) Schedule(_ context.Context, kind, subject, creatorID string, due time.Time) error {
	return t.insertTask(kind, subject, creatorID, due, scheduleAnew)
}

// Ensure implements ports.Tasks.
func (t tasks) Ensure(_ context.Context, kind, subject, creatorID string, due time.Time) error {
	return t.insertTask(kind, subject, creatorID, due, "ON CONFLICT (id) DO NOTHING")
}

func (t tasks) insertTask(kind, subject, creatorID string, due time.Time, conflict string) error {
	runAt, err := t.realTime(creatorID, due)
	if err != nil {
		return err
	}
	row := taskRow{
		ID: kind + ":" + subject, Kind: kind, Subject: subject, Class: t.classOf(kind), CreatorID: creatorID,
		DueAt: millis(due), RunAt: runAt, Token: 1, Lane: t.laneOf(kind, subject),
	}
	return t.put("schedule "+row.ID, &row, conflict)
}

// Cancel implements ports.Tasks.
func (t tasks) Cancel(_ context.Context, kind, subject string) error {
	return t.exec("cancel "+kind, "DELETE FROM tasks WHERE id = ?", kind+":"+subject)
}

// Done implements ports.Tasks.
func (t tasks) Done(_ context.Context, task ports.Task) error {
	return t.fenced("finish "+task.ID, t.db.Exec("DELETE FROM tasks WHERE id = ? AND token = ?", task.ID, task.Token))
}

// Postpone implements ports.Tasks.
func (t tasks) Postpone(_ context.Context, task ports.Task, due time.Time) error {
	runAt, err := t.realTime(task.CreatorID, due)
	if err != nil {
		return err
	}
	return t.fenced("postpone "+task.ID, t.db.Exec(
		"UPDATE tasks SET due_at = ?, run_at = ?, lease_until = 0, attempts = 0, last_error = '', token = token + 1 WHERE id = ? AND token = ?",
		millis(due), runAt, task.ID, task.Token))
}

// Hold implements ports.Tasks.
func (t tasks) Hold(_ context.Context, lane, creatorID string, until time.Time) error {
	if until.IsZero() {
		*t.scheduled = true
		return t.failure("let go of "+lane, t.db.Exec("DELETE FROM lane_holds WHERE lane = ?", lane).Error)
	}
	realUntil, err := t.realTime(creatorID, until)
	if err != nil {
		return err
	}
	err = t.db.Exec("INSERT INTO lane_holds (lane, held_until) VALUES (?, ?) ON CONFLICT (lane) DO UPDATE SET held_until = excluded.held_until",
		lane, realUntil).Error
	return t.failure("hold "+lane, err)
}

// fenced makes ErrFenced of a write that met no row with the run's token.
func (t table) fenced(doing string, res *gorm.DB) error {
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("%s: %w", doing, ports.ErrFenced)
	}
	return t.failure(doing, res.Error)
}

var _ ports.TaskQueue = (*Store)(nil)

func (s *Store) queue(ctx context.Context) table {
	return table{db: s.write.WithContext(ctx), dialect: s.dialect}
}

// ClaimNext implements ports.TaskQueue.
func (s *Store) ClaimNext(ctx context.Context, creatorID string, now, until time.Time, lease time.Duration) (ports.Task, bool, error) {
	db := s.write.WithContext(ctx)
	next, err := first[taskRow](table{db: db.Order("due_at, id"), dialect: s.dialect}, "next task of "+creatorID,
		"creator_id = ? AND due_at <= ? AND (last_error = '' OR run_at <= ?)", creatorID, millis(until), millis(now))
	if err != nil {
		return ports.Task{}, false, err
	}
	var rows []taskRow
	err = db.Raw(
		"UPDATE tasks SET lease_until = ?, token = token + 1, attempts = attempts + 1 WHERE id = ? AND token = ? AND lease_until <= ? RETURNING *",
		now.Add(lease).UnixMilli(), next.ID, next.Token, now.UnixMilli()).Scan(&rows).Error
	if err != nil {
		return ports.Task{}, false, fmt.Errorf("claim %s: %w", next.ID, err)
	}
	if len(rows) == 0 {
		return next.task(), false, nil
	}
	return rows[0].task(), true, nil
}

// Load implements ports.TaskQueue.
func (s *Store) Load(ctx context.Context, id string, token int64, until time.Time) (ports.Task, error) {
	t := s.queue(ctx)
	row, err := first[taskRow](t, "load task "+id, "id = ? AND token = ?", id, token)
	switch {
	case isNotFound(err):
		return ports.Task{}, fmt.Errorf("load task %s: %w", id, ports.ErrFenced)
	case err != nil:
		return ports.Task{}, err
	case row.LeaseUntil < until.UnixMilli():
		row.LeaseUntil = until.UnixMilli()
		err = t.fenced("prolong lease of "+id, t.db.Exec("UPDATE tasks SET lease_until = ? WHERE id = ? AND token = ?", row.LeaseUntil, id, token))
	}
	return row.task(), err
}

// Fail implements ports.TaskQueue. due_at stays: an account's tasks keep their order.
func (s *Store) Fail(ctx context.Context, task ports.Task, reason string, again time.Time) error {
	t := s.queue(ctx)
	return t.fenced("record failure of "+task.ID, t.db.Exec(
		"UPDATE tasks SET run_at = ?, lease_until = 0, last_error = ?, token = token + 1 WHERE id = ? AND token = ?",
		millis(again), storable(reason, 500), task.ID, task.Token))
}

// Release implements ports.TaskQueue.
func (s *Store) Release(ctx context.Context, task ports.Task) error {
	t := s.queue(ctx)
	return t.fenced("release "+task.ID, t.db.Exec(
		"UPDATE tasks SET lease_until = 0, attempts = attempts - 1, token = token + 1 WHERE id = ? AND token = ?", task.ID, task.Token))
}

// Retime implements ports.TaskQueue. A task that failed keeps its own time to try again.
func (s *Store) Retime(ctx context.Context, creatorID string) error {
	var moved int64
	err := s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) error { // many rows in no certain order: it may meet a deadlock
		res := s.reader(ctx).Exec(
			"UPDATE tasks SET run_at = tasks.due_at - o.offset_ms FROM clock_offsets o WHERE o.creator_id = tasks.creator_id "+
				"AND tasks.last_error = '' AND tasks.run_at <> tasks.due_at - o.offset_ms AND (o.creator_id = ? OR ? = '')",
			creatorID, creatorID)
		moved = res.RowsAffected
		return res.Error
	})
	if err != nil {
		return fmt.Errorf("re-time tasks: %w", err)
	}
	if moved > 0 {
		s.wakeWorkers()
	}
	return nil
}

// Backlog implements ports.TaskQueue.
func (s *Store) Backlog(ctx context.Context, now time.Time) ([]ports.TaskBacklog, error) {
	var rows []struct {
		Kind   string
		Due    int64
		Held   int64
		Oldest millis
	}
	err := s.reader(ctx).Raw(
		"SELECT kind, COUNT(*) - COUNT(h.lane) AS due, COUNT(h.lane) AS held, MIN(CASE WHEN h.lane IS NULL THEN run_at END) AS oldest "+
			"FROM tasks LEFT JOIN lane_holds h ON h.lane = tasks.lane AND h.held_until > ? "+
			"WHERE class IN ? AND run_at <= ? GROUP BY kind ORDER BY kind",
		now.UnixMilli(), ports.TaskClasses(), millis(now)).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("count tasks: %w", err)
	}
	backlog := make([]ports.TaskBacklog, len(rows))
	for i, row := range rows {
		backlog[i] = ports.TaskBacklog{Kind: row.Kind, Due: row.Due, Held: row.Held, Oldest: time.Time(row.Oldest)}
	}
	return backlog, nil
}

// storable makes text fit for a column of either engine, which PostgreSQL refuses to be cut inside a character or to
// hold NUL.
func storable(s string, n int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s[:min(n, len(s))], "\x00", ""), "")
}
