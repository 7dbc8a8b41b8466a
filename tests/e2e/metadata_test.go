package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestCustomersKeepTheirMetadata(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		var made struct {
			ID       string
			Metadata map[string]string
		}
		a.AsBackend(t, http.MethodPost, "/v1/customers", harness.JSON{
			"email": "ada@example.com", "metadata": harness.JSON{"crm": "4711", "tier": "gold", "empty": ""},
		}).Want(t, 201).Into(t, &made)
		want := func(step, pairs string) {
			t.Helper()
			got := a.AsBackend(t, http.MethodGet, "/v1/customers/"+made.ID, nil).Want(t, 200).Map(t)["metadata"]
			if asJSON(t, got) != pairs {
				t.Errorf("%s: %s, want %s", step, asJSON(t, got), pairs)
			}
		}
		patch := func(body harness.JSON) *harness.Response {
			return a.AsBackend(t, http.MethodPatch, "/v1/customers/"+made.ID, body)
		}
		want("as made", `{"crm":"4711","tier":"gold"}`)
		patch(harness.JSON{"displayName": "Ada"}).Want(t, 200)
		want("after another change", `{"crm":"4711","tier":"gold"}`)
		patch(harness.JSON{"metadata": harness.JSON{"tier": "", "region": "eu"}}).Want(t, 200)
		want("merged", `{"crm":"4711","region":"eu"}`)

		many := harness.JSON{}
		for i := range 19 {
			many[fmt.Sprint("key", i)] = "x"
		}
		for name, c := range map[string]struct {
			pairs  any
			fields []string
		}{
			"more than twenty in all": {many, []string{"metadata"}},
			"a key that is too long":  {harness.JSON{strings.Repeat("k", 41): "x"}, []string{"metadata." + strings.Repeat("k", 41)}},
			"a value too long":        {harness.JSON{"crm": strings.Repeat("x", 501)}, []string{"metadata.crm"}},
			"a number":                {harness.JSON{"crm": 1}, []string{"metadata.crm"}},
			"no object":               {"crm", []string{"metadata"}},
		} {
			t.Run(name, func(t *testing.T) {
				patch(harness.JSON{"metadata": c.pairs}).Refuses(t, 400, "VALIDATION_FAILED", c.fields...)
			})
		}
		want("after refusals", `{"crm":"4711","region":"eu"}`)
		if page := a.Visit(t).Open(t, "/dashboard/customers/"+made.ID); !strings.Contains(page.Body, "4711") {
			t.Error("the dashboard does not show the metadata")
		}
		session := a.NewSession(t, a.Published(t, nil), "default", "ada", nil)
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		want("after a sale to another", `{"crm":"4711","region":"eu"}`)
		patch(harness.JSON{"metadata": nil}).Want(t, 200)
		want("cleared", `{}`)
	})
}

func TestMetadataThatIsNullIsNone(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.NewSession(t, plans(t, w.Account, 0), "basic", harness.Unique("user"), harness.JSON{"metadata": nil})
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := w.Receipt(t, session)
		for path, body := range map[string]harness.JSON{
			"/v1/customers": {"email": "ada@example.com"},
			"/v1/invoices": {"customerId": receipt["customerId"], "currency": "eur", "idempotencyKey": harness.Unique("invoice"),
				"lineItems": []harness.JSON{{"description": "Work", "amountInCents": 500}}},
			"/v1/refunds": {"paymentId": receipt["paymentId"], "amountInCents": 1, "reason": "test"},
		} {
			body["metadata"] = nil
			got := w.AsBackend(t, http.MethodPost, path, body).Want(t, 201).Map(t)["metadata"]
			if asJSON(t, got) != "{}" {
				t.Errorf("%s: metadata %s, want {}", path, asJSON(t, got))
			}
		}
	})
}

