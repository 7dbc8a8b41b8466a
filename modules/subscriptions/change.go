package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/ports"
)

// authenticationRequired is why a bank declines a charge that the customer must confirm.
const authenticationRequired = "authentication_required"

// Change is a wish for another plan.
type Change struct {
	Plan string
	// Interval may be empty for the present one.
	Interval period.Interval
	Mode     subscription.ProrationMode
	// QuoteID is a previewed price to be charged exactly; empty to be charged what it costs now.
	QuoteID string
	// OnSession is true when the customer is here to confirm the payment to their bank. The charge may wait for Confirm then.
	OnSession bool
}

// Preview quotes a change of plan: what it would charge now. Faults: NOT_FOUND (subscription, plan or interval),
// STATE_CONFLICT, LISTING_NOT_PURCHASABLE.
func (s *Service) Preview(ctx context.Context, creatorID, subscriptionID string, c Change) (subscription.Quote, error) {
	var quote subscription.Quote
	err := s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
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
func (s *Service) quote(ctx context.Context, r ports.Repos, sub *subscription.Subscription, to plan.Offer, mode subscription.ProrationMode, now time.Time) (subscription.Quote, error) {
	bill, err := sub.ChangeBill(to, mode, now)
	if err != nil {
		return subscription.Quote{}, err
	}
	sale, err := s.sale(ctx, r, sub.State(), bill, now)
	if err != nil {
		return subscription.Quote{}, err
	}
	return subscription.NewQuote(s.ids.New(id.Quote), sub.State(), mode, bill, sale, now), nil
}

// target is the offer of the plan that is wished for.
func (s *Service) target(ctx context.Context, r ports.Repos, state subscription.State, c Change) (plan.Offer, error) {
	if c.Interval == "" {
		c.Interval = state.Offer.Interval
	}
	to, err := s.offers.ByCatalog(ctx, r, state.CreatorID, ports.CatalogChoice{Listing: state.Offer.ListingKey, Plan: c.Plan, Interval: c.Interval})
	to.TrialDays = 0 // there is one trial, at the beginning
	return to, err
}

// ChangePlan changes the plan: at once, charging or crediting the difference, or with the next period. It waits for the
// charge; one whose outcome is not known yet leaves the plan as it is until it is. Faults: those of Preview, QUOTE_EXPIRED,
// CARD_DECLINED, AUTHENTICATION_REQUIRED, PAYMENT_METHOD_REQUIRED, PROCESSOR_UNAVAILABLE.
func (s *Service) ChangePlan(ctx context.Context, creatorID, subscriptionID string, c Change) (subscription.State, error) {
	paymentID, err := s.startChange(ctx, creatorID, subscriptionID, c)
	if err != nil {
		return subscription.State{}, err
	}
	return s.outcome(ctx, creatorID, subscriptionID, paymentID)
}

// startChange takes over a change that costs nothing now, and starts the charge of one that does.
func (s *Service) startChange(ctx context.Context, creatorID, subscriptionID string, c Change) (paymentID string, err error) {
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
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
		if c.Mode == subscription.NextPeriod {
			e, err := sub.PlanFor(quote.Bill.Offer)
			if err != nil {
				return err
			}
			return s.commit(ctx, r, sub, e)
		}
		paymentID, err = s.charge(ctx, r, sub, quote.Bill, quote.Sale, charging{at: now, onSession: c.OnSession})
		return err
	})
	return paymentID, err
}

// binding is the quote that was previewed, used up now, or one of the present. What is wrong with a quote is reported
// before what its change is refused for, unless the subscription has ended.
func (s *Service) binding(ctx context.Context, r ports.Repos, sub *subscription.Subscription, to plan.Offer, c Change, now time.Time) (subscription.Quote, error) {
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
	if quoted, err = quoted.Use(sub.State(), to.PriceID, c.Mode, now); err != nil {
		return subscription.Quote{}, err
	}
	return quoted, r.Subscriptions.Quotes.Update(ctx, quoted)
}

// Resume takes back a scheduled cancellation or ends a pause. A pause that outlasted the paid period costs another one,
// charged at once. Faults: NOT_FOUND, STATE_CONFLICT, CARD_DECLINED, AUTHENTICATION_REQUIRED, PAYMENT_METHOD_REQUIRED,
// PROCESSOR_UNAVAILABLE.
func (s *Service) Resume(ctx context.Context, creatorID, subscriptionID string) (subscription.State, error) {
	return s.resume(ctx, creatorID, subscriptionID, charging{})
}

// ResumeOnPage is Resume by the customer, who is here to confirm the payment to their bank: the charge may wait for
// Confirm.
func (s *Service) ResumeOnPage(ctx context.Context, creatorID, subscriptionID string) (subscription.State, error) {
	return s.resume(ctx, creatorID, subscriptionID, charging{onSession: true})
}

