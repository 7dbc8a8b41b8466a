package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"

	"github.com/pressly/goose/v3/lock"
)

// step is a run of migrations, up to the last, or one that builds an index while others write.
type step struct {
	last  int64
	index string // "" unless it is such a one
}

var concurrentIndex = regexp.MustCompile(`(?i)^CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+IF\s+NOT\s+EXISTS\s+(\w+)`)

// stepsOf divides the migrations into steps.
func stepsOf(known []migration) []step {
	var steps []step
	for _, m := range known {
		var index string
		if len(m.changes) == 1 {
			if match := concurrentIndex.FindStringSubmatch(m.changes[0].statement); match != nil {
				index = match[1]
			}
		}
		if last := len(steps) - 1; last >= 0 && index == "" && steps[last].index == "" {
			steps[last].last = m.version
			continue
		}
		steps = append(steps, step{m.version, index})
	}
	return steps
}

// indexLocker is goose's lock of the session that migrates. While that session builds an index it waits without a
// limit: CREATE INDEX CONCURRENTLY waits for every transaction that is older, and keeps nobody waiting itself. What an
// interrupted build left is dropped, which IF NOT EXISTS would take for the index.
type indexLocker struct {
	lock.SessionLocker
	building string // the index; "" while none is built
}

// SessionLock implements lock.SessionLocker.
func (l *indexLocker) SessionLock(ctx context.Context, conn *sql.Conn) error {
	if err := l.SessionLocker.SessionLock(ctx, conn); err != nil || l.building == "" {
		return err
	}
	if _, err := conn.ExecContext(ctx, "SET lock_timeout = 0"); err != nil {
		return fmt.Errorf("wait for older transactions: %w", err)
	}
	var left bool
	const invalid = "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid)"
	if err := conn.QueryRowContext(ctx, invalid, l.building).Scan(&left); err != nil {
		return fmt.Errorf("look for the index %s: %w", l.building, err)
	}
	if left {
		if _, err := conn.ExecContext(ctx, "DROP INDEX CONCURRENTLY "+l.building); err != nil {
			return fmt.Errorf("drop the index %s, whose build was interrupted: %w", l.building, err)
		}
	}
	return nil
}

// SessionUnlock implements lock.SessionLocker.
func (l *indexLocker) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	var err error
	if l.building != "" {
		_, err = conn.ExecContext(ctx, "RESET lock_timeout")
	}
	return errors.Join(err, l.SessionLocker.SessionUnlock(ctx, conn))
}
