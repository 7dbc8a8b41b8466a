package subscriptions

import (
	"context"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/ports"
)

// TakeOver begins a subscription on a saved card where another service leaves off. VALIDATION_FAILED,
// CUSTOMER_NOT_FOUND, PAYMENT_METHOD_REQUIRED, the refusals of ports.Offers, and ALREADY_SUBSCRIBED where a catalog
// choice may run once only.
func (s *Service) TakeOver(ctx context.Context, creatorID string, t ports.TakeOver) (subscription.State, error) {
	subscriptionID := s.deps.IDs.New(id.Subscription)
	var begun subscription.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		buyer, err := s.deps.Customers.CustomerForShare(ctx, r, t.CustomerID)
		if err == nil && buyer.CreatorID != creatorID {
			err = fault.New(fault.CustomerNotFound, "No such customer.")
		}
		if err == nil {
			err = buyer.RefuseErased()
		}
		if err != nil {
			return err
		}
		offer, err := s.takenOffer(ctx, r, buyer, t)
		if err != nil {
			return err
		}
		sub, created, err := s.takenOver(ctx, r, subscriptionID, buyer, offer, t)
		if err != nil {
			return err
		}
		begun = sub.State()
		if err := r.Subscriptions.Subscriptions.Insert(ctx, begun); err != nil {
			return err
		}
		if err := s.announce(ctx, r, sub, created); err != nil {
			return err
		}
		return s.audit(ctx, r, identity.SubscriptionCreated, begun, begun.Offer)
	})
	return begun, err
}

// takenOffer returns what is sold, in its quantity. One that an integrator names is subject to the listing's limit of a
// running subscription per customer; one at an agreed price runs already.
func (s *Service) takenOffer(
	ctx context.Context, r ports.Repos, buyer customer.State, t ports.TakeOver,
) (offer plan.Offer, err error) {
	if t.ListingID != "" {
		offer, err = s.deps.Agreed.AtPrice(ctx, r, buyer.CreatorID, t.ListingID, t.Price)
	} else {
		offer, err = s.deps.Offers.ByCatalog(ctx, r, buyer.CreatorID, t.Catalog)
	}
	if err == nil && t.Quantity > 1 {
		offer, err = offer.WithSeats(t.Quantity)
	}
	if err != nil || t.ListingID != "" || !offer.OneSubscription || buyer.ExternalCustomerID == "" {
		return offer, err
	}
	if err := s.deps.Access.LockAccess(ctx, r, buyer.CreatorID, buyer.ExternalCustomerID); err != nil {
		return offer, err
	}
	customerID, running, err := Past{}.RunningFor(ctx, r, ports.Buyer{
		CreatorID: buyer.CreatorID, ListingID: offer.ListingID, ExternalCustomerID: buyer.ExternalCustomerID,
	})
	if err != nil || !running {
		return offer, err
	}
	refusal := fault.New(fault.AlreadySubscribed, "The customer has a running subscription to this listing.")
	if refusal.PortalURL, err = s.deps.Portal.PortalURL(customerID); err != nil {
		return offer, err
	}
	return offer, refusal
}

func (s *Service) takenOver(
	ctx context.Context, r ports.Repos, subscriptionID string, buyer customer.State, offer plan.Offer, t ports.TakeOver,
) (*subscription.Subscription, subscription.Created, error) {
	card, err := s.deps.Cards.SavedCard(ctx, r, buyer.ID, t.PaymentMethodID)
	if err != nil && (t.PaymentMethodID != "" || offer.Price.Minor > 0) {
		return nil, subscription.Created{}, err
	}
	now, err := r.Clock.Now(ctx, buyer.CreatorID)
	if err != nil {
		return nil, subscription.Created{}, err
	}
	sub := subscription.New(subscription.Order{
		ID: subscriptionID, CreatorID: buyer.CreatorID, CustomerID: buyer.ID,
		ExternalCustomerID: buyer.ExternalCustomerID, PaymentMethodID: card.ID, Offer: offer, Discount: t.Discount,
		Metadata: t.Metadata,
	}, now)
	created, err := sub.TakeOver(t.From, now)
	if err == nil {
		sub.Move(now)
	}
	return sub, created, err
}
