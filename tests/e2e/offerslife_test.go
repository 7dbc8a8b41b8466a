package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/tests/harness"
)

// offersLife is that of what an account sells: plans whose prices change, codes, and the sessions opened at them.
type offersLife struct {
	*life
	listing   harness.Listing
	exclusive bool
	// plans lists, by key, what a plan may be by now: one, and those that it is being changed to at once.
	plans  map[string][]*soldPlan
	codes  []soldCode
	deals  []*deal
	buyers int
	// typed counts the codes that were typed on pages.
	typed int
}

// soldPlan is a plan as it was put; without prices it is retired.
type soldPlan struct {
	prices []soldPrice
	trial  int
}

type soldPrice struct {
	interval, currency string
	amount             int64
}

// soldCode is a discount as it was made.
type soldCode struct {
	name, duration, currency string
	percent, amount          int64
	months                   int // of repeating
	// most bounds its uses, 0 for no maximum.
	most    int
	deleted bool
}

// deal is a checkout session that was asked for.
type deal struct {
	harness.Session
	wanted asked
	// terms are those that it may have been made at, of which each later look leaves what fits.
	terms  []agreed
	code   string
	paidAt time.Time
	sub    string
}

// asked has the members of a request for a session.
type asked struct {
	customer, plan, interval, currency, code, country string
	seats                                             int64
	status                                            int
}

// agreed are the terms of a sale.
type agreed struct {
	soldPrice
	seats   int64
	trial   int
	country string
	// of has the prices that the buyer may choose instead.
	of *soldPlan
}

// may notes terms that a deal may be at by now.
func (d *deal) may(terms agreed) {
	if !slices.Contains(d.terms, terms) {
		d.terms = append(d.terms, terms)
	}
}

// pricedTotals are the members of a session that its price decides.
type pricedTotals struct {
	Status, Currency                                           string
	SubtotalInCents, DiscountInCents, TaxInCents, TotalInCents int64
}

// The shares of a price in basis points that are taxed where it is sold.
var taxRates = map[string]int64{"": 0, "US": 0, "DE": 1900, "IE": 2300, "CH": 810}

// TestAnyInterleavingOfOffers_ChargesWhatWasAgreed changes and retires plans, makes and deletes codes, and opens and
// pays sessions, one thing after another and several at once. After each, `sundry verify` looks at all of it, and what
// sessions show and subscriptions were charged is compared with what was on sale when it was agreed.
func TestAnyInterleavingOfOffers_ChargesWhatWasAgreed(t *testing.T) {
	t.Parallel()
	eachLife(t, func(one *life) {
		l := &offersLife{life: one, plans: map[string][]*soldPlan{}, exclusive: rapid.Bool().Draw(one.r, "exclusive")}
		behavior := "inclusive"
		if l.exclusive {
			behavior = "exclusive"
		}
		l.listing = l.a.Published(l, harness.JSON{
			"type": "SUBSCRIPTION", "title": "Club", "priceInCents": 1000, "taxBehavior": behavior,
			"metadata": harness.JSON{"interval": "month", "intervalCount": 1},
		})
		for _, key := range planKeys {
			l.plans[key] = []*soldPlan{{}}
		}
		l.edit()()
		for range 3 {
			l.makeCode()
		}
		l.live(map[string]func() wish{
			"time": l.time, "time again": l.time, "edit": l.edit, "edit more": l.edit, "retire": l.retire, "open": l.open,
			"open more": l.open, "open another": l.open, "pay": l.buy, "pay more": l.buy, "pay another": l.buy,
			"code": l.typeCode, "country": l.moveTo, "change": l.change, "expire": l.expire,
		}, map[string]func(*rapid.T){
			"": func(*rapid.T) {
				l.verify()
				l.compare()
			},
			"make a code":   func(*rapid.T) { l.makeCode() },
			"delete a code": func(*rapid.T) { l.deleteCode() },
		})
	})
}

var planKeys = []string{"basic", "studio"}

func (l *offersLife) time() wish {
	return l.wait(time.Duration(rapid.IntRange(1, 40*24).Draw(l.r, "hours")) * time.Hour)
}

