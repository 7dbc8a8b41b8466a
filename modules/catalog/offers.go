package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sundry/core/country"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/paymentlink"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/ports"
)

// ByCatalog implements ports.Offers. An empty plan key means the default plan.
func (s *Service) ByCatalog(
	ctx context.Context, r ports.Repos, creatorID string, wanted ports.CatalogChoice,
) (plan.Offer, error) {
	if !listing.ValidSlug(wanted.Listing) {
		return plan.Offer{}, fault.NotFound("listing")
	}
	l, plans, err := r.Catalog.Listings.GetWithPlans(ctx, creatorID, wanted.Listing)
	if err != nil {
		return plan.Offer{}, ports.Missing(err, "listing")
	}
	if err := l.Purchasable(); err != nil {
		return plan.Offer{}, err
	}
	c := choice{
		variantKey: wanted.Variant, planKey: wanted.Plan, every: wanted.Every, currency: wanted.Currency,
		buyer: wanted.Buyer, mayChange: wanted.MayChange,
	}
	return pickOf(ctx, l, live(l, plan.Restore(l.CreatorID, l.ID, plans)), c)
}

// ByListing implements ports.Offers.
func (s *Service) ByListing(
	ctx context.Context, r ports.Repos, creatorID string, wanted ports.ListingChoice,
) (plan.Offer, error) {
	l, err := mine(ctx, r, creatorID, wanted.ListingID)
	if err != nil {
		return plan.Offer{}, err
	}
	return offer(ctx, r, l, choice{
		variantID: wanted.VariantID, planKey: wanted.Plan, every: wanted.Every, currency: wanted.Currency,
		buyer: wanted.Buyer, mayChange: wanted.MayChange,
	})
}

// ByLink implements ports.Offers.
func (s *Service) ByLink(
	ctx context.Context, r ports.Repos, code string, buyer ports.BuyerCountry,
) (ports.LinkOffer, error) {
	if !validCode(code) {
		return ports.LinkOffer{}, fault.NotFound("payment link")
	}
	link, err := r.Catalog.PaymentLinks.GetByCode(ctx, code)
	if err != nil {
		return ports.LinkOffer{}, ports.Missing(err, "payment link")
	}
	o, err := linkOffer(ctx, r, link, buyer)
	return ports.LinkOffer{Offer: o, LinkID: link.ID, SuccessURL: link.SuccessURL}, noLongerSold(err)
}

// linkOffer returns what an active payment link sells now.
func linkOffer(
	ctx context.Context, r ports.Repos, link paymentlink.State, buyer ports.BuyerCountry,
) (plan.Offer, error) {
	if !link.Active {
		return plan.Offer{}, fault.NotFound("payment link")
	}
	l, err := mine(ctx, r, link.CreatorID, link.ListingID)
	if err != nil {
		return plan.Offer{}, err
	}
	chosen := linkChoice(link)
	chosen.buyer, chosen.earlier = buyer, true
	return offer(ctx, r, l, chosen)
}

// noLongerSold refuses with LISTING_NOT_PURCHASABLE what is not found any more: the buyer's own link is right.
func noLongerSold(err error) error {
	if fault.Is(err, fault.NotFoundCode) {
		return fault.Wrap(fault.ListingNotPurchasable, "What this was for is no longer sold.", err)
	}
	return err
}

// Again implements ports.Offers.
func (s *Service) Again(ctx context.Context, r ports.Repos, once plan.Offer, linkID string) (plan.Offer, error) {
	now, err := again(ctx, r, once, linkID)
	return now, noLongerSold(err)
}

func again(ctx context.Context, r ports.Repos, once plan.Offer, linkID string) (plan.Offer, error) {
	if linkID != "" {
		link, err := r.Catalog.PaymentLinks.Get(ctx, once.CreatorID, linkID)
		if _, err = ports.Visible(link, err, link.Active, "payment link"); err != nil {
			return plan.Offer{}, err
		}
	}
	l, err := mine(ctx, r, once.CreatorID, once.ListingID)
	if err != nil {
		return plan.Offer{}, err
	}
	now, err := offer(ctx, r, l, choice{
		variantID: once.VariantID, planKey: once.PlanKey, every: period.Every(once.Interval, once.IntervalCount),
		before:    once.Price.Currency,
		mayChange: once.MayChange, earlier: true,
	})
	if err != nil || once.Seats() == 1 || !now.Recurring() {
		return now, err
	}
	return now.WithSeats(once.Seats())
}

// Preview implements ports.Offers.
func (s *Service) Preview(ctx context.Context, r ports.Repos, listingID string) (plan.Offer, error) {
	l, err := find(ctx, r, listingID)
	if l, err = ports.Visible(l, err, l.Status != listing.Archived, "listing"); err != nil {
		return plan.Offer{}, err
	}
	return pick(ctx, r, l, choice{})
}

// OfferOf returns the default plan's offer of a listing that need not be stored.
func (s *Service) OfferOf(ctx context.Context, l listing.State) (plan.Offer, error) {
	return pick(ctx, s.deps.Store.Read(ctx), l, choice{})
}

