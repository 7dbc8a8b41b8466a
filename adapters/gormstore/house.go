package gormstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

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

// Claim implements ports.IdempotencyKeys. On PostgreSQL lock and look are one statement, whose snapshot may be older
// than the lock: a record committed in between is not seen here, but Save finds it and the transaction runs again.
func (k idempotencyKeys) Claim(_ context.Context, creatorID, route, key string) (ports.IdempotencyRecord, bool, error) {
	const doing = "claim idempotency key"
	var locked bool
	var row idempotencyRow
	record := rowQuery{
		sql: "SELECT l.locked, COALESCE(r.body_hash, ?) AS body_hash, COALESCE(r.status, -1) AS status, COALESCE(r.body, ?) AS body, " +
			"COALESCE(r.lease_until, 0) AS lease_until, r.created_at FROM (SELECT " + k.dialect.tryLock() + " AS locked) l " +
			"LEFT JOIN idempotency_keys r ON r.creator_id = ? AND r.route = ? AND r.key = ?",
		args: []any{[]byte{}, []byte{}, k.dialect.lockNumber("idempotency\x00" + creatorID + "\x00" + route + "\x00" + key), creatorID, route, key},
		into: []any{&locked, &row.BodyHash, &row.Status, &row.Body, &row.LeaseUntil, &row.CreatedAt},
	}
	// Every use case asks for the account's clock next.
	var offset int64
	if err := k.scanNow(doing, record, offsetQuery(creatorID, &offset)); err != nil {
		return ports.IdempotencyRecord{}, false, err
	}
	rememberOffset(k.db, creatorID, offset)
	if row.Status < 0 {
		return ports.IdempotencyRecord{}, locked, k.failure(doing, gorm.ErrRecordNotFound)
	}
	return ports.IdempotencyRecord{
		CreatorID: creatorID, Route: route, Key: key, BodyHash: row.BodyHash, Status: row.Status, Body: row.Body,
		LeaseUntil: time.UnixMilli(row.LeaseUntil).UTC(), CreatedAt: time.Time(row.CreatedAt),
	}, locked, nil
}

// Save implements ports.IdempotencyKeys.
func (k idempotencyKeys) Save(_ context.Context, r ports.IdempotencyRecord, staleBefore time.Time) error {
	row := idempotencyRow{
		CreatorID: r.CreatorID, Route: r.Route, Key: r.Key, BodyHash: r.BodyHash, Status: r.Status, Body: r.Body,
		LeaseUntil: r.LeaseUntil.UnixMilli(), CreatedAt: millis(r.CreatedAt),
	}
	if row.Body == nil {
		row.Body = []byte{}
	}
	made, err := k.putNow("save idempotency key", &row,
		`ON CONFLICT (creator_id, route, key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status, body = excluded.body,
			lease_until = excluded.lease_until, created_at = excluded.created_at
		WHERE idempotency_keys.status = 0 AND idempotency_keys.lease_until <= ? OR idempotency_keys.created_at < ?`,
		millis(r.CreatedAt), millis(staleBefore))
	if err == nil && made == 0 {
		return fmt.Errorf("save idempotency key: %w", ports.ErrStale)
	}
	return err
}

// Finish implements ports.IdempotencyKeys. No two unanswered records of a key have one time of creation: Save lets the
// second in only after the first one's lease.
func (k idempotencyKeys) Finish(_ context.Context, r ports.IdempotencyRecord) error {
	const doing = "finish idempotency key"
	body := r.Body
	if body == nil {
		body = []byte{}
	}
	res := k.db.Exec(
		"UPDATE idempotency_keys SET status = ?, body = ?, lease_until = ? WHERE creator_id = ? AND route = ? AND key = ? AND status = 0 AND created_at = ?",
		r.Status, body, r.LeaseUntil.UnixMilli(), r.CreatorID, r.Route, r.Key, millis(r.CreatedAt))
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("%s: %w", doing, ports.ErrNotFound)
	}
	return k.failure(doing, res.Error)
}

// DeleteBefore implements ports.IdempotencyKeys.
func (k idempotencyKeys) DeleteBefore(_ context.Context, at time.Time) error {
	return k.failure("forget idempotency keys", k.db.Exec("DELETE FROM idempotency_keys WHERE created_at < ?", millis(at)).Error)
}

type clockOffsets struct {
	table
	// point reads outside transactions; nil inside one.
	point func(ctx context.Context, query string, args ...any) row
}

// Offset implements ports.ClockOffsets. Nearly every use case asks, so outside transactions it goes without gorm.
func (c clockOffsets) Offset(ctx context.Context, creatorID string) (time.Duration, error) {
	if c.point != nil {
		var ms int64
		err := c.point(ctx, "SELECT COALESCE(MAX(offset_ms), 0) FROM clock_offsets WHERE creator_id = $1", creatorID).Scan(&ms)
		return time.Duration(ms) * time.Millisecond, c.failure("read clock offset", err)
	}
	offset, err := offsetOf(c.db, creatorID)
	return offset, c.failure("read clock offset", err)
}

// Advance implements ports.ClockOffsets.
func (c clockOffsets) Advance(_ context.Context, creatorID string, offset time.Duration) error {
	err := c.db.Exec(
		"INSERT INTO clock_offsets (creator_id, offset_ms) VALUES (?, ?) ON CONFLICT (creator_id) DO UPDATE "+
			"SET offset_ms = excluded.offset_ms WHERE clock_offsets.offset_ms < excluded.offset_ms",
		creatorID, offset.Milliseconds()).Error
	if tx, ok := current(c.db.Statement.Context); ok {
		delete(tx.offsets, creatorID)
	}
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
