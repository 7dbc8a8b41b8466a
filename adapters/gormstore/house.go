package gormstore

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"sundry/ports"
)

func isNotFound(err error) bool { return errors.Is(err, ports.ErrNotFound) }

type idempotencyRow struct {
	CreatorID  string `gorm:"primaryKey"`
	Route      string `gorm:"primaryKey"`
	Key        string `gorm:"primaryKey"`
	BodyHash   []byte
	Status     int
	Body       []byte
	LeaseUntil int64
	CreatedAt  millis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (idempotencyRow) TableName() string { return "idempotency_keys" }

type idempotencyKeys struct{ table }

// TryLock implements ports.IdempotencyKeys.
func (k idempotencyKeys) TryLock(_ context.Context, creatorID, route, key string) (bool, error) {
	ok, err := k.dialect.tryLock(k.db, "idempotency\x00"+creatorID+"\x00"+route+"\x00"+key)
	return ok, k.failure("lock idempotency key", err)
}

// Find implements ports.IdempotencyKeys.
func (k idempotencyKeys) Find(_ context.Context, creatorID, route, key string) (ports.IdempotencyRecord, error) {
	row, err := first[idempotencyRow](k.table, "find idempotency key", "creator_id = ? AND route = ? AND key = ?", creatorID, route, key)
	return ports.IdempotencyRecord{
		CreatorID: row.CreatorID, Route: row.Route, Key: row.Key, BodyHash: row.BodyHash, Status: row.Status, Body: row.Body,
		LeaseUntil: time.UnixMilli(row.LeaseUntil).UTC(), CreatedAt: time.Time(row.CreatedAt),
	}, err
}

// Save implements ports.IdempotencyKeys.
func (k idempotencyKeys) Save(_ context.Context, r ports.IdempotencyRecord) error {
	row := idempotencyRow{
		CreatorID: r.CreatorID, Route: r.Route, Key: r.Key, BodyHash: r.BodyHash, Status: r.Status, Body: r.Body,
		LeaseUntil: r.LeaseUntil.UnixMilli(), CreatedAt: millis(r.CreatedAt),
	}
	if row.Body == nil {
		row.Body = []byte{}
	}
	return k.failure("save idempotency key", k.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error)
}

// DeleteBefore implements ports.IdempotencyKeys.
func (k idempotencyKeys) DeleteBefore(_ context.Context, at time.Time) error {
	return k.failure("forget idempotency keys", k.db.Exec("DELETE FROM idempotency_keys WHERE created_at < ?", millis(at)).Error)
}

type clockOffsets struct{ table }

// Offset implements ports.ClockOffsets.
func (c clockOffsets) Offset(_ context.Context, creatorID string) (time.Duration, error) {
	offset, err := offsetOf(c.db, creatorID)
	return offset, c.failure("read clock offset", err)
}

// Advance implements ports.ClockOffsets.
func (c clockOffsets) Advance(_ context.Context, creatorID string, offset time.Duration) error {
	err := c.db.Exec(
		"INSERT INTO clock_offsets (creator_id, offset_ms) VALUES (?, ?) ON CONFLICT (creator_id) DO UPDATE "+
			"SET offset_ms = excluded.offset_ms WHERE clock_offsets.offset_ms < excluded.offset_ms",
		creatorID, offset.Milliseconds()).Error
	return c.failure("advance clock", err)
}

// Hold implements ports.ClockOffsets.
func (c clockOffsets) Hold(_ context.Context, creatorID, holder string, now, until time.Time) (bool, error) {
	res := c.db.Exec(
		"INSERT INTO clock_offsets (creator_id, holder, held_until) VALUES (?, ?, ?) ON CONFLICT (creator_id) DO UPDATE "+
			"SET holder = excluded.holder, held_until = excluded.held_until "+
			"WHERE clock_offsets.holder = excluded.holder OR clock_offsets.held_until <= ?",
		creatorID, holder, until.UnixMilli(), now.UnixMilli())
	return res.RowsAffected > 0, c.failure("hold clock", res.Error)
}

// LetGo implements ports.ClockOffsets.
func (c clockOffsets) LetGo(_ context.Context, creatorID, holder string) error {
	err := c.db.Exec("UPDATE clock_offsets SET holder = '', held_until = 0 WHERE creator_id = ? AND holder = ?", creatorID, holder).Error
	return c.failure("let go of clock", err)
}

type documentNumbers struct{ table }

// Next implements ports.DocumentNumbers.
func (d documentNumbers) Next(_ context.Context, series string) (int64, error) {
	var number int64
	err := d.db.Raw(
		"INSERT INTO document_numbers (series, last) VALUES (?, 1) ON CONFLICT (series) DO UPDATE SET last = document_numbers.last + 1 RETURNING last",
		series).Scan(&number).Error
	if err == nil && number == 0 {
		err = gorm.ErrRecordNotFound
	}
	return number, d.failure("take document number", err)
}
