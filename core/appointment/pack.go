package appointment

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/slot"
)

// SlotChoice is a time that a buyer chose.
type SlotChoice struct {
	StartsAt time.Time
	Timezone string // of the buyer's view, IANA
	// DeliveryMode is "" where the listing leaves no choice.
	DeliveryMode DeliveryMode
	// Field is the pick's path in the request, for its faults.
	Field string
}

// Setup contains a creator's working hours and meeting places.
type Setup struct {
	Hours    slot.Settings
	Meetings MeetingSettings
}

// Bookable is a listing's variant with everything that decides whether a time of it can be booked.
type Bookable struct {
	Setup
	Listing listing.State
	Variant listing.Variant
	// Step is the number of minutes between offered starts; 0 = as the listing says of the variant.
	Step int
	// Rooms is the address below which the meetings have theirs that are made on the creator's account at a provider.
	Rooms string
	// SharedURL is the link of those who share the time already; "" for the first one.
	SharedURL string
	// RefundPolicy is the policy that the buyer was promised before they paid.
	RefundPolicy RefundPolicy
}

// Ready refuses with NOT_BOOKABLE, its details naming each missing thing.
func (b Bookable) Ready() error {
	missing := MissingSetup(b.Listing, b.Variant, b.Setup)
	if len(missing) == 0 {
		return nil
	}
	refused := fault.New(fault.NotBookable, "The listing cannot be booked as it is. "+missing[0].Message)
	refused.Details = missing
	return refused
}

// Policy returns the rules by which the times are offered.
func (b Bookable) Policy() slot.Policy {
	p := Policy(b.Listing, b.Variant)
	p.Step = cmp.Or(b.Step, p.Step)
	return p
}

// Blocked returns the interval that a session occupies of the creator's time: itself and its buffers.
func (b Bookable) Blocked(startsAt time.Time) slot.Interval {
	p := b.Policy()
	return slot.Interval{
		From:  startsAt.Add(-time.Duration(p.BufferBefore) * time.Minute),
		Until: startsAt.Add(time.Duration(p.Duration+p.BufferAfter) * time.Minute),
	}
}

// Select takes a buyer's picks, in the buyer's order, with the delivery mode filled in where the listing leaves no
// choice. Everything that needs no query of what others booked is validated here. Refusals, in this order:
// VALIDATION_FAILED or INVALID_TIMEZONE with every fault, SLOT_COUNT_MISMATCH, SLOTS_OVERLAP, SLOT_IN_PAST, each with
// details.
func (b Bookable) Select(picks []SlotChoice, now time.Time) ([]SlotChoice, error) {
	chosen := slices.Clone(picks)
	if err := b.completeChoices(chosen); err != nil {
		return nil, err
	}
	if want := b.Variant.SessionCount; len(chosen) != want {
		return nil, wrongCount(chosen, want)
	}
	inOrder := slices.Clone(chosen)
	slices.SortStableFunc(inOrder, func(a, b SlotChoice) int { return a.StartsAt.Compare(b.StartsAt) })
	for i := 1; i < len(inOrder); i++ {
		if b.Blocked(inOrder[i-1].StartsAt).Overlaps(b.Blocked(inOrder[i].StartsAt)) {
			return nil, overlap(inOrder[i])
		}
	}
	var past refusedChoices
	for _, p := range chosen {
		if !p.StartsAt.After(now) {
			past.add(p, fault.New(fault.SlotInPast, "The time is in the past. Choose a time in the future."))
		}
	}
	if err := past.err(); err != nil {
		return nil, err
	}
	return chosen, nil
}

// wrongCount refuses more or fewer times than there are sessions.
func wrongCount(chosen []SlotChoice, want int) error {
	field, code := "appointmentSlots", fault.DetailTooShort
	if len(chosen) > 0 {
		field, _, _ = strings.Cut(chosen[0].Field, "[")
	}
	if len(chosen) > want {
		code = fault.DetailTooLong
	}
	refusal := fault.Newf(fault.SlotCountMismatch, "Number of times: expected exactly %d, got %d.", want, len(chosen))
	refusal.Details = []fault.Detail{{Field: field, Code: code, Message: refusal.Message}}
	return refusal
}

// overlap refuses a time that another of the pack runs into.
func overlap(later SlotChoice) error {
	refusal := fault.New(fault.SlotsOverlap, "Two of the times overlap, or leave less time between them than the "+
		"creator needs. Choose others.")
	refusal.Details = []fault.Detail{{
		Field: fault.Join(later.Field, "startsAt"), Code: fault.DetailNotAllowed, Message: "The time is too close to " +
			"another one of this request.",
	}}
	return refusal
}

