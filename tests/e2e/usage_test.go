package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/tests/harness"
)

// metered is a customer with a subscription, a saved card and a plan that bills a meter by the day.
type metered struct {
	*fixture
	customer       string // external
	customerID     string
	subscriptionID string
	meterID        string
	event          string
	priceID        string
	planID         string
	productID      string
}

// usageOf is a metered customer of the account.
func (w *fixture) usageOf(t *testing.T) *metered {
	t.Helper()
	if w.usage == nil {
		w.usage = w.metered(t, harness.CardSucceeds)
	}
	return w.usage
}

func (m *metered) meter(t *testing.T) string {
	t.Helper()
	return m.make(t, "/v1/usage/meters", harness.JSON{
		"name": "Calls", "eventName": harness.Unique("calls"), "aggregation": "SUM",
	})
}

func (m *metered) product(t *testing.T) string {
	t.Helper()
	return m.make(t, "/v1/usage/products", harness.JSON{"name": "API access", "type": "SERVICE"})
}

func (m *metered) alertBody() harness.JSON {
	return harness.JSON{"subscriptionId": m.subscriptionID, "meterId": m.meterID, "threshold": 80}
}

func (m *metered) alert(t *testing.T) string {
	t.Helper()
	return m.make(t, "/v1/usage/alerts", m.alertBody())
}

// pushed is an invoice that is paid.
func (m *metered) pushed(t *testing.T) (inv invoiceBody) {
	t.Helper()
	m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(harness.Unique("march"), 500)).Want(t, 201).Into(t, &inv)
	return inv
}

// secret is the last part of the invoice's address.
func (inv invoiceBody) secret() string {
	return inv.HostedURL[strings.LastIndexByte(inv.HostedURL, '/')+1:]
}

// unpaid is an invoice whose first charge failed, and whose customer has another card since.
func (w *fixture) unpaid(t *testing.T) (id string) {
	t.Helper()
	m := w.subscribed(t, cardFailsLater, "SUM")
	body := m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(harness.Unique("march"), 500)).
		Want(t, 402).Map(t)
	w.Pay(t, w.NewSession(t, w.listing, "pro", m.customer, nil), harness.CardSucceeds).Want(t, 200)
	id, _ = body["id"].(string)
	return id
}

// subscribed is a metered customer without a billing plan.
func (w *fixture) subscribed(t *testing.T, card, aggregation string) *metered {
	t.Helper()
	m := &metered{fixture: w, customer: harness.Unique("user"), event: harness.Unique("calls")}
	session := w.NewSession(t, w.listing, "pro", m.customer, nil)
	w.Pay(t, session, card).Want(t, 200)
	receipt := w.Receipt(t, session)
	m.subscriptionID, _ = receipt["subscriptionId"].(string)
	m.customerID, _ = receipt["customerId"].(string)
	m.meterID = m.make(t, "/v1/usage/meters", harness.JSON{
		"name": "API calls", "eventName": m.event, "aggregation": aggregation,
	})
	m.productID = m.make(t, "/v1/usage/products", harness.JSON{"name": "API access", "type": "SERVICE"})
	m.priceID = m.make(t, "/v1/usage/prices", priceBody(m.productID))
	return m
}

// metered is a metered customer with a billing plan.
func (w *fixture) metered(t *testing.T, card string) *metered {
	t.Helper()
	m := w.subscribed(t, card, "SUM")
	m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
	return m
}

func (m *metered) make(t *testing.T, path string, body harness.JSON) string {
	t.Helper()
	var made struct{ ID string }
	m.AsBackend(t, http.MethodPost, path, body).Want(t, 201).Into(t, &made)
	return made.ID
}

// priceBody is 10 cents for each of the first 10, and 0.5 cents for each more.
func priceBody(productID string) harness.JSON {
	return harness.JSON{
		"productId": productID, "billingScheme": "usage_based", "currency": "eur", "tiersMode": "graduated",
		"recurring": harness.JSON{"interval": "month"},
		"tiers":     []harness.JSON{{"upTo": 10, "unitAmountInCents": 10}, {"upTo": nil, "unitAmountDecimal": "0.5"}},
	}
}

func (m *metered) planBody() harness.JSON {
	return harness.JSON{
		"subscriptionId": m.subscriptionID, "meterId": m.meterID, "priceId": m.priceID, "billingInterval": "day",
	}
}

func (m *metered) reportBody(key, quantity string) harness.JSON {
	return harness.JSON{
		"subscriptionId": m.subscriptionID, "meter": m.event, "quantity": json.Number(quantity), "idempotencyKey": key,
	}
}

