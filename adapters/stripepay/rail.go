package stripepay

import (
	"context"
	"errors"
	"fmt"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/payout"
	"sundry/ports"
)

// noAccount is the failure code of a payout that names no account at Stripe: one from before the deployment took
// Stripe's keys.
const noAccount = "no_payout_account"

// Rail implements ports.PayoutRail by transfers to connected accounts (Stripe Connect). A payout is paid once the
// transfer is made; from there it reaches the creator's bank by the schedule of their own account.
type Rail struct{ processor *Processor }

var _ ports.PayoutRail = Rail{}

// NewRail returns the rail of the processor's account.
func NewRail(p *Processor) Rail { return Rail{p} }

// Send implements ports.PayoutRail. What was sent before is looked up first, because Stripe forgets keys.
func (r Rail) Send(ctx context.Context, p payout.State) (ports.PayoutOutcome, error) {
	found, err := r.Find(ctx, p)
	if !errors.Is(err, ports.ErrNotFound) {
		return found, err
	}
	if p.Destination == "" {
		return ports.PayoutOutcome{Status: payout.Failed, Reason: noAccount}, nil
	}
	made, err := call(ctx, "transfer", func() (*stripe.Transfer, error) {
		return r.processor.api.Transfers.New(&stripe.TransferParams{
			Params: keyed(ctx, p.ID), Amount: new(units(p.Amount)), Currency: new(string(p.Amount.Currency)),
			Destination: new(p.Destination), TransferGroup: new(p.ID),
			Metadata: map[string]string{"payout_id": p.ID, "creator_id": p.CreatorID},
		})
	})
	if refused := final(err); refused != nil {
		outcome := ports.PayoutOutcome{Status: payout.Failed, Reason: refused.code}
		return outcome, nil //nolint:nilerr // a refusal is an outcome
	}
	if err != nil {
		return ports.PayoutOutcome{}, unknownOf(p.ID, err)
	}
	return transferOutcome(made), nil
}

// Find implements ports.PayoutRail.
func (r Rail) Find(ctx context.Context, p payout.State) (ports.PayoutOutcome, error) {
	params := &stripe.TransferListParams{ListParams: stripe.ListParams{Context: ctx, Limit: stripe.Int64(1)},
		TransferGroup: new(p.ID)}
	list := r.processor.api.Transfers.List(params)
	if list.Next() {
		return transferOutcome(list.Transfer()), nil
	}
	if err := list.Err(); err != nil {
		return ports.PayoutOutcome{}, unknownOf(p.ID, failed("list transfers", err))
	}
	return ports.PayoutOutcome{}, fmt.Errorf("payout %s: %w", p.ID, ports.ErrNotFound)
}

func transferOutcome(t *stripe.Transfer) ports.PayoutOutcome {
	if t.Reversed {
		return ports.PayoutOutcome{Status: payout.Failed, Reason: "reversed"}
	}
	return ports.PayoutOutcome{Status: payout.Paid, Returned: t.AmountReversed > 0}
}
