package gormstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// tasksChannel carries no payload: a notification only means "poll the tasks now". Each schema has its own.
const tasksChannel = "sundry_tasks"

// notifier lets a process without workers wake the workers of others. A notification is sent after the commit that
// scheduled the work, outside its transaction (a NOTIFY inside would serialise all commits), and many merge into one. A
// lost one costs no more than the wait for the relay's next poll.
type notifier struct {
	pool    *pgxpool.Pool
	channel string
	pending chan struct{}
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

func newNotifier(pool *pgxpool.Pool, channel string) *notifier {
	ctx, cancel := context.WithCancel(context.Background())
	n := &notifier{pool: pool, channel: channel, pending: make(chan struct{}, 1), cancel: cancel}
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
			select {
			case <-n.pending: // by the last commit
				n.send(context.WithoutCancel(ctx))
			default:
			}
			return
		case <-n.pending:
			n.send(ctx)
		}
	}
}

func (n *notifier) send(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, _ = n.pool.Exec(ctx, "SELECT pg_notify($1, '')", n.channel) // nothing is lost with it
}

// NotifyWorkers wakes the workers of other processes on this database. It does not block. On SQLite it does nothing:
// workers there find the task by polling.
func (s *Store) NotifyWorkers() {
	if s.notifier == nil {
		return
	}
	select {
	case s.notifier.pending <- struct{}{}:
	default: // one that is about to be sent covers this too
	}
}

// ListenForTasks calls wake on every notification, until ctx ends (nil) or the connection is lost. On SQLite it only
// waits.
func (s *Store) ListenForTasks(ctx context.Context, wake func()) error {
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
		if _, err := conn.WaitForNotification(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("wait for notifications: %w", err)
		}
		wake()
	}
}
