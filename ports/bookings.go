package ports

import (
	"context"

	"sundry/core/appointment"
	"sundry/core/event"
)

// Hold is what a checkout session wants to keep for its buyer.
type Hold struct {
	CreatorID  string
	CheckoutID string
	ListingID  string
	VariantID  string // "" = the default one
	// DurationMinutes and SessionCount are what was sold, whatever the variant says by now; 0 = as it is.
	DurationMinutes, SessionCount int
	// Picks are in the buyer's order.
	Picks []appointment.Pick
}

// Confirmation says whose payment of a session has arrived.
type Confirmation struct {
	CreatorID  string
	CheckoutID string
	Buyer      appointment.Buyer
}

// Bookings is what selling asks booking, inside its own transaction but for TakeTurn. After a refusal the transaction must
// not commit, except where it says otherwise.
type Bookings interface {
	// TakeTurn waits, outside any transaction, until nobody else is deciding about the times of a hold, or for as long as
	// that is worth it; leave ends the turn. It refuses nothing: Hold does.
	TakeTurn(ctx context.Context, h Hold) (leave func())
	// Ready refuses with NOT_BOOKABLE, naming each missing thing, what cannot be booked as it stands. NOT_FOUND.
	Ready(ctx context.Context, r Repos, creatorID, listingID, variantID string) error
	// Hold claims times for a session, all or none, in the place of those that it held before. The claims come back in
	// the buyer's order. NOT_FOUND, NOT_BOOKABLE naming each missing thing, VALIDATION_FAILED, INVALID_TIMEZONE,
	// SLOT_COUNT_MISMATCH, SLOTS_OVERLAP, SLOT_IN_PAST, SLOT_TAKEN, STATE_CONFLICT once they are confirmed.
	Hold(ctx context.Context, r Repos, h Hold) ([]appointment.ClaimState, error)
	// Held lists the live claims of a session by position: fewer than it chose when it has lost them.
	Held(ctx context.Context, r Repos, creatorID, checkoutID string) ([]appointment.ClaimState, error)
	// Release gives back what a session holds; again, it changes nothing. STATE_CONFLICT once confirmed.
	Release(ctx context.Context, r Repos, creatorID, checkoutID string) error
	// Confirm makes an appointment of each time of a session that is paid; again, it answers the same. Times that were
	// released meanwhile are claimed again: ok is false when that cannot be done for all of them. Nothing has changed
	// then, the transaction may go on, and the buyer gets the money back.
	// What was booked is the caller's to publish, after its own news.
	Confirm(ctx context.Context, r Repos, c Confirmation) (booked []event.Event, ok bool, err error)
	// Booked lists the appointments of a session by position, canceled ones too.
	Booked(ctx context.Context, r Repos, creatorID, checkoutID string) ([]appointment.State, error)
}
