// Package payments takes money from saved cards while their customers are away, and keeps those cards.
//
// An attempt is committed first, then the processor is called, then what it responded is committed, and a task finishes
// what was interrupted in between. Asking again with the same attempt repeats the processor's first response, so a
// doubled task charges nobody twice.
package payments

import (
	"context"
	"fmt"
	"time"

	"sundry/core/cardsetup"
	"sundry/core/payment"
	"sundry/ports"
)

// Task kinds of this module. The subject of each is the payment.
const (
	// TaskCharge makes an attempt, and asks again while its outcome is unknown.
	TaskCharge = "payment.charge"
	// TaskRefund makes all of a payment go back.
	TaskRefund = ports.TaskRefundPayment
)

// Config is what differs between deployments.
type Config struct {
	BaseURL string
	Sandbox bool
	// Secrets open the hosted pages on which customers save cards.
	Secrets cardsetup.Secrets
}

// Deps are what the module works with.
type Deps struct {
	Store     ports.Store
	IDs       ports.IDs
	Bus       ports.Bus
	Processor ports.Processor
	Cards     ports.CardForm
	Accounts  ports.AccountReader
}

// Service holds the use cases.
type Service struct {
	cfg       Config
	store     ports.Store
	ids       ports.IDs
	bus       ports.Bus
	processor ports.Processor
	cards     ports.CardForm
	accounts  ports.AccountReader
}

var _ ports.Charges = (*Service)(nil)

// New returns the module.
func New(cfg Config, d Deps) *Service {
	return &Service{
		cfg: cfg, store: d.Store, ids: d.IDs, bus: d.Bus, processor: d.Processor, cards: d.Cards, accounts: d.Accounts,
	}
}

// ReconcileSoon makes every unsettled attempt outside a checkout of the account due right after the given account time. The
// sandbox calls it before it moves the account's clock.
func (s *Service) ReconcileSoon(ctx context.Context, r ports.Repos, creatorID string, now time.Time) error {
	attempts, err := r.Payments.Payments.ListLive(ctx, creatorID, maxLive)
	if err != nil {
		return fmt.Errorf("reconcile soon: %w", err)
	}
	for _, attempt := range attempts {
		if attempt.Purpose == payment.ForCheckout {
			continue
		}
		if err := r.Tasks.Schedule(ctx, TaskCharge, attempt.ID, creatorID, now.Add(time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// maxLive bounds how many attempts one advance of the clock reconciles.
const maxLive = 1000
