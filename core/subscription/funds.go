package subscription

import (
	"math"
	"slices"

	"sundry/core/money"
)

// Fund is the rest of one payment that a subscription still holds. The funds add up to PeriodValue and Credit.
type Fund struct {
	// PaymentID is empty for what was paid before payments were told apart.
	PaymentID string `json:"paymentId"`
	// Value is the part of the current period's value that it pays for.
	Value int64 `json:"value"`
	// Credit is the part of the customer's credit that came from it, at most what it paid.
	Credit int64 `json:"credit"`
	// Paid bounds the credit: no more came from the payment. 0 where it was not recorded.
	Paid int64 `json:"paid,omitempty"`
}

// room is the credit that may still come from it.
func (f Fund) room() int64 {
	if f.Paid == 0 {
		return math.MaxInt64
	}
	return max(f.Paid-f.Credit, 0)
}

// known returns the funds; one without a payment where none were recorded.
func (s State) known() []Fund {
	if len(s.Funds) == 0 && s.PeriodValue.Minor+s.Credit.Minor > 0 {
		return []Fund{{Value: s.PeriodValue.Minor, Credit: s.Credit.Minor}}
	}
	return slices.Clone(s.Funds)
}

// fund replaces the funds, without empty ones, and what they add up to.
func (s *State) fund(funds []Fund) {
	s.Funds, s.PeriodValue.Minor, s.Credit.Minor = nil, 0, 0
	for _, f := range funds {
		if f.Value > 0 || f.Credit > 0 {
			s.Funds = append(s.Funds, f)
			s.PeriodValue.Minor += f.Value
			s.Credit.Minor += f.Credit
		}
	}
}

// replaced returns the value of the current period that a change of plan was priced for.
func (s State) replaced(b Bill) money.Amount {
	if b.Replaced.Currency == "" {
		return s.PeriodValue
	}
	return b.Replaced
}

// unused returns what is left of the current period at a change of plan. It is what the bill credits, unless a refund
// was made or failed since.
func (s State) unused(b Bill) int64 {
	if s.replaced(b) == s.PeriodValue {
		return -b.Lines[0].Amount.Minor
	}
	share := b.Lines[0].Share
	rest, _ := s.PeriodValue.RatioPayable(share.Left, share.Days) // a part of it is in range
	return rest.Minor
}

// funded returns the funds after a bill was paid by a payment; "" when nothing was due. What was refunded since a
// change of plan was priced is missing from the period's value, and what is left of a refund that failed since is
// credit, as it would be had the change been priced then.
func (s State) funded(b Bill, paymentID string) []Fund {
	funds := s.known()
	begins := !b.PeriodStart.Equal(s.CurrentPeriodStart) || !b.PeriodEnd.Equal(s.CurrentPeriodEnd)
	kept := s.replaced(b).Minor // the value that the bill adds to
	switch {
	case b.Kind != PlanChange:
		for i := range funds {
			funds[i].Value = 0
		}
		kept = 0
	case begins:
		kept = b.PeriodValue.Minor - b.Subtotal.Minor
		funds = exchanged(funds, s.unused(b), kept)
	case b.Subtotal.Minor == 0:
		funds = reduced(funds, b.CreditAfter.Minor-s.Credit.Minor, b.PeriodValue.Minor)
	case s.PeriodValue.Minor > kept:
		funds = reduced(funds, s.unused(b)+b.Lines[0].Amount.Minor, kept)
	}
	gained := b.PeriodValue.Minor - kept
	due := b.Due().Minor
	funds = append(funds, Fund{PaymentID: paymentID, Paid: due}) // which goes again where nothing was due
	// What is paid out of the credit of each, the oldest first, and by the payment.
	paid := make([]int64, len(funds))
	left := b.CreditUsed.Minor
	for i := range funds {
		paid[i] = min(left, funds[i].Credit)
		funds[i].Credit -= paid[i]
		left -= paid[i]
	}
	paid[len(paid)-1] = due
	for i, value := range apportioned(gained, paid, left) {
		funds[i].Value += value
	}
	return funds
}

// exchanged uses what is unused of a period for one of another interval; the rest becomes credit.
func exchanged(funds []Fund, unused, price int64) []Fund {
	shares := apportioned(unused, values(funds), 0)
	for i := range funds {
		funds[i].Value = min(shares[i], price)
		price -= funds[i].Value
		shares[i] -= funds[i].Value
	}
	return credited(funds, shares)
}

// reduced makes a difference credit of those who paid, and the period worth its new price.
func reduced(funds []Fund, difference, price int64) []Fund {
	credits := apportioned(difference, values(funds), 0)
	worth := apportioned(min(price, valueOf(funds)), values(funds), 0)
	for i := range funds {
		funds[i].Value = worth[i]
	}
	return credited(funds, credits)
}

// credited adds shares to the credit of the funds. What rounding gives one beyond what its payment paid is another's,
// or the last's where none has room for it.
func credited(funds []Fund, shares []int64) []Fund {
	var beyond int64
	for range 2 { // those before the one, too
		for i := range funds {
			share := shares[i] + beyond
			given := min(share, funds[i].room())
			funds[i].Credit, shares[i], beyond = funds[i].Credit+given, 0, share-given
		}
	}
	if beyond > 0 {
		funds[len(funds)-1].Credit += beyond
	}
	return funds
}

func values(funds []Fund) []int64 {
	list := make([]int64, len(funds))
	for i, f := range funds {
		list[i] = f.Value
	}
	return list
}

func valueOf(funds []Fund) (sum int64) {
	for _, f := range funds {
		sum += f.Value
	}
	return sum
}

// apportioned divides an amount by weights, cumulatively, so that the shares add up to it but for the share of others.
func apportioned(amount int64, weights []int64, others int64) []int64 {
	total := others
	for _, w := range weights {
		total += w
	}
	shares := make([]int64, len(weights))
	var weight, given int64
	for i, w := range weights {
		weight += w
		upTo, _ := money.Amount{Minor: amount}.RatioHalfUp(weight, total) // a part is in range, and none without weights
		shares[i], given = upTo.Minor-given, upTo.Minor
	}
	return shares
}
