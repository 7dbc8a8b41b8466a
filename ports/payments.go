package ports

import (
	"context"
	"time"

	"sundry/core/cardsetup"
	"sundry/core/dispute"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
)

// PaymentRepos are the repositories of payments.
type PaymentRepos struct {
	Payments        Payments
	PaymentMethods  PaymentMethods
	CardSetups      CardSetups
	Refunds         Refunds
	Disputes        Disputes
	ProcessorEvents ProcessorEvents
}

// Payments keeps attempts to take money.
type Payments interface {
	// Insert writes a new attempt. ErrDuplicate while another attempt of its subject is not settled.
	Insert(ctx context.Context, p payment.State) error
	// Get returns an attempt. ErrNotFound.
	Get(ctx context.Context, id string) (payment.State, error)
	// GetForUpdate is Get that locks the attempt until the transaction ends: of two that settle it the second sees what
	// the first has made of it. purpose, if it is known, is the attempt's. ErrNotFound.
	GetForUpdate(ctx context.Context, id string, purpose payment.Purpose) (payment.State, error)
	// GetLive returns the attempt for a subject that is not settled. ErrNotFound.
	GetLive(ctx context.Context, purpose payment.Purpose, subjectID string) (payment.State, error)
	// Update writes a changed attempt. ErrStale.
	Update(ctx context.Context, p payment.State) error
	// List returns the account's attempts that the search asks for, newest first.
	List(ctx context.Context, creatorID string, search PaymentSearch, page Page) (List[ListedPayment], error)
	// FindByBuyer returns the ids of those of the account's newest SearchedRows attempts of a checkout whose buyer entered
	// an e-mail address or a name with the text in it; newest first, at most limit.
	FindByBuyer(ctx context.Context, creatorID, text string, limit int) ([]string, error)
	// Totals adds up what a search finds in each currency, of the newest NewestRows of it.
	Totals(ctx context.Context, creatorID string, search PaymentSearch) ([]PaymentTotal, error)
	// ListLive lists an account's attempts that are not settled, oldest first, at most limit.
	ListLive(ctx context.Context, creatorID string, limit int) ([]payment.State, error)
	// ListWithoutTask lists attempts of all accounts that were made before a real time, are not settled and have no task
	// of a kind, at most limit.
	ListWithoutTask(ctx context.Context, kind string, before time.Time, limit int) ([]payment.State, error)
	// ListByCustomer lists a customer's succeeded payments of more than nothing, newest first, at most limit.
	ListByCustomer(ctx context.Context, customerID string, limit int) ([]payment.State, error)
}

// PaymentSearch narrows a list of payments; zero members narrow nothing.
type PaymentSearch struct {
	ID                 string
	Status             payment.Status
	Standing           payment.Standing
	ExternalCustomerID string
	CustomerID         string
	// CustomerIDs are those of customers of whom one pays, IDs those of payments; nil = any.
	CustomerIDs []string
	IDs         []string
	ReferenceID string // of the checkout session
	// SubscriptionID finds the charges of a subscription, and the purchase with which it began.
	SubscriptionID string
	Created        Created
}

// PaymentTotal sums payments in one currency.
type PaymentTotal struct {
	Currency money.Currency
	Count    int64
	Paid     int64 // by those that succeeded
	Refunded int64
}

// ListedPayment is a payment with what the integrator calls the customer and the checkout; both may be empty.
type ListedPayment struct {
	payment.State
	ExternalCustomerID string
	ReferenceID        string
	// Dispute is the status of its latest dispute; "" for none.
	Dispute dispute.Status
}

// Standing returns the standing of the payment with its latest dispute.
func (p ListedPayment) Standing() payment.Standing { return payment.StandingOf(p.State, p.Dispute) }

// PaymentMethods keeps the cards that customers have saved.
type PaymentMethods interface {
	// Insert writes a new card.
	Insert(ctx context.Context, m paymentmethod.State) error
	// Get returns a card of any customer, removed ones included. ErrNotFound.
	Get(ctx context.Context, id string) (paymentmethod.State, error)
	// Update writes a changed card. ErrStale.
	Update(ctx context.Context, m paymentmethod.State) error
	// List returns the usable cards of a customer, the one saved or chosen last first: it pays what names no card.
	List(ctx context.Context, customerID string) ([]paymentmethod.State, error)
	// Lock keeps the usable cards of a customer as they are until the transaction ends.
	Lock(ctx context.Context, customerID string) error
}

// CardSetups keeps customers' visits to save a card.
type CardSetups interface {
	// Insert writes a new setup.
	Insert(ctx context.Context, s cardsetup.State) error
	// Get returns a setup of any account: the hosted page knows only the id. ErrNotFound.
	Get(ctx context.Context, id string) (cardsetup.State, error)
	// Update writes a changed setup. ErrStale.
	Update(ctx context.Context, s cardsetup.State) error
}
