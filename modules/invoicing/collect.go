package invoicing

import (
	"context"
	"errors"
	"time"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/invoice"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/refund"
	"sundry/ports"
)

// OnPaymentCompleted marks an invoice as paid. If another charge paid it before, the money is refunded.
func (s *Service) OnPaymentCompleted(ctx context.Context, r ports.Repos, e payment.Completed) error {
	if e.Purpose != payment.ForInvoice {
		return nil
	}
	state, err := s.load(ctx, r, e.SubjectID)
	if err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, state.CreatorID)
	if err != nil {
		return err
	}
	inv := invoice.Restore(state)
	paid, changed, err := inv.Charged(e.ID, now)
	switch {
	case errors.Is(err, invoice.ErrPaidTwice):
		return s.deps.Charges.Refund(ctx, r, e.State, refund.PaidTwice)
	case err != nil || !changed:
		return err
	}
	if err := r.Invoicing.Invoices.Update(ctx, inv.State()); err != nil {
		return err
	}
	if err := r.Tasks.Cancel(ctx, TaskRetry, state.ID); err != nil {
		return err
	}
	return s.publish(ctx, r, paid)
}

// OnPaymentFailed records that a charge of an invoice took no money, and plans the next.
func (s *Service) OnPaymentFailed(ctx context.Context, r ports.Repos, e payment.Failed) error {
	if e.Purpose != payment.ForInvoice {
		return nil
	}
	state, err := s.load(ctx, r, e.SubjectID)
	if err != nil || state.Status == invoice.Paid {
		return err
	}
	code := e.Decline.Code
	if code == "" {
		code = payment.ProcessorUnavailable // it was canceled before it reached the processor
	}
	next, err := s.refuse(ctx, r, state, code, e.CreatedAt)
	if err != nil {
		return err
	}
	if next.IsZero() {
		return r.Tasks.Cancel(ctx, TaskRetry, state.ID)
	}
	return r.Tasks.Schedule(ctx, TaskRetry, state.ID, state.CreatorID, next)
}

// hold postpones the charge of an invoice while a payment of its subscription is disputed, and ends the task once that
// dispute is lost: then only the customer pays it. held is false without such a dispute.
func (s *Service) hold(ctx context.Context, r ports.Repos, t ports.Task, state invoice.State) (held bool, err error) {
	open, lost, err := s.disputeOf(ctx, r, state)
	switch {
	case err != nil:
		return false, err
	case lost:
		inv := invoice.Restore(state)
		if inv.EndRetries() {
			if err := r.Invoicing.Invoices.Update(ctx, inv.State()); err != nil {
				return true, err
			}
		}
		return true, r.Tasks.Done(ctx, t)
	case open:
		return true, ports.PostponeBy(ctx, r, t, disputeRecheck)
	}
	return false, nil
}

// Retry charges an invoice again, once no dispute holds that. Task TaskRetry.
func (s *Service) Retry(ctx context.Context, t ports.Task) error {
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := s.load(ctx, r, t.Subject)
		if fault.Is(err, fault.NotFoundCode) || err == nil && state.Status == invoice.Paid {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		if held, err := s.hold(ctx, r, t, state); held || err != nil {
			return err
		}
		_, err = s.charge(ctx, r, state, chargeOptions{}, t.DueAt)
		if err == nil {
			return r.Tasks.Done(ctx, t)
		}
		if !fault.Is(err, fault.PaymentMethodRequired) {
			return err
		}
		next, err := s.refuse(ctx, r, state, payment.MethodRequired, t.DueAt)
		if err != nil {
			return err
		}
		if next.IsZero() {
			return r.Tasks.Done(ctx, t)
		}
		return r.Tasks.Postpone(ctx, t, next)
	})
	if errors.Is(err, ports.ErrDuplicate) { // a charge is under way: its outcome plans the next
		return ports.EndTask(ctx, s.deps.Store, t)
	}
	return err
}

