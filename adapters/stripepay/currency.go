package stripepay

import (
	"net/http"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/money"
)

// unitFactors are Unit where that is not one: Stripe counts these two in
// hundredths that do not exist (docs.stripe.com/currencies, special cases).
var unitFactors = map[money.Currency]int64{"isk": 100, "ugx": 100}

// Unit returns the number of Stripe's units in one minor unit of a currency.
func Unit(c money.Currency) int64 {
	if factor, ok := unitFactors[c]; ok {
		return factor
	}
	return 1
}

// units is an amount as Stripe counts it.
func units(a money.Amount) int64 { return a.Minor * Unit(a.Currency) }

// amountOf converts Stripe's units, rounding half up to the minor unit. Only Stripe's fees may have a rest.
func amountOf(units int64, currency stripe.Currency) money.Amount {
	c := money.Currency(currency)
	factor := Unit(c)
	return money.Amount{Minor: (units + factor/2) / factor, Currency: c}
}

// chargeable refuses what Stripe would take for another amount or not at all: it counts mga without the hundredths of
// ISO 4217, and of the currencies with thousandths it takes tens only.
func chargeable(a money.Amount) error {
	if a.Currency == "mga" || (a.Currency.Exponent() == 3 && a.Minor%10 != 0) {
		return &refusedError{status: http.StatusBadRequest, kind: stripe.ErrorTypeInvalidRequest,
			code: "currency_not_supported"}
	}
	return nil
}