func TestObjectsKeepTheirMetadata(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.NewSession(t, plans(t, w.Account, 0), "basic", harness.Unique("user"), harness.JSON{
			"metadata": harness.JSON{"team": "7", "empty": ""},
		})
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := w.Receipt(t, session)
		subscription := "/v1/subscriptions/" + text(t, receipt["subscriptionId"])
		invoice := "/v1/invoices/" + text(t, w.AsBackend(t, http.MethodPost, "/v1/invoices", harness.JSON{
			"customerId": receipt["customerId"], "currency": "eur", "idempotencyKey": harness.Unique("invoice"),
			"lineItems": []harness.JSON{{"description": "Work", "amountInCents": 500}}, "metadata": harness.JSON{"team": "7"},
		}).Want(t, 201).Map(t)["id"])
		refund := "/v1/refunds/" + text(t, w.AsBackend(t, http.MethodPost, "/v1/refunds", harness.JSON{
			"paymentId": receipt["paymentId"], "amountInCents": 1, "reason": "test", "metadata": harness.JSON{"team": "7"},
		}).Want(t, 201).Map(t)["id"])
		for name, c := range map[string]struct{ path, event, page string }{
			"subscription": {subscription, "subscription.created", "/dashboard" + strings.TrimPrefix(subscription, "/v1")},
			"invoice":      {invoice, "invoice.paid", "/dashboard" + strings.TrimPrefix(invoice, "/v1")},
			"refund":       {refund, "refund.created", "/dashboard/orders/" + text(t, receipt["paymentId"])},
		} {
			t.Run(name, func(t *testing.T) {
				want := func(step, pairs string) {
					t.Helper()
					got := w.AsBackend(t, http.MethodGet, c.path, nil).Want(t, 200).Map(t)["metadata"]
					if asJSON(t, got) != pairs {
						t.Errorf("%s: %s, want %s", step, asJSON(t, got), pairs)
					}
				}
				frozen := func(event, pairs string) {
					t.Helper()
					of := eventsOf(t, w.Account, event)
					if len(of) != 1 || asJSON(t, of[0]["metadata"]) != pairs {
						t.Errorf("%s: %s, want one with %s", event, asJSON(t, of), pairs)
					}
				}
				patch := func(pairs any) *harness.Response {
					return w.AsBackend(t, http.MethodPatch, c.path, harness.JSON{"metadata": pairs})
				}
				want("as made", `{"team":"7"}`)
				patch(harness.JSON{"team": "8", "lead": "Ada"}).Want(t, 200)
				want("merged", `{"lead":"Ada","team":"8"}`)
				frozen(c.event, `{"team":"7"}`)
				patch(harness.JSON{"team": 8}).Refuses(t, 400, "VALIDATION_FAILED", "metadata.team")
				patch(harness.JSON{strings.Repeat("k", 41): "x"}).Refuses(t, 400, "VALIDATION_FAILED",
					"metadata."+strings.Repeat("k", 41))
				want("after refusals", `{"lead":"Ada","team":"8"}`)
				if page := w.Visit(t).Open(t, c.page); !strings.Contains(page.Body, "Ada") {
					t.Error("the dashboard does not show the metadata")
				}
				stranger := app.NewAccount(t)
				stranger.AsBackend(t, http.MethodPatch, c.path, harness.JSON{"metadata": nil}).Refuses(t, 404, "NOT_FOUND")
				patch(nil).Want(t, 200)
				want("cleared", `{}`)
			})
		}
		frozen := eventsOf(t, w.Account, "subscription.updated")
		if len(frozen) != 2 {
			t.Fatalf("%d subscription.updated, want 2: one of each change", len(frozen))
		}
		if previous := asJSON(t, frozen[1]["previous"]); previous != `{"metadata":{"team":"7"}}` {
			t.Errorf("previous: %s", previous)
		}
		w.AsBackend(t, http.MethodPost, subscription+"/cancel", nil).Want(t, 200)
		w.AsBackend(t, http.MethodPatch, subscription, harness.JSON{"metadata": harness.JSON{"left": "yes"}}).Want(t, 200)
	})
}

// eventsOf returns the data of an account's events of a type, the latest first.
func eventsOf(t *testing.T, a *harness.Account, kind string) []harness.JSON {
	t.Helper()
	var list struct{ Data []struct{ Data harness.JSON } }
	a.AsBackend(t, http.MethodGet, "/v1/events?type="+kind, nil).Want(t, 200).Into(t, &list)
	all := make([]harness.JSON, len(list.Data))
	for i, e := range list.Data {
		all[i] = e.Data
	}
	return all
}
