package stripefake

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Billed sums up what of an account's billing can be carried over.
type Billed struct {
	Products, Prices, Customers, Cards, Subscriptions int
	// Amounts sums the prices of the subscriptions of one period, in their quantity, by currency; Credit is in euros.
	Amounts map[string]int64
	Credit  int64
}

// billing holds the objects of Stripe Billing of an account, by kind, the newest first, as Stripe lists them.
type billing map[string][]object

// billingPage bounds a page of a list, as Stripe does. Tests read several pages of few objects.
const billingPage = 25

// Bill fills the account with a number of customers, and with a subscription of each of the first ones: in a trial, with
// a discount, with credit, in seats, at an old price and so on, and some of each kind that cannot be carried over.
func (s *Server) Bill(customers, subscriptions int) Billed {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.billing = billing{"products": billedProducts(), "prices": billedPrices()}
	sum := Billed{Products: 3, Prices: 5, Amounts: map[string]int64{}}
	for i := range customers {
		c := billedCustomer(i)
		s.billing["customers"] = append(s.billing["customers"], c)
		if c["email"] != nil {
			sum.Customers++
			sum.Cards++
		}
	}
	now := time.Now().UTC().Truncate(time.Second)
	for i := range subscriptions {
		one := billedSubscription(i, now)
		owner := s.billing["customers"][i]
		if i%10 == 2 {
			owner["balance"] = -300
		}
		one["customer"] = owner
		s.billing["subscriptions"] = append(s.billing["subscriptions"], one)
		s.objects[one["id"].(string)] = one
		if owner["email"] == nil || one["status"] == "past_due" {
			continue
		}
		price := one["items"].(object)["data"].([]object)[0]
		sum.Subscriptions++
		sum.Amounts[one["currency"].(string)] += amountBilled(price["price"].(object), one["currency"].(string)) *
			int64(price["quantity"].(int))
		if owner["balance"] == -300 {
			sum.Credit += 300
		}
	}
	for kind := range s.billing {
		slices.Reverse(s.billing[kind])
	}
	return sum
}

func amountBilled(price object, currency string) int64 {
	option := price["currency_options"].(object)[currency].(object)
	return int64(option["unit_amount"].(int))
}

func billedProducts() []object {
	product := func(id, name string, active bool) object {
		return object{"id": id, "object": "product", "name": name, "description": name + " for all", "active": active}
	}
	return []object{
		product("prod_Basic", "Basic", true), product("prod_Team", "Team", true), product("prod_Book", "Book", true),
		product("prod_Metered", "Calls", true), product("prod_Gone", "Gone", false),
	}
}

func billedPrice(id, product string, minor int, interval string, more object) object {
	p := object{
		"id": id, "object": "price", "product": product, "active": true, "billing_scheme": "per_unit", "currency": "eur",
		"unit_amount": minor, "unit_amount_decimal": strconv.Itoa(minor), "tax_behavior": "unspecified",
		"currency_options": object{"eur": object{"unit_amount": minor, "unit_amount_decimal": strconv.Itoa(minor)}},
	}
	if interval != "" {
		p["recurring"] = object{"interval": interval, "interval_count": 1, "usage_type": "licensed"}
	}
	maps.Copy(p, more)
	return p
}

func billedPrices() []object {
	both := object{"currency_options": object{
		"eur": object{"unit_amount": 1000, "unit_amount_decimal": "1000"},
		"usd": object{"unit_amount": 1100, "unit_amount_decimal": "1100"},
	}}
	return []object{
		billedPrice("price_Old", "prod_Basic", 800, "month", object{"active": false}),
		billedPrice("price_Month", "prod_Basic", 1000, "month", both),
		billedPrice("price_Year", "prod_Basic", 10000, "year", nil),
		billedPrice("price_Seat", "prod_Team", 500, "month", nil),
		billedPrice("price_Book", "prod_Book", 2500, "", nil),
		billedPrice("price_Calls", "prod_Metered", 1, "month", object{
			"recurring": object{"interval": "month", "interval_count": 1, "usage_type": "metered"},
		}),
		billedPrice("price_Gone", "prod_Gone", 100, "month", nil),
	}
}