// AtPrice implements ports.AgreedOffers.
func (s *Service) AtPrice(
	ctx context.Context, r ports.Repos, creatorID, listingID string, agreed plan.Price,
) (plan.Offer, error) {
	l, err := mine(ctx, r, creatorID, listingID)
	if err != nil {
		return plan.Offer{}, err
	}
	plans, err := onSale(ctx, r, l)
	if err != nil {
		return plan.Offer{}, err
	}
	i := slices.IndexFunc(plans, func(p plan.State) bool { return slices.Contains(p.Prices, agreed) })
	if i < 0 {
		i = slices.IndexFunc(plans, func(p plan.State) bool { return p.IsDefault })
	}
	return l.Offer(plans[max(i, 0)], agreed, listing.Variant{}), nil
}

// TermsOf implements ports.PlanTerms.
func (s *Service) TermsOf(
	ctx context.Context, r ports.Repos, creatorID, listingKey, planKey string,
) (plan.Offer, error) {
	if !listing.ValidSlug(listingKey) {
		return plan.Offer{}, fault.NotFound("listing")
	}
	l, err := r.Catalog.Listings.GetByKey(ctx, creatorID, listingKey)
	if err != nil {
		return plan.Offer{}, ports.Missing(err, "listing")
	}
	if l.Status == listing.Draft {
		return plan.Offer{}, l.Purchasable()
	}
	plans, err := onSale(ctx, r, l)
	if err != nil {
		return plan.Offer{}, err
	}
	for _, p := range plans {
		if p.Key == planKey {
			return l.Offer(p, plan.Price{}, listing.Variant{}), nil
		}
	}
	return plan.Offer{}, noSuchPlan(planKey, plans)
}

// choice is a buyer's or a link's selection within a listing. Empty members leave the selection to the listing.
type choice struct {
	variantID, variantKey, planKey string
	every                          period.Cadence
	currency                       money.Currency
	// before is the currency of an earlier session, which a new one keeps where it can.
	before    money.Currency
	buyer     ports.BuyerCountry
	mayChange plan.Changes
	// earlier marks a choice that was right when it was made. Of a plan that no longer renews, it leaves mayChange out.
	earlier bool
}

// price chooses the price of a plan of the listing. NOT_FOUND for an unknown interval or currency.
func (c choice) price(ctx context.Context, l listing.State, p plan.State) (plan.Price, error) {
	if c.currency != "" {
		return p.PriceIn(c.every, c.currency)
	}
	wanted := c.before
	if wanted == "" && c.buyer != nil && len(p.Currencies()) > 1 {
		from, err := c.buyer(ctx)
		if err != nil {
			return plan.Price{}, fmt.Errorf("country of the buyer: %w", err)
		}
		wanted = country.Currency(from)
	}
	return p.Price(c.every, wanted, l.Price.Currency)
}

// offer freezes a selection of a listing that can be bought now.
func offer(ctx context.Context, r ports.Repos, l listing.State, c choice) (plan.Offer, error) {
	if err := l.Purchasable(); err != nil {
		return plan.Offer{}, err
	}
	return pick(ctx, r, l, c)
}

// pick finds a selection of a listing, whatever its status. NOT_FOUND for an unknown variant, plan or interval.
func pick(ctx context.Context, r ports.Repos, l listing.State, c choice) (plan.Offer, error) {
	plans, err := onSale(ctx, r, l)
	if err != nil {
		return plan.Offer{}, err
	}
	return pickOf(ctx, l, plans, c)
}

// variant returns the chosen variant of an appointment listing, by key or by id; the zero value for any other listing.
// NOT_FOUND.
func (c choice) variant(l listing.State) (listing.Variant, error) {
	switch {
	case c.variantKey != "":
		return l.VariantByKey(c.variantKey)
	case l.Type.Bookable() || c.variantID != "":
		return l.Variant(c.variantID)
	}
	return listing.Variant{}, nil
}

func pickOf(ctx context.Context, l listing.State, plans []plan.State, c choice) (plan.Offer, error) {
	variant, err := c.variant(l)
	if err != nil {
		return plan.Offer{}, err
	}
	for _, p := range plans {
		if p.Key != c.planKey && (c.planKey != "" || !p.IsDefault) {
			continue
		}
		price, err := c.price(ctx, l, p)
		if err != nil {
			return plan.Offer{}, err
		}
		o := l.Offer(p, price, variant)
		if c.currency != "" && o.Price.Currency != c.currency {
			return plan.Offer{}, fault.Newf(
				fault.NotFoundCode, "This variant has no price in %s. It is sold in %s.", c.currency, o.Price.Currency,
			)
		}
		if c.earlier && !o.Recurring() {
			return o, nil
		}
		return o.Adjustable(c.mayChange, p.Prices)
	}
	return plan.Offer{}, noSuchPlan(c.planKey, plans)
}

// noSuchPlan lists the plans that the listing has: a typo is the commonest reason.
func noSuchPlan(key string, plans []plan.State) error {
	keys := make([]string, len(plans))
	for i, p := range plans {
		keys[i] = p.Key
	}
	return fault.Newf(
		fault.NotFoundCode, "No such plan in this listing. Its plans: %s.%s", strings.Join(keys, ", "),
		fault.DidYouMean(key, keys...),
	)
}
