package fakes

import (
	"errors"
	"testing"
	"time"

	"sundry/ports"
)

// mostTasks ends a test whose tasks schedule each other forever.
const mostTasks = 100

// Work runs every task of ports.DefaultTasks that is due in real time, as a worker does, and returns how many those
// were. A run that another one has fenced is no failure.
func Work(t testing.TB, queue ports.TaskQueue, now time.Time, run func(ports.Task) error) (ran int) {
	t.Helper()
	for range mostTasks {
		tasks, err := queue.Claim(t.Context(), ports.DefaultTasks, now, time.Minute, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(tasks) == 0 {
			return ran
		}
		for _, task := range tasks {
			ran++
			if err := run(task); err != nil && !errors.Is(err, ports.ErrFenced) {
				t.Fatalf("task %s %s: %v", task.Kind, task.Subject, err)
			}
		}
	}
	t.Fatal("the tasks never end")
	return ran
}

// NextTask claims the task of an account that is due first by the account's time; ok is false when none is.
func NextTask(t testing.TB, queue ports.TaskQueue, creatorID string, now time.Time) (task ports.Task, ok bool) {
	t.Helper()
	task, ok, err := queue.ClaimNext(t.Context(), creatorID, time.Now().AddDate(50, 0, 0), now, time.Minute)
	if errors.Is(err, ports.ErrNotFound) {
		return ports.Task{}, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return task, ok
}

// WorkOf runs the tasks of an account that are due by the account's time, of every class, and returns how many those
// were. No run may fail.
func WorkOf(
	t testing.TB, queue ports.TaskQueue, creatorID string, now time.Time, run func(ports.Task) error,
) (ran int) {
	t.Helper()
	for ran := range mostTasks {
		task, ok := NextTask(t, queue, creatorID, now)
		if !ok {
			return ran
		}
		if err := run(task); err != nil {
			t.Fatalf("task %s %s: %v", task.Kind, task.Subject, err)
		}
	}
	t.Fatal("the tasks never end")
	return 0
}