// report reports a quantity under a new key, which it returns.
func (m *metered) report(t *testing.T, quantity string) string {
	t.Helper()
	key := harness.Unique("report")
	m.AsBackend(t, http.MethodPost, "/v1/usage/events", m.reportBody(key, quantity)).Want(t, 202)
	return key
}

type invoiceBody struct {
	ID, Number, Status, CustomerID, Currency, DeclineCode string
	TotalInCents, AttemptCount                            int64
	HostedURL, PDFURL                                     string
	NextAttemptAt, PaidAt, CreatedAt                      *time.Time
	LineItems                                             []struct {
		Kind, Description string
		AmountInCents     int64
		Quantity          json.Number
	}
}

// invoices returns the customer's invoices, oldest first.
func (m *metered) invoices(t *testing.T) []invoiceBody {
	t.Helper()
	var page struct{ Data []invoiceBody }
	m.AsBackend(t, http.MethodGet, "/v1/invoices?limit=100&customerId="+m.customerID, nil).Want(t, 200).Into(t, &page)
	for i, j := 0, len(page.Data)-1; i < j; i, j = i+1, j-1 {
		page.Data[i], page.Data[j] = page.Data[j], page.Data[i]
	}
	return page.Data
}

// story lists the events of an invoice.
func (m *metered) story(t *testing.T, invoiceID string) string {
	t.Helper()
	var page struct {
		Data []struct {
			Type string
			Data struct{ ID string }
		}
	}
	m.AsBackend(t, http.MethodGet, "/v1/events?limit=100", nil).Want(t, 200).Into(t, &page)
	var types []string
	for _, e := range page.Data {
		if e.Data.ID == invoiceID {
			types = append([]string{strings.TrimPrefix(e.Type, "invoice.")}, types...)
		}
	}
	return strings.Join(types, " ")
}

// counts moves the clock, after which the running period counts a quantity.
func (m *metered) counts(t *testing.T, quantity string) {
	t.Helper()
	advance(t, m.Account, time.Second)
	var summary struct {
		Meters []struct{ Quantity json.Number }
	}
	m.AsBackend(t, http.MethodGet, "/v1/usage/summary?subscriptionId="+m.subscriptionID, nil).Want(t, 200).Into(t,
		&summary)
	if len(summary.Meters) != 1 || summary.Meters[0].Quantity.String() != quantity {
		t.Errorf("the period comes to %v, want %s", summary.Meters, quantity)
	}
	advance(t, m.Account, time.Second) // what follows from the count
}

func wantLines(t *testing.T, inv invoiceBody, status string, want ...string) {
	t.Helper()
	var got []string
	var sum int64
	for _, l := range inv.LineItems {
		got = append(got, fmt.Sprintf("%s %s = %d", l.Kind, l.Quantity, l.AmountInCents))
		sum += l.AmountInCents
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") || inv.Status != status || inv.TotalInCents != sum {
		t.Errorf(
			"invoice %s: %s, total %d, lines %v; want %s %v", inv.Number, inv.Status, inv.TotalInCents, got, status,
			want,
		)
	}
}

func TestUsageIsCountedRatedAndCharged(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		m.report(t, "12.5")
		m.report(t, "-0.25")
		advance(t, m.Account, day+2*time.Minute)
		m.report(t, "3")
		advance(t, m.Account, day)
		all := m.invoices(t)
		if len(all) != 2 {
			t.Fatalf("%d invoices after two days", len(all))
		}
		wantLines(t, all[0], "paid", "usage 12.25 = 101")
		wantLines(t, all[1], "paid", "usage 3 = 30")
		if got := m.story(t, all[0].ID); got != "created finalized paid" {
			t.Errorf("events %s", got)
		}
		if !strings.HasSuffix(all[0].Number, "-I-000001") || !strings.HasSuffix(all[1].Number, "-I-000002") {
			t.Errorf("numbers %s, %s", all[0].Number, all[1].Number)
		}
	})
}

func TestAPeriodWithoutUseIsAnInvoiceOfNothing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		advance(t, m.Account, day+2*time.Minute)
		all := m.invoices(t)
		if len(all) != 1 || all[0].AttemptCount != 0 || all[0].PaidAt == nil {
			t.Fatalf("%+v", all)
		}
		wantLines(t, all[0], "paid", "usage 0 = 0")
	})
}

