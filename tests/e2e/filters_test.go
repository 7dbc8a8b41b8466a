package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// found are the ids of a list that the filters narrow, newest first.
func (w *fixture) found(t *testing.T, path string, filters url.Values) []string {
	t.Helper()
	var p page
	w.Ask(t, harness.Request{Method: http.MethodGet, Path: path, Query: with(filters, "limit", "100"),
		Bearer: w.Key}).Want(t, 200).Into(t, &p)
	ids := []string{}
	for _, entry := range p.Data {
		ids = append(ids, entry.ID)
	}
	return ids
}

func TestCustomersAreFoundByMailInAnyCase(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), newFixture(t, app)
		made := w.AsBackend(t, post, "/v1/customers",
			harness.JSON{"email": "Grace.Hopper@Example.com", "displayName": "Grace"}).Want(t, 201).Map(t)
		other.AsBackend(t, post, "/v1/customers", harness.JSON{"email": "grace.hopper@example.com",
			"displayName": "Grace"}).Want(t, 201)
		for address, want := range map[string]int{
			"Grace.Hopper@Example.com": 1, "grace.hopper@example.com": 1, "GRACE.HOPPER@EXAMPLE.COM": 1,
			"grace@example.com": 0, "grace.hopper@example%": 0,
		} {
			got := w.found(t, "/v1/customers", url.Values{"email": {address}})
			if len(got) != want || want == 1 && got[0] != made["id"] {
				t.Errorf("%s finds %v", address, got)
			}
		}
	})
}

// Events about access name nobody but the id under which it is read.
func TestEventsOfACustomerHaveTheirAccess(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		create := func(body harness.JSON) string {
			t.Helper()
			return text(t, w.AsBackend(t, post, "/v1/customers", body).Want(t, 201).Map(t)["id"])
		}
		named := create(harness.JSON{"email": "ada@buyer.example", "displayName": "Ada", "externalCustomerId": "ada"})
		guest := create(harness.JSON{"email": "bob@buyer.example", "displayName": "Bob"})
		for _, key := range []string{"ada", guest} {
			w.grant(t, key)
		}
		listed := func(customerID string) []string {
			t.Helper()
			return w.found(t, "/v1/events", url.Values{"customerId": {customerID}, "type": {"customer.access_changed"}})
		}
		of := func(key string) []string {
			t.Helper()
			return w.found(t, "/v1/events", url.Values{"externalCustomerId": {key}})
		}
		for customerID, key := range map[string]string{named: "ada", guest: guest} {
			if got, want := listed(customerID), of(key); len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("customerId of %s lists %v, externalCustomerId %v", key, got, want)
			}
		}
		before := of(guest)
		w.AsBackend(t, patch, "/v1/customers/"+guest, harness.JSON{"externalCustomerId": "bob"}).Want(t, 200)
		w.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 3}).Want(t, 200)
		got, after := listed(guest), of("bob")
		if len(after) == 0 || !slices.Contains(got, before[0]) || !slices.Contains(got, after[0]) {
			t.Errorf("renamed: customerId lists %v, want %v of before and %v of after", got, before, after)
		}
	})
}

// Refunds and disputes name the customer alone.
func TestEventsOfAnExternalIDHaveTheCustomers(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for range 2 { // the second customer is another one
			_, receipt := w.sell(t, w.Published(t, nil), harness.CardSucceeds, nil)
			w.AsBackend(t, post, "/v1/refunds", harness.JSON{"paymentId": receipt["paymentId"], "reason": "requested"}).
				Want(t, 201)
			by := func(filter, member string) []string {
				t.Helper()
				return w.found(t, "/v1/events", url.Values{filter: {text(t, receipt[member])}})
			}
			got, want := by("externalCustomerId", "externalCustomerId"), by("customerId", "customerId")
			refunds := w.found(t, "/v1/events", url.Values{
				"type": {"refund.created"}, "externalCustomerId": {text(t, receipt["externalCustomerId"])},
			})
			if !slices.Equal(got, want) || len(refunds) != 1 {
				t.Errorf("externalCustomerId lists %v with the refunds %v, customerId %v", got, refunds, want)
			}
		}
	})
}

