package gormstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// pageChannel carries no payload: a page only says "look at the tasks now".
const pageChannel = "sundry_tasks"

// pager lets a process without workers wake the workers of others. A page is sent after the commit that scheduled the
// work, outside its transaction (a NOTIFY inside would serialise all commits), and many merge into one. A lost page
// costs no more than the relay's own next look.
type pager struct {
	pool    *pgxpool.Pool
	pending chan struct{}
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

func newPager(pool *pgxpool.Pool) *pager {
	ctx, cancel := context.WithCancel(context.Background())
	p := &pager{pool: pool, pending: make(chan struct{}, 1), cancel: cancel}
	p.done.Go(func() { p.run(ctx) })
	return p
}

func (p *pager) stop() {
	p.cancel()
	p.done.Wait()
}

func (p *pager) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.pending:
		}
		send, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, _ = p.pool.Exec(send, "SELECT pg_notify($1, '')", pageChannel) // nothing is lost with it
		cancel()
	}
}

// PageWorkers wakes the workers of other processes on this database. It does not block. On SQLite it does nothing:
// workers there find the task by looking.
func (s *Store) PageWorkers() {
	if s.pages == nil {
		return
	}
	select {
	case s.pages.pending <- struct{}{}:
	default: // one that is about to be sent covers this too
	}
}

// ListenForPages calls wake on every page, until ctx ends (nil) or the connection is lost. On SQLite it only waits.
func (s *Store) ListenForPages(ctx context.Context, wake func()) error {
	if s.pages == nil {
		<-ctx.Done()
		return nil
	}
	conn, leave, err := s.ownConnection(ctx) // it holds a LISTEN
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer leave()
	if _, err := conn.Exec(ctx, "LISTEN "+pageChannel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	wake() // for what was scheduled before the LISTEN took hold
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("wait for pages: %w", err)
		}
		wake()
	}
}
