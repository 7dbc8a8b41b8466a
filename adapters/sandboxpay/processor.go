// Package sandboxpay is a card processor without money: deterministic, with the well-known test cards, and as careful
// with its promises as a real one. It remembers in the same database, as a real one would on its own side.
package sandboxpay

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// Processor implements ports.Processor and ports.CardForm.
type Processor struct{ store ports.Store }

var (
	_ ports.Processor = (*Processor)(nil)
	_ ports.CardForm  = (*Processor)(nil)
)

// New returns the sandbox processor over the store.
func New(store ports.Store) *Processor { return &Processor{store: store} }

// Charge implements ports.Processor.
func (p *Processor) Charge(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	c, ok := cardOf(r.Method)
	if !ok {
		return payment.Outcome{}, fmt.Errorf("sandbox processor: no card behind this method: %w",
			ports.ErrProcessorUnavailable)
	}
	outcome := decide(c, r.OffSession)
	var err error
	if outcome.Fee, err = feeOf(r.Amount); err == nil {
		err = p.insert(ctx, r, outcome, c.behavior == disputed && r.Amount.Minor > 0)
	}
	if errors.Is(err, ports.ErrDuplicate) { // asked before: the first response is kept
		outcome, err = p.change(ctx, r.PaymentID, func(context.Context, ports.Repos, *ports.SandboxCharge) error {
			return nil
		})
	}
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox charge %s: %w", r.PaymentID, err)
	}
	if c.behavior == respondsLate {
		return payment.Outcome{}, fmt.Errorf("sandbox charge %s: %w", r.PaymentID, ports.ErrOutcomeUnknown)
	}
	return outcome, nil
}

// insert writes a new charge, with its dispute. ErrDuplicate when there is one.
func (p *Processor) insert(ctx context.Context, r ports.ChargeRequest, outcome payment.Outcome, disputed bool) error {
	return p.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) (err error) {
		charge := ports.SandboxCharge{PaymentID: r.PaymentID, CheckoutID: r.SubjectID, CreatorID: r.CreatorID,
			Method: r.Method, Outcome: outcome}
		if outcome.Status == payment.Processing { // which ends when the account's clock moves
			if charge.ClockOffset, err = repos.Sandbox.ClockOffsets.Get(ctx, r.CreatorID); err != nil {
				return err
			}
		}
		if err := repos.Sandbox.Charges.Insert(ctx, charge); err != nil || !disputed {
			return err
		}
		return p.dispute(ctx, repos, r)
	})
}

// feeOf returns the sandbox's fee for a charge that succeeds: 1.5 % and 25 minor units, the price of a European card.
func feeOf(amount money.Amount) (money.Amount, error) {
	fee, err := amount.RatioHalfUp(15, 1000)
	if err == nil && amount.Minor > 0 {
		fee.Minor = min(fee.Minor+25, amount.Minor)
	}
	return fee, err
}

// decide is the whole behavior of the sandbox.
func decide(c card, offSession bool) payment.Outcome {
	o := payment.Outcome{Status: payment.Succeeded, Method: c.token(), Brand: brand, Last4: c.last4(), CardCountry: "US"}
	switch c.behavior {
	case succeeds, disputed, respondsLate:
	case declines:
		o.Status, o.Decline = payment.Declined, payment.NewDecline(c.refusal)
	case succeedsOnce:
		if offSession {
			o.Status, o.Decline = payment.Declined, payment.NewDecline(payment.CardDeclined)
		}
	case asksOnce: // the challenge passed when the card was saved stays valid
		if !offSession {
			o.Status = payment.RequiresAction
		}
	case asksAlways:
		o.Status = payment.RequiresAction
		if offSession {
			o.Status, o.Decline = payment.Declined, payment.NewDecline(payment.AuthenticationRequired)
		}
	case staysOpen:
		o.Status = payment.Processing
	}
	return o
}

// Find implements ports.Processor.
func (p *Processor) Find(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	return p.change(ctx, r.PaymentID, func(ctx context.Context, repos ports.Repos, charge *ports.SandboxCharge) error {
		if charge.Outcome.Status != payment.Processing {
			return nil
		}
		offset, err := repos.Sandbox.ClockOffsets.Get(ctx, r.CreatorID)
		if err == nil && offset > charge.ClockOffset {
			charge.Outcome.Status = payment.Succeeded
		}
		return err
	})
}

// Cancel implements ports.Processor.
func (p *Processor) Cancel(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	outcome, err := p.change(ctx, r.PaymentID, func(_ context.Context, _ ports.Repos, charge *ports.SandboxCharge) error {
		if s := charge.Outcome.Status; !s.Final() && s != payment.Processing {
			charge.Outcome.Status = payment.Canceled
		}
		return nil
	})
	if !errors.Is(err, ports.ErrNotFound) {
		return outcome, err
	}
	// Never received: remember the refusal, so that a charge still on its way finds it.
	canceled := payment.Outcome{Status: payment.Canceled}
	err = p.insert(ctx, ports.ChargeRequest{PaymentID: r.PaymentID, CreatorID: r.CreatorID}, canceled, false)
	if errors.Is(err, ports.ErrDuplicate) { // it was on its way
		return p.Cancel(ctx, r)
	}
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox cancel %s: %w", r.PaymentID, err)
	}
	return canceled, nil
}

// ListRefunds implements ports.RefundLister. Nobody but us refunds here, and what we asked for is known.
func (p *Processor) ListRefunds(context.Context, string) ([]ports.RefundReport, error) {
	return nil, nil
}

// Refund implements ports.Processor.
func (p *Processor) Refund(ctx context.Context, r ports.RefundRequest) (refund.Outcome, error) {
	_, err := p.change(ctx, r.PaymentID, func(ctx context.Context, repos ports.Repos, charge *ports.SandboxCharge) error {
		if charge.Outcome.Status != payment.Succeeded {
			return fmt.Errorf("charge is %s: nothing can go back", charge.Outcome.Status)
		}
		return repos.Sandbox.Charges.InsertRefund(ctx, r.RefundID, r.PaymentID, r.Amount)
	})
	return refund.Outcome{Status: refund.Succeeded}, err
}

// Authenticate implements ports.Processor. The bank is the page of ours that asks.
func (p *Processor) Authenticate(ctx context.Context, r ports.ChargeRequest, approve bool) (payment.Outcome, error) {
	return p.change(ctx, r.PaymentID, func(_ context.Context, _ ports.Repos, charge *ports.SandboxCharge) error {
		switch {
		case charge.Outcome.Status != payment.RequiresAction:
		case approve:
			charge.Outcome.Status = payment.Succeeded
		default:
			charge.Outcome.Status, charge.Outcome.Decline = payment.Declined, payment.NewDecline(payment.AuthenticationFailed)
		}
		return nil
	})
}

// change loads a charge, lets fn alter it and stores it. ErrNotFound when there is none.
func (p *Processor) change(ctx context.Context, paymentID string,
	fn func(context.Context, ports.Repos, *ports.SandboxCharge) error) (payment.Outcome, error) {
	var charge ports.SandboxCharge
	err := p.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		var err error
		if charge, err = repos.Sandbox.Charges.Get(ctx, paymentID); err != nil {
			return err
		}
		before := charge.Outcome
		if err := fn(ctx, repos, &charge); err != nil {
			return err
		}
		if charge.Outcome == before {
			return nil
		}
		return repos.Sandbox.Charges.UpdateOutcome(ctx, paymentID, charge.Outcome)
	})
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox charge %s: %w", paymentID, err)
	}
	return charge.Outcome, nil
}
