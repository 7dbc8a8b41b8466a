// Package checkout takes a buyer from an open session to a payment: creation, the hosted page's questions, paying,
// what is done when a response is lost, expiry, and the receipt.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/ports"
)

// Task kinds of this module.
const (
	// TaskExpire ends an unpaid session; its subject is the session.
	TaskExpire = "checkout.expire"
	// TaskReconcile asks the processor what became of an attempt; its subject is the payment.
	TaskReconcile = "checkout.reconcile"
)

// Config is what differs between deployments.
type Config struct {
	BaseURL string
	Sandbox bool
	Secrets checkout.Secrets
	// SellerCountry is where the seller of record sits, ISO 3166-1 alpha-2.
	SellerCountry string
}

// Service holds the use cases.
type Service struct {
	cfg       Config
	store     ports.Store
	clock     ports.Clock
	ids       ports.IDs
	bus       ports.Bus
	processor ports.Processor
	cards     ports.CardForm
	offers    ports.Offers
	bookings  ports.Bookings
	access    ports.AccessVersions
	accounts  ports.AccountReader
	discounts ports.DiscountCodes
	taxes     ports.TaxCalculator
	vat       ports.VATRegister
	limiter   ports.RateLimiter
}

// Deps is what the module needs.
type Deps struct {
	Store     ports.Store
	Clock     ports.Clock
	IDs       ports.IDs
	Bus       ports.Bus
	Processor ports.Processor
	Cards     ports.CardForm
	Offers    ports.Offers
	Bookings  ports.Bookings
	Access    ports.AccessVersions
	Accounts  ports.AccountReader
	Discounts ports.DiscountCodes
	Taxes     ports.TaxCalculator
	// VAT is asked about VAT ids; nil where their shape alone is checked.
	VAT     ports.VATRegister
	Limiter ports.RateLimiter
}

// New returns the module.
func New(cfg Config, d Deps) *Service {
	return &Service{
		cfg: cfg, store: d.Store, clock: d.Clock, ids: d.IDs, bus: d.Bus, processor: d.Processor, cards: d.Cards,
		offers: d.Offers, bookings: d.Bookings, access: d.Access, accounts: d.Accounts, discounts: d.Discounts, taxes: d.Taxes,
		limiter: d.Limiter, vat: d.VAT,
	}
}

// CheckoutURL is where the buyer pays.
func (s *Service) CheckoutURL(sessionID string) string {
	return s.cfg.BaseURL + "/c/" + s.cfg.Secrets.Checkout(sessionID)
}

// EmbedURL is the same page for the overlay.
func (s *Service) EmbedURL(sessionID string) string { return s.CheckoutURL(sessionID) + "?embed=1" }

// AgainURL opens a fresh session for what a session was about: the way on when it has expired, or has lost its times.
func (s *Service) AgainURL(sessionID string) string { return s.CheckoutURL(sessionID) + "/again" }

// ReceiptURL is the buyer's printable receipt.
func (s *Service) ReceiptURL(sessionID string) string {
	return s.cfg.BaseURL + "/r/" + s.cfg.Secrets.Receipt(sessionID)
}

// errNoSession is the same for an unknown session and for somebody else's.
func errNoSession() error { return fault.NotFound("checkout session") }

// owned loads a session of the account. NOT_FOUND for any other.
func owned(ctx context.Context, r ports.Repos, creatorID, sessionID string) (checkout.State, error) {
	session, err := r.Checkout.Sessions.Get(ctx, sessionID)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && session.CreatorID != creatorID) {
		return checkout.State{}, errNoSession()
	}
	return session, err
}

// firstKnown returns what is known already the first time, and from then on what load finds: for a transaction whose writes are
// refused where what is known has changed, and which then runs again.
func firstKnown[T any](known T, load func(ctx context.Context, r ports.Repos) (T, error)) func(ctx context.Context, r ports.Repos) (T, error) {
	ran := false
	return func(ctx context.Context, r ports.Repos) (T, error) {
		if ran {
			return load(ctx, r)
		}
		ran = true
		return known, nil
	}
}

// loadForUpdate loads a session with its account's time, inside the transaction that will save it.
func (s *Service) loadForUpdate(ctx context.Context, r ports.Repos, sessionID string) (*checkout.Session, time.Time, error) {
	loaded, err := r.Checkout.Sessions.Get(ctx, sessionID)
	if err != nil {
		return nil, time.Time{}, err
	}
	now, err := r.Clock.Now(ctx, loaded.CreatorID)
	return checkout.Restore(loaded), now, err
}

// live is the session's unsettled attempt; ok is false when there is none.
func live(ctx context.Context, r ports.Repos, session checkout.State) (p payment.State, ok bool, err error) {
	if session.LivePaymentID == "" {
		return payment.State{}, false, nil
	}
	p, err = r.Payments.Payments.Get(ctx, session.LivePaymentID)
	return p, err == nil, err
}

// bySecret loads the session behind a hosted page's secret, with its account's time.
func (s *Service) bySecret(ctx context.Context, secret string) (checkout.State, time.Time, error) {
	sessionID, ok := s.cfg.Secrets.OpenCheckout(secret)
	if !ok {
		return checkout.State{}, time.Time{}, errNoSession()
	}
	session, err := s.store.Read(ctx).Checkout.Sessions.Get(ctx, sessionID)
	if errors.Is(err, ports.ErrNotFound) {
		return checkout.State{}, time.Time{}, errNoSession()
	}
	if err != nil {
		return checkout.State{}, time.Time{}, fmt.Errorf("open checkout: %w", err)
	}
	now, err := s.clock.Now(ctx, session.CreatorID)
	return session, now, err
}
