package booking

import (
	"context"
	"time"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/money"
	"sundry/core/refund"
	"sundry/ports"
)

// Cancellations cancels appointments and returns their money. The cancellation and the record of its refund are one
// transaction; a task of payments asks the processor afterwards.
type Cancellations struct {
	booking *Service
	refunds ports.AppointmentRefunds
}

// NewCancellations returns the use cases.
func NewCancellations(book *Service, refunds ports.AppointmentRefunds) *Cancellations {
	return &Cancellations{book, refunds}
}

// cancelRequest holds the arguments of a cancellation.
type cancelRequest struct {
	by     appointment.Canceler
	reason string
	// refunded requests a refund to the buyer.
	refunded bool
	// expected is the refund in minor units that a buyer was shown; nil for a creator.
	expected *int64
	// wholeTime cancels for everybody who shares the time.
	wholeTime bool
	// together is set for all but the first of a time that the creator cancels.
	together bool
}

// Cancel cancels one of the account's appointments and frees its time. The reason may be "". If refunded is true, the
// appointment's share of the payment is refunded. NOT_FOUND, VALIDATION_FAILED, STATE_CONFLICT once canceled or
// begun.
func (s *Cancellations) Cancel(
	ctx context.Context, creatorID, appointmentID, reason string, refunded bool,
) (appointment.State, error) {
	return s.cancelAs(ctx, creatorID, appointmentID, cancelRequest{
		by: appointment.ByCreator, reason: reason, refunded: refunded,
	})
}

// CancelTime is Cancel for everybody who shares the time of an appointment. It frees the seats that are held of it,
// too. For a time of one buyer it is Cancel.
func (s *Cancellations) CancelTime(
	ctx context.Context, creatorID, appointmentID, reason string, refunded bool,
) (appointment.State, error) {
	return s.cancelAs(ctx, creatorID, appointmentID, cancelRequest{
		by: appointment.ByCreator, reason: reason, refunded: refunded, wholeTime: true,
	})
}

// CancelByBuyer cancels the appointment behind a link and refunds what the policy promised. QUOTE_EXPIRED, with
// nothing changed, if that differs from the expected amount.
func (s *Cancellations) CancelByBuyer(
	ctx context.Context, link, reason string, expected int64,
) (appointment.State, error) {
	a, err := s.booking.linked(ctx, s.booking.deps.Store.Read(ctx), link)
	if err != nil {
		return a, err
	}
	return s.cancelAs(ctx, a.CreatorID, a.ID, cancelRequest{
		by: appointment.ByBuyer, reason: reason, refunded: true, expected: &expected,
	})
}

func (s *Cancellations) cancelAs(
	ctx context.Context, creatorID, appointmentID string, c cancelRequest,
) (canceled appointment.State, err error) {
	if err := appointment.CheckReason(c.reason); err != nil {
		return appointment.State{}, err
	}
	err = s.booking.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Booking.Reservations.Lock(ctx, creatorID); err != nil {
			return err
		}
		state, err := appointmentOf(ctx, r, creatorID, appointmentID)
		if err != nil {
			return err
		}
		if canceled, err = s.cancel(ctx, r, state, c); err != nil || !c.wholeTime || state.GroupID == "" {
			return err
		}
		return s.cancelRest(ctx, r, state, c)
	})
	return canceled, err
}

// cancelRest cancels the other appointments of a time and frees its held seats.
func (s *Cancellations) cancelRest(
	ctx context.Context, r ports.Repos, first appointment.State, c cancelRequest,
) error {
	c.together = true
	group, err := r.Booking.Appointments.ListByGroup(ctx, first.CreatorID, first.GroupID)
	if err != nil {
		return err
	}
	for _, a := range group {
		if a.Status != appointment.StatusConfirmed || a.ID == first.ID {
			continue
		}
		if _, err := s.cancel(ctx, r, a, c); err != nil {
			return err
		}
	}
	held, err := r.Booking.Reservations.ListSeats(ctx, first.CreatorID, first.GroupID)
	if err != nil {
		return err
	}
	for _, seat := range held {
		if err := s.booking.release(ctx, r, seat); err != nil {
			return err
		}
	}
	return nil
}

