package webhooks

import (
	"context"

	"sundry/core/apiformat"
	"sundry/core/customer"
	"sundry/core/event"
	"sundry/core/payment"
	"sundry/core/subscription"
	"sundry/ports"
)

// OnSubscriptionCreated publishes subscription.created.
func (s *Service) OnSubscriptionCreated(ctx context.Context, r ports.Repos, e subscription.Created) error {
	return s.publishSubscription(ctx, r, event.SubscriptionCreated, e.State)
}

// OnSubscriptionRenewed publishes subscription.renewed.
func (s *Service) OnSubscriptionRenewed(ctx context.Context, r ports.Repos, e subscription.Renewed) error {
	return s.publishSubscription(ctx, r, event.SubscriptionRenewed, e.State)
}

// BeforePaymentCompleted reads ahead whom its event is delivered to.
func (s *Service) BeforePaymentCompleted(ctx context.Context, r ports.Repos, e payment.Completed) {
	if e.Purpose == payment.ForSubscription {
		_, _ = r.Webhooks.Endpoints.ListAll(ctx, e.CreatorID)
	}
}

// BeforeSubscriptionRenewed reads ahead what the change of access that follows it needs.
func (s *Service) BeforeSubscriptionRenewed(ctx context.Context, r ports.Repos, e subscription.Renewed) {
	_, _ = r.Webhooks.Announcements.Get(ctx, e.CreatorID, customer.AccessKey(e.ExternalCustomerID, e.CustomerID))
}

// OnSubscriptionCancelScheduled publishes subscription.cancel_scheduled.
func (s *Service) OnSubscriptionCancelScheduled(ctx context.Context, r ports.Repos, e subscription.CancelScheduled) error {
	return s.publishSubscription(ctx, r, event.SubscriptionCancelScheduled, e.State)
}

// OnSubscriptionCanceled publishes subscription.canceled.
func (s *Service) OnSubscriptionCanceled(ctx context.Context, r ports.Repos, e subscription.Canceled) error {
	return s.publishSubscription(ctx, r, event.SubscriptionCanceled, e.State)
}

// OnSubscriptionExpired publishes subscription.expired.
func (s *Service) OnSubscriptionExpired(ctx context.Context, r ports.Repos, e subscription.Expired) error {
	return s.publishSubscription(ctx, r, event.SubscriptionExpired, e.State)
}

// OnSubscriptionUpdated publishes subscription.updated.
func (s *Service) OnSubscriptionUpdated(ctx context.Context, r ports.Repos, e subscription.Updated) error {
	return s.publish(ctx, r, e.CreatorID, event.SubscriptionUpdated, subscription.NewUpdatedView(e, s.cfg.Livemode))
}

// OnSubscriptionChargeFailed publishes subscription.dunning.
func (s *Service) OnSubscriptionChargeFailed(ctx context.Context, r ports.Repos, e subscription.ChargeFailed) error {
	return s.publish(ctx, r, e.CreatorID, event.SubscriptionDunning, subscription.NewChargeFailedView(e, s.cfg.Livemode))
}

func (s *Service) publishSubscription(ctx context.Context, r ports.Repos, t event.Type, state subscription.State) error {
	return s.publish(ctx, r, state.CreatorID, t, subscription.NewView(state, s.cfg.Livemode))
}

// OnSubscriptionChargePaid publishes payment.completed for a renewal or a change of plan. What the customer had to their
// credit counts as a discount there, so that the figures add up.
func (s *Service) OnSubscriptionChargePaid(ctx context.Context, r ports.Repos, e subscription.ChargePaid) error {
	sub, paid := e.Subscription, e.Payment
	return s.publish(ctx, r, sub.CreatorID, event.PaymentCompleted, PaymentCompleted{
		PaymentID: paid.ID, ReceiptNumber: paid.Sale.ReceiptNumber, CustomerID: sub.CustomerID,
		ExternalCustomerID: apiformat.Text(sub.ExternalCustomerID), ListingID: sub.Offer.ListingID, Plan: sub.Offer.PlanKey,
		Interval: apiformat.Text(string(sub.Offer.Interval)), SubscriptionID: &sub.ID, SubtotalInCents: paid.Sale.Subtotal.Minor,
		DiscountInCents: paid.Sale.Discount.Minor + paid.Sale.Credit.Minor, TaxInCents: paid.Sale.Tax.Minor,
		TotalInCents: paid.Amount.Minor, Currency: string(paid.Amount.Currency), PaidAt: apiformat.Time(paid.SettledAt),
		UTM: map[string]string{}, Metadata: map[string]string{},
	})
}
