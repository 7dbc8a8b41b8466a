package e2e_test

import (
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
