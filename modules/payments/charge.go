package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/ports"
)

const (
	// chargeTimeout bounds one call to the processor.
	chargeTimeout = 20 * time.Second
	// firstPause is the pause before asking again for an outcome for the first time.
	firstPause = 2 * time.Second
)

// Start implements ports.Charges.
func (s *Service) Start(ctx context.Context, r ports.Repos, c ports.Charge) (payment.State, error) {
	amount, err := c.Sale.Total()
	if err != nil {
		return payment.State{}, fmt.Errorf("start charge: %w", err)
	}
	card, err := s.card(ctx, r, c)
	if err != nil {
		return payment.State{}, err
	}
	now, err := r.Clock.Now(ctx, c.CreatorID)
	if err != nil {
		return payment.State{}, err
	}
	if c.At.IsZero() {
		c.At = now
	}
	c.Subject.PaymentMethodID = card.ID
	attempt := payment.NewPending(payment.Intent{
		ID: s.ids.New(id.Payment), CreatorID: c.CreatorID, Subject: c.Subject, Sale: c.Sale, Amount: amount,
		Method: card.Token, Brand: card.Brand, Last4: card.Last4, SaveCard: c.Method != "", Mandate: c.Mandate, OffSession: !c.OnSession,
	}, c.At).State()
	if err := r.Payments.Payments.Insert(ctx, attempt); err != nil {
		return payment.State{}, err
	}
	return attempt, r.Tasks.Schedule(ctx, TaskCharge, attempt.ID, c.CreatorID, c.At)
}

// card is what to charge: what the customer gave now, or else the saved card named, or else their latest.
func (s *Service) card(ctx context.Context, r ports.Repos, c ports.Charge) (paymentmethod.State, error) {
	if c.Method != "" {
		return paymentmethod.State{Card: paymentmethod.Card{Token: c.Method}}, nil
	}
	if c.Subject.PaymentMethodID != "" {
		named, err := r.Payments.PaymentMethods.Get(ctx, c.Subject.PaymentMethodID)
		if err == nil && named.Usable() && named.CustomerID == c.Subject.CustomerID {
			return named, nil
		}
		if err != nil && !errors.Is(err, ports.ErrNotFound) {
			return paymentmethod.State{}, err
		}
	}
	cards, err := r.Payments.PaymentMethods.List(ctx, c.Subject.CustomerID)
	if err != nil {
		return paymentmethod.State{}, err
	}
	if len(cards) == 0 {
		return paymentmethod.State{}, fault.New(fault.PaymentMethodRequired, "The customer has no saved payment method.")
	}
	return cards[0], nil
}

// Run implements ports.Charges.
func (s *Service) Run(ctx context.Context, paymentID string) (payment.State, error) {
	attempt, err := s.store.Read(ctx).Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return payment.State{}, fmt.Errorf("run charge: %w", err)
	}
	// The caller leaving must not leave the money in doubt.
	ctx = context.WithoutCancel(ctx)
	outcome, err := s.ask(ctx, attempt, attempt.CreatedAt)
	switch {
	case errors.Is(err, ports.ErrProcessorUnavailable):
		return s.cancelUnsent(ctx, attempt, err)
	case errors.Is(err, ports.ErrOutcomeUnknown):
		return attempt, nil
	case err != nil:
		return payment.State{}, fmt.Errorf("run charge %s: %w", paymentID, err)
	}
	return s.settleAlone(ctx, attempt, outcome)
}

// settleAlone is settle in a transaction of its own.
func (s *Service) settleAlone(ctx context.Context, known payment.State, o payment.Outcome) (settled payment.State, err error) {
	err = s.store.Pipelined(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		settled, err = s.settle(ctx, r, known, o)
		return err
	})
	if err != nil {
		return known, err
	}
	return settled, nil
}