// edit puts a plan with other prices.
func (l *offersLife) edit() wish {
	key := rapid.SampledFrom(planKeys).Draw(l.r, "plan")
	next := &soldPlan{trial: rapid.SampledFrom([]int{0, 14}).Draw(l.r, "trial")}
	var prices []harness.JSON
	for _, interval := range []string{"week", "month", "year"} {
		for _, currency := range []string{"eur", "usd", "jpy", "kwd"} {
			if rapid.IntRange(0, 2).Draw(l.r, interval+" in "+currency) == 0 {
				continue
			}
			amount := int64(rapid.IntRange(10, 5000).Draw(l.r, "price")) * 10
			next.prices = append(next.prices, soldPrice{interval, currency, amount})
			prices = append(prices, harness.JSON{
				"interval": interval, "intervalCount": 1, "currency": currency, "amountInCents": amount,
			})
		}
	}
	if len(prices) == 0 {
		return nothing
	}
	body := renewingPlan(key, next.trial, prices...)
	return l.changePlan(key, next, http.MethodPut, body)
}

func (l *offersLife) retire() wish {
	key := rapid.SampledFrom(planKeys).Draw(l.r, "plan")
	if len(l.plans[key][0].prices) == 0 || rapid.IntRange(0, 3).Draw(l.r, "not yet") > 0 {
		return nothing
	}
	return l.changePlan(key, &soldPlan{}, http.MethodDelete, nil)
}

// changePlan makes a plan be as given. Until the end of the step it may be as before, too.
func (l *offersLife) changePlan(key string, next *soldPlan, method string, body any) wish {
	l.plans[key] = append(l.plans[key], next)
	return func() {
		l.a.AsCreator(l, method, "/v1/listings/"+l.listing.ID+"/plans/"+key, body).Want(l, 200)
	}
}

func (l *offersLife) makeCode() {
	c := soldCode{
		name:     fmt.Sprintf("CODE%d", len(l.codes)),
		duration: rapid.SampledFrom([]string{"once", "repeating", "forever"}).Draw(l.r, "duration"),
	}
	body := harness.JSON{"code": c.name, "duration": c.duration}
	if c.duration == "repeating" {
		c.months = rapid.IntRange(1, 3).Draw(l.r, "months")
		body["durationInMonths"] = c.months
	}
	if rapid.IntRange(0, 3).Draw(l.r, "amount") > 0 {
		c.percent = int64(rapid.IntRange(1, 100).Draw(l.r, "off"))
		body["percentOff"] = c.percent
	} else {
		c.amount = int64(rapid.IntRange(1, 3000).Draw(l.r, "off")) * 10
		c.currency = rapid.SampledFrom([]string{"eur", "usd", "jpy", "kwd"}).Draw(l.r, "currency")
		body["amountOffInCents"], body["currency"] = c.amount, c.currency
	}
	if c.most = rapid.IntRange(0, 2).Draw(l.r, "most"); c.most > 0 {
		body["maxRedemptions"] = c.most
	}
	l.a.AsCreator(l, http.MethodPost, "/v1/discounts", body).Want(l, 201)
	l.codes = append(l.codes, c)
}

func (l *offersLife) deleteCode() {
	if rapid.IntRange(0, 3).Draw(l.r, "not yet") > 0 {
		return
	}
	i := rapid.IntRange(0, len(l.codes)-1).Draw(l.r, "code")
	for _, c := range l.discounts() {
		if c.Code == l.codes[i].name && !l.codes[i].deleted {
			l.a.AsCreator(l, http.MethodDelete, "/v1/discounts/"+c.ID, nil).Want(l, 200)
			l.codes[i].deleted = true
		}
	}
}

func (l *offersLife) discounts() []discountCode {
	var list struct{ Data []discountCode }
	l.a.AsCreator(l, get, "/v1/discounts?limit=100", nil).Want(l, 200).Into(l, &list)
	return list.Data
}

func (l *offersLife) drawCode() string {
	names := []string{""}
	for _, c := range l.codes {
		names = append(names, c.name)
	}
	return rapid.SampledFrom(names).Draw(l.r, "code")
}

func (l *offersLife) drawInterval() string {
	return rapid.SampledFrom([]string{"week", "month", "month", "year"}).Draw(l.r, "interval")
}

func (l *offersLife) drawSeats() int64 { return int64(rapid.IntRange(1, 3).Draw(l.r, "seats")) }

