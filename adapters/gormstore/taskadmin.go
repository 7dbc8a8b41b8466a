package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

func (r taskRow) info(now time.Time) ports.TaskInfo {
	s := ports.TaskInfo{Task: r.task(), State: ports.TaskWaiting, RunAt: time.Time(r.RunAt), LastError: r.LastError}
	switch {
	case r.LeaseUntil > now.UnixMilli():
		s.State = ports.TaskRunning
	case r.LastError != "":
		s.State = ports.TaskFailed
	}
	return s
}

type taskAdmin struct {
	*repo.Base
	clock     clockOffsets
	scheduled *dueClasses
	dialect   dialect
}

// List implements ports.TaskAdmin.
func (t taskAdmin) List(_ context.Context, creatorID string, state ports.TaskState, now time.Time,
	page ports.Page) (ports.List[ports.TaskInfo], error) {
	query := inState(t.DB.Where("creator_id = ?", creatorID), state, now)
	if state == ports.TaskRunning {
		ids, err := t.running(creatorID, now)
		if err != nil || len(ids) == 0 {
			return ports.List[ports.TaskInfo]{}, err
		}
		query = query.Where("id IN ?", ids)
	}
	if page.After.ID != "" {
		query = query.Where("due_at < ? OR (due_at = ? AND id < ?)", page.After.Value, page.After.Value, page.After.ID)
	}
	var rows []taskRow
	if err := query.Order("due_at DESC, id DESC").Limit(page.Limit + 1).Find(&rows).Error; err != nil {
		return ports.List[ports.TaskInfo]{}, t.Failure("list tasks of "+creatorID, err)
	}
	return repo.Paged(rows, page.Limit,
		func(row taskRow) ports.TaskInfo { return row.info(now) },
		func(row taskRow) ports.Cursor {
			return ports.Cursor{Value: time.Time(row.DueAt).UnixMilli(), ID: row.ID}
		}), nil
}

// running finds the account's leased tasks among those that are due, in real time or on the account's clock: no others
// run, and no index names the lease, which would be written with every claim.
func (t taskAdmin) running(creatorID string, now time.Time) ([]string, error) {
	offset, err := t.clock.of(creatorID)
	if err != nil {
		return nil, err
	}
	return t.QueryIDs("find running tasks of "+creatorID,
		"SELECT id FROM ("+t.dialect.dueSQL()+") AS due WHERE creator_id = ? AND lease_until > ? "+
			"UNION SELECT id FROM tasks WHERE creator_id = ? AND due_at <= ? AND lease_until > ?",
		repo.UnixMillis(now), creatorID, now.UnixMilli(), creatorID, repo.UnixMillis(now.Add(offset)), now.UnixMilli())
}

// inState is the SQL condition of what info returns for a row. The condition on last_error is the index's own.
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

// Get implements ports.TaskAdmin.
func (t taskAdmin) Get(_ context.Context, creatorID, taskID string, now time.Time) (ports.TaskInfo, error) {
	row, err := repo.TakeOne[taskRow](t.Base, "get task "+taskID, "creator_id = ? AND id = ?", creatorID, taskID)
	return row.info(now), err
}

// RunNow implements ports.TaskAdmin.
func (t taskAdmin) RunNow(_ context.Context, task ports.Task, at time.Time) error {
	t.scheduled.add(ports.TaskClasses()...)
	res := t.DB.Exec("UPDATE tasks SET run_at = ? WHERE id = ? AND token = ?", repo.UnixMillis(at), task.ID, task.Token)
	return t.Changed("run "+task.ID+" now", res, ports.ErrStale)
}