// cancelUnsent ends an attempt that certainly never reached the processor, so that nothing is charged behind the back of
// a caller who got a failure.
func (s *Service) cancelUnsent(ctx context.Context, attempt payment.State, cause error) (payment.State, error) {
	outcome, err := s.processor.Cancel(ctx, ports.ChargeOf(attempt))
	if err == nil {
		attempt, err = s.settleAlone(ctx, attempt, outcome)
	}
	if err == nil && attempt.Status == payment.Succeeded { // it had arrived after all
		return attempt, nil
	}
	return attempt, fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Try again in a moment.",
		errors.Join(cause, err))
}

// Charge makes an attempt. Task TaskCharge.
func (s *Service) Charge(ctx context.Context, t ports.Task) error {
	attempt, err := s.store.Read(ctx).Payments.Payments.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && attempt.Status.Final()) {
		return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, t) })
	}
	if err != nil {
		return fmt.Errorf("charge: %w", err)
	}
	var now time.Time
	if attempt.Status == payment.RequiresAction { // nothing else depends on it
		if now, err = s.store.Read(ctx).Clock.Now(ctx, attempt.CreatorID); err != nil {
			return fmt.Errorf("charge: %w", err)
		}
	}
	outcome, err := s.ask(ctx, attempt, now)
	if errors.Is(err, ports.ErrOutcomeUnknown) {
		outcome = payment.Outcome{Status: payment.Pending}
	} else if err != nil {
		return fmt.Errorf("charge %s: %w", attempt.ID, err)
	}
	return s.store.Pipelined(ctx, func(ctx context.Context, r ports.Repos) error {
		if outcome.Status.Final() {
			if err := r.Tasks.Done(ctx, t); err != nil {
				return err
			}
			_, err := s.settle(ctx, r, attempt, outcome)
			return err
		}
		if _, err := s.settle(ctx, r, attempt, outcome); err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, attempt.CreatorID)
		if err != nil {
			return err
		}
		return r.Tasks.Postpone(ctx, t, now.Add(ports.RecheckPause(now.Sub(attempt.CreatedAt), firstPause)))
	})
}

// Authenticate implements ports.Charges.
func (s *Service) Authenticate(ctx context.Context, paymentID string, approve bool) (payment.State, error) {
	attempt, err := s.store.Read(ctx).Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return payment.State{}, fmt.Errorf("authenticate: %w", err)
	}
	if attempt.Status != payment.RequiresAction {
		return attempt, fault.New(fault.StateConflict, "No authentication is asked for.")
	}
	outcome, err := s.processor.Authenticate(ctx, ports.ChargeOf(attempt), approve)
	if err != nil {
		return payment.State{}, fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Try again in a moment.", err)
	}
	return s.settleAlone(context.WithoutCancel(ctx), attempt, outcome)
}

// Challenge implements ports.Charges.
func (s *Service) Challenge(ctx context.Context, paymentID string) (payment.NextAction, error) {
	attempt, err := s.store.Read(ctx).Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return payment.NextAction{}, fmt.Errorf("challenge: %w", err)
	}
	if attempt.Status != payment.RequiresAction {
		return payment.NextAction{}, fault.New(fault.StateConflict, "No authentication is asked for.")
	}
	outcome, err := s.processor.Find(ctx, ports.ChargeOf(attempt))
	if err != nil {
		return payment.NextAction{}, fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Try again in a moment.", err)
	}
	return outcome.Action, nil
}

// confirmWithin is how long a customer may take to confirm a payment to their bank before it is given up.
const confirmWithin = time.Hour

// ask makes the charge, or asks what became of one that was made before. A call that timed out is followed by a question:
// the money may have been taken.
func (s *Service) ask(ctx context.Context, attempt payment.State, now time.Time) (payment.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, chargeTimeout)
	defer cancel()
	if attempt.Status == payment.RequiresAction && now.Sub(attempt.CreatedAt) >= confirmWithin {
		return s.processor.Cancel(ctx, ports.ChargeOf(attempt))
	}
	if attempt.Status != payment.Pending {
		return s.processor.Find(ctx, ports.ChargeOf(attempt))
	}
	outcome, err := s.processor.Charge(ctx, ports.ChargeOf(attempt))
	if errors.Is(err, ports.ErrOutcomeUnknown) {
		if outcome, err = s.processor.Find(ctx, ports.ChargeOf(attempt)); errors.Is(err, ports.ErrNotFound) {
			err = ports.ErrOutcomeUnknown // it may still be on its way
		}
	}
	return outcome, err
}

