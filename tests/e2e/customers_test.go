package e2e_test

import (
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

func init() {
	customer := func(t *testing.T, w *fixture) (string, harness.JSON) { return w.customer(t), nil }
	maps.Copy(validRequests, map[string]valid{
		"POST /v1/customers": func(*testing.T, *fixture) (string, harness.JSON) {
			return "", harness.JSON{
				"email": "ada@example.com", "displayName": "Ada", "externalCustomerId": harness.Unique("user"),
			}
		},
		"GET /v1/customers/{id}": customer,
		"PATCH /v1/customers/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
			return w.customer(t), harness.JSON{
				"email": "grace@example.com", "displayName": "Grace", "externalCustomerId": harness.Unique("user"),
			}
		},
		"GET /v1/customers/{id}/payment-methods": customer,
		"DELETE /v1/customers/{id}/payment-methods/{pmId}": func(t *testing.T, w *fixture) (string, harness.JSON) {
			owner := w.customer(t)
			return owner + " " + w.card(t, owner), nil
		},
		"POST /v1/card-setup-sessions": func(t *testing.T, w *fixture) (string, harness.JSON) {
			return "", harness.JSON{"customerId": w.customer(t), "returnUrl": "https://shop.example/account"}
		},
		"POST /v1/customer-portal-sessions": func(t *testing.T, w *fixture) (string, harness.JSON) {
			return "", harness.JSON{"customerId": w.customer(t), "returnUrl": "https://shop.example/account"}
		},
		"POST /v1/sandbox/customers/{id}/cards": func(t *testing.T, w *fixture) (string, harness.JSON) {
			return w.customer(t), harness.JSON{"cardNumber": harness.CardSucceeds}
		},
		"POST /v1/subscriptions": func(t *testing.T, w *fixture) (string, harness.JSON) {
			owner := w.customer(t)
			return "", harness.JSON{
				"customerId": owner, "paymentMethodId": w.card(t, owner),
				"trialEndsAt": time.Now().AddDate(0, 1, 0).Format(time.RFC3339),
				"catalog":     harness.JSON{"listing": w.listing.CatalogKey, "plan": "pro", "interval": "month"},
			}
		},
		"GET /v1/subscriptions/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) { return w.recurring(t), nil },
		"PATCH /v1/subscriptions/{id}": func(t *testing.T, w *fixture) (string, harness.JSON) {
			return w.recurring(t), harness.JSON{"metadata": harness.JSON{"team": "7"}}
		},
		"POST /v1/subscriptions/{id}/cancel": func(t *testing.T, w *fixture) (string, harness.JSON) {
			return w.recurring(t), harness.JSON{"atPeriodEnd": true}
		},
		"POST /v1/subscriptions/{id}/pause": func(t *testing.T, w *fixture) (string, harness.JSON) {
			return w.recurring(t),
				nil
		},
		"POST /v1/subscriptions/{id}/resume": func(t *testing.T, w *fixture) (string, harness.JSON) {
			id := w.recurring(t)
			ask(t, w.Account, id, "pause", nil)
			return id, nil
		},
		"POST /v1/subscriptions/{id}/change/preview": func(t *testing.T, w *fixture) (string, harness.JSON) {
			return w.recurring(t), harness.JSON{"plan": "studio", "interval": "month", "prorationMode": "charge_now"}
		},
		"POST /v1/subscriptions/{id}/change": func(t *testing.T, w *fixture) (string, harness.JSON) {
			id := w.recurring(t)
			body := harness.JSON{"plan": "studio", "interval": "month", "prorationMode": "charge_now"}
			var quote struct{ QuoteID string }
			w.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+id+"/change/preview", body).Want(t, 200).Into(t, &quote)
			body["quoteId"] = quote.QuoteID
			return id, body
		},
	})
	listed["GET /v1/customers"] = struct {
		make func(t *testing.T, w *fixture) (id string)
		own  func(w *fixture) url.Values
		path func(t *testing.T, w *fixture) string
	}{make: func(t *testing.T, w *fixture) string { return w.customer(t) }}
	listed["GET /v1/subscriptions"] = struct {
		make func(t *testing.T, w *fixture) (id string)
		own  func(w *fixture) url.Values
		path func(t *testing.T, w *fixture) string
	}{make: func(t *testing.T, w *fixture) string { return w.recurring(t) }}
}

