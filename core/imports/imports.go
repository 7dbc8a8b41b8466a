// Package imports decides what of another billing service can be carried over, and as what.
package imports

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/listingtype"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/paymentmethod"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/core/tax"
)

// Kind names what an object of the other service is.
type Kind string

// The kinds, in the order in which they are carried over.
const (
	Products      Kind = "product"
	Prices        Kind = "price"
	Customers     Kind = "customer"
	Cards         Kind = "card"
	Subscriptions Kind = "subscription"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Products, Prices, Customers, Cards, Subscriptions} }

// Price is a price of a product.
type Price struct {
	ID, Name string
	Active   bool
	// Interval is empty, and IntervalCount zero, for a price that is paid once.
	Interval      period.Interval
	IntervalCount int
	// Amounts are in different currencies, the price's own first.
	Amounts []money.Amount
	// Obstacle is why it cannot be carried over; empty when it can.
	Obstacle string
}

// Product is a product of the other service with all its prices, the oldest first.
type Product struct {
	ID, Name, Description string
	Active                bool
	TaxBehavior           tax.Behavior
	Prices                []Price
}

// Card is a saved card. Obstacle is why it cannot be carried over; empty when it can.
type Card struct {
	ID       string
	Card     paymentmethod.Card
	SavedAt  time.Time
	Obstacle string
}

// Customer is a customer with the card that is charged by default; nil for none.
type Customer struct {
	ID, Email, Name string
	Address         customer.Address
	TaxID           string
	Metadata        map[string]string
	Card            *Card
}

// Subscription is a subscription to one price. Times that do not apply are zero.
type Subscription struct {
	ID, CustomerID, ProductID, PriceID string
	Currency                           money.Currency
	Quantity                           int
	StartedAt                          time.Time
	Anchor                             time.Time
	PeriodEnd                          time.Time
	TrialEndsAt                        time.Time
	CancelAtPeriodEnd                  bool
	// Card pays for it; nil for the customer's default card.
	Card     *Card
	Discount *subscription.Discount
	// CreditInMinor is the customer's, in the currency of the subscription.
	CreditInMinor int64
	Metadata      map[string]string
	// TakenOver means that the other service was told that it goes on here.
	TakenOver bool
	// Obstacle is why it cannot be carried over; empty when it can.
	Obstacle string
}

// Carried returns the prices that can be carried over.
func (p Product) Carried() []Price {
	return slices.DeleteFunc(slices.Clone(p.Prices), func(one Price) bool { return one.Obstacle != "" })
}

// Key returns the catalog key and slug of a product: its id as a slug. Ids differ by case, so a part of a hash of an id
// with capitals follows.
func (p Product) Key() string {
	const hashed, longest = 6, 90
	slug := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, p.ID), "-")
	if slug == p.ID && listing.ValidSlug(slug) && len(slug) <= longest {
		return slug
	}
	hash := sha256.Sum256([]byte(p.ID))
	return strings.TrimSuffix(slug[:min(len(slug), longest)], "-") + "-" + hex.EncodeToString(hash[:])[:hashed]
}

// Type returns the type of listing that a product is carried over as.
func (p Product) Type() listing.Type {
	if slices.ContainsFunc(p.Carried(), func(one Price) bool { return one.Interval != "" }) {
		return listingtype.Subscription
	}
	return listingtype.Digital
}

// standardPlan is the key of the plan that has the first active price of each interval and currency.
const standardPlan = "standard"

// Plans groups the prices into plans: the first active one of each interval and currency is in the default plan, and
// every other active one has a plan of its own. Where none is active, the others take their place. A price that is paid
// once is in no plan with prices that renew.
func (p Product) Plans() []plan.Draft {
	prices := p.Carried()
	if active := slices.DeleteFunc(slices.Clone(prices), func(one Price) bool { return !one.Active }); len(active) > 0 {
		prices = active
	}
	renews := p.Type() == listingtype.Subscription
	standard := plan.Draft{Key: standardPlan, Name: title(p.Name), IsDefault: true}
	others := []plan.Draft{}
	type slot struct {
		interval period.Interval
		currency money.Currency
	}
	taken := map[slot]bool{}
	for _, one := range prices {
		fits := (one.Interval != "") == renews
		for _, amount := range one.Amounts {
			fits = fits && !taken[slot{one.Interval, amount.Currency}]
		}
		if !fits {
			others = append(others, plan.Draft{Key: one.planKey(), Name: title(one.name()), Prices: one.drafts()})
			continue
		}
		for _, amount := range one.Amounts {
			taken[slot{one.Interval, amount.Currency}] = true
		}
		standard.Prices = append(standard.Prices, one.drafts()...)
	}
	return append([]plan.Draft{standard}, others...)
}

