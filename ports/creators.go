package ports

import (
	"context"

	"sundry/core/identity"
)

// Creators keeps the people who sell. It is the one repository that is not bound to an account: it is where accounts
// come from.
type Creators interface {
	// Insert stores a new creator. ErrDuplicate (creators_email) when the address is taken.
	Insert(ctx context.Context, c *identity.Creator) error
	// Any reports whether there is a creator at all.
	Any(ctx context.Context) (bool, error)
	// ByID loads a creator. ErrNotFound.
	ByID(ctx context.Context, id string) (*identity.Creator, error)
	// ByEmail loads a creator by normalised address. ErrNotFound.
	ByEmail(ctx context.Context, address string) (*identity.Creator, error)
}