// customer is a new customer's id.
func (w *fixture) customer(t *testing.T) string {
	t.Helper()
	var made struct{ ID string }
	w.AsBackend(t, http.MethodPost, "/v1/customers", harness.JSON{"email": "ada@example.com"}).Want(t, 201).Into(t, &made)
	return made.ID
}

// card saves a card for a customer and returns its id.
func (w *fixture) card(t *testing.T, customerID string) string {
	t.Helper()
	var made struct{ ID string }
	w.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+customerID+"/cards",
		harness.JSON{"cardNumber": harness.CardSucceeds}).Want(t, 201).Into(t, &made)
	return made.ID
}

// recurring is a new active subscription's id.
func (w *fixture) recurring(t *testing.T) string {
	t.Helper()
	return subscribe(t, w.Account, plans(t, w.Account, 0), "basic", harness.Unique("user"), harness.CardSucceeds).ID
}

func TestABuyerWithoutANameIsRenamedWithTheirAccess(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.NewSession(t, w.listing, "pro", "", harness.JSON{
			"catalog": nil, "externalCustomerId": nil, "listingId": w.listing.ID,
		})
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := w.Receipt(t, session)
		customerID := receipt["customerId"].(string)
		if plans := w.Access(t, customerID)["activePlans"].([]any); len(plans) != 1 || receipt["accessVersion"] == nil {
			t.Fatalf("under the customer's id: %v, receipt %v", plans, receipt)
		}
		name := harness.Unique("user")
		patch := harness.JSON{"externalCustomerId": name}
		w.AsBackend(t, http.MethodPatch, "/v1/customers/"+customerID, patch).Want(t, 200)
		if before, after := w.Access(t, customerID)["activePlans"].([]any),
			w.Access(t, name)["activePlans"].([]any); len(before) != 0 || len(after) != 1 {
			t.Errorf("%v moved to %v", before, after)
		}
		if s := subscription(t, w.Account, receipt["subscriptionId"].(string)); s.ExternalCustomerID != name {
			t.Errorf("the subscription is %+v", s)
		}
		receipt = w.Receipt(t, session)
		if got, want := receipt["accessVersion"], w.Access(t, name)["version"]; receipt["externalCustomerId"] != name ||
			got != want {
			t.Errorf("the receipt names %v at version %v, want %s at %v", receipt["externalCustomerId"], got, name, want)
		}
		w.AsBackend(t, http.MethodPatch, "/v1/customers/"+w.customer(t), patch).Refuses(t, 409, "STATE_CONFLICT")
		none := harness.JSON{"email": nil, "externalCustomerId": nil, "displayName": nil}
		w.AsBackend(t, http.MethodPatch, "/v1/customers/"+customerID, none).Refuses(
			t, 400, "VALIDATION_FAILED", "email", "externalCustomerId",
		)
	})
}