// billedCustomer is a customer with a card. One in seven has no e-mail address.
func billedCustomer(i int) object {
	id := fmt.Sprintf("cus_%06d", i)
	c := object{
		"id": id, "object": "customer", "email": fmt.Sprintf("buyer%d@example.com", i), "name": fmt.Sprintf("Buyer %d", i),
		"currency": "eur", "balance": 0, "metadata": object{"user": fmt.Sprintf("user-%d", i)},
		"address": object{"country": "IE", "postal_code": "D02"},
		"invoice_settings": object{"default_payment_method": object{
			"id": fmt.Sprintf("pm_%s_%d", Succeeds, i), "object": "payment_method", "type": "card", "created": 1700000000,
			"card": cardObject(fmt.Sprintf("%s_%d", Succeeds, i)),
		}},
	}
	if i%7 == 6 {
		c["email"] = nil
	}
	return c
}

// billedSubscription is one of ten kinds of subscriptions, whose period ends in ten days.
func billedSubscription(i int, now time.Time) object {
	end := now.AddDate(0, 0, 10)
	price, quantity := billedPrices()[1], 1
	one := object{
		"id": fmt.Sprintf("sub_%06d", i), "object": "subscription", "status": "active", "currency": "eur",
		"collection_method": "charge_automatically", "start_date": end.AddDate(0, -7, 0).Unix(),
		"billing_cycle_anchor": end.AddDate(0, 0, 0).Unix(), "current_period_start": end.AddDate(0, -1, 0).Unix(),
		"current_period_end": end.Unix(), "cancel_at_period_end": false, "metadata": object{"seat": strconv.Itoa(i)},
	}
	switch i % 10 {
	case 0:
		one["status"], one["trial_end"], one["start_date"] = "trialing", end.Unix(), now.AddDate(0, 0, -4).Unix()
	case 1:
		one["discount"] = object{"id": "di_1", "object": "discount", "coupon": object{
			"id": "FIFTH", "object": "coupon", "percent_off": 20, "duration": "forever",
		}}
	case 3:
		one["cancel_at_period_end"] = true
	case 4:
		price, quantity = billedPrices()[3], 3
	case 5:
		price = billedPrices()[0]
	case 6:
		one["currency"] = "usd"
	case 7:
		price = billedPrices()[2]
		one["current_period_start"] = end.AddDate(-1, 0, 0).Unix()
	case 8:
		one["status"] = "past_due"
	}
	one["items"] = object{"object": "list", "data": []object{{
		"id": fmt.Sprintf("si_%06d", i), "object": "subscription_item", "quantity": quantity, "price": price,
	}}}
	return one
}

// page is one page of what the account bills.
func (b billing) page(kind string, query url.Values) (int, object) {
	all := b[kind]
	if of := query.Get("product"); of != "" {
		all = slices.DeleteFunc(slices.Clone(all), func(o object) bool { return o["product"] != of })
	}
	if after := query.Get("starting_after"); after != "" {
		all = all[slices.IndexFunc(all, func(o object) bool { return o["id"] == after })+1:]
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = 10
	}
	limit = min(limit, billingPage, len(all))
	return http.StatusOK, object{
		"object": "list", "data": all[:limit], "has_more": limit < len(all), "url": "/v1/" + kind,
	}
}

// EndedHere counts the account's subscriptions that end with their period because they go on elsewhere.
func (s *Server) EndedHere() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.billing["subscriptions"] {
		if one["cancel_at_period_end"] == true && one["metadata"].(object)["sundry_subscription_id"] != nil {
			n++
		}
	}
	return n
}

// Before calls do once, before the n-th request from now whose method and path contain route.
func (s *Server) Before(route string, n int, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = &interruption{route: route, left: n, do: do}
}

// interruption is a call that Before has registered: do runs before a request of route.
type interruption struct {
	route string
	left  int
	do    func()
}