func TestAReportIsTakenOncePerKey(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		type reported struct {
			ID                  string
			Accepted, Duplicate bool
		}
		key := harness.Unique("report")
		var first, second reported
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", m.reportBody(key, "5")).Want(t, 202).Into(t, &first)
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", m.reportBody(key, "5.0")).Want(t, 202).Into(t, &second)
		if first.Duplicate || !second.Duplicate || first.ID != second.ID || !second.Accepted {
			t.Errorf("%+v, then %+v", first, second)
		}
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", m.reportBody(key, "6")).Refuses(
			t, 409, "IDEMPOTENCY_KEY_MISMATCH",
		)
		inHeader := m.reportBody("", "2")
		delete(inHeader, "idempotencyKey")
		m.Once(t, harness.Unique("report"), http.MethodPost, "/v1/usage/events", inHeader).Want(t, 202)
		var wait sync.WaitGroup
		for range 16 {
			wait.Go(func() {
				m.AsBackend(t, http.MethodPost, "/v1/usage/events", m.reportBody(key+"-burst", "1")).Want(t, 202)
			})
		}
		wait.Wait()
		advance(t, m.Account, day+2*time.Minute)
		wantLines(t, m.invoices(t)[0], "paid", "usage 8 = 80")
	})
}

func TestABatchRespondsForEachReport(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		key := harness.Unique("report")
		outsider := m.reportBody(key+"-3", "1")
		outsider["meter"] = "no.such.meter"
		late := m.reportBody(key+"-4", "1")
		late["timestamp"] = clockOf(t, m.Account).Add(-36 * day).Format(time.RFC3339)
		var got struct {
			Results []struct {
				ID                  *string
				Accepted, Duplicate bool
				Error               *struct{ Code string }
			}
		}
		m.AsBackend(t, http.MethodPost, "/v1/usage/events/batch", harness.JSON{"events": []harness.JSON{
			m.reportBody(key, "0.1"), m.reportBody(key, "0.1"), m.reportBody(key, "0.2"), outsider, late,
			m.reportBody(key+"-5", "0.2"),
		}}).Want(t, 202).Into(t, &got)
		var lines []string
		for _, r := range got.Results {
			line := fmt.Sprintf("%v %v", r.Accepted, r.Duplicate)
			if r.Error != nil {
				line += " " + r.Error.Code
			}
			lines = append(lines, line)
		}
		want := "true false; true true; false false IDEMPOTENCY_KEY_MISMATCH; false false NOT_FOUND; false false VALIDATION_FAILED; true false"
		if strings.Join(lines, "; ") != want {
			t.Errorf("%s", strings.Join(lines, "; "))
		}
		many := make([]harness.JSON, 1001)
		for i := range many {
			many[i] = m.reportBody(fmt.Sprint(key, i), "1")
		}
		m.AsBackend(t, http.MethodPost, "/v1/usage/events/batch", harness.JSON{"events": many}).Refuses(
			t, 400, "VALIDATION_FAILED", "events",
		)
		m.AsBackend(t, http.MethodPost, "/v1/usage/events/batch", harness.JSON{"events": many[:1000]}).Want(t, 202)
		advance(t, m.Account, day+2*time.Minute)
		wantLines(t, m.invoices(t)[0], "paid", "usage 1000.3 = 595")
	})
}

func TestLateUseIsALineOfTheNextInvoice(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		start := clockOf(t, m.Account)
		m.report(t, "9")
		advance(t, m.Account, day+2*time.Minute)
		late := m.reportBody(harness.Unique("report"), "3")
		late["timestamp"] = start.Add(time.Hour).Format(time.RFC3339)
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", late).Want(t, 202)
		advance(t, m.Account, day)
		correction := m.reportBody(harness.Unique("report"), "-12")
		correction["timestamp"] = start.Add(time.Hour).Format(time.RFC3339)
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", correction).Want(t, 202)
		m.report(t, "4")
		advance(t, m.Account, day)
		m.report(t, "8")
		advance(t, m.Account, day)
		all := m.invoices(t)
		wantLines(t, all[0], "paid", "usage 9 = 90")
		wantLines(t, all[1], "paid", "usage 0 = 0", "late_usage 12 = 11") // 101 for twelve, less 90
		wantLines(t, all[2], "paid", "usage 4 = 40", "late_usage 0 = -40")
		wantLines(t, all[3], "paid", "usage 8 = 80", "late_usage 0 = -61") // the rest of the credit of 101
	})
}

