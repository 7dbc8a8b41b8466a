package ports

import (
	"context"
	"errors"
	"time"
)

// IdempotencyLifetime is the time for which a key belongs to its request.
const IdempotencyLifetime = 24 * time.Hour

// IdempotentRequest is a request with what its key is bound to.
type IdempotentRequest struct {
	CreatorID string
	// Route is method and path pattern.
	Route string
	Key   string
	// Hash is of all that must be the same when the key is sent again.
	Hash []byte
}

// StoredResponse is the response to the first request of a key.
type StoredResponse struct {
	Status int
	Body   []byte
}

// IdempotentRequests runs each request at most once under its key. An error of work leaves the key free and comes back;
// replayed means that work has no effect, because the key has a response. IDEMPOTENCY_KEY_MISMATCH when the key belongs
// to another request, IDEMPOTENCY_IN_PROGRESS while its first request runs.
type IdempotentRequests interface {
	// Transactional runs work in one transaction, which ctx carries, with the claim of the key and the response. The
	// transaction may be run again.
	Transactional(ctx context.Context, request IdempotentRequest,
		work func(ctx context.Context) (StoredResponse, error)) (response StoredResponse, replayed bool, err error)
	// Leased claims the key, runs work outside any transaction, and stores the response. The claim of a process that
	// died ends with its lease.
	Leased(ctx context.Context, request IdempotentRequest,
		work func(ctx context.Context) (StoredResponse, error)) (response StoredResponse, replayed bool, err error)
}

// IdempotencyRecord is the response once given to (account, route, key).
type IdempotencyRecord struct {
	CreatorID string
	Route     string
	Key       string
	BodyHash  []byte
	// Status is the HTTP status of the stored response; 0 while the first request is still under way.
	Status int
	Body   []byte
	// LeaseUntil bounds how long an unfinished record blocks its key: past it the first request is taken for dead.
	LeaseUntil time.Time
	CreatedAt  time.Time
}

// ErrKeyTaken means that a key has a record, or that another request is working under it.
var ErrKeyTaken = errors.New("the idempotency key is taken")

// IdempotencyKeys keeps responses for 24 hours. All calls belong inside a transaction.
type IdempotencyKeys interface {
	// Lock takes (account, route, key) until the transaction ends and returns its record. locked is false when another
	// request holds it now. ErrNotFound when it is locked and no record was there when it was asked for: one may have
	// been written since, and Save refuses then.
	Lock(ctx context.Context, creatorID, route, key string) (record IdempotencyRecord, locked bool, err error)
	// LockNew is Lock of a key without a record, which nearly all keys are. ErrKeyTaken, perhaps with a later call of the
	// transaction, when there is one or another request holds the key.
	LockNew(ctx context.Context, creatorID, route, key string) error
	// Insert inserts the record, or replaces one that is older than staleBefore or never got a response and whose lease is
	// over when the new one is created. ErrStale when a record is there that must not be replaced.
	Insert(ctx context.Context, record IdempotencyRecord, staleBefore time.Time) error
	// Complete writes the response and the lease into the unanswered record that the same request has saved. ErrNotFound
	// when its lease ended and another request has taken the key.
	Complete(ctx context.Context, record IdempotencyRecord) error
	// DeleteBefore forgets what is older than the instant.
	DeleteBefore(ctx context.Context, at time.Time) error
}
