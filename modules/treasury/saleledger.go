package treasury

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/refund"
	"sundry/ports"
)

var _ ports.SaleLedger = (*Service)(nil)

// ReserveRefund implements ports.SaleLedger.
func (s *Service) ReserveRefund(
	ctx context.Context, r ports.Repos, paymentID string, minor *int64,
) (ledger.Share, error) {
	return s.reserveRefund(ctx, r, paymentID, minor, (*ledger.Sale).ReserveRefund)
}

// RecordRefund implements ports.SaleLedger.
func (s *Service) RecordRefund(
	ctx context.Context, r ports.Repos, paymentID string, minor *int64,
) (ledger.Share, error) {
	return s.reserveRefund(ctx, r, paymentID, minor, (*ledger.Sale).RecordRefund)
}

func (s *Service) reserveRefund(
	ctx context.Context, r ports.Repos, paymentID string, minor *int64,
	reserve func(*ledger.Sale, money.Amount) (ledger.Share, error),
) (share ledger.Share, err error) {
	err = s.change(ctx, r, paymentID, func(sale *ledger.Sale) (ledger.Posting, error) {
		amount := sale.State().Refundable()
		if minor != nil {
			amount.Minor = *minor
		}
		share, err = reserve(sale, amount)
		return ledger.Posting{}, err
	})
	if errors.Is(err, ports.ErrNotFound) {
		return ledger.Share{}, fault.New(fault.NotRefundable, "Nothing was charged for this payment.")
	}
	return share, err
}

// SaleOf implements ports.SaleLedger.
func (s *Service) SaleOf(ctx context.Context, r ports.Repos, paymentID string) (ledger.SaleState, error) {
	return r.Treasury.Sales.Get(ctx, paymentID)
}

// AbandonRefund implements ports.SaleLedger.
func (s *Service) AbandonRefund(ctx context.Context, r ports.Repos, f refund.State) error {
	return s.change(ctx, r, f.PaymentID, func(sale *ledger.Sale) (ledger.Posting, error) {
		sale.AbandonRefund(f.Share)
		return ledger.Posting{}, nil
	})
}

// CompleteRefund implements ports.SaleLedger.
func (s *Service) CompleteRefund(ctx context.Context, r ports.Repos, f refund.State) (full bool, err error) {
	err = s.change(ctx, r, f.PaymentID, func(sale *ledger.Sale) (ledger.Posting, error) {
		posting := sale.CompleteRefund(f.ID, f.Share)
		full = sale.State().ReturnedInFull()
		return posting, nil
	})
	return full, err
}

// ReverseRefund implements ports.SaleLedger.
func (s *Service) ReverseRefund(ctx context.Context, r ports.Repos, f refund.State) (full bool, err error) {
	err = s.change(ctx, r, f.PaymentID, func(sale *ledger.Sale) (ledger.Posting, error) {
		full = sale.State().ReturnedInFull()
		if f.Automatic {
			return sale.ReturnReversal(f.Share), nil
		}
		return sale.ReverseRefund(f.ID, f.Share), nil
	})
	return full, err
}

// OpenDispute implements ports.SaleLedger.
func (s *Service) OpenDispute(
	ctx context.Context, r ports.Repos, paymentID, disputeID string, claimed money.Amount,
) (share ledger.Share, err error) {
	err = s.change(ctx, r, paymentID, func(sale *ledger.Sale) (posting ledger.Posting, err error) {
		share, posting, err = sale.OpenDispute(disputeID, claimed)
		return posting, err
	})
	return share, err
}

// CloseDispute implements ports.SaleLedger.
func (s *Service) CloseDispute(
	ctx context.Context, r ports.Repos, d dispute.State, claimed money.Amount,
) (lost ledger.Share, err error) {
	err = s.change(ctx, r, d.PaymentID, func(sale *ledger.Sale) (posting ledger.Posting, err error) {
		if open := sale.State().DisputeID; open != d.ID {
			return ledger.Posting{}, fmt.Errorf("close dispute %s: %q is open", d.ID, open)
		}
		if d.Status == dispute.Won {
			return sale.WinDispute()
		}
		lost, posting, err = sale.LoseDispute(claimed)
		return posting, err
	})
	return lost, err
}
