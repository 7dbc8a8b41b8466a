package stripepay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/money"
	"sundry/core/payment"
	"sundry/ports"
)

// intent contains the common parts of a payment intent and of the setup intent that checks a card without a charge.
type intent struct {
	id         string
	status     string
	invoice    string // of Stripe, whose payment this is; "" for any other
	customer   string
	card       card
	refused    *stripe.Error // the last refusal of a card
	secret     string
	redirect   string
	fee        money.Amount
	isSetup    bool
	replayable bool // the response may be an older one, repeated under its key
}

// card is the payment method of an intent.
type card struct {
	id, brand, last4     string
	country, fingerprint string
	expMonth, expYear    int
}

// fresh reports whether nobody has confirmed the intent yet.
func (i intent) fresh() bool {
	return i.refused == nil && (i.status == "requires_payment_method" || i.status == "requires_confirmation")
}

// outcome is the intent in the port's words. ErrNotFound for one that was never confirmed.
func (i intent) outcome() (payment.Outcome, error) {
	o := payment.Outcome{
		ProcessorID: i.id, Brand: i.card.brand, Last4: i.card.last4, ExpMonth: i.card.expMonth, ExpYear: i.card.expYear,
		CardCountry: i.card.country, CardFingerprint: i.card.fingerprint,
	}
	switch i.status {
	case "succeeded":
		o.Status, o.Fee = payment.Succeeded, i.fee
		if i.customer != "" && i.card.id != "" {
			o.Method = i.customer + methodSeparator + i.card.id
		}
	case "processing":
		o.Status = payment.Processing
	case "requires_action":
		o.Status, o.Action = payment.RequiresAction, payment.NextAction{ClientSecret: i.secret, RedirectURL: i.redirect}
	case "canceled":
		o.Status = payment.Canceled
		if i.refused != nil {
			o.Status, o.Decline = payment.Declined, declineOf(i.refused)
		}
	case "requires_payment_method", "requires_confirmation":
		if i.refused == nil {
			return o, ports.ErrNotFound
		}
		o.Status, o.Decline = payment.Declined, declineOf(i.refused)
	default:
		return o, fmt.Errorf("stripe %s is %q: %w", i.id, i.status, ports.ErrOutcomeUnknown)
	}
	return o, nil
}

// expansions are the objects that an outcome needs beside the payment intent itself.
var expansions = []string{"payment_method", "latest_charge.balance_transaction"}

func fromPayment(p *stripe.PaymentIntent) intent {
	i := intent{id: p.ID, status: string(p.Status), refused: p.LastPaymentError, secret: p.ClientSecret}
	if p.Invoice != nil {
		i.invoice = p.Invoice.ID
	}
	if p.Customer != nil {
		i.customer = p.Customer.ID
	}
	if p.NextAction != nil && p.NextAction.RedirectToURL != nil {
		i.redirect = p.NextAction.RedirectToURL.URL
	}
	i.card = cardOf(p.PaymentMethod, p.LastPaymentError)
	if p.LatestCharge != nil && p.LatestCharge.BalanceTransaction != nil &&
		p.LatestCharge.BalanceTransaction.Currency != "" {
		booked := p.LatestCharge.BalanceTransaction
		i.fee = amountOf(booked.Fee, booked.Currency)
	}
	return i
}

func fromSetup(s *stripe.SetupIntent) intent {
	i := intent{id: s.ID, status: string(s.Status), refused: s.LastSetupError, secret: s.ClientSecret, isSetup: true}
	if s.Customer != nil {
		i.customer = s.Customer.ID
	}
	if s.NextAction != nil && s.NextAction.RedirectToURL != nil {
		i.redirect = s.NextAction.RedirectToURL.URL
	}
	i.card = cardOf(s.PaymentMethod, s.LastSetupError)
	return i
}

// cardOf is the payment method of an intent; after a refusal it is the one that was refused.
func cardOf(method *stripe.PaymentMethod, refused *stripe.Error) card {
	if method == nil && refused != nil {
		method = refused.PaymentMethod
	}
	switch {
	case method == nil:
		return card{}
	case method.Card == nil:
		return card{id: method.ID, brand: string(method.Type)}
	}
	return card{
		id: method.ID, brand: string(method.Card.Brand), last4: method.Card.Last4,
		expMonth: int(method.Card.ExpMonth), expYear: int(method.Card.ExpYear),
		country: method.Card.Country, fingerprint: method.Card.Fingerprint,
	}
}

