// Package catalog keeps listings, their plans, payment links and discounts.
package catalog

import (
	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.CatalogRepos {
	return ports.CatalogRepos{
		Listings: listings{listingMapping.On(b)}, Plans: plans{planMapping.On(b)},
		PaymentLinks: paymentLinks{paymentLinkMapping.On(b)},
		Discounts:    discounts{discountMapping.On(b)}, Audit: audit{b},
	}
}
