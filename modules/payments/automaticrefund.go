package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/dispute"
	"sundry/core/document"
	"sundry/core/ledger"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// Refund implements ports.Charges.
func (s *Attempts) Refund(ctx context.Context, r ports.Repos, paid payment.State, reason string) error {
	if paid.Amount.Minor == 0 {
		return nil
	}
	now, err := r.Clock.Now(ctx, paid.CreatorID)
	if err != nil {
		return err
	}
	_, err = r.Payments.Refunds.Get(ctx, refund.AutomaticID(paid.ID))
	if errors.Is(err, ports.ErrNotFound) {
		err = r.Payments.Refunds.Insert(ctx, automatic(paid, reason, now))
	}
	if err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskRefund, paid.ID, paid.CreatorID, now)
}

// automatic is the refund of all of a payment.
func automatic(paid payment.State, reason string, now time.Time) refund.State {
	return refund.NewPending(refund.State{
		ID: refund.AutomaticID(paid.ID), CreatorID: paid.CreatorID, Reason: reason, Automatic: true,
		Return: returnOf(paid, ledger.Share{Amount: paid.Amount, Tax: paid.Sale.Tax}),
	}, now).State()
}

// disputeRecheck is the delay after which the refund of a disputed payment looks again.
const disputeRecheck = 24 * time.Hour

// The failure reasons of automatic refunds whose money the buyer has already.
const (
	disputeLost     = "dispute_lost"     // their bank took it
	alreadyRefunded = "already_refunded" // somebody sent it back at the processor
)

// RefundPayment makes all that is left of a payment go back. It waits while the payment is disputed and while the
// processor has not decided about it or about a refund that was made there, and fails once the buyer has the money:
// because the dispute is lost, or by refunds at the processor. Task TaskRefund.
func (s *Attempts) RefundPayment(ctx context.Context, t ports.Task) error {
	read := s.deps.Store.Read(ctx)
	paid, err := read.Payments.Payments.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) {
		return ports.EndTask(ctx, s.deps.Store, t)
	}
	if err != nil {
		return fmt.Errorf("refund: %w", err)
	}
	made, err := read.Payments.Refunds.Get(ctx, refund.AutomaticID(paid.ID))
	switch {
	case err != nil && !errors.Is(err, ports.ErrNotFound): // one since a version that did not list it is not found
		return fmt.Errorf("refund %s: %w", paid.ID, err)
	case made.Status == refund.Failed:
		return ports.EndTask(ctx, s.deps.Store, t)
	case paid.Refunded == paid.Amount:
		return s.failRefund(ctx, t, paid, alreadyRefunded, false)
	}
	left, waits, err := s.leftOf(ctx, read, paid)
	switch {
	case err != nil:
		return fmt.Errorf("refund %s: %w", paid.ID, err)
	case waits.forDispute:
		return s.postponeRefund(ctx, t)
	case waits.forRefund:
		return s.recheckRefund(ctx, t, paid)
	case left.Amount.Minor == 0:
		return s.failRefund(ctx, t, paid, disputeLost, false)
	}
	outcome, err := requestRefund(ctx, s.deps.Providers, paid.Provider, ports.RefundRequest{
		RefundID: refund.AutomaticID(paid.ID), PaymentID: paid.ID, ProcessorID: paid.ProcessorID,
		CreatorID: paid.CreatorID, Amount: left.Amount,
	})
	switch {
	case err != nil:
		return fmt.Errorf("refund %s: %w", paid.ID, err)
	case outcome.Status == refund.Succeeded:
		return s.completeRefund(ctx, t, paid, left)
	case outcome.Status == refund.Pending:
		return s.recheckRefund(ctx, t, paid)
	case outcome.Refused: // what was refunded or disputed at the processor is not known here yet
		return s.refundRefused(ctx, t, paid, left, outcome)
	}
	return s.failRefund(ctx, t, paid, outcome.Reason, true)
}

// completeRefund records that the processor has made an automatic refund.
func (s *Attempts) completeRefund(ctx context.Context, t ports.Task, paid payment.State, left ledger.Share) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		latest, err := r.Payments.Payments.Get(ctx, paid.ID)
		if err != nil {
			return err
		}
		aggregate := payment.Restore(latest)
		if err := aggregate.Refund(left.Amount); err != nil {
			return err
		}
		if err := s.reverse(ctx, r, aggregate.State(), left); err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}

// refundRefused has the refunds at the processor read again, once for each amount that it refuses: one of them may have
// been reported by no event. A refusal that this does not explain is an error.
func (s *Attempts) refundRefused(
	ctx context.Context, t ports.Task, paid payment.State, left ledger.Share, o refund.Outcome,
) error {
	refused := fmt.Errorf("refund of %s is refused: %s", paid.ID, o.Reason)
	provider, err := s.deps.Providers.Get(paid.Provider)
	if err != nil || provider.RefundLister == nil {
		return refused
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, paid.CreatorID)
		if err != nil {
			return err
		}
		e := ports.ProcessorEvent{
			Provider: paid.Provider, Kind: ports.AboutPaymentRefunds, ObjectID: paid.ID, CreatorID: paid.CreatorID,
			ID: fmt.Sprintf("%s/%s:%d", paid.Provider, refund.AutomaticID(paid.ID), left.Amount.Minor),
		}
		isNew, err := r.Payments.ProcessorEvents.Insert(ctx, e, now)
		if err != nil {
			return err
		}
		if !isNew {
			return refused
		}
		if err := r.Tasks.Schedule(ctx, TaskProcessorEvent, e.ID, e.CreatorID, now); err != nil {
			return err
		}
		return r.Tasks.Postpone(ctx, t, now.Add(firstRecheck))
	})
}