// Pay charges an invoice now, whatever is planned. NOT_FOUND, STATE_CONFLICT for one that is paid or being charged,
// PAYMENT_METHOD_REQUIRED; with CARD_DECLINED and AUTHENTICATION_REQUIRED the invoice comes back too.
func (s *Service) Pay(ctx context.Context, creatorID, invoiceID string) (invoice.State, error) {
	state, err := s.Invoice(ctx, creatorID, invoiceID)
	if err != nil {
		return invoice.State{}, err
	}
	return s.collect(ctx, state, chargeOptions{})
}

// PayByLink charges the saved card for the invoice behind a secret address, as Pay does, with the customer present.
// RATE_LIMITED.
func (s *Service) PayByLink(ctx context.Context, link string) (invoice.State, error) {
	state, err := s.ByLink(ctx, link)
	if err != nil {
		return invoice.State{}, err
	}
	if err := invoice.Restore(state).Chargeable(); err != nil {
		return state, err
	}
	if err := s.deps.Tries.CountTry(ctx, state.CustomerID); err != nil {
		return invoice.State{}, err
	}
	return s.collect(ctx, state, chargeOptions{onSession: true})
}

// PayWithCard charges the invoice behind a secret address to a card that the customer gives now. It is saved once it
// has paid, because the customer agrees to further charges by it, in their reader's language. VALIDATION_FAILED for a
// card that the form does not take, RATE_LIMITED.
func (s *Service) PayWithCard(
	ctx context.Context, link string, card ports.CardInput, reader locale.Locale,
) (invoice.State, error) {
	state, err := s.ByLink(ctx, link)
	if err != nil {
		return invoice.State{}, err
	}
	if err := invoice.Restore(state).Chargeable(); err != nil {
		return state, err
	}
	var f fault.Violations
	method := s.deps.Cards.Method(card, &f)
	if err := f.Err(); err != nil {
		return state, err
	}
	if err := s.deps.Tries.CountTry(ctx, state.CustomerID); err != nil {
		return invoice.State{}, err
	}
	mandate, err := s.MandateText(ctx, state, reader)
	if err != nil {
		return state, err
	}
	return s.collect(ctx, state, chargeOptions{method: method, mandate: mandate, onSession: true})
}

// MandateText returns the text to which a reader agrees by paying an invoice with a new card. The same text is stored
// with the card.
func (s *Service) MandateText(ctx context.Context, state invoice.State, reader locale.Locale) (string, error) {
	shop, err := s.Shop(ctx, state)
	return paymentmethod.MandateText(reader, s.cfg.Merchant, shop), err
}

// chargeOptions selects how an invoice is charged. The zero value charges the latest saved card off session.
type chargeOptions struct {
	method    string // of a card that the customer gave now
	mandate   string // what they agreed to by giving it
	onSession bool   // the customer is here to confirm the payment to their bank
	// runByCaller means that the caller runs the attempt, and not its task.
	runByCaller bool
}

// collect starts a charge, which the access log records, and waits for its outcome.
func (s *Service) collect(ctx context.Context, state invoice.State, options chargeOptions) (invoice.State, error) {
	options.runByCaller = true
	var started payment.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		current, err := s.load(ctx, r, state.ID)
		if err != nil {
			return err
		}
		if err := invoice.Restore(current).Chargeable(); err != nil {
			return err
		}
		open, _, err := s.disputeOf(ctx, r, current)
		if err != nil {
			return err
		}
		if open && !options.onSession {
			return fault.New(fault.StateConflict, "A payment of the invoice's subscription is disputed. Charge the invoice "+
				"once the dispute is decided, or let the customer pay it on its page.")
		}
		if started, err = s.charge(ctx, r, current, options, time.Time{}); err != nil {
			return err
		}
		// This charge waited for one that was ending, which may have paid. (A retry is fenced by its task.)
		after, err := s.load(ctx, r, state.ID)
		if err == nil && after.Revision != current.Revision {
			err = ports.ErrDuplicate
		}
		if err != nil {
			return err
		}
		return s.audit(ctx, r, identity.InvoiceCharged, current)
	})
	if errors.Is(err, ports.ErrDuplicate) {
		return state, fault.New(fault.StateConflict, "Another charge of this invoice is under way or has just ended.")
	}
	if err != nil {
		return state, err
	}
	return s.await(ctx, state, started)
}