// refusedChoices collects why times cannot be booked: the code is of the first, the details name each.
type refusedChoices struct{ first *fault.Error }

var choiceDetails = map[fault.Code]string{
	fault.SlotInPast: fault.DetailPast, fault.SlotNotOffered: fault.DetailNotOffered, fault.SlotTaken: fault.DetailTaken,
}

func (r *refusedChoices) add(p SlotChoice, refusal *fault.Error) {
	if r.first == nil {
		r.first = fault.New(refusal.Code, refusal.Message)
	}
	detail := fault.Detail{Field: fault.Join(p.Field, "startsAt"), Code: choiceDetails[refusal.Code],
		Message: refusal.Message}
	r.first.Details = append(r.first.Details, detail)
}

func (r *refusedChoices) err() error {
	if r.first == nil {
		return nil
	}
	return r.first
}

// Taken refuses choices that somebody else was faster to book, with SLOT_TAKEN.
func Taken(choices ...SlotChoice) error {
	var taken refusedChoices
	for _, p := range choices {
		taken.add(p, fault.New(fault.SlotTaken, "The time is not free. Read the slots again and choose one of them."))
	}
	return taken.err()
}

// Check adds what is wrong with a pick, whatever is booked.
func (p SlotChoice) Check(f *fault.Violations) {
	f.Check(!p.StartsAt.IsZero(), "startsAt", fault.DetailRequired, "Expected the startsAt of one of the slots.")
	civil.CheckZone(f, p.Timezone)
	if p.DeliveryMode != "" {
		f.OneOf("deliveryMode", string(p.DeliveryMode), string(Virtual), string(InPerson))
	}
}

// completeChoices validates each pick independently of the others and fills in its mode.
func (b Bookable) completeChoices(picks []SlotChoice) error {
	var f fault.Violations
	for i, p := range picks {
		at := f.Nest(p.Field)
		p.Check(at)
		switch modes := Modes(b.Listing); {
		case p.DeliveryMode == "" && len(modes) == 1:
			picks[i].DeliveryMode = modes[0]
		case p.DeliveryMode == "":
			at.Add("deliveryMode", fault.DetailRequired, "This listing is hybrid: expected virtual or in_person.")
		case p.DeliveryMode.known() && !slices.Contains(modes, p.DeliveryMode):
			at.Addf("deliveryMode", fault.DetailNotAllowed, "This listing is offered as %s.",
				b.Listing.Text(listing.DeliveryMethod))
		}
	}
	return civil.AsInvalidTimezone(f.Err())
}

// Available reports whether all picks can be booked together, by the same function that the calendar shows times with.
// Of q it sets the policy; its busy and booked times are the creator's. SLOT_TAKEN, SLOT_NOT_OFFERED, SLOT_IN_PAST,
// with a detail for each pick that is refused.
func (b Bookable) Available(q slot.Query, picks []SlotChoice) error {
	q.Policy = b.Policy()
	var refused refusedChoices
	for _, p := range picks {
		err := slot.Check(q, p.StartsAt)
		if f, ok := errors.AsType[*fault.Error](err); ok {
			refused.add(p, f)
			continue
		}
		if err != nil {
			return err
		}
		q.Busy = append(slices.Clip(q.Busy), b.Blocked(p.StartsAt))
		q.Booked = append(slices.Clip(q.Booked), p.StartsAt)
	}
	return refused.err()
}

// Hold makes the reservations on picks that Select returned, ids giving each its own.
func (b Bookable) Hold(picks []SlotChoice, checkoutID string, newID func() string, now time.Time) []ReservationState {
	reservations := make([]ReservationState, len(picks))
	for i, p := range picks {
		reservations[i] = ReservationState{
			ID: newID(), CreatorID: b.Listing.CreatorID, ListingID: b.Listing.ID, VariantID: b.Variant.ID,
			CheckoutID: checkoutID,
			Position:   i, Status: Held, StartsAt: p.StartsAt.UTC(),
			EndsAt:  p.StartsAt.Add(time.Duration(b.Variant.DurationMinutes) * time.Minute).UTC(),
			Blocked: b.Blocked(p.StartsAt), Timezone: p.Timezone, DeliveryMode: p.DeliveryMode, CreatedAt: now, Revision: 1,
		}
	}
	return reservations
}
