package booking

import (
	"context"

	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/listing"
)

// Window tells a calendar page which days it may query.
type Window struct {
	// Timezone is the creator's, IANA; From and Until, both included, are the creator's days that may have open times.
	Timezone    string
	From, Until civil.Date
	// Gap is the number of minutes that must lie between two sessions.
	Gap int
}

// Window checks a variant ("" = the default one). ok is false when nothing of it can be booked on any day: it is no
// longer sold, or its creator has not set up hours and places.
func (s *Service) Window(ctx context.Context, listingID, variantID string) (w Window, ok bool, err error) {
	b, err := s.bookable(ctx, s.deps.Store.Read(ctx), listingID, variantID)
	if fault.Is(err, fault.NotFoundCode) {
		return Window{}, false, nil
	}
	if err != nil || b.Listing.Status != listing.Active || b.Ready() != nil {
		return Window{}, false, err
	}
	zone, err := civil.ParseZone(b.Hours.Timezone)
	if err != nil {
		return Window{}, false, err
	}
	now, err := s.deps.Clock.Now(ctx, b.Listing.CreatorID)
	if err != nil {
		return Window{}, false, err
	}
	policy, today := b.Policy(), civil.DateIn(zone, now)
	return Window{
		Timezone: b.Hours.Timezone, From: today,
		Until: today + civil.Date(policy.HorizonDays), //nolint:gosec // at most two years
		Gap:   policy.BufferBefore + policy.BufferAfter,
	}, true, nil
}