// TestWhatACustomerBoughtFollowsTheirName names a customer otherwise, so that another may take the former name.
func TestWhatACustomerBoughtFollowsTheirName(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a, before, after := w.Account, harness.Unique("user"), harness.Unique("user")
		a.AsCreator(t, post, "/v1/discounts", harness.JSON{"code": "FREE", "percentOff": 100, "duration": "once"}).
			Want(t, 201)
		once := a.Published(t, nil)
		buy := func(over harness.JSON) harness.Session {
			session := a.NewSession(t, once, "default", before, over)
			a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
			return session
		}
		trial := a.NewSession(t, plans(t, a, 14), "basic", before, nil)
		a.Pay(t, trial, harness.CardSucceeds).Want(t, 200)
		bought := []harness.Session{buy(nil), buy(harness.JSON{"discountCode": "FREE"}), trial}
		customerID := text(t, a.Receipt(t, bought[0])["customerId"])
		a.AsBackend(t, post, "/v1/sandbox/customers/"+customerID+"/cards", harness.JSON{"cardNumber": harness.CardSucceeds}).
			Want(t, 201)
		invoice := text(t, a.AsBackend(t, post, "/v1/invoices", harness.JSON{
			"customerId": customerID, "currency": "eur", "periodStart": "2026-03-01", "periodEnd": "2026-03-31",
			"idempotencyKey": harness.Unique("invoice"),
			"lineItems":      []harness.JSON{{"description": "Hours", "amountInCents": 500}},
		}).Want(t, 201).Map(t)["id"])
		w.AsBackend(t, patch, "/v1/customers/"+customerID, harness.JSON{"externalCustomerId": after}).Want(t, 200)
		others := buy(nil)
		for _, session := range bought {
			receipt, read := a.Receipt(t, session), a.AsBackend(t, get, "/v1/checkout-sessions/"+session.ID, nil).Map(t)
			if receipt["externalCustomerId"] != after || read["externalCustomerId"] != after {
				t.Errorf("the receipt names %v, the session %v", receipt["externalCustomerId"], read["externalCustomerId"])
			}
			if got, want := receipt["accessVersion"], a.Access(t, after)["version"]; got != want {
				t.Errorf("the receipt is of version %v, want %v", got, want)
			}
		}
		if got := a.AsBackend(t, get, "/v1/invoices/"+invoice, nil).Map(t)["externalCustomerId"]; got != after {
			t.Errorf("the invoice names %v", got)
		}
		for name, want := range map[string][]harness.Session{before: {others}, after: bought} {
			named := url.Values{"externalCustomerId": {name}}
			var sessions, payments []string
			for _, one := range allAs[struct{ ID string }](t, a, "/v1/checkout-sessions", maps.Clone(named)) {
				sessions = append(sessions, one.ID)
			}
			type paid struct{ CheckoutID, ExternalCustomerID string }
			for _, one := range allAs[paid](t, a, "/v1/payments", maps.Clone(named)) {
				if one.ExternalCustomerID != name {
					t.Errorf("a payment of %s names %s", name, one.ExternalCustomerID)
				}
				if one.CheckoutID != "" {
					payments = append(payments, one.CheckoutID)
				}
			}
			for _, session := range want {
				if !slices.Contains(sessions, session.ID) || !slices.Contains(payments, session.ID) {
					t.Errorf("%s has the sessions %v and the payments of %v, without %s", name, sessions, payments, session.ID)
				}
			}
			if len(sessions) != len(want) || len(payments) != len(want) {
				t.Errorf("%s has the sessions %v and the payments of %v, want %d each", name, sessions, payments, len(want))
			}
		}
	})
}

// TestMigration355_NamesWhatWasBoughtBefore runs it again, over what a version before it left.
func TestMigration355_NamesWhatWasBoughtBefore(t *testing.T) {
	t.Parallel()
	migration, err := os.ReadFile("../../adapters/gormstore/migrations/00355_customers_names.sql")
	if err != nil {
		t.Fatal(err)
	}
	up, _, _ := strings.Cut(string(migration), "-- +goose Down")
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		name := harness.Unique("user")
		session, unpaid := w.NewSession(t, w.listing, "pro", name, nil), w.NewSession(t, w.listing, "pro", name, nil)
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		w.Exec(t, "UPDATE sessions SET external_customer_id = 'former' WHERE creator_id = $1", w.ID)
		for statement := range strings.SplitSeq(strings.TrimSpace(up), ";\n") {
			w.Exec(t, statement)
		}
		for id, want := range map[string]string{session.ID: name, unpaid.ID: "former"} {
			if got := w.AsBackend(t, get, "/v1/checkout-sessions/"+id, nil).Map(t)["externalCustomerId"]; got != want {
				t.Errorf("%s names %v, want %s", id, got, want)
			}
		}
	})
}

