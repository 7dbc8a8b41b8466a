package appointment

import (
	"slices"

	"sundry/core/listing"
	"sundry/core/slot"
)

// DeliveryMode is where the two meet.
type DeliveryMode string

// The modes of the specification.
const (
	Virtual  DeliveryMode = "virtual"
	InPerson DeliveryMode = "in_person"
)

func (m DeliveryMode) known() bool { return m == Virtual || m == InPerson }

// Modes are what a listing offers: both when it is hybrid, none when it is not for appointments.
func Modes(l listing.State) []DeliveryMode {
	modes := []DeliveryMode{}
	for _, mode := range l.DeliveryModes() {
		modes = append(modes, DeliveryMode(mode))
	}
	return modes
}

func offers(l listing.State, mode DeliveryMode) bool { return slices.Contains(Modes(l), mode) }

// Policy is how a listing offers the times of one of its variants.
func Policy(l listing.State, v listing.Variant) slot.Policy {
	step := int(l.Number(listing.SlotIntervalMinutes))
	if step == 0 {
		step = v.DurationMinutes
	}
	return slot.Policy{
		Duration: v.DurationMinutes, Step: step,
		BufferBefore: int(l.Number(listing.BufferBefore)), BufferAfter: int(l.Number(listing.BufferAfter)),
		Notice: int(l.Number(listing.MinimumNotice)), HorizonDays: int(l.Number(listing.HorizonDays)),
		DailyCap: int(l.Number(listing.DailyCap)), WeeklyCap: int(l.Number(listing.WeeklyCap)),
	}
}
