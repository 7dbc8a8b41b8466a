package stripepay

import "sundry/core/tax"

// StatusOf is the HTTP status of Stripe's refusal behind an error; 0 without one.
func StatusOf(err error) int {
	if refused := refusal(err); refused != nil {
		return refused.status
	}
	return 0
}

// MaxTaxes bounds the calculations that are kept.
const MaxTaxes = maxTaxes

// Remember keeps an empty calculation.
func (t *Taxes) Remember(key string) { t.remember(key, tax.Result{}) }

// Remembered returns the number of calculations that are kept.
func (t *Taxes) Remembered() int { return len(t.known) }
