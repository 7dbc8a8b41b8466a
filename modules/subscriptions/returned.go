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

// OnRefundCreated takes the access away that the payment has bought for the current period when all of it went back,
// takes a refund off the value and the credit that are left of the payment, and ends the subscription as the refund
// specifies: by default at once where access was taken away.
func (s *Service) OnRefundCreated(ctx context.Context, r ports.Repos, e refund.Created) error {
	sub, paid, err := bought(ctx, r, e.Return)
	if sub == nil || err != nil {
		return err
	}
	ends := e.Subscription
	if e.Full && !e.KeepAccess && sub.Withdraw(paid.Payment) {
		moved := subscription.MoneyMoved{State: sub.State(), Why: subscription.PaymentRefunded, ID: e.ID}
		if err := s.commit(ctx, r, sub, moved); err != nil {
			return err
		}
		if ends == refund.EndByDefault {
			ends = refund.CancelNow
		}
	}
	if err := s.returned(ctx, r, sub, paid); err != nil || sub.State().Status.Terminal() {
		return err
	}
	now, err := r.Clock.Now(ctx, e.CreatorID)
	if err != nil {
		return err
	}
	switch ends {
	case refund.CancelNow:
		canceled, err := sub.Cancel(subscription.CancelRefunded, now)
		if err != nil {
			return err
		}
		return s.commit(ctx, r, sub, canceled)
	case refund.CancelAtPeriodEnd:
		canceled, err := sub.CancelAtPeriodEnd(subscription.CancelRefunded, now)
		if err != nil || canceled == nil {
			return err
		}
		return s.commit(ctx, r, sub, canceled)
	case refund.EndByDefault, refund.KeepSubscription:
	}
	return nil
}

// OnRefundFailed restores the value and the access of the current period that a refund of its payment ended, when the
// money did not reach the buyer. A subscription that the refund has ended stays so.
func (s *Service) OnRefundFailed(ctx context.Context, r ports.Repos, e refund.Failure) error {
	if !e.CameBack || e.Automatic { // what was paid for was never given
		return nil
	}
	sub, paid, err := bought(ctx, r, e.Return)
	if sub == nil || err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, e.CreatorID)
	if err != nil {
		return err
	}
	credited, changed := sub.RefundFailed(paid.Payment, paid.value, e.WasFull, now)
	if !changed {
		return nil
	}
	moved := subscription.MoneyMoved{State: sub.State(), Why: subscription.RefundFailed, ID: e.ID}
	if err := s.commit(ctx, r, sub, moved); err != nil || credited == nil {
		return err
	}
	return s.deps.Bus.Publish(ctx, r, credited)
}

// OnDisputeOpened holds all charges of the subscription, and suspends the access of the current period where the
// disputed payment has bought it.
func (s *Service) OnDisputeOpened(ctx context.Context, r ports.Repos, e dispute.Opened) error {
	sub, paid, err := bought(ctx, r, e.Return)
	if sub == nil || err != nil || !sub.Dispute(e.ID, paid.Payment) {
		return err
	}
	return s.commit(ctx, r, sub, subscription.MoneyMoved{State: sub.State(), Why: subscription.DisputeOpened, ID: e.ID})
}

// OnDisputeClosed lets a subscription go on whose dispute was won. A lost one is canceled, and what is left of the
// payment in its value and credit goes with the money.
func (s *Service) OnDisputeClosed(ctx context.Context, r ports.Repos, e dispute.Closed) error {
	sub, paid, err := bought(ctx, r, e.Return)
	if sub == nil || err != nil {
		return err
	}
	if e.Status == dispute.Won {
		if !sub.DisputeClosed(e.ID) {
			return nil
		}
		return s.commit(ctx, r, sub, subscription.MoneyMoved{State: sub.State(), Why: subscription.DisputeWon, ID: e.ID})
	}
	if err := s.returned(ctx, r, sub, paid); err != nil {
		return err
	}
	if sub.DisputeClosed(e.ID) {
		if err := s.commit(ctx, r, sub, nil); err != nil {
			return err
		}
	}
	if sub.State().Status.Terminal() {
		return nil
	}
	now, err := r.Clock.Now(ctx, e.CreatorID)
	if err != nil {
		return err
	}
	canceled, err := sub.Cancel(subscription.CancelDisputeLost, now)
	if err != nil {
		return err
	}
	return s.commit(ctx, r, sub, canceled)
}

// returned takes what went back off what is left of the payment.
func (s *Service) returned(ctx context.Context, r ports.Repos, sub *subscription.Subscription, p paidFor) error {
	e, changed := sub.Returned(p.Payment, p.value)
	if !changed {
		return nil
	}
	return s.commit(ctx, r, sub, e)
}

// paidFor is a payment of a subscription, and what a share of it is worth in the period that it bought.
type paidFor struct {
	subscription.Payment
	value money.Amount
}

// bought is the subscription of a payment and what it has paid for; nil when it bought nothing of a subscription.
func bought(ctx context.Context, r ports.Repos, p ledger.Return) (*subscription.Subscription, paidFor, error) {
	var state subscription.State
	var paid ports.PaidPeriod
	var err error
	if p.SubscriptionID == "" {
		state, err = r.Subscriptions.Subscriptions.GetByCheckout(ctx, p.Purchase())
		paid.Start = state.StartedAt
	} else if paid, err = r.Subscriptions.PaidPeriods.Get(ctx, p.PaymentID); err == nil {
		state, err = r.Subscriptions.Subscriptions.GetForUpdate(ctx, p.SubscriptionID)
	}
	if errors.Is(err, ports.ErrNotFound) {
		return nil, paidFor{}, nil
	}
	if err != nil {
		return nil, paidFor{}, err
	}
	if !paid.Start.Equal(state.CurrentPeriodStart) {
		paid.Due = 0
	}
	value, err := valueOf(p.Share, state.Offer.TaxBehavior, paid)
	return subscription.Restore(state), paidFor{subscription.Payment{ID: p.PaymentID, PaidFrom: paid.Start}, value}, err
}

// valueOf converts a share of a payment to the same share of the paid period's value, which excludes added tax.
func valueOf(share ledger.Share, behavior tax.Behavior, paid ports.PaidPeriod) (money.Amount, error) {
	net := share.Amount
	if behavior == tax.Exclusive {
		net.Minor -= share.Tax.Minor
	}
	if paid.Due == 0 {
		return net, nil // a checkout's, which pays for the whole period, or of another period
	}
	return net.RatioHalfUp(paid.Value, paid.Due)
}
