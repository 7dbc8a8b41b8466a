package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"sundry/tests/harness"
)

// listed describes how to make an entry of each list, and how to find only the account's own.
var listed = map[string]struct {
	make func(t *testing.T, w *fixture) (id string)
	own  func(w *fixture) url.Values
	path func(t *testing.T, w *fixture) string // for a list below an object
}{
	"GET /v1/api-keys": {make: func(t *testing.T, w *fixture) string {
		var made struct{ ID string }
		w.AsCreator(t, http.MethodPost, "/v1/api-keys", harness.JSON{"name": "listed"}).Want(t, 201).Into(t, &made)
		return made.ID
	}},
	"GET /v1/audit-log": {
		make: func(t *testing.T, w *fixture) string {
			w.AsCreator(t, http.MethodPatch, "/v1/listings/"+w.NewListing(t, nil).ID, harness.JSON{"priceInCents": 4321}).
				Want(t, 200)
			return w.auditLog(t, "price_changed")[0].ID
		},
		own: func(*fixture) url.Values { return url.Values{"kind": {"price_changed"}} },
	},
	"GET /v1/members":       {make: func(t *testing.T, w *fixture) string { return w.invite(t, "support").ID }},
	"GET /v1/listings/mine": {make: func(t *testing.T, w *fixture) string { return w.NewListing(t, nil).ID }},
	"GET /v1/listings": {
		make: func(t *testing.T, w *fixture) string { return w.Published(t, nil).ID },
		own:  func(w *fixture) url.Values { return url.Values{"creatorId": {w.ID}} },
	},
	"GET /v1/webhook-endpoints": {make: func(t *testing.T, w *fixture) string { return w.newEndpoint(t) }},
	"GET /v1/events": {make: func(t *testing.T, w *fixture) string {
		_, event := w.delivery(t)
		return event
	}},
	"GET /v1/checkout-sessions": {make: func(t *testing.T, w *fixture) string { return w.session(t).ID }},
	"GET /v1/payments": {make: func(t *testing.T, w *fixture) string {
		return fmt.Sprint(w.Pay(t, w.session(t), harness.CardSucceeds).Want(t, 200).Map(t)["paymentId"])
	}},
	"GET /v1/webhook-endpoints/{id}/deliveries": {
		make: func(t *testing.T, w *fixture) string {
			id, _ := w.delivery(t)
			return id
		},
		path: func(t *testing.T, w *fixture) string { return "/v1/webhook-endpoints/" + w.endpoint(t) + "/deliveries" },
	},
	"GET /v1/appointments": {make: func(t *testing.T, w *fixture) string { return w.booked(t).ID }},
	"GET /v1/tasks": {make: func(t *testing.T, w *fixture) string {
		return taskID("checkout.expire:" + w.session(t).ID)
	}},
	"GET /v1/refunds": {make: func(t *testing.T, w *fixture) string { return w.refunded(t) }},
	"GET /v1/disputes": {make: func(t *testing.T, w *fixture) string {
		id, _ := w.dispute(t, w.book(t, 2000))
		return id
	}},
	"GET /v1/payouts":       {make: func(t *testing.T, w *fixture) string { return w.paid(t) }},
	"GET /v1/discounts":     {make: func(t *testing.T, w *fixture) string { return w.discount(t, nil).ID }},
	"GET /v1/payment-links": {make: func(t *testing.T, w *fixture) string { return w.link(t) }},
	"GET /v1/usage/meters":  {make: func(t *testing.T, w *fixture) string { return (&metered{fixture: w}).meter(t) }},
	"GET /v1/usage/products": {
		make: func(t *testing.T, w *fixture) string { return (&metered{fixture: w}).product(t) },
	},
	"GET /v1/usage/prices": {make: func(t *testing.T, w *fixture) string {
		m := &metered{fixture: w}
		return m.make(t, "/v1/usage/prices", priceBody(m.product(t)))
	}},
	"GET /v1/usage/billing-plans": {
		make: func(t *testing.T, w *fixture) string { return w.metered(t, harness.CardSucceeds).planID },
	},
	"GET /v1/usage/events": {
		make: func(t *testing.T, w *fixture) string {
			m := w.usageOf(t)
			body := m.reportBody(harness.Unique("listed"), "1")
			return fmt.Sprint(m.AsBackend(t, http.MethodPost, "/v1/usage/events", body).Want(t, 202).Map(t)["id"])
		},
		own:  func(w *fixture) url.Values { return url.Values{"subscriptionId": {w.usage.subscriptionID}} },
		path: func(t *testing.T, w *fixture) string { w.usageOf(t); return "/v1/usage/events" },
	},
	"GET /v1/usage/credits": {make: func(t *testing.T, w *fixture) string { return w.usageOf(t).credit(t) }},
	"GET /v1/usage/alerts":  {make: func(t *testing.T, w *fixture) string { return w.usageOf(t).alert(t) }},
	"GET /v1/invoices":      {make: func(t *testing.T, w *fixture) string { return w.usageOf(t).pushed(t).ID }},
}

