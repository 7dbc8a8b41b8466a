package checkout

import (
	"context"
	"fmt"
	"time"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/ports"
)

// ExpireDue ends an unpaid session at its time. Task TaskExpire.
func (s *Service) ExpireDue(ctx context.Context, t ports.Task) error {
	if err := s.cancelLive(ctx, t.Subject); err != nil {
		return err // the session keeps what it holds until the processor responds
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		session, err := s.expire(ctx, r, t.Subject)
		if fault.Is(err, fault.StateConflict) { // an attempt that cannot be canceled any more: its outcome decides
			return ports.PostponeBy(ctx, r, t, time.Minute)
		}
		if err != nil && !fault.Is(err, fault.SessionAlreadyPaid) {
			return err
		}
		if session.Status == checkout.StatusExpired {
			return r.Tasks.Done(ctx, t)
		}
		return r.Tasks.Cancel(ctx, t.Kind, t.Subject)
	})
}

// ExpireEarly ends an unpaid session of the account before its time. Faults: NOT_FOUND, SESSION_ALREADY_PAID,
// STATE_CONFLICT while a payment cannot be canceled, PROCESSOR_UNAVAILABLE.
func (s *Service) ExpireEarly(ctx context.Context, creatorID, sessionID string) (checkout.State, error) {
	if _, err := owned(ctx, s.deps.Store.Read(ctx), creatorID, sessionID); err != nil {
		return checkout.State{}, err
	}
	if err := s.cancelLive(ctx, sessionID); err != nil {
		return checkout.State{}, payment.ErrProcessorDown(err)
	}
	var session checkout.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		if session, err = s.expire(ctx, r, sessionID); err != nil {
			return err
		}
		return r.Tasks.Cancel(ctx, TaskExpire, sessionID)
	})
	return session, err
}

// cancelLive makes sure that no attempt of the session takes money from now on, and completes the sale of one that
// already did.
func (s *Service) cancelLive(ctx context.Context, sessionID string) error {
	r := s.deps.Store.Read(ctx)
	session, err := r.Checkout.Sessions.Get(ctx, sessionID)
	if err != nil {
		return fmt.Errorf("expire: %w", err)
	}
	attempt, ok, err := live(ctx, r, session)
	if err != nil || !ok {
		return err
	}
	if _, err = s.deps.Runner.Cancel(ctx, attempt, payment.DeclineReason{}); err != nil {
		return fmt.Errorf("expire %s: %w", sessionID, err)
	}
	return nil
}

// expire is the last step: nothing is live any more.
func (s *Service) expire(ctx context.Context, r ports.Repos, sessionID string) (checkout.State, error) {
	loaded, err := r.Checkout.Sessions.Get(ctx, sessionID)
	if err != nil {
		return checkout.State{}, err
	}
	aggregate := checkout.Restore(loaded)
	if changed, err := aggregate.Expire(); err != nil || !changed {
		return loaded, err
	}
	if err := s.deps.Sales.release(ctx, r, loaded); err != nil {
		return checkout.State{}, err
	}
	if err := r.Checkout.Sessions.Update(ctx, aggregate.State()); err != nil {
		return checkout.State{}, err
	}
	expired := checkout.Expired{CheckoutID: sessionID, CreatorID: loaded.CreatorID}
	return aggregate.State(), s.deps.Bus.Publish(ctx, r, expired)
}
