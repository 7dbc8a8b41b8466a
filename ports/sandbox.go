package ports

import (
	"context"
	"time"

	"sundry/core/dispute"
	"sundry/core/money"
	"sundry/core/payment"
)

// SandboxRepos are the repositories of the sandbox.
type SandboxRepos struct {
	ClockOffsets ClockOffsets
	Charges      SandboxCharges
	Disputes     SandboxDisputes
	Audit        SandboxAudit
}

// ClockOffsets keeps how far each sandbox account's clock runs ahead of real time.
type ClockOffsets interface {
	// Get is zero for an account whose clock was never moved.
	Get(ctx context.Context, creatorID string) (time.Duration, error)
	// Advance sets the offset, never backwards. Call TaskQueue.Retime once the clock has its new time.
	Advance(ctx context.Context, creatorID string, offset time.Duration) error
	// Acquire lets one holder at a time move the account's clock: false when another holds it at the given real time.
	// The holder may renew its own lock.
	Acquire(ctx context.Context, creatorID, holder string, now, until time.Time) (bool, error)
	// Release ends the holder's hold.
	Release(ctx context.Context, creatorID, holder string) error
}

// SandboxCharge is an attempt in the sandbox processor's memory.
type SandboxCharge struct {
	PaymentID  string
	CheckoutID string
	CreatorID  string
	Method     string
	Outcome    payment.Outcome
	// ClockOffset is the lead of the account's clock over real time at the attempt.
	ClockOffset time.Duration
}

// SandboxCharges is the sandbox processor's memory. It is the processor's own and no module touches it.
type SandboxCharges interface {
	// Get returns a charge and locks it until the transaction ends. ErrNotFound.
	Get(ctx context.Context, paymentID string) (SandboxCharge, error)
	// Insert writes a new charge. ErrDuplicate when there is one.
	Insert(ctx context.Context, c SandboxCharge) error
	// UpdateOutcome changes the outcome of a charge.
	UpdateOutcome(ctx context.Context, paymentID string, o payment.Outcome) error
	// InsertRefund writes that money of a charge went back; again under the same id, it changes nothing.
	InsertRefund(ctx context.Context, refundID, paymentID string, amount money.Amount) error
}

// SandboxAudit compares the sandbox processor's memory with payments for `sundry verify`. Each method returns at most
// limit ids that break its rule.
type SandboxAudit interface {
	// UnmatchedCharges lists payments that succeeded without a charge of theirs, its fee included, or that ended otherwise
	// although they were charged, and charges without a payment.
	UnmatchedCharges(ctx context.Context, limit int) ([]string, error)
	// UnmatchedRefunds lists refunds that succeeded without the same amount having left the processor.
	UnmatchedRefunds(ctx context.Context, limit int) ([]string, error)
}

// SandboxDisputes is the sandbox processor's memory of disputes. It is the processor's own and no module touches it.
type SandboxDisputes interface {
	// Insert writes a new dispute; again, it changes nothing.
	Insert(ctx context.Context, d DisputeReport) error
	// Get returns a dispute and locks it until the transaction ends. ErrNotFound.
	Get(ctx context.Context, processorID string) (DisputeReport, error)
	// UpdateStatus changes the status of a dispute.
	UpdateStatus(ctx context.Context, processorID string, status dispute.Status) error
}
