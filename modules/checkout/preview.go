package checkout

import (
	"context"
	"fmt"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/plan"
)

// PreviewPath returns the path of the page on which a listing would be paid, published or not. It opens for a day, for
// anyone who has it.
func (s *Service) PreviewPath(listingID string) string {
	return s.cfg.Secrets.Preview(listingID, s.deps.Clock.Real())
}

// Preview reads the page behind the two segments of a preview's path. NOT_FOUND for any others, after a day, and for a
// listing that is archived.
func (s *Service) Preview(ctx context.Context, token, until string) (Page, error) {
	listingID, ok := s.cfg.Secrets.OpenPreview(token, until, s.deps.Clock.Real())
	if !ok {
		return Page{}, fault.NotFound("preview")
	}
	offer, err := s.deps.Offers.Preview(ctx, s.deps.Store.Read(ctx), listingID)
	if err != nil {
		return Page{}, err
	}
	return s.PreviewOf(ctx, offer)
}

// PreviewOf returns the page on which an offer would be paid. Its session is not stored and has no id, so nothing can
// be bought in it. An appointment's is the page behind the choice of a time.
func (s *Service) PreviewOf(ctx context.Context, offer plan.Offer) (Page, error) {
	now, err := s.deps.Clock.Now(ctx, offer.CreatorID)
	if err != nil {
		return Page{}, err
	}
	session := checkout.New(checkout.State{CreatorID: offer.CreatorID, Offer: offer, UIMode: checkout.Hosted}, now)
	if err := s.applyTax(ctx, session, now); err != nil {
		return Page{}, err
	}
	seller, err := s.deps.Accounts.Storefront(ctx, s.deps.Store.Read(ctx), offer.CreatorID)
	if err != nil {
		return Page{}, fmt.Errorf("preview: %w", err)
	}
	return Page{
		Session: session.State(), Now: now, State: checkout.PagePay, Seller: seller, Terms: s.terms(seller),
	}, nil
}
