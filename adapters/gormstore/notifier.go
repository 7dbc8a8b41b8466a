package gormstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"sundry/ports"
)

// tasksChannel carries the classes of which tasks are due, of none for all: a notification only means "poll them now".
// Each schema has its own.
const tasksChannel = "sundry_tasks"

// notifier lets a process without workers wake the workers of others. A notification is sent after the commit that
// scheduled the work, outside its transaction (a NOTIFY inside would serialise all commits), and many merge into one. A
// lost one costs no more than the wait for the relay's next poll.
type notifier struct {
	pool    *pgxpool.Pool
	channel string
	pending *ports.ClassSignal
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

func newNotifier(pool *pgxpool.Pool, channel string) *notifier {
	ctx, cancel := context.WithCancel(context.Background())
	n := &notifier{pool: pool, channel: channel, pending: ports.NewClassSignal(), cancel: cancel}
	n.done.Go(func() { n.run(ctx) })
	return n
}

func (n *notifier) stop() {
	n.cancel()
	n.done.Wait()
}

func (n *notifier) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			n.send(context.WithoutCancel(ctx)) // what the last commit has scheduled
			return
		case <-n.pending.Raised():
			n.send(ctx)
		}
	}
}

func (n *notifier) send(ctx context.Context) {
	classes := n.pending.Take()
	if len(classes) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, _ = n.pool.Exec(ctx, "SELECT pg_notify($1, $2)", n.channel, classesText(classes)) // nothing is lost with it
}

// classesText and classesOf write and read the payload of a notification. Classes that only another version knows are
// left out, and none means all.
func classesText(classes []ports.TaskClass) string {
	names := make([]string, len(classes))
	for i, class := range classes {
		names[i] = string(class)
	}
	return strings.Join(names, " ")
}

func classesOf(payload string) (classes []ports.TaskClass) {
	for name := range strings.FieldsSeq(payload) {
		if class := ports.TaskClass(name); slices.Contains(ports.TaskClasses(), class) {
			classes = append(classes, class)
		}
	}
	return classes
}

// NotifyWorkers has the workers of other processes on this database look for due tasks of some classes, of all when
// none is named. It does not block. On SQLite it does nothing: workers there find the task by polling.
func (s *Store) NotifyWorkers(classes ...ports.TaskClass) {
	if s.notifier != nil {
		s.notifier.pending.Raise(classes...)
	}
}

// ListenForTasks calls wake on every notification with its classes, until ctx ends (nil) or the connection is lost. On
// SQLite it only waits.
func (s *Store) ListenForTasks(ctx context.Context, wake func(classes ...ports.TaskClass)) error {
	if s.notifier == nil {
		<-ctx.Done()
		return nil
	}
	conn, leave, err := s.separateConnection(ctx) // it holds a LISTEN
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer leave()
	if _, err := conn.Exec(ctx, "LISTEN "+s.notifier.channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	wake() // for what was scheduled before the LISTEN took hold
	for {
		notification, err := conn.WaitForNotification(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("wait for notifications: %w", err)
		}
		wake(classesOf(notification.Payload)...)
	}
}
