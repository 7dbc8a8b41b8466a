package booking

import (
	"context"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/ports"
)

var _ ports.CatalogPart[appointment.File] = (*Service)(nil)

// ExportPart implements ports.CatalogPart.
func (s *Service) ExportPart(ctx context.Context, r ports.Repos, creatorID string) (appointment.File, error) {
	setup, err := r.Booking.Scheduling.Get(ctx, creatorID)
	return appointment.File{Hours: setup.Hours.Clean(), Meetings: setup.Meetings}, err
}

// ImportPart implements ports.CatalogPart. The creator's other calendars stay.
func (s *Service) ImportPart(ctx context.Context, r ports.Repos, creatorID string, part appointment.File) error {
	var f fault.Violations
	_, wrong := part.Hours.Availability()
	if fault.Is(wrong, fault.InvalidTimezone) {
		return wrong
	}
	for name, err := range map[string]error{"hours": wrong, "meetings": part.Meetings.Check()} {
		if err := f.Nest(name).Merge(err); err != nil {
			return err
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	if err := r.Booking.Scheduling.UpdateHours(ctx, creatorID, part.Hours.Clean()); err != nil {
		return err
	}
	if err := f.Nest("meetings").Merge(s.checkConnected(ctx, r, creatorID, part.Meetings)); err != nil {
		return err
	}
	if err := f.Err(); err != nil {
		return err
	}
	return r.Booking.Scheduling.UpdateMeetings(ctx, creatorID, part.Meetings)
}
