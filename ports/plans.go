package ports

import (
	"context"

	"sundry/core/plan"
)

// Plans keeps the plans of listings. Their listing's revision rises with every change, so that two changes of one
// listing's plans never mix.
type Plans interface {
	// Of lists every plan of a listing, retired ones included, oldest first.
	Of(ctx context.Context, creatorID, listingID string) ([]plan.State, error)
	// Save stores a plan: a new one has revision 1, a known one a revision raised by one. ErrStale when it changed since.
	Save(ctx context.Context, s plan.State) error
}
