package appointment

import (
	"slices"

	"sundry/core/listing"
	"sundry/core/slot"
)

// DeliveryMode names the kind of place in which buyer and creator meet.
type DeliveryMode string

// The modes of delivery.
const (
	Virtual  DeliveryMode = "virtual"
	InPerson DeliveryMode = "in_person"
)

func (m DeliveryMode) known() bool { return m == Virtual || m == InPerson }

// Modes returns the modes that a listing offers: both when it is hybrid, none when it is not for appointments.
func Modes(l listing.State) []DeliveryMode {
	modes := []DeliveryMode{}
	for _, mode := range l.DeliveryModes() {
		modes = append(modes, DeliveryMode(mode))
	}
	return modes
}

func offers(l listing.State, mode DeliveryMode) bool { return slices.Contains(Modes(l), mode) }

// Policy returns the rules by which a listing offers the times of one of its variants.
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
