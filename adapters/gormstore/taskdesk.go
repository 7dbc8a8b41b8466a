package gormstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"sundry/ports"
)

func (r taskRow) standing(now time.Time) ports.TaskStanding {
	s := ports.TaskStanding{Task: r.task(), State: ports.TaskWaiting, RunAt: time.Time(r.RunAt), LastError: r.LastError}
	switch {
	case r.LeaseUntil > now.UnixMilli():
		s.State = ports.TaskRunning
	case r.LastError != "":
		s.State = ports.TaskFailed
	}
	return s
}

type taskDesk struct {
	table
	scheduled *bool
}

// List implements ports.TaskDesk.
func (t taskDesk) List(_ context.Context, creatorID string, state ports.TaskState, now time.Time, page ports.Page) (ports.List[ports.TaskStanding], error) {
	query := inState(t.db.Where("creator_id = ?", creatorID), state, now)
	if page.After.ID != "" {
		query = query.Where("due_at < ? OR (due_at = ? AND id < ?)", page.After.Value, page.After.Value, page.After.ID)
	}
	var rows []taskRow
	if err := query.Order("due_at DESC, id DESC").Limit(page.Limit + 1).Find(&rows).Error; err != nil {
		return ports.List[ports.TaskStanding]{}, t.failure("list tasks of "+creatorID, err)
	}
	return paged(rows, page.Limit,
		func(row taskRow) ports.TaskStanding { return row.standing(now) },
		func(row taskRow) ports.Cursor {
			return ports.Cursor{Value: time.Time(row.DueAt).UnixMilli(), ID: row.ID}
		}), nil
}

// inState says in SQL what standing says of a row. The condition on last_error is the index's own.
func inState(query *gorm.DB, state ports.TaskState, now time.Time) *gorm.DB {
	switch state {
	case ports.TaskRunning:
		return query.Where("lease_until > ?", now.UnixMilli())
	case ports.TaskFailed:
		return query.Where("last_error <> ''").Where("lease_until <= ?", now.UnixMilli())
	case ports.TaskWaiting:
		return query.Where("last_error = ''").Where("lease_until <= ?", now.UnixMilli())
	}
	return query
}

// Find implements ports.TaskDesk.
func (t taskDesk) Find(_ context.Context, creatorID, taskID string, now time.Time) (ports.TaskStanding, error) {
	row, err := first[taskRow](t.table, "find task "+taskID, "creator_id = ? AND id = ?", creatorID, taskID)
	return row.standing(now), err
}

// RunSoon implements ports.TaskDesk.
func (t taskDesk) RunSoon(_ context.Context, task ports.Task, at time.Time) error {
	*t.scheduled = true
	res := t.db.Exec("UPDATE tasks SET run_at = ? WHERE id = ? AND token = ?", millis(at), task.ID, task.Token)
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("run %s soon: %w", task.ID, ports.ErrStale)
	}
	return t.failure("run "+task.ID+" soon", res.Error)
}
