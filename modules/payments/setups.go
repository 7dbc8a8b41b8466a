package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/cardsetup"
	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/ports"
)

// setupCurrency is named to the processor when a card is checked: nothing is charged in it.
const setupCurrency money.Currency = "eur"

// SetupURL returns the address of a card setup's hosted page.
func (s *Service) SetupURL(setupID string) string {
	return s.cfg.BaseURL + "/setup/" + s.cfg.Secrets.Page(setupID)
}

// SetupClientSecret lets a card form in the integrator's own page complete a setup.
func (s *Service) SetupClientSecret(setupID string) string { return s.cfg.Secrets.Client(setupID) }

// CheckSetup lists everything that is wrong with a request for a setup, as one VALIDATION_FAILED error.
func (s *Service) CheckSetup(customerID, returnURL string) error {
	var f fault.Violations
	f.Check(customerID != "", "customerId", fault.DetailRequired, "Expected the id of a customer.")
	if f.Check(returnURL != "", "returnUrl", fault.DetailRequired, "Expected where the customer goes afterwards.") {
		checkout.ValidateReturnURL("returnUrl", returnURL, !s.cfg.Live, &f)
	}
	return f.Err()
}

// OpenSetup opens a setup for a customer of the account. STATE_CONFLICT for one who was erased.
func (s *Service) OpenSetup(ctx context.Context, creatorID, customerID, returnURL string) (cardsetup.State, error) {
	var opened cardsetup.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		owner, err := s.deps.Customers.CustomerForShare(ctx, r, customerID)
		if err == nil {
			err = owner.RefuseErased()
		}
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		opened = cardsetup.New(s.deps.IDs.New(id.CardSetup), creatorID, customerID, returnURL, now).State()
		return r.Payments.CardSetups.Insert(ctx, opened)
	})
	return opened, err
}

// SetupPage holds what the hosted page of a setup shows.
type SetupPage struct {
	Setup   cardsetup.State
	Expired bool
	Seller  identity.Storefront
	// Mandate is the text to which the customer agrees by saving a card.
	Mandate string
	// Card is the saved card; the zero value until then.
	Card paymentmethod.State
}

// SetupPage returns the page behind a setup's secret, for a reader. NOT_FOUND for any other.
func (s *Service) SetupPage(ctx context.Context, secret string, reader locale.Locale) (SetupPage, error) {
	setup, err := s.bySecret(ctx, secret)
	if err != nil {
		return SetupPage{}, err
	}
	r := s.deps.Store.Read(ctx)
	page := SetupPage{Setup: setup}
	now, err := r.Clock.Now(ctx, setup.CreatorID)
	if err != nil {
		return SetupPage{}, err
	}
	page.Expired = setup.Expired(now)
	if page.Seller, err = s.deps.Accounts.Storefront(ctx, r, setup.CreatorID); err != nil {
		return SetupPage{}, err
	}
	page.Mandate = paymentmethod.MandateText(reader, s.cfg.Merchant, page.Seller.Name)
	if setup.PaymentMethodID != "" {
		page.Card, err = r.Payments.PaymentMethods.Get(ctx, setup.PaymentMethodID)
	}
	return page, err
}

func (s *Service) bySecret(ctx context.Context, secret string) (cardsetup.State, error) {
	setupID, ok := s.cfg.Secrets.OpenPage(secret)
	if !ok {
		return cardsetup.State{}, fault.NotFound("page")
	}
	setup, err := s.deps.Store.Read(ctx).Payments.CardSetups.Get(ctx, setupID)
	return setup, ports.Missing(err, "page")
}

// setupRequest names the check of a setup's latest card to the processor.
func setupRequest(setup cardsetup.State) ports.ChargeRequest {
	return ports.ChargeRequest{
		PaymentID: setup.AttemptID, ProcessorID: setup.ProcessorID, SubjectID: setup.ID, CreatorID: setup.CreatorID,
		CustomerID: setup.CustomerID, Amount: money.Amount{Currency: setupCurrency}, SaveCard: true,
	}
}

// call makes one call to the provider that checks new cards.
func (s *Service) call(
	ctx context.Context, limit time.Duration, r ports.ChargeRequest, ask processorCall,
) (payment.Outcome, error) {
	return within(ctx, limit, func(ctx context.Context) (payment.Outcome, error) {
		return ask(s.deps.Provider.Processor, ctx, r)
	})
}

// How many cards a customer may try on hosted pages.
const (
	maxTried    = 20
	triedWindow = time.Hour
)

var _ ports.CardTries = (*Service)(nil)

// CountTry implements ports.CardTries.
func (s *Service) CountTry(ctx context.Context, customerID string) error {
	return ports.Admit(ctx, s.deps.Limiter, ports.Attempt{
		Key: "payments.card:" + customerID, Limit: maxTried, Window: triedWindow,
		Message: "Too many cards were tried. Try again later.",
	})
}

