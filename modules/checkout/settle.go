package checkout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/document"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/ports"
)

// interrupted is what the buyer is shown when an attempt was undone.
var interrupted = payment.DeclineReason{Code: "processing_error", Message: "The payment was interrupted and nothing was charged. Try again."}

// superseded is what the session keeps of a bank's challenge that the buyer left for another card.
var superseded = payment.DeclineReason{Code: "authentication_required", Message: "The confirmation by your bank was not completed. Try again."}

// Settle takes in what the processor reports of an attempt, with everything that follows from it, in one transaction. It
// may be called any number of times and in any order: what is known already changes nothing.
func (s *Service) Settle(ctx context.Context, paymentID string, o payment.Outcome) (checkout.State, error) {
	var session checkout.State
	err := s.store.Pipelined(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		session, err = s.settleByID(ctx, r, paymentID, o)
		return err
	})
	if err != nil {
		return checkout.State{}, fmt.Errorf("settle %s: %w", paymentID, err)
	}
	return session, nil
}

// settleByID is settleIn for an attempt that is still to be read, with its session.
func (s *Service) settleByID(ctx context.Context, r ports.Repos, paymentID string, o payment.Outcome) (checkout.State, error) {
	read, err := readSettling(ctx, r, paymentID)
	if err != nil {
		return checkout.State{}, err
	}
	return s.settleIn(ctx, r, read.session, read.attempt, o, (*checkout.Session).ClearPayment, interrupted)
}

// clearing ends the session's live attempt after it was canceled.
type clearing func(session *checkout.Session, paymentID string, why payment.DeclineReason) (changed bool)

// settling is an attempt with its session.
type settling struct {
	session checkout.State
	attempt payment.State
}

// readSettling locks an attempt and reads it with its session.
func readSettling(ctx context.Context, r ports.Repos, paymentID string) (read settling, err error) {
	if read.attempt, err = r.Payments.Payments.GetForUpdate(ctx, paymentID); err == nil {
		read.session, err = r.Checkout.Sessions.Get(ctx, read.attempt.CheckoutID())
	}
	return read, err
}

// settleKnown is Settle for an attempt and a session that were just read or written. Both are read again when the revision of one
// has changed since.
func (s *Service) settleKnown(ctx context.Context, seen checkout.State, attempt payment.State, o payment.Outcome, clearLive clearing, why payment.DeclineReason) (session checkout.State, err error) {
	loads := firstKnown(settling{seen, attempt}, func(ctx context.Context, r ports.Repos) (settling, error) { return readSettling(ctx, r, attempt.ID) })
	err = s.store.Pipelined(ctx, func(ctx context.Context, r ports.Repos) error {
		known, err := loads(ctx, r)
		if err != nil {
			return err
		}
		if err := r.Payments.Payments.Lock(ctx, known.attempt); err != nil { // before any other row, or two could deadlock
			return err
		}
		session, err = s.settleIn(ctx, r, known.session, known.attempt, o, clearLive, why)
		return err
	})
	if err != nil {
		return checkout.State{}, fmt.Errorf("settle %s: %w", attempt.ID, err)
	}
	return session, nil
}

// settleIn is Settle in the caller's transaction.
func (s *Service) settleIn(
	ctx context.Context, r ports.Repos, session checkout.State, loaded payment.State, o payment.Outcome, clearLive clearing, why payment.DeclineReason,
) (checkout.State, error) {
	s.store.ReadAhead(ctx, func() {
		_, _ = r.Clock.Now(ctx, session.CreatorID)
		if o.Status == payment.Succeeded && session.ExternalCustomerID != "" { // fulfil asks for the customer
			_, _ = r.Customers.Customers.GetByExternalID(ctx, session.CreatorID, session.ExternalCustomerID)
		}
	})
	now, err := r.Clock.Now(ctx, loaded.CreatorID)
	if err != nil {
		return checkout.State{}, err
	}
	attempt := payment.Restore(loaded)
	changed, err := attempt.Apply(o, now)
	if err != nil || !changed {
		return session, err
	}
	aggregate := checkout.Restore(session)
	status := attempt.State().Status
	switch {
	case status == payment.Succeeded && session.Status == checkout.StatusPaid:
		return session, s.refundDouble(ctx, r, attempt.State(), now)
	case status == payment.Succeeded:
		aggregate.NoteEvidence("", o.CardCountry)
		return s.fulfil(ctx, r, aggregate, attempt, now)
	}
	if err := r.Payments.Payments.Update(ctx, attempt.State()); err != nil {
		return checkout.State{}, err
	}
	var ended bool
	switch status {
	case payment.Declined:
		ended = aggregate.Decline(loaded.ID, o.Decline)
	case payment.Canceled:
		ended = clearLive(aggregate, loaded.ID, why)
	case payment.Pending, payment.RequiresAction, payment.Processing, payment.Succeeded:
	}
	if !ended {
		return session, nil // the attempt goes on, or was no longer the live one
	}
	return s.endAttempt(ctx, r, loaded.ID, aggregate.State())
}

