package e2e_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/tests/harness"
)

// customersLife is that of customers who get their names at any time.
type customersLife struct {
	*life
	once, club harness.Listing
	// erased are customers who were to be erased, some of whom have bought since.
	erased map[string]bool
}

var customerNames = []string{"ada", "bob", "eve"}

// TestAnyInterleavingOfCustomers_LosesNoAccess sells to customers with and without a name, names them, corrects their
// addresses and erases them, one thing after another and several at once. After each, `sundry verify` looks at all of
// it, and what was sold is compared with the access under its customer's present name.
func TestAnyInterleavingOfCustomers_LosesNoAccess(t *testing.T) {
	t.Parallel()
	eachLife(t, func(one *life) {
		l := &customersLife{
			life: one, once: one.a.Published(t, nil), club: plans(one.T, one.a, 0), erased: map[string]bool{},
		}
		l.live(map[string]func() wish{
			"time": l.time, "buy": l.buy, "buy more": l.buy, "buy again": l.buy, "open": l.open, "pay": l.pay,
			"pay another": l.pay, "expire": l.expire, "name": l.name, "name another": l.name, "mail": l.mail,
			"erase": l.erase, "create": l.create, "grant": l.grant, "revoke": l.revoke, "use credit": l.useCredit,
			"refund": l.refund, "dispute": l.answerDispute, "card": l.card, "ask": l.ask, "portal": l.portal,
		}, map[string]func(*rapid.T){
			"": func(*rapid.T) {
				l.verify()
				l.compare()
			},
		})
	})
}

func (l *customersLife) drawSession() harness.JSON {
	listing, plan := l.once, "default"
	if rapid.Bool().Draw(l.r, "recurring") {
		listing, plan = l.club, rapid.SampledFrom([]string{"basic", "studio"}).Draw(l.r, "plan")
	}
	name := rapid.SampledFrom(append([]string{"", ""}, customerNames...)).Draw(l.r, "name")
	if name == "" {
		return harness.SessionBody(listing, plan, "", harness.JSON{
			"catalog": nil, "externalCustomerId": nil, "listingId": listing.ID,
		})
	}
	return harness.SessionBody(listing, plan, name, nil)
}

func (l *customersLife) address() string {
	return rapid.SampledFrom([]string{"ada@buyer.example", "bob@buyer.example"}).Draw(l.r, "address")
}

func (l *customersLife) open() wish {
	body := l.drawSession()
	return func() { l.opens(body) }
}

// buy opens a session and pays for it.
func (l *customersLife) buy() wish {
	body, address := l.drawSession(), l.address()
	card := rapid.SampledFrom([]string{harness.CardSucceeds, harness.CardSucceeds, harness.CardDisputed}).Draw(l.r, "card")
	return func() {
		if session, ok := l.opens(body); ok {
			l.payWith(session, card, address)
		}
	}
}

// namedCustomer holds the members of a customer that this test reads.
type namedCustomer struct {
	ID                           string
	ExternalCustomerID, ErasedAt *string
}

// access is the name under which the customer's access is read.
func (c namedCustomer) access() string {
	if name := c.external(); name != "" {
		return name
	}
	return c.ID
}

// external is the integrator's name of the customer, "" where there is none.
func (c namedCustomer) external() string {
	if c.ExternalCustomerID != nil {
		return *c.ExternalCustomerID
	}
	return ""
}

func (l *customersLife) customers() []namedCustomer {
	return allAs[namedCustomer](l.T, l.a, "/v1/customers", url.Values{})
}

// customer draws one, and is false where there is none.
func (l *customersLife) customer() (c namedCustomer, ok bool) {
	list := l.customers()
	if len(list) == 0 {
		return c, false
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(l.r, "customer")], true
}

func (l *customersLife) time() wish {
	return l.wait(time.Duration(rapid.IntRange(1, 35).Draw(l.r, "days")) * 24 * time.Hour)
}

func (l *customersLife) change(body harness.JSON) wish {
	c, ok := l.customer()
	if !ok {
		return nothing
	}
	return func() { l.allowed(l.a.AsBackend(l, http.MethodPatch, "/v1/customers/"+c.ID, body)) }
}

func (l *customersLife) name() wish {
	return l.change(harness.JSON{"externalCustomerId": rapid.SampledFrom(customerNames).Draw(l.r, "name")})
}

func (l *customersLife) mail() wish { return l.change(harness.JSON{"email": l.address()}) }

func (l *customersLife) erase() wish {
	c, ok := l.customer()
	if !ok || rapid.Bool().Draw(l.r, "not yet") {
		return nothing
	}
	l.erased[c.ID] = true
	return l.post("/v1/customers/"+c.ID+"/erase", nil)
}

func (l *customersLife) create() wish {
	body := harness.JSON{"email": l.address(), "displayName": "Buyer"}
	if rapid.Bool().Draw(l.r, "named") {
		body["externalCustomerId"] = rapid.SampledFrom(customerNames).Draw(l.r, "name")
	}
	return l.post("/v1/customers", body)
}

func (l *customersLife) card() wish {
	c, ok := l.customer()
	if !ok {
		return nothing
	}
	return l.post("/v1/sandbox/customers/"+c.ID+"/cards", harness.JSON{
		"cardNumber": rapid.SampledFrom([]string{harness.CardSucceeds, cardFailsLater}).Draw(l.r, "number"),
	})
}

func (l *customersLife) portal() wish {
	c, ok := l.customer()
	if !ok {
		return nothing
	}
	return l.post("/v1/customer-portal-sessions", harness.JSON{"customerId": c.ID, "returnUrl": "https://shop.example/"})
}