// SaveOnPage saves a card on the hosted page, under the mandate that it showed its reader. Faults: NOT_FOUND,
// RATE_LIMITED, VALIDATION_FAILED, CARD_DECLINED, AUTHENTICATION_REQUIRED, SESSION_EXPIRED, STATE_CONFLICT,
// PROCESSOR_UNAVAILABLE.
func (s *Service) SaveOnPage(
	ctx context.Context, secret string, card ports.CardInput, reader locale.Locale,
) (cardsetup.State, error) {
	setup, err := s.bySecret(ctx, secret)
	if err != nil {
		return cardsetup.State{}, err
	}
	if err := s.CountTry(ctx, setup.CustomerID); err != nil {
		return cardsetup.State{}, err
	}
	return s.saveCard(ctx, setup, card, reader)
}

// challenged is the setup behind a hosted page's secret that waits for the customer's bank, to ask the processor about
// it. STATE_CONFLICT for any other, RATE_LIMITED.
func (s *Service) challenged(ctx context.Context, secret, network string) (cardsetup.State, error) {
	setup, err := s.bySecret(ctx, secret)
	if err != nil {
		return cardsetup.State{}, err
	}
	if setup.Status != cardsetup.Authenticating {
		return setup, payment.ErrNoChallenge()
	}
	return setup, countChallenge(ctx, s.deps.Limiter, network)
}

// SetupChallenge returns the next action of the customer's bank challenge. STATE_CONFLICT when there is none,
// RATE_LIMITED by their network, PROCESSOR_UNAVAILABLE.
func (s *Service) SetupChallenge(ctx context.Context, secret, network string) (payment.NextAction, error) {
	setup, err := s.challenged(ctx, secret, network)
	if err != nil {
		return payment.NextAction{}, err
	}
	outcome, err := s.call(ctx, ports.ProcessorTimeout, setupRequest(setup), ports.Processor.Find)
	if err != nil {
		return payment.NextAction{}, payment.ErrProcessorDown(err)
	}
	return outcome.Action, nil
}

// RefreshSetup applies the processor's report about a setup's latest card: the customer may have closed the page on
// their way back from the bank.
func (s *Service) RefreshSetup(ctx context.Context, setupID string) error {
	setup, err := s.deps.Store.Read(ctx).Payments.CardSetups.Get(ctx, setupID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && (setup.Status == cardsetup.Completed || setup.AttemptID == "") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("refresh setup: %w", err)
	}
	outcome, err := s.call(ctx, ports.ProcessorTimeout, setupRequest(setup), ports.Processor.Find)
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("refresh setup %s: %w", setupID, err)
	}
	_, err = s.settleSetup(ctx, setup.ID, setup.AttemptID, outcome)
	if _, ok := errors.AsType[*fault.Error](err); ok { // shown to the customer
		return nil
	}
	return err
}

// AuthenticateOnPage applies the outcome of the bank's challenge when the customer returns from it. RATE_LIMITED by
// their network.
func (s *Service) AuthenticateOnPage(
	ctx context.Context, secret string, approve bool, network string,
) (cardsetup.State, error) {
	setup, err := s.challenged(ctx, secret, network)
	if err != nil {
		return cardsetup.State{}, err
	}
	return s.authenticate(ctx, setup, approve)
}

func (s *Service) authenticate(ctx context.Context, setup cardsetup.State, approve bool) (cardsetup.State, error) {
	outcome, err := within(ctx, ports.ProcessorTimeout, func(ctx context.Context) (payment.Outcome, error) {
		return s.deps.Provider.Processor.Authenticate(ctx, setupRequest(setup), approve)
	})
	if err != nil {
		return cardsetup.State{}, payment.ErrProcessorDown(err)
	}
	return s.settleSetup(context.WithoutCancel(ctx), setup.ID, setup.AttemptID, outcome)
}

// CheckCard checks a card. VALIDATION_FAILED with every fault.
func (s *Service) CheckCard(card ports.CardInput) error {
	_, err := s.method(card)
	return err
}

// method is the processor's payment method for a card.
func (s *Service) method(card ports.CardInput) (string, error) {
	var f fault.Violations
	method := s.deps.Provider.Cards.Method(card, &f)
	f.Check(method != "" || card != ports.CardInput{}, "cardNumber", fault.DetailRequired, "Expected a card number.")
	return method, f.Err()
}

// SaveTestCard saves a test card for a customer as they would on the hosted page, confirming what their bank asks.
// Faults: VALIDATION_FAILED, CARD_DECLINED, PROCESSOR_UNAVAILABLE.
func (s *Service) SaveTestCard(
	ctx context.Context, creatorID, customerID, cardNumber string,
) (paymentmethod.State, error) {
	opened, err := s.OpenSetup(ctx, creatorID, customerID, "")
	if err != nil {
		return paymentmethod.State{}, err
	}
	setup, err := s.saveCard(ctx, opened, ports.CardInput{Number: cardNumber}, locale.Locale{})
	if fault.Is(err, fault.AuthenticationRequired) {
		setup, err = s.authenticate(ctx, setup, true)
	}
	if err != nil {
		return paymentmethod.State{}, err
	}
	return s.deps.Store.Read(ctx).Payments.PaymentMethods.Get(ctx, setup.PaymentMethodID)
}

