// Package sandboxpay is a card processor without money: deterministic, with the well-known test cards, and as careful
// with its promises as a real one. It remembers in the same database, as a real one would on its own side.
package sandboxpay

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/payment"
	"sundry/ports"
)

// Processor implements ports.Processor and ports.TestCards.
type Processor struct{ store ports.Store }

var (
	_ ports.Processor = (*Processor)(nil)
	_ ports.TestCards = (*Processor)(nil)
)

// New returns the sandbox processor over the store.
func New(store ports.Store) *Processor { return &Processor{store: store} }

// Charge implements ports.Processor.
func (p *Processor) Charge(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	c, ok := cardOf(r.Method)
	if !ok {
		return payment.Outcome{}, fmt.Errorf("sandbox processor: no card behind this method: %w", ports.ErrProcessorUnavailable)
	}
	var charge ports.SandboxCharge
	err := p.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		var err error
		charge, err = repos.SandboxCharges.Get(ctx, r.PaymentID)
		if err == nil || !errors.Is(err, ports.ErrNotFound) {
			return err // asked before: the first answer stands
		}
		act := c.behaviour
		if act == asksOnce {
			asked, err := repos.SandboxCharges.Asked(ctx, r.CheckoutID, r.Method)
			if err != nil {
				return err
			}
			if asked || r.OffSession {
				act = succeedsAsked
			}
		}
		offset, err := repos.ClockOffsets.Offset(ctx, r.CreatorID)
		if err != nil {
			return err
		}
		charge = ports.SandboxCharge{
			PaymentID: r.PaymentID, CheckoutID: r.CheckoutID, CreatorID: r.CreatorID, Method: r.Method,
			Outcome: decide(c, act, r.OffSession), ClockOffset: offset,
		}
		return repos.SandboxCharges.Add(ctx, charge)
	})
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox charge %s: %w", r.PaymentID, err)
	}
	if c.behaviour == answersLate {
		return payment.Outcome{}, fmt.Errorf("sandbox charge %s: %w", r.PaymentID, ports.ErrOutcomeUnknown)
	}
	return charge.Outcome, nil
}

// decide is the whole behaviour of the sandbox.
func decide(c card, act behaviour, offSession bool) payment.Outcome {
	o := payment.Outcome{Status: payment.Succeeded, Method: c.token(), Brand: c.brand, Last4: c.last4()}
	switch act {
	case succeeds, succeedsAsked, answersLate:
	case declines:
		o.Status, o.Refusal = payment.Declined, c.refusal
	case succeedsOnce:
		if offSession {
			o.Status, o.Refusal = payment.Declined, refusedAway
		}
	case asksOnce:
		o.Status = payment.RequiresAction
	case asksAlways:
		o.Status = payment.RequiresAction
		if offSession {
			o.Status, o.Refusal = payment.Declined, wantsBuyer
		}
	case staysOpen:
		o.Status = payment.Processing
	}
	return o
}

// Find implements ports.Processor.
func (p *Processor) Find(ctx context.Context, creatorID, paymentID string) (payment.Outcome, error) {
	return p.change(ctx, paymentID, func(ctx context.Context, repos ports.Repos, charge *ports.SandboxCharge) error {
		if charge.Outcome.Status != payment.Processing {
			return nil
		}
		offset, err := repos.ClockOffsets.Offset(ctx, creatorID)
		if err == nil && offset > charge.ClockOffset {
			charge.Outcome.Status = payment.Succeeded
		}
		return err
	})
}

// Cancel implements ports.Processor.
func (p *Processor) Cancel(ctx context.Context, creatorID, paymentID string) (payment.Outcome, error) {
	outcome, err := p.change(ctx, paymentID, func(_ context.Context, _ ports.Repos, charge *ports.SandboxCharge) error {
		if s := charge.Outcome.Status; !s.Final() && s != payment.Processing {
			charge.Outcome.Status = payment.Canceled
		}
		return nil
	})
	if !errors.Is(err, ports.ErrNotFound) {
		return outcome, err
	}
	// Never heard of: remember the refusal, so that a charge still on its way finds it.
	heard := false
	err = p.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		_, err := repos.SandboxCharges.Get(ctx, paymentID)
		if heard = err == nil; heard || !errors.Is(err, ports.ErrNotFound) {
			return err
		}
		return repos.SandboxCharges.Add(ctx, ports.SandboxCharge{
			PaymentID: paymentID, CreatorID: creatorID, Outcome: payment.Outcome{Status: payment.Canceled},
		})
	})
	switch {
	case err != nil:
		return payment.Outcome{}, fmt.Errorf("sandbox cancel %s: %w", paymentID, err)
	case heard: // it was on its way
		return p.Cancel(ctx, creatorID, paymentID)
	}
	return payment.Outcome{Status: payment.Canceled}, nil
}

// Refund implements ports.Processor.
func (p *Processor) Refund(ctx context.Context, r ports.RefundRequest) error {
	_, err := p.change(ctx, r.PaymentID, func(ctx context.Context, repos ports.Repos, charge *ports.SandboxCharge) error {
		if charge.Outcome.Status != payment.Succeeded {
			return fmt.Errorf("charge is %s: nothing can go back", charge.Outcome.Status)
		}
		return repos.SandboxCharges.AddRefund(ctx, r.RefundID, r.PaymentID, r.Amount)
	})
	return err
}

// Authenticate implements ports.TestCards.
func (p *Processor) Authenticate(ctx context.Context, _, paymentID string, approve bool) (payment.Outcome, error) {
	return p.change(ctx, paymentID, func(_ context.Context, _ ports.Repos, charge *ports.SandboxCharge) error {
		switch {
		case charge.Outcome.Status != payment.RequiresAction:
		case approve:
			charge.Outcome.Status = payment.Succeeded
		default:
			charge.Outcome.Status, charge.Outcome.Refusal = payment.Declined, notProven
		}
		return nil
	})
}

// change loads a charge, lets fn alter it and stores it. ErrNotFound when there is none.
func (p *Processor) change(ctx context.Context, paymentID string, fn func(context.Context, ports.Repos, *ports.SandboxCharge) error) (payment.Outcome, error) {
	var charge ports.SandboxCharge
	err := p.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		var err error
		if charge, err = repos.SandboxCharges.Get(ctx, paymentID); err != nil {
			return err
		}
		before := charge.Outcome
		if err := fn(ctx, repos, &charge); err != nil {
			return err
		}
		if charge.Outcome == before {
			return nil
		}
		return repos.SandboxCharges.SetOutcome(ctx, paymentID, charge.Outcome)
	})
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox charge %s: %w", paymentID, err)
	}
	return charge.Outcome, nil
}
