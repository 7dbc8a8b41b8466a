package subscription

import (
	"time"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/plan"
)

// QuoteLifetime is the time for which the price of a previewed change is binding.
const QuoteLifetime = 30 * time.Minute

// Quote is the binding price of a change of plan: asking for exactly that change with it charges exactly that, once.
type Quote struct {
	ID             string // qt_…
	CreatorID      string
	SubscriptionID string
	Mode           ProrationMode
	Bill           Bill
	// Sale is the Bill with its tax.
	Sale payment.Sale
	// Revision is the subscription's when it was quoted: what has changed since is not in the price.
	Revision  int64
	ExpiresAt time.Time
	UsedAt    time.Time // zero until used
}

// NewQuote quotes a bill for a subscription as it is.
func NewQuote(id string, s State, mode ProrationMode, b Bill, sale payment.Sale, now time.Time) Quote {
	return Quote{
		ID: id, CreatorID: s.CreatorID, SubscriptionID: s.ID, Mode: mode, Bill: b, Sale: sale, Revision: s.Revision,
		ExpiresAt: now.Add(QuoteLifetime),
	}
}

// Use takes the quote for a change to a price in a quantity. QUOTE_EXPIRED when it is too old, used, for something
// else, or overtaken by another change of the subscription.
func (q Quote) Use(s State, to plan.Offer, mode ProrationMode, now time.Time) (Quote, error) {
	switch {
	case q.SubscriptionID != s.ID, !q.Bill.Offer.SameAs(to), q.Mode != mode:
		return Quote{}, ErrQuote("The quote is for another change. Preview the change again.")
	case !q.UsedAt.IsZero():
		return Quote{}, ErrQuote("The quote was used before. Preview the change again.")
	case !now.Before(q.ExpiresAt):
		return Quote{}, ErrQuote("The quote is older than 30 minutes. Preview the change again.")
	case q.Revision != s.Revision:
		return Quote{}, ErrQuote("The subscription has changed since the quote. Preview the change again.")
	}
	q.UsedAt = now
	return q, nil
}

// ErrQuote is a QUOTE_EXPIRED refusal.
func ErrQuote(message string) error { return fault.New(fault.QuoteExpired, message) }
