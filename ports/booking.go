package ports

import (
	"context"
	"time"

	"sundry/core/appointment"
	"sundry/core/slot"
)

// BookingRepos are the repositories of booking.
type BookingRepos struct {
	Scheduling    Scheduling
	BusyCalendars BusyCalendars
	Reservations  Reservations
	Appointments  Appointments
	Meetings      HostedMeetings
	Accounts      MeetingAccounts
	Audit         BookingAudit
}

// Scheduling keeps when and where creators meet buyers.
type Scheduling interface {
	// Get loads what a creator has set; slot.NoSettings and no place before they have.
	Get(ctx context.Context, creatorID string) (appointment.Setup, error)
	// UpdateHours replaces when.
	UpdateHours(ctx context.Context, creatorID string, hours slot.Settings) error
	// UpdateMeetings replaces where.
	UpdateMeetings(ctx context.Context, creatorID string, meetings appointment.MeetingSettings) error
	// GetVersion returns what the open times of a listing depend on beside the time. ErrNotFound for an unknown listing.
	GetVersion(ctx context.Context, listingID string) (CalendarVersion, error)
	// GetFeedVersion returns how often a creator has replaced the address of their calendar feed.
	GetFeedVersion(ctx context.Context, creatorID string) (int64, error)
	// IncrementFeedVersion replaces it and returns the new version.
	IncrementFeedVersion(ctx context.Context, creatorID string) (int64, error)
}

// CalendarVersion identifies what decides about a listing's open times: equal versions have equal times at a time.
type CalendarVersion struct {
	// Listing is the listing's revision, and Creator rises with every change of its creator's hours, places, busy times
	// and live reservations.
	Listing, Creator int64
	// Offset is the lead of the account's clock over real time.
	Offset time.Duration
}

// BusyCalendar is another calendar of a creator, with the result of the last reading.
type BusyCalendar struct {
	URL string
	// ReadAt is the real time of the last read, because the calendar is elsewhere. It is zero before the first one.
	ReadAt time.Time
	// FailedAt is the real time of the last failed read, and Failure its reason. A later successful read clears both.
	FailedAt time.Time
	Failure  string
}

// BusyCalendars keeps the other calendars of creators and when they are busy by them.
type BusyCalendars interface {
	// List lists a creator's calendars in their order.
	List(ctx context.Context, creatorID string) ([]BusyCalendar, error)
	// Update replaces the list. What is known of those that stay is kept, of the others nothing.
	Update(ctx context.Context, creatorID string, urls []string) error
	// UpdateTimes replaces the busy times of a calendar, which was read. Nothing happens to one that is not in the list.
	UpdateTimes(ctx context.Context, creatorID, url string, times []slot.Interval, at time.Time) error
	// UpdateFailure saves the reason a calendar could not be read. Its busy times stay.
	UpdateFailure(ctx context.Context, creatorID, url, reason string, at time.Time) error
	// ListTimes lists when a creator is busy within an interval, by all their calendars, in any order.
	ListTimes(ctx context.Context, creatorID string, during slot.Interval) ([]slot.Interval, error)
}

// Reservations keeps the time of creators that buyers have reserved. No two live reservations of a creator ever
// overlap in what they block, no matter who writes them.
type Reservations interface {
	// Lock makes this transaction the only one that decides about a creator's time, or on which accounts they meet
	// buyers, until it ends.
	Lock(ctx context.Context, creatorID string) error
	// Insert writes new reservations of one creator. If any of them overlaps a live one it writes none: ok is false.
	Insert(ctx context.Context, reservations []appointment.ReservationState) (ok bool, err error)
	// InsertSeat writes a new seat of a group. *DuplicateError of reservation_seats_live when another live one has its
	// number.
	InsertSeat(ctx context.Context, seat appointment.ReservationState) error
	// Update writes a changed reservation or seat. ErrStale.
	Update(ctx context.Context, r appointment.ReservationState) error
	// GetGroup returns the reservation of a group. ErrNotFound.
	GetGroup(ctx context.Context, creatorID, groupID string) (appointment.ReservationState, error)
	// ListSeats lists the live seats of a group, by number.
	ListSeats(ctx context.Context, creatorID, groupID string) ([]appointment.ReservationState, error)
	// ListByCheckout lists what a session ever reserved, seats included, by position and then by id.
	ListByCheckout(ctx context.Context, creatorID, checkoutID string) ([]appointment.ReservationState, error)
	// ListLive lists the reservations that keep some of a creator's time of an interval, by time. It costs no more when
	// many others lie in the past.
	ListLive(ctx context.Context, creatorID string, during slot.Interval) ([]LiveReservation, error)
}

