package ports

import (
	"context"
	"time"
)

// StoredKey is a key of this deployment as the database keeps it.
type StoredKey struct {
	// Group is the set of purposes that the key is for. Generation is its number in the group, from 0.
	Group      string
	Generation int64
	// Wrapped is the key, encrypted under APP_SECRET.
	Wrapped []byte
	// CreatedAt and ActiveFrom are real time. Until ActiveFrom the key makes nothing, so that every process knows it
	// before another one uses it.
	CreatedAt, ActiveFrom time.Time
}

// KeyStore keeps the keys of the deployment, and the columns that are encrypted with them. Each call is a transaction
// of its own.
type KeyStore interface {
	ListKeys(ctx context.Context) ([]StoredKey, error)
	// InsertKeys writes the keys of which there is no such generation yet, and leaves the others as they are.
	InsertKeys(ctx context.Context, keys []StoredKey) error
	// RewrapKeys replaces what is stored of the keys, and the check value of the secret that they are encrypted under.
	RewrapKeys(ctx context.Context, keys []StoredKey, secretCheck string) error
	DeleteKeys(ctx context.Context, keys []StoredKey) error
	// Reencrypt offers every encrypted value to renew, batch by batch, and stores what it returns unless the value was
	// changed meanwhile. purpose is that of the value's key; a nil result leaves the value. It returns how many were
	// stored.
	Reencrypt(ctx context.Context, renew func(purpose string, encrypted []byte) ([]byte, error)) (changed int, err error)
}