func TestAReportExactlyAtAPeriodsEndCountsInTheNext(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		var plan struct{ CurrentPeriodEnd time.Time }
		m.AsBackend(t, http.MethodGet, "/v1/usage/billing-plans/"+m.planID, nil).Want(t, 200).Into(t, &plan)
		m.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance",
			harness.JSON{"to": plan.CurrentPeriodEnd.Add(-time.Minute).Format(time.RFC3339Nano)}).Want(t, 200)
		for quantity, at := range map[string]time.Time{"1": plan.CurrentPeriodEnd.Add(-time.Millisecond),
			"2": plan.CurrentPeriodEnd} {
			body := m.reportBody(harness.Unique("report"), quantity)
			body["timestamp"] = at.Format(time.RFC3339Nano)
			m.AsBackend(t, http.MethodPost, "/v1/usage/events", body).Want(t, 202)
		}
		advance(t, m.Account, 2*day)
		all := m.invoices(t)
		wantLines(t, all[0], "paid", "usage 1 = 10")
		wantLines(t, all[1], "paid", "usage 2 = 20")
	})
}

func TestAVoidedReportCountsNoMore(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		for _, aggregation := range []string{"SUM", "MAX", "LAST"} {
			m := newFixture(t, app).subscribed(t, harness.CardSucceeds, aggregation)
			m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
			m.report(t, "2")
			counted := m.report(t, "7")
			advance(t, m.Account, time.Minute) // which counts both
			waiting := m.report(t, "9")
			for _, key := range []string{counted, waiting, counted} {
				m.AsBackend(t, http.MethodPost, "/v1/usage/events/"+url.PathEscape(key)+"/void", nil).Want(t, 200)
			}
			m.AsBackend(t, http.MethodPost, "/v1/usage/events/none/void", nil).Refuses(t, 404, "NOT_FOUND")
			last := m.report(t, "1")
			if aggregation != "LAST" {
				m.AsBackend(t, http.MethodPost, "/v1/usage/events/"+last+"/void", nil).Want(t, 200)
			}
			advance(t, m.Account, day+2*time.Minute)
			want := map[string]string{"SUM": "usage 2 = 20", "MAX": "usage 2 = 20", "LAST": "usage 1 = 10"}[aggregation]
			wantLines(t, m.invoices(t)[0], "paid", want)
			m.AsBackend(t, http.MethodPost, "/v1/usage/events/"+last+"/void", nil).Want(
				t, map[string]int{"LAST": 409}[aggregation]+map[string]int{"SUM": 200, "MAX": 200}[aggregation],
			)
		}
	})
}

func TestADeclinedUsageInvoiceIsChargedAgain(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, cardFailsLater)
		m.report(t, "10")
		advance(t, m.Account, day+2*time.Minute)
		inv := m.invoices(t)[0]
		wantLines(t, inv, "failed", "usage 10 = 100")
		if inv.AttemptCount != 1 || inv.NextAttemptAt == nil || inv.DeclineCode == "" {
			t.Errorf("%+v", inv)
		}
		advance(t, m.Account, day)
		m.AsBackend(t, http.MethodPost, "/v1/invoices/"+inv.ID+"/pay", nil).Want(t, 402)
		if got := m.story(t, inv.ID); got != "created finalized payment_failed payment_failed payment_failed" {
			t.Errorf("events %s", got)
		}
		m.payOnPage(t, inv, harness.CardSucceeds)
		if inv = m.invoices(t)[0]; inv.Status != "paid" || inv.NextAttemptAt != nil {
			t.Errorf("after the customer paid: %+v", inv)
		}
		m.AsBackend(t, http.MethodPost, "/v1/invoices/"+inv.ID+"/pay", nil).Refuses(t, 409, "STATE_CONFLICT")
	})
}

func TestUsageInvoiceWaitsForDispute(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardDisputed)
		var paid struct{ Data []struct{ ID string } }
		m.AsBackend(t, get, "/v1/payments?customerId="+m.customerID, nil).Want(t, 200).Into(t, &paid)
		dispute := m.disputeOf(t, paid.Data[0].ID)
		m.report(t, "10")
		advance(t, m.Account, day+2*time.Minute)
		inv := m.invoices(t)[0]
		if inv.Status != "open" || inv.AttemptCount != 0 {
			t.Errorf("during the dispute: %+v", inv)
		}
		m.AsBackend(t, post, "/v1/invoices/"+inv.ID+"/pay", nil).Refuses(t, 409, "STATE_CONFLICT")
		m.AsBackend(t, post, "/v1/disputes/"+dispute+"/evidence", harness.JSON{"text": "winning_evidence"}).Want(t, 200)
		advance(t, m.Account, day)
		if inv = m.invoices(t)[0]; inv.Status != "paid" {
			t.Errorf("after the dispute: %+v", inv)
		}
		verified(t, app)
	})
}

