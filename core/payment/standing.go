package payment

import "sundry/core/dispute"

// Standing tells the result of a payment: its status, or of a succeeded one whether its money was refunded or disputed.
type Standing string

// The standings of a succeeded payment. Every other payment stands as its status says.
const (
	StandingPaid           Standing = "paid"
	StandingPartlyRefunded Standing = "partly_refunded"
	StandingRefunded       Standing = "refunded"
	StandingDisputed       Standing = "disputed"
	StandingDisputeLost    Standing = "dispute_lost"
)

// StandingOf returns the standing of a payment whose latest dispute has the given status; "" for none. A dispute that
// was won changes nothing.
func StandingOf(s State, latest dispute.Status) Standing {
	switch {
	case s.Status != Succeeded:
		return Standing(s.Status)
	case latest == dispute.Lost:
		return StandingDisputeLost
	case latest != "" && !latest.Closed():
		return StandingDisputed
	case s.Refunded.Minor > 0 && s.Refunded.Minor >= s.Amount.Minor:
		return StandingRefunded
	case s.Refunded.Minor > 0:
		return StandingPartlyRefunded
	}
	return StandingPaid
}
