package httpapi

import (
	"strconv"

	"sundry/core/appointment"
	"sundry/core/fault"
)

// SlotRequest is a time that a buyer chose (specification "Appointment selection").
type SlotRequest struct {
	StartsAt     *string `json:"startsAt"`
	Timezone     string  `json:"timezone"`
	DeliveryMode *string `json:"deliveryMode"`
}

// Choice returns the time, with field as its path in the request. VALIDATION_FAILED.
func (in *SlotRequest) Choice(field string) (appointment.SlotChoice, error) {
	var read, validated fault.Violations
	p := appointment.SlotChoice{Field: field}
	if !read.Check(in != nil, field, fault.DetailRequired, "Expected one of the slots.") {
		return p, read.Err()
	}
	at := read.Nest(field)
	at.Check(
		in.DeliveryMode == nil || *in.DeliveryMode != "", "deliveryMode", fault.DetailNotAllowed,
		"Expected virtual or in_person.",
	)
	p.StartsAt, p.Timezone, p.DeliveryMode = ReadTime(at, "startsAt", in.StartsAt), in.Timezone,
		appointment.DeliveryMode(ValueOf(in.DeliveryMode))
	p.Check(validated.Nest(field))
	return p, MergeFieldErrors(read.Err(), validated.Err())
}

// ReadSlots returns the times of a request: nil when it has none. Where both members are allowed, only one may be sent.
// VALIDATION_FAILED.
func ReadSlots(one *SlotRequest, several *[]SlotRequest) (all []appointment.SlotChoice, err error) {
	if one != nil {
		p, wrong := one.Choice("appointmentSlot")
		all, err = append(all, p), wrong
	}
	if several == nil {
		return all, err
	}
	var f fault.Violations
	f.Check(
		one == nil, "appointmentSlots", fault.DetailNotAllowed,
		"Send either appointmentSlot or appointmentSlots, not both.",
	)
	faults := []error{err, f.Err()}
	all = make([]appointment.SlotChoice, len(*several))
	for i := range *several {
		all[i], err = (*several)[i].Choice("appointmentSlots[" + strconv.Itoa(i) + "]")
		faults = append(faults, err)
	}
	return all, MergeFieldErrors(nil, faults...)
}
