package ports

import (
	"context"
	"time"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/subscription"
)

// Sessions keeps checkout sessions.
type Sessions interface {
	// Add writes a new session.
	Add(ctx context.Context, s checkout.State) error
	// Get returns a session of any account: the hosted page knows only the id. ErrNotFound.
	Get(ctx context.Context, id string) (checkout.State, error)
	// Save writes a changed session. ErrStale.
	Save(ctx context.Context, s checkout.State) error
}

// Payments keeps attempts to take money.
type Payments interface {
	// Add writes a new attempt.
	Add(ctx context.Context, p payment.State) error
	// Get returns an attempt. ErrNotFound.
	Get(ctx context.Context, id string) (payment.State, error)
	// Save writes a changed attempt. ErrStale.
	Save(ctx context.Context, p payment.State) error
	// Live lists an account's attempts that are not settled, oldest first, at most limit.
	Live(ctx context.Context, creatorID string, limit int) ([]payment.State, error)
}

// Customers keeps buyers.
type Customers interface {
	// Ensure returns the account's customer with the given external id, adding c when there is none. A customer without
	// external id is always added.
	Ensure(ctx context.Context, c customer.State) (customer.State, error)
}

// Subscriptions keeps recurring purchases.
type Subscriptions interface {
	// Add writes a new subscription. ErrDuplicate when the checkout already made one.
	Add(ctx context.Context, s subscription.State) error
	// Get returns a subscription. ErrNotFound.
	Get(ctx context.Context, id string) (subscription.State, error)
	// Save writes a changed subscription. ErrStale.
	Save(ctx context.Context, s subscription.State) error
}

// SellingAudit is what `sundry verify` reads of selling. Each method returns the ids that break the rule, at most limit.
type SellingAudit interface {
	// UnbalancedPayments lists paid sessions whose payment is missing, not succeeded or of another amount.
	UnbalancedPayments(ctx context.Context, limit int) ([]string, error)
	// OverdueSessions lists sessions still processing before the given instant of expiry while nothing is live.
	OverdueSessions(ctx context.Context, expiredBefore time.Time, limit int) ([]string, error)
	// MissingAppointments lists paid sessions that have fewer appointments than were sold.
	MissingAppointments(ctx context.Context, limit int) ([]string, error)
	// StrayHolds lists sessions that are not open any more and still hold somebody's time.
	StrayHolds(ctx context.Context, limit int) ([]string, error)
	// KeptMoney lists succeeded payments of sessions that are not paid, unless they went back or are about to.
	KeptMoney(ctx context.Context, limit int) ([]string, error)
	// DocumentGaps lists series whose documents are not exactly 1…last.
	DocumentGaps(ctx context.Context, limit int) ([]string, error)
}

// SandboxCharge is what the sandbox processor remembers of an attempt.
type SandboxCharge struct {
	PaymentID  string
	CheckoutID string
	CreatorID  string
	Method     string
	Outcome    payment.Outcome
	// ClockOffset is how far the account's clock ran ahead when the attempt was made.
	ClockOffset time.Duration
}

// SandboxCharges is the sandbox processor's memory. It is the processor's own and no module touches it.
type SandboxCharges interface {
	// Get returns a charge and locks it until the transaction ends. ErrNotFound.
	Get(ctx context.Context, paymentID string) (SandboxCharge, error)
	// Add writes a new charge. ErrStale when another request wrote it meanwhile.
	Add(ctx context.Context, c SandboxCharge) error
	// SetOutcome changes what a charge came to.
	SetOutcome(ctx context.Context, paymentID string, o payment.Outcome) error
	// AddRefund writes that money of a charge went back; again under the same id, it changes nothing.
	AddRefund(ctx context.Context, refundID, paymentID string, amount money.Amount) error
	// Asked reports whether the card was already asked to authenticate in this checkout and not refused there.
	Asked(ctx context.Context, checkoutID, method string) (bool, error)
}
