package selling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/ports"
)

// receiptSeries numbers the receipts of this deployment without gaps.
const receiptSeries = "receipt"

// interrupted is what the buyer is told when an attempt was undone.
var interrupted = payment.Refusal{Code: "processing_error", Message: "The payment was interrupted and nothing was charged. Try again."}

// settle takes in what the processor says of an attempt, with everything that follows from it, in one transaction. It
// may be called any number of times and in any order: what is known already changes nothing.
func (s *Service) settle(ctx context.Context, paymentID string, o payment.Outcome) (checkout.State, error) {
	var session checkout.State
	err := s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		session, err = s.settleIn(ctx, r, paymentID, o)
		return err
	})
	if err != nil {
		return checkout.State{}, fmt.Errorf("settle %s: %w", paymentID, err)
	}
	return session, nil
}

func (s *Service) settleIn(ctx context.Context, r ports.Repos, paymentID string, o payment.Outcome) (checkout.State, error) {
	loaded, err := r.Payments.Get(ctx, paymentID)
	if err != nil {
		return checkout.State{}, err
	}
	session, err := r.Sessions.Get(ctx, loaded.CheckoutID)
	if err != nil {
		return checkout.State{}, err
	}
	now, err := s.clock.Now(ctx, loaded.CreatorID)
	if err != nil {
		return checkout.State{}, err
	}
	attempt := payment.Restore(loaded)
	changed, err := attempt.Apply(o, now)
	if err != nil || !changed {
		return session, err
	}
	if err := r.Payments.Save(ctx, attempt.State()); err != nil {
		return checkout.State{}, err
	}
	aggregate := checkout.Restore(session)
	switch attempt.State().Status {
	case payment.Succeeded:
		return s.honour(ctx, r, aggregate, attempt.State(), now)
	case payment.Declined:
		aggregate.Decline(paymentID, o.Refusal)
	case payment.Canceled:
		aggregate.Release(paymentID, interrupted)
	case payment.Pending, payment.RequiresAction, payment.Processing:
		return session, nil
	}
	after := aggregate.State()
	if after.Revision == session.Revision {
		return session, nil // an attempt that was no longer the live one
	}
	if err := r.Tasks.Cancel(ctx, TaskReconcile, paymentID); err != nil {
		return checkout.State{}, err
	}
	if after.Status == checkout.StatusFailed {
		if err := s.release(ctx, r, after); err != nil {
			return checkout.State{}, err
		}
	}
	return after, r.Sessions.Save(ctx, after)
}

// honour makes the session paid: customer, appointments, receipt number, and whatever hears of it (subscription, access),
// together. Money for times that somebody else has by now goes back.
func (s *Service) honour(ctx context.Context, r ports.Repos, session *checkout.Session, paid payment.State, now time.Time) (checkout.State, error) {
	before := session.State()
	buyer, err := r.Customers.Ensure(ctx, customer.State{
		ID: s.ids.New(id.Customer), CreatorID: before.CreatorID, ExternalCustomerID: before.ExternalCustomerID,
		Email: before.Email, DisplayName: before.Buyer.Name, CreatedAt: now,
	})
	if err != nil {
		return checkout.State{}, err
	}
	var booked []event.Event
	if before.Offer.ForAppointments() {
		var ok bool
		booked, ok, err = s.bookings.Confirm(ctx, r, ports.Confirmation{
			CreatorID: before.CreatorID, CheckoutID: before.ID,
			Buyer: appointment.Buyer{CustomerID: buyer.ID, ExternalCustomerID: before.ExternalCustomerID},
		})
		if err != nil {
			return checkout.State{}, err
		}
		if !ok {
			return s.giveBack(ctx, r, session, paid, now)
		}
	}
	number, err := r.DocumentNumbers.Next(ctx, receiptSeries)
	if err != nil {
		return checkout.State{}, err
	}
	settlement := checkout.Settlement{
		PaymentID: paid.ID, PaymentMethod: paid.Method, CustomerID: buyer.ID, ReceiptNumber: fmt.Sprintf("R-%06d", number),
	}
	if before.Offer.Recurring() {
		settlement.SubscriptionID = s.ids.New(id.Subscription)
	}
	news, err := session.Pay(settlement, now)
	if err != nil {
		return checkout.State{}, err
	}
	if err := r.Sessions.Save(ctx, session.State()); err != nil {
		return checkout.State{}, err
	}
	err = errors.Join(
		r.Tasks.Cancel(ctx, TaskReconcile, paid.ID),
		r.Tasks.Cancel(ctx, TaskExpire, before.ID))
	if err != nil {
		return checkout.State{}, err
	}
	return session.State(), s.bus.Publish(ctx, r, append([]event.Event{news}, booked...)...)
}

// giveBack ends the session unpaid and makes the refund due.
func (s *Service) giveBack(ctx context.Context, r ports.Repos, session *checkout.Session, paid payment.State, now time.Time) (checkout.State, error) {
	session.GiveBack()
	after := session.State()
	return after, errors.Join(
		s.release(ctx, r, after),
		r.Sessions.Save(ctx, after),
		r.Tasks.Cancel(ctx, TaskReconcile, paid.ID),
		r.Tasks.Cancel(ctx, TaskExpire, after.ID),
		r.Tasks.Schedule(ctx, TaskGiveBack, paid.ID, after.CreatorID, now))
}

