package ports

import (
	"context"
	"errors"
	"time"

	"sundry/core/dispute"
	"sundry/core/money"
	"sundry/core/refund"
)

// Refunds keeps refunds.
type Refunds interface {
	// Insert writes a new refund. ErrDuplicate (refunds_processor_id) when it is one of the processor's that is known
	// already.
	Insert(ctx context.Context, f refund.State) error
	// GetByProcessorID returns the refund that the processor made without us and knows under an id of its own.
	// ErrNotFound.
	GetByProcessorID(ctx context.Context, processorID string) (refund.State, error)
	// Get returns a refund. ErrNotFound.
	Get(ctx context.Context, id string) (refund.State, error)
	// GetForUpdate is Get that locks the refund until the transaction ends: of two that settle it the second sees what
	// the first has made of it. ErrNotFound.
	GetForUpdate(ctx context.Context, id string) (refund.State, error)
	// Update writes a changed refund. ErrStale.
	Update(ctx context.Context, f refund.State) error
	// GetByRequest returns the refund that the account asked for under an idempotency key since the given time.
	// ErrNotFound.
	GetByRequest(ctx context.Context, creatorID, key string, since time.Time) (refund.State, error)
	// List returns the account's refunds, newest first; paymentID "" = of every payment.
	List(ctx context.Context, creatorID, paymentID string, page Page) (List[refund.State], error)
	// ListOf returns the account's refunds of some payments, newest first, at most limit.
	ListOf(ctx context.Context, creatorID string, paymentIDs []string, limit int) ([]refund.State, error)
}

// Disputes keeps disputes.
type Disputes interface {
	// Insert writes a new dispute. ErrDuplicate (disputes_processor_id) when it is known already.
	Insert(ctx context.Context, d dispute.State) error
	// Get returns a dispute. ErrNotFound.
	Get(ctx context.Context, id string) (dispute.State, error)
	// GetByProcessorID returns the dispute that the processor knows under an id of its own. ErrNotFound.
	GetByProcessorID(ctx context.Context, processorID string) (dispute.State, error)
	// Update writes a changed dispute. ErrStale.
	Update(ctx context.Context, d dispute.State) error
	// List returns the account's disputes, newest first; paymentID "" = of every payment.
	List(ctx context.Context, creatorID, paymentID string, page Page) (List[dispute.State], error)
}

// ProcessorEventKind is the kind of object that a processor's event is about.
type ProcessorEventKind string

// The kinds that matter to us.
const (
	AboutPayment        ProcessorEventKind = "payment"
	AboutSetup          ProcessorEventKind = "setup"
	AboutRefund         ProcessorEventKind = "refund"
	AboutPaymentRefunds ProcessorEventKind = "refunds" // all of a payment, because the event does not name one
	AboutDispute        ProcessorEventKind = "dispute"
	AboutPayout         ProcessorEventKind = "payout"
	// AboutPayoutAccount is about a creator's account; ObjectID is the rail's id of it.
	AboutPayoutAccount ProcessorEventKind = "payout_account"
)

// ProcessorEvent reports that an object changed on the processor's side. What it has become is read from the processor,
// so neither the order of events nor their repetition matters.
type ProcessorEvent struct {
	// Provider names who reported it. A verifier leaves it empty.
	Provider string
	ID       string // the processor's
	Kind     ProcessorEventKind
	// ObjectID is our id of a payment, card setup, refund or payout, and the processor's of a dispute, of a payout account
	// and of a refund that it made without us. With AboutPaymentRefunds it is that of the payment.
	ObjectID string
	// CreatorID names its account, where the processor reports it.
	CreatorID string
}

// ProcessorEvents is the inbox of the processor's events.
type ProcessorEvents interface {
	// Insert writes an event; isNew is false when it was received before.
	Insert(ctx context.Context, e ProcessorEvent, at time.Time) (isNew bool, err error)
	// Get returns an event. ErrNotFound.
	Get(ctx context.Context, id string) (ProcessorEvent, error)
}

// EventVerifier checks that an inbound event comes from the processor.
type EventVerifier interface {
	// Verify reads an event whose signature is right and made within five minutes of now. ok is false for an event that
	// matters to nobody here. UNAUTHENTICATED for any other signature.
	Verify(payload []byte, signature string, now time.Time) (e ProcessorEvent, ok bool, err error)
}

// RefundReport is the state of a refund as the processor reports it now.
type RefundReport struct {
	ProcessorID string
	// RefundID is ours; "" for one that was made at the processor without us.
	RefundID string
	Amount   money.Amount
	Outcome  refund.Outcome
}

// RefundLister lists what a processor refunded. It is never called inside a transaction.
type RefundLister interface {
	Network
	// ListRefunds lists every refund of a payment that the processor knows under an id of its own.
	// ErrOutcomeUnknown, ErrProcessorUnavailable.
	ListRefunds(ctx context.Context, processorPaymentID string) ([]RefundReport, error)
}

// DisputeReport is the state of a dispute as the processor reports it now.
type DisputeReport struct {
	ProcessorID string
	PaymentID   string
	CreatorID   string
	Amount      money.Amount // what the bank claims
	Reason      string
	Status      dispute.Status
	RespondBy   time.Time
}

// ErrFileRefused reports that the processor does not take a file as evidence, and will not later.
var ErrFileRefused = errors.New("the processor refuses the file")

// DisputeProcessor is the processor's side of disputes. It is never called inside a transaction. Every method may
// return ErrOutcomeUnknown or ErrProcessorUnavailable.
type DisputeProcessor interface {
	Network
	// FindDispute returns the current state of a dispute. ErrNotFound when the processor doesn't know it.
	FindDispute(ctx context.Context, processorID string) (DisputeReport, error)
	// CheckFile asks whether SubmitEvidence can send a file of the creator's. ErrFileRefused.
	CheckFile(ctx context.Context, processorID string, f DisputeFile) error
	// SubmitEvidence responds to the bank. Again, with the same evidence, it changes nothing.
	SubmitEvidence(ctx context.Context, processorID string, e DisputeEvidence) (DisputeReport, error)
	// AcceptDispute lets the bank take the money. Again, it changes nothing.
	AcceptDispute(ctx context.Context, processorID string) (DisputeReport, error)
}
