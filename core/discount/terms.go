package discount

import (
	"sundry/core/locale"
	"sundry/core/money"
)

// Duration specifies which payments of a subscription a discount reduces. What is sold once is reduced whatever it is.
type Duration string

// The durations.
const (
	// Once reduces the first payment.
	Once Duration = "once"
	// Repeating reduces the periods that begin within a number of months of the first paid one.
	Repeating Duration = "repeating"
	// Forever reduces every payment.
	Forever Duration = "forever"
)

// Terms are the terms of a discount, frozen when a buyer uses its code: later changes of the discount, its end or its
// deletion do not touch them. A subscription keeps them for its renewals.
type Terms struct {
	DiscountID string `json:"discountId"`
	Code       string `json:"code"`
	// PercentOff is 1 to 100, or zero: then AmountOff is taken off.
	PercentOff int          `json:"percentOff,omitempty"`
	AmountOff  money.Amount `json:"amountOff,omitzero"`
	Duration   Duration     `json:"duration"`
	// DurationInMonths goes with Repeating, and is zero for the others.
	DurationInMonths int `json:"durationInMonths,omitempty"`
}

// Off returns the reduction of a subtotal: a percentage is rounded half up to what can be charged, and an amount is at
// most the subtotal. An amount in another currency takes nothing off.
func (t Terms) Off(subtotal money.Amount) (money.Amount, error) {
	if t.PercentOff > 0 {
		return subtotal.RatioPayable(int64(t.PercentOff), 100)
	}
	off := money.Amount{Currency: subtotal.Currency}
	if t.AmountOff.Currency == subtotal.Currency {
		off.Minor = min(t.AmountOff.Minor, max(subtotal.Minor, 0))
	}
	return off, nil
}

// Note describes in the reader's language which payments of a subscription are reduced.
func (t Terms) Note(reader locale.Locale) string {
	switch t.Duration {
	case Repeating:
		if t.DurationInMonths == 1 {
			return reader.Text("discount.month")
		}
		return reader.Text("discount.repeating", t.DurationInMonths)
	case Forever:
		return reader.Text("discount.forever")
	case Once:
	}
	return reader.Text("discount.once")
}
