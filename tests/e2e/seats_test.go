package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// seated is a subscription in a quantity.
type seated struct {
	subscribed
	Quantity          int
	AmountInCents     int64
	UnitAmountInCents int64
	CreditInCents     int64
	PlannedChange     *struct {
		Plan                    string
		Quantity, AmountInCents int
	}
}

func TestSeatsAreSoldChangedAndRenewed(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 0)
		a.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/team", harness.JSON{
			"name": "Team", "prices": []harness.JSON{{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 1200}},
			"entitlements": []harness.JSON{
				{"key": "projects", "type": "limit", "value": 10, "perSeat": true},
				{"key": "regions", "type": "limit", "value": 2},
			},
		}).Want(t, 200)
		session := a.NewSession(t, listing, "team", "ada", harness.JSON{"quantity": 3})
		read := a.AsBackend(t, http.MethodGet, "/v1/checkout-sessions/"+session.ID, nil).Want(t, 200).Map(t)
		if asJSON(t, read["quantity"]) != "3" || asJSON(t, read["totalInCents"]) != "3600" {
			t.Errorf("the session: %v", read)
		}
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := a.Receipt(t, session)
		if item := receipt["items"].([]any)[0].(map[string]any); asJSON(t, item["quantity"]) != "3" {
			t.Errorf("the receipt's item: %v", item)
		}
		path := "/v1/subscriptions/" + text(t, receipt["subscriptionId"])
		want := func(step string, quantity int, amount int64, projects, planned string) (s seated) {
			t.Helper()
			a.AsBackend(t, http.MethodGet, path, nil).Want(t, 200).Into(t, &s)
			if s.Quantity != quantity || s.AmountInCents != amount || s.UnitAmountInCents != 1200 || s.Status != "active" ||
				asJSON(t, s.PlannedChange) != planned {
				t.Errorf("%s: %+v, planned %s", step, s, asJSON(t, s.PlannedChange))
			}
			access := a.Access(t, "ada")
			if got := asJSON(t, access["activePlans"].([]any)[0].(map[string]any)["quantity"]); got != asJSON(t, quantity) {
				t.Errorf("%s: the plan's quantity is %s", step, got)
			}
			for _, e := range access["entitlements"].([]any) {
				e := e.(map[string]any)
				if limit := asJSON(t, e["value"]); e["key"] == "projects" && limit != projects || e["key"] == "regions" && limit != "2" {
					t.Errorf("%s: %s is %s", step, e["key"], limit)
				}
			}
			return s
		}
		s := want("as bought", 3, 3600, "30", "null")

		half := s.CurrentPeriodStart.Add(s.CurrentPeriodEnd.Sub(s.CurrentPeriodStart) / 2).Truncate(24 * time.Hour)
		advanceTo(t, a, half)
		var quote struct {
			QuoteID          string
			AmountDueInCents int64
			Lines            []struct{ Description string }
		}
		a.AsBackend(t, http.MethodPost, path+"/change/preview", harness.JSON{"quantity": 5}).Want(t, 200).Into(t, &quote)
		if quote.AmountDueInCents <= 0 || quote.AmountDueInCents >= 2400 ||
			!strings.Contains(quote.Lines[1].Description, "Team × 5") {
			t.Errorf("two more for half a month: %+v", quote)
		}
		a.AsBackend(t, http.MethodPost, path+"/change", harness.JSON{"quantity": 6, "quoteId": quote.QuoteID}).
			Refuses(t, 409, "QUOTE_EXPIRED")
		a.AsBackend(t, http.MethodPost, path+"/change", harness.JSON{"quantity": 5, "quoteId": quote.QuoteID}).Want(t, 200)
		want("five", 5, 6000, "50", "null")
		updated := eventsOf(t, a, "subscription.updated")
		if previous := asJSON(t, updated[0]["previous"]); !strings.Contains(previous, `"quantity":3`) {
			t.Errorf("previous: %s", previous)
		}
		a.AsBackend(t, http.MethodPost, path+"/change", harness.JSON{"quantity": 5}).Refuses(t, 409, "STATE_CONFLICT")
		a.AsBackend(t, http.MethodPost, path+"/change", harness.JSON{"quantity": 2, "prorationMode": "next_period"}).Want(t, 200)
		s = want("two from the next period", 5, 6000, "50", `{"Plan":"team","Quantity":2,"AmountInCents":2400}`)
		for _, page := range []string{"/dashboard" + strings.TrimPrefix(path, "/v1"), "/dashboard" + strings.TrimPrefix(path, "/v1") + "/change"} {
			if body := a.Visit(t).Open(t, page).Body; !strings.Contains(body, "Team × 5") {
				t.Errorf("%s does not show the quantity", page)
			}
		}

		advanceTo(t, a, s.CurrentPeriodEnd.Add(time.Hour))
		want("renewed", 2, 2400, "20", "null")
		var paid struct {
			Data []struct{ AmountInCents int64 }
		}
		a.AsBackend(t, http.MethodGet, "/v1/payments?customerId="+text(t, receipt["customerId"]), nil).Want(t, 200).Into(t, &paid)
		if len(paid.Data) != 3 || paid.Data[0].AmountInCents != 2400 || paid.Data[1].AmountInCents != quote.AmountDueInCents ||
			paid.Data[2].AmountInCents != 3600 {
			t.Errorf("paid %+v", paid.Data)
		}
		a.AsBackend(t, http.MethodPost, path+"/change", harness.JSON{"plan": "studio", "interval": "month"}).Want(t, 200)
		if s := (seated{}); true {
			a.AsBackend(t, http.MethodGet, path, nil).Want(t, 200).Into(t, &s)
			if s.Quantity != 2 || s.AmountInCents != 6200 {
				t.Errorf("another plan keeps the quantity: %+v", s)
			}
		}
		if lines, err := app.Program.Verify(t.Context()); err != nil || len(lines) > 0 {
			t.Errorf("verify: %q, %v", lines, err)
		}
	})
}

