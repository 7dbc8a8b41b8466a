package treasury

import (
	"context"
	"errors"

	"sundry/core/money"
	"sundry/core/payout"
	"sundry/ports"
)

var _ ports.LostPayouts = (*Service)(nil)

// IsLost implements ports.LostPayouts.
func (s *Service) IsLost(ctx context.Context, r ports.Repos, payoutID string) (bool, error) {
	_, err := r.Treasury.Payouts.Get(ctx, payoutID)
	if errors.Is(err, ports.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// RecordLost implements ports.LostPayouts. The account and the minimum of today do not matter: the money has been sent.
func (s *Service) RecordLost(ctx context.Context, r ports.Repos, sent ports.PayoutReport) error {
	if err := r.Treasury.Ledger.Lock(ctx, sent.CreatorID); err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, sent.CreatorID)
	if err != nil {
		return err
	}
	available, err := s.available(ctx, r, sent.CreatorID, sent.Amount.Currency)
	if err != nil {
		return err
	}
	destination := payout.AccountReport{ID: sent.Destination, Status: payout.AccountReady}
	p, posting, err := payout.Ask(sent.PayoutID, sent.CreatorID, payout.Request{Minor: &sent.Amount.Minor}, payout.Funds{
		Available: available, Account: payout.AccountState{AccountReport: destination},
	}, now)
	if err != nil {
		return err
	}
	if err := s.savePayoutRequest(ctx, r, p.State(), posting, now, now); err != nil {
		return err
	}
	_, err = s.settlePayout(ctx, r, sent.PayoutID, ports.PayoutOutcome{Status: payout.Paid})
	return err
}

// available returns the available balance in a currency.
func (s *Service) available(
	ctx context.Context, r ports.Repos, creatorID string, currency money.Currency,
) (money.Amount, error) {
	amount := money.Amount{Currency: currency}
	balances, err := r.Treasury.Ledger.Balances(ctx, creatorID)
	for _, balance := range balances {
		if balance.Currency == currency {
			amount.Minor = balance.Available
		}
	}
	return amount, err
}
