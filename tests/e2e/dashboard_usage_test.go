package e2e_test

import (
	"fmt"
	"html"
	"net/url"
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
			t, "/dashboard/usage/prices/new", "productId", "new", "name", "", "tiers0.upTo", "1000",
			"tiers0.unitAmountDecimal", "0", "tiers2.upTo", "500", "tiers2.unitAmountDecimal", "x",
			"tiers4.unitAmountDecimal", "0.02", "currency", "eur", "recurring.interval", "month",
		)
		for _, words := range []string{"the tiers must rise", "Expected a decimal number, such as 0.02",
			`name="tiers2.upTo" value="500"`, `name="tiers2.unitAmountDecimal" value="x"`, `value="0.02"`,
			`id="price-tiers2-upTo-error"`, `id="price-tiers2-unitAmountDecimal-error"`, `name="tiers5.upTo" value=""`,
			`id="price-name-error"`} {
			if page.Status != 400 || !strings.Contains(page.Body, words) {
				t.Errorf("a wrong price is %d without %q: %s", page.Status, words, page.Body)
			}
		}
		page = v.Send(
			t, "/dashboard/usage/prices/new", "productId", "new", "name", "Pages", "currency", "eur",
			"recurring.interval", "month",
		)
		if got := marked(page); len(got) != 1 || !got["price-tiers"] {
			t.Errorf("a price without tiers is %d with %v marked", page.Status, got)
		}
		if products := v.Open(t, "/dashboard/usage/products").Body; !strings.Contains(products, "No products") {
			t.Error("a refused price made a product")
		}
		v.Open(t, "/dashboard/usage/prices/new")
		page = v.Send(
			t, "/dashboard/usage/prices/new", "productId", "new", "name", "Pages",
			"tiers0.upTo", "1,000", "tiers0.unitAmountDecimal", "0", "tiers1.unitAmountDecimal", "0.025",
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

// Use that costs more than an invoice can charge is shown on its pages, on which its billing can be ended.
func TestUseBeyondAnInvoiceIsShownInTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		m.report(t, "100000000000000") // while nothing bills it
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		m.AsBackend(t, get, "/v1/usage/billing-plans/"+m.planID+"/preview", nil).Refuses(t, 409, "LIMIT_REACHED")
		v := m.Visit(t)
		for _, path := range []string{"/dashboard/usage/plans/" + m.planID, "/dashboard/subscriptions/" + m.subscriptionID} {
			if page := v.Open(t, path); page.Status != 200 || !strings.Contains(page.Body, "than an invoice can charge") ||
				!strings.Contains(page.Body, m.planID) {
				t.Errorf("%s is %d: %s", path, page.Status, page.Body)
			}
		}
	})
}

func TestReportsOfUseAreShownInTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m, another := w.metered(t, harness.CardSucceeds), w.metered(t, harness.CardSucceeds)
		v := w.Visit(t)
		var batch []JSON
		for n := range 30 { // more than a page
			batch = append(batch, m.reportBody(fmt.Sprint("of-", m.event, "-", n), fmt.Sprint(1000+n)))
		}
		if page := v.Open(t, "/dashboard/usage/reports").Body; !strings.Contains(page, "Nothing reported yet") {
			t.Errorf("an account without reports sees %s", page)
		}
		m.AsBackend(t, post, "/v1/usage/events/batch", JSON{"events": batch}).Want(t, 202)
		others := another.report(t, "77")
		m.AsBackend(t, post, "/v1/usage/events/of-"+m.event+"-29/void", nil).Want(t, 200)
		const path = "/dashboard/usage/reports"
		for query, want := range map[string]struct{ mine, others int }{
			"":                          {24, 1},
			"?meter=" + m.event:         {25, 0},
			"?customer=" + m.customerID: {25, 0},
			"?customer=" + url.QueryEscape(another.customer):                        {0, 1},
			"?subscription=" + m.subscriptionID:                                     {25, 0},
			"?subscription=sub_none":                                                {0, 0},
			"?subscription=" + m.subscriptionID + "&customer=" + another.customerID: {0, 0},
			"?from=2020-01-01&until=2020-01-02":                                     {0, 0},
			"?from=2020-01-01":                                                      {24, 1},
		} {
			page := v.Open(t, path+query).Body
			mine, other := strings.Count(page, ">of-"+m.event), strings.Count(page, ">"+others+"<")
			if mine != want.mine || other != want.others {
				t.Errorf("%s lists %d and %d reports, want %+v", query, mine, other, want)
			}
		}
		page := v.Open(t, path+"?customer="+m.customerID).Body
		for _, part := range []string{"Voided", "Not billed yet", "/dashboard/customers/" + m.customerID, ">1028<"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page lacks %q: %s", part, page)
			}
		}
		next := regexp.MustCompile(`href="(/dashboard/usage/reports\?[^"]*cursor=[^"]*)"`).FindStringSubmatch(page)
		if next == nil {
			t.Fatal("there is no second page")
		}
		if page := v.Open(t, html.UnescapeString(next[1])).Body; strings.Count(page, ">of-"+m.event) != 5 {
			t.Errorf("the second page is %s", page)
		}
		file := v.Open(t, path+"?format=csv&customer="+m.customerID).Body
		if lines := strings.Count(file, "\n"); lines != 31 || !strings.Contains(file, ",1028,") || strings.Contains(file, others) {
			t.Errorf("the file has %d lines: %s", lines, file)
		}
		for _, from := range []string{
			"/dashboard/usage", "/dashboard/customers/" + m.customerID, "/dashboard/subscriptions/" + m.subscriptionID,
			"/dashboard/usage/plans/" + m.planID,
		} {
			if !strings.Contains(v.Open(t, from).Body, path) {
				t.Errorf("%s has no link to the reports", from)
			}
		}
	})
}