// create makes the intent of an attempt, or finds the one that an earlier call has made: no money moves by it, and the
// parameters follow from the request alone, so that the key repeats the first response.
func (p *Processor) create(ctx context.Context, r ports.ChargeRequest) (intent, error) {
	if err := chargeable(r.Amount); err != nil {
		return intent{}, err
	}
	customer, err := p.customer(ctx, r)
	if err != nil {
		return intent{}, err
	}
	var optional *string
	if customer != "" {
		optional = new(customer)
	}
	about := map[string]string{"payment_id": r.PaymentID, "creator_id": r.CreatorID, "subject_id": r.SubjectID}
	if r.Amount.Minor == 0 {
		made, err := call(ctx, "create setup intent", func() (*stripe.SetupIntent, error) {
			return p.api.SetupIntents.New(&stripe.SetupIntentParams{
				Params: keyed(ctx, r.PaymentID), Customer: optional,
				Usage: stripe.String(string(stripe.SetupIntentUsageOffSession)), Metadata: about,
				AutomaticPaymentMethods: &stripe.SetupIntentAutomaticPaymentMethodsParams{Enabled: new(true),
					AllowRedirects: new("never")},
			})
		})
		if err != nil {
			return intent{}, err
		}
		return stale(fromSetup(made)), nil
	}
	if invoiced(r) {
		return p.createInvoice(ctx, r, customer, about)
	}
	params := &stripe.PaymentIntentParams{
		Params: keyed(ctx, r.PaymentID), Amount: new(units(r.Amount)), Currency: new(string(r.Amount.Currency)),
		Customer: optional, Metadata: about,
		AutomaticPaymentMethods: &stripe.PaymentIntentAutomaticPaymentMethodsParams{Enabled: new(true),
			AllowRedirects: new("never")},
	}
	if r.SaveCard {
		params.SetupFutureUsage = stripe.String(string(stripe.PaymentIntentSetupFutureUsageOffSession))
	}
	made, err := call(ctx, "create payment intent", func() (*stripe.PaymentIntent, error) {
		return p.api.PaymentIntents.New(params)
	})
	if err != nil {
		return intent{}, err
	}
	return stale(fromPayment(made)), nil
}

// stale marks a response that may be the repetition of an older one.
func stale(i intent) intent {
	i.replayable = true
	return i
}

// confirm makes the attempt: the only request after which money may move. An error of Stripe about the card, or about
// the state of the intent, is in the intent itself.
func (p *Processor) confirm(ctx context.Context, r ports.ChargeRequest, i intent) (intent, error) {
	key := r.PaymentID + ":confirm"
	var err error
	switch {
	case i.isSetup:
		params := &stripe.SetupIntentConfirmParams{Params: keyed(ctx, key)}
		params.ConfirmationToken, params.PaymentMethod, params.UseStripeSDK = confirmation(r)
		params.AddExpand("payment_method")
		var done *stripe.SetupIntent
		if done, err = call(ctx, "confirm "+i.id, func() (*stripe.SetupIntent, error) {
			return p.api.SetupIntents.Confirm(i.id, params)
		}); err == nil {
			return stale(fromSetup(done)), nil
		}
	case i.invoice != "":
		_, err = call(ctx, "pay "+i.invoice, func() (*stripe.Invoice, error) {
			_, method := splitMethod(r.Method)
			return p.api.Invoices.Pay(i.invoice, &stripe.InvoicePayParams{
				Params: keyed(ctx, key), PaymentMethod: new(method), OffSession: new(r.OffSession),
			})
		})
		if err == nil {
			paid, err := p.get(ctx, i.id)
			if err != nil { // whatever it is, the money has moved
				err = fmt.Errorf("read what was paid: %s: %w", err.Error(), ports.ErrOutcomeUnknown)
			}
			return paid, err
		}
	default:
		params := &stripe.PaymentIntentConfirmParams{Params: keyed(ctx, key)}
		params.ConfirmationToken, params.PaymentMethod, params.UseStripeSDK = confirmation(r)
		if r.OffSession {
			params.OffSession, params.UseStripeSDK = new(true), nil
		}
		for _, expand := range expansions {
			params.AddExpand(expand)
		}
		var done *stripe.PaymentIntent
		if done, err = call(ctx, "confirm "+i.id, func() (*stripe.PaymentIntent, error) {
			return p.api.PaymentIntents.Confirm(i.id, params)
		}); err == nil {
			return stale(fromPayment(done)), nil
		}
	}
	return p.afterRefusal(ctx, i, err)
}

