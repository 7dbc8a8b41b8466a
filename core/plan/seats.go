package plan

import (
	"slices"

	"sundry/core/fault"
	"sundry/core/money"
)

// MaxSeats bounds the quantity of a subscription.
const MaxSeats = 10_000

// CheckSeats checks a quantity that a request gives; nil is none.
func CheckSeats(f *fault.Violations, field string, quantity *int) {
	if quantity != nil {
		f.Check(*quantity >= 1 && *quantity <= MaxSeats, field, fault.DetailOutOfRange,
			"Expected an integer from 1 to 10000.")
	}
}

// Seats returns the quantity that the offer is sold in.
func (o Offer) Seats() int { return max(o.Quantity, 1) }

// Unit returns the price of one.
func (o Offer) Unit() money.Amount {
	if o.Quantity > 1 {
		return o.UnitPrice
	}
	return o.Price
}

// WithSeats returns the offer in another quantity: the only place that multiplies a price. VALIDATION_FAILED (quantity)
// for an offer that does not recur, and for more money than a price may be.
func (o Offer) WithSeats(quantity int) (Offer, error) {
	var f fault.Violations
	CheckSeats(&f, "quantity", &quantity)
	f.Check(quantity == 1 || o.Recurring(), "quantity", fault.DetailNotAllowed,
		"Only a plan that renews is sold in a quantity.")
	unit := o.Unit()
	f.Check(unit.Minor*int64(min(quantity, MaxSeats)) <= MaxAmount, "quantity", fault.DetailOutOfRange,
		"The price would be more than 99999999999 minor units.")
	if err := f.Err(); err != nil {
		return Offer{}, err
	}
	o.Quantity, o.UnitPrice = quantity, unit
	o.Price = money.Amount{Minor: unit.Minor * int64(quantity), Currency: unit.Currency}
	if quantity == 1 {
		o.Quantity, o.UnitPrice = 0, money.Amount{}
	}
	return o, nil
}

// SameAs reports whether both offers are of one price in one quantity.
func (o Offer) SameAs(other Offer) bool {
	return o.PriceID == other.PriceID && o.Seats() == other.Seats()
}

// Granted returns the entitlements that a quantity gives: a limit per seat is multiplied.
func (t Terms) Granted(seats int) []Entitlement {
	all := slices.Clone(t.Entitlements)
	for i, e := range all {
		if !e.PerSeat {
			continue
		}
		all[i].PerSeat, all[i].Limit = false, maxQuantity
		if e.Limit <= maxQuantity/int64(seats) {
			all[i].Limit = e.Limit * int64(seats)
		}
	}
	return all
}