// endAttempt saves a session whose live attempt has ended unpaid.
func (s *Service) endAttempt(ctx context.Context, r ports.Repos, paymentID string, after checkout.State) (checkout.State, error) {
	if err := r.Tasks.Cancel(ctx, TaskReconcile, paymentID); err != nil {
		return checkout.State{}, err
	}
	if err := s.releaseDiscount(ctx, r, after); err != nil {
		return checkout.State{}, err
	}
	if after.Status == checkout.StatusFailed {
		if err := s.release(ctx, r, after); err != nil {
			return checkout.State{}, err
		}
	}
	return after, r.Checkout.Sessions.Update(ctx, after)
}

// refundDouble records money that arrived for a session which another payment has paid, and makes its refund due.
func (s *Service) refundDouble(ctx context.Context, r ports.Repos, double payment.State, now time.Time) error {
	if err := r.Payments.Payments.Update(ctx, double); err != nil {
		return err
	}
	if err := r.Tasks.Cancel(ctx, TaskReconcile, double.ID); err != nil {
		return err
	}
	if err := r.Tasks.Schedule(ctx, ports.TaskRefundPayment, double.ID, double.CreatorID, now); err != nil {
		return err
	}
	return s.bus.Publish(ctx, r, payment.Completed{State: double})
}

// fulfil makes the session paid: customer, appointments, receipt number, and whatever subscribes to it (subscription,
// access), together. Money for times that somebody else has by now goes back, and so does money for a discount that is
// used up.
func (s *Service) fulfil(ctx context.Context, r ports.Repos, session *checkout.Session, attempt *payment.Payment, now time.Time) (checkout.State, error) {
	before, paid := session.State(), attempt.State()
	buyer, err := r.Customers.Customers.GetOrInsert(ctx, customer.State{
		ID: s.ids.New(id.Customer), CreatorID: before.CreatorID, ExternalCustomerID: before.ExternalCustomerID,
		Email: before.Email, DisplayName: before.Buyer.Name, Details: before.Buyer, CreatedAt: now, UpdatedAt: now, Revision: 1,
	})
	if err != nil {
		return checkout.State{}, err
	}
	switch err := s.redeem(ctx, r, before); {
	case fault.Is(err, fault.LimitReached): // late money, and others have used the code up since
		return s.refundAndClose(ctx, r, session, attempt, now)
	case err != nil:
		return checkout.State{}, err
	}
	var booked []event.Event
	if before.Offer.ForAppointments() {
		var ok bool
		booked, ok, err = s.bookings.Confirm(ctx, r, ports.Confirmation{
			CreatorID: before.CreatorID, CheckoutID: before.ID,
			Buyer:        appointment.Buyer{CustomerID: buyer.ID, ExternalCustomerID: before.ExternalCustomerID},
			RefundPolicy: appointment.PolicyOf(before.Offer.FullRefundHours),
		})
		if err != nil {
			return checkout.State{}, err
		}
		if !ok {
			return s.refundAndClose(ctx, r, session, attempt, now)
		}
	}
	settlement := checkout.Settlement{PaymentID: paid.ID, CustomerID: buyer.ID, Brand: paid.Brand, Last4: paid.Last4}
	if before.Offer.Recurring() {
		settlement.SubscriptionID = s.ids.New(id.Subscription)
	}
	if before.SavesCard() {
		settlement.PaymentMethodID = s.ids.New(id.PaymentMethod)
		settlement.Card = paymentmethod.Card{Token: paid.Method, Brand: paid.Brand, Last4: paid.Last4}
	}
	if settlement.ReceiptNumber, err = s.takeNumber(ctx, r, before, settlement, now); err != nil {
		return checkout.State{}, err
	}
	sold, err := session.Pay(settlement, now)
	if err != nil {
		return checkout.State{}, err
	}
	if err := attempt.Document(buyer.ID, settlement.ReceiptNumber); err != nil {
		return checkout.State{}, err
	}
	if err := s.closeSession(ctx, r, session.State(), attempt.State()); err != nil {
		return checkout.State{}, err
	}
	news := append([]event.Event{sold}, booked...)
	return session.State(), s.bus.Publish(ctx, r, append(news, payment.Completed{State: attempt.State()})...)
}

// takeNumber takes the receipt's number, which other sales of the account wait for, together with everything that is read
// behind it: what remains then is written with the commit.
func (s *Service) takeNumber(ctx context.Context, r ports.Repos, session checkout.State, settlement checkout.Settlement, now time.Time) (string, error) {
	foreseen, err := checkout.Restore(session).Pay(settlement, now)
	if err != nil {
		return "", err
	}
	s.store.ReadAhead(ctx, func() {
		_, _ = r.Invoicing.DocumentNumbers.Next(ctx, session.CreatorID, document.Receipts)
		s.bus.ReadAhead(ctx, r, foreseen)
	})
	number, err := r.Invoicing.DocumentNumbers.Next(ctx, session.CreatorID, document.Receipts)
	return document.Number(session.CreatorID, document.Receipts, number), err
}

