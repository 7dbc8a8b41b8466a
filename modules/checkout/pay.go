package checkout

import (
	"context"
	"errors"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/ports"
)

const (
	// chargeTimeout bounds one call to the processor, and ends before a background run does (jobs.HandlerTimeout).
	chargeTimeout = 15 * time.Second
	// firstReconcile is when an attempt that never got a response is reconciled: later than the call can last.
	firstReconcile = chargeTimeout + 10*time.Second
	// firstRecheck is the pause before an attempt without an outcome is reconciled again.
	firstRecheck = 5 * time.Second
	// afterUnknown is how soon we ask again once the call is known to have timed out.
	afterUnknown = 2 * time.Second
)

// Payment is what the buyer submits.
type Payment struct {
	// Card is empty when nothing is charged.
	Card  ports.CardInput
	Email string
	Buyer customer.Details
	// ClientCountry is where the buyer's network is, as a proxy reports; "" when none does.
	ClientCountry string
	// Slots are times to choose before paying; nil keeps those chosen.
	Slots []appointment.SlotChoice
}

// PayOnPage pays the session behind a hosted page's secret. Who orders what costs nothing is counted by their network.
// RATE_LIMITED, and see pay.
func (s *Service) PayOnPage(ctx context.Context, secret string, p Payment, network string) (paid checkout.State, err error) {
	session, _, err := s.bySecret(ctx, secret)
	if err != nil {
		return checkout.State{}, err
	}
	if session.NeedsCard() {
		return s.pay(ctx, session, p, true)
	}
	err = s.counted(ctx, "free", network, maxFreeOrders, func() error {
		paid, err = s.pay(ctx, session, p, true)
		return err
	})
	return paid, err
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
		if opened, err = s.store.Read(ctx).Checkout.Sessions.Get(ctx, sessionID); err != nil {
			return checkout.State{}, err
		}
	}
	return s.pay(ctx, opened, p, false)
}

// chooseToPay takes the times that a payment comes with. What is wrong with the payment itself is reported first: a refused
// request must leave the times that it names to others.
func (s *Service) chooseToPay(ctx context.Context, opened checkout.State, p Payment) error {
	now, err := s.clock.Now(ctx, opened.CreatorID)
	if err != nil {
		return err
	}
	if err := checkout.Restore(opened).CanSelectSlots(now); err != nil {
		return err
	}
	if _, err := s.method(opened, p, false); err != nil {
		return err
	}
	_, err = s.choose(ctx, opened, p.Slots)
	return err
}

// pay charges the card and settles the session: commit the intent, ask the processor, commit the outcome. A crash or a
// lost response between the steps is finished by Reconcile. The returned state shows what came of it; a refused card is
// CARD_DECLINED, a wanted authentication AUTHENTICATION_REQUIRED, and both leave the session payable.
//
// Other faults: VALIDATION_FAILED, SLOT_COUNT_MISMATCH before the times are chosen, SLOT_UNAVAILABLE when they are lost,
// SESSION_ALREADY_PAID, SESSION_EXPIRED, STATE_CONFLICT (failed, or another attempt is under way), LIMIT_REACHED when its
// discount is used up, PROCESSOR_UNAVAILABLE.
func (s *Service) pay(ctx context.Context, seen checkout.State, p Payment, emailRequired bool) (checkout.State, error) {
	seen, err := s.cancelPendingAuth(ctx, seen, p, emailRequired)
	if err != nil {
		return checkout.State{}, err
	}
	check, err := s.checkVAT(ctx, p.Buyer, seen.Buyer, seen.TaxDetails.Evidence.VATCheck, "taxId")
	if err != nil {
		return checkout.State{}, err
	}
	session, attempt, err := s.begin(ctx, seen, p, check, emailRequired)
	if err != nil || session.Status == checkout.StatusPaid {
		return session, err
	}
	// The buyer leaving must not leave the money in doubt.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), chargeTimeout)
	defer cancel()
	request := ports.ChargeOf(attempt)
	request.Email, request.Name = session.Email, session.Buyer.Name
	outcome, err := s.processor.Charge(call, request)
	ctx = context.WithoutCancel(ctx)
	switch {
	case errors.Is(err, ports.ErrProcessorUnavailable):
		return checkout.State{}, s.cancelUnsent(ctx, attempt, err)
	case err != nil:
		return session, s.scheduleReconcile(ctx, session.CreatorID, attempt.ID)
	}
	session, err = s.settleKnown(ctx, session, attempt, outcome, (*checkout.Session).ClearPayment, interrupted)
	if err != nil {
		return checkout.State{}, err
	}
	return session, refusal(outcome)
}

