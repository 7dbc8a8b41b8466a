package ports

import (
	"context"
	"time"

	"sundry/core/identity"
)

// APIKeys keeps the secret keys of accounts.
type APIKeys interface {
	// Insert stores a new key.
	Insert(ctx context.Context, k *identity.APIKey) error
	// ByHash finds a key, in force or not, of any account by its HMAC. ErrNotFound.
	ByHash(ctx context.Context, hash []byte) (*identity.APIKey, error)
	// ByID loads a key of the account, in force or not. ErrNotFound.
	ByID(ctx context.Context, creatorID, id string) (*identity.APIKey, error)
	// Save stores a changed key. ErrStale.
	Save(ctx context.Context, k *identity.APIKey) error
	// List returns the account's keys that are not revoked, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[*identity.APIKey], error)
	// Touch records that the key was in use at the given time, unless a later use is recorded.
	Touch(ctx context.Context, id string, at time.Time) error
}
