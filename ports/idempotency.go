package ports

import (
	"context"
	"time"
)

// IdempotencyRecord is the answer once given to (account, route, key).
type IdempotencyRecord struct {
	CreatorID string
	Route     string
	Key       string
	BodyHash  []byte
	// Status is the HTTP status of the stored answer; 0 while the first request is still under way.
	Status int
	Body   []byte
	// LeaseUntil bounds how long an unfinished record blocks its key: past it the first request is taken for dead.
	LeaseUntil time.Time
	CreatedAt  time.Time
}

// IdempotencyKeys remembers answers for 24 hours. All calls belong inside a transaction.
type IdempotencyKeys interface {
	// Claim takes (account, route, key) until the transaction ends and returns its record. locked is false when another
	// request holds it now. ErrNotFound when it is locked and no record was there when it was asked for: one may have
	// been written since, and Save refuses then.
	Claim(ctx context.Context, creatorID, route, key string) (record IdempotencyRecord, locked bool, err error)
	// Save inserts the record, or replaces one that is older than staleBefore or was never answered and whose lease is
	// over when the new one is created. ErrStale when a record is there that must not be replaced.
	Save(ctx context.Context, record IdempotencyRecord, staleBefore time.Time) error
	// Finish writes the answer and the lease into the unanswered record that the same request has saved. ErrNotFound
	// when its lease ended and another request has taken the key.
	Finish(ctx context.Context, record IdempotencyRecord) error
	// DeleteBefore forgets what is older than the instant.
	DeleteBefore(ctx context.Context, at time.Time) error
}
