package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"sundry/tests/harness"
)

func TestAnEndpointHasLimitsThatItsOwnerSets(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		shows := func(response *harness.Response, want string) {
			t.Helper()
			e := response.Map(t)
			if got := fmt.Sprint(e["maxInFlight"], " ", e["maxPerSecond"]); got != want {
				t.Errorf("limits %s, want %s", got, want)
			}
		}
		body := endpointBody()
		made := w.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints", body).Want(t, 201)
		shows(made, "32 <nil>")
		path := "/v1/webhook-endpoints/" + fmt.Sprint(made.Map(t)["id"])
		for _, c := range []struct {
			change harness.JSON
			want   string
		}{
			{harness.JSON{"maxInFlight": 1, "maxPerSecond": 1000}, "1 1000"},
			{harness.JSON{"maxInFlight": 128}, "128 1000"},
			{harness.JSON{"maxPerSecond": nil}, "128 <nil>"},
			{harness.JSON{"maxPerSecond": 1}, "128 1"},
		} {
			shows(w.AsBackend(t, http.MethodPatch, path, c.change).Want(t, 200), c.want)
		}
		for field, values := range map[string][]any{"maxInFlight": {0, -1, 129, nil}, "maxPerSecond": {0, -1, 1001}} {
			for _, value := range values {
				w.AsBackend(t, http.MethodPatch, path, harness.JSON{field: value}).Refuses(
					t, 400, "VALIDATION_FAILED", field,
				)
				body[field] = value
				if value != nil {
					w.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints", body).Refuses(
						t, 400, "VALIDATION_FAILED", field,
					)
				}
				delete(body, field)
			}
		}
		shows(w.AsBackend(t, http.MethodGet, path, nil).Want(t, 200), "128 1")
	})
}

func TestAnAccountHasAtMostFiftyEndpoints(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), newFixture(t, app)
		for range 45 {
			w.newEndpoint(t)
		}
		counts := map[int]int{}
		for _, response := range together(10, func() *harness.Response {
			return app.Ask(t, harness.Request{
				Method: http.MethodPost, Path: "/v1/webhook-endpoints", Body: endpointBody(), Bearer: w.Key,
			})
		}) {
			counts[response.Status]++
		}
		if counts[201] != 5 || counts[409] != 5 {
			t.Errorf("of ten at once beside 45: %v, want 5 made", counts)
		}
		w.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints", endpointBody()).Refuses(t, 409, "LIMIT_REACHED")
		other.newEndpoint(t)
		var list page
		w.AsBackend(t, http.MethodGet, "/v1/webhook-endpoints?limit=100", nil).Want(t, 200).Into(t, &list)
		if len(list.Data) != 50 {
			t.Errorf("%d endpoints", len(list.Data))
		}
		w.AsBackend(t, http.MethodDelete, "/v1/webhook-endpoints/"+list.Data[0].ID, nil).Want(t, 200)
		w.newEndpoint(t)
	})
}

func TestReplaysAtOnceMakeOneDeliveryOfEachEvent(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for i := range 20 {
			w.AsBackend(t, http.MethodPost, fmt.Sprintf("/v1/customer-access/user-%d/grants", i), harness.JSON{
				"entitlements": []harness.JSON{{"key": "extra", "type": "boolean", "value": true}},
			}).Want(t, 201)
		}
		for range 3 { // endpoints that are younger than the events
			path := "/v1/webhook-endpoints/" + w.newEndpoint(t)
			for _, response := range together(6, func() *harness.Response {
				return w.AsBackend(t, http.MethodPost, path+"/replay", harness.JSON{"from": "2020-01-01T00:00:00.000Z"})
			}) {
				if replayed := response.Want(t, 202).Map(t)["replayed"]; fmt.Sprint(replayed) != "20" {
					t.Errorf("replayed %v events, want 20", replayed)
				}
			}
			if n := len(all(t, w.Account, path+"/deliveries", url.Values{})); n != 20 {
				t.Errorf("%d deliveries, want 20", n)
			}
		}
	})
}
