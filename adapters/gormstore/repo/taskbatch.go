package repo

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/ports"
)

const (
	// MaxTaskBatch limits the tasks that one write ends.
	MaxTaskBatch = 128
	// TaskBatchTimeout limits the time of such a write.
	TaskBatchTimeout = 10 * time.Second
	// MaxTasksWaiting limits the tasks that wait for the next write. There are fewer workers.
	MaxTasksWaiting = 64 * MaxTaskBatch
)

// NewTaskBatcher returns a batcher of what workers record with the end of their tasks. taskOf returns the task of an
// item: of a task's two runs the later waits for the next batch, which fences it.
func NewTaskBatcher[T any](e Engine, query string, taskOf func(T) ports.Task, columns func([]T) Columns) *Batcher[T] {
	return NewBatcher(BatchConfig[T]{
		MaxBatch: MaxTaskBatch, Timeout: TaskBatchTimeout, Capacity: MaxTasksWaiting,
		Write: func(ctx context.Context, all []T) []error {
			ended, err := e.endTasks(ctx, query, columns(all))
			results := make([]error, len(all))
			for i, one := range all {
				t := taskOf(one)
				switch {
				case err != nil:
					results[i] = fmt.Errorf("record %s: %w", t.ID, err)
				case !ended[t.ID]:
					results[i] = fmt.Errorf("record %s: %w", t.ID, ports.ErrFenced)
				}
			}
			return results
		},
		Key: func(one T) string { return taskOf(one).ID },
	})
}

// endTasks runs a statement that returns the ids of the tasks that it has ended.
func (e Engine) endTasks(ctx context.Context, query string, columns Columns) (ended map[string]bool, err error) {
	args := columns.Args()
	err = e.Retry(ctx, func(ctx context.Context) error {
		rows, err := e.Pool.Query(ctx, query, args)
		if err != nil {
			return err
		}
		tasks, err := pgx.CollectRows(rows, pgx.RowTo[string])
		ended = make(map[string]bool, len(tasks))
		for _, id := range tasks {
			ended[id] = true
		}
		return err
	})
	return ended, err
}
