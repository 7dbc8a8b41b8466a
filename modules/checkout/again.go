package checkout

import (
	"context"
	"fmt"

	"sundry/core/checkout"
	"sundry/ports"
)

// CheckAgain reports why Again cannot open a session now, and opens nothing. NOT_FOUND, the faults of ports.Offers.
func (s *Service) CheckAgain(ctx context.Context, secret string) error {
	page, err := s.Page(ctx, secret)
	if err != nil || !page.State.Terminal() {
		return err
	}
	_, err = s.deps.Offers.Again(ctx, s.deps.Store.Read(ctx), page.Session.Offer, page.Session.PaymentLinkID)
	return err
}

// Again opens a fresh session in place of a terminal one: the same listing as it is sold now, the same customer and
// the same redirects; times are chosen again. A session that is not terminal is returned itself. It counts the
// visitor by their network. The faults of ports.Offers, NOT_BOOKABLE, RATE_LIMITED.
func (s *Service) Again(ctx context.Context, secret, network string) (checkoutURL string, err error) {
	page, err := s.Page(ctx, secret)
	if err != nil {
		return "", err
	}
	if !page.State.Terminal() {
		return s.CheckoutURL(page.Session.ID), nil
	}
	old := page.Session
	fresh := checkout.State{
		Catalog: old.Catalog, PaymentLinkID: old.PaymentLinkID, ExternalCustomerID: old.ExternalCustomerID,
		Email: old.Email,
		Buyer: old.Buyer, UIMode: old.UIMode, SuccessURL: old.SuccessURL, CancelURL: old.CancelURL,
		ReferenceID: old.ReferenceID,
		Metadata:    old.Metadata, UTM: old.UTM, OpenedBy: s.openedBy(network), Intake: old.Intake,
	}
	err = s.withRateLimit(ctx, "open", network, maxOpened, func() error {
		return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			again := fresh
			if again.Offer, err = s.deps.Offers.Again(ctx, r, old.Offer, old.PaymentLinkID); err != nil {
				return err
			}
			code := ""
			if old.DiscountTerms != nil {
				code = old.DiscountTerms.Code
			}
			checkoutURL, err = s.openCounted(ctx, r, again, code)
			return err
		})
	})
	if err != nil {
		return "", fmt.Errorf("open %s again: %w", old.ID, err)
	}
	return checkoutURL, nil
}
