package e2e_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"sundry/tests/harness"
)

var (
	selectedPrice = regexp.MustCompile(`<option value="(pri_[0-9a-z]+)"`)
	selectedMeter = regexp.MustCompile(`<option value="(mtr_[0-9a-z]+)"`)
)

func TestUseIsPricedAndBilledFromTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v := w.Visit(t)
		if page := v.Open(t, "/dashboard/usage/plans/new"); !strings.Contains(page.Body, "First, a ") {
			t.Errorf("an empty account is offered a form: %s", page.Body)
		}
		v.Open(t, "/dashboard/usage/meters/new")
		v.Send(t, "/dashboard/usage/meters/new", "name", "Pages", "eventName", "pages", "aggregation", "SUM")
		v.Open(t, "/dashboard/usage/prices/new")
		page := v.Send(
			t, "/dashboard/usage/prices/new", "productId", "new", "name", "", "tiers", "1000: 0\n500: x\n*: 0.02",
			"currency", "eur", "recurring.interval", "month",
		)
		for _, words := range []string{"the tiers must rise", "Expected a decimal number, such as 0.02", "500: x",
			`id="price-name-error"`} {
			if page.Status != 400 || !strings.Contains(page.Body, words) {
				t.Errorf("a wrong price is %d without %q: %s", page.Status, words, page.Body)
			}
		}
		if products := v.Open(t, "/dashboard/usage/products").Body; !strings.Contains(products, "No products") {
			t.Error("a refused price made a product")
		}
		v.Open(t, "/dashboard/usage/prices/new")
		page = v.Send(
			t, "/dashboard/usage/prices/new", "productId", "new", "name", "Pages", "tiers", "1,000: 0\n*: 0.025",
			"currency", "eur", "recurring.interval", "month",
		)
		if !strings.Contains(page.Body, "The first 1000") || !strings.Contains(page.Body, "0.025 EUR") {
			t.Fatalf("the price is %d %s: %s", page.Status, page.Path, page.Body)
		}
		w.Pay(t, w.NewSession(t, w.listing, "pro", "user-1", nil), harness.CardSucceeds).Want(t, 200)
		sub := w.AsBackend(t, get, "/v1/subscriptions", nil).
			Want(t, 200).Map(t)["data"].([]any)[0].(map[string]any)["id"].(string)
		form := v.Open(t, "/dashboard/usage/plans/new?subscription="+sub).Body
		price, meter := selectedPrice.FindStringSubmatch(form), selectedMeter.FindStringSubmatch(form)
		if price == nil || meter == nil || !strings.Contains(form, `value="`+sub+`" selected`) {
			t.Fatalf("the form is %s", form)
		}
		page = v.Send(
			t, "/dashboard/usage/plans/new", "subscriptionId", sub, "meterId", meter[1], "priceId", price[1],
			"billingInterval", "month",
		)
		if !strings.HasPrefix(page.Path, "/dashboard/usage/plans/ubp_") {
			t.Fatalf("the plan is %d %s: %s", page.Status, page.Path, page.Body)
		}
		plan := page.Path
		v.Open(t, "/dashboard/usage/plans/new?subscription="+sub)
		if page = v.Send(
			t, "/dashboard/usage/plans/new", "subscriptionId", sub, "meterId", meter[1], "priceId", price[1],
			"billingInterval", "month",
		); page.Status != 409 {
			t.Errorf("a second plan is %d", page.Status)
		}
		w.AsBackend(t, post, "/v1/usage/events", JSON{"subscriptionId": sub, "meter": "pages", "quantity": 1400,
			"idempotencyKey": "e1"}).Want(t, 202)
		for _, path := range []string{plan, "/dashboard/subscriptions/" + sub} {
			if shown := v.Open(t, path).Body; !strings.Contains(shown, "1400") || !strings.Contains(shown, "10.00") {
				t.Errorf("%s does not preview the period: %s", path, shown)
			}
		}
		if shown := v.Open(t, plan).Body; !strings.Contains(html.UnescapeString(shown), "1000 × 0 EUR + 400 × 0.025 EUR") {
			t.Errorf("the preview does not explain itself: %s", shown)
		}
		next := w.AsBackend(t, post, "/v1/usage/prices", priceBody(w.usageOf(t).productID)).Want(t, 201).Map(t)["id"].(string)
		if page = v.Send(t, plan+"/change", "priceId", next); page.Path != plan ||
			!strings.Contains(page.Body, `value="`+next+`" selected`) {
			t.Errorf("the next price is not shown: %d %s", page.Status, page.Body)
		}
		if page = v.Send(t, plan+"/end"); page.Path != plan || strings.Contains(page.Body, plan+"/end") {
			t.Errorf("the end is not shown: %d %s", page.Status, page.Body)
		}
		id := strings.TrimPrefix(plan, "/dashboard/usage/plans/")
		ended := w.AsBackend(t, get, "/v1/usage/billing-plans/"+id, nil).Want(t, 200).Map(t)
		if ended["endsAt"] != ended["currentPeriodEnd"] || ended["nextPriceId"] != next {
			t.Errorf("the plan is %v", ended)
		}
	})
}
