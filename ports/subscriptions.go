package ports

import (
	"context"
	"time"

	"sundry/core/civil"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// SubscriptionRepos are the repositories of subscriptions.
type SubscriptionRepos struct {
	Subscriptions Subscriptions
	Quotes        Quotes
	PaidPeriods   PaidPeriods
	Movements     Movements
	Audit         SubscriptionAudit
}

// Subscriptions keeps recurring purchases.
type Subscriptions interface {
	// Insert writes a new subscription. ErrDuplicate when the checkout already made one.
	Insert(ctx context.Context, s subscription.State) error
	// Get returns a subscription. ErrNotFound.
	Get(ctx context.Context, id string) (subscription.State, error)
	// GetForUpdate is Get that locks the subscription until the transaction ends: of two that charge it the second sees
	// the charge of the first. ErrNotFound.
	GetForUpdate(ctx context.Context, id string) (subscription.State, error)
	// GetByCheckout returns the subscription that a checkout started. ErrNotFound.
	GetByCheckout(ctx context.Context, checkoutID string) (subscription.State, error)
	// Update writes a changed subscription. ErrStale.
	Update(ctx context.Context, s subscription.State) error
	// List returns part of an account's subscriptions, newest first.
	List(ctx context.Context, f SubscriptionFilter, page Page) (List[subscription.State], error)
	// ListByBuyer returns all subscriptions of the customer with an external id, or, without one, of those with an e-mail
	// address in any case, newest first.
	ListByBuyer(ctx context.Context, creatorID, externalCustomerID, email string) ([]subscription.State, error)
	// HasTrialCard reports whether a trial began with a card, by what recognizes it at its listing.
	HasTrialCard(ctx context.Context, card string) (bool, error)
	// ListAfter returns at most limit subscriptions of all accounts whose ids follow one, by their ids.
	ListAfter(ctx context.Context, id string, limit int) ([]subscription.State, error)
	// ListByCustomer returns all subscriptions of a customer, newest first.
	ListByCustomer(ctx context.Context, customerID string) ([]subscription.State, error)
}

// Movements adds up by day what changes of subscriptions did to the account's monthly recurring revenue.
type Movements interface {
	// ListUnrolled lists subscriptions of all accounts that have movements which no day counts, at most limit.
	ListUnrolled(ctx context.Context, limit int) ([]UnrolledSubscription, error)
	// SetRolled notes that the days count every movement of a subscription up to a number. ok is false, and nothing is
	// noted, when somebody else did so since it was listed.
	SetRolled(ctx context.Context, s UnrolledSubscription) (ok bool, err error)
	// Add adds to what the days count.
	Add(ctx context.Context, days []MovementDay) error
	// Sum returns the account's movements up to a day, those before another as one of the day before it: what the days
	// count and what no day counts yet, as of one moment.
	Sum(ctx context.Context, creatorID string, from, to civil.Date) ([]MovementDay, error)
}

// UnrolledSubscription is a subscription with movements that no day counts, after the one with the number Rolled.
type UnrolledSubscription struct {
	subscription.State
	Rolled int64
}

// MovementDay sums an account's movements of one kind on a day, UTC, in one currency.
type MovementDay struct {
	CreatorID string
	Day       civil.Date
	Currency  money.Currency
	Kind      subscription.MovementKind
	Minor     int64
	Count     int64
}

// SubscriptionFilter specifies which subscriptions of an account are listed. Empty members allow all.
type SubscriptionFilter struct {
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	Status             subscription.Status
	// CustomerIDs are those of customers of whom one has it; nil = any.
	CustomerIDs []string
}

// TakeOver is a request for a subscription that goes on with what another service has begun.
type TakeOver struct {
	CustomerID string
	// Catalog names what is sold. Where ListingID is set, it is that listing at the agreed Price.
	Catalog   CatalogChoice
	ListingID string
	Price     plan.Price
	// Quantity is the number that is sold; 0 is one.
	Quantity int
	// PaymentMethodID is the customer's saved card that is charged; "" is their latest.
	PaymentMethodID string
	From            subscription.TakeOver
	Discount        *subscription.Discount
	Metadata        metadata.Pairs
}

// Quotes keeps the binding prices of previewed changes of plan.
type Quotes interface {
	// Insert writes a new quote.
	Insert(ctx context.Context, q subscription.Quote) error
	// Get returns a quote and locks it until the transaction ends. ErrNotFound.
	Get(ctx context.Context, id string) (subscription.Quote, error)
	// Update writes a quote that was used.
	Update(ctx context.Context, q subscription.Quote) error
}

// PaidPeriod is the part of a subscription that one payment has bought.
type PaidPeriod struct {
	PaymentID      string
	CreatorID      string
	SubscriptionID string
	Kind           subscription.ChargeKind
	Start, End     time.Time
	// Due is the amount charged before tax, and Value the part of the whole period's value that it pays. Both are in minor
	// units; 0 is not known.
	Due, Value int64
}

// PaidPeriods keeps which payment bought which time: none is bought twice by renewals.
type PaidPeriods interface {
	// Insert writes what a payment has bought. ErrDuplicate when a renewal has bought that period before.
	Insert(ctx context.Context, p PaidPeriod) error
	// Get returns what a payment has bought. ErrNotFound.
	Get(ctx context.Context, paymentID string) (PaidPeriod, error)
}

// SubscriptionAudit reads subscriptions for `sundry verify`. Each method returns at most limit ids that break its rule.
type SubscriptionAudit interface {
	// Stalled lists trialing, active and past due subscriptions, but those in dispute, that neither a task nor an
	// unsettled charge will ever take a step further.
	Stalled(ctx context.Context, limit int) ([]string, error)
	// LostCharges lists succeeded payments that no subscription took over and that do not go back, unless they were lost
	// in a dispute.
	LostCharges(ctx context.Context, limit int) ([]string, error)
	// Misstated lists subscriptions whose period, price, credit or status is not what their payments, anchor and last
	// event make it.
	Misstated(ctx context.Context, limit int) ([]string, error)
	// WithoutGrant lists trialing and active subscriptions whose customer has no access by them, though the money of their
	// period neither went back nor is in dispute.
	WithoutGrant(ctx context.Context, limit int) ([]string, error)
}
