package e2e_test

import (
	"net/url"
	"slices"
	"time"
)

// compare looks at everything that was sold.
func (l *offersLife) compare() {
	used := map[string]int{}
	for _, d := range l.deals {
		if d.wanted.status != 0 {
			l.compareRequest(d)
		}
		if d.ID == "" {
			continue
		}
		l.compareSession(d)
		if d.sub != "" && d.code != "" {
			used[d.code]++
		}
		if d.sub != "" {
			l.compareCharges(d)
		}
	}
	for key := range l.plans {
		l.settle(key)
	}
	for _, c := range l.discounts() {
		if c.TimesRedeemed != used[c.Code] {
			l.r.Fatalf("%s was redeemed %d times, and used %d times", c.Code, c.TimesRedeemed, used[c.Code])
		}
	}
}

// settle leaves of what a plan may be what the recipe shows.
func (l *offersLife) settle(key string) {
	var recipe struct {
		Plans []struct {
			Key       string
			TrialDays int
			Prices    []struct {
				Interval, Currency string
				AmountInCents      int64
			}
		}
	}
	l.a.AsBackend(l, get, "/v1/catalog/listings/"+l.listing.CatalogKey+"/recipe", nil).Want(l, 200).Into(l, &recipe)
	shown := &soldPlan{}
	for _, p := range recipe.Plans {
		if p.Key != key {
			continue
		}
		shown.trial = p.TrialDays
		for _, price := range p.Prices {
			shown.prices = append(shown.prices, soldPrice{price.Interval, price.Currency, price.AmountInCents})
		}
	}
	if !slices.ContainsFunc(l.plans[key], func(p *soldPlan) bool {
		return p.trial == shown.trial && slices.Equal(p.prices, shown.prices)
	}) {
		l.r.Fatalf("%s is %+v, and was put as %+v", key, shown, l.plans[key])
	}
	l.plans[key] = []*soldPlan{shown}
}

// compareRequest compares the response to a request for a session with what was on sale.
func (l *offersLife) compareRequest(d *deal) {
	wanted := d.wanted
	refusable := false
	for _, p := range l.plans[wanted.plan] {
		price, ok := p.price(wanted)
		if !ok || !l.takes(wanted.code, price.currency) {
			refusable = true
			continue
		}
		d.may(agreed{price, wanted.seats, p.trial, wanted.country, p})
	}
	switch {
	case d.ID == "" && !refusable && !l.limited(wanted.code):
		l.r.Fatalf("%d for %+v of %+v", wanted.status, wanted, l.plans[wanted.plan])
	case d.ID != "" && len(d.terms) == 0:
		l.r.Fatalf("a session was made for %+v of %+v", wanted, l.plans[wanted.plan])
	}
	d.wanted.status = 0
}

// price is the one that a request chooses.
func (p *soldPlan) price(wanted asked) (soldPrice, bool) {
	fits := slices.DeleteFunc(slices.Clone(p.prices), func(price soldPrice) bool {
		return price.interval != wanted.interval || wanted.currency != "" && price.currency != wanted.currency
	})
	of := map[string]string{"US": "usd", "DE": "eur", "IE": "eur"}[wanted.country]
	for _, currency := range []string{of, "eur"} {
		for _, price := range fits {
			if price.currency == currency {
				return price, true
			}
		}
	}
	if len(fits) == 0 {
		return soldPrice{}, false
	}
	return fits[0], true
}

func (l *offersLife) terms(code string) (soldCode, bool) {
	i := slices.IndexFunc(l.codes, func(c soldCode) bool { return c.name == code })
	if i < 0 {
		return soldCode{}, false
	}
	return l.codes[i], true
}

// takes reports whether a code may be typed for a price, as far as it is not used up.
func (l *offersLife) takes(code, currency string) bool {
	c, ok := l.terms(code)
	return !ok || !c.deleted && (c.percent > 0 || c.currency == currency)
}

// limited reports whether a code may be used up.
func (l *offersLife) limited(code string) bool {
	c, _ := l.terms(code)
	return c.most > 0
}

// off returns the reduction of an amount that is due.
func (c soldCode) off(due int64, currency string) int64 {
	if c.percent == 0 {
		return min(c.amount, due)
	}
	return roundHalfUp(due*c.percent, 100, currency)
}

