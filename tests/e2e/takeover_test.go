package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

func TestSubscriptionsAreTakenOver(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		listing, now := plans(t, w.Account, 0), time.Now().UTC().Truncate(time.Second)
		paidUntil, name := now.AddDate(0, 0, 10), harness.Unique("user")
		body := harness.JSON{
			"externalCustomerId": name, "catalog": harness.JSON{"listing": listing.CatalogKey, "plan": "basic"},
			"quantity": 3, "paidUntil": paidUntil.Format(time.RFC3339), "creditInCents": 500,
		}
		create := func(status int) *harness.Response {
			return w.AsBackend(t, post, "/v1/subscriptions", body).Want(t, status)
		}
		create(404)
		var owner struct{ ID string }
		w.AsBackend(t, post, "/v1/customers", harness.JSON{"email": "ada@example.com", "externalCustomerId": name}).
			Want(t, 201).Into(t, &owner)
		if got := create(400).Map(t)["code"]; got != "PAYMENT_METHOD_REQUIRED" {
			t.Errorf("without a card: %v", got)
		}
		w.card(t, owner.ID)
		made := create(201).Map(t)
		if made["checkoutId"] != nil || made["status"] != "active" || fmt.Sprint(made["amountInCents"]) != "3000" {
			t.Errorf("%v", made)
		}
		second := create(409).Map(t)
		if portal, _ := second["portalUrl"].(string); second["code"] != "ALREADY_SUBSCRIBED" || len(portal) < 20 {
			t.Errorf("a second one is %v, portalUrl %q", second["code"], portal)
		}
		if got := w.Access(t, name)["activePlans"].([]any); len(got) != 1 {
			t.Errorf("plans %v", got)
		}
		paid := func() []any { return w.AsBackend(t, get, "/v1/payments", nil).Want(t, 200).Map(t)["data"].([]any) }
		if got := paid(); len(got) != 0 {
			t.Errorf("paid before the period is over: %v", got)
		}
		advanceTo(t, w.Account, paidUntil.Add(time.Hour))
		if got := subscription(t, w.Account, made["id"].(string)); got.Status != "active" ||
			!got.CurrentPeriodEnd.Equal(paidUntil.AddDate(0, 1, 0)) {
			t.Errorf("after the renewal: %+v", got)
		}
		charged := paid()
		if len(charged) != 1 || fmt.Sprint(charged[0].(map[string]any)["amountInCents"]) != "2500" {
			t.Fatalf("payments %v", charged)
		}
		page := read(t, app, visit(t, w.Account, owner.ID)+"/receipts/"+charged[0].(map[string]any)["id"].(string))
		if !strings.Contains(page, "Credit from an earlier payment: −€5.00") || strings.Contains(page, "Discount") {
			t.Errorf("the receipt shows no credit:\n%s", page)
		}
	})
}
