package httpapi

import (
	"strconv"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/wire"
)

// slotRequest is a time that a buyer chose (specification "Appointment selection").
type slotRequest struct {
	StartsAt     *string `json:"startsAt"`
	Timezone     string  `json:"timezone"`
	DeliveryMode *string `json:"deliveryMode"`
}

// pick is the time, with field as its path in the request. VALIDATION_FAILED.
func (in *slotRequest) pick(field string) (appointment.Pick, error) {
	var read, judged fault.Faults
	p := appointment.Pick{Field: field}
	if !read.Check(in != nil, field, fault.DetailRequired, "Expected one of the slots.") {
		return p, read.Err()
	}
	at := read.Nest(field)
	at.Check(in.DeliveryMode == nil || *in.DeliveryMode != "", "deliveryMode", fault.DetailNotAllowed, "Expected virtual or in_person.")
	p.StartsAt, p.Timezone, p.DeliveryMode = instant(at, "startsAt", in.StartsAt), in.Timezone, appointment.DeliveryMode(or(in.DeliveryMode))
	p.Check(judged.Nest(field))
	return p, together(read.Err(), judged.Err())
}

// picks are the times of a request: nil when it has none. Where both members are allowed, only one may be sent.
// VALIDATION_FAILED.
func picks(one *slotRequest, several *[]slotRequest) (all []appointment.Pick, err error) {
	if one != nil {
		p, wrong := one.pick("appointmentSlot")
		all, err = append(all, p), wrong
	}
	if several == nil {
		return all, err
	}
	var f fault.Faults
	f.Check(one == nil, "appointmentSlots", fault.DetailNotAllowed, "Send either appointmentSlot or appointmentSlots, not both.")
	faults := []error{err, f.Err()}
	all = make([]appointment.Pick, len(*several))
	for i := range *several {
		all[i], err = (*several)[i].pick("appointmentSlots[" + strconv.Itoa(i) + "]")
		faults = append(faults, err)
	}
	return all, together(nil, faults...)
}

// chosenSlotView is a time chosen, as sessions show it.
type chosenSlotView struct {
	StartsAt     *string `json:"startsAt"`
	EndsAt       *string `json:"endsAt"`
	Timezone     string  `json:"timezone"`
	DeliveryMode string  `json:"deliveryMode"`
}

func chosenSlotViews(slots []checkout.AppointmentSlot) []chosenSlotView {
	views := make([]chosenSlotView, len(slots))
	for i, s := range slots {
		views[i] = chosenSlotView{wire.Time(s.StartsAt), wire.Time(s.EndsAt), s.Timezone, s.DeliveryMode}
	}
	return views
}

// receiptAppointmentView is an appointment, as receipts show it (contract §5).
type receiptAppointmentView struct {
	ID           string                   `json:"id"`
	StartsAt     *string                  `json:"startsAt"`
	EndsAt       *string                  `json:"endsAt"`
	Timezone     string                   `json:"timezone"`
	DeliveryMode appointment.DeliveryMode `json:"deliveryMode"`
	MeetingURL   *string                  `json:"meetingUrl"`
	Address      *string                  `json:"address"`
}

func receiptAppointmentViews(booked []appointment.State) []receiptAppointmentView {
	views := make([]receiptAppointmentView, len(booked))
	for i, a := range booked {
		views[i] = receiptAppointmentView{a.ID, wire.Time(a.StartsAt), wire.Time(a.EndsAt), a.Timezone, a.DeliveryMode, wire.Text(a.MeetingURL), wire.Text(a.Address)}
	}
	return views
}
