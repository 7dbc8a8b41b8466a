package checkout_test

import (
	"errors"
	"math"
	"testing"

	"sundry/core/checkout"
	"sundry/core/discount"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/tax"
)

func TestRenewal_WithItsDiscountAndTax(t *testing.T) {
	t.Parallel()
	offer := plan.Offer{Price: money.Amount{Minor: 10000, Currency: "eur"}}
	half := func(d discount.Duration) *discount.Terms { return &discount.Terms{PercentOff: 50, Duration: d} }
	taxed := func(b tax.Behavior, rates ...tax.BasisPoints) tax.Details {
		details := tax.Details{Behavior: b}
		for _, rate := range rates {
			details.Shares = append(details.Shares, tax.Share{Rate: rate})
		}
		return details
	}
	for name, c := range map[string]struct {
		terms   *discount.Terms
		details tax.Details
		want    int64
	}{
		"a price that contains its tax": {nil, taxed(tax.Inclusive, 1900), 10000},
		"tax on top":                    {nil, taxed(tax.Exclusive, 1900), 11900},
		"no tax":                        {nil, taxed(tax.Exclusive, 0), 10000},
		"no known country":              {nil, taxed(tax.Exclusive), 10000},
		"a discount that lasts":         {half(discount.Forever), taxed(tax.Exclusive, 1900), 5950},
		"a discount that ends":          {half(discount.Once), taxed(tax.Exclusive, 1900), 11900},
	} {
		if got, err := checkout.Renewal(offer, c.terms, c.details); err != nil || got.Minor != c.want {
			t.Errorf("%s: %v, want %d, %v", name, got, c.want, err)
		}
	}
	for _, d := range []discount.Duration{discount.Once, discount.Repeating, discount.Forever} {
		if got, err := checkout.FirstCharge(offer, half(d), taxed(tax.Exclusive, 1900)); err != nil || got.Minor != 5950 {
			t.Errorf("the first charge with a discount %s: %v, %v, want 5950", d, got, err)
		}
	}
	uncountable := &discount.Terms{PercentOff: math.MaxInt, Duration: discount.Forever}
	if got, err := checkout.Renewal(offer, uncountable, tax.Details{}); !errors.Is(err, money.ErrOverflow) {
		t.Errorf("a discount that cannot be counted: %v, %v", got, err)
	}
}