// settle takes in what the processor reports of an attempt, with everything that follows from it. What is known already changes
// nothing.
func (s *Service) settle(ctx context.Context, r ports.Repos, known payment.State, o payment.Outcome) (payment.State, error) {
	s.store.ReadAhead(ctx, func() {
		_, _ = r.Payments.Payments.GetForUpdate(ctx, known.ID)
		_, _ = r.Clock.Now(ctx, known.CreatorID)
		if o.Status == payment.Succeeded {
			s.bus.ReadAhead(ctx, r, payment.Completed{State: known})
		}
	})
	loaded, err := r.Payments.Payments.GetForUpdate(ctx, known.ID)
	if err != nil {
		return payment.State{}, err
	}
	now, err := r.Clock.Now(ctx, loaded.CreatorID)
	if err != nil {
		return payment.State{}, err
	}
	attempt := payment.Restore(loaded)
	changed, err := attempt.Apply(o, now)
	if err != nil || !changed {
		return loaded, err
	}
	if err := s.document(ctx, r, attempt); err != nil {
		return payment.State{}, err
	}
	settled := attempt.State()
	if err := r.Payments.Payments.Update(ctx, settled); err != nil {
		return payment.State{}, err
	}
	if settled.Status == payment.Succeeded && settled.SaveCard {
		if err := s.keepCharged(ctx, r, settled, o, now); err != nil {
			return payment.State{}, err
		}
	}
	switch settled.Status {
	case payment.Succeeded:
		err = s.bus.Publish(ctx, r, payment.Completed{State: settled})
	case payment.Declined, payment.Canceled:
		err = s.bus.Publish(ctx, r, payment.Failed{State: settled})
	case payment.Pending, payment.RequiresAction, payment.Processing:
	}
	return settled, err
}

// keepCharged saves the card that the customer gave with a payment that has just succeeded.
func (s *Service) keepCharged(ctx context.Context, r ports.Repos, paid payment.State, o payment.Outcome, now time.Time) error {
	mandate, err := s.mandate(ctx, r, paid.CreatorID, paid.Mandate)
	if err != nil {
		return fmt.Errorf("save card: %w", err)
	}
	card := paymentmethod.New(s.ids.New(id.PaymentMethod), paid.CreatorID, paid.CustomerID,
		paymentmethod.Card{Token: paid.Method, Brand: paid.Brand, Last4: paid.Last4, ExpMonth: o.ExpMonth, ExpYear: o.ExpYear},
		paymentmethod.Mandate{Text: mandate, AcceptedAt: now, Source: paid.SubjectID}, now).State()
	if err := r.Payments.PaymentMethods.Insert(ctx, card); err != nil {
		return err
	}
	return s.bus.Publish(ctx, r, paymentmethod.Saved{State: card})
}

// document gives a subscription's payment its receipt number; an invoice has a number of its own. Other sales of the account
// wait for the number, so everything that is still to be read comes with it: what remains is written with the commit.
func (s *Service) document(ctx context.Context, r ports.Repos, attempt *payment.Payment) error {
	settled := attempt.State()
	if settled.Status != payment.Succeeded || settled.Purpose != payment.ForSubscription {
		return nil
	}
	s.store.ReadAhead(ctx, func() {
		_, _ = r.Invoicing.DocumentNumbers.Next(ctx, settled.CreatorID, document.Receipts)
		s.bus.ReadAhead(ctx, r, payment.Completed{State: settled})
	})
	number, err := r.Invoicing.DocumentNumbers.Next(ctx, settled.CreatorID, document.Receipts)
	if err != nil {
		return err
	}
	return attempt.Document(settled.CustomerID, document.Number(settled.CreatorID, document.Receipts, number))
}
