package appointment

import (
	"time"

	"sundry/core/fault"
	"sundry/core/slot"
)

// ClaimStatus is where a claim stands: held → confirmed → canceled, or held → released.
type ClaimStatus string

// The statuses of the contract. Held and confirmed claims keep the creator's time, the others gave it back.
const (
	Held            ClaimStatus = "held"
	Confirmed       ClaimStatus = "confirmed"
	Released        ClaimStatus = "released"
	ClaimOfCanceled ClaimStatus = "canceled"
)

// Live reports whether the claim keeps the creator's time.
func (s ClaimStatus) Live() bool { return s == Held || s == Confirmed }

// ClaimState is a claim's data, as stores see it.
type ClaimState struct {
	ID        string // clm_…
	CreatorID string
	ListingID string
	VariantID string
	// CheckoutID is the session that holds the time.
	CheckoutID string
	// Position is the place in the pack, from 0, as the buyer chose.
	Position int
	Status   ClaimStatus
	StartsAt time.Time
	EndsAt   time.Time
	// Blocked is the session with its buffers: no two live claims of a creator share a moment of it.
	Blocked      slot.Interval
	Timezone     string // the buyer's, IANA
	DeliveryMode DeliveryMode
	CreatedAt    time.Time
	Revision     int64
}

// Claim is the aggregate: some of a creator's time that a buyer has, or had.
type Claim struct{ s ClaimState }

// RestoreClaim rebuilds a claim from its stored state.
func RestoreClaim(s ClaimState) *Claim { return &Claim{s} }

// State is a copy of the data.
func (c *Claim) State() ClaimState { return c.s }

// Confirm keeps the time for good: it is paid for. Again it changes nothing. STATE_CONFLICT once the time was given back.
func (c *Claim) Confirm() error { return c.move(Held, Confirmed, "confirmed") }

// Release gives back time that was held. Again it changes nothing. STATE_CONFLICT once confirmed.
func (c *Claim) Release() error { return c.move(Held, Released, "released") }

// Cancel gives back time that was confirmed. Again it changes nothing. STATE_CONFLICT for a claim that never was.
func (c *Claim) Cancel() error { return c.move(Confirmed, ClaimOfCanceled, "canceled") }

func (c *Claim) move(from, to ClaimStatus, done string) error {
	switch c.s.Status {
	case to:
		return nil
	case from:
		c.s.Status = to
		c.s.Revision++
		return nil
	default:
		return fault.Newf(fault.StateConflict, "The claim on this time is %s and cannot be %s.", c.s.Status, done)
	}
}

// Again is a new claim on the same time.
func (c *Claim) Again(id string, now time.Time) *Claim {
	next := c.s
	next.ID, next.Status, next.CreatedAt, next.Revision = id, Held, now, 1
	return &Claim{next}
}
