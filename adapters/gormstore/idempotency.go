package gormstore

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

type idempotencyRow struct {
	CreatorID  string `gorm:"primaryKey"`
	Route      string `gorm:"primaryKey"`
	Key        string `gorm:"primaryKey"`
	BodyHash   []byte
	Status     int
	Body       []byte
	LeaseUntil int64
	CreatedAt  repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (idempotencyRow) TableName() string { return "idempotency_keys" }

type idempotencyKeys struct{ *repo.Base }

// Lock implements ports.IdempotencyKeys. On PostgreSQL lock and query are one statement, whose snapshot may be older
// than the lock: a record committed in between is not seen here, but Insert finds it and the transaction runs again.
func (k idempotencyKeys) Lock(_ context.Context, creatorID, route, key string) (ports.IdempotencyRecord, bool, error) {
	var locked bool
	var row idempotencyRow
	query := "SELECT l.locked, r.body_hash, COALESCE(r.status, -1) AS status, r.body, " +
		"COALESCE(r.lease_until, 0) AS lease_until, r.created_at FROM (SELECT " + k.Dialect.TryLock() + " AS locked) l " +
		"LEFT JOIN idempotency_keys r ON r.creator_id = ? AND r.route = ? AND r.key = ?"
	args := []any{k.lockNumber(creatorID, route, key), creatorID, route, key}
	k.PreloadWith("creators", creatorID)
	err := k.QueryRow("lock idempotency key", query, args, &locked, &row.BodyHash, &row.Status, &row.Body, &row.LeaseUntil,
		&row.CreatedAt)
	if err != nil {
		return ports.IdempotencyRecord{}, false, err
	}
	if row.Status < 0 {
		return ports.IdempotencyRecord{}, locked, ports.ErrNotFound
	}
	return ports.IdempotencyRecord{
		CreatorID: creatorID, Route: route, Key: key, BodyHash: row.BodyHash, Status: row.Status, Body: row.Body,
		LeaseUntil: time.UnixMilli(row.LeaseUntil).UTC(), CreatedAt: time.Time(row.CreatedAt),
	}, locked, nil
}

// LockNew implements ports.IdempotencyKeys. It goes with the first statement that its request waits for.
func (k idempotencyKeys) LockNew(_ context.Context, creatorID, route, key string) error {
	return k.Guard("lock new idempotency key", ports.ErrKeyTaken, "SELECT 1 FROM (SELECT "+k.Dialect.TryLock()+
		" AS locked) l WHERE l.locked AND NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE creator_id = ? AND route = ? "+
		"AND key = ?)", k.lockNumber(creatorID, route, key), creatorID, route, key)
}

func (k idempotencyKeys) lockNumber(creatorID, route, key string) int64 {
	return k.Dialect.LockNumber("idempotency\x00" + creatorID + "\x00" + route + "\x00" + key)
}

// Insert implements ports.IdempotencyKeys.
func (k idempotencyKeys) Insert(_ context.Context, r ports.IdempotencyRecord, staleBefore time.Time) error {
	row := idempotencyRow{
		CreatorID: r.CreatorID, Route: r.Route, Key: r.Key, BodyHash: r.BodyHash, Status: r.Status, Body: r.Body,
		LeaseUntil: r.LeaseUntil.UnixMilli(), CreatedAt: repo.UnixMillis(r.CreatedAt),
	}
	if row.Body == nil {
		row.Body = []byte{}
	}
	return k.InsertRowChecked("save idempotency key", &row, ports.ErrStale,
		`ON CONFLICT (creator_id, route, key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
			body = excluded.body,
			lease_until = excluded.lease_until, created_at = excluded.created_at
		WHERE idempotency_keys.status = 0 AND idempotency_keys.lease_until <= ? OR idempotency_keys.created_at < ?`,
		repo.UnixMillis(r.CreatedAt), repo.UnixMillis(staleBefore))
}

// Complete implements ports.IdempotencyKeys. No two unanswered records of a key have one time of creation: Insert lets
// the second in only after the first one's lease.
func (k idempotencyKeys) Complete(_ context.Context, r ports.IdempotencyRecord) error {
	const op = "complete idempotency key"
	body := r.Body
	if body == nil {
		body = []byte{}
	}
	res := k.DB.Exec(
		"UPDATE idempotency_keys SET status = ?, body = ?, lease_until = ? WHERE creator_id = ? AND route = ? AND key = ? "+
			"AND status = 0 AND created_at = ?",
		r.Status, body, r.LeaseUntil.UnixMilli(), r.CreatorID, r.Route, r.Key, repo.UnixMillis(r.CreatedAt))
	return k.Changed(op, res, ports.ErrNotFound)
}

// DeleteBefore implements ports.IdempotencyKeys.
func (k idempotencyKeys) DeleteBefore(_ context.Context, at time.Time) error {
	return k.Exec("delete idempotency keys", "DELETE FROM idempotency_keys WHERE created_at < ?", repo.UnixMillis(at))
}
