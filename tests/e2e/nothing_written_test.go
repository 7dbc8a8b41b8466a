package e2e_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sundry/adapters/httpapi"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// changedInBackground names the tables that background work changes: tasks, announcements, deliveries, mails, counts,
// the last use of a key, and the log of requests.
var changedInBackground = []string{
	"tasks", "api_keys", "events", "event_positions", "deliveries", "delivery_attempts",
	"webhook_endpoints", "mails", "api_requests", "concurrency_rates", "concurrency_pauses", "deployment",
	"usage_days", "usage_rollups", "usage_watermark",
}

// changed names the tables whose rows are not what they were.
func changed(before, after map[string]string) []string {
	var names []string
	for name, rows := range after {
		if before[name] != rows && !slices.Contains(changedInBackground, name) {
			names = append(names, name+": "+before[name]+" → "+rows)
		}
	}
	slices.Sort(names)
	return names
}

// TestRefusedRequestsWriteNothing refuses something at every operation and compares the whole database.
func TestRefusedRequestsWriteNothing(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil) // its own, so that nobody else writes
		w, outsider := newFixture(t, app), newFixture(t, app)
		valid := map[string]harness.Request{}
		for _, op := range harness.Operations(t) {
			valid[op.Line()] = w.request(t, op)
		}
		app.Exec(t, "UPDATE subscriptions SET rolled = last_movement") // else a sweep adds their movements up meanwhile
		before := app.Tables(t)
		for _, op := range harness.Operations(t) {
			for _, r := range refusals(w, outsider, op, valid[op.Line()]) {
				if response := app.Ask(t, r); response.Status < 400 {
					t.Errorf("%s took %.200v: %d %s", op.Line(), r, response.Status, response.Body)
				}
			}
			after := app.Tables(t)
			if diff := changed(before, after); len(diff) > 0 {
				t.Errorf("%s was refused and wrote %s", op.Line(), strings.Join(diff, "; "))
			}
			before = after
		}
		w.NewListing(t, nil)
		if diff := changed(before, app.Tables(t)); len(diff) != 1 || !strings.HasPrefix(diff[0], "listings: ") {
			t.Errorf("a listing was made, and what is seen of it is %q", diff)
		}
	})
}

// refusals are requests of every kind that the operation must refuse.
func refusals(w, outsider *fixture, op harness.Operation, valid harness.Request) []harness.Request {
	var all []harness.Request
	add := func(change func(r *harness.Request)) {
		r := valid
		change(&r)
		all = append(all, r)
	}
	add(func(r *harness.Request) {
		r.Query = maps.Clone(r.Query)
		if r.Query == nil {
			r.Query = url.Values{}
		}
		r.Query.Set("surprise", "1")
	})
	if op.TakesBody() {
		for _, body := range []string{"", "{", `{"surprise":1}`, "[]"} {
			if body != "" || op.NeedsBody() {
				add(func(r *harness.Request) { r.Body = body })
			}
		}
	}
	if op.Auth == httpapi.Public {
		return all
	}
	for _, bearer := range []string{"", "garbage", freshKey(true), forged(w.Token, outsider.Token)} {
		add(func(r *harness.Request) { r.Bearer = bearer })
	}
	if strings.Contains(op.Path, "{") && !strings.Contains(op.Path, "customer-access") {
		add(func(r *harness.Request) { r.Bearer = outsider.credential(op) })
	}
	return all
}
