package selling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/ports"
)

const (
	// chargeTimeout bounds one call to the processor.
	chargeTimeout = 20 * time.Second
	// firstReconcile is when an attempt that was never answered is looked into: later than the call can last.
	firstReconcile = chargeTimeout + 10*time.Second
	// afterUnknown is how soon we ask again once the call is known to have timed out.
	afterUnknown = 2 * time.Second
)

// Payment is what the buyer submits.
type Payment struct {
	// CardNumber is a sandbox test card; empty when nothing is charged.
	CardNumber string
	Email      string
	Buyer      customer.Details
	// Slots are times to choose before paying; nil keeps those chosen.
	Slots []appointment.Pick
}

// PayOnPage pays the session behind a hosted page's secret. See pay.
func (s *Service) PayOnPage(ctx context.Context, secret string, p Payment) (checkout.State, error) {
	session, _, err := s.bySecret(ctx, secret)
	if err != nil {
		return checkout.State{}, err
	}
	return s.pay(ctx, session.ID, p, true)
}

// PayInSandbox pays a session of the account as a buyer would, for integrators' own tests, choosing the times first where
// some are given. See pay and ChooseOnPage.
func (s *Service) PayInSandbox(ctx context.Context, creatorID, sessionID string, p Payment) (checkout.State, error) {
	opened, err := owned(ctx, s.store.Read(ctx), creatorID, sessionID)
	if err != nil {
		return checkout.State{}, err
	}
	if p.Slots != nil {
		if err := s.chooseToPay(ctx, opened, p); err != nil {
			return checkout.State{}, err
		}
	}
	return s.pay(ctx, sessionID, p, false)
}

// chooseToPay takes the times that a payment comes with. What is wrong with the payment itself is told first: a refused
// request must leave the times that it names to others.
func (s *Service) chooseToPay(ctx context.Context, opened checkout.State, p Payment) error {
	now, err := s.clock.Now(ctx, opened.CreatorID)
	if err != nil {
		return err
	}
	if err := checkout.Restore(opened).Choosable(now); err != nil {
		return err
	}
	if _, err := s.method(opened, p, false); err != nil {
		return err
	}
	_, err = s.choose(ctx, opened, p.Slots)
	return err
}

// pay charges the card and settles the session: commit the intent, ask the processor, commit the outcome. A crash or a
// lost answer between the steps is finished by Reconcile. The returned state says what came of it; a refused card is
// CARD_DECLINED, a wanted authentication AUTHENTICATION_REQUIRED, and both leave the session payable.
//
// Other faults: VALIDATION_FAILED, SLOT_COUNT_MISMATCH before the times are chosen, SLOT_UNAVAILABLE when they are lost,
// SESSION_ALREADY_PAID, SESSION_EXPIRED, STATE_CONFLICT (failed, or another attempt is under way), PROCESSOR_UNAVAILABLE.
func (s *Service) pay(ctx context.Context, sessionID string, p Payment, emailRequired bool) (checkout.State, error) {
	if err := s.supersede(ctx, sessionID); err != nil {
		return checkout.State{}, err
	}
	session, attempt, err := s.begin(ctx, sessionID, p, emailRequired)
	if err != nil || session.Status == checkout.StatusPaid {
		return session, err
	}
	// The buyer leaving must not leave the money in doubt.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), chargeTimeout)
	defer cancel()
	outcome, err := s.processor.Charge(call, ports.ChargeRequest{
		PaymentID: attempt.ID, CheckoutID: session.ID, CreatorID: session.CreatorID,
		Amount: attempt.Amount, Method: attempt.Method, SaveCard: attempt.SaveCard,
	})
	ctx = context.WithoutCancel(ctx)
	switch {
	case errors.Is(err, ports.ErrProcessorUnavailable):
		return checkout.State{}, s.abandon(ctx, session.CreatorID, attempt.ID, err)
	case err != nil:
		return session, s.askSoon(ctx, session.CreatorID, attempt.ID)
	}
	session, err = s.settle(ctx, attempt.ID, outcome)
	if err != nil {
		return checkout.State{}, err
	}
	return session, refusal(outcome)
}

// refusal is how an outcome that did not pay is told to whoever submitted the card.
func refusal(o payment.Outcome) error {
	switch o.Status {
	case payment.Declined:
		return fault.New(fault.CardDeclined, o.Refusal.Message)
	case payment.RequiresAction:
		return fault.New(fault.AuthenticationRequired, "The bank wants the buyer to confirm this payment on the checkout page.")
	case payment.Canceled:
		return fault.New(fault.StateConflict, "The payment was canceled before it was made.")
	case payment.Pending, payment.Processing, payment.Succeeded:
	}
	return nil
}

// supersede cancels an attempt that only waits for the buyer's authentication: they chose to pay anew.
func (s *Service) supersede(ctx context.Context, sessionID string) error {
	r := s.store.Read(ctx)
	session, err := r.Sessions.Get(ctx, sessionID)
	if err != nil {
		return fmt.Errorf("pay: %w", err)
	}
	attempt, ok, err := live(ctx, r, session)
	if err != nil || !ok || attempt.Status != payment.RequiresAction {
		return err
	}
	outcome, err := s.processor.Cancel(ctx, attempt.CreatorID, attempt.ID)
	if err != nil {
		return fault.Wrap(fault.ProcessorUnavailable, "The card processor does not answer. Try again in a moment.", err)
	}
	_, err = s.settle(ctx, attempt.ID, outcome)
	return err
}

