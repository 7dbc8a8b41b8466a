package invoicing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/apiformat"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/invoice"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/core/usage"
	"sundry/ports"
)

// Push makes an invoice of the integrator's own amounts, finalizes it and charges the customer's saved card. The
// invoice comes back with these refusals too: CARD_DECLINED and AUTHENTICATION_REQUIRED, once it is stored as failed;
// IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_KEY_MISMATCH, which return the one that the key has made. Others:
// VALIDATION_FAILED, CUSTOMER_NOT_FOUND, PAYMENT_METHOD_REQUIRED, PROCESSOR_UNAVAILABLE, and in live
// TAX_LOCATION_REQUIRED.
func (s *Service) Push(ctx context.Context, creatorID string, draft invoice.Draft) (invoice.State, error) {
	state, err := draft.Parse()
	if err != nil {
		return invoice.State{}, err
	}
	state.ID, state.CreatorID = s.deps.IDs.New(id.Invoice), creatorID
	var original invoice.State // that the key has made before
	var started payment.State
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		original, err = r.Invoicing.Invoices.GetByKey(ctx, creatorID, state.Key)
		if !errors.Is(err, ports.ErrNotFound) {
			return err
		}
		pushed, err := s.addressed(ctx, r, state)
		if err != nil {
			return err
		}
		made, err := s.insert(ctx, r, pushed)
		if err == nil && s.cfg.Live && made.TaxDetails.Treatment == tax.Undetermined {
			return fault.New(fault.TaxLocationRequired, "The customer's country is not known, so the tax can't be calculated. "+
				"Give the customer a billingAddress.")
		}
		state = made
		if err == nil {
			err = s.audit(ctx, r, identity.InvoiceCreated, made)
		}
		if err != nil || made.Status == invoice.Paid {
			return err
		}
		started, err = s.charge(ctx, r, made, chargeOptions{runByCaller: true}, time.Time{})
		return err
	})
	if errors.Is(err, ports.ErrDuplicate) { // another request with the key was faster
		original, err = s.deps.Store.Read(ctx).Invoicing.Invoices.GetByKey(ctx, creatorID, state.Key)
	}
	switch {
	case err == nil && original.ID != "":
		return s.reused(original, state.Fingerprint)
	case err != nil || started.ID == "":
		return state, err
	}
	return s.await(ctx, state, started)
}

func (s *Service) reused(original invoice.State, fingerprint []byte) (invoice.State, error) {
	if bytes.Equal(original.Fingerprint, fingerprint) {
		return s.linked(original), fault.New(
			fault.IdempotencyKeyReused, "The idempotency key has made this invoice before. Nothing was charged again.",
		)
	}
	return s.linked(original), fault.New(
		fault.IdempotencyKeyMismatch, "The idempotency key has made this invoice before, from another body.",
	)
}