func TestEventsOfAFamilyAreListed(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
		m := w.subscribed(t, harness.CardSucceeds, "SUM")
		m.AsBackend(t, post, "/v1/invoices", m.invoiceBody("one", 27000)).Want(t, 201)
		all := w.found(t, "/v1/events", nil)
		for filter, want := range map[string][]string{
			"invoice.*":            {"invoice.created", "invoice.finalized", "invoice.paid"},
			"subscription.*":       {"subscription.created"},
			"subscription.created": {"subscription.created"},
			"refund.*":             nil,
		} {
			var types []string
			for _, id := range w.found(t, "/v1/events", url.Values{"type": {filter}}) {
				read := w.AsBackend(t, get, "/v1/events/"+id, nil).Want(t, 200).Map(t)
				types = append(types, fmt.Sprint(read["type"]))
				if !slices.Contains(all, id) {
					t.Errorf("%s lists %s, which the list of all lacks", filter, id)
				}
			}
			slices.Sort(types)
			if !slices.Equal(types, want) {
				t.Errorf("%s lists %v, want %v", filter, types, want)
			}
		}
		for _, wrong := range []string{"*", "invoices.*", "invoice.", "invoice*", "subscription.%"} {
			w.Ask(t, harness.Request{
				Method: http.MethodGet, Path: "/v1/events", Query: url.Values{"type": {wrong}}, Bearer: w.Key,
			}).Refuses(t, 400, "VALIDATION_FAILED")
		}
	})
}

func TestAPaymentIsReadByItsID(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), newFixture(t, app)
		_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
		path := "/v1/payments/" + fmt.Sprint(receipt["paymentId"])
		var list struct{ Data []harness.JSON }
		w.AsBackend(t, get, "/v1/payments", nil).Want(t, 200).Into(t, &list)
		if read := w.AsBackend(t, get, path, nil).Want(t, 200).Map(t); fmt.Sprint(read) != fmt.Sprint(list.Data[0]) {
			t.Errorf("read %v, listed %v", read, list.Data[0])
		}
		other.AsBackend(t, get, path, nil).Refuses(t, 404, "NOT_FOUND")
		w.AsBackend(t, get, "/v1/payments/pay_01h00000000000000000000000", nil).Refuses(t, 404, "NOT_FOUND")
	})
}

