// Package checkout takes a buyer from an open session to a payment: creation, the hosted page, paying, recovery from
// lost responses, expiry, and the receipt.
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

// TaskExpire ends an unpaid session; its subject is the session.
const TaskExpire = "checkout.expire"

// Config holds the settings that differ between deployments.
type Config struct {
	BaseURL string
	Live    bool
	Secrets checkout.Secrets
	// SellerCountry is the country of the seller of record, ISO 3166-1 alpha-2.
	SellerCountry string
	// Merchant is the seller of record, and TermsURL the address of its terms; "" for none.
	Merchant, TermsURL string
}

// Service holds the use cases.
type Service struct {
	cfg  Config
	deps Deps
}

// Deps holds the dependencies of the module.
type Deps struct {
	Store     ports.Store
	Clock     ports.Clock
	IDs       ports.IDs
	Bus       ports.Bus
	Sales     *Sales
	Charges   ports.Charges
	Runner    ports.ChargeRunner
	Cards     ports.CardForm
	Offers    ports.Offers
	Bookings  ports.Bookings
	Queue     ports.SlotQueue
	Access    ports.AccessVersions
	Accounts  ports.AccountReader
	Discounts ports.DiscountCodes
	Taxes     ports.TaxCalculator
	// VAT is asked about VAT ids; nil where their shape alone is checked.
	VAT     ports.VATRegister
	Limiter ports.RateLimiter
	Past    ports.PastSubscriptions
	Portal  ports.PortalLinks
	// Standing decides whether the account may sell, and Rates counts the sessions that its keys open.
	Standing ports.AccountStanding
	Rates    ports.AccountRates
	// Fingerprints recognizes the cards of trials; nil where they are not remembered.
	Fingerprints ports.CardFingerprints
}

// New returns the module.
func New(cfg Config, d Deps) *Service { return &Service{cfg: cfg, deps: d} }

// CheckoutURL returns the hosted page of a session.
func (s *Service) CheckoutURL(sessionID string) string {
	return s.cfg.BaseURL + "/c/" + s.cfg.Secrets.Checkout(sessionID)
}

// EmbedURL returns the address of the same page for the overlay.
func (s *Service) EmbedURL(sessionID string) string { return s.CheckoutURL(sessionID) + "?embed=1" }

// AgainURL opens a fresh session for what a session was about: the way on when it has expired, or has lost its times.
func (s *Service) AgainURL(sessionID string) string { return s.CheckoutURL(sessionID) + "/again" }

// ReceiptURL returns the address of the buyer's printable receipt.
func (s *Service) ReceiptURL(sessionID string) string {
	return s.cfg.BaseURL + "/r/" + s.cfg.Secrets.Receipt(sessionID)
}

// errNoSession is the same for every address that opens no session.
func errNoSession() error { return fault.NotFound("checkout session") }

// owned loads a session of the account. NOT_FOUND for any other.
func owned(ctx context.Context, r ports.Repos, creatorID, sessionID string) (checkout.State, error) {
	session, err := r.Checkout.Sessions.Get(ctx, sessionID)
	return ports.Visible(session, err, session.CreatorID == creatorID, "checkout session")
}

// loadForUpdate loads a session with its account's time, inside the transaction that will save it.
func (s *Service) loadForUpdate(
	ctx context.Context, r ports.Repos, sessionID string,
) (*checkout.Session, time.Time, error) {
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

// bySecret loads the session behind a hosted page's secret.
func (s *Service) bySecret(ctx context.Context, secret string) (checkout.State, error) {
	sessionID, ok := s.cfg.Secrets.OpenCheckout(secret)
	if !ok {
		return checkout.State{}, errNoSession()
	}
	session, err := s.deps.Store.Read(ctx).Checkout.Sessions.Get(ctx, sessionID)
	if errors.Is(err, ports.ErrNotFound) {
		return checkout.State{}, errNoSession()
	}
	if err != nil {
		return checkout.State{}, fmt.Errorf("open checkout: %w", err)
	}
	return session, nil
}
