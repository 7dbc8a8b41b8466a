package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"sundry/tests/harness"
)

func TestUsageIsReportedByCustomer(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m := w.metered(t, harness.CardSucceeds)
		report := func(customer, key, quantity string) *harness.Response {
			return m.AsBackend(t, http.MethodPost, "/v1/usage/events", harness.JSON{
				"externalCustomerId": customer, "meter": m.event, "quantity": json.Number(quantity), "idempotencyKey": key,
			})
		}
		key := harness.Unique("report")
		first := report(m.customer, key, "4").Want(t, 202).Map(t)
		if again := report(m.customer, key, "4").Want(t, 202).Map(t); again["id"] != first["id"] || again["duplicate"] != true {
			t.Errorf("again: %v, first %v", again, first)
		}
		report(m.customer, key, "5").Refuses(t, 409, "IDEMPOTENCY_KEY_MISMATCH")
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", m.reportBody(key, "4")).Refuses(t, 409, "IDEMPOTENCY_KEY_MISMATCH")
		m.report(t, "3")
		m.counts(t, "7")

		both := m.reportBody(harness.Unique("report"), "1")
		both["externalCustomerId"] = m.customer
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", both).Refuses(t, 400, "VALIDATION_FAILED", "externalCustomerId")
		report("", harness.Unique("report"), "1").Refuses(t, 400, "VALIDATION_FAILED", "subscriptionId")
		report(harness.Unique("stranger"), harness.Unique("report"), "1").Refuses(t, 404, "NOT_FOUND")
		other := newFixture(t, app).metered(t, harness.CardSucceeds)
		report(other.customer, harness.Unique("report"), "1").Refuses(t, 404, "NOT_FOUND")

		second := subscribe(t, m.Account, plans(t, m.Account, 0), "basic", m.customer, harness.CardSucceeds)
		report(m.customer, harness.Unique("report"), "2").Want(t, 202)
		m.counts(t, "9") // the one that is billed for the meter
		const summary = "/v1/usage/summary?"
		read := m.AsBackend(t, http.MethodGet, summary+"externalCustomerId="+m.customer, nil).Want(t, 200).Map(t)
		counted, _ := read["meters"].([]any)
		if len(counted) != 1 || read["subscriptionId"] != nil || read["externalCustomerId"] != m.customer ||
			counted[0].(map[string]any)["subscriptionId"] != m.subscriptionID ||
			asJSON(t, counted[0].(map[string]any)["quantity"]) != "9" {
			t.Errorf("what the customer has used: %v", read)
		}
		stranger := m.AsBackend(t, http.MethodGet, summary+"externalCustomerId="+other.customer, nil).Want(t, 200).Map(t)
		if counted, _ := stranger["meters"].([]any); len(counted) != 0 {
			t.Errorf("another account's customer: %v", stranger)
		}
		for _, query := range []string{"", "subscriptionId=" + m.subscriptionID + "&externalCustomerId=" + m.customer} {
			m.AsBackend(t, http.MethodGet, summary+query, nil).Refuses(t, 400, "VALIDATION_FAILED", "subscriptionId")
		}
		free := m.make(t, "/v1/usage/meters", harness.JSON{
			"name": "Files", "eventName": harness.Unique("files"), "aggregation": "SUM",
		})
		var meter struct{ EventName string }
		m.AsBackend(t, http.MethodGet, "/v1/usage/meters/"+free, nil).Want(t, 200).Into(t, &meter)
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", harness.JSON{
			"externalCustomerId": m.customer, "meter": meter.EventName, "quantity": 1, "idempotencyKey": harness.Unique("report"),
		}).Refuses(t, 400, "VALIDATION_FAILED", "externalCustomerId")

		ask(t, m.Account, m.subscriptionID, "cancel", nil)
		ask(t, m.Account, second.ID, "cancel", nil)
		if again := report(m.customer, key, "4").Want(t, 202).Map(t); again["id"] != first["id"] || again["duplicate"] != true {
			t.Errorf("a retry after the end: %v", again)
		}
	})
}

