package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
)

type clockOffsets struct {
	repo.Base
	// point reads outside transactions; nil inside one.
	point func(ctx context.Context, query string, args ...any) repo.Scanner
}

// Get implements ports.ClockOffsets. Nearly every use case asks, so outside transactions it goes without gorm.
func (c clockOffsets) Get(ctx context.Context, creatorID string) (time.Duration, error) {
	if c.point != nil {
		var ms int64
		err := c.point(ctx, "SELECT COALESCE(MAX(offset_ms), 0) FROM clock_offsets WHERE creator_id = $1", creatorID).Scan(&ms)
		return time.Duration(ms) * time.Millisecond, c.Failure("read clock offset", err)
	}
	offset, err := offsetOf(c.DB, creatorID)
	return offset, c.Failure("read clock offset", err)
}

// Advance implements ports.ClockOffsets.
func (c clockOffsets) Advance(_ context.Context, creatorID string, offset time.Duration) error {
	err := c.DB.Exec(
		"INSERT INTO clock_offsets (creator_id, offset_ms) VALUES (?, ?) ON CONFLICT (creator_id) DO UPDATE "+
			"SET offset_ms = excluded.offset_ms WHERE clock_offsets.offset_ms < excluded.offset_ms",
		creatorID, offset.Milliseconds()).Error
	if tx, ok := current(c.DB.Statement.Context); ok {
		delete(tx.offsets, creatorID)
	}
	return c.Failure("advance clock", err)
}

// Acquire implements ports.ClockOffsets.
func (c clockOffsets) Acquire(_ context.Context, creatorID, holder string, now, until time.Time) (bool, error) {
	res := c.DB.Exec(
		"INSERT INTO clock_offsets (creator_id, holder, held_until) VALUES (?, ?, ?) ON CONFLICT (creator_id) DO UPDATE "+
			"SET holder = excluded.holder, held_until = excluded.held_until "+
			"WHERE clock_offsets.holder = excluded.holder OR clock_offsets.held_until <= ?",
		creatorID, holder, until.UnixMilli(), now.UnixMilli())
	return res.RowsAffected > 0, c.Failure("acquire clock", res.Error)
}

// Release implements ports.ClockOffsets.
func (c clockOffsets) Release(_ context.Context, creatorID, holder string) error {
	err := c.DB.Exec("UPDATE clock_offsets SET holder = '', held_until = 0 WHERE creator_id = ? AND holder = ?", creatorID, holder).Error
	return c.Failure("release clock", err)
}

// accountClock implements ports.AccountClock.
type accountClock struct{ offsets clockOffsets }

// Now implements ports.AccountClock.
func (c accountClock) Now(ctx context.Context, creatorID string) (time.Time, error) {
	offset, err := c.offsets.Get(ctx, creatorID)
	return time.Now().Add(offset).UTC().Truncate(time.Millisecond), err
}

// offsetOf is how far the account's clock runs ahead; it turns account time into real time. An advance that commits
// between this and the writing of run_at is made good by Retime.
func offsetOf(db *gorm.DB, creatorID string) (time.Duration, error) {
	if creatorID == "" {
		return 0, nil
	}
	tx, _ := current(db.Statement.Context)
	if offset, known := tx.offsets[creatorID]; known {
		return offset, nil
	}
	if tx.pipeline != nil {
		tx.prefetchOffset(creatorID)
		if tx.pipeline.reading {
			return 0, nil
		}
		if _, err := tx.pipeline.Flush(db.Statement.Context); err != nil {
			return 0, err
		}
		if offset, known := tx.offsets[creatorID]; known {
			return offset, nil
		}
	}
	var ms int64
	query := offsetQuery(creatorID, &ms)
	if err := repo.ScanRow(db.Raw(query.SQL, query.Args...), query.Into...); err != nil {
		return 0, err
	}
	return rememberOffset(db, creatorID, ms), nil
}

func offsetQuery(creatorID string, into *int64) repo.RowQuery {
	return repo.RowQuery{
		SQL: "SELECT COALESCE(MAX(offset_ms), 0) FROM clock_offsets WHERE creator_id = ?", Args: []any{creatorID}, Into: []any{into},
	}
}

// prefetchOffset asks for the offset of an account with the next statement that is waited for.
func (tx transaction) prefetchOffset(creatorID string) {
	if creatorID == "" || len(tx.offsets) > 0 || tx.pipeline.offsetOf == creatorID { // a transaction is about one account
		return
	}
	tx.pipeline.offsetOf = creatorID
	var ms int64
	_ = tx.pipeline.enqueue(statement{ // texts as parameters are no error
		doing: "read clock offset", sql: "SELECT COALESCE(MAX(offset_ms), 0) FROM clock_offsets WHERE creator_id = $1", args: []any{creatorID}, into: []any{&ms},
		after: func() { tx.offsets[creatorID] = time.Duration(ms) * time.Millisecond },
	})
}

// prefetchOffsetOf is prefetchOffset for the account of a row.
func (tx transaction) prefetchOffsetOf(table, id string) {
	if len(tx.offsets) > 0 || tx.pipeline.outside { // a transaction is about one account
		return
	}
	var creatorID string
	var ms int64
	_ = tx.pipeline.enqueue(statement{ // texts as parameters are no error
		doing: "read clock offset", args: []any{id}, into: []any{&creatorID, &ms},
		sql: "SELECT COALESCE(MAX(r.creator_id), ''), COALESCE(MAX((SELECT o.offset_ms FROM clock_offsets o WHERE o.creator_id = r.creator_id)), 0) FROM " +
			table + " r WHERE r.id = $1",
		after: func() {
			if creatorID != "" {
				tx.offsets[creatorID] = time.Duration(ms) * time.Millisecond
			}
		},
	})
}

// rememberOffset keeps an offset for the rest of the transaction.
func rememberOffset(db *gorm.DB, creatorID string, ms int64) time.Duration {
	offset := time.Duration(ms) * time.Millisecond
	if tx, ok := current(db.Statement.Context); ok {
		tx.offsets[creatorID] = offset
	}
	return offset
}
