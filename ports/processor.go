package ports

import (
	"context"
	"errors"

	"sundry/core/money"
	"sundry/core/payment"
)

var (
	// ErrOutcomeUnknown says that the processor was asked and did not answer in time. The money may have moved: ask again
	// with Find, never take it for a refusal.
	ErrOutcomeUnknown = errors.New("the processor's answer is not known")
	// ErrProcessorUnavailable says that the processor was certainly not reached. Nothing moved.
	ErrProcessorUnavailable = errors.New("the processor is not reachable")
)

// ChargeRequest asks for money. PaymentID is the idempotency key: the same id is charged at most once.
type ChargeRequest struct {
	PaymentID  string
	CheckoutID string
	CreatorID  string
	// Amount may be zero: then the card is only checked and, with SaveCard, kept.
	Amount money.Amount
	// Method is the processor's token of the card.
	Method   string
	SaveCard bool
	// OffSession is true when no buyer is present to authenticate.
	OffSession bool
}

// RefundRequest asks for money to go back. RefundID is the idempotency key.
type RefundRequest struct {
	RefundID  string // ref_…
	PaymentID string
	CreatorID string
	Amount    money.Amount
}

// Processor takes card payments. It is never called inside a transaction. A refusal by the card's issuer is an Outcome,
// not an error. Every method may return ErrOutcomeUnknown or ErrProcessorUnavailable.
type Processor interface {
	// Charge takes the money, or says what it wants first. Asking again with the same PaymentID repeats the first answer.
	Charge(ctx context.Context, r ChargeRequest) (payment.Outcome, error)
	// Find says what became of an attempt. ErrNotFound when the processor never heard of it.
	Find(ctx context.Context, creatorID, paymentID string) (payment.Outcome, error)
	// Cancel makes sure that an attempt takes no money from now on, even one that the processor has not heard of yet.
	// The outcome is Canceled, or what it had come to before (Succeeded: honour it; Processing: too late, ask again).
	Cancel(ctx context.Context, creatorID, paymentID string) (payment.Outcome, error)
	// Refund gives money of a succeeded charge back. Asking again with the same RefundID moves nothing more. ErrNotFound
	// for a charge that the processor never heard of.
	Refund(ctx context.Context, r RefundRequest) error
}

// TestCards is the sandbox's stand-in for the parts that a real processor plays in the buyer's browser.
type TestCards interface {
	// Token is the payment method of a well-known test card; ok is false for any other number, so that no real card is
	// ever stored.
	Token(number string) (method string, ok bool)
	// Authenticate is the buyer's answer to the bank's challenge.
	Authenticate(ctx context.Context, creatorID, paymentID string, approve bool) (payment.Outcome, error)
}