// roundHalfUp divides an amount of a currency whose fils are charged in tens.
func roundHalfUp(n, by int64, currency string) int64 {
	step := int64(1)
	if currency == "kwd" {
		step = 10
	}
	return (2*n + by*step) / (2 * by * step) * step
}

// total returns the cost of a period, less what a code takes off.
func (l *offersLife) total(terms agreed, code soldCode) pricedTotals {
	t := pricedTotals{Currency: terms.currency, SubtotalInCents: terms.amount * terms.seats}
	t.DiscountInCents = code.off(t.SubtotalInCents, terms.currency)
	due, rate := t.SubtotalInCents-t.DiscountInCents, taxRates[terms.country]
	if l.exclusive {
		t.TaxInCents = roundHalfUp(due*rate, 10000, terms.currency)
		t.TotalInCents = due + t.TaxInCents
		return t
	}
	t.TaxInCents, t.TotalInCents = roundHalfUp(due*rate, 10000+rate, ""), due
	return t
}

// compareSession compares what a session shows with what was agreed.
func (l *offersLife) compareSession(d *deal) {
	var shown pricedTotals
	l.a.AsBackend(l, get, "/v1/checkout-sessions/"+d.ID, nil).Want(l, 200).Into(l, &shown)
	if d.sub == "" && shown.Status != "expired" {
		d.code, _ = state(l.T, l.a.App, d.Session)["discountCode"].(string)
	}
	if shown.Status == "paid" && d.sub == "" {
		var receipt struct {
			SubscriptionID string
			PaidAt         time.Time
		}
		l.a.AsBackend(l, get, "/v1/checkout-sessions/"+d.ID+"/receipt?headless=true", nil).Want(l, 200).Into(l, &receipt)
		d.sub, d.paidAt = receipt.SubscriptionID, receipt.PaidAt
	}
	code, _ := l.terms(d.code)
	before := d.terms
	d.terms = slices.DeleteFunc(slices.Clone(before), func(terms agreed) bool {
		first := l.total(terms, code)
		if terms.trial > 0 {
			first = pricedTotals{Currency: terms.currency}
		}
		first.Status = shown.Status
		return shown.Status != "expired" && shown != first
	})
	if len(d.terms) == 0 {
		l.r.Fatalf("%+v for %+v with %+v, which was agreed as one of %+v", shown, d.wanted, code, before)
	}
}

// compareCharges compares what a subscription was charged with what was agreed.
func (l *offersLife) compareCharges(d *deal) {
	type charge struct {
		AmountInCents    int64
		Currency, Status string
	}
	made := allAs[charge](l.T, l.a, "/v1/payments", url.Values{"externalCustomerId": {d.wanted.customer}})
	made = slices.DeleteFunc(made, func(c charge) bool { return c.AmountInCents == 0 })
	now, before := clockOf(l.T, l.a), d.terms
	code, _ := l.terms(d.code)
	d.terms = slices.DeleteFunc(slices.Clone(before), func(terms agreed) bool {
		var due []charge
		anchor := d.paidAt.AddDate(0, 0, terms.trial)
		for n := 0; ; n++ {
			start := nth(anchor, terms.interval, n)
			if start.After(now) {
				break
			}
			reduced := code
			if n > 0 && code.duration == "once" ||
				code.duration == "repeating" && !start.Before(nth(anchor, "month", code.months)) {
				reduced = soldCode{}
			}
			if total := l.total(terms, reduced).TotalInCents; total > 0 {
				due = append(due, charge{total, terms.currency, "succeeded"})
			}
		}
		return !slices.Equal(made, due)
	})
	if len(d.terms) == 0 {
		l.r.Fatalf("at %s %s was charged %+v since %s, and agreed to one of %+v with %+v", now, d.sub, made, d.paidAt, before,
			code)
	}
}

// nth is the beginning of the n-th period.
func nth(anchor time.Time, interval string, n int) time.Time {
	months := map[string]int{"month": 1, "year": 12}[interval] * n
	if months == 0 {
		return anchor.AddDate(0, 0, 7*n)
	}
	at := anchor.AddDate(0, months, 0)
	if at.Day() != anchor.Day() {
		at = at.AddDate(0, 0, -at.Day())
	}
	return at
}
