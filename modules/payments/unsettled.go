package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/payment"
	"sundry/ports"
)

const (
	// firstRecheck is the delay before the first poll of an unknown outcome.
	firstRecheck = 2 * time.Second
	// confirmWithin bounds how long a customer may take to confirm a charge of a saved card to their bank before it
	// is canceled. A checkout ends with its session.
	confirmWithin = time.Hour
	// maxLive bounds how many attempts one advance of the clock reconciles.
	maxLive = 1000
	// recoverPage limits the attempts that get their task in one transaction.
	recoverPage = 100
)

// Charge settles an attempt. Task TaskCharge.
func (s *Attempts) Charge(ctx context.Context, t ports.Task) error {
	attempt, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && attempt.Status.Final()) {
		return ports.EndTask(ctx, s.deps.Store, t)
	}
	if err != nil {
		return fmt.Errorf("charge: %w", err)
	}
	outcome, err := s.ask(ctx, attempt)
	if errors.Is(err, ports.ErrOutcomeUnknown) {
		outcome = payment.Outcome{Status: payment.Pending}
	} else if err != nil {
		return fmt.Errorf("charge %s: %w", attempt.ID, err)
	}
	return s.deps.Store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		if outcome.Status.Final() {
			if err := r.Tasks.Done(ctx, t); err != nil {
				return err
			}
			_, err := s.Settle(ctx, r, attempt, outcome)
			return err
		}
		if _, err := s.Settle(ctx, r, attempt, outcome); err != nil {
			return err
		}
		return ports.Recheck(ctx, r, t, attempt.CreatedAt, firstRecheck)
	})
}

// ask asks the processor for the outcome of an attempt in the background. A charge of a saved card that was not sent
// yet is made now; a buyer's that the processor never received is canceled, because the buyer was told that it was
// interrupted.
func (s *Attempts) ask(ctx context.Context, attempt payment.State) (payment.Outcome, error) {
	request, atCheckout := ports.ChargeOf(attempt), attempt.Purpose == payment.ForCheckout
	switch {
	case attempt.Status == payment.Pending && !atCheckout:
		return s.charge(ctx, attempt, request)
	case attempt.Status == payment.RequiresAction && !atCheckout:
		now, err := s.deps.Store.Read(ctx).Clock.Now(ctx, attempt.CreatorID)
		if err != nil {
			return payment.Outcome{}, err
		}
		if now.Sub(attempt.CreatedAt) >= confirmWithin {
			return s.call(ctx, ports.ProcessorTimeout, attempt, request, ports.Processor.Cancel)
		}
	}
	outcome, err := s.call(ctx, ports.ProcessorTimeout, attempt, request, ports.Processor.Find)
	if errors.Is(err, ports.ErrNotFound) && atCheckout {
		return s.call(ctx, ports.ProcessorRecheckTimeout, attempt, request, ports.Processor.Cancel)
	}
	return outcome, err
}

// checkSoon brings an attempt's task forward after a call with an unknown outcome.
func (s *Attempts) checkSoon(ctx context.Context, attempt payment.State) error {
	err := s.deps.Store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		return ports.ScheduleIn(ctx, r, firstRecheck, TaskCharge, attempt.ID, attempt.CreatorID)
	})
	return unrecorded(err)
}

// Recover makes the task of each attempt that nobody settles any more, because the process of its request died.
func (s *Attempts) Recover(ctx context.Context) error {
	for made := recoverPage; made == recoverPage; {
		err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			now, err := r.Clock.Now(ctx, "") // in real time
			if err != nil {
				return err
			}
			attempts, err := r.Payments.Payments.ListWithoutTask(ctx, TaskCharge, now.Add(-firstCheck), recoverPage)
			if err != nil {
				return err
			}
			for _, attempt := range attempts {
				if err := r.Tasks.Ensure(
					ctx, TaskCharge, attempt.ID, attempt.CreatorID, attempt.CreatedAt.Add(firstCheck),
				); err != nil {
					return err
				}
			}
			made = len(attempts)
			return nil
		})
		if err != nil {
			return fmt.Errorf("recover attempts: %w", err)
		}
	}
	return nil
}

// ReconcileSoon makes the task of every unsettled attempt of the account due right after the given account time. The
// sandbox calls it before it moves the account's clock.
func (s *Attempts) ReconcileSoon(ctx context.Context, r ports.Repos, creatorID string, now time.Time) error {
	attempts, err := r.Payments.Payments.ListLive(ctx, creatorID, maxLive)
	if err != nil {
		return fmt.Errorf("reconcile soon: %w", err)
	}
	for _, attempt := range attempts {
		if err := r.Tasks.Schedule(ctx, TaskCharge, attempt.ID, creatorID, now.Add(time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}