// closeSession saves a session and the attempt that has decided it. Nothing is left to reconcile or to expire.
func (s *Service) closeSession(ctx context.Context, r ports.Repos, session checkout.State, attempt payment.State) error {
	if err := r.Payments.Payments.Update(ctx, attempt); err != nil {
		return err
	}
	if err := r.Checkout.Sessions.Update(ctx, session); err != nil {
		return err
	}
	if err := r.Tasks.Cancel(ctx, TaskReconcile, attempt.ID); err != nil {
		return err
	}
	return r.Tasks.Cancel(ctx, TaskExpire, session.ID)
}

// refundAndClose ends the session unpaid and makes the refund due.
func (s *Service) refundAndClose(ctx context.Context, r ports.Repos, session *checkout.Session, attempt *payment.Payment, now time.Time) (checkout.State, error) {
	session.CloseRefunded()
	after, paid := session.State(), attempt.State()
	if err := s.release(ctx, r, after); err != nil {
		return checkout.State{}, err
	}
	if err := s.releaseDiscount(ctx, r, after); err != nil {
		return checkout.State{}, err
	}
	if err := s.closeSession(ctx, r, after, paid); err != nil {
		return checkout.State{}, err
	}
	if err := r.Tasks.Schedule(ctx, ports.TaskRefundPayment, paid.ID, after.CreatorID, now); err != nil {
		return checkout.State{}, err
	}
	return after, s.bus.Publish(ctx, r, payment.Completed{State: paid})
}

// Reconcile finishes an attempt whose response was lost: it asks the processor, and what the processor never received is
// undone. Task TaskReconcile.
func (s *Service) Reconcile(ctx context.Context, t ports.Task) error {
	attempt, err := s.store.Read(ctx).Payments.Payments.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && attempt.Status.Final()) {
		return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, t) })
	}
	if err != nil {
		return fmt.Errorf("reconcile: %w", err)
	}
	outcome, err := s.processor.Find(ctx, ports.ChargeOf(attempt))
	if errors.Is(err, ports.ErrNotFound) {
		outcome, err = s.processor.Cancel(ctx, ports.ChargeOf(attempt))
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
		if _, err := s.settleByID(ctx, r, attempt.ID, outcome); err != nil {
			return err
		}
		if outcome.Status.Final() {
			return nil
		}
		now, err := r.Clock.Now(ctx, attempt.CreatorID)
		if err != nil {
			return err
		}
		return r.Tasks.Postpone(ctx, t, now.Add(ports.RecheckPause(now.Sub(attempt.CreatedAt), firstRecheck)))
	})
}

// ReconcileSoon makes every unsettled attempt of the account be reconciled right after the given account time. The
// sandbox calls it before it moves the account's clock.
func (s *Service) ReconcileSoon(ctx context.Context, r ports.Repos, creatorID string, now time.Time) error {
	attempts, err := r.Payments.Payments.ListLive(ctx, creatorID, 1000)
	if err != nil {
		return err
	}
	for _, attempt := range attempts {
		if attempt.Purpose != payment.ForCheckout {
			continue
		}
		if err := r.Tasks.Schedule(ctx, TaskReconcile, attempt.ID, creatorID, now.Add(time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// ExpireDue ends an unpaid session at its time. Task TaskExpire.
func (s *Service) ExpireDue(ctx context.Context, t ports.Task) error {
	if err := s.cancelLive(ctx, t.Subject); err != nil {
		return err // the session keeps what it holds until the processor responds
	}
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		session, err := s.expire(ctx, r, t.Subject)
		if fault.Is(err, fault.StateConflict) { // an attempt that cannot be canceled any more: its outcome decides
			now, err := r.Clock.Now(ctx, t.CreatorID)
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

// ExpireEarly ends an unpaid session of the account before its time. Faults: NOT_FOUND, SESSION_ALREADY_PAID,
// STATE_CONFLICT while a payment cannot be canceled, PROCESSOR_UNAVAILABLE.
func (s *Service) ExpireEarly(ctx context.Context, creatorID, sessionID string) (checkout.State, error) {
	if _, err := owned(ctx, s.store.Read(ctx), creatorID, sessionID); err != nil {
		return checkout.State{}, err
	}
	if err := s.cancelLive(ctx, sessionID); err != nil {
		return checkout.State{}, fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Try again in a moment.", err)
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

// cancelLive makes sure that no attempt of the session takes money from now on, and fulfils one that already did.
func (s *Service) cancelLive(ctx context.Context, sessionID string) error {
	r := s.store.Read(ctx)
	session, err := r.Checkout.Sessions.Get(ctx, sessionID)
	if err != nil {
		return fmt.Errorf("expire: %w", err)
	}
	attempt, ok, err := live(ctx, r, session)
	if err != nil || !ok {
		return err
	}
	outcome, err := s.processor.Cancel(ctx, ports.ChargeOf(attempt))
	if err != nil {
		return fmt.Errorf("expire %s: %w", sessionID, err)
	}
	_, err = s.Settle(ctx, attempt.ID, outcome)
	return err
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
	if err := s.release(ctx, r, loaded); err != nil {
		return checkout.State{}, err
	}
	return aggregate.State(), r.Checkout.Sessions.Update(ctx, aggregate.State())
}
