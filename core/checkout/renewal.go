package checkout

import (
	"sundry/core/discount"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/tax"
)

// Renewal returns what a later period of an offer will cost as things are: less a discount that lasts, plus the tax
// that is added to its price. terms is nil without a discount.
func Renewal(offer plan.Offer, terms *discount.Terms, details tax.Details) (money.Amount, error) {
	if terms != nil && terms.Duration != discount.Forever {
		terms = nil
	}
	return FirstCharge(offer, terms, details)
}

// FirstCharge is Renewal of the first period that is paid for, which every discount reduces.
func FirstCharge(offer plan.Offer, terms *discount.Terms, details tax.Details) (money.Amount, error) {
	due := offer.Price
	if terms != nil {
		off, err := terms.Off(due)
		if err != nil {
			return due, err
		}
		due.Minor -= off.Minor
	}
	return details.Gross(due)
}
