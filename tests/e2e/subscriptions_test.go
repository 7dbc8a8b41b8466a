package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

const cardFailsLater = "4000000000000341"

// subscribed holds the members of a subscription that tests read.
type subscribed struct {
	ID, Status, Plan, Interval, CustomerID, PaymentMethodID, ExternalCustomerID string
	AmountInCents, CreditInCents                                                int64
	CurrentPeriodStart, CurrentPeriodEnd                                        time.Time
	CancelAtPeriodEnd                                                           bool
	NextAttemptAt, GraceEndsAt, EndedAt, TrialEndsAt                            *time.Time
}

// subscribe buys a plan and returns the subscription.
func subscribe(t *testing.T, a *harness.Account, listing harness.Listing, plan, customer, card string) subscribed {
	t.Helper()
	session := a.NewSession(t, listing, plan, customer, nil)
	a.Pay(t, session, card).Want(t, 200)
	id, ok := a.Receipt(t, session)["subscriptionId"].(string)
	if !ok {
		t.Fatalf("the receipt names no subscription: %v", a.Receipt(t, session))
	}
	return subscription(t, a, id)
}

func subscription(t *testing.T, a *harness.Account, id string) subscribed {
	t.Helper()
	var s subscribed
	a.AsBackend(t, http.MethodGet, "/v1/subscriptions/"+id, nil).Want(t, 200).Into(t, &s)
	return s
}

// ask posts to a subscription and returns it as it is then.
func ask(t *testing.T, a *harness.Account, id, what string, body any) subscribed {
	t.Helper()
	var s subscribed
	a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+id+"/"+what, body).Want(t, 200).Into(t, &s)
	return s
}

// advanceTo puts the account's clock at an instant.
func advanceTo(t *testing.T, a *harness.Account, to time.Time) {
	t.Helper()
	a.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{"to": to.Format(time.RFC3339Nano)}).
		Want(t, 200)
}

// plans adds the plans basic (€10 a month) and studio (€31 a month, €300 a year) to a new listing.
func plans(t *testing.T, a *harness.Account, trialDays int) harness.Listing {
	t.Helper()
	draft := a.NewListing(t, harness.JSON{
		"type": "SUBSCRIPTION", "slug": harness.Unique("plans"), "title": "Studio", "priceInCents": 1000,
		"metadata": harness.JSON{"interval": "month", "intervalCount": 1},
	})
	put := func(key string, prices ...harness.JSON) {
		a.AsCreator(t, http.MethodPut, "/v1/listings/"+draft.ID+"/plans/"+key, renewingPlan(key, trialDays, prices...)).
			Want(t, 200)
	}
	put("basic", eur("month", 1000))
	put("studio", eur("month", 3100), eur("year", 30000))
	return a.Publish(t, draft)
}

// eur is the price of a plan for one interval.
func eur(interval string, cents int) harness.JSON {
	return harness.JSON{"interval": interval, "intervalCount": 1, "currency": "eur", "amountInCents": cents}
}

func renewingPlan(key string, trialDays int, prices ...harness.JSON) harness.JSON {
	return harness.JSON{
		"name": key, "isDefault": key == "basic", "trialDays": trialDays, "prices": prices,
		"entitlements": []harness.JSON{{"key": key, "type": "boolean", "value": true}},
		"credits":      []harness.JSON{{"key": "renders", "unit": "render", "amount": 100, "renews": true}},
		"meters":       []harness.JSON{},
	}
}

func TestASubscriptionRenewsEachMonthOnce(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		end := s.CurrentPeriodEnd
		for range 3 {
			advanceTo(t, a, end.Add(time.Hour))
			s = subscription(t, a, s.ID)
			if s.Status != "active" || !s.CurrentPeriodStart.Equal(end) {
				t.Fatalf("after %s: %+v", end, s)
			}
			end = s.CurrentPeriodEnd
		}
		if access := a.Access(t, "ada"); fmt.Sprint(access["version"]) != "4" {
			t.Errorf("one version at the start and one per renewal: %v", access)
		}
	})
}