// ReturnMoney refunds a payment in full. Task TaskGiveBack.
func (s *Service) ReturnMoney(ctx context.Context, t ports.Task) error {
	paid, err := s.store.Read(ctx).Payments.Get(ctx, t.Subject)
	if err != nil {
		return fmt.Errorf("give back: %w", err)
	}
	err = s.processor.Refund(ctx, ports.RefundRequest{
		RefundID: string(id.Refund) + "_" + id.Body(paid.ID), PaymentID: paid.ID, CreatorID: paid.CreatorID, Amount: paid.Amount,
	})
	if err != nil {
		return fmt.Errorf("give back %s: %w", paid.ID, err)
	}
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		latest, err := r.Payments.Get(ctx, paid.ID)
		if err != nil {
			return err
		}
		aggregate := payment.Restore(latest)
		changed, err := aggregate.GiveBack()
		if err != nil {
			return err
		}
		if changed {
			if err := r.Payments.Save(ctx, aggregate.State()); err != nil {
				return err
			}
		}
		return r.Tasks.Done(ctx, t)
	})
}

// Reconcile finishes an attempt whose answer was lost: it asks the processor, and what the processor never heard of is
// undone. Task TaskReconcile.
func (s *Service) Reconcile(ctx context.Context, t ports.Task) error {
	attempt, err := s.store.Read(ctx).Payments.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && attempt.Status.Final()) {
		return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, t) })
	}
	if err != nil {
		return fmt.Errorf("reconcile: %w", err)
	}
	outcome, err := s.processor.Find(ctx, attempt.CreatorID, attempt.ID)
	if errors.Is(err, ports.ErrNotFound) {
		outcome, err = s.processor.Cancel(ctx, attempt.CreatorID, attempt.ID)
	}
	if err != nil {
		return fmt.Errorf("reconcile %s: %w", attempt.ID, err)
	}
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if outcome.Status.Final() {
			if err := r.Tasks.Done(ctx, t); err != nil {
				return err
			}
		}
		if _, err := s.settleIn(ctx, r, attempt.ID, outcome); err != nil {
			return err
		}
		if outcome.Status.Final() {
			return nil
		}
		now, err := s.clock.Now(ctx, attempt.CreatorID)
		if err != nil {
			return err
		}
		return r.Tasks.Postpone(ctx, t, now.Add(askAgain(now.Sub(attempt.CreatedAt))))
	})
}

// askAgain waits half as long again as the attempt is old: 5 seconds at first, an hour at most.
func askAgain(age time.Duration) time.Duration {
	return min(max(age/2, 5*time.Second), time.Hour)
}

// ReconcileSoon makes every unsettled attempt of the account be looked into right after the given account time. The
// sandbox calls it before it moves the account's clock.
func (s *Service) ReconcileSoon(ctx context.Context, r ports.Repos, creatorID string, now time.Time) error {
	attempts, err := r.Payments.Live(ctx, creatorID, 1000)
	if err != nil {
		return err
	}
	for _, attempt := range attempts {
		if err := r.Tasks.Schedule(ctx, TaskReconcile, attempt.ID, creatorID, now.Add(time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// ExpireDue ends an unpaid session at its time. Task TaskExpire.
func (s *Service) ExpireDue(ctx context.Context, t ports.Task) error {
	if err := s.cancelLive(ctx, t.Subject); err != nil {
		return err // the session keeps what it holds until the processor answers
	}
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		session, err := s.expire(ctx, r, t.Subject)
		if fault.Is(err, fault.StateConflict) { // an attempt that cannot be canceled any more: its outcome decides
			now, err := s.clock.Now(ctx, t.CreatorID)
			if err != nil {
				return err
			}
			return r.Tasks.Postpone(ctx, t, now.Add(time.Minute))
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

// ExpireEarly ends an unpaid session of the account before its time. Faults: NOT_FOUND, SESSION_ALREADY_PAID, STATE_CONFLICT
// while a payment cannot be canceled, PROCESSOR_UNAVAILABLE.
func (s *Service) ExpireEarly(ctx context.Context, creatorID, sessionID string) (checkout.State, error) {
	if _, err := owned(ctx, s.store.Read(ctx), creatorID, sessionID); err != nil {
		return checkout.State{}, err
	}
	if err := s.cancelLive(ctx, sessionID); err != nil {
		return checkout.State{}, fault.Wrap(fault.ProcessorUnavailable, "The card processor does not answer. Try again in a moment.", err)
	}
	var session checkout.State
	err := s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		if session, err = s.expire(ctx, r, sessionID); err != nil {
			return err
		}
		return r.Tasks.Cancel(ctx, TaskExpire, sessionID)
	})
	return session, err
}

// cancelLive makes sure that no attempt of the session takes money from now on, and honours one that already did.
func (s *Service) cancelLive(ctx context.Context, sessionID string) error {
	r := s.store.Read(ctx)
	session, err := r.Sessions.Get(ctx, sessionID)
	if err != nil {
		return fmt.Errorf("expire: %w", err)
	}
	attempt, ok, err := live(ctx, r, session)
	if err != nil || !ok {
		return err
	}
	outcome, err := s.processor.Cancel(ctx, attempt.CreatorID, attempt.ID)
	if err != nil {
		return fmt.Errorf("expire %s: %w", sessionID, err)
	}
	_, err = s.settle(ctx, attempt.ID, outcome)
	return err
}

// expire is the last step: nothing is live any more.
func (s *Service) expire(ctx context.Context, r ports.Repos, sessionID string) (checkout.State, error) {
	loaded, err := r.Sessions.Get(ctx, sessionID)
	if err != nil {
		return checkout.State{}, err
	}
	aggregate := checkout.Restore(loaded)
	if err := aggregate.Expire(); err != nil {
		return loaded, err
	}
	if aggregate.State().Revision == loaded.Revision {
		return loaded, nil
	}
	if err := s.release(ctx, r, loaded); err != nil {
		return checkout.State{}, err
	}
	return aggregate.State(), r.Sessions.Save(ctx, aggregate.State())
}
