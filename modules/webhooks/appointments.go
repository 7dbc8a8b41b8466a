package webhooks

import (
	"context"

	"sundry/core/apiformat"
	"sundry/core/appointment"
	"sundry/core/event"
	"sundry/ports"
)

// OnAppointmentBooked publishes appointment.booked.
func (s *Service) OnAppointmentBooked(ctx context.Context, r ports.Repos, e appointment.Booked) error {
	return s.publish(ctx, r, e.CreatorID, event.AppointmentBooked, e.View())
}

// OnAppointmentRescheduled publishes appointment.rescheduled.
func (s *Service) OnAppointmentRescheduled(ctx context.Context, r ports.Repos, e appointment.Rescheduled) error {
	data := e.View()
	data.PreviousStartsAt = apiformat.Time(e.PreviousStartsAt)
	return s.publish(ctx, r, e.CreatorID, event.AppointmentRescheduled, data)
}

// OnAppointmentCanceled publishes appointment.canceled.
func (s *Service) OnAppointmentCanceled(ctx context.Context, r ports.Repos, e appointment.Canceled) error {
	return s.publish(ctx, r, e.CreatorID, event.AppointmentCanceled, e.View())
}
