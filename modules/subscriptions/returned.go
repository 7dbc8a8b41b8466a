package subscriptions

import (
	"context"
	"errors"

	"sundry/core/dispute"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/refund"
	"sundry/core/subscription"
	"sundry/core/tax"
	"sundry/ports"
)

// OnRefundCreated subtracts a refund from the value of the period that the payment bought. The subscription
// continues.
func (s *Service) OnRefundCreated(ctx context.Context, r ports.Repos, e refund.Created) error {
	return s.returned(ctx, r, returnedPayment{e.PaymentID, e.CheckoutID, e.SubscriptionID, e.Share})
}

// OnDisputeClosed does the same with a dispute that was lost.
func (s *Service) OnDisputeClosed(ctx context.Context, r ports.Repos, e dispute.Closed) error {
	if e.Status != dispute.Lost {
		return nil
	}
	return s.returned(ctx, r, returnedPayment{e.PaymentID, e.CheckoutID, e.SubscriptionID, e.Share})
}

// returnedPayment is a payment of which a share went back.
type returnedPayment struct {
	paymentID, checkoutID, subscriptionID string
	share                                 ledger.Share
}

func (s *Service) returned(ctx context.Context, r ports.Repos, p returnedPayment) error {
	state, paid, err := bought(ctx, r, p)
	if errors.Is(err, ports.ErrNotFound) {
		return nil // it bought nothing of a subscription
	}
	if err != nil || !paid.Start.Equal(state.CurrentPeriodStart) {
		return err
	}
	value, err := valueOf(p.share, state.Offer.TaxBehavior, paid)
	if err != nil {
		return err
	}
	sub := subscription.Restore(state)
	e, changed, err := sub.Returned(value)
	if err != nil || !changed {
		return err
	}
	return s.commit(ctx, r, sub, e)
}

// bought is the subscription of a payment and the period that it paid for. ErrNotFound when there is none.
func bought(ctx context.Context, r ports.Repos, p returnedPayment) (subscription.State, ports.PaidPeriod, error) {
	if p.subscriptionID == "" {
		state, err := r.Subscriptions.Subscriptions.GetByCheckout(ctx, p.checkoutID)
		return state, ports.PaidPeriod{Start: state.StartedAt}, err
	}
	state, err := r.Subscriptions.Subscriptions.Get(ctx, p.subscriptionID)
	if err != nil {
		return state, ports.PaidPeriod{}, err
	}
	paid, err := r.Subscriptions.PaidPeriods.Get(ctx, p.paymentID)
	return state, paid, err
}

// valueOf converts a share of a payment to the same share of the paid period's value, which excludes added tax.
func valueOf(share ledger.Share, behavior tax.Behavior, paid ports.PaidPeriod) (money.Amount, error) {
	net := share.Amount
	if behavior == tax.Exclusive {
		net.Minor -= share.Tax.Minor
	}
	if paid.Due == 0 {
		return net, nil // a checkout's: it pays for the whole period
	}
	return net.RatioHalfUp(paid.Value, paid.Due)
}
