package webhooks

import (
	"context"

	"sundry/core/apiformat"
	"sundry/core/appointment"
	"sundry/core/event"
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
	FullRefundHours    *int    `json:"fullRefundHours"`
	CancelReason       *string `json:"cancelReason"`
	CanceledAt         *string `json:"canceledAt"`
	CanceledBy         *string `json:"canceledBy"`
	RefundDecision     *string `json:"refundDecision"`
	RefundID           *string `json:"refundId"`
	CreatedAt          *string `json:"createdAt"`
	PreviousStartsAt   *string `json:"previousStartsAt,omitempty"`
}

func appointmentData(a appointment.State) Appointment {
	return Appointment{
		ID: a.ID, Status: string(a.Status), ListingID: a.ListingID, VariantID: a.VariantID, CheckoutID: a.CheckoutID,
		ExternalCustomerID: apiformat.Text(a.ExternalCustomerID), StartsAt: apiformat.Time(a.StartsAt), EndsAt: apiformat.Time(a.EndsAt), Timezone: a.Timezone,
		DeliveryMode: string(a.DeliveryMode), MeetingURL: apiformat.Text(a.MeetingURL), Address: apiformat.Text(a.Address),
		FullRefundHours: a.RefundPolicy.Hours(), CancelReason: apiformat.Text(a.CancelReason), CanceledAt: apiformat.Time(a.CanceledAt),
		CanceledBy: apiformat.Text(string(a.CanceledBy)), RefundDecision: apiformat.Text(string(a.RefundDecision)), RefundID: apiformat.Text(a.RefundID), CreatedAt: apiformat.Time(a.CreatedAt),
	}
}

// OnAppointmentBooked publishes appointment.booked.
func (s *Service) OnAppointmentBooked(ctx context.Context, r ports.Repos, e appointment.Booked) error {
	return s.publish(ctx, r, e.CreatorID, event.AppointmentBooked, appointmentData(e.State))
}

// OnAppointmentRescheduled publishes appointment.rescheduled.
func (s *Service) OnAppointmentRescheduled(ctx context.Context, r ports.Repos, e appointment.Rescheduled) error {
	data := appointmentData(e.State)
	data.PreviousStartsAt = apiformat.Time(e.PreviousStartsAt)
	return s.publish(ctx, r, e.CreatorID, event.AppointmentRescheduled, data)
}

// OnAppointmentCanceled publishes appointment.canceled.
func (s *Service) OnAppointmentCanceled(ctx context.Context, r ports.Repos, e appointment.Canceled) error {
	return s.publish(ctx, r, e.CreatorID, event.AppointmentCanceled, appointmentData(e.State))
}
