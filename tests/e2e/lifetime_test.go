package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// twoYears is one customer's life with a seller.
type twoYears struct {
	*harness.Account
	listing         harness.Listing
	customer, email string
}

// buy subscribes to the plan basic with its trial, as a buyer in Germany.
func (l *twoYears) buy(t *testing.T) subscribed {
	t.Helper()
	session := l.NewSession(t, l.listing, "basic", l.customer, nil)
	l.AsBackend(t, http.MethodPost, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
		harness.JSON{"cardNumber": harness.CardSucceeds, "email": l.email, "country": "DE"}).Want(t, 200)
	return subscription(t, l.Account, l.Receipt(t, session)["subscriptionId"].(string))
}

// change previews a change of plan, holds the price to what it should be, and makes it.
func (l *twoYears) change(t *testing.T, id, plan, interval string, due int64) {
	t.Helper()
	body := harness.JSON{"plan": plan, "interval": interval, "prorationMode": "charge_now"}
	var quote struct {
		QuoteID          string
		AmountDueInCents int64
	}
	l.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+id+"/change/preview", body).Want(t, 200).Into(t, &quote)
	if quote.AmountDueInCents != due {
		t.Errorf("changing to %s %s costs %d, want %d", plan, interval, quote.AmountDueInCents, due)
	}
	body["quoteId"] = quote.QuoteID
	ask(t, l.Account, id, "change", body)
}

// save saves a card for the customer, and lets it pay for what is overdue.
func (l *twoYears) save(t *testing.T, customerID, number string) {
	t.Helper()
	l.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+customerID+"/cards",
		harness.JSON{"cardNumber": number}).Want(t, 201)
	workOff(t, l.Account)
}

// live is the script. The days are those on which something happens.
func (l *twoYears) live(t *testing.T) {
	t.Helper()
	on := func(day string) {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		advanceFar(t, l.Account, at.Add(10*time.Hour))
	}
	advanceFar(t, l.Account, time.Date(2027, 1, 1, 9, 0, 0, 0, time.UTC)) // an hour before everything else happens
	// the trial ends on 15 January, which is the anchor
	first := l.buy(t)
	on("2027-02-25")
	l.change(t, first.ID, "studio", "month", 1350) // 18 of 28 days are left: 19.93 less 6.43
	on("2027-04-20")
	l.change(t, first.ID, "studio", "year", 27417) // a year for 300.00, less 25 of 30 days of 31.00
	on("2028-03-01")
	l.save(t, first.CustomerID, cardFailsLater)
	on("2028-04-23") // the renewal of 20 April failed, and so did the second attempt of 22 April
	if s := subscription(t, l.Account, first.ID); s.Status != "past_due" {
		t.Fatalf("%+v", s)
	}
	l.save(t, first.CustomerID, harness.CardSucceeds)
	on("2028-06-01")
	ask(t, l.Account, first.ID, "cancel", harness.JSON{"atPeriodEnd": false})
	advanceFar(t, l.Account, time.Date(2028, 7, 1, 9, 0, 0, 0, time.UTC))
	second := l.buy(t)
	on("2028-12-20")
	ask(t, l.Account, second.ID, "cancel", harness.JSON{"atPeriodEnd": true})
	on("2029-01-31")
}

func TestACustomersTwoYearsAddUp(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := &twoYears{
			Account: a, listing: plans(t, a, 14), customer: "ada", email: harness.Unique("ada") + "@example.com",
		}
		a.AsCreator(t, http.MethodPatch, "/v1/listings/"+l.listing.ID, harness.JSON{"trialOncePerCustomer": false}).
			Want(t, 200)
		l.live(t)
		t.Run("events", l.wantEvents)
		t.Run("charges", l.wantCharges)
		t.Run("access", l.wantAccess)
		t.Run("mails", l.wantMails)
		t.Run("portal", l.wantPortal)
	})
}

