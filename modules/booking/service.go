// Package booking sells time: when and where creators meet buyers, the calendar of open times, and the reservations
// that make sure no time is sold twice.
package booking

import (
	"context"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/secret"
	"sundry/core/slot"
	"sundry/core/webhook"
	"sundry/ports"
)

// Config holds the settings that differ between deployments.
type Config struct {
	// BaseURL is the public origin, without a trailing slash.
	BaseURL string
	// LinkKeys are used for nothing but what opens appointments and feeds.
	LinkKeys secret.Keys
	// LastingKey is never replaced, 32 bytes: it names this deployment in calendars, and opens nothing.
	LastingKey []byte
	// Fetching specifies where busy calendars may be beside the public internet.
	Fetching webhook.Policy
}

// Service holds the use cases.
type Service struct {
	cfg        Config
	deps       Deps
	renderings renderings
}

// Deps holds the dependencies of the module.
type Deps struct {
	Store     ports.Store
	Clock     ports.Clock
	Sleeper   ports.Sleeper
	IDs       ports.IDs
	Bus       ports.Bus
	Listings  ports.BookedListings
	Accounts  ports.AccountReader
	Locks     ports.SlotLocks
	Calendars ports.CalendarWriter
	Reader    ports.CalendarReader
	Fetcher   ports.Fetcher
	// MeetingHosts are the providers that make meetings on creators' accounts.
	MeetingHosts map[appointment.Provider]ports.MeetingHost
	// Encrypter encrypts what opens those accounts.
	Encrypter ports.Encrypter
}

// New returns the module.
func New(cfg Config, d Deps) *Service { return &Service{cfg: cfg, deps: d} }

// Setup returns the hours and places at which a creator meets buyers.
func (s *Service) Setup(ctx context.Context, creatorID string) (appointment.Setup, error) {
	return s.deps.Store.Read(ctx).Booking.Scheduling.Get(ctx, creatorID)
}

// SetHours replaces when a creator works, and the other calendars that they are busy by. VALIDATION_FAILED or
// INVALID_TIMEZONE with every fault.
func (s *Service) SetHours(ctx context.Context, creatorID string, hours slot.Settings, busyCalendars ...string) error {
	if _, err := hours.Availability(); err != nil {
		return err
	}
	if err := s.CheckBusyCalendars(busyCalendars); err != nil {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Booking.Scheduling.UpdateHours(ctx, creatorID, hours); err != nil {
			return err
		}
		if err := s.setBusyCalendars(ctx, r, creatorID, busyCalendars); err != nil {
			return err
		}
		return s.audit(ctx, r, creatorID, "availability")
	})
}

// SetMeetings replaces where a creator meets buyers. VALIDATION_FAILED with every fault.
func (s *Service) SetMeetings(ctx context.Context, creatorID string, meetings appointment.MeetingSettings) error {
	if err := meetings.Check(); err != nil {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Booking.Reservations.Lock(ctx, creatorID); err != nil { // no account is disconnected meanwhile
			return err
		}
		if err := s.checkConnected(ctx, r, creatorID, meetings); err != nil {
			return err
		}
		if err := r.Booking.Scheduling.UpdateMeetings(ctx, creatorID, meetings); err != nil {
			return err
		}
		return s.audit(ctx, r, creatorID, "meetings")
	})
}

// audit records that settings of appointments were changed.
func (s *Service) audit(ctx context.Context, r ports.Repos, creatorID, settings string) error {
	return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: creatorID, Kind: identity.SettingsChanged, ObjectID: creatorID, Note: settings,
	})
}

// Readiness names what keeps a variant ("" = the default one) of the account's listing from being booked; nothing when
// it can be. NOT_FOUND for a listing of another account and for an unknown variant.
func (s *Service) Readiness(ctx context.Context, creatorID, listingID, variantID string) ([]fault.Detail, error) {
	b, err := s.ownBookable(ctx, s.deps.Store.Read(ctx), creatorID, listingID, variantID)
	if err != nil {
		return nil, err
	}
	return appointment.MissingSetup(b.Listing, b.Variant, b.Setup), nil
}

// ownBookable is bookable for a listing of the account. NOT_FOUND for another account's.
func (s *Service) ownBookable(
	ctx context.Context, r ports.Repos, creatorID, listingID, variantID string,
) (appointment.Bookable, error) {
	b, err := s.bookable(ctx, r, listingID, variantID)
	return ports.Visible(b, err, b.Listing.CreatorID == creatorID, "listing")
}

// bookable loads a variant ("" = the default one) of a listing and what its creator has set up. NOT_FOUND for an
// unknown listing or variant. A listing that is not for appointments has no variant.
func (s *Service) bookable(
	ctx context.Context, r ports.Repos, listingID, variantID string,
) (b appointment.Bookable, err error) {
	if b, err = s.offered(ctx, r, listingID, variantID); err != nil {
		return b, err
	}
	b.Setup, err = r.Booking.Scheduling.Get(ctx, b.Listing.CreatorID)
	return b, err
}

// offered is bookable without what the creator has set up.
func (s *Service) offered(
	ctx context.Context, r ports.Repos, listingID, variantID string,
) (b appointment.Bookable, err error) {
	b.Rooms = s.rooms()
	if b.Listing, err = s.deps.Listings.Listing(ctx, r, listingID); err != nil {
		return b, err
	}
	if b.Listing.Type.Bookable() || variantID != "" {
		b.Variant, err = b.Listing.Variant(variantID)
	}
	return b, err
}
