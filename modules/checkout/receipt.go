package checkout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/ports"
)

// Receipt is the integrator's confirmation.
type Receipt struct {
	Session checkout.State
	// AccessVersion is at least the version of the access that this payment gave; 0 while there is no customer.
	AccessVersion int64
	ReceiptURL    string
	// Appointments are the booked appointments, in the buyer's order; none for other listings.
	Appointments []appointment.State
	// Refunded is the refunded part of the payment.
	Refunded money.Amount
	// PollAfter is the delay before the next poll; 0 when the status is final.
	PollAfter time.Duration
}

const pollAfter = time.Second

// errBadToken is the same whatever is wrong with the token or the session.
func errBadToken() error {
	return fault.New(fault.Unauthenticated, "The return token is not valid for this checkout session.")
}

// ReceiptStatus returns the session's status, and nothing else, to a browser that holds the return token.
func (s *Service) ReceiptStatus(ctx context.Context, sessionID, returnToken string) (checkout.Status, error) {
	if !s.cfg.Secrets.CheckReturnToken(sessionID, returnToken, s.deps.Clock.Real()) {
		return "", errBadToken()
	}
	session, err := s.deps.Store.Read(ctx).Checkout.Sessions.Get(ctx, sessionID)
	if errors.Is(err, ports.ErrNotFound) {
		return "", errBadToken()
	}
	return session.Status, err
}

// Receipt returns the whole receipt to the account. returnToken, when given, must be the session's. NOT_FOUND, and
// UNAUTHENTICATED for a bad token.
func (s *Service) Receipt(ctx context.Context, creatorID, sessionID, returnToken string) (Receipt, error) {
	if returnToken != "" && !s.cfg.Secrets.CheckReturnToken(sessionID, returnToken, s.deps.Clock.Real()) {
		return Receipt{}, errBadToken()
	}
	session, err := s.Get(ctx, creatorID, sessionID)
	if err != nil {
		return Receipt{}, err
	}
	return s.receipt(ctx, session)
}

// receipt reads the access version after the session: it only rises, so a paid receipt never promises too much.
func (s *Service) receipt(ctx context.Context, session checkout.State) (Receipt, error) {
	receipt := Receipt{Session: session}
	switch session.Status {
	case checkout.StatusPaid:
		receipt.ReceiptURL = s.ReceiptURL(session.ID)
	case checkout.StatusProcessing:
		receipt.PollAfter = pollAfter
	case checkout.StatusFailed, checkout.StatusExpired:
	}
	r := s.deps.Store.Read(ctx)
	if session.ExternalCustomerID == "" && session.CustomerID != "" { // the integrator may have named the buyer since
		buyer, err := r.Customers.Customers.Get(ctx, session.CustomerID)
		if err != nil {
			return Receipt{}, fmt.Errorf("receipt: %w", err)
		}
		receipt.Session.ExternalCustomerID = buyer.ExternalCustomerID
	}
	key := customer.AccessKey(receipt.Session.ExternalCustomerID, session.CustomerID) // "" while nobody has bought it
	var err error
	if receipt.Appointments, err = s.booked(ctx, r, session); err != nil {
		return Receipt{}, fmt.Errorf("receipt: %w", err)
	}
	if session.PaymentID != "" {
		paid, err := r.Payments.Payments.Get(ctx, session.PaymentID)
		if err != nil {
			return Receipt{}, fmt.Errorf("receipt: %w", err)
		}
		receipt.Refunded = paid.Refunded
	}
	if receipt.AccessVersion, err = s.deps.Access.AccessVersion(ctx, r, session.CreatorID, key); err != nil {
		return Receipt{}, fmt.Errorf("receipt: %w", err)
	}
	return receipt, nil
}

// ReceiptOf returns the whole receipt of a session just read.
func (s *Service) ReceiptOf(ctx context.Context, session checkout.State) (Receipt, error) {
	return s.receipt(ctx, session)
}