func (s *Cancellations) cancel(
	ctx context.Context, r ports.Repos, state appointment.State, c cancelRequest,
) (appointment.State, error) {
	now, err := r.Clock.Now(ctx, state.CreatorID)
	if err != nil {
		return state, err
	}
	a := appointment.Restore(state)
	if err := a.Changeable(now); err != nil {
		return state, err
	}
	session, err := r.Booking.Appointments.ListByCheckout(ctx, state.CreatorID, state.CheckoutID)
	if err != nil {
		return state, err
	}
	refunded, err := s.refund(ctx, r, state, len(session), c, now)
	if err != nil {
		return state, err
	}
	change, err := a.Cancel(appointment.Cancellation{By: c.by, Reason: c.reason, Refund: refunded}, now)
	if err != nil {
		return state, err
	}
	change.Together = c.together
	reservation, _, err := s.booking.sold(ctx, r, state)
	if err != nil {
		return state, err
	}
	if _, err := reservation.Cancel(); err != nil {
		return state, err
	}
	if err := r.Booking.Reservations.Update(ctx, reservation.State()); err != nil {
		return state, err
	}
	if err := s.booking.leaveGroup(ctx, r, reservation.State()); err != nil {
		return state, err
	}
	if err := s.booking.save(ctx, r, state, a, change); err != nil {
		return state, err
	}
	if err := ports.PublishAudited(ctx, r, s.booking.deps.Bus, identity.Audited{
		CreatorID: state.CreatorID, Kind: identity.AppointmentCanceled, ObjectID: state.ID, Note: state.Title,
	}); err != nil {
		return state, err
	}
	return a.State(), s.publishAllCanceled(ctx, r, a.State())
}

// refund records the refund that a cancellation makes, if any, and records why where there is none.
func (s *Cancellations) refund(
	ctx context.Context, r ports.Repos, a appointment.State, count int, c cancelRequest, now time.Time,
) (appointment.Refund, error) {
	made := appointment.Refund{Decision: a.DecideRefund(c.by, c.refunded, now)}
	var err error
	if made.Decision == appointment.RefundDue {
		made, err = s.refunds.RefundShare(ctx, r, shareOf(a, count))
	} else {
		made.Decision, err = s.unlessFree(ctx, r, a, count, made.Decision)
	}
	if err == nil && c.expected != nil && *c.expected != made.Amount.Minor {
		err = fault.New(
			fault.QuoteExpired, "The refund has changed since you last looked. Check it, then cancel again.",
		)
	}
	return made, err
}

// unlessFree is a decision against a refund, or that there is nothing to decide about.
func (s *Cancellations) unlessFree(
	ctx context.Context, r ports.Repos, a appointment.State, count int, d appointment.RefundDecision,
) (appointment.RefundDecision, error) {
	possible, _, err := s.refunds.RefundableShare(ctx, r, shareOf(a, count))
	if possible == appointment.NothingPaid {
		d = possible
	}
	return d, err
}

func shareOf(a appointment.State, count int) ports.AppointmentShare {
	return ports.AppointmentShare{CreatorID: a.CreatorID, CheckoutID: a.CheckoutID, Position: a.Position, Count: count}
}

// publishAllCanceled publishes that none of a session's appointments is left.
func (s *Cancellations) publishAllCanceled(ctx context.Context, r ports.Repos, canceled appointment.State) error {
	session, err := r.Booking.Appointments.ListByCheckout(ctx, canceled.CreatorID, canceled.CheckoutID)
	if err != nil || !appointment.NoneLeft(session) {
		return err
	}
	return s.booking.deps.Bus.Publish(ctx, r, appointment.AllCanceled{
		CreatorID: canceled.CreatorID, CheckoutID: canceled.CheckoutID,
	})
}

// Money is the effect of a cancellation on the payment.
type Money struct {
	Decision appointment.RefundDecision
	// Amount is refunded if Decision is appointment.RefundDue.
	Amount money.Amount
	// Status is the state of the refund; "" before the appointment is canceled.
	Status refund.Status
}

// MoneyOf returns what canceling an appointment did to its payment or, before that, what it would do now for a
// canceler.
func (s *Cancellations) MoneyOf(ctx context.Context, a appointment.State, by appointment.Canceler) (Money, error) {
	r := s.booking.deps.Store.Read(ctx)
	if a.Status == appointment.StatusCanceled {
		return s.moneyOfCanceled(ctx, r, a)
	}
	now, err := r.Clock.Now(ctx, a.CreatorID)
	if err != nil {
		return Money{}, err
	}
	session, err := r.Booking.Appointments.ListByCheckout(ctx, a.CreatorID, a.CheckoutID)
	if err != nil {
		return Money{}, err
	}
	decision, amount, err := s.refunds.RefundableShare(ctx, r, shareOf(a, len(session)))
	if err != nil || decision == appointment.NothingPaid {
		return Money{Decision: decision}, err
	}
	if first := a.DecideRefund(by, true, now); first != appointment.RefundDue {
		return Money{Decision: first}, nil
	}
	return Money{Decision: decision, Amount: amount}, nil
}

func (s *Cancellations) moneyOfCanceled(ctx context.Context, r ports.Repos, a appointment.State) (Money, error) {
	m := Money{Decision: a.RefundDecision}
	if a.RefundID == "" {
		return m, nil
	}
	f, err := s.refunds.AppointmentRefund(ctx, r, a.CreatorID, a.RefundID)
	m.Amount, m.Status = f.Share.Amount, f.Status
	return m, err
}