// TestExternalID_IsNoOtherCustomersID names nobody by the service's id of another customer, whose access has that name.
func TestExternalID_IsNoOtherCustomersID(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		first, second := w.customer(t), w.customer(t)
		naming := harness.JSON{"externalCustomerId": first}
		refuses := func(res *harness.Response, hint string) {
			t.Helper()
			res.Refuses(t, 400, "VALIDATION_FAILED", "externalCustomerId")
			if !strings.Contains(string(res.Body), hint) {
				t.Errorf("%s, want %q", res.Body, hint)
			}
		}
		all := func(hint string) {
			t.Helper()
			body := harness.SessionBody(w.listing, "pro", first, nil)
			refuses(w.AsBackend(t, post, "/v1/checkout-sessions", body), hint)
			refuses(w.AsBackend(t, post, "/v1/customers", harness.JSON{"email": "ada@example.com", "externalCustomerId": first}),
				hint)
			refuses(w.AsBackend(t, patch, "/v1/customers/"+second, naming), hint)
		}
		all("PATCH /v1/customers/" + first)
		name := harness.Unique("user")
		w.AsBackend(t, patch, "/v1/customers/"+first, harness.JSON{"externalCustomerId": name}).Want(t, 200)
		all(name)
		w.AsBackend(t, patch, "/v1/customers/"+first, naming).Want(t, 200) // their own id
		w.NewSession(t, w.listing, "pro", first, nil)
		foreign := newFixture(t, app)
		foreign.NewSession(t, foreign.listing, "pro", first, nil)
	})
}

// Access follows the name, so what is given under the service's id after that would never be read.
func TestAGrantNamesTheCustomerAsTheirAccessDoes(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		id, name := w.customer(t), harness.Unique("user")
		grant := func(w *fixture, to, key string) *harness.Response {
			return w.AsBackend(t, post, accessPath(to)+"/grants",
				harness.JSON{"entitlements": []harness.JSON{{"key": key, "type": "boolean", "value": true}}})
		}
		grant(w, id, "before").Want(t, 201)
		w.AsBackend(t, patch, "/v1/customers/"+id, harness.JSON{"externalCustomerId": name}).Want(t, 200)
		version := w.Access(t, id)["version"]
		res := grant(w, id, "after")
		res.Refuses(t, 400, "VALIDATION_FAILED", "externalCustomerId")
		if !strings.Contains(string(res.Body), name) {
			t.Errorf("%s does not say under which name", res.Body)
		}
		if got := w.Access(t, id); got["version"] != version || len(got["entitlements"].([]any)) != 0 {
			t.Errorf("under the service's id: %v, want version %v and nothing", got, version)
		}
		grant(w, name, "after").Want(t, 201)
		if got := w.Access(t, name)["entitlements"].([]any); len(got) != 2 {
			t.Errorf("under the customer's name: %v, want what was given before and after", got)
		}
		grant(newFixture(t, app), id, "foreign").Want(t, 201)
		w.AsBackend(t, patch, "/v1/customers/"+id, harness.JSON{"externalCustomerId": id}).Want(t, 200)
		grant(w, id, "own").Want(t, 201)
	})
}

