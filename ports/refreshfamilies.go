package ports

import (
	"context"
	"time"

	"sundry/core/identity"
)

// RefreshFamilies keeps the sign-ins that can be renewed.
type RefreshFamilies interface {
	// Insert stores a new family.
	Insert(ctx context.Context, f *identity.RefreshFamily) error
	// ByID loads a family, living or not. ErrNotFound.
	ByID(ctx context.Context, id string) (*identity.RefreshFamily, error)
	// Save stores a changed family. ErrStale.
	Save(ctx context.Context, f *identity.RefreshFamily) error
	// DeleteExpired forgets the families whose token expired before the instant.
	DeleteExpired(ctx context.Context, before time.Time) error
}