func TestRenewalsHaveReceiptsWithTheTax(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, buyer := app.NewAccount(t), harness.Unique("grace")+"@example.com"
		session := a.NewSession(t, plans(t, a, 0), "basic", "ada", JSON{
			"customer": JSON{"country": "DE"},
		})
		a.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", JSON{
			"cardNumber": harness.CardSucceeds, "email": buyer,
		}).Want(t, 200)
		s := subscription(t, a, text(t, a.Receipt(t, session)["subscriptionId"]))
		advanceTo(t, a, s.CurrentPeriodEnd.Add(time.Hour))
		renewal := a.AsBackend(t, get, "/v1/payments?limit=1", nil).Want(t, 200).Map(t)["data"].([]any)[0].(map[string]any)
		mails := mailsTo(t, app, buyer)
		if len(mails) != 2 {
			t.Fatalf("%d mails, want two", len(mails))
		}
		url := text(t, renewal["receiptUrl"])
		for _, words := range []string{"€10.00", "Tax included, 19% (Germany)", "€1.60", text(t, renewal["receiptNumber"]), url} {
			if last := mails[len(mails)-1].Parts["text/plain"]; !strings.Contains(last, words) {
				t.Errorf("the mail lacks %q:\n%s", words, last)
			}
		}
		app.Ask(t, harness.Request{Method: get, Path: strings.TrimPrefix(url, app.URL)}).Want(t, 200)
		page := a.Visit(t).Open(t, "/dashboard/orders/"+text(t, renewal["id"])).Body
		if !strings.Contains(page, `href="`+url+`">Receipt`) {
			t.Error("the renewal's order has no receipt")
		}
	})
}

func TestATrialIsChargedAtItsEnd(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 14), "basic", "ada", harness.CardSucceeds)
		if s.Status != "trialing" || s.TrialEndsAt == nil || !s.CurrentPeriodEnd.Equal(*s.TrialEndsAt) {
			t.Fatalf("%+v", s)
		}
		advanceTo(t, a, s.TrialEndsAt.Add(-time.Minute))
		if got := subscription(t, a, s.ID); got.Status != "trialing" {
			t.Fatalf("before its end: %+v", got)
		}
		advanceTo(t, a, s.TrialEndsAt.Add(time.Minute))
		if got := subscription(t, a, s.ID); got.Status != "active" || !got.CurrentPeriodStart.Equal(*s.TrialEndsAt) {
			t.Errorf("after its end: %+v", got)
		}
	})
}

// A declined card is retried until the subscription expires.
func TestAFailingCardIsRetriedUntilExpiry(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", cardFailsLater)
		failed := s.CurrentPeriodEnd
		advanceTo(t, a, failed.Add(time.Hour))
		s = subscription(t, a, s.ID)
		if s.Status != "past_due" || s.NextAttemptAt == nil || !s.NextAttemptAt.Equal(failed.Add(2*day)) ||
			!s.GraceEndsAt.Equal(failed.Add(7*day)) {
			t.Fatalf("after the first failure: %+v", s)
		}
		plan := a.Access(t, "ada")["activePlans"].([]any)
		if len(plan) != 1 || plan[0].(map[string]any)["status"] != "past_due" {
			t.Fatalf("within the grace: %v", plan)
		}
		advanceTo(t, a, failed.Add(7*day+time.Minute))
		if plan := a.Access(t, "ada")["activePlans"].([]any); len(plan) != 0 {
			t.Fatalf("after the grace: %v", plan)
		}
		advanceTo(t, a, failed.Add(22*day))
		if s = subscription(t, a, s.ID); s.Status != "expired" || !s.EndedAt.Equal(failed.Add(21*day)) {
			t.Errorf("at the end: %+v", s)
		}
	})
}

func TestANewCardPaysWhatIsOverdueAtOnce(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", cardFailsLater)
		failed := s.CurrentPeriodEnd
		advanceTo(t, a, failed.Add(10*day))
		card := a.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+s.CustomerID+"/cards",
			harness.JSON{"cardNumber": harness.CardSucceeds}).Want(t, 201).Map(t)
		advance(t, a, time.Second)
		s = subscription(t, a, s.ID)
		if s.Status != "active" || !s.CurrentPeriodStart.Equal(failed) || s.PaymentMethodID != card["id"] {
			t.Fatalf("%+v", s)
		}
		if plan := a.Access(t, "ada")["activePlans"].([]any); len(plan) != 1 {
			t.Errorf("access did not come back: %v", plan)
		}
	})
}

