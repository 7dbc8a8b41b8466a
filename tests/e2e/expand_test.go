package e2e_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// TestOneCallReadsWhatBelongsTogether reads one object of each route with expansions with all of them, as the document
// lists them, and each of them by its own route.
func TestOneCallReadsWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 0)
		session := a.NewSession(t, listing, "basic", "ada/ä b&c", nil)
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := a.Receipt(t, session)
		customer, payment, sub := text(t, receipt["customerId"]), text(t, receipt["paymentId"]), text(t, receipt["subscriptionId"])
		var invoice, refund struct{ ID string }
		a.AsBackend(t, http.MethodPost, "/v1/invoices", harness.JSON{
			"customerId": customer, "currency": "eur", "idempotencyKey": "one",
			"lineItems": []harness.JSON{{"description": "Support", "amountInCents": 900}},
		}).Want(t, 201).Into(t, &invoice)
		a.AsBackend(t, http.MethodPost, "/v1/refunds", harness.JSON{
			"paymentId": payment, "amountInCents": 100, "reason": "kindness", "keepAccess": true,
		}).Want(t, 201).Into(t, &refund)
		access, ofCustomer := "/v1/customer-access/ada%2F%C3%A4%20b&c", "?customerId="+customer
		for path, want := range map[string]map[string]string{
			"/v1/customers/" + customer: {
				"access": access, "subscriptions": "/v1/subscriptions" + ofCustomer,
				"paymentMethods": "/v1/customers/" + customer + "/payment-methods", "payments": "/v1/payments" + ofCustomer,
				"invoices": "/v1/invoices" + ofCustomer, "usageCredits": "/v1/usage/credits" + ofCustomer,
			},
			"/v1/subscriptions/" + sub: {
				"customer": "/v1/customers/" + customer, "recipe": "/v1/catalog/listings/" + listing.CatalogKey + "/recipe",
				"paymentMethods": "/v1/customers/" + customer + "/payment-methods",
				"billingPlans":   "/v1/usage/billing-plans?subscriptionId=" + sub, "usage": "/v1/usage/summary?subscriptionId=" + sub,
			},
			"/v1/checkout-sessions/" + session.ID: {
				"receipt": "/v1/checkout-sessions/" + session.ID + "/receipt?headless=true",
			},
			"/v1/payments/" + payment: {
				"customer": "/v1/customers/" + customer, "checkoutSession": "/v1/checkout-sessions/" + session.ID,
				"subscription": "", "invoice": "", "refunds": "/v1/refunds?paymentId=" + payment,
				"disputes": "/v1/disputes?paymentId=" + payment,
			},
			"/v1/invoices/" + invoice.ID: {
				"customer": "/v1/customers/" + customer, "subscription": "",
				"payment": "/v1/payments/" + paymentOf(t, a, invoice.ID),
			},
			"/v1/refunds/" + refund.ID: {"customer": "/v1/customers/" + customer, "payment": "/v1/payments/" + payment},
		} {
			names := make([]string, 0, len(want))
			for name := range want {
				names = append(names, name)
			}
			whole := a.AsBackend(t, http.MethodGet, path+"?expand="+strings.Join(names, ","), nil).Want(t, 200).Map(t)
			expanded, _ := whole["expanded"].(map[string]any)
			delete(whole, "expanded")
			if alone := a.AsBackend(t, http.MethodGet, path, nil).Want(t, 200).Map(t); !reflect.DeepEqual(whole, alone) {
				t.Errorf("%s: %v, and without expand %v", path, whole, alone)
			}
			for name, own := range want {
				var read any
				if own != "" {
					read = a.AsBackend(t, http.MethodGet, own, nil).Want(t, 200).Map(t)
				}
				if got, there := expanded[name]; !there || !reflect.DeepEqual(got, read) {
					t.Errorf("%s, %s: %v, want %v", path, name, got, read)
				}
			}
			if len(expanded) != len(want) {
				t.Errorf("%s: %d expansions, want %d", path, len(expanded), len(want))
			}
		}
	})
}

func TestWhatCannotBeExpandedIsRefused(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		var customer struct{ ID string }
		a.AsBackend(t, http.MethodPost, "/v1/customers", harness.JSON{"email": "ada@shop.example", "displayName": "Ada"}).
			Want(t, 201).Into(t, &customer)
		path := "/v1/customers/" + customer.ID + "?expand="
		a.AsBackend(t, http.MethodGet, path+"access,subscription,plans", nil).Refuses(t, 400, "VALIDATION_FAILED", "expand", "expand")
		a.AsBackend(t, http.MethodGet, "/v1/customers?expand=access", nil).Refuses(t, 400, "UNKNOWN_PARAMETER")

		limited := *a
		limited.Key = scopedKeys{a, map[string]string{}}.with(t, "customers")
		limited.AsBackend(t, http.MethodGet, path+"paymentMethods", nil).Want(t, 200)
		limited.AsBackend(t, http.MethodGet, path+"paymentMethods,invoices", nil).Refuses(t, 403, "FORBIDDEN")
		limited.AsBackend(t, http.MethodGet, "/v1/customers/cus_01jqz5y2c4e6g8h0k2m4p6r8s0?expand=paymentMethods", nil).
			Refuses(t, 404, "CUSTOMER_NOT_FOUND")
	})
}

func paymentOf(t *testing.T, a *harness.Account, invoiceID string) string {
	t.Helper()
	return text(t, a.AsBackend(t, http.MethodGet, "/v1/invoices/"+invoiceID, nil).Want(t, 200).Map(t)["paymentId"])
}
