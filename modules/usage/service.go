// Package usage measures what customers consume and closes their billing periods. Reports become durable at once, are
// counted once a minute, and are rated when a period ends. The rated lines are published; invoicing makes the
// invoice.
package usage

import (
	"time"

	"sundry/core/money"
	"sundry/ports"
)

// TaskClose closes the current period of a billing plan; its subject is the plan.
const TaskClose = "usage.close_period"

// Deps holds the dependencies of the module.
type Deps struct {
	Store  ports.Store
	Intake ports.UsageIntake
	Clock  ports.Clock
	IDs    ports.IDs
	Bus    ports.Bus
	Rates  ports.AccountRates
	// LeastCharge returns the least amount that a card can be charged, in minor units.
	LeastCharge func(money.Currency) int64
}

// Service holds the use cases.
type Service struct {
	deps    Deps
	streams cache[streamKey, pricedStream]
	offsets cache[string, time.Duration] // of the accounts' clocks
}

// New returns the module.
func New(d Deps) *Service { return &Service{deps: d} }
