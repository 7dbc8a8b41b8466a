package treasury

import (
	"context"
	"errors"
	"time"

	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/ports"
)

// maxOverview bounds the days of an overview.
const maxOverview = 92

// SalesByDay adds up what the account sold on each of the last days, today included, on its own clock, oldest first.
// Days without a sale are left out. today is the first instant of the day that is today, UTC.
func (s *Service) SalesByDay(
	ctx context.Context, creatorID string, days int,
) (sold []ports.DaySales, today time.Time, err error) {
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return nil, today, err
	}
	today = now.UTC().Truncate(24 * time.Hour)
	from := today.AddDate(0, 0, 1-min(days, maxOverview))
	sold, err = s.deps.Store.Read(ctx).Treasury.Sales.SumByDay(ctx, creatorID, ports.Created{From: from})
	return sold, today, err
}

// RefundPreview shows the effect of a refund before it is made.
type RefundPreview struct {
	// Left is the part of the payment that can still be refunded.
	Left ledger.Share
	// Share is the amount that was asked about, with the tax in it.
	Share ledger.Share
}

// PreviewRefund works out what a refund of an amount (nil = all that is left) would return, and changes nothing.
// NOT_REFUNDABLE, NOT_FOUND for another account's payment.
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
