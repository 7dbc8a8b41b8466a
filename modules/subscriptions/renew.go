package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/core/subscription"
	"sundry/core/tax"
	"sundry/ports"
)

// punctual is the longest delay at which a step is still booked at its due time, so that worker lag does not shift
// billing dates.
const punctual = time.Minute

// RunDue takes the step that has fallen due, and runs the charge of a renewal after the commit. Task TaskDue.
func (s *Service) RunDue(ctx context.Context, t ports.Task) error {
	var started payment.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		started = payment.State{}
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		state, err := r.Subscriptions.Subscriptions.GetForUpdate(ctx, t.Subject)
		if errors.Is(err, ports.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, state.CreatorID)
		if err != nil {
			return err
		}
		step, due := state.Next()
		switch {
		case step == subscription.NoStep: // it was ended, paused or charged meanwhile
			return nil
		case now.Before(due):
			return s.plan(ctx, r, state)
		case now.Sub(due) < punctual:
			now = due
		}
		started, err = s.take(ctx, r, subscription.Restore(state), step, now)
		return err
	})
	if err != nil || started.ID == "" {
		return err
	}
	return s.deps.Runner.RunUnattended(ctx, started)
}

// take makes one step, and returns the charge that a renewal has started.
func (s *Service) take(
	ctx context.Context, r ports.Repos, sub *subscription.Subscription, step subscription.Step, at time.Time,
) (payment.State, error) {
	switch step {
	case subscription.StepEnd:
		e, err := sub.End(at)
		if err != nil {
			return payment.State{}, err
		}
		return payment.State{}, s.commit(ctx, r, sub, e)
	case subscription.StepExpire:
		return payment.State{}, s.expire(ctx, r, sub, at)
	case subscription.StepRenew:
		return s.renew(ctx, r, sub, chargeOptions{at: at})
	case subscription.NoStep:
	}
	return payment.State{}, nil
}

// expire ends a subscription that was not paid in time.
func (s *Service) expire(ctx context.Context, r ports.Repos, sub *subscription.Subscription, at time.Time) error {
	e, err := sub.Expire(at)
	if err != nil {
		return err
	}
	return s.commit(ctx, r, sub, e)
}

// renew bills the next period and returns the charge of the bill. A customer without a card is treated as one whose
// card is declined.
func (s *Service) renew(
	ctx context.Context, r ports.Repos, sub *subscription.Subscription, options chargeOptions,
) (started payment.State, err error) {
	bill, err := sub.NextBill(options.at)
	if err != nil {
		return payment.State{}, err
	}
	sale, err := s.sale(ctx, r, sub.State(), bill, options.at)
	if err != nil {
		return payment.State{}, err
	}
	started, err = s.charge(ctx, r, sub, bill, sale, options)
	if !fault.Is(err, fault.PaymentMethodRequired) {
		return started, err
	}
	total, err := sale.Total()
	if err != nil {
		return payment.State{}, err
	}
	if err := sub.StartCharge("", bill); err != nil {
		return payment.State{}, err
	}
	if err := r.Subscriptions.Subscriptions.Update(ctx, sub.State()); err != nil {
		return payment.State{}, err
	}
	return payment.State{}, s.declined(ctx, r, sub, payment.State{
		Amount: total, Decline: payment.DeclineReason{Code: payment.MethodRequired}, CreatedAt: options.at,
	})
}

// chargeOptions selects the account time of a charge, whether the customer is present to confirm it, and whether the
// attempt's task runs it instead of the caller.
type chargeOptions struct {
	at        time.Time
	onSession bool
	runByTask bool
}

// charge starts the charge of a bill, of which sale is the sale. If nothing is due, it applies the bill at once and
// returns no attempt. PAYMENT_METHOD_REQUIRED changes nothing.
func (s *Service) charge(
	ctx context.Context, r ports.Repos, sub *subscription.Subscription, bill subscription.Bill, sale payment.Sale,
	options chargeOptions,
) (started payment.State, err error) {
	total, err := sale.Total()
	if err != nil {
		return payment.State{}, err
	}
	if total.Minor == 0 {
		e, err := sub.Apply(bill)
		if err != nil {
			return payment.State{}, err
		}
		return payment.State{}, s.commit(ctx, r, sub, e)
	}
	state := sub.State()
	attempt, err := s.deps.Charges.Start(ctx, r, ports.Charge{
		CreatorID: state.CreatorID, Sale: sale, At: options.at, OnSession: options.onSession,
		RunByCaller: !options.runByTask,
		Subject: payment.Subject{
			Purpose: payment.ForSubscription, SubjectID: state.ID, CustomerID: state.CustomerID,
			PaymentMethodID: state.PaymentMethodID,
		},
	})
	if err != nil {
		return payment.State{}, err
	}
	if err := sub.StartCharge(attempt.ID, bill); err != nil {
		return payment.State{}, err
	}
	return attempt, s.commit(ctx, r, sub, nil)
}

