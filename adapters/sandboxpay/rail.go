package sandboxpay

import (
	"context"
	"fmt"
	"strings"

	"sundry/core/id"
	"sundry/core/payout"
	"sundry/ports"
)

// failingPayout is the amount of a payout, in minor units of any currency, that the sandbox's bank refuses.
const failingPayout = 1_313

// Rail implements ports.PayoutRail without money: a payout arrives at once, but for failingPayout. An account is ready
// as soon as it is opened, and needs nothing more. What the rail does follows from the request alone, so asking again
// repeats the first response.
type Rail struct{}

// accountPrefix begins the sandbox's own ids of payout accounts.
const accountPrefix = "acct_sandbox_"

var _ ports.PayoutRail = Rail{}

// Send implements ports.PayoutRail.
func (Rail) Send(_ context.Context, p payout.State) (ports.PayoutOutcome, error) {
	if p.Amount.Minor == failingPayout {
		return ports.PayoutOutcome{Status: payout.Failed, Reason: "account_closed"}, nil
	}
	return ports.PayoutOutcome{Status: payout.Paid}, nil
}

// Find implements ports.PayoutRail.
func (r Rail) Find(ctx context.Context, p payout.State) (ports.PayoutOutcome, error) {
	return r.Send(ctx, p)
}

// OpenAccount implements ports.PayoutRail.
func (Rail) OpenAccount(_ context.Context, r ports.PayoutAccountRequest) (payout.AccountReport, error) {
	return payout.AccountReport{ID: accountPrefix + id.Body(r.CreatorID), Country: r.Country, Status: payout.AccountReady},
		nil
}

// FindAccount implements ports.PayoutRail. It returns no country, since the sandbox stores none.
func (Rail) FindAccount(_ context.Context, railID string) (payout.AccountReport, error) {
	if !strings.HasPrefix(railID, accountPrefix) {
		return payout.AccountReport{}, fmt.Errorf("sandbox account %s: %w", railID, ports.ErrNotFound)
	}
	return payout.AccountReport{ID: railID, Status: payout.AccountReady}, nil
}

// LinkAccount implements ports.PayoutRail. There is nothing to fill in, so the link leads back at once.
func (Rail) LinkAccount(_ context.Context, v ports.PayoutAccountVisit) (ports.PayoutAccountLink, error) {
	return ports.PayoutAccountLink{URL: v.ReturnURL}, nil
}
