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
	// TryLock takes (account, route, key) until the transaction ends; false when another request holds it now.
	TryLock(ctx context.Context, creatorID, route, key string) (bool, error)
	// Find returns the record. ErrNotFound when there is none.
	Find(ctx context.Context, creatorID, route, key string) (IdempotencyRecord, error)
	// Save inserts or replaces the record.
	Save(ctx context.Context, record IdempotencyRecord) error
	// DeleteBefore forgets what is older than the instant.
	DeleteBefore(ctx context.Context, at time.Time) error
}