func TestAChangeOfPlanChargesWhatWasPreviewed(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		advance(t, a, 10*day)
		to := harness.JSON{"plan": "studio", "prorationMode": "charge_now"}
		var quote struct {
			QuoteID          string
			AmountDueInCents int64
		}
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+s.ID+"/change/preview", to).Want(t, 200).Into(t, &quote)
		to["quoteId"] = quote.QuoteID
		changed := ask(t, a, s.ID, "change", to)
		if changed.Plan != "studio" || !changed.CurrentPeriodEnd.Equal(s.CurrentPeriodEnd) || quote.AmountDueInCents <= 0 {
			t.Fatalf("%+v for %+v", changed, quote)
		}
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+s.ID+"/change", to).Refuses(t, 409, "QUOTE_EXPIRED")
		back := ask(t, a, s.ID, "change", harness.JSON{"plan": "basic"})
		if back.Plan != "basic" || back.CreditInCents != quote.AmountDueInCents {
			t.Errorf("back on the same day: %+v", back)
		}
		to["plan"] = "studio"
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+s.ID+"/change", to).Refuses(t, 409, "QUOTE_EXPIRED")
		var again struct {
			AmountDueInCents int64
			Lines            []struct{ AmountInCents int64 }
		}
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+s.ID+"/change/preview", harness.JSON{"plan": "studio"}).
			Want(t, 200).Into(t, &again)
		for _, line := range again.Lines {
			again.AmountDueInCents -= line.AmountInCents
		}
		if again.AmountDueInCents != 0 || len(again.Lines) != 3 {
			t.Errorf("the lines do not explain what is due after the credit: %+v", again)
		}
	})
}

func TestCancelPauseAndResume(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		if got := ask(
			t, a, s.ID, "cancel", harness.JSON{"atPeriodEnd": true},
		); !got.CancelAtPeriodEnd || got.Status != "active" {
			t.Fatalf("%+v", got)
		}
		if got := ask(t, a, s.ID, "resume", nil); got.CancelAtPeriodEnd {
			t.Fatalf("%+v", got)
		}
		if got := ask(t, a, s.ID, "pause", nil); got.Status != "paused" ||
			len(a.Access(t, "ada")["activePlans"].([]any)) != 0 {
			t.Fatalf("%+v", got)
		}
		advanceTo(t, a, s.CurrentPeriodEnd.Add(3*day))
		resumed := ask(t, a, s.ID, "resume", nil)
		if resumed.Status != "active" || !at(resumed.CurrentPeriodStart, s.CurrentPeriodEnd.Add(3*day)) {
			t.Fatalf("%+v", resumed)
		}
		ask(t, a, s.ID, "cancel", harness.JSON{"atPeriodEnd": true})
		advanceTo(t, a, resumed.CurrentPeriodEnd.Add(time.Minute))
		if got := subscription(t, a, s.ID); got.Status != "canceled" || !got.EndedAt.Equal(resumed.CurrentPeriodEnd) {
			t.Errorf("%+v", got)
		}
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+s.ID+"/cancel", nil).Refuses(t, 409, "STATE_CONFLICT")
		app.NewAccount(t).AsBackend(t, http.MethodGet, "/v1/subscriptions/"+s.ID, nil).Refuses(t, 404, "NOT_FOUND")
	})
}

func TestAnAppointmentTakesNoPlanThatRenews(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		path := "/v1/listings/" + w.appointment(t).ID + "/plans/monthly"
		w.AsCreator(t, http.MethodPut, path, planBody()).Refuses(
			t, 400, "VALIDATION_FAILED", "prices[0].interval", "prices[1].interval",
		)
		once := planBody()
		once["prices"] = []harness.JSON{
			{"interval": nil, "intervalCount": nil, "currency": "eur", "amountInCents": 1900},
		}
		w.AsCreator(t, http.MethodPut, path, once).Want(t, 200)
	})
}

