package customer

import (
	"time"

	"sundry/core/fault"
	"sundry/core/metadata"
)

// Erased is emitted when what an account knows of a person is erased: their access ends.
type Erased struct{ State }

// EventName implements event.Event.
func (Erased) EventName() string { return "customer.erased" }

// Erase forgets who a customer is. Their ids stay, the integrator's own included: documents and the ledger name them.
// changed is false when that was done before.
func (c *Customer) Erase(now time.Time) (e Erased, changed bool) {
	if !c.s.ErasedAt.IsZero() {
		return Erased{}, false
	}
	c.s.Email, c.s.DisplayName, c.s.Details, c.s.Metadata = "", "", Details{}, metadata.Pairs{}
	c.s.ErasedAt, c.s.UpdatedAt = now, now
	c.s.Revision++
	return Erased{c.s}, true
}

// RefuseErased returns STATE_CONFLICT for a customer who was erased, nil for any other.
func (s State) RefuseErased() error {
	if s.ErasedAt.IsZero() {
		return nil
	}
	return fault.New(fault.StateConflict, "This customer was erased.")
}

// Obstacle names what keeps a customer from being erased; "" for nothing.
type Obstacle string

// The obstacles, in the order in which they are looked for.
const (
	RunningSubscription Obstacle = "subscription"
	OpenPayment         Obstacle = "payment"
	OpenInvoice         Obstacle = "invoice"
	UnbilledUse         Obstacle = "usage"
	OpenRefund          Obstacle = "refund"
	OpenDispute         Obstacle = "dispute"
	ComingAppointment   Obstacle = "appointment"
)

var obstacles = map[Obstacle]string{
	RunningSubscription: "A subscription is running. Cancel it first.",
	OpenPayment:         "A payment is under way. Try again when it is settled.",
	OpenInvoice:         "An invoice is still to be charged. Collect it first, or wait for its last attempt.",
	UnbilledUse:         "What was used is not billed yet. Try again when its invoice is paid.",
	OpenRefund:          "A refund is under way. Try again when it is settled.",
	OpenDispute:         "A dispute is open. Try again when the bank has decided.",
	ComingAppointment:   "An appointment is still to come. Cancel it first.",
}

// Refuse is the STATE_CONFLICT of an obstacle; nil for none.
func (o Obstacle) Refuse() error {
	if o == "" {
		return nil
	}
	return fault.New(fault.StateConflict, obstacles[o])
}
