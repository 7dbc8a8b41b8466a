package gormstore

import (
	"sundry/adapters/gormstore/access"
	"sundry/adapters/gormstore/checkout"
	"sundry/adapters/gormstore/customers"
	"sundry/adapters/gormstore/identity"
	"sundry/adapters/gormstore/payments"
	"sundry/adapters/gormstore/repo"
	"sundry/adapters/gormstore/subscriptions"
	"sundry/adapters/gormstore/usage"
	"sundry/adapters/gormstore/webhooks"
	"sundry/core/payment"
)

// preloading returns Base.Preload: the one place that knows which rows are read together. A use case that reads a row
// of one of these tables goes on to read the rest, itself or in the subscribers of its event, and a statement more
// costs less than a round trip. A preloaded row is an ordinary cached one: after a write to its table it is read again.
func (s *Store) preloading(b *repo.Base) func(table string, key ...string) {
	clock := s.clockOffsets(b)
	return func(table string, key ...string) {
		owner := "SELECT creator_id FROM " + table + " WHERE id = ?"
		const given = "SELECT CAST(? AS TEXT)"
		switch id := key[0]; table {
		case "listings", "sessions":
			clock.preload(owner, id)
		case "subscriptions":
			clock.preload(owner, id)
			customers.PreloadCustomerOf(b, table, id)
			payments.PreloadCard(b, id)
		case "payments":
			clock.preload(owner, id)
			identity.PreloadCreator(b, owner, id)
			webhooks.PreloadEndpoints(b, owner, id)
			if payment.Purpose(key[1]) == payment.ForCheckout {
				checkout.PreloadSession(b, id)
				customers.PreloadBuyer(b, id)
				return
			}
			customers.PreloadCustomerOf(b, table, id)
			subscriptions.PreloadSubscription(b, id)
		case "usage_billing_plans":
			clock.preload(owner, id)
			usage.PreloadRating(b, id)
			usage.PreloadCredits(b, id)
			subscriptions.PreloadBilledSubscription(b, id)
			identity.PreloadCreator(b, owner, id)
			webhooks.PreloadEndpoints(b, owner, id)
			customers.PreloadCustomerOf(b, table, id)
			payments.PreloadCards(b, id)
		case "creators":
			if !offsets.Has(b, id) {
				clock.preload(given, id)
			}
		case "access_snapshots":
			access.PreloadGrants(b, id, key[1])
		}
	}
}
