package fakes

import (
	"time"

	"sundry/adapters/memratelimit"
	"sundry/adapters/system"
	"sundry/core/document"
	"sundry/core/payment"
	"sundry/core/secret"
	"sundry/modules/payments"
	"sundry/ports"
)

// Attempts is the engine that makes payments: modules that are paid for are tested on the real one, over a processor
// of the test's.
type Attempts = payments.Attempts

// TaskCharge is the kind of its task.
const TaskCharge = payments.TaskCharge

// ProviderName is the name of the test's payment provider.
const ProviderName = "sandbox"

// Providers returns a payment provider with a processor of the test's.
func Providers(p ports.Processor) ports.Providers {
	return ports.Providers{{Name: ProviderName, Processor: p}}
}

// NewAttempts returns the engine, in which the same follows from a payment whatever it is for. Time stands still for
// its rate limits.
func NewAttempts(
	store ports.Store, bus ports.Bus, providers ports.Providers, outcomes ports.ChargeOutcomes,
) *Attempts {
	return payments.NewAttempts(payments.AttemptDeps{
		Store: store, IDs: system.NewIDs(), Bus: bus, Providers: providers,
		Outcomes: map[payment.Purpose]ports.ChargeOutcomes{
			payment.ForCheckout: outcomes, payment.ForSubscription: outcomes, payment.ForInvoice: outcomes,
		},
		Links:   document.Links{BaseURL: "https://pay.example.com", Keys: secret.Fixed(make([]byte, 32))},
		Limiter: memratelimit.New(func() time.Time { return time.Time{} }),
	})
}