// refusal is how an outcome that did not pay is reported to the caller who submitted the card.
func refusal(o payment.Outcome) error {
	switch o.Status {
	case payment.Declined:
		declined := fault.New(fault.CardDeclined, o.Decline.Message)
		declined.DeclineCode = o.Decline.Code
		return declined
	case payment.RequiresAction:
		return fault.New(fault.AuthenticationRequired, "The bank wants the buyer to confirm this payment on the checkout page.")
	case payment.Canceled:
		return fault.New(fault.StateConflict, "The payment was canceled before it was made.")
	case payment.Pending, payment.Processing, payment.Succeeded:
	}
	return nil
}

// cancelPendingAuth cancels an attempt that only waits for the buyer's authentication: they pay in another way. The
// challenge counts as an attempt, so that nobody asks banks without end. A payment that would be refused cancels nothing.
// The session is returned as it is afterwards.
func (s *Service) cancelPendingAuth(ctx context.Context, session checkout.State, p Payment, emailRequired bool) (checkout.State, error) {
	attempt, ok, err := live(ctx, s.store.Read(ctx), session)
	if err != nil || !ok || attempt.Status != payment.RequiresAction {
		return session, err
	}
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, session.CreatorID)
		if err != nil {
			return err
		}
		rehearsal := checkout.Restore(session)
		rehearsal.ClearPayment(attempt.ID, superseded)
		if _, err := s.start(ctx, r, rehearsal, s.ids.New(id.Payment), p, emailRequired, now); err != nil {
			return err
		}
		return s.applyFinalTax(ctx, rehearsal, now)
	})
	if err != nil {
		return session, err
	}
	outcome, err := s.processor.Cancel(ctx, ports.ChargeOf(attempt))
	if err != nil {
		return session, fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Try again in a moment.", err)
	}
	return s.settleKnown(ctx, session, attempt, outcome, (*checkout.Session).Decline, superseded)
}

// start makes an attempt the session's live one, unless something is wrong with the session or with what was submitted.
func (s *Service) start(
	ctx context.Context, r ports.Repos, session *checkout.Session, attemptID string, p Payment, emailRequired bool, now time.Time,
) (method string, err error) {
	before := session.State()
	if err := session.StartPayment(attemptID, p.Email, p.Buyer, now); err != nil {
		return "", err
	}
	if err := s.stillHeld(ctx, r, before, now); err != nil {
		return "", err
	}
	return s.method(before, p, emailRequired)
}

// begin commits the intent: the attempt, its place as the session's live one, and the task that will ask what became of
// it should we not come back. A payment of nothing is settled at once. The session is as it was seen, unless somebody has
// changed it since: then its update is refused, and the transaction runs again with what it reads.
func (s *Service) begin(ctx context.Context, seen checkout.State, p Payment, check tax.VATCheck, emailRequired bool) (session checkout.State, attempt payment.State, err error) {
	loads := firstKnown(seen, func(ctx context.Context, r ports.Repos) (checkout.State, error) {
		return r.Checkout.Sessions.Get(ctx, seen.ID)
	})
	err = s.store.Pipelined(ctx, func(ctx context.Context, r ports.Repos) error {
		before, err := loads(ctx, r)
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, before.CreatorID)
		if err != nil {
			return err
		}
		aggregate := checkout.Restore(before)
		attemptID := s.ids.New(id.Payment)
		method, err := s.start(ctx, r, aggregate, attemptID, p, emailRequired, now)
		if err != nil {
			return err
		}
		aggregate.NoteVATCheck(check)
		if err := s.applyFinalTax(ctx, aggregate, now); err != nil {
			return err
		}
		aggregate.NoteEvidence(p.ClientCountry, "")
		session = aggregate.State()
		attempt = payment.NewPending(payment.Intent{
			ID: attemptID, CreatorID: session.CreatorID,
			Subject: payment.Subject{Purpose: payment.ForCheckout, SubjectID: session.ID}, Sale: saleOf(session),
			Amount: session.Total, Method: method, SaveCard: session.SavesCard(),
		}, now).State()
		if err := r.Checkout.Sessions.Update(ctx, session); err != nil {
			return err
		}
		if err := s.redeem(ctx, r, session); err != nil {
			return err
		}
		if err := r.Payments.Payments.Insert(ctx, attempt); err != nil {
			return err
		}
		if !session.NeedsCard() {
			session, err = s.settleIn(ctx, r, session, attempt, payment.Outcome{Status: payment.Succeeded}, (*checkout.Session).ClearPayment, interrupted)
			return err
		}
		return r.Tasks.Schedule(ctx, TaskReconcile, attempt.ID, session.CreatorID, now.Add(firstReconcile))
	})
	return session, attempt, err
}

// saleOf is how the session's total comes about.
func saleOf(session checkout.State) payment.Sale {
	zero := money.Amount{Currency: session.Total.Currency}
	return payment.Sale{
		Subtotal: session.Subtotal, Discount: session.Discount, Tax: session.Tax, TaxAdded: session.TaxAdded(), TaxDetails: session.TaxDetails, Credit: zero,
		ListingID: session.Offer.ListingID,
		Lines:     []payment.Line{{Description: session.Offer.Title, Amount: session.Subtotal}},
	}
}

