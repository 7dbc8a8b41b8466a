package subscription

import (
	"time"

	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
)

// Discount reduces the price of a subscription's periods by a percentage or by an amount.
type Discount struct {
	ID         string       `json:"id"` // dsc_…
	Code       string       `json:"code"`
	PercentOff int          `json:"percentOff,omitempty"`
	AmountOff  money.Amount `json:"amountOff,omitzero"`
	// Once means that it is gone with the first period that is paid for.
	Once bool `json:"once,omitempty"`
	// EndsAt is the time from which it no longer applies to periods that begin; zero = never.
	EndsAt time.Time `json:"endsAt,omitzero"`
}

const percent = 100

// off returns the reduction of a price for a period that begins at start; never more than the price.
func (d *Discount) off(price money.Amount, start time.Time) (money.Amount, error) {
	none := money.Amount{Currency: price.Currency}
	if d == nil || d.ended(start) {
		return none, nil
	}
	off := d.AmountOff
	if d.PercentOff > 0 {
		var err error
		if off, err = price.RatioPayable(int64(d.PercentOff), percent); err != nil {
			return none, err
		}
	}
	if off.Currency != price.Currency {
		return none, nil
	}
	off.Minor = min(off.Minor, price.Minor)
	return off, nil
}

// ended reports whether the discount applies no more to a period that begins at start.
func (d *Discount) ended(start time.Time) bool { return !d.EndsAt.IsZero() && !start.Before(d.EndsAt) }

// used returns the discount after the period that began at start was paid for; nil when it is used up.
func (d *Discount) used(start time.Time) *Discount {
	if d != nil && (d.Once || d.ended(start)) {
		return nil
	}
	return d
}

// discountFrom returns the discount as it is for a period that begins at start. Its months count from the first paid
// period, which follows a trial early after a change of plan, and late after a pause or a charge that failed. An end
// that is not counted in months from the trial's end, as of one that was taken over, stays.
func (s State) discountFrom(start time.Time) *Discount {
	d := s.Discount
	if d == nil || d.EndsAt.IsZero() || !s.onTrial() {
		return d
	}
	trialEnd, ends := s.TrialEndsAt.UTC(), d.EndsAt.UTC()
	months := 12*(ends.Year()-trialEnd.Year()) + int(ends.Month()-trialEnd.Month())
	if !ends.Equal(period.Nth(trialEnd, period.Month, 1, months)) {
		return d
	}
	moved := *d
	moved.EndsAt = period.Nth(start, period.Month, 1, months)
	return &moved
}

// net returns the price of a period of an offer after the discount, when the period begins at start.
func (s State) net(o plan.Offer, start time.Time) (money.Amount, error) {
	off, err := s.Discount.off(o.Price, start)
	if err != nil {
		return money.Amount{}, err
	}
	return less(o.Price, off), nil
}
