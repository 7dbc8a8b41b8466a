// Package treasury keeps the ledger: where the money of every payment is, what the creator may be paid out, and what
// was paid out. It posts in the transaction of the cause, so the ledger never disagrees with it.
package treasury

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/document"
	"sundry/core/id"
	"sundry/core/ledger"
	"sundry/core/payment"
	"sundry/ports"
)

// Task kinds of this module.
const (
	// TaskRelease makes a creator's share of a sale available; its subject is the payment.
	TaskRelease = "treasury.release"
	// TaskPayout sends a payout and polls its outcome; its subject is the payout.
	TaskPayout = "treasury.payout"
)

// Config holds the settings that differ between deployments.
type Config struct {
	// FeeBasisPoints is the platform's fee, of what the buyer paid: 500 is 5 %.
	FeeBasisPoints int64
	// FeeFixed is the fixed part of the fee per sale, in minor units of any currency.
	FeeFixed int64
	// PayoutMinimum is the least amount of a payout, in minor units.
	PayoutMinimum int64
	// Links are the addresses of statements.
	Links document.Links
	// NeedsAccounts reports whether the rail pays only to accounts that creators have opened.
	NeedsAccounts bool
	// AccountPage is our page about a creator's payout account.
	AccountPage string
	// Live refuses return addresses without TLS.
	Live bool
}

// whole is 100 % in basis points.
const whole = 10_000

// Deps holds the dependencies of the module.
type Deps struct {
	Store ports.Store
	Clock ports.Clock
	IDs   ports.IDs
	Bus   ports.Bus
	Rail  ports.PayoutRail
	// Accounts reads the payout schedules of creators, and Creators their details.
	Accounts ports.PayoutSchedules
	Creators ports.AccountReader
	// Standing knows the accounts that are not paid out by themselves.
	Standing ports.AccountStanding
}

// Service holds the use cases.
type Service struct {
	cfg  Config
	deps Deps
}

// New returns the module.
func New(cfg Config, d Deps) *Service { return &Service{cfg: cfg, deps: d} }

// post writes postings of a creator.
func (s *Service) post(
	ctx context.Context, r ports.Repos, creatorID string, at time.Time, postings ...ledger.Posting,
) error {
	var booked []ledger.Posting
	for _, p := range postings {
		if !p.Empty() {
			booked = append(booked, p.Booked(s.deps.IDs.New(id.LedgerEntry), creatorID, at))
		}
	}
	return r.Treasury.Ledger.Insert(ctx, booked)
}

// OnPaymentCompleted posts a sale. A payment of zero posts nothing.
func (s *Service) OnPaymentCompleted(ctx context.Context, r ports.Repos, e payment.Completed) error {
	if e.Amount.Minor == 0 {
		return nil
	}
	receipt := ledger.Receipt{
		PaymentID: e.ID, CreatorID: e.CreatorID, Total: e.Amount, Tax: e.Amount, PlatformFee: e.Amount,
		ProcessorFee: e.Amount,
	}
	receipt.Tax.Minor, receipt.ProcessorFee.Minor = e.Sale.Tax.Minor, e.ProcessorFee.Minor
	fee, err := e.Amount.RatioHalfUp(s.cfg.FeeBasisPoints, whole)
	if err != nil {
		return fmt.Errorf("fee of %s: %w", e.ID, err)
	}
	receipt.PlatformFee.Minor = min(fee.Minor+s.cfg.FeeFixed, e.Amount.Minor-e.Sale.Tax.Minor)
	sale, postings, err := ledger.NewSale(receipt, e.SettledAt)
	if err != nil {
		return err
	}
	state := sale.State()
	if err := r.Treasury.Sales.Insert(ctx, state); err != nil {
		return err
	}
	if err := s.post(ctx, r, state.CreatorID, e.SettledAt, postings...); err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskRelease, state.PaymentID, state.CreatorID, state.AvailableAt)
}

// OnPaymentReversed posts the automatic refund of a payment whose purchase could not be delivered.
func (s *Service) OnPaymentReversed(ctx context.Context, r ports.Repos, e payment.Reversed) error {
	if e.Amount.Minor == 0 {
		return nil
	}
	return s.change(ctx, r, e.ID, func(sale *ledger.Sale) (ledger.Posting, error) { return sale.Reverse(e.Share) })
}

// change moves a sale and posts what that was.
func (s *Service) change(
	ctx context.Context, r ports.Repos, paymentID string, move func(*ledger.Sale) (ledger.Posting, error),
) error {
	loaded, err := r.Treasury.Sales.Get(ctx, paymentID)
	if err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, loaded.CreatorID)
	if err != nil {
		return err
	}
	sale := ledger.RestoreSale(loaded)
	posting, err := move(sale)
	if err != nil {
		return err
	}
	after := sale.State()
	if after.Revision == loaded.Revision {
		return nil
	}
	after.Revision = loaded.Revision + 1 // one change of the row, however many steps it took
	if err := r.Treasury.Sales.Update(ctx, after); err != nil {
		return err
	}
	return s.post(ctx, r, after.CreatorID, now, posting)
}

// Release makes a creator's share available. Task TaskRelease.
func (s *Service) Release(ctx context.Context, t ports.Task) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sale, err := r.Treasury.Sales.Get(ctx, t.Subject)
		if errors.Is(err, ports.ErrNotFound) {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, sale.CreatorID)
		if err != nil {
			return err
		}
		if now.Before(sale.AvailableAt) {
			return r.Tasks.Postpone(ctx, t, sale.AvailableAt)
		}
		err = s.change(ctx, r, t.Subject, func(sale *ledger.Sale) (ledger.Posting, error) { return sale.Release(now) })
		if err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}

// Balance returns the account's balance in each currency that it ever had money in.
func (s *Service) Balance(ctx context.Context, creatorID string) ([]ledger.Balance, error) {
	return s.deps.Store.Read(ctx).Treasury.Ledger.Balances(ctx, creatorID)
}

// Entries lists the account's ledger entries, newest first; sourceID "" = of every source.
func (s *Service) Entries(
	ctx context.Context, creatorID, sourceID string, page ports.Page,
) (ports.List[ledger.Entry], error) {
	return s.deps.Store.Read(ctx).Treasury.Ledger.List(ctx, creatorID, sourceID, page)
}