func (s *Service) resume(ctx context.Context, creatorID, subscriptionID string, how charging) (subscription.State, error) {
	paymentID := ""
	_, err := s.change(ctx, creatorID, subscriptionID, func(sub *subscription.Subscription, now time.Time) (event.Event, error) {
		return sub.Resume(now)
	})
	if fault.Is(err, fault.StateConflict) {
		paymentID, err = s.startResumption(ctx, creatorID, subscriptionID, how, err)
	}
	if err != nil {
		return subscription.State{}, err
	}
	return s.outcome(ctx, creatorID, subscriptionID, paymentID)
}

// startResumption charges for another period; refused is why it could not be resumed for nothing.
func (s *Service) startResumption(ctx context.Context, creatorID, subscriptionID string, how charging, refused error) (paymentID string, err error) {
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sub, now, err := load(ctx, r, creatorID, subscriptionID)
		if err != nil {
			return err
		}
		bill, err := sub.ResumeBill(now)
		if err != nil {
			return refused
		}
		how.at = now
		paymentID, err = s.bill(ctx, r, sub, bill, how)
		return err
	})
	return paymentID, err
}

// outcome waits for a charge, if there is one, and returns the subscription as it is then.
func (s *Service) outcome(ctx context.Context, creatorID, subscriptionID, paymentID string) (subscription.State, error) {
	if paymentID != "" {
		attempt, err := s.charges.Run(ctx, paymentID)
		if err != nil {
			return subscription.State{}, fmt.Errorf("charge %s: %w", subscriptionID, err)
		}
		if attempt.Status == payment.Declined {
			return subscription.State{}, cardDeclined(attempt.Decline)
		}
	}
	return owned(ctx, s.store.Read(ctx), creatorID, subscriptionID)
}

// PayNow charges what is overdue while the customer is present, so that their bank may ask them to confirm it. The attempt
// shows what came of it: one that requires action waits for Confirm. Faults: NOT_FOUND, STATE_CONFLICT when nothing is
// overdue, PAYMENT_METHOD_REQUIRED, CARD_DECLINED, PROCESSOR_UNAVAILABLE.
func (s *Service) PayNow(ctx context.Context, creatorID, subscriptionID string) (payment.State, error) {
	var paymentID string
	err := s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
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
		paymentID, err = s.charge(ctx, r, sub, bill, sale, charging{at: now, onSession: true})
		return err
	})
	if err != nil || paymentID == "" {
		return payment.State{Status: payment.Succeeded}, err
	}
	return s.waited(s.charges.Run(ctx, paymentID))
}

// Challenge is how the customer's browser leads them to their bank. STATE_CONFLICT when nothing is asked,
// PROCESSOR_UNAVAILABLE.
func (s *Service) Challenge(ctx context.Context, creatorID, subscriptionID string) (payment.NextAction, error) {
	paymentID, err := s.waitingCharge(ctx, creatorID, subscriptionID)
	if err != nil {
		return payment.NextAction{}, err
	}
	return s.charges.Challenge(ctx, paymentID)
}

// Confirm carries the customer's response to their bank. STATE_CONFLICT when nothing is asked; CARD_DECLINED.
func (s *Service) Confirm(ctx context.Context, creatorID, subscriptionID string, approve bool) (payment.State, error) {
	paymentID, err := s.waitingCharge(ctx, creatorID, subscriptionID)
	if err != nil {
		return payment.State{}, err
	}
	return s.waited(s.charges.Authenticate(ctx, paymentID, approve))
}

// waitingCharge is the payment that the customer is to confirm. STATE_CONFLICT without one.
func (s *Service) waitingCharge(ctx context.Context, creatorID, subscriptionID string) (paymentID string, err error) {
	state, err := s.Get(ctx, creatorID, subscriptionID)
	if err == nil && state.Charge == nil {
		err = fault.New(fault.StateConflict, "No authentication is asked for.")
	}
	if err != nil {
		return "", err
	}
	return state.Charge.PaymentID, nil
}

// waited is what came of a charge: a declined one is CARD_DECLINED.
func (s *Service) waited(attempt payment.State, err error) (payment.State, error) {
	if err == nil && attempt.Status == payment.Declined {
		err = cardDeclined(attempt.Decline)
	}
	return attempt, err
}

// cardDeclined is the refusal of a card.
func cardDeclined(why payment.DeclineReason) error {
	if why.Code == authenticationRequired {
		return fault.New(fault.AuthenticationRequired, "The bank wants the customer to confirm this payment. "+
			"Send them to their portal (POST /v1/customer-portal-sessions): what they ask for there, they can confirm.")
	}
	f := fault.New(fault.CardDeclined, why.Message)
	f.DeclineCode = why.Code
	return f
}
