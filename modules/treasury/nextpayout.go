package treasury

import (
	"context"
	"time"

	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
)

// NextPayout forecasts the next payout of a schedule from the sales so far.
type NextPayout struct {
	At time.Time // zero: it pays out on request only
	// Amounts maps a currency to the amount that will be available then. An amount below Minimum waits for the next
	// payout.
	Amounts map[money.Currency]int64
	Minimum int64
}

// NextPayout works out when a schedule pays out next and how much: what is available, and what of the pending balance
// becomes so until then. Sales, refunds and disputes until then are not known.
func (s *Service) NextPayout(
	ctx context.Context, creatorID string, schedule payout.Schedule, balances []ledger.Balance,
) (NextPayout, error) {
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return NextPayout{}, err
	}
	next := NextPayout{Amounts: map[money.Currency]int64{}, Minimum: s.cfg.PayoutMinimum}
	at, ok := schedule.Next(now)
	if !ok {
		return next, nil
	}
	next.At = at
	for _, b := range balances {
		next.Amounts[b.Currency] = b.Available
	}
	// A sale of before the hold period is available, or falls due now.
	released, err := s.deps.Store.Read(ctx).Treasury.Sales.SumReleases(
		ctx, creatorID, now.Add(-ledger.HoldPeriod-24*time.Hour), at,
	)
	for _, amount := range released {
		next.Amounts[amount.Currency] += amount.Minor
	}
	for currency, minor := range next.Amounts {
		next.Amounts[currency] = payout.Payable(money.Amount{Minor: minor, Currency: currency}).Minor
	}
	return next, err
}