// TestAnAcceptedReportMayBeSentAgain: whatever would keep it out by now.
func TestAnAcceptedReportMayBeSentAgain(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		report := harness.JSON{
			"externalCustomerId": m.customer, "meter": m.event, "quantity": 4, "idempotencyKey": harness.Unique("report"),
			"timestamp": clockOf(t, m.Account).Format(time.RFC3339Nano),
		}
		send := func() *harness.Response { return m.AsBackend(t, http.MethodPost, "/v1/usage/events", report) }
		first := send().Want(t, 202).Map(t)
		again := func() {
			t.Helper()
			if got := send().Want(t, 202).Map(t); got["id"] != first["id"] || got["duplicate"] != true {
				t.Errorf("%v, first %v", got, first)
			}
		}
		subscribe(t, m.Account, plans(t, m.Account, 0), "basic", m.customer, harness.CardSucceeds)
		again() // which of both is meant is not clear
		advance(t, m.Account, 36*day)
		again()
		report["quantity"] = 5
		send().Refuses(t, 400, "VALIDATION_FAILED", "timestamp")
	})
}

func TestMetersGoWithTheNameOfTheirCustomer(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.NewSession(t, w.listing, "pro", "", harness.JSON{
			"catalog": nil, "externalCustomerId": nil, "listingId": w.listing.ID,
		})
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := w.Receipt(t, session)
		customerID := text(t, receipt["customerId"])
		m := w.subscribed(t, harness.CardSucceeds, "SUM")
		m.customerID, m.subscriptionID = customerID, text(t, receipt["subscriptionId"])
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		used := func(customer string) string {
			advance(t, m.Account, time.Minute)
			var all []any
			for _, meter := range m.Access(t, customer)["meters"].([]any) {
				all = append(all, meter.(map[string]any)["used"])
			}
			return asJSON(t, all)
		}
		m.report(t, "4")
		if got := used(customerID); got != "[4]" {
			t.Errorf("a buyer without a name has used %s", got)
		}
		before := customerID
		for _, name := range []string{harness.Unique("user"), harness.Unique("user")} {
			w.AsBackend(t, http.MethodPatch, "/v1/customers/"+customerID, harness.JSON{"externalCustomerId": name}).Want(t, 200)
			if old, now := used(before), used(name); old != "null" || now != "[4]" {
				t.Errorf("%s moved to %s: %s and %s", before, name, old, now)
			}
			before = name
		}
		m.report(t, "3")
		if got := used(before); got != "[7]" {
			t.Errorf("with the last name they have used %s", got)
		}
		advance(t, m.Account, day+2*time.Minute)
		invoice := m.AsBackend(t, http.MethodGet, "/v1/invoices/"+m.invoices(t)[0].ID, nil).Want(t, 200).Map(t)
		if invoice["externalCustomerId"] != before {
			t.Errorf("the invoice is for %v, not %s", invoice["externalCustomerId"], before)
		}
	})
}

// TestTheSnapshotShowsThePeriodsOfANewPlan: what is counted of a customer who reports nothing more changes with the
// billing plan of the meter.
func TestTheSnapshotShowsThePeriodsOfANewPlan(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		shows := func(used string, period time.Duration) {
			t.Helper()
			advance(t, m.Account, time.Second)
			var access struct {
				Meters []struct {
					Used                   json.Number
					PeriodStart, PeriodEnd time.Time
				}
			}
			m.AsBackend(t, http.MethodGet, "/v1/customer-access/"+m.customer, nil).Want(t, 200).Into(t, &access)
			if len(access.Meters) != 1 || access.Meters[0].Used.String() != used ||
				access.Meters[0].PeriodEnd.Sub(access.Meters[0].PeriodStart) != period {
				t.Errorf("the snapshot shows %+v, want %s in %v", access.Meters, used, period)
			}
		}
		start := subscription(t, m.Account, m.subscriptionID)
		m.report(t, "5")
		m.counts(t, "5")
		shows("5", start.CurrentPeriodEnd.Sub(start.CurrentPeriodStart))
		now := advance(t, m.Account, 3*day-2*time.Minute).Now
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		shows("0", day)
		ahead := m.reportBody(harness.Unique("report"), "3")
		ahead["timestamp"] = now.Add(4 * time.Minute).Format(time.RFC3339Nano)
		m.AsBackend(t, http.MethodPost, "/v1/usage/events", ahead).Want(t, 202)
		m.counts(t, "0")
		shows("0", day)
		m.AsBackend(t, http.MethodPost, "/v1/usage/billing-plans/"+m.planID+"/end", nil).Want(t, 200)
		shows("3", day)
		m.verified(t, app)
	})
}
