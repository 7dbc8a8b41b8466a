package browser

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"sundry/tests/harness"
)

// No page makes a request to another host: nobody else learns who buys and who sells. The creator's logo and a
// picture of the listing are on one.
func TestNoPageAsksAnotherHost(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	ours, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{
		"logoUrl": "https://pictures.example/logo.png", "accentColor": "#4f46e5",
		"supportEmail": "help@workshop.example", "refundPolicy": "14 days.",
	}).Want(t, http.StatusOK)
	s.AsCreator(t, http.MethodPatch, "/v1/listings/"+s.book.ID,
		harness.JSON{"metadata": harness.JSON{"imageUrl": "https://pictures.example/cover.png"}}).Want(t, http.StatusOK)
	member, customerID := subscriber(t)
	paid := s.session(s.book, nil)
	receipt := s.pay(paid, harness.CardSucceeds).Want(t, http.StatusOK).Map(t)
	lesson := s.sell(s.single, harness.JSON{
		"appointmentSlot": harness.JSON{"startsAt": s.open(s.single, s.fullDay())[0], "timezone": newYork},
	})
	s.pay(lesson, harness.CardSucceeds).Want(t, http.StatusOK)
	booked := s.AsBackend(t, http.MethodGet, "/v1/appointments/"+s.booked(lesson)[0]["id"].(string), nil).Want(t,
		http.StatusOK).Map(t)
	inv := member.AsBackend(t, http.MethodGet, "/v1/invoices", nil).Want(t,
		http.StatusOK).Map(t)["data"].([]any)[0].(map[string]any)
	setup := member.AsBackend(t, http.MethodPost, "/v1/card-setup-sessions",
		harness.JSON{"customerId": customerID, "returnUrl": s.site + "/account"}).
		Want(t, http.StatusCreated).Map(t)
	link := s.AsCreator(t, http.MethodPost, "/v1/payment-links", harness.JSON{"listingId": s.book.ID}).Want(t,
		http.StatusCreated).Map(t)

	b := newTab(t)
	var mu sync.Mutex
	var asked, others []string
	if err := chromedp.Listen(b.ctx, func(event any) {
		request, ok := event.(*network.EventRequestWillBeSent)
		if !ok {
			return
		}
		to, err := url.Parse(request.Request.URL)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, request.Request.URL)
		if err != nil || to.Host != ours.Host && to.Scheme != "data" {
			others = append(others, request.DocumentURL+" asks "+request.Request.URL)
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.expectConsole("status of 404") // the pictures' host does not exist
	for _, page := range []struct{ name, address, sees string }{
		{"checkout", s.checkout(s.book), "Card number"},
		{"calendar", s.sell(s.single, nil)["checkoutUrl"].(string), "Choose a time"},
		{"paid checkout", paid["checkoutUrl"].(string) + "?already=1", "already paid"},
		{"link", link["url"].(string), "Card number"},
		{"receipt", receipt["receiptUrl"].(string), "Amount paid"},
		{"appointment", booked["manageUrl"].(string), "Portfolio review"},
		{"invoice", inv["hostedUrl"].(string), "Invoice"},
		{"portal", member.portal(customerID), "Your purchases from"},
		{"card setup", setup["hostedUrl"].(string), "You authorize"},
	} {
		b.open(page.address)
		b.sees(page.sees)
		b.wait(`document.readyState === "complete"`)
	}
	s.signIn(b)
	for _, path := range []string{"/", "/docs", "/dashboard", "/dashboard/listings/" + s.book.ID, "/dashboard/settings",
		"/dashboard/bookings/week"} {
		b.open(s.URL + path)
		b.wait(`document.readyState === "complete"`)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(others) > 0 {
		t.Errorf("requests to other hosts: %v", others)
	}
	if !slices.ContainsFunc(asked, func(address string) bool { return strings.HasPrefix(address, s.URL+"/images/") }) {
		t.Errorf("no picture was asked for: %v", asked)
	}
}