// access draws a name under which access may be read.
func (l *customersLife) access() string {
	if c, ok := l.customer(); ok && rapid.Bool().Draw(l.r, "of a customer") {
		return c.access()
	}
	return rapid.SampledFrom(customerNames).Draw(l.r, "name")
}

func (l *customersLife) grant() wish {
	return l.post("/v1/customer-access/"+l.access()+"/grants", harness.JSON{
		"entitlements": []harness.JSON{{"key": "extra", "type": "boolean", "value": true}},
		"credits":      []harness.JSON{{"key": "renders", "unit": "render", "amount": 5}},
	})
}

func (l *customersLife) revoke() wish {
	name := l.access()
	var explained struct {
		Grants []struct{ ID, Source string }
	}
	l.a.AsBackend(l, get, "/v1/customer-access/"+name+"/explain", nil).Want(l, 200).Into(l, &explained)
	for _, g := range explained.Grants {
		if g.Source == "grant" {
			return func() {
				l.allowed(l.a.AsBackend(l, http.MethodDelete, "/v1/customer-access/"+name+"/grants/"+g.ID, nil))
			}
		}
	}
	return nothing
}

func (l *customersLife) useCredit() wish {
	return l.post("/v1/customer-access/"+l.access()+"/credits/consume", harness.JSON{
		"key": "renders", "amount": rapid.IntRange(1, 60).Draw(l.r, "amount"), "idempotencyKey": harness.Unique("use"),
	})
}

// ask draws a change of a subscription.
func (l *customersLife) ask() wish {
	list := allAs[subscribed](l.T, l.a, "/v1/subscriptions", url.Values{})
	if len(list) == 0 {
		return nothing
	}
	path := "/v1/subscriptions/" + list[rapid.IntRange(0, len(list)-1).Draw(l.r, "subscription")].ID
	switch rapid.SampledFrom([]string{"cancel", "pause", "resume", "change"}).Draw(l.r, "what") {
	case "cancel":
		return l.post(path+"/cancel", harness.JSON{"atPeriodEnd": rapid.Bool().Draw(l.r, "at period end")})
	case "pause":
		return l.post(path+"/pause", nil)
	case "resume":
		return l.post(path+"/resume", nil)
	}
	return l.post(path+"/change", harness.JSON{
		"plan": rapid.SampledFrom([]string{"basic", "studio"}).Draw(l.r, "plan"), "interval": "month",
		"prorationMode": rapid.SampledFrom([]string{"charge_now", "next_period"}).Draw(l.r, "mode"),
	})
}

// returned are the sessions and subscriptions of which a payment was refunded or disputed.
func (l *customersLife) returned() map[string]bool {
	type paid struct {
		ID, CheckoutID, SubscriptionID string
		RefundedInCents                int64
	}
	of, disputed := map[string]bool{}, l.disputed()
	for _, p := range allAs[paid](l.T, l.a, "/v1/payments", url.Values{}) {
		if p.RefundedInCents > 0 || disputed[p.ID] {
			of[p.CheckoutID+p.SubscriptionID] = true // it has one of them
		}
	}
	return of
}

// saleReceipt holds the members of a receipt that this test reads.
type saleReceipt struct {
	Status, PaymentID, CustomerID, SubscriptionID, ExternalCustomerID string
}

// receipts reads that of each session that was opened.
func (l *customersLife) receipts() []saleReceipt {
	all := make([]saleReceipt, len(l.opened))
	for i, session := range l.opened {
		path := "/v1/checkout-sessions/" + session.ID + "/receipt?headless=true"
		l.a.AsBackend(l, get, path, nil).Want(l, 200).Into(l, &all[i])
	}
	return all
}

// compare fails for a sale that gives nothing under its customer's name, and for one that gives under another.
func (l *customersLife) compare() {
	receipts := l.receipts() // read before the customers: one whose outcome was unknown may be paid meanwhile
	gives, byID, names := map[string]map[string]bool{}, map[string]namedCustomer{}, map[string]string{}
	for _, c := range l.customers() {
		byID[c.ID], gives[c.access()], gives[c.ID] = c, l.sources(c.access()), l.sources(c.ID)
		if c.ErasedAt != nil {
			continue
		}
		if other, twice := names[c.access()]; twice {
			l.r.Fatalf("%s and %s are both %s", other, c.ID, c.access())
		}
		names[c.access()] = c.ID
	}
	returned := l.returned() // read after the access that it takes away
	for i, session := range l.opened {
		sold := receipts[i]
		c, known := byID[sold.CustomerID]
		switch {
		case sold.Status != "paid" || l.erased[c.ID]:
			continue
		case !known:
			l.r.Fatalf("%s is of no customer: %+v", session.ID, sold)
		case c.external() != sold.ExternalCustomerID:
			l.r.Fatalf("%s is of %q, and its customer of %q", session.ID, sold.ExternalCustomerID, c.external())
		}
		source := sold.PaymentID
		if sold.SubscriptionID != "" {
			source = sold.SubscriptionID
			s := subscription(l.T, l.a, source)
			if s.CustomerID != c.ID || s.ExternalCustomerID != c.external() {
				l.r.Fatalf("%s is of %s (%q), and its customer of %q", s.ID, s.CustomerID, s.ExternalCustomerID, c.external())
			}
			if !slices.Contains([]string{"active", "trialing"}, s.Status) {
				continue
			}
		}
		if !returned[session.ID] && !returned[source] && !gives[c.access()][source] {
			l.r.Fatalf("%s gives nothing to %s: %+v, %s", session.ID, c.access(), sold,
				l.a.AsBackend(l, get, "/v1/customer-access/"+c.access()+"/explain", nil).Body)
		}
		for name, sources := range gives {
			if name != c.access() && sources[source] {
				l.r.Fatalf("%s of %s gives to %s", session.ID, c.access(), name)
			}
		}
	}
}
