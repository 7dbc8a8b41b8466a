package treasury

import (
	"context"
	"errors"

	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/refund"
	"sundry/ports"
)

// RefundPreview shows the effect of a refund before it is made.
type RefundPreview struct {
	// Left is the part of the payment that can still be refunded.
	Left ledger.Share
	// Share is the amount that was asked about, with the tax in it.
	Share ledger.Share
}

// PreviewRefund works out what a refund of an amount (nil = all that is left) would return, and changes nothing.
// VALIDATION_FAILED, NOT_REFUNDABLE, NOT_FOUND for another account's payment.
func (s *Service) PreviewRefund(ctx context.Context, creatorID, paymentID string, minor *int64) (RefundPreview, error) {
	state, err := s.deps.Store.Read(ctx).Treasury.Sales.Get(ctx, paymentID)
	if errors.Is(err, ports.ErrNotFound) {
		return RefundPreview{}, fault.New(fault.NotRefundable, "Nothing was charged for this payment.")
	}
	if err == nil && state.CreatorID != creatorID {
		err = fault.NotFound("payment")
	}
	if err != nil {
		return RefundPreview{}, err
	}
	if err := refund.CheckAmount(state.Total, minor); err != nil {
		return RefundPreview{}, err
	}
	var p RefundPreview
	if p.Left.Amount = state.Refundable(); p.Left.Amount.Minor > 0 {
		if p.Left, err = ledger.RestoreSale(state).ReserveRefund(p.Left.Amount); err != nil {
			return RefundPreview{}, err
		}
	}
	asked := state.Refundable()
	if minor != nil {
		asked.Minor = *minor
	}
	if p.Share, err = ledger.RestoreSale(state).ReserveRefund(asked); err != nil {
		return RefundPreview{}, err
	}
	return p, nil
}
