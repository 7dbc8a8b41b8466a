package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// use reports a quantity with properties, at a time that may be nil.
func (m *metered) use(t *testing.T, quantity string, properties harness.JSON, at any) (key string) {
	t.Helper()
	key = harness.Unique("use")
	body := m.reportBody(key, quantity)
	body["properties"] = properties
	if at != nil {
		body["timestamp"] = at
	}
	m.AsBackend(t, http.MethodPost, "/v1/usage/events", body).Want(t, 202)
	return key
}

// described are the lines of an invoice with their descriptions.
func described(inv invoiceBody) (lines []string) {
	for _, l := range inv.LineItems {
		lines = append(lines, fmt.Sprintf("%s %s = %d", l.Description, l.Quantity, l.AmountInCents))
	}
	return lines
}

func TestPricesDependOnDimensions(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m := w.subscribed(t, harness.CardSucceeds, "SUM")
		body := priceBody(m.productID)
		body["rates"] = []harness.JSON{{"when": harness.JSON{}, "tiers": []harness.JSON{}}}
		m.AsBackend(t, http.MethodPost, "/v1/usage/prices", body).Refuses(t, 400, "VALIDATION_FAILED", "rates[0].tiers",
			"rates[0].when")
		body["rates"] = []harness.JSON{
			{"when": harness.JSON{"model": "large"}, "tiers": []harness.JSON{
				{"upTo": 2, "unitAmountInCents": 100}, {"unitAmountDecimal": "12.5"},
			}},
			{"when": harness.JSON{"model": "small", "region": "eu"}, "tiers": []harness.JSON{{"unitAmountInCents": 20}}},
		}
		m.priceID = m.make(t, "/v1/usage/prices", body)
		m.AsBackend(t, http.MethodPost, "/v1/usage/billing-plans", m.planBody()).
			Refuses(t, 400, "VALIDATION_FAILED", "priceId")

		m.event = harness.Unique("tokens")
		meter := harness.JSON{
			"name": "Tokens", "eventName": m.event, "aggregation": "MAX", "dimensions": []string{"model", "region"},
		}
		m.AsBackend(t, http.MethodPost, "/v1/usage/meters", meter).Refuses(t, 400, "VALIDATION_FAILED", "dimensions")
		meter["aggregation"] = "SUM"
		made := m.AsBackend(t, http.MethodPost, "/v1/usage/meters", meter).Want(t, 201).Map(t)
		if asJSON(t, made["dimensions"]) != `["model","region"]` {
			t.Errorf("made %v", made)
		}
		m.meterID, _ = made["id"].(string)
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())

		m.use(t, "1.5", harness.JSON{"model": "large", "user": "ada"}, nil)
		m.use(t, "2", harness.JSON{"model": "large", "region": "us"}, nil)
		m.use(t, "4", harness.JSON{"model": "small", "region": "eu"}, nil)
		wrong := m.use(t, "6", harness.JSON{"model": "small", "region": "eu"}, nil)
		m.use(t, "11", harness.JSON{"model": "small", "region": "us"}, nil)
		m.report(t, "1")
		m.counts(t, "25.5")
		m.AsBackend(t, http.MethodPost, "/v1/usage/events/"+wrong+"/void", nil).Want(t, 200)
		shown := m.AsBackend(t, http.MethodGet, "/v1/usage/billing-plans/"+m.planID+"/preview", nil).Want(t, 200).Map(t)
		if text := asJSON(t, shown["lines"]); asJSON(t, shown["totalInCents"]) != "400" ||
			!strings.Contains(text, `"values":{"model":"large"}`) || !strings.Contains(text, `"values":null`) {
			t.Errorf("the preview is %v: %s", shown["totalInCents"], text)
		}
		v := m.Visit(t)
		for path, want := range map[string]string{
			"/dashboard/usage/prices":               "; model large: 1 EUR up to 2, then 0.125 EUR; model small, region eu: 0.2 EUR",
			"/dashboard/usage/prices/" + m.priceID:  "Price of model small, region eu",
			"/dashboard/usage/plans/" + m.planID:    "Tokens (model large)",
			"/dashboard/usage/meters":               "model, region",
			"/dashboard/usage/reports":              "model small, region eu",
			"/dashboard/usage/prices?q=model+large": m.priceID,
		} {
			if page := v.Open(t, path); !strings.Contains(page.Body, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}

		listed := m.AsBackend(t, http.MethodGet, "/v1/usage/events?subscriptionId="+m.subscriptionID, nil).Want(t, 200)
		if text := string(listed.Body); strings.Count(text, `"dimensions":{"model":"small","region":"eu"}`) != 2 ||
			strings.Count(text, `"dimensions":{}`) != 1 {
			t.Errorf("the reports are %s", text)
		}

		advance(t, m.Account, day+2*time.Minute)
		first := m.invoices(t)[0]
		wantLines(t, first, "paid", "usage 3.5 = 219", "usage 4 = 80", "usage 12 = 101")
		want := "Tokens (model large) 3.5 = 219; Tokens (model small, region eu) 4 = 80; Tokens (all other) 12 = 101"
		if got := strings.Join(described(first), "; "); got != want {
			t.Errorf("the invoice has %s\nwant %s", got, want)
		}
		explained := m.AsBackend(t, http.MethodGet, "/v1/invoices/"+first.ID+"/explain", nil).Want(t, 200)
		if text := string(explained.Body); strings.Count(text, `"values":{"model":"small","region":"eu"}`) != 1 ||
			strings.Count(text, `"amountDecimal":"18.75"`) != 1 {
			t.Errorf("explained by %s", text)
		}

		// Late use of one rate, and a correction from the rest to another one, which leaves the sum as it is.
		before := first.CreatedAt.Add(-time.Hour)
		m.use(t, "2", harness.JSON{"model": "large"}, before)
		m.use(t, "-2", harness.JSON{"model": "small", "region": "us"}, before)
		m.use(t, "1", harness.JSON{"model": "small", "region": "eu"}, nil)
		advance(t, m.Account, day)
		second := m.invoices(t)[1]
		wantLines(t, second, "paid", "usage 1 = 20", "late_usage 5.5 = 25", "late_usage 10 = -1")
		if late := second.LineItems[1].Description; !strings.HasPrefix(late, "Tokens (model large), reported late for ") {
			t.Errorf("the late line is %q", late)
		}

		file := putCatalogBack(t, m.Account)
		if text := asJSON(t, file["usage"]); strings.Count(text, `"when":{"model":"small","region":"eu"}`) != 1 ||
			strings.Count(text, `"dimensions":["model","region"]`) != 1 {
			t.Errorf("the catalog file: %s", text)
		}
		other := newFixture(t, app).Account
		other.AsBackend(t, http.MethodPut, "/v1/catalog", harness.JSON{"version": 1, "listings": []harness.JSON{},
			"usage": file["usage"]}).Want(t, 200)
		if got := other.AsBackend(t, http.MethodGet, "/v1/catalog", nil).Want(t, 200).Map(t); asJSON(t, got["usage"]) !=
			asJSON(t, file["usage"]) {
			t.Errorf("imported: %s\nwant %s", asJSON(t, got["usage"]), asJSON(t, file["usage"]))
		}
		if lines, err := app.Program.Verify(t.Context()); err != nil || len(lines) > 0 {
			t.Errorf("verify: %q, %v", lines, err)
		}
	})
}

func TestDimensionsAreMadeInTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v := w.Visit(t)
		v.Open(t, "/dashboard/usage/meters/new")
		page := v.Send(t, "/dashboard/usage/meters/new", "name", "Tokens", "eventName", "tokens", "aggregation", "LAST",
			"dimensions", "model")
		if !strings.Contains(page.Body, "Only a SUM or COUNT meter has dimensions.") {
			t.Error("the last value has dimensions")
		}
		page = v.Send(t, "/dashboard/usage/meters/new", "name", "Tokens", "eventName", "tokens", "aggregation", "COUNT",
			"dimensions", "model\nregion")
		if !strings.Contains(page.Body, "model, region") {
			t.Error("the list of meters does not show the dimensions")
		}
		form := []string{"productId", "new", "name", "Tokens", "tiers0.unitAmountDecimal", "0.01", "currency", "eur",
			"recurring.interval", "month", "rates"}
		v.Open(t, "/dashboard/usage/prices/new")
		page = v.Send(t, "/dashboard/usage/prices/new", append(form, "model=large")...)
		if !strings.Contains(page.Body, "Enter a price.") {
			t.Error("a rate without a price is not refused")
		}
		page = v.Send(t, "/dashboard/usage/prices/new",
			append(form, "model=gpt:large, region=eu: 1000: 0; *: 0.10\nmodel=small: 0.02")...)
		for _, want := range []string{"Price of model gpt:large, region eu", "The first 1000", "0.1 EUR", "Price of model small",
			"Price of all other use"} {
			if !strings.Contains(page.Body, want) {
				t.Errorf("the page of the price lacks %q", want)
			}
		}
	})
}
