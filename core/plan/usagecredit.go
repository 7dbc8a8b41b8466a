package plan

import (
	"slices"

	"sundry/core/fault"
	"sundry/core/money"
)

const (
	maxUsageCredits = 10
	maxCreditDays   = 3650
)

// UsageCredit is prepaid use: an amount that invoices of metered use take before the card is charged.
type UsageCredit struct {
	AmountInCents int64  `json:"amountInCents"`
	Currency      string `json:"currency"`
	// Meter is the event name of the only meter whose use it pays for; "" = of all.
	Meter string `json:"meter,omitempty"`
	// ExpiresInDays is its validity in days from the purchase; 0 = it does not expire.
	ExpiresInDays int `json:"expiresInDays,omitempty"`
}

// checkUsageCredits checks prepaid use as a plan lists it. Only what is paid for once gives it: the buyer asks for it.
func checkUsageCredits(f *fault.Violations, credits []UsageCredit, renews bool) []UsageCredit {
	const field = "usageCredits"
	f.Check(len(credits) == 0 || !renews, field, fault.DetailNotAllowed,
		"Only a plan whose prices are paid once (interval null) sells usage credits.")
	f.Check(len(credits) <= maxUsageCredits, field, fault.DetailTooLong, "A plan may have at most 10.")
	for i, c := range credits {
		at := f.Item(field, i)
		at.Check(c.AmountInCents >= 1 && c.AmountInCents <= MaxAmount, "amountInCents", fault.DetailOutOfRange,
			"Expected 1 to 99999999999 minor units.")
		currency, err := money.ParseCurrency(c.Currency)
		_ = at.Nest("currency").Merge(err) // its only error is a fault of the request
		currency.CheckStep(at, "amountInCents", c.AmountInCents)
		at.Check(c.Meter == "" || termKey.MatchString(c.Meter), "meter", fault.DetailInvalid,
			"Expected the event name of a meter; leave it out for all.")
		at.Check(c.ExpiresInDays >= 0 && c.ExpiresInDays <= maxCreditDays, "expiresInDays", fault.DetailOutOfRange,
			"Expected 1 to 3650 days; leave it out for no end.")
	}
	if len(credits) == 0 {
		return nil
	}
	return slices.Clone(credits)
}