// confirmation returns the parameters of the buyer's card: a token that Stripe's form has made, or a payment method.
// For the latter the page asks Stripe's script to go on with a challenge; a token contains it already.
func confirmation(r ports.ChargeRequest) (token, method *string, useSDK *bool) {
	if strings.HasPrefix(r.Method, tokenPrefix) {
		return new(r.Method), nil, nil
	}
	_, name := splitMethod(r.Method)
	return nil, new(name), new(true)
}

// afterRefusal reads what an intent is after Stripe refused to confirm it. A request that Stripe will never act on ends
// the intent, and is a refusal of the card that it named.
func (p *Processor) afterRefusal(ctx context.Context, i intent, err error) (intent, error) {
	refused := refusal(err)
	if refused == nil || errors.Is(err, ports.ErrProcessorUnavailable) || refused.status >= 500 && !refused.replayed ||
		refused.status == 409 {
		return intent{}, err
	}
	now, getErr := p.get(ctx, i.id)
	if getErr != nil {
		return intent{}, getErr
	}
	if !now.fresh() || refused.kind == stripe.ErrorTypeIdempotency {
		return now, nil
	}
	ended, endErr := p.end(ctx, now)
	if endErr != nil || ended.status != "canceled" {
		return ended, endErr
	}
	ended.refused = &stripe.Error{Code: stripe.ErrorCode(refused.code), Type: refused.kind}
	return ended, nil
}

// get reads an intent as it is now.
func (p *Processor) get(ctx context.Context, id string) (intent, error) {
	if strings.HasPrefix(id, setupPrefix) {
		params := &stripe.SetupIntentParams{Params: keyed(ctx, "")}
		params.AddExpand("payment_method")
		found, err := call(ctx, "get "+id, func() (*stripe.SetupIntent, error) { return p.api.SetupIntents.Get(id, params) })
		if err != nil {
			return intent{}, err
		}
		return fromSetup(found), nil
	}
	params := &stripe.PaymentIntentParams{Params: keyed(ctx, "")}
	for _, expand := range expansions {
		params.AddExpand(expand)
	}
	found, err := call(ctx, "get "+id, func() (*stripe.PaymentIntent, error) {
		return p.api.PaymentIntents.Get(id, params)
	})
	if err != nil {
		return intent{}, err
	}
	return fromPayment(found), nil
}

// end cancels an intent, and returns its state then. Ending it is the same however often it is asked for, so each
// request has a key of its own: a stored failure must not keep it from ever being ended.
func (p *Processor) end(ctx context.Context, i intent) (intent, error) {
	key := i.id + ":cancel:" + rand.Text()
	var err error
	switch {
	case i.isSetup:
		var done *stripe.SetupIntent
		if done, err = call(ctx, "cancel "+i.id, func() (*stripe.SetupIntent, error) {
			return p.api.SetupIntents.Cancel(i.id, &stripe.SetupIntentCancelParams{Params: keyed(ctx, key)})
		}); err == nil {
			return fromSetup(done), nil
		}
	case i.invoice != "":
		_, err = call(ctx, "void "+i.invoice, func() (*stripe.Invoice, error) {
			return p.api.Invoices.VoidInvoice(i.invoice, &stripe.InvoiceVoidInvoiceParams{Params: keyed(ctx, key)})
		})
		if err == nil {
			return p.get(ctx, i.id)
		}
	default:
		var done *stripe.PaymentIntent
		if done, err = call(ctx, "cancel "+i.id, func() (*stripe.PaymentIntent, error) {
			return p.api.PaymentIntents.Cancel(i.id, &stripe.PaymentIntentCancelParams{Params: keyed(ctx, key)})
		}); err == nil {
			return fromPayment(done), nil
		}
	}
	if refused := refusal(err); refused != nil && refused.status == 400 { // it is over already
		return p.get(ctx, i.id)
	}
	return intent{}, err
}
