package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/ports"
)

// Change is a wish for another plan or quantity.
type Change struct {
	// Plan may be empty for the present one, at the price that the subscription has.
	Plan string
	// Quantity is zero for the present one.
	Quantity int
	// Every may be empty for the present one.
	Every period.Cadence
	Mode  subscription.ProrationMode
	// QuoteID names the previewed price to charge; empty to charge the current price.
	QuoteID string
	// OnSession is true when the customer is here to confirm the payment to their bank. The charge may wait for
	// Confirm then.
	OnSession bool
}

// Preview quotes the charge of changing the plan now. NOT_FOUND (subscription, plan, interval, or a price in
// the subscription's currency), STATE_CONFLICT,
// LISTING_NOT_PURCHASABLE.
func (s *Service) Preview(ctx context.Context, creatorID, subscriptionID string, c Change) (subscription.Quote, error) {
	var quote subscription.Quote
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sub, now, err := load(ctx, r, creatorID, subscriptionID)
		if err != nil {
			return err
		}
		to, err := s.target(ctx, r, sub.State(), c)
		if err != nil {
			return err
		}
		if quote, err = s.quote(ctx, r, sub, to, c.Mode, now); err != nil {
			return err
		}
		return r.Subscriptions.Quotes.Insert(ctx, quote)
	})
	return quote, err
}

// quote prices a change.
func (s *Service) quote(
	ctx context.Context, r ports.Repos, sub *subscription.Subscription, to plan.Offer, mode subscription.ProrationMode,
	now time.Time,
) (subscription.Quote, error) {
	bill, err := sub.ChangeBill(to, mode, now)
	if err != nil {
		return subscription.Quote{}, err
	}
	sale, err := s.sale(ctx, r, sub.State(), bill, now)
	if err != nil {
		return subscription.Quote{}, err
	}
	return subscription.NewQuote(s.deps.IDs.New(id.Quote), sub.State(), mode, bill, sale, now), nil
}

// target is the offer of the plan that is wished for, in the currency of the subscription.
// Without a plan it is the present one, or with the next period the one that is planned.
func (s *Service) target(ctx context.Context, r ports.Repos, state subscription.State, c Change) (plan.Offer, error) {
	present := state.Offer
	if c.Mode == subscription.NextPeriod && state.Planned != nil {
		present = *state.Planned
	}
	if c.Quantity == 0 {
		c.Quantity = present.Seats()
	}
	if c.Plan == "" {
		return present.WithSeats(c.Quantity)
	}
	if c.Every == "" {
		c.Every = period.Every(state.Offer.Interval, state.Offer.IntervalCount)
	}
	to, err := s.deps.Offers.ByListing(ctx, r, state.CreatorID, ports.ListingChoice{ // its key may be another by now
		ListingID: state.Offer.ListingID, Plan: c.Plan, Every: c.Every, Currency: state.Offer.Price.Currency,
	})
	if err != nil {
		return plan.Offer{}, err
	}
	return to.WithSeats(c.Quantity)
}

// ChangePlan changes the plan: at once, charging or crediting the difference, or with the next period. It waits for
// the charge; the plan stays while the outcome is unknown. The faults of Preview, QUOTE_EXPIRED, CARD_DECLINED,
// AUTHENTICATION_REQUIRED, PAYMENT_METHOD_REQUIRED, PROCESSOR_UNAVAILABLE.
func (s *Service) ChangePlan(
	ctx context.Context, creatorID, subscriptionID string, c Change,
) (subscription.State, error) {
	started, err := s.startChange(ctx, creatorID, subscriptionID, c)
	if err != nil {
		return subscription.State{}, err
	}
	return s.outcome(ctx, creatorID, subscriptionID, started)
}