func TestTheEndOfASubscriptionIsItsLastInvoice(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		key := m.report(t, "1")
		m.endSubscription(t)
		all := m.invoices(t)
		var plan struct{ Status, NextInvoiceAt string }
		m.AsBackend(t, http.MethodGet, "/v1/usage/billing-plans/"+m.planID, nil).Want(t, 200).Into(t, &plan)
		if plan.Status != "ended" || len(all) == 0 {
			t.Fatalf("plan %+v with %d invoices", plan, len(all))
		}
		late := m.reportBody(harness.Unique("report"), "1")
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", late).Refuses(t, 409, "PERIOD_CLOSED")
		m.AsBackend(t, http.MethodGet, "/v1/usage/billing-plans/"+m.planID+"/preview", nil).Refuses(t, 409, "STATE_CONFLICT")
		again := m.reportBody(key, "1")
		if got := m.AsBackend(t, http.MethodPost, "/v1/usage/events", again).Want(t, 202).Map(t); got["duplicate"] != true {
			t.Errorf("a report sent again after the end: %v", got)
		}
		advance(t, m.Account, 2*day)
		if got := m.invoices(t); len(got) != len(all) {
			t.Errorf("%d invoices after the end, %d at it", len(got), len(all))
		}
	})
}

// inTrial is a metered customer of a plan with a trial, which may be changed to the plan studio, by month or year, that
// has none.
func (w *fixture) inTrial(t *testing.T, trialDays int, aggregation string) *metered {
	t.Helper()
	m := &metered{fixture: w, customer: harness.Unique("user"), event: harness.Unique("calls")}
	listing := plans(t, w.Account, 0)
	w.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/basic", harness.JSON{
		"name": "basic", "isDefault": true, "trialDays": trialDays,
		"prices": []harness.JSON{{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 1000}},
	}).Want(t, 200)
	s := subscribe(t, w.Account, listing, "basic", m.customer, harness.CardSucceeds)
	m.subscriptionID, m.customerID = s.ID, s.CustomerID
	meter := harness.JSON{"name": "API calls", "eventName": m.event, "aggregation": aggregation}
	if aggregation == "UNIQUE" {
		meter["uniqueProperty"] = "user"
	}
	m.meterID = m.make(t, "/v1/usage/meters", meter)
	m.productID = m.make(t, "/v1/usage/products", harness.JSON{"name": "API access", "type": "SERVICE"})
	m.priceID = m.make(t, "/v1/usage/prices", priceBody(m.productID))
	return m
}

// TestUseIsFreeUntilATrialEndsEarly: a change to a plan without a trial ends it, and so what is free.
func TestUseIsFreeUntilATrialEndsEarly(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		for interval, closed := range map[string]int{"month": 0, "day": 2} {
			m := newFixture(t, app).inTrial(t, 14, "SUM")
			body := m.planBody()
			body["billingInterval"] = interval
			m.planID = m.make(t, "/v1/usage/billing-plans", body)
			now := advance(t, m.Account, 2*day+time.Hour).Now
			m.report(t, "5")
			ahead := m.reportBody(harness.Unique("report"), "1")
			ahead["timestamp"] = now.Add(4 * time.Minute).Format(time.RFC3339Nano)
			m.AsBackend(t, http.MethodPost, "/v1/usage/events", ahead).Want(t, 202)
			ask(t, m.Account, m.subscriptionID, "change", harness.JSON{"plan": "studio"})
			m.report(t, "3")
			advance(t, m.Account, 3*time.Minute)
			all := m.invoices(t)
			if len(all) != closed+1 {
				t.Fatalf("%d invoices by %s of the trial", len(all), interval)
			}
			wantLines(t, all[closed], "paid", "usage 5 = 0")
			end := subscription(t, m.Account, m.subscriptionID).CurrentPeriodStart.Add(day)
			if interval == "month" {
				end = subscription(t, m.Account, m.subscriptionID).CurrentPeriodEnd
			}
			advanceTo(t, m.Account, end.Add(3*time.Minute))
			wantLines(t, m.invoices(t)[closed+1], "paid", "usage 4 = 40")
			m.verified(t, app)
		}
	})
}

