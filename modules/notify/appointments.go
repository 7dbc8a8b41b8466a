package notify

import (
	"context"

	"sundry/core/appointment"
	"sundry/core/event"
	"sundry/core/wire"
	"sundry/modules/notify/letter"
	"sundry/ports"
)

// Appointment is the data of appointment.* events. PreviousStartsAt is there when one was moved.
type Appointment struct {
	ID                 string  `json:"id"`
	Status             string  `json:"status"`
	ListingID          string  `json:"listingId"`
	VariantID          string  `json:"variantId"`
	CheckoutID         string  `json:"checkoutId"`
	ExternalCustomerID *string `json:"externalCustomerId"`
	StartsAt           *string `json:"startsAt"`
	EndsAt             *string `json:"endsAt"`
	Timezone           string  `json:"timezone"`
	DeliveryMode       string  `json:"deliveryMode"`
	MeetingURL         *string `json:"meetingUrl"`
	Address            *string `json:"address"`
	CancelReason       *string `json:"cancelReason"`
	CanceledAt         *string `json:"canceledAt"`
	CreatedAt          *string `json:"createdAt"`
	PreviousStartsAt   *string `json:"previousStartsAt,omitempty"`
}

func appointmentData(a appointment.State) Appointment {
	return Appointment{
		ID: a.ID, Status: string(a.Status), ListingID: a.ListingID, VariantID: a.VariantID, CheckoutID: a.CheckoutID,
		ExternalCustomerID: wire.Text(a.ExternalCustomerID), StartsAt: wire.Time(a.StartsAt), EndsAt: wire.Time(a.EndsAt), Timezone: a.Timezone,
		DeliveryMode: string(a.DeliveryMode), MeetingURL: wire.Text(a.MeetingURL), Address: wire.Text(a.Address),
		CancelReason: wire.Text(a.CancelReason), CanceledAt: wire.Time(a.CanceledAt), CreatedAt: wire.Time(a.CreatedAt),
	}
}

// OnAppointmentBooked emits appointment.booked, tells the buyer and the creator, and sets the reminders.
func (s *Service) OnAppointmentBooked(ctx context.Context, r ports.Repos, e appointment.Booked) error {
	if err := s.emit(ctx, r, e.CreatorID, event.AppointmentBooked, appointmentData(e.State)); err != nil {
		return err
	}
	return s.changed(ctx, r, change{State: e.State, toBuyer: letter.KindAppointmentBooked, toCreator: letter.KindCreatorBooked, method: ports.CalendarRequest})
}

// OnAppointmentRescheduled emits appointment.rescheduled, tells both of the new time and moves the reminders.
func (s *Service) OnAppointmentRescheduled(ctx context.Context, r ports.Repos, e appointment.Rescheduled) error {
	data := appointmentData(e.State)
	data.PreviousStartsAt = wire.Time(e.PreviousStartsAt)
	if err := s.emit(ctx, r, e.CreatorID, event.AppointmentRescheduled, data); err != nil {
		return err
	}
	return s.changed(ctx, r, change{
		State: e.State, previousStartsAt: e.PreviousStartsAt, toBuyer: letter.KindAppointmentRescheduled, toCreator: letter.KindCreatorRescheduled,
		method: ports.CalendarRequest,
	})
}

// OnAppointmentCanceled emits appointment.canceled, tells both and drops the reminders.
func (s *Service) OnAppointmentCanceled(ctx context.Context, r ports.Repos, e appointment.Canceled) error {
	if err := s.emit(ctx, r, e.CreatorID, event.AppointmentCanceled, appointmentData(e.State)); err != nil {
		return err
	}
	return s.changed(ctx, r, change{State: e.State, toBuyer: letter.KindAppointmentCanceled, toCreator: letter.KindCreatorCanceled, method: ports.CalendarCancel})
}

// changed tells people of a change and brings the reminders in line with it.
func (s *Service) changed(ctx context.Context, r ports.Repos, c change) error {
	if err := s.mailChange(ctx, r, c); err != nil {
		return err
	}
	return s.scheduleReminders(ctx, r, c.State)
}
