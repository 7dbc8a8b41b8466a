package gormstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// leadPoll is the pause between two attempts of a process to lead.
	leadPoll = 3 * time.Second
	// leadCheck is the pause between two checks of a leader whose connection was not closed. leadTimeout bounds one,
	// and a question for the lead.
	leadCheck   = 10 * time.Second
	leadTimeout = 5 * time.Second
)

// RunAsLeader runs work in one process at a time of those that lead under the same name on this database, and returns
// when ctx ends. The leader holds an advisory lock, which ends with its connection. Then another process leads, and the
// ctx of the former leader's work ends as soon as that leader notices. SQLite has one process, which leads.
func (s *Store) RunAsLeader(ctx context.Context, name string, work func(ctx context.Context)) {
	if s.engine.Pool == nil {
		work(ctx)
		return
	}
	for ctx.Err() == nil {
		_ = s.campaign(ctx, name, work) // a database that is down is the relay's to log
		pause(ctx, leadPoll)
	}
}

// pause waits, or less when ctx ends.
func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}

// campaign waits for the lock on a connection of its own and works until that or ctx ends.
func (s *Store) campaign(ctx context.Context, name string, work func(ctx context.Context)) error {
	conn, leave, err := s.separateConnection(ctx) // it holds the lock
	if err != nil {
		return fmt.Errorf("connect to lead: %w", err)
	}
	defer leave()
	number := s.dialect.LockNumber("lead " + name)
	for leads := false; !leads; {
		asking, cancel := context.WithTimeout(ctx, leadTimeout)
		err := conn.QueryRow(asking, "SELECT pg_try_advisory_lock($1)", number).Scan(&leads)
		cancel()
		if err != nil {
			return fmt.Errorf("ask to lead: %w", err)
		}
		if !leads {
			pause(ctx, leadPoll)
		}
	}
	leading, end := context.WithCancel(ctx)
	var working sync.WaitGroup
	working.Go(func() { work(leading) })
	defer working.Wait()
	defer end()
	for {
		if err := checkAfter(ctx, conn, leadCheck); err != nil {
			return fmt.Errorf("lead: %w", err)
		}
	}
}

// checkAfter returns an error as soon as the server closes the connection, and when it does not respond after the
// pause. Nothing else arrives on a connection that does not LISTEN.
func checkAfter(ctx context.Context, conn *pgx.Conn, wait time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	_, err := conn.WaitForNotification(waiting)
	cancel()
	if err != nil && !pgconn.Timeout(err) {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, leadTimeout)
	defer cancel()
	return conn.Ping(asking)
}
