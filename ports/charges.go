package ports

import (
	"context"
	"time"

	"sundry/core/payment"
)

// TaskRefundPayment makes all of a payment go back to the card because what it was for can't be given; its subject is the
// payment. The use case that takes in such money schedules it, and modules/payments handles it.
const TaskRefundPayment = "payment.refund"

// Charge is money to be taken from a saved card while the customer is away.
type Charge struct {
	CreatorID string
	// Subject names what it is for. PaymentMethodID may be empty: then the customer's latest card is charged.
	Subject payment.Subject
	// Sale specifies how its Total comes about.
	Sale payment.Sale
	// Method is what CardForm made of a card that the customer gave now: it is saved once it has paid. Empty for a saved
	// card.
	Method string
	// Mandate is what the customer agreed to by giving that card, as the page showed it.
	Mandate string
	// OnSession means that the customer is present, so that their bank may ask them to confirm the payment.
	OnSession bool
	// At is when the attempt counts as made (account time), so that a worker's lateness does not move what follows from it;
	// zero means now.
	At time.Time
}

// Charges takes money off session. What comes of it is published on the bus, once and in the transaction that knows it:
// payment.Completed or payment.Failed. A subscriber picks its own by Purpose and finds its aggregate by SubjectID.
type Charges interface {
	// Start writes the attempt, and the task that makes it, in the caller's transaction. ErrDuplicate (payments_live) while
	// another attempt for the same subject is not settled. Faults: PAYMENT_METHOD_REQUIRED without a usable card.
	Start(ctx context.Context, r Repos, c Charge) (payment.State, error)
	// Run makes a started attempt now, waiting for the processor, and returns what it has come to. It must not be called
	// inside a transaction. An attempt whose outcome is unknown comes back as it is; its task goes on asking.
	Run(ctx context.Context, paymentID string) (payment.State, error)
	// Challenge is how the customer's browser leads them to their bank, for an attempt on session that waits for it. Faults:
	// STATE_CONFLICT when it does not, PROCESSOR_UNAVAILABLE.
	Challenge(ctx context.Context, paymentID string) (payment.NextAction, error)
	// Authenticate takes in that the customer is back from their bank's challenge of an attempt on session. approve is
	// their response where a page of ours plays the bank.
	Authenticate(ctx context.Context, paymentID string, approve bool) (payment.State, error)
	// Refund makes all of a payment go back to the card, by a task: money that arrived for what is not sold any more.
	Refund(ctx context.Context, r Repos, paid payment.State) error
}