func TestSessionsAndPaymentsAreFoundByIntegratorIDs(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), newFixture(t, app)
		paid := w.NewSession(t, w.listing, "pro", "grace", harness.JSON{"referenceId": "order-1"})
		declined := w.NewSession(t, w.listing, "pro", "alan", harness.JSON{"referenceId": "order-2"})
		other.Pay(t, other.NewSession(t, other.listing, "pro", "grace", harness.JSON{"referenceId": "order-1"}),
			harness.CardSucceeds).Want(t, 200)
		refusal := w.Pay(t, declined, harness.CardDeclined)
		refusal.Refuses(t, 402, "CARD_DECLINED")
		if refusal.Map(t)["declineCode"] != "card_declined" {
			t.Errorf("declined: %s", refusal.Body)
		}
		receipt := w.Pay(t, paid, harness.CardSucceeds).Want(t, 200).Map(t)
		customer, payment := fmt.Sprint(receipt["customerId"]), fmt.Sprint(receipt["paymentId"])
		payments := w.found(t, "/v1/payments", nil)
		if len(payments) != 2 || payments[0] != payment {
			t.Fatalf("payments %v, want that of %s first of two", payments, payment)
		}
		now := time.Now().UTC()
		for name, c := range map[string]struct {
			filters  url.Values
			sessions []string
			payments []string
		}{
			"all":                  {nil, []string{declined.ID, paid.ID}, payments},
			"a customer of theirs": {url.Values{"externalCustomerId": {"grace"}}, []string{paid.ID}, payments[:1]},
			"a customer of ours":   {url.Values{"customerId": {customer}}, []string{paid.ID}, payments[:1]},
			"a reference":          {url.Values{"referenceId": {"order-2"}}, []string{declined.ID}, payments[1:]},
			"what nobody has": {
				url.Values{"externalCustomerId": {"grace"}, "referenceId": {"order-2"}}, []string{}, []string{},
			},
			"from an hour ago": {
				url.Values{"createdFrom": {now.Add(-time.Hour).Format(time.RFC3339)}}, []string{declined.ID, paid.ID},
				payments,
			},
			"until an hour ago": {
				url.Values{"createdTo": {now.Add(-time.Hour).Format(time.RFC3339)}}, []string{}, []string{},
			},
		} {
			if got := w.found(t, "/v1/checkout-sessions", c.filters); !slices.Equal(got, c.sessions) {
				t.Errorf("%s: sessions %v, want %v", name, got, c.sessions)
			}
			if got := w.found(t, "/v1/payments", c.filters); !slices.Equal(got, c.payments) {
				t.Errorf("%s: payments %v, want %v", name, got, c.payments)
			}
		}
		if got := w.found(t, "/v1/checkout-sessions", url.Values{"status": {"paid"}}); !slices.Equal(got, []string{paid.ID}) {
			t.Errorf("paid sessions %v", got)
		}
		if got := w.found(t, "/v1/payments", url.Values{"status": {"declined"}}); !slices.Equal(got, payments[1:]) {
			t.Errorf("declined payments %v", got)
		}
		checkPaymentView(t, w, paid, payment)
	})
}

func checkPaymentView(t *testing.T, w *fixture, paid harness.Session, id string) {
	t.Helper()
	var list struct{ Data []harness.JSON }
	w.AsBackend(t, http.MethodGet, "/v1/payments?referenceId=order-1", nil).Want(t, 200).Into(t, &list)
	p := list.Data[0]
	if p["id"] != id || p["status"] != "succeeded" || p["purpose"] != "checkout" || p["checkoutId"] != paid.ID ||
		p["externalCustomerId"] != "grace" ||
		p["referenceId"] != "order-1" || fmt.Sprint(p["amountInCents"]) != "1900" ||
		p["card"].(map[string]any)["last4"] != "4242" || p["settledAt"] == nil {
		t.Errorf("payment %v", p)
	}
}

// The charges of a subscription, and the purchase with which it began, are found by it and listed on its page.
func TestPaymentsAreFoundByTheirSubscription(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 0)
		s := subscribe(t, a, listing, "basic", "ada", harness.CardSucceeds)
		subscribe(t, a, listing, "basic", "grace", harness.CardSucceeds)
		advanceTo(t, a, s.CurrentPeriodEnd.Add(time.Hour))
		var list struct {
			Data []struct{ ID, Purpose, ExternalCustomerID string }
		}
		a.AsBackend(t, http.MethodGet, "/v1/payments?subscriptionId="+s.ID, nil).Want(t, 200).Into(t, &list)
		if len(list.Data) != 2 || list.Data[0].Purpose != "subscription" || list.Data[1].Purpose != "checkout" {
			t.Fatalf("payments %+v", list.Data)
		}
		page := a.Visit(t).Open(t, "/dashboard/subscriptions/"+s.ID).Body
		for _, p := range list.Data {
			if p.ExternalCustomerID != "ada" || !strings.Contains(page, `href="/dashboard/orders/`+p.ID+`"`) {
				t.Errorf("%+v is another's, or not on the page:\n%s", p, page)
			}
		}
	})
}

func TestEventsAndDeliveriesAreFoundByWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), newFixture(t, app)
		delivery, test := w.delivery(t)
		receipt := w.Pay(t, w.NewSession(t, w.listing, "pro", "grace", nil), harness.CardSucceeds).Want(t, 200).Map(t)
		w.Pay(t, w.NewSession(t, w.listing, "pro", "alan", nil), harness.CardSucceeds).Want(t, 200)
		customer := url.Values{"customerId": {fmt.Sprint(receipt["customerId"])}, "type": {"payment.completed"}}
		completed := w.found(t, "/v1/events", url.Values{"type": {"payment.completed"}})
		if len(completed) != 2 {
			t.Fatalf("payments completed: %v", completed)
		}
		if got := w.found(t, "/v1/events", customer); !slices.Equal(got, completed[1:]) {
			t.Errorf("of a customer: %v, want %v", got, completed[1:])
		}
		for _, filters := range []url.Values{{"externalCustomerId": {"grace"}},
			{"externalCustomerId": {"grace"}, "type": {"payment.completed"}}} {
			if got := w.found(t, "/v1/events", filters); !slices.Contains(got, completed[1]) ||
				slices.Contains(got, completed[0]) || slices.Contains(got, test) {
				t.Errorf("of %v: %v", filters, got)
			}
		}
		if got := w.found(t, "/v1/events", url.Values{"createdTo": {"2020-01-01T00:00:00Z"}}); len(got) != 0 {
			t.Errorf("long ago: %v", got)
		}
		one := w.AsBackend(t, http.MethodGet, "/v1/events/"+completed[1], nil).Want(t, 200).Map(t)
		if one["id"] != completed[1] || one["type"] != "payment.completed" {
			t.Errorf("event %v", one)
		}
		other.AsBackend(t, http.MethodGet, "/v1/events/"+completed[1], nil).Refuses(t, 404, "NOT_FOUND")
		path := "/v1/webhook-endpoints/" + w.endpoint(t) + "/deliveries"
		// Deliveries are made, and change their status, between one query and the next.
		harness.Eventually(t, "deliveries by status are all there are", func() bool {
			everywhere := []string{}
			for _, status := range []string{"pending", "delivered", "failed"} {
				everywhere = append(everywhere, w.found(t, path, url.Values{"status": {status}})...)
			}
			return len(w.found(t, path, nil)) == len(everywhere) && slices.Contains(everywhere, delivery)
		})
	})
}

func TestBadFiltersAreRefusedWithWhatWasMeant(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for target, want := range map[string]string{
			"/v1/events?type=payment.complete":                                                            "Did you mean",
			"/v1/checkout-sessions?status=pade":                                                           "Did you mean",
			"/v1/payments?status=paid":                                                                    "Expected pending",
			"/v1/payments?customerId=grace":                                                               "cus_",
			"/v1/payments?subscriptionId=ada":                                                             "sub_",
			"/v1/checkout-sessions?createdFrom=yesterday":                                                 "A time reads like",
			"/v1/payments?createdFrom=2026-01-02T00:00:00Z&createdTo=2026-01-01T00:00:00Z":                "after createdFrom",
			"/v1/webhook-endpoints/" + w.endpoint(t) + "/deliveries?status=done":                          "Expected pending",
			"/v1/checkout-sessions?externalCustomerId=%00&referenceId=%ff&status=x&createdTo=1&limit=200": "5 faults",
		} {
			response := w.AsBackend(t, http.MethodGet, target, nil)
			response.Refuses(t, 400, "VALIDATION_FAILED")
			if !strings.Contains(string(response.Body), want) {
				t.Errorf("%s: %s, want %q", target, response.Body, want)
			}
		}
		w.AsBackend(t, http.MethodGet, "/v1/appointments?externalCustomerID=grace", nil).Refuses(
			t, 400, "UNKNOWN_PARAMETER", "externalCustomerID",
		)
	})
}
