package ports

import (
	"context"
	"errors"
	"time"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
)

var (
	// ErrOutcomeUnknown reports that the processor was asked and did not respond in time. The money may have moved: ask
	// again with Find, never take it for a refusal.
	ErrOutcomeUnknown = errors.New("the processor's response is not known")
	// ErrProcessorUnavailable reports that the processor was certainly not reached, or refused to handle the request now.
	// Nothing moved.
	ErrProcessorUnavailable = errors.New("the processor is not reachable")
)

// ChargeRequest asks for money, and names the attempt afterwards. PaymentID is the idempotency key: the same id is
// charged at most once.
type ChargeRequest struct {
	PaymentID string
	// ProcessorID is the processor's own id of the attempt; "" until an outcome has named it.
	ProcessorID string
	// SubjectID names the object being paid for: a checkout session, a card setup, a subscription or an invoice.
	SubjectID string
	CreatorID string
	// CustomerID names the payer; "" until a checkout is paid.
	CustomerID string
	// Email and Name are the payer's, for a card that is saved; they may be empty.
	Email string
	Name  string
	// Amount may be zero: then the card is only checked and, with SaveCard, kept.
	Amount money.Amount
	// Method is the token that CardForm made of the buyer's input, or the token of a saved card.
	Method   string
	SaveCard bool
	// OffSession is true when no buyer is present to authenticate.
	OffSession bool
	// Lines are those of an invoice, which the processor charges as an invoice of its own; nil for anything else.
	Lines []payment.Line
}

// ChargeOf returns the request for an attempt that was committed.
func ChargeOf(p payment.State) ChargeRequest {
	r := ChargeRequest{
		PaymentID: p.ID, ProcessorID: p.ProcessorID, SubjectID: p.SubjectID, CreatorID: p.CreatorID, CustomerID: p.CustomerID,
		Amount: p.Amount, Method: p.Method, SaveCard: p.SaveCard, OffSession: p.OffSession,
	}
	if p.Purpose == payment.ForInvoice {
		r.Lines = p.Sale.Lines
	}
	return r
}

// RefundRequest asks for money to go back. RefundID is the idempotency key.
type RefundRequest struct {
	RefundID  string // ref_…
	PaymentID string
	// ProcessorID is the processor's own id of the payment.
	ProcessorID string
	CreatorID   string
	Amount      money.Amount
}

// Processor takes card payments. It is never called inside a transaction. A refusal by the card's issuer is an Outcome,
// not an error. Every method may return ErrOutcomeUnknown or ErrProcessorUnavailable.
type Processor interface {
	Network
	// Charge takes the money, or returns what it wants first. Asking again with the same PaymentID repeats the first
	// response.
	Charge(ctx context.Context, r ChargeRequest) (payment.Outcome, error)
	// Find returns the current outcome of an attempt, with the action it waits for. ErrNotFound when the processor never
	// received it.
	Find(ctx context.Context, r ChargeRequest) (payment.Outcome, error)
	// Authenticate is called when the buyer returns from the bank's challenge and returns the attempt's current outcome.
	// approve is the buyer's response where a page of ours plays the bank; a real bank has notified the processor itself.
	Authenticate(ctx context.Context, r ChargeRequest, approve bool) (payment.Outcome, error)
	// Cancel makes sure that an attempt takes no money from now on, even one that the processor has not received yet. The
	// outcome is Canceled, or the one the attempt already had (Succeeded: apply it; Processing: too late, ask again).
	Cancel(ctx context.Context, r ChargeRequest) (payment.Outcome, error)
	// Refund gives money of a succeeded charge back and returns the refund's current outcome. It is idempotent by
	// RefundID. ErrNotFound for a charge that the processor doesn't know.
	Refund(ctx context.Context, r RefundRequest) (refund.Outcome, error)
}

// ChargeReport is a charge that succeeded, as the processor reports it now.
type ChargeReport struct {
	// PaymentID, SubjectID and CreatorID repeat the ChargeRequest's.
	PaymentID, SubjectID, CreatorID string
	ProcessorID                     string
	// At holds the time when the processor first received it.
	At     time.Time
	Amount money.Amount
	// Refunded is the part of the amount that went back, by whatever way.
	Refunded money.Amount
}

// ChargeLister lists what a processor did for us, for a database that has lost a part of that. It is never called
// inside a transaction.
type ChargeLister interface {
	Network
	// ListCharges lists each charge of more than nothing that succeeded and was received, or refunded in part or whole, at
	// or after a time, once and in no order. ErrOutcomeUnknown, ErrProcessorUnavailable.
	ListCharges(ctx context.Context, since time.Time) ([]ChargeReport, error)
}

// CardInput is a buyer's means of payment, as a form sent it. The zero value names none.
type CardInput struct {
	// Number is the number of a test card; the number of a real card never reaches this program.
	Number string
	// Token represents a card or a wallet that the processor's own form read in the buyer's browser.
	Token string
}

// CardForm is a processor's way to take cards in the buyer's browser.
type CardForm interface {
	// Method is the payment method behind an input, for Charge. For an empty input it is the method of a buyer who enters
	// nothing, and "" where a card is needed. What is wrong with the input is added to f.
	Method(in CardInput, f *fault.Violations) (method string)
}

// CardTries limits how often customers try cards on hosted pages, so that nobody finds out there which numbers are
// good.
type CardTries interface {
	// CountTry counts a try. RATE_LIMITED.
	CountTry(ctx context.Context, customerID string) error
}

// CardFingerprints recognizes cards. It is never called inside a transaction.
type CardFingerprints interface {
	Network
	// Fingerprint returns what is the same for the same card number, as payment.Outcome reports it, for a method of
	// CardForm; "" for what is no card, or not known. ErrOutcomeUnknown, ErrProcessorUnavailable.
	Fingerprint(ctx context.Context, method string) (string, error)
}

// maxRecheckPause is the longest pause of RecheckPause.
const maxRecheckPause = time.Hour

// RecheckPause returns the delay before the next poll of an unknown outcome: half its age, between first and one hour.
func RecheckPause(age, first time.Duration) time.Duration {
	return min(max(age/2, first), maxRecheckPause)
}
