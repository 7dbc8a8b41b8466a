package payment

import "sundry/core/ledger"

// Completed is emitted once, by the transition of a payment to succeeded, whatever it is for.
type Completed struct{ State }

// EventName implements event.Event.
func (Completed) EventName() string { return "payment.completed" }

// Failed is emitted once, by the end of an off-session attempt that took no money: declined, or canceled because the
// processor never received it. State contains the reason.
type Failed struct{ State }

// EventName implements event.Event.
func (Failed) EventName() string { return "payment.failed" }

// Settled is emitted by each transition of an attempt to a final status, whatever it is for.
type Settled struct{ State }

// EventName implements event.Event.
func (Settled) EventName() string { return "payment.settled" }

// Reversed is emitted once, when all of a payment went back because what it was for could not be given any more.
type Reversed struct {
	State
	// Share has the amount and the tax that went back: all that earlier refunds had left.
	Share ledger.Share
	// Reason is the reason of the refund. CreditNoteNumber is the number of its credit note, "" for a payment without a
	// receipt.
	Reason, CreditNoteNumber string
}

// EventName implements event.Event.
func (Reversed) EventName() string { return "payment.reversed" }
