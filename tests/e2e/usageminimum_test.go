package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

func TestAPeriodCostsItsMinimum(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m := w.subscribed(t, harness.CardSucceeds, "SUM")
		body := priceBody(m.productID)
		for _, wrong := range []any{0, -1, 1.5, 100_000_000_000, "5"} {
			body["minimumAmountInCents"] = wrong
			m.AsBackend(t, http.MethodPost, "/v1/usage/prices", body).Refuses(t, 400, "VALIDATION_FAILED", "minimumAmountInCents")
		}
		v := m.Visit(t)
		v.Open(t, "/dashboard/usage/prices/new")
		form := []string{
			"productId", m.productID, "tiers0.upTo", "10", "tiers0.unitAmountDecimal", "0.10",
			"tiers1.unitAmountDecimal", "0.005", "currency", "eur", "recurring.interval", "month",
			"minimumAmountInCents",
		}
		if page := v.Send(t, "/dashboard/usage/prices/new", append(form, "much")...); !strings.Contains(page.Body,
			"Expected an amount such as 29.00") {
			t.Error("a minimum that is no amount is not refused")
		}
		if page := v.Send(t, "/dashboard/usage/prices/new", append(form, "2.50")...); !strings.Contains(page.Body,
			"Minimum of a period") || !strings.Contains(page.Body, "2.5 EUR") {
			t.Error("the page of the price does not show its minimum")
		}
		var prices struct {
			Data []struct {
				ID                   string
				MinimumAmountInCents *int64
			}
		}
		m.AsBackend(t, http.MethodGet, "/v1/usage/prices", nil).Want(t, 200).Into(t, &prices)
		if least := prices.Data[0].MinimumAmountInCents; least == nil || *least != 250 ||
			prices.Data[1].MinimumAmountInCents != nil {
			t.Fatalf("the prices are %+v", prices.Data)
		}
		m.priceID = prices.Data[0].ID
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		m.report(t, "12")
		m.counts(t, "12")
		shown := m.AsBackend(t, http.MethodGet, "/v1/usage/billing-plans/"+m.planID+"/preview", nil).Want(t, 200).Map(t)
		if text := asJSON(t, shown["lines"]); asJSON(t, shown["totalInCents"]) != "250" ||
			!strings.Contains(text, `"kind":"minimum"`) || !strings.Contains(text, `"topUpInCents":149`) {
			t.Errorf("the preview is %v: %s", shown["totalInCents"], text)
		}
		for path, want := range map[string]string{
			"/dashboard/usage/prices":            ", at least 2.5 EUR",
			"/dashboard/usage/plans/" + m.planID: "1.49 EUR up to the minimum of the period",
		} {
			if page := v.Open(t, path); !strings.Contains(page.Body, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
		advance(t, m.Account, day+2*time.Minute)
		first := m.invoices(t)[0]
		wantLines(t, first, "paid", "usage 12 = 101", "minimum 0 = 149")
		if page := v.Open(t, "/dashboard/invoices/"+first.ID); !strings.Contains(page.Body, "API calls, up to the minimum") {
			t.Error("the invoice does not show the minimum")
		}
		explained := m.AsBackend(t, http.MethodGet, "/v1/invoices/"+first.ID+"/explain", nil).Want(t, 200)
		if text := string(explained.Body); strings.Count(text, `"topUpInCents":149`) != 1 ||
			strings.Count(text, `"ratedInCents":101,"topUpInCents":0`) != 1 {
			t.Errorf("explained by %s", text)
		}
		late := m.reportBody(harness.Unique("late"), "400")
		late["timestamp"] = first.CreatedAt.Add(-time.Hour)
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", late).Want(t, 202)
		advance(t, m.Account, day)
		wantLines(t, m.invoices(t)[1], "paid", "usage 0 = 0", "minimum 0 = 250", "late_usage 412 = 51")
		file := putCatalogBack(t, m.Account)
		if text := asJSON(t, file["usage"]); strings.Count(text, `"minimumAmountInCents":250`) != 1 {
			t.Errorf("the catalog file: %s", text)
		}
		if lines, err := app.Program.Verify(t.Context()); err != nil || len(lines) > 0 {
			t.Errorf("verify: %q, %v", lines, err)
		}
	})
}
