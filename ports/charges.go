package ports

import (
	"context"
	"time"

	"sundry/core/event"
	"sundry/core/payment"
)

// TaskRefundPayment makes all of a payment go back to the card because what it was for can't be given; its subject is
// the payment. Charges.Refund schedules it, and modules/payments handles it.
const TaskRefundPayment = "payment.refund"

// ProcessorTimeout bounds one call to the payment processor, and ProcessorRecheckTimeout the question that follows a
// call that timed out. Together they end before a background run does.
const (
	ProcessorTimeout        = 11 * time.Second
	ProcessorRecheckTimeout = 4 * time.Second
)

// Charge is money to be taken from a card that the customer has saved, or gives now to be saved.
type Charge struct {
	CreatorID string
	// Subject names what it is for. PaymentMethodID may be empty: then the customer's latest card is charged.
	Subject payment.Subject
	// Sale specifies how its Total comes about.
	Sale payment.Sale
	// Method is the token that CardForm made of a card the customer entered now; the card is saved once it has paid. Empty
	// for a saved card.
	Method string
	// Mandate is the text the customer agreed to when entering that card, as the page showed it.
	Mandate string
	// OnSession means that the customer is present, so that their bank may ask them to confirm the payment.
	OnSession bool
	// At is the account time the attempt is booked at, so that a late worker does not shift what follows. Zero means now.
	At time.Time
	// RunByCaller means that the caller runs the attempt right after its commit: it has no task unless the caller leaves
	// it unsettled.
	RunByCaller bool
}

// Charges records attempts to take money, in the caller's transaction. The outcome of each is published on the bus
// once, in the transaction that records it: payment.Completed or payment.Failed. A subscriber picks its own by Purpose
// and finds its aggregate by SubjectID.
//
// At most one attempt for a subject is not settled: Begin and Start of another are ErrDuplicate
// (payments_purpose_subject_id), which Atomically reports at the latest.
type Charges interface {
	// Begin writes the attempt of a buyer who is present, and the task that settles it should this process die.
	Begin(ctx context.Context, r Repos, i payment.Intent, at time.Time) (payment.State, error)
	// Start writes the attempt for a charge, and the task that makes it. PAYMENT_METHOD_REQUIRED without a usable card.
	Start(ctx context.Context, r Repos, c Charge) (payment.State, error)
	// Settle applies an outcome and everything that follows from it. It may be called any number of times and in any
	// order: what is known already changes nothing. Only the id and the purpose of attempt matter. ErrNotFound.
	Settle(ctx context.Context, r Repos, attempt payment.State, o payment.Outcome) (payment.State, error)
	// Refund makes all of a payment go back to the card, by a task: money that arrived for what is not sold any more. The
	// refund is listed from now on; reason is one of those in core/refund.
	Refund(ctx context.Context, r Repos, paid payment.State, reason string) error
}

// Reader reads in somebody else's transaction.
type Reader = func(ctx context.Context, r Repos) error

// Payer names the buyer to the processor. Both may be empty.
type Payer struct{ Email, Name string }

// ChargeRunner asks the processor about attempts that are committed, and commits what it responds.
type ChargeRunner interface {
	Network
	// Run executes an attempt and returns its state. An attempt whose outcome is unknown comes back as it is; its task
	// goes on asking. PROCESSOR_UNAVAILABLE when the processor was not reached: the attempt is canceled then. read is
	// called last in the transaction that records an outcome, to see what followed from it.
	Run(ctx context.Context, attempt payment.State, by Payer, read ...Reader) (payment.State, error)
	// RunUnattended executes an attempt without a customer present. What it leaves unsettled, because the processor was
	// not reached or its response is not final, the attempt's task settles soon; an error is for the log.
	RunUnattended(ctx context.Context, attempt payment.State) error
	// Challenge returns how the customer's browser leads them to their bank, for an attempt that waits for it.
	// STATE_CONFLICT when it does not, RATE_LIMITED by their network, PROCESSOR_UNAVAILABLE.
	Challenge(ctx context.Context, paymentID, network string) (payment.NextAction, error)
	// Authenticate is called when the customer returns from their bank's challenge, and returns the attempt's state.
	// approve is their response where a page of ours plays the bank. STATE_CONFLICT, RATE_LIMITED by their network,
	// PROCESSOR_UNAVAILABLE.
	Authenticate(ctx context.Context, paymentID string, approve bool, network string) (payment.State, error)
	// Cancel makes sure that an attempt takes no money from now on; why is kept with one that was canceled. One that had
	// taken it comes back as succeeded. ErrOutcomeUnknown and ErrProcessorUnavailable change nothing.
	Cancel(ctx context.Context, attempt payment.State, why payment.DeclineReason) (payment.State, error)
}

// Followed carries the consequences of a payment that its Outcomes decided.
type Followed struct {
	// Events are published before payment.Completed.
	Events []event.Event
	// Refund is the reason why all of the payment goes back, one of those in core/refund; "" when it is kept.
	Refund string
}

// ChargeOutcomes does what follows from the end of an attempt for one purpose, in the transaction that records it and
// before the attempt is saved and its event published.
type ChargeOutcomes interface {
	// Paid completes what the attempt has paid for, and documents the attempt.
	Paid(ctx context.Context, r Repos, attempt *payment.Payment, o payment.Outcome, now time.Time) (Followed, error)
	// Unpaid ends the wait for an attempt that was declined or canceled.
	Unpaid(ctx context.Context, r Repos, attempt payment.State) error
}
