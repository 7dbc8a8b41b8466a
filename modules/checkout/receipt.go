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
	"sundry/core/money"
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
	return s.receipt(ctx, s.deps.Store.Read(ctx), session)
}

// receipt returns the whole receipt of a session just read. It reads the access version after the session: it only
// rises, so a paid receipt never promises too much.
func (s *Service) receipt(ctx context.Context, r ports.Repos, session checkout.State) (Receipt, error) {
	receipt := Receipt{Session: session}
	switch session.Status {
	case checkout.StatusPaid:
		receipt.ReceiptURL = s.ReceiptURL(session.ID)
	case checkout.StatusProcessing:
		receipt.PollAfter = pollAfter
	case checkout.StatusFailed, checkout.StatusExpired:
	}
	key := customer.AccessKey(session.ExternalCustomerID, session.CustomerID) // "" while nobody has bought it
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

// booked lists the appointments of a session that is paid.
func (s *Service) booked(ctx context.Context, r ports.Repos, session checkout.State) ([]appointment.State, error) {
	if session.Status != checkout.StatusPaid || !session.Offer.ForAppointments() {
		return nil, nil
	}
	return s.deps.Bookings.Booked(ctx, r, session.CreatorID, session.ID)
}