// startChange applies a change that costs nothing now, and starts the charge of one that does. The access log records
// either.
func (s *Service) startChange(
	ctx context.Context, creatorID, subscriptionID string, c Change,
) (started payment.State, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sub, now, err := load(ctx, r, creatorID, subscriptionID)
		if err != nil {
			return err
		}
		to, err := s.target(ctx, r, sub.State(), c)
		if err != nil {
			return err
		}
		quote, err := s.binding(ctx, r, sub, to, c, now)
		if err != nil {
			return err
		}
		options := chargeOptions{at: now, onSession: c.OnSession}
		if c.Mode == subscription.NextPeriod {
			e, err := sub.PlanFor(quote.Bill.Offer)
			if err != nil {
				return err
			}
			if err := s.commit(ctx, r, sub, e); err != nil || len(e.Previous) == 0 {
				return err // planned before
			}
		} else if started, err = s.charge(ctx, r, sub, quote.Bill, quote.Sale, options); err != nil {
			return err
		}
		return s.audit(ctx, r, identity.SubscriptionChanged, sub.State(), quote.Bill.Offer)
	})
	return started, err
}

// binding is the quote that was previewed, used up now, or one of the present. What is wrong with a quote is reported
// before what its change is refused for, unless the subscription has ended.
func (s *Service) binding(
	ctx context.Context, r ports.Repos, sub *subscription.Subscription, to plan.Offer, c Change, now time.Time,
) (subscription.Quote, error) {
	if c.QuoteID == "" || sub.State().Status.Terminal() {
		return s.quote(ctx, r, sub, to, c.Mode, now)
	}
	quoted, err := r.Subscriptions.Quotes.Get(ctx, c.QuoteID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && quoted.CreatorID != sub.State().CreatorID {
		return subscription.Quote{}, subscription.ErrQuote("There is no such quote. Preview the change again.")
	}
	if err != nil {
		return subscription.Quote{}, err
	}
	if quoted, err = quoted.Use(sub.State(), to, c.Mode, now); err != nil {
		return subscription.Quote{}, err
	}
	return quoted, r.Subscriptions.Quotes.Update(ctx, quoted)
}

// Resume removes a scheduled cancellation or ends a pause. A pause that outlasted the paid period costs another one,
// charged at once. NOT_FOUND, STATE_CONFLICT, CARD_DECLINED, AUTHENTICATION_REQUIRED, PAYMENT_METHOD_REQUIRED,
// PROCESSOR_UNAVAILABLE.
func (s *Service) Resume(ctx context.Context, creatorID, subscriptionID string) (subscription.State, error) {
	return s.resume(ctx, creatorID, subscriptionID, chargeOptions{})
}

// ResumeOnPage is Resume for a customer who is present to confirm the payment to their bank: the charge may wait for
// Confirm.
func (s *Service) ResumeOnPage(ctx context.Context, creatorID, subscriptionID string) (subscription.State, error) {
	return s.resume(ctx, creatorID, subscriptionID, chargeOptions{onSession: true})
}

func (s *Service) resume(
	ctx context.Context, creatorID, subscriptionID string, options chargeOptions,
) (subscription.State, error) {
	var started payment.State
	_, err := s.change(ctx, creatorID, subscriptionID, identity.SubscriptionResumed, func(
		sub *subscription.Subscription, now time.Time,
	) (event.Event, error) {
		return sub.Resume(now)
	})
	if fault.Is(err, fault.StateConflict) {
		started, err = s.startResumption(ctx, creatorID, subscriptionID, options, err)
	}
	if err != nil {
		return subscription.State{}, err
	}
	return s.outcome(ctx, creatorID, subscriptionID, started)
}

// startResumption charges for another period; refused is why it could not be resumed for nothing.
func (s *Service) startResumption(
	ctx context.Context, creatorID, subscriptionID string, options chargeOptions, refused error,
) (started payment.State, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sub, now, err := load(ctx, r, creatorID, subscriptionID)
		if err != nil {
			return err
		}
		bill, err := sub.ResumeBill(now)
		if err != nil {
			return refused
		}
		options.at = now
		sale, err := s.sale(ctx, r, sub.State(), bill, now)
		if err != nil {
			return err
		}
		if started, err = s.charge(ctx, r, sub, bill, sale, options); err != nil {
			return err
		}
		return s.audit(ctx, r, identity.SubscriptionResumed, sub.State(), bill.Offer)
	})
	return started, err
}

