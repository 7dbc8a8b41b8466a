package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

func TestVolumePricesBillAllUnitsAlike(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m := w.subscribed(t, harness.CardSucceeds, "SUM")
		body := priceBody(m.productID)
		body["tiersMode"] = "stairs"
		m.AsBackend(t, http.MethodPost, "/v1/usage/prices", body).Refuses(t, 400, "VALIDATION_FAILED", "tiersMode")
		body["tiersMode"] = "volume"
		m.priceID = m.make(t, "/v1/usage/prices", body)
		if read := m.AsBackend(t, http.MethodGet, "/v1/usage/prices/"+m.priceID, nil).Want(t, 200).Map(t); read["tiersMode"] != "volume" {
			t.Errorf("read: %v", read)
		}
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		m.report(t, "10")
		m.counts(t, "10")
		preview := func() string {
			return asJSON(t, m.AsBackend(t, http.MethodGet, "/v1/usage/billing-plans/"+m.planID+"/preview", nil).Want(t, 200).Map(t)["totalInCents"])
		}
		if total := preview(); total != "100" {
			t.Errorf("ten at 10 cents: %s", total)
		}
		m.report(t, "11")
		m.counts(t, "21")
		if total := preview(); total != "11" {
			t.Errorf("21 at half a cent: %s", total)
		}
		advance(t, m.Account, day+2*time.Minute)
		wantLines(t, m.invoices(t)[0], "paid", "usage 21 = 11")
		if page := m.Visit(t).Open(t, "/dashboard/usage/prices"); !strings.Contains(page.Body, "All units: ") {
			t.Error("the dashboard does not say that all units have one price")
		}

		file := putCatalogBack(t, m.Account)
		if text := asJSON(t, file["usage"]); strings.Count(text, `"tiersMode":"volume"`) != 1 {
			t.Errorf("the catalog file: %s", text)
		}
		if lines, err := app.Program.Verify(t.Context()); err != nil || len(lines) > 0 {
			t.Errorf("verify: %q, %v", lines, err)
		}
	})
}

// putCatalogBack puts the account's catalog file back as it is, which must change nothing in it, and returns the file.
func putCatalogBack(t *testing.T, a *harness.Account) map[string]any {
	t.Helper()
	file := a.AsBackend(t, http.MethodGet, "/v1/catalog", nil).Want(t, 200).Map(t)
	again := a.AsBackend(t, http.MethodPut, "/v1/catalog", file).Want(t, 200)
	if after := a.AsBackend(t, http.MethodGet, "/v1/catalog", nil).Want(t, 200).Map(t); asJSON(t, after) != asJSON(t, file) {
		t.Errorf("put back, which did %s: %s", again.Body, asJSON(t, after))
	}
	return file
}