// addressed finds the customer of a pushed invoice, who must have a card, and keeps them from being erased before it is
// written. CUSTOMER_NOT_FOUND, PAYMENT_METHOD_REQUIRED.
func (s *Service) addressed(ctx context.Context, r ports.Repos, state invoice.State) (invoice.State, error) {
	customer, err := r.Customers.Customers.GetForShare(ctx, state.CustomerID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && customer.CreatorID != state.CreatorID {
		return state, fault.New(
			fault.CustomerNotFound, "Customer not found: no customer of your account has the id "+state.CustomerID+".",
		)
	}
	if err != nil {
		return state, err
	}
	state.ExternalCustomerID = customer.ExternalCustomerID
	cards, err := r.Payments.PaymentMethods.List(ctx, customer.ID)
	if err == nil && len(cards) == 0 {
		err = fault.New(fault.PaymentMethodRequired, "The customer has no saved payment method.")
	}
	return state, err
}

// insert numbers, finalizes and writes an invoice, and publishes that.
func (s *Service) insert(ctx context.Context, r ports.Repos, state invoice.State) (invoice.State, error) {
	for i := range state.Lines {
		state.Lines[i].ID = s.deps.IDs.New(id.InvoiceLine)
	}
	now, err := r.Clock.Now(ctx, state.CreatorID)
	if err != nil {
		return state, err
	}
	if state, err = s.taxed(ctx, r, state, now); err != nil {
		return state, err
	}
	// The number comes last of what is read: its row is locked until the transaction ends.
	state.Number, err = ports.NextNumber(ctx, r.Invoicing.DocumentNumbers, state.CreatorID, document.Invoices)
	if err != nil {
		return state, err
	}
	inv, events, err := invoice.New(s.linked(state), now)
	if err != nil {
		return state, err
	}
	if err := r.Invoicing.Invoices.Insert(ctx, inv.State()); err != nil {
		return state, err
	}
	return inv.State(), s.publish(ctx, r, events...)
}

// taxed gives an invoice the tax of its customer's country: that of their billing address, or else of their latest
// card. The amounts contain it unless the invoice specifies otherwise.
func (s *Service) taxed(ctx context.Context, r ports.Repos, state invoice.State, now time.Time) (invoice.State, error) {
	subtotal, err := invoice.Subtotal(state.Currency, state.Lines)
	if err != nil || subtotal.Minor <= 0 {
		return state, err
	}
	buyer, err := r.Customers.Customers.Get(ctx, state.CustomerID)
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return state, err
	}
	evidence := tax.Evidence{Declared: buyer.Details.Country}
	if evidence.Declared == "" {
		cards, err := r.Payments.PaymentMethods.List(ctx, state.CustomerID)
		if err != nil {
			return state, err
		}
		if len(cards) > 0 {
			evidence.Card = cards[0].Country
		}
	}
	place, _ := evidence.Country()
	result, err := s.deps.Taxes.Calculate(ctx, tax.Sale{
		Lines: []tax.Line{{Amount: subtotal, Category: tax.Electronic}}, Behavior: state.TaxDetails.Behavior,
		BuyerCountry: place, BuyerPostalCode: buyer.Details.PostalCode, BuyerTaxID: buyer.Details.TaxID, At: now,
	})
	if err != nil {
		return state, fmt.Errorf("tax invoice %s: %w", state.ID, err)
	}
	state.Tax, state.TaxDetails = result.Tax, result.Details()
	state.TaxDetails.Evidence = evidence
	return state, nil
}

// charge starts a charge of an invoice. It counts as made at the given time of
// the account; zero means now.
func (s *Service) charge(
	ctx context.Context, r ports.Repos, state invoice.State, options chargeOptions, at time.Time,
) (payment.State, error) {
	none := money.Amount{Currency: state.Currency}
	sale := payment.Sale{
		Subtotal: state.Subtotal, Discount: none, Tax: state.Tax, TaxAdded: state.TaxAdded(),
		TaxDetails: state.TaxDetails, Credit: none,
	}
	for _, line := range state.Lines {
		sale.Lines = append(sale.Lines, payment.Line{
			Description: line.Description, Amount: line.Amount(state.Currency),
		})
	}
	return s.deps.Charges.Start(ctx, r, ports.Charge{
		CreatorID: state.CreatorID, Sale: sale, At: at, Method: options.method, Mandate: options.mandate,
		OnSession: options.onSession, RunByCaller: options.runByCaller,
		Subject: payment.Subject{Purpose: payment.ForInvoice, SubjectID: state.ID, CustomerID: state.CustomerID},
	})
}

// await runs a started charge and returns the invoice afterwards, with the refusal of the card if there was one.
func (s *Service) await(ctx context.Context, state invoice.State, started payment.State) (invoice.State, error) {
	attempt, err := s.deps.Runner.Run(ctx, started, ports.Payer{})
	if err != nil {
		return invoice.State{}, err
	}
	state, err = s.load(context.WithoutCancel(ctx), s.deps.Store.Read(context.WithoutCancel(ctx)), state.ID)
	if err != nil || state.Status == invoice.Paid || attempt.Status != payment.Declined &&
		attempt.Status != payment.Canceled {
		return state, err
	}
	return state, declined(attempt.Decline)
}