// sale is a bill with its tax.
func (s *Service) sale(
	ctx context.Context, r ports.Repos, state subscription.State, bill subscription.Bill, at time.Time,
) (payment.Sale, error) {
	none := bill.Due()
	none.Minor = 0
	sale := payment.Sale{
		Subtotal: bill.Subtotal, Discount: bill.Discount, Credit: bill.CreditUsed, Tax: none, TaxAdded: none,
		Lines:     bill.Lines,
		ListingID: bill.Offer.ListingID, PeriodStart: bill.PeriodStart, PeriodEnd: bill.PeriodEnd,
	}
	if bill.Due().Minor == 0 {
		return sale, nil
	}
	buyer, err := s.deps.Customers.Customer(ctx, r, state.CustomerID)
	if err != nil {
		return payment.Sale{}, err
	}
	taxed, err := s.deps.Taxes.Calculate(ctx, tax.Sale{
		Lines:    []tax.Line{{Amount: bill.Due(), Category: bill.Offer.ListingType.TaxCategory()}},
		Behavior: bill.Offer.TaxBehavior, At: at,
		BuyerCountry: buyer.Details.Country, BuyerPostalCode: buyer.Details.PostalCode, BuyerTaxID: buyer.Details.TaxID,
	})
	if err != nil {
		return payment.Sale{}, fmt.Errorf("tax %s: %w", state.ID, err)
	}
	sale.Tax, sale.TaxDetails = taxed.Tax, taxed.Details()
	sale.TaxAdded, err = taxed.Total.Sub(bill.Due())
	return sale, err
}

// OnPaymentCompleted applies a paid charge to its subscription. Money that is no longer awaited is refunded.
func (s *Service) OnPaymentCompleted(ctx context.Context, r ports.Repos, e payment.Completed) error {
	if e.Purpose != payment.ForSubscription {
		return nil
	}
	state, err := r.Subscriptions.Subscriptions.Get(ctx, e.SubjectID)
	if err != nil {
		return err
	}
	if !state.IsAwaiting(e.ID) {
		return s.deps.Charges.Refund(ctx, r, e.State, refund.NoLongerDue)
	}
	sub, bill := subscription.Restore(state), state.Charge.Bill
	value, err := state.ValueOf(bill)
	if err != nil {
		return err
	}
	transition, err := sub.Paid(e.ID)
	if err != nil {
		return err
	}
	err = r.Subscriptions.PaidPeriods.Insert(ctx, ports.PaidPeriod{
		PaymentID: e.ID, CreatorID: state.CreatorID, SubscriptionID: state.ID, Kind: bill.Kind, Start: bill.PeriodStart,
		End: bill.PeriodEnd,
		Due: bill.Due().Minor, Value: value.Minor,
	})
	if err != nil {
		return err
	}
	if err := s.deps.Bus.Publish(ctx, r, subscription.ChargePaid{Subscription: sub.State(),
		Payment: e.State}); err != nil {
		return err
	}
	return s.commit(ctx, r, sub, transition)
}

// OnPaymentFailed applies the failure of a charge.
func (s *Service) OnPaymentFailed(ctx context.Context, r ports.Repos, e payment.Failed) error {
	if e.Purpose != payment.ForSubscription {
		return nil
	}
	state, err := r.Subscriptions.Subscriptions.Get(ctx, e.SubjectID)
	if err != nil || !state.IsAwaiting(e.ID) {
		return err
	}
	sub := subscription.Restore(state)
	if e.Status == payment.Canceled {
		if err := sub.ChargeNotSent(e.ID); err != nil {
			return err
		}
		return s.commit(ctx, r, sub, nil)
	}
	return s.declined(ctx, r, sub, e.State)
}

// declined makes a renewal past due, and lets it expire when that was the last attempt.
func (s *Service) declined(
	ctx context.Context, r ports.Repos, sub *subscription.Subscription, attempt payment.State,
) error {
	e, err := sub.Declined(attempt.ID, attempt.Decline, attempt.CreatedAt)
	if err != nil {
		return err
	}
	if failed, ok := e.(subscription.ChargeFailed); ok {
		failed.Payment = attempt
		e = failed
	}
	if err := s.commit(ctx, r, sub, e); err != nil {
		return err
	}
	step, due := sub.State().Next()
	if step != subscription.StepExpire || attempt.CreatedAt.Before(due) {
		return nil
	}
	return s.expire(ctx, r, sub, attempt.CreatedAt)
}
