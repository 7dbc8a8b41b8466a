package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

func TestPackagesBegunAreBilledWhole(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m := w.subscribed(t, harness.CardSucceeds, "SUM")
		body := priceBody(m.productID)
		body["tiersMode"] = "package"
		m.AsBackend(t, http.MethodPost, "/v1/usage/prices", body).Refuses(t, 400, "VALIDATION_FAILED", "tiers", "packageSize")
		body["tiers"] = []harness.JSON{{"unitAmountInCents": 500}}
		body["packageSize"] = 1.5
		m.AsBackend(t, http.MethodPost, "/v1/usage/prices", body).Refuses(t, 400, "VALIDATION_FAILED", "packageSize")
		body["packageSize"] = 1000
		m.priceID = m.make(t, "/v1/usage/prices", body)
		read := m.AsBackend(t, http.MethodGet, "/v1/usage/prices/"+m.priceID, nil).Want(t, 200).Map(t)
		if read["tiersMode"] != "package" || asJSON(t, read["packageSize"]) != "1000" {
			t.Errorf("read: %v", read)
		}
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		m.report(t, "1000")
		m.counts(t, "1000")
		preview := func() (total, tiers string) {
			shown := m.AsBackend(t, http.MethodGet, "/v1/usage/billing-plans/"+m.planID+"/preview", nil).Want(t, 200).Map(t)
			line, _ := shown["lines"].([]any)[0].(map[string]any)
			return asJSON(t, shown["totalInCents"]), asJSON(t, line["tiers"])
		}
		if total, _ := preview(); total != "500" {
			t.Errorf("one package: %s", total)
		}
		m.report(t, "0.5")
		m.counts(t, "1000.5")
		total, tiers := preview()
		if total != "1000" || !strings.Contains(tiers, `"packageSize":1000`) || !strings.Contains(tiers, `"quantity":2`) {
			t.Errorf("a package and half a unit: %s by %s", total, tiers)
		}
		v := m.Visit(t)
		if page := v.Open(t, "/dashboard/usage/plans/"+m.planID); !strings.Contains(page.Body, "2 packages of 1000 × 5 EUR") {
			t.Error("the dashboard does not say how many packages are billed")
		}
		for path, want := range map[string]string{
			"/dashboard/usage/prices":              "5 EUR per package of 1000, every package begun",
			"/dashboard/usage/prices/" + m.priceID: "Price of each package begun",
		} {
			if page := v.Open(t, path); !strings.Contains(page.Body, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
		advance(t, m.Account, day+2*time.Minute)
		all := m.invoices(t)
		wantLines(t, all[0], "paid", "usage 1000.5 = 1000")
		if page := v.Open(t, "/dashboard/invoices/"+all[0].ID); !strings.Contains(page.Body, "packages of 1000") {
			t.Error("the invoice does not say that it counts packages")
		}

		file := putCatalogBack(t, m.Account)
		if text := asJSON(t, file["usage"]); strings.Count(text, `"packageSize":1000`) != 1 ||
			strings.Count(text, `"tiersMode":"package"`) != 1 {
			t.Errorf("the catalog file: %s", text)
		}
		if lines, err := app.Program.Verify(t.Context()); err != nil || len(lines) > 0 {
			t.Errorf("verify: %q, %v", lines, err)
		}
	})
}

func TestPricesByPackageAreMadeInTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v := w.Visit(t)
		v.Open(t, "/dashboard/usage/prices/new")
		page := v.Send(
			t, "/dashboard/usage/prices/new", "productId", "new", "name", "Pages",
			"tiers0.unitAmountDecimal", "5.00", "currency", "eur", "recurring.interval", "month",
			"tiersMode", "package", "packageSize", "some",
		)
		if !strings.Contains(page.Body, "Expected a whole number.") {
			t.Error("a size that is no number is not refused")
		}
		page = v.Send(
			t, "/dashboard/usage/prices/new", "productId", "new", "name", "Pages",
			"tiers0.unitAmountDecimal", "5.00", "currency", "eur", "recurring.interval", "month",
			"tiersMode", "package", "packageSize", "250",
		)
		if !strings.Contains(page.Body, "Units in a package") || !strings.Contains(page.Body, "250") {
			t.Error("the price is not shown as one of packages of 250")
		}
	})
}
