package treasury

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/ports"
)

// TaskScheduledPayouts pays out the available balance on the account's schedule; its subject is the account.
const TaskScheduledPayouts = "treasury.scheduled_payouts"

// OnPayoutScheduleChanged plans the next payouts of an account, or none.
func (s *Service) OnPayoutScheduleChanged(ctx context.Context, r ports.Repos, e identity.PayoutScheduleChanged) error {
	now, err := r.Clock.Now(ctx, e.CreatorID)
	if err != nil {
		return err
	}
	next, ok := e.Schedule.Next(now)
	if !ok {
		return r.Tasks.Cancel(ctx, TaskScheduledPayouts, e.CreatorID)
	}
	return r.Tasks.Schedule(ctx, TaskScheduledPayouts, e.CreatorID, e.CreatorID, next)
}

// ScheduledPayouts requests one payout of each currency in which enough is available. Money that is pending, held for
// disputes or below the minimum waits for the next time, and everything does while the creator has no account that
// receives it, and while the account is suspended. The payouts and the task's next time are one transaction, and each
// payout has the day in its key, so a day pays out once. Task TaskScheduledPayouts.
func (s *Service) ScheduledPayouts(ctx context.Context, t ports.Task) error {
	s.refreshAccount(ctx, t.Subject) // an event about it may have been lost
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		schedule, err := s.deps.Accounts.PayoutSchedule(ctx, r, t.Subject)
		if err != nil {
			return fmt.Errorf("scheduled payouts of %s: %w", t.Subject, err)
		}
		now, err := r.Clock.Now(ctx, t.Subject)
		if err != nil {
			return err
		}
		next, ok := schedule.Next(now)
		if !ok {
			return r.Tasks.Done(ctx, t)
		}
		if err := s.deps.Standing.CheckOpen(ctx, t.Subject); fault.Is(err, fault.Forbidden) {
			return r.Tasks.Postpone(ctx, t, next)
		} else if err != nil {
			return err
		}
		if err := s.payOutAvailable(ctx, r, t.Subject, now); err != nil {
			return fmt.Errorf("scheduled payouts of %s: %w", t.Subject, err)
		}
		return r.Tasks.Postpone(ctx, t, next)
	})
}

func (s *Service) payOutAvailable(ctx context.Context, r ports.Repos, creatorID string, now time.Time) error {
	if err := r.Treasury.Ledger.Lock(ctx, creatorID); err != nil {
		return err
	}
	account, err := s.payoutAccount(ctx, r, creatorID)
	if err != nil || !account.CanReceive() {
		return err
	}
	balances, err := r.Treasury.Ledger.Balances(ctx, creatorID)
	if err != nil {
		return err
	}
	for _, balance := range balances {
		if err := s.payOutBalance(ctx, r, account, balance, now); err != nil {
			return err
		}
	}
	return nil
}

// payOutBalance requests a payout of the available balance in one currency. It does nothing if that is too little, or
// if one was requested today.
func (s *Service) payOutBalance(
	ctx context.Context, r ports.Repos, account payout.AccountState, b ledger.Balance, now time.Time,
) error {
	creatorID := account.CreatorID
	req := payout.Request{Currency: string(b.Currency), Key: payout.KeyOn(now, string(b.Currency))}
	_, err := r.Treasury.Payouts.GetByRequest(ctx, creatorID, req.Key, now.Add(-ports.IdempotencyLifetime))
	if !errors.Is(err, ports.ErrNotFound) {
		return err
	}
	p, posting, err := payout.Ask(s.newPayoutID(), creatorID, req, payout.Funds{
		Available: money.Amount{Minor: b.Available, Currency: b.Currency}, Minimum: s.cfg.PayoutMinimum,
		Account: account,
	}, now)
	if fault.Is(err, fault.InsufficientBalance) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.savePayoutRequest(ctx, r, p.State(), posting, now, now)
}
