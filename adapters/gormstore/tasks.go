package gormstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"sundry/ports"
)

type taskRow struct {
	ID         string `gorm:"primaryKey"`
	Kind       string
	Subject    string
	CreatorID  string
	DueAt      millis
	RunAt      millis
	LeaseUntil int64
	Token      int64
	Attempts   int
	LastError  string
}

// TableName implements gorm's tabler.
func (taskRow) TableName() string { return "tasks" }

func (r taskRow) task() ports.Task {
	return ports.Task{
		ID: r.ID, Kind: r.Kind, Subject: r.Subject, CreatorID: r.CreatorID,
		DueAt: time.Time(r.DueAt), Token: r.Token, Attempts: r.Attempts,
	}
}

type tasks struct {
	table
	scheduled *bool
}

// offsetOf is how far the account's clock runs ahead; it turns account time into real time.
func offsetOf(db *gorm.DB, creatorID string) (time.Duration, error) {
	if creatorID == "" {
		return 0, nil
	}
	var ms int64
	err := db.Raw("SELECT COALESCE(MAX(offset_ms), 0) FROM clock_offsets WHERE creator_id = ?", creatorID).Scan(&ms).Error
	return time.Duration(ms) * time.Millisecond, err
}

// Schedule implements ports.Tasks.
func (t tasks) Schedule(_ context.Context, kind, subject, creatorID string, due time.Time) error {
	return t.insertTask(kind, subject, creatorID, due, clause.OnConflict{
		Columns: []clause.Column{{Name: "id"}},
		DoUpdates: clause.Assignments(map[string]any{
			"due_at": gorm.Expr("excluded.due_at"), "run_at": gorm.Expr("excluded.run_at"), "lease_until": 0, "attempts": 0, "last_error": "",
			"token": gorm.Expr("tasks.token + 1"),
		}),
	})
}

// Ensure implements ports.Tasks.
func (t tasks) Ensure(_ context.Context, kind, subject, creatorID string, due time.Time) error {
	return t.insertTask(kind, subject, creatorID, due, clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoNothing: true})
}

func (t tasks) insertTask(kind, subject, creatorID string, due time.Time, taken clause.OnConflict) error {
	offset, err := offsetOf(t.db, creatorID)
	if err != nil {
		return t.failure("read clock offset", err)
	}
	row := taskRow{
		ID: kind + ":" + subject, Kind: kind, Subject: subject, CreatorID: creatorID,
		DueAt: millis(due), RunAt: millis(due.Add(-offset)), Token: 1,
	}
	err = t.db.Clauses(taken).Create(&row).Error
	*t.scheduled = true
	return t.failure("schedule "+row.ID, err)
}

// Cancel implements ports.Tasks.
func (t tasks) Cancel(_ context.Context, kind, subject string) error {
	err := t.db.Exec("DELETE FROM tasks WHERE id = ?", kind+":"+subject).Error
	return t.failure("cancel "+kind, err)
}

// Done implements ports.Tasks.
func (t tasks) Done(_ context.Context, task ports.Task) error {
	return t.fenced("finish "+task.ID, t.db.Exec("DELETE FROM tasks WHERE id = ? AND token = ?", task.ID, task.Token))
}

// Postpone implements ports.Tasks.
func (t tasks) Postpone(_ context.Context, task ports.Task, due time.Time) error {
	offset, err := offsetOf(t.db, task.CreatorID)
	if err != nil {
		return t.failure("read clock offset", err)
	}
	*t.scheduled = true
	return t.fenced("postpone "+task.ID, t.db.Exec(
		"UPDATE tasks SET due_at = ?, run_at = ?, lease_until = 0, attempts = 0, last_error = '', token = token + 1 WHERE id = ? AND token = ?",
		millis(due), millis(due.Add(-offset)), task.ID, task.Token))
}

func (t tasks) fenced(doing string, res *gorm.DB) error {
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("%s: %w", doing, ports.ErrFenced)
	}
	return t.failure(doing, res.Error)
}

var _ ports.TaskQueue = (*Store)(nil)

// Claim implements ports.TaskQueue.
func (s *Store) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]ports.Task, error) {
	var rows []taskRow
	err := s.write.WithContext(ctx).Raw(
		"UPDATE tasks SET lease_until = ?, token = token + 1, attempts = attempts + 1 WHERE id IN ("+
			"SELECT id FROM tasks WHERE run_at <= ? AND lease_until <= ? ORDER BY run_at LIMIT ?"+s.dialect.skipLocked()+
			") RETURNING *",
		now.Add(lease).UnixMilli(), millis(now), now.UnixMilli(), limit).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("claim tasks: %w", err)
	}
	claimed := make([]ports.Task, len(rows))
	for i, row := range rows {
		claimed[i] = row.task()
	}
	return claimed, nil
}

// ClaimNext implements ports.TaskQueue.
func (s *Store) ClaimNext(ctx context.Context, creatorID string, now, until time.Time, lease time.Duration) (ports.Task, bool, error) {
	db := s.write.WithContext(ctx)
	next, err := first[taskRow](table{db: db.Order("due_at, id"), dialect: s.dialect},
		"next task of "+creatorID, "creator_id = ? AND due_at <= ?", creatorID, millis(until))
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
func (s *Store) Load(ctx context.Context, id string, token int64) (ports.Task, error) {
	row, err := first[taskRow](table{db: s.write.WithContext(ctx), dialect: s.dialect}, "load task "+id, "id = ? AND token = ?", id, token)
	if isNotFound(err) {
		return ports.Task{}, fmt.Errorf("load task %s: %w", id, ports.ErrFenced)
	}
	return row.task(), err
}

// Fail implements ports.TaskQueue.
func (s *Store) Fail(ctx context.Context, task ports.Task, reason string, again time.Time) error {
	t := tasks{table: table{db: s.write.WithContext(ctx), dialect: s.dialect}}
	return t.fenced("record failure of "+task.ID, t.db.Exec(
		"UPDATE tasks SET due_at = due_at + (? - run_at), run_at = ?, lease_until = 0, last_error = ?, token = token + 1 WHERE id = ? AND token = ?",
		millis(again), millis(again), truncate(reason, 500), task.ID, task.Token))
}

func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n]
}
