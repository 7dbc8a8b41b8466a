package ports

import (
	"context"
	"errors"
)

// ErrBusy reports that a bounded resource was not free in time: the same call may succeed a little later.
var ErrBusy = errors.New("busy")

// PasswordHasher turns passwords into something that may be stored. Both methods are slow on purpose and wait for
// their turn; ErrBusy when it does not come in time.
type PasswordHasher interface {
	// Hash returns a salted hash that carries its own parameters.
	Hash(ctx context.Context, password string) (string, error)
	// Matches reports whether the password is the one that was hashed. The empty hash matches nothing and takes as long
	// as any other. An error other than ErrBusy means that hash is none of Hash's.
	Matches(ctx context.Context, hash, password string) (bool, error)
}