// method checks what the buyer submitted and turns the card into the processor's token.
func (s *Service) method(session checkout.State, p Payment, emailRequired bool) (string, error) {
	var f fault.Violations
	f.Check(p.Email != "" || session.Email != "" || !emailRequired, "email", fault.DetailRequired, "Give an e-mail address for the receipt.")
	checkBuyer(p.Email, p.Buyer, &f)
	token := ""
	if session.NeedsCard() {
		f.Check(p.Card != ports.CardInput{}, "cardNumber", fault.DetailRequired, "Give a card.")
		token = s.cards.Method(p.Card, &f)
	}
	return token, f.Err()
}

// CheckPayment lists, as one VALIDATION_FAILED error, what is wrong with a payment whatever it is for.
func (s *Service) CheckPayment(p Payment) error {
	var f fault.Violations
	checkBuyer(p.Email, p.Buyer, &f)
	s.cards.Method(p.Card, &f)
	return f.Err()
}

// CheckBuyer lists, as one VALIDATION_FAILED error, what is wrong with a buyer's details.
func CheckBuyer(email string, buyer customer.Details) error {
	var f fault.Violations
	checkBuyer(email, buyer, &f)
	return f.Err()
}

func checkBuyer(email string, buyer customer.Details, f *fault.Violations) {
	if email != "" {
		customer.ValidateEmail("email", email, f)
	}
	buyer.Validate(f)
}

// cancelUnsent releases an attempt whose charge certainly never reached the processor.
func (s *Service) cancelUnsent(ctx context.Context, attempt payment.State, cause error) error {
	outcome, err := s.processor.Cancel(ctx, ports.ChargeOf(attempt))
	if err == nil {
		_, err = s.Settle(ctx, attempt.ID, outcome)
	}
	if err != nil { // the reconciling task goes on trying
		cause = errors.Join(cause, err)
	}
	return fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Nothing was charged; try again in a moment.", cause)
}

// scheduleReconcile brings the reconciling task forward: the call is over and its outcome unknown.
func (s *Service) scheduleReconcile(ctx context.Context, creatorID, paymentID string) error {
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		return r.Tasks.Schedule(ctx, TaskReconcile, paymentID, creatorID, now.Add(afterUnknown))
	})
}

// challenged is the attempt of the session behind a hosted page's secret that waits for the buyer's bank. STATE_CONFLICT
// when none does.
func (s *Service) challenged(ctx context.Context, secret string) (payment.State, error) {
	session, _, err := s.bySecret(ctx, secret)
	if err != nil {
		return payment.State{}, err
	}
	attempt, ok, err := live(ctx, s.store.Read(ctx), session)
	if err != nil {
		return payment.State{}, err
	}
	if !ok || attempt.Status != payment.RequiresAction {
		return payment.State{}, fault.New(fault.StateConflict, "No authentication is asked for.")
	}
	return attempt, nil
}

// Challenge is how the buyer's browser leads them to their bank. STATE_CONFLICT when no bank asks for anything,
// PROCESSOR_UNAVAILABLE.
func (s *Service) Challenge(ctx context.Context, secret string) (payment.NextAction, error) {
	attempt, err := s.challenged(ctx, secret)
	if err != nil {
		return payment.NextAction{}, err
	}
	outcome, err := s.processor.Find(ctx, ports.ChargeOf(attempt))
	if err != nil {
		return payment.NextAction{}, fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Try again in a moment.", err)
	}
	return outcome.Action, nil
}

// Authenticate takes in that the buyer is back from their bank's challenge. A failed one is CARD_DECLINED.
func (s *Service) Authenticate(ctx context.Context, secret string, approve bool) (checkout.State, error) {
	attempt, err := s.challenged(ctx, secret)
	if err != nil {
		return checkout.State{}, err
	}
	outcome, err := s.processor.Authenticate(ctx, ports.ChargeOf(attempt), approve)
	if err != nil {
		return checkout.State{}, fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Try again in a moment.", err)
	}
	session, err := s.Settle(context.WithoutCancel(ctx), attempt.ID, outcome)
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
	check, err := s.checkVAT(ctx, buyer, opened.Buyer, opened.TaxDetails.Evidence.VATCheck, "taxId")
	if err != nil {
		return checkout.State{}, err
	}
	var session checkout.State
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		aggregate, now, err := s.loadForUpdate(ctx, r, opened.ID)
		if err != nil {
			return err
		}
		if err := aggregate.UpdateBuyer(email, buyer, now); err != nil {
			return err
		}
		aggregate.NoteVATCheck(check)
		if err := s.applyTax(ctx, aggregate, now); err != nil {
			return err
		}
		session = aggregate.State()
		return r.Checkout.Sessions.Update(ctx, session)
	})
	return session, err
}
