package ports

import (
	"context"
	"time"

	"sundry/core/appointment"
	"sundry/core/slot"
)

// Scheduling keeps when and where creators meet buyers.
type Scheduling interface {
	// Get loads what a creator has said; slot.NoSettings and no place before they have.
	Get(ctx context.Context, creatorID string) (appointment.Setup, error)
	// SetHours replaces when.
	SetHours(ctx context.Context, creatorID string, hours slot.Settings) error
	// SetMeetings replaces where.
	SetMeetings(ctx context.Context, creatorID string, meetings appointment.MeetingSettings) error
}

// Claims keeps the time of creators that buyers have. No two live claims of a creator ever share a moment of what they
// block, whoever writes them.
type Claims interface {
	// Lock makes this transaction the only one that decides about a creator's time, until it ends.
	Lock(ctx context.Context, creatorID string) error
	// Take writes new claims of one creator. If any of them overlaps a live claim it writes none: taken is false.
	Take(ctx context.Context, claims []appointment.ClaimState) (taken bool, err error)
	// Save writes a changed claim. ErrStale.
	Save(ctx context.Context, c appointment.ClaimState) error
	// OfCheckout lists what a session ever claimed, by position and then by id.
	OfCheckout(ctx context.Context, creatorID, checkoutID string) ([]appointment.ClaimState, error)
	// Live lists the claims that keep some of a creator's time of an interval, by time. It costs no more when many
	// others lie in the past.
	Live(ctx context.Context, creatorID string, during slot.Interval) ([]LiveClaim, error)
}

// LiveClaim is what a calendar needs to know of a claim.
type LiveClaim struct {
	ID        string
	ListingID string
	StartsAt  time.Time
	Blocked   slot.Interval
}

// Appointments keeps what was booked and paid for.
type Appointments interface {
	// Add writes a new appointment. *DuplicateError of appointments_creator_id_checkout_id_position when the session has
	// one in its place.
	Add(ctx context.Context, a appointment.State) error
	// Get returns an appointment of any account: the buyer's link knows only the id. ErrNotFound.
	Get(ctx context.Context, id string) (appointment.State, error)
	// Save writes a changed appointment. ErrStale.
	Save(ctx context.Context, a appointment.State) error
	// OfCheckout lists a session's appointments by position.
	OfCheckout(ctx context.Context, creatorID, checkoutID string) ([]appointment.State, error)
	// List returns those of the account's appointments that a search is for, newest first.
	List(ctx context.Context, creatorID string, search AppointmentSearch, page Page) (List[appointment.State], error)
}

// AppointmentSearch says which appointments are looked for; every zero member is any.
type AppointmentSearch struct {
	ExternalCustomerID string
	ListingID          string
	Status             appointment.Status
	// From and To bound when they start, From included, To not.
	From, To time.Time
}

// BookingAudit is what `sundry verify` reads of booking. Each method returns the ids that break the rule, at most limit.
type BookingAudit interface {
	// Overlaps lists live claims that share a moment with another of their creator.
	Overlaps(ctx context.Context, limit int) ([]string, error)
	// Unmatched lists confirmed appointments without their confirmed claim, and confirmed claims without appointment.
	Unmatched(ctx context.Context, limit int) ([]string, error)
}