// saveCard has the processor check a card and saves it. An interrupted check leaves the setup as it was: nothing was
// charged, and the customer tries again.
func (s *Service) saveCard(
	ctx context.Context, setup cardsetup.State, card ports.CardInput, reader locale.Locale,
) (cardsetup.State, error) {
	method, err := s.method(card)
	if err != nil {
		return cardsetup.State{}, err
	}
	shop, err := s.deps.Accounts.SellerName(ctx, s.deps.Store.Read(ctx), setup.CreatorID)
	if err != nil {
		return cardsetup.State{}, err
	}
	if setup, err = s.try(ctx, setup.ID, paymentmethod.MandateText(reader, s.cfg.Merchant, shop)); err != nil {
		return cardsetup.State{}, err
	}
	request := setupRequest(setup)
	request.Method = method
	outcome, err := s.call(ctx, ports.ProcessorTimeout, request, ports.Processor.Charge)
	if errors.Is(err, ports.ErrOutcomeUnknown) {
		outcome, err = s.call(ctx, ports.ProcessorRecheckTimeout, request, ports.Processor.Find)
	}
	if err != nil {
		return cardsetup.State{}, payment.ErrProcessorDown(err)
	}
	return s.settleSetup(context.WithoutCancel(ctx), setup.ID, setup.AttemptID, outcome)
}

// try begins a check of a card.
func (s *Service) try(ctx context.Context, setupID, mandate string) (cardsetup.State, error) {
	var tried cardsetup.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := r.Payments.CardSetups.Get(ctx, setupID)
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, state.CreatorID)
		if err != nil {
			return err
		}
		setup := cardsetup.Restore(state)
		if err := setup.Try(s.deps.IDs.New(id.CardSetup), mandate, now); err != nil {
			return err
		}
		tried = setup.State()
		return r.Payments.CardSetups.Update(ctx, tried)
	})
	return tried, err
}

// settleSetup applies the outcome of the check. A good card is saved with the mandate that the page showed.
func (s *Service) settleSetup(
	ctx context.Context, setupID, attemptID string, o payment.Outcome,
) (cardsetup.State, error) {
	var settled cardsetup.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := r.Payments.CardSetups.Get(ctx, setupID)
		if err != nil {
			return err
		}
		setup, cardID := cardsetup.Restore(state), s.deps.IDs.New(id.PaymentMethod)
		done, changed := setup.Settle(attemptID, cardID, o)
		if settled = setup.State(); !changed {
			return nil
		}
		if done { // before the setup is written: an erasure locks the customer first, too
			if err := s.keep(ctx, r, settled, cardID, o); err != nil {
				return err
			}
		}
		return r.Payments.CardSetups.Update(ctx, settled)
	})
	if err != nil {
		return cardsetup.State{}, fmt.Errorf("settle %s: %w", setupID, err)
	}
	return settled, setupFault(o)
}

// keep saves a card. Its event bills what is overdue. STATE_CONFLICT for a customer who was erased meanwhile.
func (s *Service) keep(
	ctx context.Context, r ports.Repos, setup cardsetup.State, cardID string, o payment.Outcome,
) error {
	owner, err := s.deps.Customers.CustomerForShare(ctx, r, setup.CustomerID)
	if err == nil {
		err = owner.RefuseErased()
	}
	if err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, setup.CreatorID)
	if err != nil {
		return err
	}
	text, err := mandate(ctx, r, s.deps.Accounts, s.cfg.Merchant, setup.CreatorID, setup.Mandate)
	if err != nil {
		return err
	}
	card := paymentmethod.New(cardID, setup.CreatorID, setup.CustomerID,
		paymentmethod.Card{
			Provider: s.deps.Provider.Name, Token: o.Method, Brand: o.Brand, Last4: o.Last4, ExpMonth: o.ExpMonth,
			ExpYear: o.ExpYear,
			Country: o.CardCountry,
		},
		paymentmethod.Mandate{Text: text, AcceptedAt: now, Source: setup.ID}, now).State()
	if err := r.Payments.PaymentMethods.Insert(ctx, card); err != nil {
		return err
	}
	return s.deps.Bus.Publish(ctx, r, paymentmethod.Saved{State: card})
}

// setupFault returns the error that reports an outcome without a saved card to the customer; nil for other outcomes.
func setupFault(o payment.Outcome) error {
	switch o.Status {
	case payment.Declined:
		return o.Decline.Refusal()
	case payment.RequiresAction:
		return fault.New(fault.AuthenticationRequired, "Your bank wants you to confirm that it is you.")
	case payment.Canceled:
		return fault.New(fault.StateConflict, "The check of the card was canceled. Try again.")
	case payment.Pending, payment.Processing, payment.Succeeded:
	}
	return nil
}