func (l *offersLife) drawCountry() string {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(taxRates))).Draw(l.r, "country")
}

// open asks for a session of a customer of its own.
func (l *offersLife) open() wish {
	l.buyers++
	wanted := asked{
		customer: fmt.Sprint("buyer-", l.buyers), plan: rapid.SampledFrom(planKeys).Draw(l.r, "plan"),
		interval: l.drawInterval(),
		currency: rapid.SampledFrom([]string{"", "", "", "eur", "usd", "jpy", "kwd"}).Draw(l.r, "currency"),
		code:     l.drawCode(), country: l.drawCountry(), seats: l.drawSeats(),
	}
	catalog := harness.JSON{"listing": l.listing.CatalogKey, "plan": wanted.plan, "interval": wanted.interval}
	with := harness.JSON{
		"catalog": catalog, "quantity": wanted.seats, "buyerMayChange": []string{"interval", "quantity"},
	}
	if wanted.currency != "" {
		catalog["currency"] = wanted.currency
	}
	if wanted.code != "" {
		with["discountCode"] = wanted.code
	}
	if wanted.country != "" {
		with["customer"] = harness.JSON{"country": wanted.country}
	}
	body := harness.SessionBody(l.listing, wanted.plan, wanted.customer, with)
	return func() {
		response := l.a.AsBackend(l, http.MethodPost, "/v1/checkout-sessions", body)
		wanted.status = response.Status
		made := &deal{wanted: wanted}
		if l.allowed(response); response.Status == 201 {
			response.Into(l, &made.Session)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.deals = append(l.deals, made)
	}
}

// deal draws one that is open, and is false where there is none.
func (l *offersLife) deal() (*deal, bool) {
	open := slices.DeleteFunc(slices.Clone(l.deals), func(d *deal) bool { return d.ID == "" || d.sub != "" })
	if len(open) == 0 {
		return nil, false
	}
	return open[rapid.IntRange(max(0, len(open)-4), len(open)-1).Draw(l.r, "deal")], true
}

func (l *offersLife) buy() wish {
	d, ok := l.deal()
	if !ok {
		return nothing
	}
	return func() { l.payWith(d.Session, harness.CardSucceeds, d.wanted.customer+"@buyer.example") }
}

func (l *offersLife) expire() wish {
	d, ok := l.deal()
	if !ok || rapid.IntRange(0, 2).Draw(l.r, "not yet") > 0 {
		return nothing
	}
	return l.post("/v1/checkout-sessions/"+d.ID+"/expire", nil)
}

// onPage sends what the buyer of a deal changes on its page.
func (l *offersLife) onPage(d *deal, what string, body harness.JSON) wish {
	return func() {
		l.allowed(l.a.Ask(l, harness.Request{Method: post, Path: "/c/" + d.Secret() + "/" + what, Body: body}))
	}
}

// typeCode types a code or takes one off, as often as one network may.
func (l *offersLife) typeCode() wish {
	d, ok := l.deal()
	if !ok {
		return nothing
	}
	body := harness.JSON{"code": nil}
	if code := l.drawCode(); code != "" && l.typed < 30 {
		l.typed++
		body["code"] = code
	}
	return l.onPage(d, "discount", body)
}

// moveTo makes the buyer of a deal be of another country, and may come too late for that.
func (l *offersLife) moveTo() wish {
	d, ok := l.deal()
	if !ok {
		return nothing
	}
	country := l.drawCountry()
	if country == "" {
		return nothing
	}
	for _, terms := range d.terms {
		terms.country = country
		d.may(terms)
	}
	return l.onPage(d, "details", harness.JSON{"country": country})
}

// change chooses another interval and quantity, and may come too late for that.
func (l *offersLife) change() wish {
	d, ok := l.deal()
	if !ok {
		return nothing
	}
	interval, seats := l.drawInterval(), l.drawSeats()
	for _, terms := range d.terms {
		for _, price := range terms.of.prices {
			if price.interval == interval && price.currency == terms.currency {
				terms.soldPrice, terms.seats = price, seats
				d.may(terms)
			}
		}
	}
	return l.onPage(d, "change", harness.JSON{"interval": interval, "quantity": seats})
}
