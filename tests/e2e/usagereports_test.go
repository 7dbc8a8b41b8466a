package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestReportsOfUseAreListed(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		list := func(query string) *harness.Response {
			return m.AsBackend(t, http.MethodGet, "/v1/usage/events?"+query, nil)
		}
		key := m.report(t, "9876543.000000000001")
		ofSub, ofCustomer := "subscriptionId="+m.subscriptionID, "externalCustomerId="+url.QueryEscape(m.customer)
		for _, query := range []string{
			ofSub, ofCustomer, ofCustomer + "&meter=" + m.event, "customerId=" + m.customerID, "", "meter=" + m.event,
		} {
			body := string(list(query).Want(t, 200).Body)
			for _, part := range []string{
				`"quantity":9876543.000000000001,`, `"idempotencyKey":"` + key + `"`, `"status":"open"`,
				`"meter":"` + m.event + `"`, `"subscriptionId":"` + m.subscriptionID + `"`, `"voidedAt":null`,
			} {
				if strings.Count(body, part) != 1 {
					t.Errorf("%s lacks %s: %s", query, part, body)
				}
			}
		}
		for query, fields := range map[string][]string{
			ofSub + "&" + ofCustomer: {"externalCustomerId"}, ofSub + "&customerId=cus_1": {"customerId"},
			ofCustomer + "&customerId=cus_1": {"externalCustomerId"}, ofSub + "&from=yesterday": {"from"},
			ofSub + "&from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z": {"to"},
		} {
			list(query).Refuses(t, 400, "VALIDATION_FAILED", fields...)
		}
		list(ofSub+"&metre=x").Refuses(t, 400, "UNKNOWN_PARAMETER")
		list("subscriptionId=sub_none").Refuses(t, 404, "NOT_FOUND")
		other := app.NewAccount(t)
		for _, query := range []string{"", "meter=" + m.event, ofCustomer, "customerId=" + m.customerID} {
			body := string(other.AsBackend(t, http.MethodGet, "/v1/usage/events?"+query, nil).Want(t, 200).Body)
			if !strings.Contains(body, `"data":[]`) {
				t.Errorf("another account reads %s", body)
			}
		}
	})
}

// TestReportsOfUseAreExported reports more than two pages and exports each report once, by account and by customer.
func TestReportsOfUseAreExported(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m, another := w.metered(t, harness.CardSucceeds), w.metered(t, harness.CardSucceeds)
		const reports = 230
		var batch []harness.JSON
		for n := range reports {
			batch = append(batch, m.reportBody(fmt.Sprint(m.event, n), "1.5"))
		}
		m.AsBackend(t, post, "/v1/usage/events/batch", harness.JSON{"events": batch}).Want(t, 202)
		void := m.report(t, "7")
		m.AsBackend(t, post, "/v1/usage/events/"+void+"/void", nil).Want(t, 200)
		others := another.report(t, "3")
		keysOf := func(path string) map[string]harness.JSON {
			byKey := map[string]harness.JSON{}
			for _, line := range readLines(t, m.AsBackend(t, get, path, nil).Want(t, 200).Body)["usage_report"] {
				key, _ := line["idempotencyKey"].(string)
				if byKey[key] != nil {
					t.Errorf("%s has %s twice", path, key)
				}
				byKey[key] = line
			}
			return byKey
		}
		whole := keysOf("/v1/export")
		if len(whole) != reports+2 || whole[others] == nil || whole[void]["status"] != "voided" {
			t.Errorf("the account's export has %d reports, want %d", len(whole), reports+2)
		}
		mine := keysOf("/v1/customers/" + m.customerID + "/export")
		if len(mine) != reports+1 || mine[others] != nil {
			t.Errorf("the customer's export has %d reports, want %d", len(mine), reports+1)
		}
		one := mine[fmt.Sprint(m.event, 0)]
		if one["subscriptionId"] != m.subscriptionID || one["meter"] != m.event || one["quantity"] != 1.5 {
			t.Errorf("a report is %v", one)
		}
	})
}