// recheckRefund postpones an automatic refund that the processor has not decided.
func (s *Attempts) recheckRefund(ctx context.Context, t ports.Task, paid payment.State) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		made, now, err := listedRefund(ctx, r, paid)
		if err != nil {
			return err
		}
		return r.Tasks.Postpone(ctx, t, now.Add(ports.RecheckPause(now.Sub(made.CreatedAt), firstRecheck)))
	})
}

// awaited tells what has to be decided before it is known what is left of a payment.
type awaited struct{ forDispute, forRefund bool }

// leftOf returns what refunds at the processor and lost disputes have left of a payment, and which are open.
func (s *Attempts) leftOf(
	ctx context.Context, r ports.Repos, paid payment.State,
) (left ledger.Share, waits awaited, err error) {
	left = ledger.Share{Amount: paid.Amount, Tax: paid.Sale.Tax}
	take := func(share ledger.Share) {
		left.Amount.Minor -= share.Amount.Minor
		left.Tax.Minor -= share.Tax.Minor
	}
	disputes, err := r.Payments.Disputes.List(ctx, paid.CreatorID, paid.ID, ports.Page{Limit: maxLive})
	if err != nil {
		return left, waits, err
	}
	for _, d := range disputes.Items {
		if d.Status == dispute.Lost {
			take(d.Share)
		}
		waits.forDispute = waits.forDispute || !d.Status.Closed()
	}
	made, err := r.Payments.Refunds.ListOf(ctx, paid.CreatorID, []string{paid.ID}, maxLive)
	for _, f := range made {
		if f.Status == refund.Succeeded {
			take(f.Share)
		}
		waits.forRefund = waits.forRefund || f.Status == refund.Pending && !f.Automatic
	}
	return left, waits, err
}

// postponeRefund postpones the refund of a payment that is disputed.
func (s *Attempts) postponeRefund(ctx context.Context, t ports.Task) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return ports.PostponeBy(ctx, r, t, disputeRecheck)
	})
}

// failRefund ends the automatic refund of a payment that the buyer has the money of already, or, where notify is set,
// cannot get it.
func (s *Attempts) failRefund(
	ctx context.Context, t ports.Task, paid payment.State, reason string, notify bool,
) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		made, now, err := listedRefund(ctx, r, paid)
		if err != nil {
			return err
		}
		f := refund.Restore(made)
		if made.Status != refund.Pending || !f.Fail(reason, now) {
			return r.Tasks.Done(ctx, t)
		}
		if err := r.Payments.Refunds.Update(ctx, f.State()); err != nil {
			return err
		}
		if notify {
			err := s.deps.Bus.Publish(ctx, r, refund.Failure{State: f.State(), Item: paid.Sale.Item()})
			if err != nil {
				return err
			}
		}
		return r.Tasks.Done(ctx, t)
	})
}

// reverse records that all that was left of a payment went back. Only one that had a receipt gets a credit note.
func (s *Attempts) reverse(ctx context.Context, r ports.Repos, paid payment.State, left ledger.Share) error {
	made, now, err := listedRefund(ctx, r, paid)
	if err != nil {
		return err
	}
	note := ""
	if paid.Sale.ReceiptNumber != "" {
		if note, err = ports.NextNumber(ctx, r.Invoicing.DocumentNumbers, paid.CreatorID, document.CreditNotes); err != nil {
			return err
		}
	}
	made.Share = left
	f := refund.Restore(made)
	if _, _, err := f.Succeed(note, true, now); err != nil {
		return err
	}
	if err := r.Payments.Refunds.Update(ctx, f.State()); err != nil {
		return err
	}
	if err := r.Payments.Payments.Update(ctx, paid); err != nil {
		return err
	}
	return s.deps.Bus.Publish(ctx, r,
		payment.Reversed{State: paid, Share: left, Reason: made.Reason, CreditNoteNumber: note},
		refund.Returned{State: linked(s.deps.Links, f.State())},
	)
}

// listedRefund returns the automatic refund of a payment with the account's time, and lists one that is due since a
// version that did not.
func listedRefund(
	ctx context.Context, r ports.Repos, paid payment.State,
) (made refund.State, now time.Time, err error) {
	if now, err = r.Clock.Now(ctx, paid.CreatorID); err != nil {
		return made, now, err
	}
	made, err = r.Payments.Refunds.Get(ctx, refund.AutomaticID(paid.ID))
	if errors.Is(err, ports.ErrNotFound) {
		made = automatic(paid, refund.NotDelivered, now)
		err = r.Payments.Refunds.Insert(ctx, made)
	}
	return made, now, err
}
