package checkout

import (
	"context"
	"time"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/ports"
)

// buyerOf is the buyer of a session.
func buyerOf(session checkout.State) ports.Buyer {
	return ports.Buyer{
		CreatorID: session.Offer.CreatorID, ListingID: session.Offer.ListingID,
		ExternalCustomerID: session.ExternalCustomerID, Email: session.Email,
	}
}

// hadTrial reports whether the buyer of a session with a trial has had the one that the listing gives.
// card recognizes the one that they pay with; "" before it is known.
func (s *Service) hadTrial(ctx context.Context, r ports.Repos, session checkout.State, card string) (bool, error) {
	if !session.Offer.LimitsTrial() {
		return false, nil
	}
	buyer := buyerOf(session)
	buyer.Card = card
	return s.deps.Past.HadTrial(ctx, r, buyer)
}

// trialCard recognizes the card that a buyer begins a trial with; "" where that does not matter. PROCESSOR_UNAVAILABLE.
func (s *Service) trialCard(ctx context.Context, opened checkout.State, p Payment) (string, error) {
	if s.deps.Fingerprints == nil || !opened.Offer.LimitsTrial() {
		return "", nil
	}
	var f fault.Violations
	method := s.deps.Cards.Method(p.Card, &f)
	if f.Err() != nil || method == "" {
		return "", nil // the payment is refused with what is wrong with it
	}
	ctx, cancel := context.WithTimeout(ctx, ports.ProcessorRecheckTimeout)
	defer cancel()
	fingerprint, err := s.deps.Fingerprints.Fingerprint(ctx, method)
	if err != nil {
		return "", fault.Wrap(
			fault.ProcessorUnavailable, "The card processor does not respond. Nothing was charged; try again in a moment.", err,
		)
	}
	return s.cfg.Secrets.TrialCard(opened.Offer.CreatorID, opened.Offer.ListingID, fingerprint), nil
}

// refuseSubscriber is ALREADY_SUBSCRIBED for a buyer who has a running subscription to a listing that gives one, with
// their portal where a key asks.
func (s *Service) refuseSubscriber(ctx context.Context, r ports.Repos, session checkout.State, keyed bool) error {
	if !session.LimitsSubscription() {
		return nil
	}
	customerID, running, err := s.deps.Past.RunningFor(ctx, r, buyerOf(session))
	if err != nil || !running {
		return err
	}
	refusal := fault.New(fault.AlreadySubscribed,
		"The customer has a running subscription to this listing. They can change "+
			"its plan, card or cancellation in their portal.")
	if keyed {
		if refusal.PortalURL, err = s.deps.Portal.PortalURL(customerID); err != nil {
			return err
		}
	}
	return refusal
}

// requireOnePurchase refuses a second subscription of the buyer to a listing that gives one, also while another session
// of theirs is being paid. The purchases of one customer wait for each other here.
func (s *Service) requireOnePurchase(ctx context.Context, r ports.Repos, session checkout.State, keyed bool) error {
	if !session.LimitsSubscription() {
		return nil
	}
	if err := s.deps.Access.LockAccess(ctx, r, session.CreatorID, session.ExternalCustomerID); err != nil {
		return err
	}
	if err := s.refuseSubscriber(ctx, r, session, keyed); err != nil {
		return err
	}
	paying, err := r.Checkout.Sessions.ListPaying(ctx, session.CreatorID, session.ExternalCustomerID)
	if err != nil {
		return err
	}
	for _, other := range paying {
		if other.ID == session.ID || other.Offer.ListingID != session.Offer.ListingID {
			continue
		}
		attempt, _, err := live(ctx, r, other)
		if err != nil {
			return err
		}
		if attempt.Status != payment.RequiresAction { // a challenge that the buyer left; its money would go back
			return fault.New(fault.StateConflict, "Another checkout session of this customer for the same listing is being "+
				"paid. Try again in a moment.")
		}
	}
	return nil
}

// dropTrial takes the trial off a session whose buyer has had one, so that the first period is due. dropped is true
// when the price has changed by that. email is the address that the buyer enters now; "" for none. card recognizes the
// card.
func (s *Service) dropTrial(
	ctx context.Context, opened checkout.State, email, card string,
) (dropped bool, err error) {
	if !opened.Offer.LimitsTrial() {
		return false, nil
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		aggregate, now, err := s.loadForUpdate(ctx, r, opened.ID)
		if err != nil {
			return err
		}
		if aggregate.UpdateBuyer(email, customer.Details{}, now) != nil {
			return nil //nolint:nilerr // the payment is refused with what is wrong with the session
		}
		if dropped, err = s.withoutTrial(ctx, r, aggregate, card, now); err != nil || !dropped {
			return err
		}
		return r.Checkout.Sessions.Update(ctx, aggregate.State())
	})
	return dropped, err
}

// withoutTrial is dropTrial for a session that the caller saves.
func (s *Service) withoutTrial(ctx context.Context, r ports.Repos, session *checkout.Session, card string,
	now time.Time) (dropped bool, err error) {
	if dropped, err = s.hadTrial(ctx, r, session.State(), card); err != nil || !dropped {
		return false, err
	}
	if err := session.DropTrial(); err != nil {
		return false, err
	}
	return true, s.applyTax(ctx, session, now)
}

// errTrialUsed asks the buyer to look at the price again, which is no longer that of a trial.
func errTrialUsed() error {
	message := "You’ve already had the free trial of this. The first period is due now: check the total, then pay."
	refusal := fault.New(fault.StateConflict, message)
	refusal.Details = []fault.Detail{{Field: "email", Code: fault.DetailNotAllowed, Message: message}}
	return refusal
}
