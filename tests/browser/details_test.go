package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// first waits for the first of a list.
func (s *fixture) first(path string) string {
	s.t.Helper()
	for deadline := time.Now().Add(maxWait); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var list struct{ Data []struct{ ID string } }
		s.AsBackend(s.t, http.MethodGet, path, nil).Want(s.t, http.StatusOK).Into(s.t, &list)
		if len(list.Data) > 0 {
			return list.Data[0].ID
		}
	}
	s.t.Fatalf("%s stays empty", path)
	return ""
}

// details makes something of every kind, and returns the pages of the dashboard that show it, and a buyer's invoice.
func (s *studio) details() (paths []string, invoice string) {
	t := s.t
	t.Helper()
	made := func(path string, body harness.JSON) harness.JSON {
		return s.AsBackend(t, http.MethodPost, path, body).Want(t, http.StatusCreated).Map(t)
	}
	endpoint := made("/v1/webhook-endpoints", harness.JSON{"url": "https://hooks.example.com/in",
		"events": []string{"*"}})["id"].(string)
	customer := s.pay(s.session(s.book, nil), harness.CardSucceeds).Want(t, http.StatusOK).Map(t)["customerId"].(string)
	lesson := s.sell(s.single, harness.JSON{
		"appointmentSlot": harness.JSON{"startsAt": s.open(s.single, s.fullDay())[0], "timezone": newYork},
	})
	s.pay(lesson, harness.CardSucceeds).Want(t, http.StatusOK)
	s.pay(s.session(s.club, nil), harness.CardSucceeds).Want(t, http.StatusOK)
	s.pay(s.session(s.book, nil), harness.CardDisputed).Want(t, http.StatusOK)
	inv := made("/v1/invoices", harness.JSON{
		"customerId": customer, "currency": "eur", "idempotencyKey": "march", "periodStart": "2026-03-01",
		"periodEnd": "2026-03-31",
		"lineItems": []harness.JSON{{"description": "Paper", "amountInCents": 450}},
	})
	s.AsCreator(t, http.MethodPut, "/v1/listings/"+s.club.ID+"/plans/basic", harness.JSON{
		"name": "Basic", "isDefault": true, "trialDays": 0, "entitlements": []harness.JSON{},
		"credits": []harness.JSON{}, "meters": []harness.JSON{},
		"prices": []harness.JSON{{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 900}},
	}).Want(t, http.StatusOK)
	return []string{
		"/bookings/" + s.booked(lesson)[0]["id"].(string), "/customers/" + customer + "/edit",
		"/customers/" + customer + "/access", "/customers/" + customer + "/grant",
		"/events/" + s.first("/v1/events"), "/disputes/" + s.first("/v1/disputes"), "/invoices/" + inv["id"].(string),
		"/listings/" + s.club.ID + "/plans/basic",
		"/listings/" + s.single.ID + "/variants/" + s.pack,
		"/subscriptions/" + s.first("/v1/subscriptions") + "/change", "/webhooks/" + endpoint + "/edit",
		"/webhooks/" + endpoint + "/deliveries/" + s.first("/v1/webhook-endpoints/"+endpoint+"/deliveries"),
	}, inv["hostedUrl"].(string)
}

func TestEveryDetailInTheDashboardIsAccessible(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	paths, invoice := s.details()
	b := newTab(t)
	for _, path := range []string{"/sign-in", "/forgot"} {
		b.open(s.URL + "/dashboard" + path)
		b.accessible("/dashboard" + path)
	}
	b.open(invoice)
	b.sees("Paper")
	b.accessible("invoice")
	d := s.atDashboard()
	for _, path := range paths {
		d.open(s.URL + "/dashboard" + path)
		if words := eval[string](d, "document.body.innerText"); strings.Contains(words, "Page not found") {
			t.Errorf("%s is no page", path)
		}
		d.accessible("/dashboard" + path)
	}
}
