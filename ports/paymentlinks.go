package ports

import (
	"context"

	"sundry/core/paymentlink"
)

// PaymentLinks keeps the links that creators share.
type PaymentLinks interface {
	// Insert stores a new link.
	Insert(ctx context.Context, s paymentlink.State) error
	// Update stores a link whose revision was raised by one. ErrStale when it changed since.
	Update(ctx context.Context, s paymentlink.State) error
	// Find loads one of the account's links. ErrNotFound.
	Find(ctx context.Context, creatorID, id string) (paymentlink.State, error)
	// FindByCode loads a link by the code in its address. ErrNotFound.
	FindByCode(ctx context.Context, code string) (paymentlink.State, error)
	// Mine lists the account's links, newest first.
	Mine(ctx context.Context, creatorID string, page Page) (List[paymentlink.State], error)
}
