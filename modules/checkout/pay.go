package checkout

import (
	"context"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/intake"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/ports"
)

// Payment is the form that the buyer submits.
type Payment struct {
	// Card is empty when nothing is charged.
	Card  ports.CardInput
	Email string
	Buyer customer.Details
	// ClientCountry is the country of the buyer's network as a trusted proxy reports it; "" when none does.
	ClientCountry string
	// Slots are times to choose before paying; nil keeps those chosen.
	Slots []appointment.SlotChoice
	// Intake holds the answers sent with it.
	Intake intake.Given
	// Accepted names the texts that the buyer accepts on the page.
	Accepted checkout.Acceptance
}

// terms are the texts that a sale of a creator refers to.
func (s *Service) terms(seller identity.Storefront) checkout.Terms {
	return checkout.Terms{
		Merchant: s.cfg.Merchant, URL: s.cfg.TermsURL, Shop: seller.Name, RefundPolicy: seller.RefundPolicy,
	}
}

// accept keeps what the buyer agrees to on the page with a payment that has just been started.
func (s *Service) accept(
	ctx context.Context, r ports.Repos, session *checkout.Session, given checkout.Acceptance, now time.Time,
) error {
	opened := session.State()
	seller, err := s.deps.Accounts.Storefront(ctx, r, opened.CreatorID)
	if err != nil {
		return err
	}
	return session.Accept(opened.Agreement(s.terms(seller), given.Reader()), given, now)
}

// PayOnPage pays the session behind a hosted page's secret, and returns the page afterwards, also beside
// AUTHENTICATION_REQUIRED. Free orders and questions to the register of VAT IDs are counted by the network of the
// buyer. RATE_LIMITED, and see pay.
func (s *Service) PayOnPage(
	ctx context.Context, secret string, p Payment, network string,
) (page Page, err error) {
	session, err := s.bySecret(ctx, secret)
	if err != nil {
		return Page{}, err
	}
	if s.asksRegister(p.Buyer, session.Buyer, session.TaxDetails.Evidence.VATCheck) {
		if err := s.countDescribed(ctx, network); err != nil {
			return Page{}, err
		}
	}
	card, err := s.trialCard(ctx, session, p)
	if err != nil {
		return Page{}, err
	}
	dropped, err := s.dropTrial(ctx, session, p.Email, card)
	if err != nil {
		return Page{}, err
	}
	if dropped {
		return Page{}, errTrialUsed()
	}
	pay := func() error {
		return s.pay(ctx, session, p, true, func(ctx context.Context, r ports.Repos, after checkout.State) (err error) {
			page, err = s.page(ctx, r, after)
			return err
		})
	}
	if session.NeedsCard() {
		err = pay()
	} else {
		err = s.withRateLimit(ctx, "free", network, maxFreeOrders, pay)
	}
	return page, err
}

// PayInSandbox pays a session of the account as a buyer would, for integrators' own tests, choosing the times first
// where some are given. See pay and ChooseOnPage.
func (s *Service) PayInSandbox(
	ctx context.Context, creatorID, sessionID string, p Payment,
) (receipt Receipt, err error) {
	opened, err := owned(ctx, s.deps.Store.Read(ctx), creatorID, sessionID)
	if err != nil {
		return Receipt{}, err
	}
	if p.Slots != nil {
		if err := s.chooseToPay(ctx, opened, p); err != nil {
			return Receipt{}, err
		}
		if opened, err = s.deps.Store.Read(ctx).Checkout.Sessions.Get(ctx, sessionID); err != nil {
			return Receipt{}, err
		}
	}
	dropped, err := s.dropTrial(ctx, opened, p.Email, "")
	if err != nil {
		return Receipt{}, err
	}
	if dropped {
		if opened, err = s.deps.Store.Read(ctx).Checkout.Sessions.Get(ctx, sessionID); err != nil {
			return Receipt{}, err
		}
	}
	err = s.pay(ctx, opened, p, false, func(ctx context.Context, r ports.Repos, after checkout.State) (err error) {
		receipt, err = s.receipt(ctx, r, after)
		return err
	})
	return receipt, err
}

