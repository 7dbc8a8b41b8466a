package checkout

import (
	"sundry/core/apiformat"
	"sundry/core/appointment"
	"sundry/core/checkout"
)

// chosenSlotView is a time chosen, as sessions show it.
type chosenSlotView struct {
	StartsAt     *string `json:"startsAt"`
	EndsAt       *string `json:"endsAt"`
	Timezone     string  `json:"timezone"`
	DeliveryMode string  `json:"deliveryMode"`
}

func newChosenSlotViews(slots []checkout.AppointmentSlot) []chosenSlotView {
	views := make([]chosenSlotView, len(slots))
	for i, s := range slots {
		views[i] = chosenSlotView{apiformat.Time(s.StartsAt), apiformat.Time(s.EndsAt), s.Timezone, s.DeliveryMode}
	}
	return views
}

// receiptAppointmentView is an appointment, as receipts show it.
type receiptAppointmentView struct {
	ID           string                   `json:"id"`
	Status       appointment.Status       `json:"status"`
	StartsAt     *string                  `json:"startsAt"`
	EndsAt       *string                  `json:"endsAt"`
	Timezone     string                   `json:"timezone"`
	DeliveryMode appointment.DeliveryMode `json:"deliveryMode"`
	MeetingURL   *string                  `json:"meetingUrl"`
	Address      *string                  `json:"address"`
	CanceledBy   *string                  `json:"canceledBy"`
	RefundID     *string                  `json:"refundId"`
}

func newReceiptAppointmentViews(booked []appointment.State) []receiptAppointmentView {
	views := make([]receiptAppointmentView, len(booked))
	for i, a := range booked {
		views[i] = receiptAppointmentView{
			ID: a.ID, Status: a.Status, StartsAt: apiformat.Time(a.StartsAt), EndsAt: apiformat.Time(a.EndsAt),
			Timezone:     a.Timezone,
			DeliveryMode: a.DeliveryMode, MeetingURL: apiformat.Text(a.MeetingURL), Address: apiformat.Text(a.Address),
			CanceledBy: apiformat.Text(string(a.CanceledBy)), RefundID: apiformat.Text(a.RefundID),
		}
	}
	return views
}