func (p Price) drafts() []plan.PriceDraft {
	drafts := make([]plan.PriceDraft, len(p.Amounts))
	for i, amount := range p.Amounts {
		drafts[i] = plan.PriceDraft{Currency: string(amount.Currency), AmountInCents: new(amount.Minor)}
		if p.Interval != "" {
			drafts[i].Interval, drafts[i].IntervalCount = new(string(p.Interval)), new(p.IntervalCount)
		}
	}
	return drafts
}

// planKey is the id as the key of a plan, which may have no capitals.
func (p Price) planKey() string { return Product{ID: p.ID}.Key() }

func (p Price) name() string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

// At returns what the price costs in a currency, as a price of a plan without an id. ok is false where it has none.
func (p Price) At(currency money.Currency) (price plan.Price, ok bool) {
	for _, amount := range p.Amounts {
		if amount.Currency == currency {
			return plan.Price{Interval: p.Interval, IntervalCount: p.IntervalCount, Amount: amount}, true
		}
	}
	return plan.Price{}, false
}

// title cuts a name to what a listing and a plan may have.
func title(name string) string {
	const longest = 200
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, name))
	if runes := []rune(name); len(runes) > longest {
		return string(runes[:longest])
	}
	return name
}

// Title returns the product's name as the title of a listing.
func (p Product) Title() string { return title(p.Name) }

// Draft describes the customer. externalID names the pair of their metadata that is the integrator's own id; without
// one, it is the id at the other service, under which integrators know the customer already. dropped lists what is left
// out because it cannot be kept here.
func (c Customer) Draft(externalID string) (draft customer.Draft, dropped []string) {
	draft = customer.Draft{
		Email: strings.TrimSpace(c.Email), DisplayName: title(c.Name), ExternalCustomerID: c.ID, BillingAddress: c.Address,
		TaxID: c.TaxID, Metadata: c.Metadata,
	}
	if own := c.Metadata[externalID]; externalID != "" && own != "" {
		draft.ExternalCustomerID = own
	}
	for _, part := range []struct {
		name  string
		clear func(*customer.Draft)
	}{
		{"tax ID", func(d *customer.Draft) { d.TaxID = "" }},
		{"metadata", func(d *customer.Draft) { d.Metadata = nil }},
		{"billing address", func(d *customer.Draft) { d.BillingAddress = customer.Address{} }},
	} {
		without := draft
		part.clear(&without)
		if faults(without) < faults(draft) {
			draft, dropped = without, append(dropped, part.name)
		}
	}
	return draft, dropped
}

// TakeOver describes where the subscription goes on. The end of its period is kept to the millisecond: where no period
// of the anchor ends then, as after a change of the billing date, that end is the anchor.
func (s Subscription) TakeOver(price plan.Price, now time.Time) subscription.TakeOver {
	t := subscription.TakeOver{
		StartedAt: s.StartedAt, CreditInMinor: s.CreditInMinor, CancelAtPeriodEnd: s.CancelAtPeriodEnd,
	}
	if s.TrialEndsAt.After(now) {
		t.TrialEndsAt = s.TrialEndsAt
		return t
	}
	t.PaidUntil, t.Anchor = s.PeriodEnd, s.Anchor
	if t.Anchor.IsZero() || price.Interval == "" {
		return t
	}
	_, _, end := period.Containing(t.Anchor, price.Interval, price.IntervalCount, t.PaidUntil.Add(-time.Millisecond))
	if !end.Equal(t.PaidUntil) {
		t.Anchor = time.Time{}
	}
	return t
}

// Pairs returns the metadata of the subscription; none where it has more than may be kept.
func (s Subscription) Pairs() (pairs metadata.Pairs, dropped bool) {
	kept, err := metadata.Change{Pairs: s.Metadata}.Apply(metadata.Pairs{})
	if err != nil {
		return metadata.Pairs{}, true
	}
	return kept, false
}

// faults counts what is refused of a draft.
func faults(d customer.Draft) int {
	if refused, ok := errors.AsType[*fault.Error](d.Check()); ok {
		return len(refused.Details)
	}
	return 0
}