// Page holds what the hosted page shows.
type Page struct {
	Session checkout.State
	Now     time.Time // the account's time, from which a trial would start
	State   checkout.PageState
	// RedirectURL is the success address; empty when the session has none.
	RedirectURL string
	ReceiptURL  string // once paid
	// Seller is the seller, as buyers see them, and Terms are the texts that the sale refers to.
	Seller identity.Storefront
	Terms  checkout.Terms
	// CardBrand and CardLast4 name the card that paid; empty when none was needed.
	CardBrand, CardLast4 string
	// Refunded is the refunded part of the payment, in minor units.
	Refunded int64
	// AgainURL opens a fresh session; empty while this one still leads somewhere.
	AgainURL string
	// Appointments are the booked appointments, once paid.
	Appointments []appointment.State
}

// Page reads the session behind a hosted page's secret. NOT_FOUND for any other secret.
func (s *Service) Page(ctx context.Context, secret string) (Page, error) {
	session, now, err := s.bySecret(ctx, secret)
	if err != nil {
		return Page{}, err
	}
	return s.page(ctx, session, now)
}

// PageOf returns the page of a session just changed.
func (s *Service) PageOf(ctx context.Context, session checkout.State) (Page, error) {
	now, err := s.deps.Clock.Now(ctx, session.CreatorID)
	if err != nil {
		return Page{}, err
	}
	return s.page(ctx, session, now)
}

// PaidPage returns the printable receipt behind a receipt secret. NOT_FOUND for any other.
func (s *Service) PaidPage(ctx context.Context, secret string) (Page, error) {
	sessionID, ok := s.cfg.Secrets.OpenReceipt(secret)
	if !ok {
		return Page{}, fault.NotFound("receipt")
	}
	session, err := s.deps.Store.Read(ctx).Checkout.Sessions.Get(ctx, sessionID)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && session.Status != checkout.StatusPaid) {
		return Page{}, fault.NotFound("receipt")
	}
	if err != nil {
		return Page{}, fmt.Errorf("receipt page: %w", err)
	}
	return s.PageOf(ctx, session)
}

func (s *Service) page(ctx context.Context, session checkout.State, now time.Time) (Page, error) {
	r := s.deps.Store.Read(ctx)
	seller, err := s.deps.Accounts.Storefront(ctx, r, session.CreatorID)
	if err != nil {
		return Page{}, fmt.Errorf("page: %w", err)
	}
	page := Page{Session: session, Now: now, Seller: seller, Terms: s.terms(seller)}
	shown := session.LivePaymentID
	if session.Status == checkout.StatusPaid {
		shown = session.PaymentID
		page.ReceiptURL = s.ReceiptURL(session.ID)
		if session.SuccessURL != "" {
			page.RedirectURL = checkout.BuildRedirect(
				session.SuccessURL, session.ID, s.cfg.Secrets.ReturnToken(session.ID, s.deps.Clock.Real()),
			)
		}
	}
	var attempt payment.State
	if shown != "" {
		if attempt, err = r.Payments.Payments.Get(ctx, shown); err != nil {
			return Page{}, fmt.Errorf("page: %w", err)
		}
	}
	page.CardBrand, page.CardLast4, page.Refunded = attempt.Brand, attempt.Last4, attempt.Refunded.Minor
	held, err := s.held(ctx, r, session, now)
	if err != nil {
		return Page{}, fmt.Errorf("page: %w", err)
	}
	page.State = session.Page(attempt.Status, len(held), now)
	if page.State.Terminal() {
		page.AgainURL = s.AgainURL(session.ID)
	}
	if page.Appointments, err = s.booked(ctx, r, session); err != nil {
		return Page{}, fmt.Errorf("page: %w", err)
	}
	return page, nil
}

// booked lists the appointments of a session that is paid.
func (s *Service) booked(ctx context.Context, r ports.Repos, session checkout.State) ([]appointment.State, error) {
	if session.Status != checkout.StatusPaid || !session.Offer.ForAppointments() {
		return nil, nil
	}
	return s.deps.Bookings.Booked(ctx, r, session.CreatorID, session.ID)
}
