package payments

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/appointment"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

var _ ports.AppointmentRefunds = (*Refunds)(nil)

// RefundableShare implements ports.AppointmentRefunds.
func (s *Refunds) RefundableShare(
	ctx context.Context, r ports.Repos, share ports.AppointmentShare,
) (appointment.RefundDecision, money.Amount, error) {
	_, decision, amount, err := s.share(ctx, r, share)
	return decision, amount, err
}

// share finds the payment that a share is of and how much of it can go back.
func (s *Refunds) share(
	ctx context.Context, r ports.Repos, share ports.AppointmentShare,
) (paymentID string, d appointment.RefundDecision, m money.Amount, err error) {
	paymentID, err = s.deps.Checkouts.PaymentOf(ctx, r, share.CreatorID, share.CheckoutID)
	if err != nil || paymentID == "" {
		return "", appointment.NothingPaid, money.Amount{}, err
	}
	sale, err := s.deps.Ledger.SaleOf(ctx, r, paymentID)
	if errors.Is(err, ports.ErrNotFound) {
		return paymentID, appointment.NothingPaid, money.Amount{}, nil
	}
	if err != nil {
		return "", "", money.Amount{}, err
	}
	amount, err := appointment.ShareOf(sale.Total, share.Position, share.Count)
	if err != nil {
		return "", "", money.Amount{}, fmt.Errorf("share of %s: %w", paymentID, err)
	}
	left := sale.Refundable()
	switch {
	case sale.DisputeID != "":
		return paymentID, appointment.PaymentDisputed, money.Amount{}, nil
	case amount.Minor == 0:
		return paymentID, appointment.NothingPaid, money.Amount{}, nil
	case left.Minor == 0:
		return paymentID, appointment.NothingLeft, money.Amount{}, nil
	}
	amount.Minor = min(amount.Minor, left.Minor)
	return paymentID, appointment.RefundDue, amount, nil
}

// RefundShare implements ports.AppointmentRefunds.
func (s *Refunds) RefundShare(
	ctx context.Context, r ports.Repos, share ports.AppointmentShare,
) (appointment.Refund, error) {
	paymentID, decision, amount, err := s.share(ctx, r, share)
	if err != nil || decision != appointment.RefundDue {
		return appointment.Refund{Decision: decision}, err
	}
	paid, err := r.Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return appointment.Refund{}, err
	}
	if paid.Status != payment.Succeeded {
		return appointment.Refund{}, fmt.Errorf("refund of %s: it is %s and has a sale", paid.ID, paid.Status)
	}
	now, err := r.Clock.Now(ctx, paid.CreatorID)
	if err != nil {
		return appointment.Refund{}, err
	}
	asked, err := s.intend(ctx, r, paid, refund.Request{Minor: &amount.Minor, Reason: refund.AppointmentCanceled}, now)
	if err != nil {
		return appointment.Refund{}, err
	}
	return appointment.Refund{Decision: appointment.RefundDue, RefundID: asked.ID, Amount: amount},
		r.Tasks.Schedule(ctx, TaskRefundRequest, asked.ID, asked.CreatorID, now)
}

// AppointmentRefund implements ports.AppointmentRefunds.
func (s *Refunds) AppointmentRefund(
	ctx context.Context, r ports.Repos, creatorID, refundID string,
) (refund.State, error) {
	return s.owned(ctx, r, creatorID, refundID)
}
