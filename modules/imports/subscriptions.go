package imports

import (
	"context"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/imports"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/ports"
)

// renewingSoon is the time before the end of its period in which a subscription is left for a later run: the provider
// might charge it before it can be ended there.
const renewingSoon = time.Hour

// subscriptions carries running subscriptions over, and ends each at the provider after that.
func (r *run) subscriptions(ctx context.Context) error {
	return eachOf(ctx, r, r.source.ListSubscriptions, func(s imports.Subscription) string { return s.ID },
		func(s imports.Subscription, before string) error { return r.subscription(ctx, s, before) })
}

func (r *run) subscription(ctx context.Context, s imports.Subscription, before string) error {
	count := r.summary[imports.Subscriptions]
	if before != "" {
		count.Before++
		return r.end(ctx, s, before)
	}
	if why := r.obstacle(s); why != "" {
		return r.refuse(imports.Subscriptions, s.ID, why)
	}
	if _, dropped := s.Pairs(); dropped {
		if err := r.note(imports.Subscriptions, s.ID, "Without: metadata."); err != nil {
			return err
		}
	}
	if r.options.DryRun || !r.options.TakeOver {
		if err := r.try(s); err != nil {
			return r.refused(imports.Subscriptions, s.ID, err)
		}
		count.Waiting++
		return nil
	}
	taken, err := r.takeOver(ctx, s)
	if err != nil {
		return r.refused(imports.Subscriptions, s.ID, err)
	}
	count.Carried++
	return r.end(ctx, s, taken)
}

// end has the provider end a subscription that goes on here.
func (r *run) end(ctx context.Context, s imports.Subscription, goesOnAs string) error {
	if s.TakenOver || r.options.DryRun || !r.options.TakeOver {
		return nil
	}
	return r.source.EndSubscription(ctx, s.ID, goesOnAs)
}

// obstacle says why a subscription cannot be carried over; "" when it can.
func (r *run) obstacle(s imports.Subscription) string {
	price, owner := r.prices[s.PriceID], r.subscribers[s.CustomerID]
	switch {
	case s.TakenOver:
		return "Another import has taken it over, which is not known here."
	case s.Obstacle != "":
		return s.Obstacle
	case owner == nil || !owner.carried:
		return "Its customer was not carried over."
	case price.Obstacle != "":
		return price.Obstacle
	case !price.carried:
		return "Its price was not carried over."
	case s.PeriodEnd.Before(r.now.Add(renewingSoon)):
		return "It renews within the hour. Import it after that."
	}
	terms, ok := price.At(s.Currency)
	switch {
	case !ok:
		return "Its price is not known in its currency."
	case s.Card != nil && s.Card.Obstacle != "":
		return s.Card.Obstacle
	case terms.Amount.Minor > 0 && s.Card == nil && !owner.hasCard:
		return "Its customer has no card that can be charged."
	}
	return ""
}

// try takes a subscription over without writing anything.
func (r *run) try(s imports.Subscription) error {
	terms, _ := r.prices[s.PriceID].At(s.Currency)
	offer := plan.Offer{Interval: terms.Interval, IntervalCount: terms.IntervalCount, Price: terms.Amount}
	if s.Quantity > 1 {
		var err error
		if offer, err = offer.WithSeats(s.Quantity); err != nil {
			return err
		}
	}
	sub := subscription.New(subscription.Order{Offer: offer, Discount: s.Discount}, r.now)
	_, err := sub.TakeOver(s.TakeOver(terms, r.now), r.now)
	return err
}

// takeOver carries a subscription over, with the card that pays for it, and returns its id here.
func (r *run) takeOver(ctx context.Context, s imports.Subscription) (string, error) {
	price := r.prices[s.PriceID]
	terms, _ := price.At(s.Currency)
	pairs, _ := s.Pairs()
	var taken subscription.State
	err := r.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		credit := creditOf(s.CustomerID, s.Currency)
		known, err := repos.Imports.Find(ctx, r.creatorID, r.options.Provider, []string{
			s.CustomerID, defaultCardOf(s.CustomerID), priceID(s.PriceID, s.Currency), credit,
		})
		if err != nil {
			return err
		}
		t := ports.TakeOver{
			CustomerID: known[s.CustomerID], ListingID: price.listingID, Price: terms, Quantity: s.Quantity,
			PaymentMethodID: known[defaultCardOf(s.CustomerID)], From: s.TakeOver(terms, r.now), Discount: s.Discount,
			Metadata: pairs,
		}
		t.Price.ID = known[priceID(s.PriceID, s.Currency)]
		if t.CustomerID == "" || t.Price.ID == "" {
			return fault.NotFound("customer or price")
		}
		if s.Card != nil {
			if t.PaymentMethodID, err = r.card(ctx, repos, t.CustomerID, *s.Card); err != nil {
				return err
			}
		}
		if known[credit] != "" { // another subscription of theirs has it
			t.From.CreditInMinor = 0
		}
		if t.Discount != nil {
			t.Discount.ID = r.deps.IDs.New(id.Discount)
		}
		if taken, err = r.deps.Subscriptions.TakeOver(ctx, r.creatorID, t); err != nil {
			return err
		}
		if t.From.CreditInMinor > 0 {
			if err := r.remember(ctx, repos, credit, taken.ID); err != nil {
				return err
			}
		}
		return r.remember(ctx, repos, s.ID, taken.ID)
	})
	return taken.ID, err
}

// creditOf names a customer's credit in one currency among imported objects: one subscription gets it.
func creditOf(customerID string, currency money.Currency) string {
	return customerID + ":credit:" + string(currency)
}
