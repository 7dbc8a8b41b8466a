package checkout

import (
	"context"
	"errors"
	"time"

	"sundry/core/checkout"
	"sundry/core/discount"
	"sundry/core/fault"
	"sundry/core/period"
	"sundry/ports"
)

// applyCode takes what a code is good for off an open session; an empty code takes nothing off. VALIDATION_FAILED
// without a field, made for Violations.Merge.
func (s *Service) applyCode(ctx context.Context, r ports.Repos, session *checkout.Session, code string) error {
	opened := session.State()
	now, err := r.Clock.Now(ctx, opened.CreatorID)
	if err != nil {
		return err
	}
	if code == "" {
		return session.ApplyDiscount(nil, now)
	}
	sale := discount.Sale{ListingID: opened.Offer.ListingID, Subtotal: opened.Subtotal}
	terms, err := s.deps.Discounts.DiscountTerms(ctx, r, opened.CreatorID, code, sale)
	if err != nil {
		return err
	}
	return session.ApplyDiscount(&terms, now)
}

// refusedAt names the member that had a refused code; any other error stays as it is.
func refusedAt(member string, err error) error {
	if !fault.Is(err, fault.ValidationFailed) {
		return err
	}
	var f fault.Violations
	return errors.Join(f.Nest(member).Merge(err), f.Err())
}

// ApplyDiscountOnPage takes the code that the buyer typed on the hosted page, in the place of one before; an empty code
// removes it. network is where the buyer comes from. VALIDATION_FAILED at code, RATE_LIMITED, SESSION_ALREADY_PAID,
// SESSION_EXPIRED, STATE_CONFLICT while a payment is under way.
func (s *Service) ApplyDiscountOnPage(ctx context.Context, secret, code, network string) (checkout.State, error) {
	if code != "" {
		if err := s.countCode(ctx, network); err != nil {
			return checkout.State{}, err
		}
	}
	return s.repriceAt(ctx, secret, func(ctx context.Context, r ports.Repos, c *checkout.Session, now time.Time) error {
		if err := c.CanApplyDiscount(now); err != nil {
			return err
		}
		return refusedAt("code", s.applyCode(ctx, r, c, code))
	})
}

// ChangeOffer takes the interval and the quantity that the buyer chose on the hosted page; "" and nil leave them as
// they are. VALIDATION_FAILED (interval, quantity) for what the session lets nobody change, and as ApplyDiscountOnPage.
func (s *Service) ChangeOffer(
	ctx context.Context, secret string, every period.Cadence, quantity *int,
) (checkout.State, error) {
	return s.repriceAt(ctx, secret, func(_ context.Context, _ ports.Repos, c *checkout.Session, now time.Time) error {
		return c.Change(every, quantity, now)
	})
}

// repricing changes an open session in a way that changes its price.
type repricing func(ctx context.Context, r ports.Repos, c *checkout.Session, now time.Time) error

// repriceAt is reprice for the session behind a hosted page's secret.
func (s *Service) repriceAt(ctx context.Context, secret string, change repricing) (checkout.State, error) {
	opened, err := s.bySecret(ctx, secret)
	if err != nil {
		return checkout.State{}, err
	}
	return s.reprice(ctx, opened.ID, change)
}

// reprice makes a change of an open session, and applies the tax to its new price.
func (s *Service) reprice(ctx context.Context, sessionID string, change repricing) (session checkout.State, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		aggregate, now, err := s.loadForUpdate(ctx, r, sessionID)
		if err != nil {
			return err
		}
		if err := change(ctx, r, aggregate, now); err != nil {
			return err
		}
		if err := s.applyTax(ctx, aggregate, now); err != nil {
			return err
		}
		session = aggregate.State()
		return r.Checkout.Sessions.Update(ctx, session)
	})
	return session, err
}