// LiveReservation is a reservation as a calendar needs it.
type LiveReservation struct {
	ID        string
	ListingID string
	VariantID string
	StartsAt  time.Time
	EndsAt    time.Time
	Blocked   slot.Interval
	// Seats is the number of buyers who can share it, and Taken how many do; both are 0 for a time of one buyer.
	Seats, Taken int
}

// Appointments keeps what was booked and paid for.
type Appointments interface {
	// Insert writes a new appointment. *DuplicateError of appointments_creator_id_checkout_id_position when the session
	// has one in its place.
	Insert(ctx context.Context, a appointment.State) error
	// Get returns an appointment of any account: the buyer's link knows only the id. ErrNotFound.
	Get(ctx context.Context, id string) (appointment.State, error)
	// Update writes a changed appointment. ErrStale.
	Update(ctx context.Context, a appointment.State) error
	// ListByCheckout lists a session's appointments by position.
	ListByCheckout(ctx context.Context, creatorID, checkoutID string) ([]appointment.State, error)
	// ListByGroup lists the appointments that share a time, canceled ones too, oldest first.
	ListByGroup(ctx context.Context, creatorID, groupID string) ([]appointment.State, error)
	// List returns those of the account's appointments that a search is for, newest first.
	List(ctx context.Context, creatorID string, search AppointmentSearch, page Page) (List[appointment.State], error)
	// ListFrom lists the account's appointments that start at or after from, soonest first, at most limit.
	ListFrom(ctx context.Context, creatorID string, from time.Time, limit int) ([]appointment.State, error)
	// Rename gives a customer's appointments the integrator's own identifier.
	Rename(ctx context.Context, creatorID, customerID, externalCustomerID string) error
}

// AppointmentSearch specifies which appointments are listed; every zero member is any.
type AppointmentSearch struct {
	ExternalCustomerID string
	CustomerID         string
	ListingID          string
	CheckoutID         string
	Status             appointment.Status
	// From and To bound when they start, From included, To not.
	From, To time.Time
	// CustomerIDs are those of customers of whom one has it; nil = any.
	CustomerIDs []string
}

// BookingAudit reads booking for `sundry verify`. Each method returns at most limit ids that break its rule.
type BookingAudit interface {
	// ListOverlaps lists live reservations that share a moment with another of their creator.
	ListOverlaps(ctx context.Context, limit int) ([]string, error)
	// ListUnmatched lists confirmed appointments without their confirmed reservation, and confirmed reservations without
	// appointment.
	ListUnmatched(ctx context.Context, limit int) ([]string, error)
	// ListMisseated lists groups with more live seats than they have, or that are live without any, and live seats of
	// groups that are not, or of another time.
	ListMisseated(ctx context.Context, limit int) ([]string, error)
}

// HostedMeetings keeps the meetings that are made on creators' accounts at providers.
type HostedMeetings interface {
	// Insert writes a new meeting. ErrDuplicate when its room has one.
	Insert(ctx context.Context, m appointment.HostedMeeting) error
	// Get returns the meeting of a room, of any account: a room's address is all that those who meet know. ErrNotFound.
	Get(ctx context.Context, room string) (appointment.HostedMeeting, error)
	// Update writes a changed meeting. ErrStale.
	Update(ctx context.Context, m appointment.HostedMeeting) error
	// ListUnmade lists a creator's meetings at a provider that it has not made, at most limit, newest first.
	ListUnmade(ctx context.Context, creatorID string, provider appointment.Provider, limit int) (
		[]appointment.HostedMeeting, error)
}

// MeetingAccounts keeps creators' accounts at providers of meetings, one at each.
type MeetingAccounts interface {
	// Put writes an account in the place of the one that the creator had at the provider.
	Put(ctx context.Context, a appointment.MeetingAccount) error
	// Get returns a creator's account. ErrNotFound.
	Get(ctx context.Context, creatorID string, provider appointment.Provider) (appointment.MeetingAccount, error)
	// Update writes a changed account. ErrStale.
	Update(ctx context.Context, a appointment.MeetingAccount) error
	// List lists a creator's accounts, by provider.
	List(ctx context.Context, creatorID string) ([]appointment.MeetingAccount, error)
	// Delete deletes an account; nothing when there is none.
	Delete(ctx context.Context, creatorID string, provider appointment.Provider) error
}