// TestMetersHaveThePeriodsOfTheirSubscription: a meter that nothing bills begins again with the subscription's period.
func TestMetersHaveThePeriodsOfTheirSubscription(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).inTrial(t, 0, "UNIQUE")
		report := func(user string) {
			t.Helper()
			body := m.reportBody(harness.Unique("report"), "1")
			body["properties"] = harness.JSON{"user": user}
			m.AsBackend(t, http.MethodPost, "/v1/usage/events", body).Want(t, 202)
		}
		shows := func(used string) {
			t.Helper()
			m.counts(t, used)
			meters, _ := m.Access(t, m.customer)["meters"].([]any)
			shown, _ := meters[0].(map[string]any)
			s := subscription(t, m.Account, m.subscriptionID)
			if fmt.Sprint(shown["used"]) != used || shown["periodStart"] != s.CurrentPeriodStart.Format("2006-01-02T15:04:05.000Z") ||
				shown["periodEnd"] != s.CurrentPeriodEnd.Format("2006-01-02T15:04:05.000Z") {
				t.Errorf("%v, want %s in %v to %v", shown, used, s.CurrentPeriodStart, s.CurrentPeriodEnd)
			}
		}
		report("ada")
		advance(t, m.Account, day)
		report("ada")
		report("bob")
		shows("2")
		ask(t, m.Account, m.subscriptionID, "change", harness.JSON{"plan": "studio", "interval": "year"})
		report("ada")
		shows("1")
		ask(t, m.Account, m.subscriptionID, "pause", nil)
		advanceTo(t, m.Account, subscription(t, m.Account, m.subscriptionID).CurrentPeriodEnd.Add(3*day))
		ask(t, m.Account, m.subscriptionID, "resume", nil)
		report("eve")
		shows("1")
		m.verified(t, app)
	})
}

// TestMetersFollowAChangePaidLate: a planned change of the interval is paid when the first of the new periods is over.
func TestMetersFollowAChangePaidLate(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).inTrial(t, 0, "SUM")
		path := "/v1/subscriptions/" + m.subscriptionID
		listing := text(t, m.AsBackend(t, http.MethodGet, path, nil).Want(t, 200).Map(t)["listingId"])
		m.AsCreator(t, http.MethodPut, "/v1/listings/"+listing+"/plans/weekly", harness.JSON{
			"name": "weekly", "meters": []harness.JSON{{"eventName": m.event, "included": 10}},
			"prices": []harness.JSON{{"interval": "week", "intervalCount": 1, "currency": "eur", "amountInCents": 300}},
		}).Want(t, 200)
		card := func(number string) {
			t.Helper()
			m.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+m.customerID+"/cards",
				harness.JSON{"cardNumber": number}).Want(t, 201)
		}
		card(cardFailsLater)
		m.report(t, "5")
		end := ask(t, m.Account, m.subscriptionID, "change", harness.JSON{
			"plan": "weekly", "interval": "week", "prorationMode": "next_period",
		}).CurrentPeriodEnd
		advanceTo(t, m.Account, end.Add(8*day))
		card(harness.CardSucceeds)
		m.report(t, "2")
		m.counts(t, "2")
		meters, _ := m.Access(t, m.customer)["meters"].([]any)
		shown, _ := meters[0].(map[string]any)
		s := subscription(t, m.Account, m.subscriptionID)
		if s.Status != "active" || !s.CurrentPeriodStart.Equal(end.Add(7*day)) {
			t.Fatalf("%+v, want the second week", s)
		}
		if shown["periodStart"] != s.CurrentPeriodStart.Format("2006-01-02T15:04:05.000Z") ||
			shown["periodEnd"] != s.CurrentPeriodEnd.Format("2006-01-02T15:04:05.000Z") {
			t.Errorf("%v, want the period from %v to %v", shown, s.CurrentPeriodStart, s.CurrentPeriodEnd)
		}
		m.verified(t, app)
	})
}

// TestTheSnapshotShowsTheMetersOfNow: a customer at what is included reports nothing, until the snapshot shows
// that there is more.
func TestTheSnapshotShowsTheMetersOfNow(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := &metered{fixture: newFixture(t, app), customer: harness.Unique("user"), event: harness.Unique("calls")}
		m.meterID = m.make(t, "/v1/usage/meters", harness.JSON{"name": "Calls", "eventName": m.event, "aggregation": "SUM"})
		listing := plans(t, m.Account, 0)
		for plan, included := range map[string]int{"basic": 10, "studio": 100} {
			m.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/"+plan, harness.JSON{
				"name": plan, "isDefault": plan == "basic", "meters": []harness.JSON{{"eventName": m.event, "included": included}},
				"prices": []harness.JSON{{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 1000}},
			}).Want(t, 200)
		}
		shows := func(want string) {
			t.Helper()
			advance(t, m.Account, time.Second)
			var got string
			meters, _ := m.Access(t, m.customer)["meters"].([]any)
			for _, one := range meters {
				shown, _ := one.(map[string]any)
				got += fmt.Sprintf("%v of %v until %v", shown["used"], shown["included"], shown["periodEnd"])
			}
			if got != want {
				t.Errorf("the snapshot shows %q, want %q", got, want)
			}
		}
		until := func() string {
			return subscription(t, m.Account, m.subscriptionID).CurrentPeriodEnd.Format("2006-01-02T15:04:05.000Z")
		}
		s := subscribe(t, m.Account, listing, "basic", m.customer, harness.CardSucceeds)
		m.subscriptionID = s.ID
		m.report(t, "10")
		m.counts(t, "10")
		shows("10 of 10 until " + until())
		advanceTo(t, m.Account, s.CurrentPeriodEnd.Add(time.Second))
		shows("0 of 10 until " + until())
		ask(t, m.Account, m.subscriptionID, "change", harness.JSON{"plan": "studio"})
		shows("0 of 100 until " + until())
		ask(t, m.Account, m.subscriptionID, "cancel", nil)
		shows("")
	})
}

