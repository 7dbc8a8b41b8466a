package gormstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore/repo"
)

type clockOffsets struct {
	*repo.Base
	// point reads outside transactions; nil inside one.
	point func(ctx context.Context, query string, args ...any) repo.Scanner
	// realTime means that there is nothing to read.
	realTime bool
}

func (s *Store) clockOffsets(b *repo.Base) clockOffsets {
	offsets := clockOffsets{Base: b, realTime: s.realTime}
	if _, inside := current(b.DB.Statement.Context); !inside {
		offsets.point = s.engine.Point
	}
	return offsets
}

// offsets caches how many milliseconds the clock of an account runs ahead.
var offsets = repo.NewSlot[int64]("clock_offsets")

// Get implements ports.ClockOffsets. Nearly every use case asks, so outside transactions it goes without gorm.
func (c clockOffsets) Get(ctx context.Context, creatorID string) (time.Duration, error) {
	const op = "read clock offset"
	if creatorID == "" || c.realTime {
		return 0, nil
	}
	ms, err := offsets.Get(c.Base, creatorID, func() (ms int64, err error) {
		const query = "SELECT COALESCE(MAX(offset_ms), 0) FROM clock_offsets WHERE creator_id = "
		if c.point != nil {
			err = c.Failure(op, c.point(ctx, query+"$1", creatorID).Scan(&ms))
		} else {
			err = c.QueryRow(op, query+"?", []any{creatorID}, &ms)
		}
		return ms, err
	})
	return time.Duration(ms) * time.Millisecond, err
}

// of is Get for what turns account time into real time. An advance that commits between this and the writing of run_at
// is made good by Retime.
func (c clockOffsets) of(creatorID string) (time.Duration, error) {
	return c.Get(c.DB.Statement.Context, creatorID)
}

// preload reads the offset of the account that owner, a query with args, selects.
func (c clockOffsets) preload(owner string, args ...any) {
	if c.realTime {
		return
	}
	const query = "SELECT o.creator_id, COALESCE((SELECT c.offset_ms FROM clock_offsets c WHERE c.creator_id = " +
		"o.creator_id), 0) FROM "
	offsets.Preload(c.Base, "read clock offset", query+"("+owner+") o (creator_id)", args,
		func(rows pgx.Rows, keep func(string, int64)) error {
			for rows.Next() {
				var creatorID string
				var ms int64
				if err := rows.Scan(&creatorID, &ms); err != nil {
					return err
				}
				keep(creatorID, ms)
			}
			return rows.Err()
		})
}

// Advance implements ports.ClockOffsets.
func (c clockOffsets) Advance(_ context.Context, creatorID string, offset time.Duration) error {
	err := c.DB.Exec(
		"INSERT INTO clock_offsets (creator_id, offset_ms) VALUES (?, ?) ON CONFLICT (creator_id) DO UPDATE "+
			"SET offset_ms = excluded.offset_ms WHERE clock_offsets.offset_ms < excluded.offset_ms",
		creatorID, offset.Milliseconds()).Error
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
	err := c.DB.Exec("UPDATE clock_offsets SET holder = '', held_until = 0 WHERE creator_id = ? AND holder = ?", creatorID,
		holder).Error
	return c.Failure("release clock", err)
}

// accountClock implements ports.AccountClock.
type accountClock struct{ offsets clockOffsets }

// Now implements ports.AccountClock.
func (c accountClock) Now(ctx context.Context, creatorID string) (time.Time, error) {
	offset, err := c.offsets.Get(ctx, creatorID)
	return time.Now().Add(offset).UTC().Truncate(time.Millisecond), err
}
