package stripepay

import (
	"context"
	"math"
	"time"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/imports"
	"sundry/core/money"
	"sundry/core/subscription"
	"sundry/ports"
)

// ListSubscriptions implements ports.BillingSource.
func (p *Processor) ListSubscriptions(ctx context.Context, after string) (
	ports.SourcePage[imports.Subscription], error,
) {
	params := &stripe.SubscriptionListParams{ListParams: pageAfter(ctx, after)}
	params.AddExpand("data.customer")
	params.AddExpand("data.default_payment_method")
	list := p.api.Subscriptions.List(params)
	return readPage("subscriptions", list, func() (imports.Subscription, string, error) {
		one := list.Subscription()
		return subscriptionOf(one), one.ID, nil
	})
}

func subscriptionOf(one *stripe.Subscription) imports.Subscription {
	s := imports.Subscription{
		ID: one.ID, Currency: money.Currency(one.Currency), StartedAt: instant(one.StartDate),
		Anchor: instant(one.BillingCycleAnchor), PeriodEnd: instant(one.CurrentPeriodEnd),
		CancelAtPeriodEnd: one.CancelAtPeriodEnd, Metadata: one.Metadata, TakenOver: one.Metadata[goesOnAs] != "",
		Obstacle: subscriptionObstacle(one),
	}
	if one.Status == stripe.SubscriptionStatusTrialing {
		s.TrialEndsAt = instant(one.TrialEnd)
	}
	if one.Items != nil && len(one.Items.Data) > 0 {
		item := one.Items.Data[0]
		s.Quantity = int(item.Quantity)
		if item.Price != nil {
			s.PriceID = item.Price.ID
			if item.Price.Product != nil {
				s.ProductID = item.Price.Product.ID
			}
		}
	}
	discount := one.Discount
	if owner := one.Customer; owner != nil {
		s.CustomerID = owner.ID
		if discount == nil {
			discount = owner.Discount // Stripe applies it where the subscription has none of its own
		}
		if owner.Balance < 0 && owner.Currency == one.Currency {
			s.CreditInMinor = amountOf(-owner.Balance, owner.Currency).Minor
		}
		if one.DefaultPaymentMethod != nil {
			s.Card = savedCardOf(owner.ID, one.DefaultPaymentMethod)
		}
	}
	if discount != nil && s.Obstacle == "" {
		s.Discount, s.Obstacle = discountOf(discount, one.Currency)
	}
	return s
}

// instant converts Stripe's seconds; zero is none.
func instant(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// subscriptionObstacle says why a subscription cannot be carried over, whatever its price; "" when it can.
func subscriptionObstacle(one *stripe.Subscription) string {
	switch {
	case one.Status != stripe.SubscriptionStatusActive && one.Status != stripe.SubscriptionStatusTrialing:
		return "It is " + string(one.Status) + ". Settle that at Stripe first."
	case one.Items == nil || len(one.Items.Data) != 1:
		return "It has several prices at once."
	case one.PauseCollection != nil:
		return "Its collection is paused."
	case one.Schedule != nil:
		return "A schedule changes it. Release that at Stripe first."
	case one.CollectionMethod == stripe.SubscriptionCollectionMethodSendInvoice:
		return "It is paid by invoices that Stripe sends."
	case one.CancelAt != 0 && !one.CancelAtPeriodEnd:
		return "It is to be canceled within a period."
	case one.Customer != nil && one.Customer.Balance > 0:
		return "Its customer owes an amount at Stripe that its next invoice would include."
	}
	return ""
}

// discountOf is a running discount, or why it cannot be carried over.
func discountOf(d *stripe.Discount, currency stripe.Currency) (*subscription.Discount, string) {
	c := d.Coupon
	if c == nil {
		return nil, ""
	}
	carried := &subscription.Discount{
		Code: c.ID, EndsAt: instant(d.End), Once: c.Duration == stripe.CouponDurationOnce,
	}
	switch {
	case c.PercentOff > 0 && c.PercentOff != math.Trunc(c.PercentOff):
		return nil, "Its discount is a fraction of a percent."
	case c.PercentOff > 0:
		carried.PercentOff = int(c.PercentOff)
	case c.Currency != currency:
		return nil, "Its discount is in another currency."
	default:
		carried.AmountOff = amountOf(c.AmountOff, c.Currency)
	}
	return carried, ""
}