// TestWhatWasReportedAheadOfTheEndIsOnTheLastInvoice: the times of reports may be five minutes ahead, and so in a
// period that does not come any more.
func TestWhatWasReportedAheadOfTheEndIsOnTheLastInvoice(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, counted := range []bool{false, true} {
			for name, end := range map[string]func(m *metered){
				"subscription": func(m *metered) { ask(t, m.Account, m.subscriptionID, "cancel", nil) },
				"billing plan": func(m *metered) {
					m.AsBackend(t, http.MethodPost, "/v1/usage/billing-plans/"+m.planID+"/end", nil).Want(t, 200)
				},
			} {
				m := w.metered(t, harness.CardSucceeds)
				now := advance(t, m.Account, day-2*time.Minute).Now
				m.report(t, "1")
				ahead := m.reportBody(harness.Unique("report"), "3")
				ahead["timestamp"] = now.Add(4 * time.Minute).Format(time.RFC3339Nano)
				m.AsBackend(t, http.MethodPost, "/v1/usage/events", ahead).Want(t, 202)
				if counted {
					advance(t, m.Account, time.Second)
				}
				end(m)
				advance(t, m.Account, time.Hour)
				all := m.invoices(t)
				if len(all) != 1 {
					t.Fatalf("%s: %d invoices", name, len(all))
				}
				wantLines(t, all[0], "paid", "usage 4 = 40")
				m.verified(t, app)
			}
		}
	})
}

// endSubscription lets the subscription run to its end.
func (m *metered) endSubscription(t *testing.T) {
	t.Helper()
	ask(t, m.Account, m.subscriptionID, "cancel", harness.JSON{"atPeriodEnd": true})
	advance(t, m.Account, 32*day)
}

func TestSummaryPreviewAndSnapshotShowTheRunningPeriod(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		before := m.Access(t, m.customer)
		m.report(t, "10.5")
		m.counts(t, "10.5")
		var summary struct {
			Meters []struct {
				Key, Aggregation string
				Quantity         json.Number
				AsOf             *time.Time
			}
		}
		m.AsBackend(t, http.MethodGet, "/v1/usage/summary?subscriptionId="+m.subscriptionID, nil).Want(t, 200).Into(t,
			&summary)
		if len(summary.Meters) != 1 || summary.Meters[0].Quantity != "10.5" || summary.Meters[0].Key != m.event ||
			summary.Meters[0].AsOf == nil {
			t.Errorf("summary %+v", summary)
		}
		m.report(t, "1.5") // not counted yet, and previewed all the same
		var preview struct {
			TotalInCents int64
			Lines        []struct {
				Quantity json.Number
				Tiers    []struct{ AmountDecimal string }
			}
		}
		m.AsBackend(t, http.MethodGet, "/v1/usage/billing-plans/"+m.planID+"/preview", nil).Want(t, 200).Into(t, &preview)
		if preview.TotalInCents != 101 || len(preview.Lines) != 1 || preview.Lines[0].Quantity != "12" ||
			preview.Lines[0].Tiers[1].AmountDecimal != "1" {
			t.Errorf("preview %+v", preview)
		}
		after := m.Access(t, m.customer)
		meters, _ := after["meters"].([]any)
		if after["version"] != before["version"] || len(meters) != 1 ||
			fmt.Sprint(meters[0].(map[string]any)["used"]) != "10.5" {
			t.Errorf("snapshot %v after %v", after, before)
		}
		advance(t, m.Account, day+2*time.Minute)
		m.AsBackend(t, http.MethodGet, "/v1/invoices/"+m.invoices(t)[0].ID+"/explain", nil).Want(t, 200)
	})
}