// chooseToPay takes the times that a payment comes with. What is wrong with the payment itself is reported first: a
// refused request must leave the times that it names to others.
func (s *Service) chooseToPay(ctx context.Context, opened checkout.State, p Payment) error {
	now, err := s.deps.Clock.Now(ctx, opened.CreatorID)
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

// pay charges the card and settles the session: commit the intent, ask the processor, commit the outcome. A crash or
// a lost response between the steps is finished by the attempt's task. show reads what the caller responds of the
// session afterwards; a refused card is CARD_DECLINED, a wanted authentication AUTHENTICATION_REQUIRED, and both leave
// the session payable.
//
// Other faults: VALIDATION_FAILED, SLOT_COUNT_MISMATCH before the times are chosen, SLOT_UNAVAILABLE when they are
// lost, SESSION_ALREADY_PAID, SESSION_EXPIRED, STATE_CONFLICT (failed, or another attempt is under way),
// LIMIT_REACHED when its discount is used up, ALREADY_SUBSCRIBED, PROCESSOR_UNAVAILABLE, FORBIDDEN.
func (s *Service) pay(ctx context.Context, seen checkout.State, p Payment, onPage bool, show reading) error {
	if err := s.deps.Standing.CheckSales(ctx, seen.CreatorID); err != nil {
		return err
	}
	seen, err := s.cancelPendingAuth(ctx, seen, p, onPage)
	if err != nil {
		return err
	}
	check, err := s.checkVAT(ctx, p.Buyer, seen.Buyer, seen.TaxDetails.Evidence.VATCheck, "taxId")
	if err != nil {
		return err
	}
	session, attempt, err := s.begin(ctx, seen, p, check, onPage)
	if err != nil {
		return err
	}
	shown := false
	if session.Status != checkout.StatusPaid {
		payer := ports.Payer{Email: session.Email, Name: session.Buyer.Name}
		attempt, err = s.deps.Runner.Run(ctx, attempt, payer, func(ctx context.Context, r ports.Repos) (err error) {
			session, err = r.Checkout.Sessions.Get(ctx, session.ID)
			// While appointments are read, which a transaction doesn't keep, the next document number would stay locked.
			if shown = session.Status == checkout.StatusPaid && !session.Offer.ForAppointments(); err != nil || !shown {
				return err
			}
			return show(ctx, r, session)
		})
		if err != nil {
			return err
		}
	}
	refused := refusal(attempt)
	if !shown && (refused == nil || fault.Is(refused, fault.AuthenticationRequired)) {
		if err := show(ctx, s.deps.Store.Read(ctx), session); err != nil {
			return err
		}
	}
	return refused
}

// reading reads what is responded of a session: in the transaction that changed it, which asks for nothing again that
// it has read or written, or after that.
type reading = func(ctx context.Context, r ports.Repos, session checkout.State) error

// refusal returns the error of an attempt that did not pay, for the caller who submitted the card.
func refusal(attempt payment.State) error {
	switch attempt.Status {
	case payment.Declined:
		return attempt.Decline.Refusal()
	case payment.RequiresAction:
		return fault.New(
			fault.AuthenticationRequired, "The bank wants the buyer to confirm this payment on the checkout page.",
		)
	case payment.Canceled:
		return fault.New(fault.StateConflict, "The payment was canceled before it was made.")
	case payment.Pending, payment.Processing, payment.Succeeded:
	}
	return nil
}

// cancelPendingAuth cancels an attempt that only waits for the buyer's authentication, because the buyer pays in
// another way. The challenge counts as an attempt, so that nobody asks banks without end. A payment that would be
// refused cancels nothing. It returns the session's state afterwards.
func (s *Service) cancelPendingAuth(
	ctx context.Context, session checkout.State, p Payment, onPage bool,
) (checkout.State, error) {
	attempt, ok, err := live(ctx, s.deps.Store.Read(ctx), session)
	if err != nil || !ok || attempt.Status != payment.RequiresAction {
		return session, err
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, session.CreatorID)
		if err != nil {
			return err
		}
		dryRun := checkout.Restore(session)
		dryRun.ClearPayment(attempt.ID, superseded)
		if _, err := s.start(ctx, r, dryRun, s.deps.IDs.New(id.Payment), p, onPage, now); err != nil {
			return err
		}
		return s.applyFinalTax(ctx, dryRun, now)
	})
	if err != nil {
		return session, err
	}
	if _, err := s.deps.Runner.Cancel(ctx, attempt, superseded); err != nil {
		return session, payment.ErrProcessorDown(err)
	}
	return s.deps.Store.Read(ctx).Checkout.Sessions.Get(ctx, session.ID)
}

