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
	// FeedVersion is how often a creator has replaced the address of their calendar feed.
	FeedVersion(ctx context.Context, creatorID string) (int64, error)
	// RaiseFeedVersion replaces it and returns the new version.
	RaiseFeedVersion(ctx context.Context, creatorID string) (int64, error)
}

// BusyCalendar is another calendar of a creator, and what reading it last came to.
type BusyCalendar struct {
	URL string
	// ReadAt is when it was last read; zero before the first time. Times are real ones: the calendar is elsewhere.
	ReadAt time.Time
	// FailedAt is when it last could not be read, and Failure why; zero and "" once it was read again.
	FailedAt time.Time
	Failure  string
}

// BusyCalendars keeps the other calendars of creators and when they are busy by them.
type BusyCalendars interface {
	// Of lists a creator's calendars in their order.
	Of(ctx context.Context, creatorID string) ([]BusyCalendar, error)
	// Set replaces the list. What is known of those that stay is kept, of the others nothing.
	Set(ctx context.Context, creatorID string, urls []string) error
	// Record replaces the busy times of a calendar, which was read. Nothing happens to one that is not in the list.
	Record(ctx context.Context, creatorID, url string, times []slot.Interval, at time.Time) error
	// Fail says why a calendar could not be read; its busy times stay.
	Fail(ctx context.Context, creatorID, url, reason string, at time.Time) error
	// Times lists when a creator is busy within an interval, by all their calendars, in any order.
	Times(ctx context.Context, creatorID string, during slot.Interval) ([]slot.Interval, error)
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
