package checkout

import (
	"context"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/ports"
)

var _ ports.CheckoutPayments = (*Service)(nil)

// BeginAgain implements ports.CheckoutPayments. What the buyer submitted with the payment is lost, so only a session
// that had their address and country before is charged the same.
func (s *Service) BeginAgain(
	ctx context.Context, r ports.Repos, provider string, c ports.ChargeReport,
) (payment.State, error) {
	before, err := owned(ctx, r, c.CreatorID, c.SubjectID)
	if err != nil {
		return payment.State{}, err
	}
	aggregate := checkout.Restore(before)
	if err := aggregate.StartPayment(c.PaymentID, "", customer.Details{}, c.At); err != nil {
		return payment.State{}, err
	}
	if err := s.stillHeld(ctx, r, before, c.At); err != nil {
		return payment.State{}, err
	}
	if err := s.requireOnePurchase(ctx, r, before, false); err != nil {
		return payment.State{}, err
	}
	if err := s.applyFinalTax(ctx, aggregate, c.At); err != nil {
		return payment.State{}, err
	}
	session := aggregate.State()
	switch {
	case session.Email == "" || session.Buyer.Country == "":
		return payment.State{}, fault.New(fault.StateConflict, "What the buyer entered with the payment is lost.")
	case session.Total != c.Amount:
		return payment.State{}, fault.New(fault.StateConflict, "The checkout session has another price.")
	}
	now, err := r.Clock.Now(ctx, session.CreatorID)
	if err != nil {
		return payment.State{}, err
	}
	return s.beginAttempt(ctx, r, session, payment.Intent{ID: c.PaymentID, Provider: provider}, now)
}

// PaymentOf implements ports.CheckoutPayments.
func (s *Service) PaymentOf(ctx context.Context, r ports.Repos, creatorID, checkoutID string) (string, error) {
	session, err := owned(ctx, r, creatorID, checkoutID)
	return session.PaymentID, err
}