// wantEvents holds the subscription's events to the script: one per transition, on its day.
func (l *twoYears) wantEvents(t *testing.T) {
	var got []string
	for _, row := range all(t, l.Account, "/v1/events", url.Values{}) {
		var e struct {
			Type      string
			CreatedAt time.Time
		}
		if err := json.Unmarshal(row, &e); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(e.Type, "subscription.") {
			continue
		}
		got = append(got, e.CreatedAt.Format(time.DateOnly)+" "+strings.TrimPrefix(e.Type, "subscription."))
	}
	want := []string{
		"2027-01-01 created", "2027-01-15 renewed", "2027-02-15 renewed", "2027-02-25 updated", "2027-03-15 renewed",
		"2027-04-15 renewed",
		"2027-04-20 updated", "2028-03-01 updated", "2028-04-20 dunning", "2028-04-22 dunning", "2028-04-23 updated",
		"2028-04-23 renewed",
		"2028-06-01 canceled", "2028-07-01 created", "2028-07-15 renewed", "2028-08-15 renewed", "2028-09-15 renewed",
		"2028-10-15 renewed",
		"2028-11-15 renewed", "2028-12-15 renewed", "2028-12-20 cancel_scheduled", "2029-01-15 canceled",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// charges of the script in cents; what costs nothing is the beginning of a trial.
var scripted = []int64{0, 1000, 1000, 1350, 3100, 3100, 27417, 30000, 0, 1000, 1000, 1000, 1000, 1000, 1000}

// wantCharges holds payments, their receipts, payment.completed and the ledger to the script and to each other.
func (l *twoYears) wantCharges(t *testing.T) {
	totals, events := map[string]int64{}, map[string]int64{}
	var amounts []int64
	for _, row := range all(t, l.Account, "/v1/payments", url.Values{"status": {"succeeded"}}) {
		var p struct {
			ID, ReceiptNumber string
			AmountInCents     int64
		}
		if err := json.Unmarshal(row, &p); err != nil {
			t.Fatal(err)
		}
		amounts = append(amounts, p.AmountInCents)
		totals[p.ID] = p.AmountInCents
		if want := fmt.Sprintf("-R-%06d", len(amounts)); !strings.HasSuffix(p.ReceiptNumber, want) {
			t.Errorf("payment %d has the receipt %s, want %s", len(amounts), p.ReceiptNumber, want)
		}
	}
	if !slices.Equal(amounts, scripted) {
		t.Errorf("charged %v, want %v", amounts, scripted)
	}
	for _, row := range all(t, l.Account, "/v1/events", url.Values{"type": {"payment.completed"}}) {
		var e struct {
			Data struct {
				PaymentID                                                  string
				SubtotalInCents, DiscountInCents, TaxInCents, TotalInCents int64
			}
		}
		if err := json.Unmarshal(row, &e); err != nil {
			t.Fatal(err)
		}
		events[e.Data.PaymentID] = e.Data.TotalInCents
		if d := e.Data; d.SubtotalInCents-d.DiscountInCents != d.TotalInCents || d.TaxInCents*119 < d.TotalInCents*19-119 ||
			d.TaxInCents*119 > d.TotalInCents*19+119 {
			t.Errorf("%+v does not add up with 19 %% contained", d)
		}
	}
	if fmt.Sprint(events) != fmt.Sprint(totals) {
		t.Errorf("announced %v, charged %v", events, totals)
	}
	sold := map[string]int64{}
	for _, row := range all(t, l.Account, "/v1/ledger/entries", url.Values{}) {
		var e struct {
			SourceID, Kind, Account string
			AmountInCents           int64
		}
		if err := json.Unmarshal(row, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == "sale" && e.Account == "processor_clearing" {
			sold[e.SourceID] += e.AmountInCents
		}
	}
	for id, total := range totals {
		if sold[id] != total {
			t.Errorf("%s: booked %d, charged %d", id, sold[id], total)
		}
	}
	declined := all(t, l.Account, "/v1/payments", url.Values{"status": {"declined"}})
	if len(declined) != 2 {
		t.Errorf("%d declined charges, want two", len(declined))
	}
}

// wantAccess holds each version of the snapshot to a cause: all events but the changes of card and the second dunning.
func (l *twoYears) wantAccess(t *testing.T) {
	var explained struct {
		Version int64
		Grants  []struct{ SourceID, Status string }
		History []struct {
			Version        int64
			At             time.Time
			Cause, CauseID string
		}
	}
	l.AsBackend(t, http.MethodGet, "/v1/customer-access/"+l.customer+"/explain", nil).Want(t, 200).Into(t, &explained)
	var got []string
	for i, h := range explained.History {
		if h.Version != explained.Version-int64(i) || h.CauseID == "" {
			t.Errorf("version %d follows in the place of %d: %+v", h.Version, explained.Version-int64(i), h)
		}
		got = append(got, h.At.Format(time.DateOnly)+" "+strings.TrimPrefix(h.Cause, "subscription_"))
	}
	slices.Reverse(got)
	want := []string{
		"2027-01-01 started", "2027-01-15 changed", "2027-02-15 changed", "2027-02-25 changed", "2027-03-15 changed",
		"2027-04-15 changed",
		"2027-04-20 changed", "2028-04-20 changed", "2028-04-23 changed", "2028-06-01 ended", "2028-07-01 started",
		"2028-07-15 changed",
		"2028-08-15 changed", "2028-09-15 changed", "2028-10-15 changed", "2028-11-15 changed", "2028-12-15 changed",
		"2028-12-20 changed",
		"2029-01-15 ended",
	}
	if !slices.Equal(got, want) {
		t.Errorf("versions\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(explained.Grants) != 2 || explained.Grants[0].Status != "ended" || explained.Grants[1].Status != "ended" {
		t.Errorf("%+v", explained.Grants)
	}
	previous := int64(0)
	for _, row := range all(t, l.Account, "/v1/events", url.Values{"type": {"customer.access_changed"}}) {
		var e struct {
			Data struct{ Version, PreviousVersion int64 }
		}
		if err := json.Unmarshal(row, &e); err != nil {
			t.Fatal(err)
		}
		if e.Data.PreviousVersion != previous || e.Data.Version <= previous {
			t.Errorf("access_changed from %d to %d after %d", e.Data.PreviousVersion, e.Data.Version, previous)
		}
		previous = e.Data.Version
	}
	if previous != explained.Version {
		t.Errorf("announced up to version %d of %d", previous, explained.Version)
	}
}

// wantMails counts what the customer was sent.
func (l *twoYears) wantMails(t *testing.T) {
	got := map[string]int{}
	for _, m := range mailsTo(t, l.App, l.email) {
		subject := strings.TrimPrefix(m.Subject, "[Test] ")
		for _, kind := range []string{"Your receipt", "Your trial", "renews", "Payment failed"} {
			if strings.Contains(subject, kind) {
				got[kind]++
				break
			}
		}
		if text := m.Parts["text/plain"]; !strings.Contains(text, "/p/") {
			t.Errorf("%q does not lead to the portal:\n%s", subject, text)
		}
	}
	want := map[string]int{"Your receipt": len(scripted), "Your trial": 2, "renews": 1, "Payment failed": 2}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("mailed %v, want %v", got, want)
	}
}

// wantPortal finds every receipt in the customer's portal.
func (l *twoYears) wantPortal(t *testing.T) {
	var found struct{ Data []struct{ ID string } }
	l.AsBackend(t, http.MethodGet, "/v1/customers?externalCustomerId="+l.customer, nil).Want(t, 200).Into(t, &found)
	html := read(t, l.App, visit(t, l.Account, found.Data[0].ID))
	for n, amount := range scripted {
		if number := fmt.Sprintf("-R-%06d", n+1); amount > 0 && !strings.Contains(html, number) {
			t.Errorf("no receipt %s in the portal", number)
		}
	}
}