type page struct {
	Data       []struct{ ID string }
	HasMore    bool
	NextCursor *string
}

// ids walks a whole list in pages of the given size.
func (w *fixture) ids(t *testing.T, op harness.Operation, query url.Values, limit int) []string {
	t.Helper()
	var all []string
	query = with(query, "limit", strconv.Itoa(limit))
	for {
		var p page
		w.Ask(t, harness.Request{Method: op.Method, Path: op.Path, Query: query, Bearer: w.credential(op)}).
			Want(t, 200).Into(t, &p)
		for _, entry := range p.Data {
			all = append(all, entry.ID)
		}
		if p.HasMore != (p.NextCursor != nil) || len(p.Data) > limit || p.HasMore && len(p.Data) < limit {
			t.Fatalf(
				"%s: a page of %d for limit %d has hasMore %v, nextCursor %v", op.Line(), len(p.Data), limit, p.HasMore,
				p.NextCursor,
			)
		}
		if !p.HasMore {
			return all
		}
		query = with(query, "cursor", *p.NextCursor)
	}
}

// with is a copy of the values with one set.
func with(v url.Values, name, value string) url.Values {
	out := url.Values{name: {value}}
	for k, values := range v {
		if k != name {
			out[k] = values
		}
	}
	return out
}

func TestEveryListPagesNewestFirst(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		for _, op := range harness.Operations(t) {
			if op.Parameters.GetByInAndName("query", "limit") == nil || op.OperationID == "listLedgerEntries" {
				continue // one sale makes several ledger entries: TestLedgerEntriesPageNewestFirst
			}
			t.Run(op.OperationID, func(t *testing.T) {
				entry, known := listed[op.Line()]
				if !known {
					t.Fatalf("%s has no line in listed", op.Line())
				}
				w := newFixture(t, app)
				if entry.path != nil {
					op.Path = entry.path(t, w)
				}
				query := url.Values{}
				if entry.own != nil {
					query = entry.own(w)
				}
				want := w.ids(t, op, query, 100)
				for range 3 {
					want = append([]string{entry.make(t, w)}, want...)
				}
				for _, limit := range []int{1, 2, len(want), 100} {
					if got := w.ids(t, op, query, limit); !slices.Equal(got, want) {
						t.Errorf("in pages of %d: %v, want %v", limit, got, want)
					}
				}
				checkBadPages(t, w, op, query)
			})
		}
	})
}

func checkBadPages(t *testing.T, w *fixture, op harness.Operation, query url.Values) {
	t.Helper()
	for _, limit := range []string{"0", "-1", "101", "1.5", "abc", "99999999999999999999", "1e1", "+1", " 1", "٣"} {
		w.Ask(t, harness.Request{Method: op.Method, Path: op.Path, Query: with(query, "limit", limit),
			Bearer: w.credential(op)}).
			Refuses(t, 400, "VALIDATION_FAILED", "limit")
	}
	for _, cursor := range []string{"x", "!!!", "AAAA", "MHx4", "bHN0XzAx", "MHwnIE9SIDE9MS0t"} {
		response := w.Ask(t, harness.Request{
			Method: op.Method, Path: op.Path, Query: with(query, "cursor", cursor), Bearer: w.credential(op),
		})
		if op.Path != "/v1/tasks" || response.Status != 200 { // the ids of tasks have no form of their own
			response.Refuses(t, 400, "VALIDATION_FAILED", "cursor")
		}
	}
	w.Ask(t, harness.Request{Method: op.Method, Path: op.Path, Query: url.Values{"limit": {"0"}, "cursor": {"!"}},
		Bearer: w.credential(op)}).
		Refuses(t, 400, "VALIDATION_FAILED", "limit", "cursor")
}