// TestAPlanIsSoldByMonthQuarterAndYear: prices of one interval differ by how many of it a period is.
func TestAPlanIsSoldByMonthQuarterAndYear(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 0)
		price := func(interval string, count, minor int) harness.JSON {
			return harness.JSON{"interval": interval, "intervalCount": count, "currency": "eur", "amountInCents": minor}
		}
		a.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/pro", harness.JSON{
			"name": "Pro", "prices": []harness.JSON{price("month", 3, 2700), price("month", 1, 1000), price("year", 1, 9600)},
		}).Want(t, 200)
		buy := func(interval string, count any) subscribed {
			t.Helper()
			session := a.NewSession(t, listing, "", harness.Unique("user"), harness.JSON{"catalog": harness.JSON{
				"listing": listing.CatalogKey, "plan": "pro", "interval": interval, "intervalCount": count,
			}})
			a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
			return subscription(t, a, text(t, a.Receipt(t, session)["subscriptionId"]))
		}
		for _, c := range []struct {
			interval       string
			count          any
			months, amount int
		}{{"month", nil, 1, 1000}, {"month", 1, 1, 1000}, {"month", 3, 3, 2700}, {"year", 1, 12, 9600}} {
			s := buy(c.interval, c.count)
			if months := s.CurrentPeriodStart.AddDate(0, c.months, 0); s.AmountInCents != int64(c.amount) ||
				s.CurrentPeriodEnd.Sub(months).Abs() > 4*24*time.Hour {
				t.Errorf("every %v %s: %+v", c.count, c.interval, s)
			}
		}
		a.AsBackend(t, http.MethodPost, "/v1/checkout-sessions", harness.JSON{
			"catalog":            harness.JSON{"listing": listing.CatalogKey, "plan": "pro", "interval": "month", "intervalCount": 6},
			"externalCustomerId": "ada", "successUrl": "https://shop.example/thanks",
		}).Refuses(t, 404, "NOT_FOUND")
		a.AsBackend(t, http.MethodPost, "/v1/checkout-sessions", harness.JSON{
			"catalog":            harness.JSON{"listing": listing.CatalogKey, "plan": "pro", "interval": "month", "intervalCount": 37},
			"externalCustomerId": "ada", "successUrl": "https://shop.example/thanks",
		}).Refuses(t, 400, "VALIDATION_FAILED", "catalog.intervalCount")

		quarterly := buy("month", 3)
		path := "/v1/subscriptions/" + quarterly.ID
		a.AsBackend(t, http.MethodPost, path+"/change", harness.JSON{
			"plan": "pro", "interval": "month", "intervalCount": 1, "prorationMode": "next_period",
		}).Want(t, 200)
		planned := a.AsBackend(t, http.MethodGet, path, nil).Want(t, 200).Map(t)["plannedChange"].(map[string]any)
		if asJSON(t, planned["intervalCount"]) != "1" || asJSON(t, planned["amountInCents"]) != "1000" {
			t.Errorf("planned %v, want every month", planned)
		}

		link := a.AsCreator(t, http.MethodPost, "/v1/payment-links", harness.JSON{
			"listingId": listing.ID, "plan": "pro", "interval": "month", "intervalCount": 3,
			"buyerMayChange": []string{"interval"},
		}).Want(t, 201).Map(t)
		if asJSON(t, link["intervalCount"]) != "3" {
			t.Errorf("the link: %v", link)
		}
		opened := app.Ask(t, harness.Request{Method: http.MethodGet, Path: strings.TrimPrefix(text(t, link["url"]), app.URL)})
		page := strings.TrimPrefix(opened.Want(t, 303).Header.Get("Location"), app.URL)
		shown := string(app.Ask(t, harness.Request{Method: http.MethodGet, Path: page}).Want(t, 200).Body)
		for _, want := range []string{`value="month:3" checked`, `value="month"`, `value="year"`, "every 3 months"} {
			if !strings.Contains(shown, want) {
				t.Errorf("the page has no %s", want)
			}
		}
		changed := app.Ask(t, harness.Request{Method: http.MethodPost, Path: page + "/change", Body: harness.JSON{"interval": "month"}})
		if got := asJSON(t, changed.Want(t, 200).Map(t)["totalInCents"]); got != "1000" {
			t.Errorf("the buyer chose every month: %s", got)
		}
		catalog := asJSON(t, a.AsBackend(t, http.MethodGet, "/v1/catalog", nil).Want(t, 200).Map(t))
		if !strings.Contains(catalog, `"interval":"month","intervalCount":3,"plan":"pro"`) {
			t.Errorf("the catalog file has the link without its interval count: %s", catalog)
		}
		again := a.AsCreator(t, http.MethodPatch, "/v1/payment-links/"+text(t, link["id"]), harness.JSON{"interval": "year"}).
			Want(t, 200).Map(t)
		if asJSON(t, again["intervalCount"]) != "1" || again["interval"] != "year" {
			t.Errorf("a change of the interval alone: %v", again)
		}
		a.AsCreator(t, http.MethodPatch, "/v1/payment-links/"+text(t, link["id"]), harness.JSON{"intervalCount": 3}).
			Refuses(t, 400, "VALIDATION_FAILED", "intervalCount")
	})
}

// What runs was bought with the latest payment, whatever goes back of an earlier one.
func TestAccessFollowsTheLatestPayment(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		advance(t, a, 10*day)
		ask(t, a, s.ID, "change", harness.JSON{"plan": "studio", "prorationMode": "charge_now"})
		var paid struct{ Data []struct{ ID string } }
		a.AsBackend(t, get, "/v1/payments?customerId="+s.CustomerID, nil).Want(t, 200).Into(t, &paid)
		for i, want := range []struct {
			status string
			plans  int
		}{{"active", 1}, {"canceled", 0}} {
			a.AsBackend(t, post, "/v1/refunds", harness.JSON{"paymentId": paid.Data[1-i].ID, "reason": "asked"}).Want(t, 201)
			access := a.Access(t, "ada")["activePlans"].([]any)
			if got := subscription(t, a, s.ID).Status; got != want.status || len(access) != want.plans {
				t.Errorf("after %d refunds it is %s and gives %v", i+1, got, access)
			}
			verified(t, app)
		}
	})
}
