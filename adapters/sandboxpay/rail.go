package sandboxpay

import (
	"context"

	"sundry/core/payout"
	"sundry/ports"
)

// FailingPayout is the amount of a payout, in minor units of any currency, that the sandbox's bank refuses.
const FailingPayout = 1_313

// Rail implements ports.PayoutRail without money: a payout arrives at once, but for FailingPayout. What it does follows
// from the payout alone, so asking again repeats the first response.
type Rail struct{}

var _ ports.PayoutRail = Rail{}

// Send implements ports.PayoutRail.
func (Rail) Send(_ context.Context, p payout.State) (ports.PayoutOutcome, error) {
	if p.Amount.Minor == FailingPayout {
		return ports.PayoutOutcome{Status: payout.Failed, Reason: "account_closed"}, nil
	}
	return ports.PayoutOutcome{Status: payout.Paid}, nil
}

// Find implements ports.PayoutRail.
func (r Rail) Find(ctx context.Context, p payout.State) (ports.PayoutOutcome, error) {
	return r.Send(ctx, p)
}