// start makes an attempt the session's live one. It returns the faults of the session and of the form.
func (s *Service) start(
	ctx context.Context, r ports.Repos, session *checkout.Session, attemptID string, p Payment, onPage bool,
	now time.Time,
) (method string, err error) {
	before := session.State()
	if err := session.StartPayment(attemptID, p.Email, p.Buyer, now); err != nil {
		return "", err
	}
	if err := s.stillHeld(ctx, r, before, now); err != nil {
		return "", err
	}
	if method, err = s.method(before, p, onPage); err != nil {
		return "", err
	}
	if err := session.TakeIntake(p.Intake, true); err != nil || !onPage {
		return method, err
	}
	return method, s.accept(ctx, r, session, p.Accepted, now)
}

// begin commits the intent: the attempt, its place as the session's live one, and the task that reconciles it if this
// process dies. A payment of zero is settled at once. seen is the session as the caller has read it, which is read
// again only where a write finds that it has changed since.
func (s *Service) begin(
	ctx context.Context, seen checkout.State, p Payment, check tax.VATCheck, onPage bool,
) (session checkout.State, attempt payment.State, err error) {
	tried := false
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		before := seen
		if tried {
			if before, err = r.Checkout.Sessions.Get(ctx, seen.ID); err != nil {
				return err
			}
		}
		tried = true
		now, err := r.Clock.Now(ctx, before.CreatorID)
		if err != nil {
			return err
		}
		aggregate := checkout.Restore(before)
		attemptID := s.deps.IDs.New(id.Payment)
		method, err := s.start(ctx, r, aggregate, attemptID, p, onPage, now)
		if err != nil {
			return err
		}
		if err := s.requireOnePurchase(ctx, r, before, !onPage); err != nil {
			return err
		}
		aggregate.NoteVATCheck(check)
		if err := s.applyFinalTax(ctx, aggregate, now); err != nil {
			return err
		}
		aggregate.NoteEvidence(p.ClientCountry, "")
		session = aggregate.State()
		attempt, err = s.beginAttempt(ctx, r, session, payment.Intent{ID: attemptID, Method: method}, now)
		if err != nil || session.NeedsCard() {
			return err
		}
		if attempt, err = s.deps.Charges.Settle(ctx, r, attempt, payment.Outcome{Status: payment.Succeeded}); err != nil {
			return err
		}
		session, err = r.Checkout.Sessions.Get(ctx, session.ID)
		return err
	})
	return session, attempt, err
}

// beginAttempt stores a session with its new live attempt. Of the intent it needs what the session does not know.
func (s *Service) beginAttempt(
	ctx context.Context, r ports.Repos, session checkout.State, i payment.Intent, now time.Time,
) (payment.State, error) {
	if err := s.deps.Sales.redeem(ctx, r, session); err != nil { // before the session, as at the end of a payment
		return payment.State{}, err
	}
	if err := r.Checkout.Sessions.Update(ctx, session); err != nil {
		return payment.State{}, err
	}
	i.CreatorID, i.Subject = session.CreatorID, payment.Subject{Purpose: payment.ForCheckout, SubjectID: session.ID}
	i.Sale, i.Amount, i.SaveCard = saleOf(session), session.Total, session.SavesCard()
	return s.deps.Charges.Begin(ctx, r, i, now)
}

// saleOf returns the parts of the session's total.
func saleOf(session checkout.State) payment.Sale {
	zero := money.Amount{Currency: session.Total.Currency}
	return payment.Sale{
		Subtotal: session.Subtotal, Discount: session.Discount, Tax: session.Tax, TaxAdded: session.TaxAdded(),
		TaxDetails: session.TaxDetails, Credit: zero,
		ListingID: session.Offer.ListingID,
		Lines:     []payment.Line{{Description: session.Offer.Title, Amount: session.Subtotal}},
	}
}

// method checks what the buyer submitted and turns the card into the processor's token.
func (s *Service) method(session checkout.State, p Payment, onPage bool) (string, error) {
	var f fault.Violations
	f.Check(
		p.Email != "" || session.Email != "" || !onPage, "email", fault.DetailRequired,
		"Give an email address for the receipt.",
	)
	checkBuyer(p.Email, p.Buyer, &f)
	session.CheckIntake(&f, p.Intake, true)
	token := ""
	if session.NeedsCard() {
		token = s.deps.Cards.Method(p.Card, &f)
		f.Check(token != "" || p.Card != ports.CardInput{}, "cardNumber", fault.DetailRequired, "Give a card.")
	}
	return token, f.Err()
}

// CheckPayment checks a payment without its session. VALIDATION_FAILED with every fault.
func (s *Service) CheckPayment(p Payment) error {
	var f fault.Violations
	checkBuyer(p.Email, p.Buyer, &f)
	s.deps.Cards.Method(p.Card, &f)
	return f.Err()
}