// outcome runs a charge, if there is one, and returns the subscription afterwards.
func (s *Service) outcome(
	ctx context.Context, creatorID, subscriptionID string, started payment.State,
) (subscription.State, error) {
	if started.ID != "" {
		attempt, err := s.deps.Runner.Run(ctx, started, ports.Payer{})
		if err != nil {
			return subscription.State{}, fmt.Errorf("charge %s: %w", subscriptionID, err)
		}
		if attempt.Status == payment.Declined {
			return subscription.State{}, cardDeclined(attempt.Decline)
		}
	}
	return owned(ctx, s.deps.Store.Read(ctx), creatorID, subscriptionID)
}

// PayNow charges the overdue amount while the customer is present, so that they can confirm it to their bank. It
// returns the attempt; one that requires action waits for Confirm. NOT_FOUND, STATE_CONFLICT when nothing is overdue,
// PAYMENT_METHOD_REQUIRED, CARD_DECLINED, PROCESSOR_UNAVAILABLE.
func (s *Service) PayNow(ctx context.Context, creatorID, subscriptionID string) (payment.State, error) {
	var started payment.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sub, now, err := load(ctx, r, creatorID, subscriptionID)
		if err != nil {
			return err
		}
		if sub.State().Status != subscription.StatusPastDue {
			return fault.New(fault.StateConflict, "Nothing is overdue.")
		}
		bill, err := sub.NextBill(now)
		if err != nil {
			return err
		}
		sale, err := s.sale(ctx, r, sub.State(), bill, now)
		if err != nil {
			return err
		}
		started, err = s.charge(ctx, r, sub, bill, sale, chargeOptions{at: now, onSession: true})
		return err
	})
	if err != nil || started.ID == "" {
		return payment.State{Status: payment.Succeeded}, err
	}
	return waited(s.deps.Runner.Run(ctx, started, ports.Payer{}))
}

// Challenge returns the next action of the customer's bank challenge. STATE_CONFLICT when there is none, RATE_LIMITED
// by their network, PROCESSOR_UNAVAILABLE.
func (s *Service) Challenge(
	ctx context.Context, creatorID, subscriptionID, network string,
) (payment.NextAction, error) {
	paymentID, err := s.waitingCharge(ctx, creatorID, subscriptionID)
	if err != nil {
		return payment.NextAction{}, err
	}
	return s.deps.Runner.Challenge(ctx, paymentID, network)
}

// Confirm carries the customer's response to their bank. STATE_CONFLICT when nothing is asked; CARD_DECLINED;
// RATE_LIMITED by their network.
func (s *Service) Confirm(
	ctx context.Context, creatorID, subscriptionID string, approve bool, network string,
) (payment.State, error) {
	paymentID, err := s.waitingCharge(ctx, creatorID, subscriptionID)
	if err != nil {
		return payment.State{}, err
	}
	return waited(s.deps.Runner.Authenticate(ctx, paymentID, approve, network))
}

// waitingCharge returns the payment that the customer has to confirm. STATE_CONFLICT without one.
func (s *Service) waitingCharge(ctx context.Context, creatorID, subscriptionID string) (paymentID string, err error) {
	state, err := s.Get(ctx, creatorID, subscriptionID)
	if err == nil && state.Charge == nil {
		err = payment.ErrNoChallenge()
	}
	if err != nil {
		return "", err
	}
	return state.Charge.PaymentID, nil
}

// waited adds the refusal of a declined charge to its outcome: CARD_DECLINED or AUTHENTICATION_REQUIRED.
func waited(attempt payment.State, err error) (payment.State, error) {
	if err == nil && attempt.Status == payment.Declined {
		err = cardDeclined(attempt.Decline)
	}
	return attempt, err
}

// cardDeclined is the refusal of a card.
func cardDeclined(why payment.DeclineReason) error {
	if why.Code == payment.AuthenticationRequired {
		return fault.New(fault.AuthenticationRequired, "The bank wants the customer to confirm this payment. "+
			"Send them to their portal (POST /v1/customer-portal-sessions): what they ask for there, they can confirm.")
	}
	return why.Refusal()
}