// begin commits the intent: the attempt, its place as the session's live one, and the task that will ask what became of
// it should we not come back. A payment of nothing is settled at once.
func (s *Service) begin(ctx context.Context, sessionID string, p Payment, emailRequired bool) (session checkout.State, attempt payment.State, err error) {
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		aggregate, now, err := s.within(ctx, r, sessionID)
		if err != nil {
			return err
		}
		loaded, attemptID := aggregate.State(), s.ids.New(id.Payment)
		if err := aggregate.Begin(attemptID, p.Email, p.Buyer, now); err != nil {
			return err
		}
		if err := s.stillHeld(ctx, r, loaded, now); err != nil {
			return err
		}
		method, err := s.method(loaded, p, emailRequired)
		if err != nil {
			return err
		}
		session = aggregate.State()
		attempt = payment.Intend(attemptID, session.CreatorID, session.ID, session.Total, method, session.SavesCard(), now).State()
		if err := r.Sessions.Save(ctx, session); err != nil {
			return err
		}
		if err := r.Payments.Add(ctx, attempt); err != nil {
			return err
		}
		if !session.NeedsCard() {
			session, err = s.settleIn(ctx, r, attempt.ID, payment.Outcome{Status: payment.Succeeded})
			return err
		}
		return r.Tasks.Schedule(ctx, TaskReconcile, attempt.ID, session.CreatorID, now.Add(firstReconcile))
	})
	return session, attempt, err
}

// method checks what the buyer submitted and turns the card into the processor's token.
func (s *Service) method(session checkout.State, p Payment, emailRequired bool) (string, error) {
	var f fault.Faults
	f.Check(p.Email != "" || session.Email != "" || !emailRequired, "email", fault.DetailRequired, "Give an e-mail address for the receipt.")
	checkBuyer(p.Email, p.Buyer, &f)
	token := ""
	if session.NeedsCard() {
		f.Check(p.CardNumber != "", "cardNumber", fault.DetailRequired, "Give a card number.")
		token = s.card(p.CardNumber, &f)
	}
	return token, f.Err()
}

// CheckPayment lists, as one VALIDATION_FAILED error, what is wrong with a payment whatever it is for.
func (s *Service) CheckPayment(p Payment) error {
	var f fault.Faults
	checkBuyer(p.Email, p.Buyer, &f)
	s.card(p.CardNumber, &f)
	return f.Err()
}

// CheckBuyer lists, as one VALIDATION_FAILED error, what is wrong with a buyer's details.
func CheckBuyer(email string, buyer customer.Details) error {
	var f fault.Faults
	checkBuyer(email, buyer, &f)
	return f.Err()
}

func checkBuyer(email string, buyer customer.Details, f *fault.Faults) {
	if email != "" {
		customer.ValidateEmail("email", email, f)
	}
	buyer.Validate(f)
}

// card is the processor's token for a card; "" for none.
func (s *Service) card(number string, f *fault.Faults) (token string) {
	ok := false
	if s.testCards != nil {
		token, ok = s.testCards.Token(number)
	}
	f.Check(ok || number == "", "cardNumber", fault.DetailNotAllowed, "The sandbox takes only its test cards, such as 4242 4242 4242 4242.")
	return token
}

// abandon releases an attempt whose charge certainly never reached the processor.
func (s *Service) abandon(ctx context.Context, creatorID, paymentID string, cause error) error {
	outcome, err := s.processor.Cancel(ctx, creatorID, paymentID)
	if err == nil {
		_, err = s.settle(ctx, paymentID, outcome)
	}
	if err != nil { // the reconciling task goes on trying
		cause = errors.Join(cause, err)
	}
	return fault.Wrap(fault.ProcessorUnavailable, "The card processor does not answer. Nothing was charged; try again in a moment.", cause)
}

// askSoon brings the reconciling task forward: the call is over and its outcome unknown.
func (s *Service) askSoon(ctx context.Context, creatorID, paymentID string) error {
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := s.clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		return r.Tasks.Schedule(ctx, TaskReconcile, paymentID, creatorID, now.Add(afterUnknown))
	})
}

// Authenticate carries the buyer's answer to the sandbox bank's challenge. A failed one is CARD_DECLINED.
func (s *Service) Authenticate(ctx context.Context, secret string, approve bool) (checkout.State, error) {
	session, _, err := s.bySecret(ctx, secret)
	if err != nil {
		return checkout.State{}, err
	}
	attempt, ok, err := live(ctx, s.store.Read(ctx), session)
	if err != nil {
		return checkout.State{}, err
	}
	if !ok || attempt.Status != payment.RequiresAction || s.testCards == nil {
		return checkout.State{}, fault.New(fault.StateConflict, "No authentication is asked for.")
	}
	outcome, err := s.testCards.Authenticate(ctx, attempt.CreatorID, attempt.ID, approve)
	if err != nil {
		return checkout.State{}, fmt.Errorf("authenticate: %w", err)
	}
	session, err = s.settle(context.WithoutCancel(ctx), attempt.ID, outcome)
	if err != nil {
		return checkout.State{}, err
	}
	return session, refusal(outcome)
}

// Describe takes the buyer's details before the card.
func (s *Service) Describe(ctx context.Context, secret, email string, buyer customer.Details) (checkout.State, error) {
	opened, _, err := s.bySecret(ctx, secret)
	if err != nil {
		return checkout.State{}, err
	}
	if err := CheckBuyer(email, buyer); err != nil {
		return checkout.State{}, err
	}
	var session checkout.State
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		aggregate, now, err := s.within(ctx, r, opened.ID)
		if err != nil {
			return err
		}
		if err := aggregate.Describe(email, buyer, now); err != nil {
			return err
		}
		session = aggregate.State()
		return r.Sessions.Save(ctx, session)
	})
	return session, err
}