func TestAnAlertIsSentOncePerPeriod(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		alert := m.make(t, "/v1/usage/alerts", harness.JSON{
			"subscriptionId": m.subscriptionID, "meterId": m.meterID, "threshold": 5,
		})
		reached := func() (count int) {
			var page struct {
				Data []struct {
					Type string
					Data struct{ AlertID string }
				}
			}
			m.AsBackend(t, http.MethodGet, "/v1/events?limit=100", nil).Want(t, 200).Into(t, &page)
			for _, e := range page.Data {
				if e.Type == "usage.threshold_reached" && e.Data.AlertID == alert {
					count++
				}
			}
			return count
		}
		for i, want := range []int{0, 1, 1} {
			m.report(t, "3")
			m.counts(t, fmt.Sprint(3*(i+1)))
			if got := reached(); got != want {
				t.Errorf("after %d reports of 3: %d events", i+1, got)
			}
		}
		advance(t, m.Account, day+2*time.Minute)
		m.report(t, "6")
		m.counts(t, "6")
		if got := reached(); got != 2 {
			t.Errorf("in the next period: %d events in all", got)
		}
		m.AsBackend(t, http.MethodDelete, "/v1/usage/alerts/"+alert, nil).Want(t, 200)
		m.AsBackend(t, http.MethodGet, "/v1/usage/alerts/"+alert, nil).Refuses(t, 404, "NOT_FOUND")
	})
}

func TestUseBeforeABillingPlanIsBilledFromItsPeriodOn(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		m.report(t, "4")
		advance(t, m.Account, time.Minute)
		m.report(t, "5")
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		m.AsBackend(t, http.MethodPost, "/v1/usage/billing-plans", m.planBody()).Refuses(t, 409, "STATE_CONFLICT")
		m.report(t, "1")
		advance(t, m.Account, day+2*time.Minute)
		wantLines(t, m.invoices(t)[0], "paid", "usage 10 = 100")
	})
}

func TestUsageOfOthersIsNotFound(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m, other := newFixture(t, app).metered(t, harness.CardSucceeds), newFixture(t, app)
		other.AsBackend(t, http.MethodPost, "/v1/usage/events", m.reportBody(harness.Unique("report"), "1")).Refuses(t, 404,
			"NOT_FOUND")
		other.AsBackend(t, http.MethodPost, "/v1/usage/billing-plans", m.planBody()).Refuses(t, 404, "NOT_FOUND")
		for _, path := range []string{
			"/v1/usage/meters/" + m.meterID, "/v1/usage/prices/" + m.priceID, "/v1/usage/billing-plans/" + m.planID,
			"/v1/usage/billing-plans/" + m.planID + "/preview", "/v1/usage/summary?subscriptionId=" + m.subscriptionID,
		} {
			other.AsBackend(t, http.MethodGet, path, nil).Refuses(t, 404, "NOT_FOUND")
		}
	})
}

func TestUsage_NoReportAboveTheLimitOfAnInvoice(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		report := func(quantity string) *harness.Response {
			return m.AsBackend(t, http.MethodPost, "/v1/usage/events", m.reportBody(harness.Unique("report"), quantity))
		}
		report("99999999999999999999999999").Refuses(t, 409, "LIMIT_REACHED")
		report("199000000000").Want(t, 202) // 99,500,000,095 cents
		report("2000000000").Refuses(t, 409, "LIMIT_REACHED")
		m.counts(t, "199000000000")
	})
}

func TestUsage_WhatThePlanIncludesIsNotBilled(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		event := harness.Unique("calls")
		body := planBody()
		body["meters"] = []harness.JSON{{"eventName": event, "included": 100}}
		w.AsCreator(t, http.MethodPut, "/v1/listings/"+w.listing.ID+"/plans/pro", body).Want(t, 200)
		m := w.subscribed(t, harness.CardSucceeds, "SUM")
		m.event = event
		m.meterID = m.make(t, "/v1/usage/meters", harness.JSON{"name": "Calls", "eventName": event, "aggregation": "SUM"})
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		m.report(t, "112")
		advance(t, m.Account, day+2*time.Minute)
		wantLines(t, m.invoices(t)[0], "paid", "usage 112 = 101", "included 100 = 0")
	})
}

func TestUsage_ThePriceIsInTheSubscriptionsCurrency(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		price := priceBody(m.productID)
		price["currency"] = "jpy"
		plan := m.planBody()
		plan["priceId"] = m.make(t, "/v1/usage/prices", price)
		m.AsBackend(t, http.MethodPost, "/v1/usage/billing-plans", plan).Refuses(t, 400, "VALIDATION_FAILED", "priceId")
		m.make(t, "/v1/usage/billing-plans", m.planBody())
	})
}
