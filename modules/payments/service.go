// Package payments takes money, keeps the cards that customers save, and gives money back.
//
// Attempts owns an attempt's life, whatever it is for; SavedCardOutcomes follows charges of saved cards, Service
// keeps the cards, Refunds and Disputes return money, and Inbox receives the processor's events.
package payments

import (
	"sundry/core/cardsetup"
	"sundry/ports"
)

// TaskRefund makes all of a payment go back; its subject is the payment.
const TaskRefund = ports.TaskRefundPayment

// Config holds the settings that differ between deployments.
type Config struct {
	BaseURL string
	Live    bool
	// Merchant is the seller of record, who charges the cards.
	Merchant string
	// Secrets open the hosted pages on which customers save cards.
	Secrets cardsetup.Secrets
}

// Deps holds the dependencies of saved cards.
type Deps struct {
	Store ports.Store
	IDs   ports.IDs
	Bus   ports.Bus
	// Provider checks and keeps new cards.
	Provider  ports.Provider
	Accounts  ports.AccountReader
	Customers ports.CustomerReader
	Limiter   ports.RateLimiter
}

// Service keeps the cards that customers save, and shows payments.
type Service struct {
	cfg  Config
	deps Deps
}

// New returns the use cases of saved cards.
func New(cfg Config, d Deps) *Service { return &Service{cfg: cfg, deps: d} }