func TestAQuantityIsRefusedWhereNothingRenews(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		recurring, once := plans(t, a, 0), a.Published(t, nil)
		create := func(listing harness.Listing, plan string, quantity any) *harness.Response {
			return a.AsBackend(t, http.MethodPost, "/v1/checkout-sessions", harness.JSON{
				"catalog": harness.JSON{"listing": listing.CatalogKey, "plan": plan}, "externalCustomerId": "ada",
				"successUrl": "https://shop.example/thanks", "quantity": quantity,
			})
		}
		create(once, "default", 2).Refuses(t, 400, "VALIDATION_FAILED", "quantity")
		create(once, "default", 1).Want(t, 201)
		for _, quantity := range []any{0, -1, 10_001, 1.5, "2"} {
			create(recurring, "basic", quantity).Refuses(t, 400, "VALIDATION_FAILED", "quantity")
		}
		s := subscribe(t, a, recurring, "basic", "ada", harness.CardSucceeds)
		change := "/v1/subscriptions/" + s.ID + "/change"
		a.AsBackend(t, http.MethodPost, change, harness.JSON{}).Refuses(t, 400, "VALIDATION_FAILED", "plan")
		a.AsBackend(t, http.MethodPost, change, harness.JSON{"quantity": 0}).Refuses(t, 400, "VALIDATION_FAILED", "quantity")
		a.AsBackend(t, http.MethodPost, change, harness.JSON{"quantity": 2, "interval": "month"}).
			Refuses(t, 400, "VALIDATION_FAILED", "interval")
		a.AsCreator(t, http.MethodPut, "/v1/listings/"+recurring.ID+"/plans/odd", harness.JSON{
			"name": "Odd", "prices": []harness.JSON{{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 1}},
			"entitlements": []harness.JSON{{"key": "x", "type": "text", "value": "y", "perSeat": true}},
		}).Refuses(t, 400, "VALIDATION_FAILED", "entitlements[0].perSeat")
	})
}

// A buyer who may change the plan's interval and its quantity buys what they chose, and no more than they may.
func TestABuyerChangesIntervalAndQuantity(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.NewSession(t, w.listing, "pro", "grace", harness.JSON{"buyerMayChange": []string{"interval", "quantity"}})
		change := func(s harness.Session, body harness.JSON) *harness.Response {
			return app.Ask(t, harness.Request{Method: http.MethodPost, Path: "/c/" + s.Secret() + "/change", Body: body})
		}
		state := change(session, harness.JSON{"interval": "year", "quantity": 2}).Want(t, 200).Map(t)
		if asJSON(t, state["totalInCents"]) != "38000" || state["interval"] != "year" || asJSON(t, state["quantity"]) != "2" {
			t.Errorf("by the year: %v", state)
		}
		change(session, harness.JSON{"interval": "week", "quantity": 0}).Refuses(t, 400, "VALIDATION_FAILED", "quantity")
		change(session, harness.JSON{"interval": "week"}).Refuses(t, 400, "VALIDATION_FAILED", "interval")
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		change(session, harness.JSON{"interval": "month"}).Refuses(t, 409, "SESSION_ALREADY_PAID")
		receipt := w.Receipt(t, session)
		var s seated
		w.AsBackend(t, http.MethodGet, "/v1/subscriptions/"+text(t, receipt["subscriptionId"]), nil).Want(t, 200).Into(t, &s)
		if asJSON(t, receipt["totalInCents"]) != "38000" || s.Quantity != 2 || s.AmountInCents != 38_000 {
			t.Errorf("receipt %v of %+v", receipt, s)
		}

		fixed := w.NewSession(t, w.listing, "pro", "ada", nil)
		change(fixed, harness.JSON{"interval": "year"}).Refuses(t, 400, "VALIDATION_FAILED", "interval")
		w.AsBackend(t, http.MethodPost, "/v1/checkout-sessions", harness.SessionBody(w.Published(t, nil), "default", "ada",
			harness.JSON{"buyerMayChange": []string{"quantity"}})).Refuses(t, 400, "VALIDATION_FAILED", "buyerMayChange")

		w.AsBackend(t, http.MethodPost, "/v1/checkout-sessions/"+fixed.ID+"/expire", nil).Want(t, 200)
		seats := w.NewSession(t, w.listing, "pro", "ada", harness.JSON{"quantity": 5})
		w.AsBackend(t, http.MethodPost, "/v1/checkout-sessions/"+seats.ID+"/expire", nil).Want(t, 200)
		again := app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/c/" + seats.Secret() + "/again"})
		secret := again.Header.Get("Location")
		fresh := app.Ask(t, harness.Request{Method: http.MethodGet, Path: secret[strings.Index(secret, "/c/"):] + "/state"})
		if got := fresh.Want(t, 200).Map(t); asJSON(t, got["quantity"]) != "5" || asJSON(t, got["totalInCents"]) != "9500" {
			t.Errorf("the session in the place of one of five seats: %v", got)
		}
	})
}
