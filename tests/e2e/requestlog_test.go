package e2e_test

import (
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestTheRequestIDOfAnErrorFindsItsRequest(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		refused := a.AsBackend(t, post, "/v1/refunds", JSON{"paymentId": "pay_secret", "reason": "hush"}).Want(t, 404).Map(t)
		a.AsBackend(t, get, "/v1/payments?externalCustomerId=ada-private", nil).Want(t, 200)
		a.AsCreator(t, get, "/v1/listings/mine", nil).Want(t, 200)
		app.Ask(t, harness.Request{Method: get, Path: "/v1/payments", Bearer: "sk_test_nobody"}).Want(t, 401)
		id := refused["requestId"].(string)

		v := a.Visit(t)
		page := v.Open(t, "/dashboard/requests?q="+id).Body
		for _, words := range []string{id, "POST /v1/refunds", "404", "NOT_FOUND", "…" + a.Key[len(a.Key)-4:], " ms"} {
			if !strings.Contains(page, words) {
				t.Errorf("the request's row lacks %q: %s", words, page)
			}
		}
		all := v.Open(t, "/dashboard/requests").Body
		if strings.Count(all, "req_") != 2 || strings.Contains(all, "/v1/listings/mine") || strings.Contains(all, "hush") ||
			strings.Contains(all, "ada-private") || strings.Contains(all, a.Key) {
			t.Errorf("the log has %d requests: %s", strings.Count(all, "req_"), all)
		}
		for query, want := range map[string]int{"status=2": 1, "status=4": 1, "status=404": 1, "status=409": 0,
			"q=payments": 1, "q=refunds": 1, "q=PAY_SECRET": 0} {
			if n := strings.Count(v.Open(t, "/dashboard/requests?"+query).Body, "req_"); n != want {
				t.Errorf("%s finds %d, want %d", query, n, want)
			}
		}
		if csv := v.Open(t, "/dashboard/requests?format=csv&status=404").Body; !strings.Contains(csv, id) ||
			strings.Count(csv, "\n") != 2 {
			t.Errorf("the file is %q", csv)
		}
		if eve := other.Visit(t).Open(t, "/dashboard/requests?q="+id).Body; !strings.Contains(eve, "Nothing matches") {
			t.Errorf("another account sees it: %s", eve)
		}
	})
}