func TestMailsFollowACorrectedAddress(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		buy := func(email string) (receipt harness.JSON) {
			session := a.NewSession(t, a.Published(t, nil), "default", "user_1", nil)
			a.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", harness.JSON{
				"cardNumber": harness.CardSucceeds, "email": email,
			}).Want(t, 200)
			return a.Receipt(t, session)
		}
		wrong, right := harness.Unique("grcae")+"@example.com", harness.Unique("grace")+"@example.com"
		other := harness.Unique("office") + "@example.com"
		receipt, elsewhere := buy(strings.ToUpper(wrong)), buy(other)
		workOff(t, a)
		a.AsBackend(t, http.MethodPatch, "/v1/customers/"+text(t, receipt["customerId"]), harness.JSON{"email": right}).
			Want(t, 200)
		for _, sold := range []harness.JSON{receipt, elsewhere} {
			request := harness.JSON{"paymentId": sold["paymentId"], "reason": "asked"}
			a.AsBackend(t, post, "/v1/refunds", request).Want(t, 201)
		}
		workOff(t, a)
		if got := len(mailsTo(t, app, right)); got != 1 {
			t.Errorf("%d mails to the corrected address, want that about the refund", got)
		}
		if got := len(mailsTo(t, app, other)); got != 2 {
			t.Errorf("%d mails to the address of another order, want its receipt and refund", got)
		}
		a.AsBackend(t, post, "/v1/customers/"+text(t, receipt["customerId"])+"/erase", nil).Want(t, 200)
		if n := a.Count(t, "SELECT COUNT(*) FROM mails WHERE LOWER(recipient) = $1", strings.ToLower(wrong)); n != 0 {
			t.Errorf("%d mails to the former address of somebody who is erased", n)
		}
	})
}

func TestAWonDisputeGivesAccessUnderTheCustomersPresentName(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		disputeID, receipt := w.dispute(t, w.Published(t, nil))
		customerID, name := text(t, receipt["customerId"]), harness.Unique("user")
		w.AsBackend(t, http.MethodPatch, "/v1/customers/"+customerID, harness.JSON{"externalCustomerId": name}).Want(t, 200)
		verified(t, app)
		w.AsBackend(t, http.MethodPost, "/v1/disputes/"+disputeID+"/evidence", harness.JSON{"text": "winning_evidence"}).
			Want(t, 200)
		advance(t, w.Account, time.Minute)
		if plans := w.Access(t, name)["activePlans"].([]any); len(plans) != 1 {
			t.Errorf("the dispute is won, and %s has %v", name, plans)
		}
		if plans := w.Access(t, text(t, receipt["externalCustomerId"]))["activePlans"].([]any); len(plans) != 0 {
			t.Errorf("under the name before: %v", plans)
		}
	})
}

func TestCardsAreListedWithTheirMandateAndRemoved(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		owner := w.customer(t)
		cards := func() []any {
			return w.AsBackend(t, http.MethodGet, "/v1/customers/"+owner+"/payment-methods", nil).
				Want(t, 200).Map(t)["data"].([]any)
		}
		first, second := w.card(t, owner), w.card(t, owner)
		list := cards()
		if len(list) != 2 || list[0].(map[string]any)["id"] != second {
			t.Fatalf("%v", list)
		}
		if text := list[0].(map[string]any)["mandate"].(map[string]any)["text"].(string); !strings.HasPrefix(text,
			"You authorize") {
			t.Errorf("%q", text)
		}
		remove := "/v1/customers/" + owner + "/payment-methods/" + first
		app.NewAccount(t).AsBackend(t, http.MethodDelete, remove, nil).Refuses(t, 404, "CUSTOMER_NOT_FOUND")
		w.AsBackend(t, http.MethodDelete, remove, nil).Want(t, 204)
		w.AsBackend(t, http.MethodDelete, remove, nil).Refuses(t, 404, "NOT_FOUND")
		if list = cards(); len(list) != 1 {
			t.Errorf("%v", list)
		}
		declined := w.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+owner+"/cards", harness.JSON{
			"cardNumber": harness.CardDeclined,
		})
		declined.Refuses(t, 402, "CARD_DECLINED")
		w.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+owner+"/cards",
			harness.JSON{"cardNumber": harness.CardAsksAlways}).Want(t, 201)
	})
}
