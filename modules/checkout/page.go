package checkout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/payment"
	"sundry/ports"
)

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
	session, err := s.bySecret(ctx, secret)
	if err != nil {
		return Page{}, err
	}
	return s.PageOf(ctx, session)
}

// PageOf returns the page of a session just read or changed.
func (s *Service) PageOf(ctx context.Context, session checkout.State) (Page, error) {
	return s.page(ctx, s.deps.Store.Read(ctx), session)
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

func (s *Service) page(ctx context.Context, r ports.Repos, session checkout.State) (Page, error) {
	now, err := r.Clock.Now(ctx, session.CreatorID)
	if err != nil {
		return Page{}, fmt.Errorf("page: %w", err)
	}
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
