package e2e_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"sundry/tests/harness"
)

func TestUsageIsCountedByValues(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		event := harness.Unique("users")
		draft := harness.JSON{"name": "Active users", "eventName": event, "aggregation": "UNIQUE", "uniqueProperty": "userId"}
		made := m.AsBackend(t, http.MethodPost, "/v1/usage/meters", draft).Want(t, 201).Map(t)
		if made["uniqueProperty"] != "userId" || made["aggregation"] != "UNIQUE" {
			t.Fatalf("made %v", made)
		}
		report := func(user string) *harness.Response {
			body := harness.JSON{
				"subscriptionId": m.subscriptionID, "meter": event, "quantity": 1, "idempotencyKey": harness.Unique("report"),
			}
			if user != "" {
				body["properties"] = harness.JSON{"userId": user}
			}
			return m.AsBackend(t, http.MethodPost, "/v1/usage/events", body)
		}
		for _, user := range []string{"ada", "bob", "ada"} {
			report(user).Want(t, 202)
		}
		report("").Refuses(t, 400, "VALIDATION_FAILED", "properties.userId")
		advance(t, m.Account, time.Second)
		type meter struct {
			Key, Aggregation string
			Quantity         int
		}
		var summary struct{ Meters []meter }
		m.AsBackend(t, http.MethodGet, "/v1/usage/summary?subscriptionId="+m.subscriptionID, nil).Want(t, 200).Into(t, &summary)
		if want := (meter{event, "UNIQUE", 2}); !slices.Contains(summary.Meters, want) {
			t.Errorf("summary: %+v, want %+v among them", summary.Meters, want)
		}
		draft["eventName"], draft["uniqueProperty"] = harness.Unique("users"), ""
		m.AsBackend(t, http.MethodPost, "/v1/usage/meters", draft).Refuses(t, 400, "VALIDATION_FAILED", "uniqueProperty")
	})
}