// declined is the refusal of a charge.
func declined(reason payment.DeclineReason) error {
	if reason.Code == payment.AuthenticationRequired {
		return fault.New(
			fault.AuthenticationRequired,
			"The bank wants the customer to confirm the payment. The customer can do that on the invoice's page.",
		)
	}
	reason.Message = cmp.Or(reason.Message, "The card was declined.")
	return reason.Refusal()
}

// OnPeriodClosed creates the invoice of a billing period and charges it. An invoice of zero is paid without a charge.
func (s *Service) OnPeriodClosed(ctx context.Context, r ports.Repos, e usage.PeriodClosed) error {
	made, err := s.insert(ctx, r, invoice.State{
		ID: e.InvoiceID, CreatorID: e.Plan.CreatorID, CustomerID: e.Plan.CustomerID,
		ExternalCustomerID: e.Plan.ExternalCustomerID,
		Currency:           e.Currency,
		Lines:              append(invoice.LinesOf(e.Lines), invoice.PrepaidLines(e.Credits)...),
		PeriodStart:        apiformat.Instant(e.Period.Start),
		PeriodEnd:          apiformat.Instant(e.Period.End),
		SubscriptionID:     e.Plan.SubscriptionID, BillingPlanID: e.Plan.ID,
		TaxDetails: tax.Details{Behavior: e.TaxBehavior},
	})
	if err != nil || made.Status == invoice.Paid {
		return err
	}
	return s.chargeOrRefuse(ctx, r, made, e.At)
}

// disputeRecheck is the delay after which an invoice looks again whether a dispute still holds its charge.
const disputeRecheck = 24 * time.Hour

// disputeOf reports whether the charge of an invoice waits, because a payment of its subscription is disputed, and
// whether the card is not charged any more, because such a dispute was lost.
func (s *Service) disputeOf(ctx context.Context, r ports.Repos, state invoice.State) (open, lost bool, err error) {
	if state.SubscriptionID == "" {
		return false, false, nil
	}
	return s.deps.Disputed.DisputeOf(ctx, r, state.SubscriptionID)
}

// chargeOrRefuse starts a charge, unless a dispute holds it. A customer without a card is a charge that failed.
func (s *Service) chargeOrRefuse(ctx context.Context, r ports.Repos, state invoice.State, at time.Time) error {
	open, lost, err := s.disputeOf(ctx, r, state)
	switch {
	case err != nil || lost:
		return err
	case open:
		return ports.ScheduleIn(ctx, r, disputeRecheck, TaskRetry, state.ID, state.CreatorID)
	}
	_, err = s.charge(ctx, r, state, chargeOptions{}, at)
	if !fault.Is(err, fault.PaymentMethodRequired) {
		return err
	}
	next, err := s.refuse(ctx, r, state, payment.MethodRequired, at)
	if err != nil || next.IsZero() {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskRetry, state.ID, state.CreatorID, next)
}

// refuse records that a charge that began at a time failed, and returns when the next is planned, zero for none.
func (s *Service) refuse(
	ctx context.Context, r ports.Repos, state invoice.State, code payment.DeclineCode, begun time.Time,
) (time.Time, error) {
	now, err := r.Clock.Now(ctx, state.CreatorID)
	if err != nil {
		return time.Time{}, err
	}
	inv := invoice.Restore(s.linked(state))
	failed, err := inv.Refused(code, begun, now)
	if err != nil {
		return time.Time{}, err
	}
	if err := r.Invoicing.Invoices.Update(ctx, inv.State()); err != nil {
		return time.Time{}, err
	}
	return failed.NextAttemptAt, s.publish(ctx, r, failed)
}
