package e2e_test

import (
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// TestDashboard_RefundsChosenOrders refunds three orders at once, of which a dispute has one: the sums are asked for,
// each has its own result, and the same form again changes nothing.
func TestDashboard_RefundsChosenOrders(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		book := w.book(t, 2900)
		pay := func(card string) string {
			_, receipt := w.sell(t, book, card, nil)
			return text(t, receipt["paymentId"])
		}
		first, second, disputed := pay(harness.CardSucceeds), pay(harness.CardSucceeds), pay(cardDisputed)
		harness.Eventually(t, "the dispute is known", func() bool {
			return app.Count(t, "SELECT COUNT(*) FROM disputes WHERE creator_id = $1", w.ID) == 1
		})
		v := w.Visit(t)
		list := v.Open(t, "/dashboard/orders")
		for _, id := range []string{first, second} {
			if !strings.Contains(list.Body, `type="checkbox" name="id" value="`+id+`" form="bulk"`) {
				t.Errorf("the list has no box for %s", id)
			}
		}
		ids := url.Values{"id": {first, second, disputed, first, "pay_nobody"}}.Encode()
		asks := html.UnescapeString(v.Open(t, "/dashboard/orders/refunds?"+ids).Body)
		for _, want := range []string{"Refund 2 orders", "€58.00", "It’s disputed"} {
			if !strings.Contains(asks, want) {
				t.Errorf("the confirmation lacks %q:\n%s", want, asks)
			}
		}
		_, once, _ := strings.Cut(asks, `name="once" value="`)
		once, _, _ = strings.Cut(once, `"`)
		token := v.Token(t)
		send := func() *harness.Page { // as a browser that sends the form of the confirmation again
			return v.Post(t, "/dashboard/orders/refunds", "id", first, "id", second, "id", disputed, "once", once, "reason",
				"requested_by_customer", "token", token)
		}
		send()
		advance(t, w.Account, time.Second)
		again := send()
		if !strings.Contains(again.Body, "3 of 3 are done.") || strings.Count(again.Body, ">Refunded<") != 2 ||
			!strings.Contains(again.Body, "Not refunded") {
			t.Errorf("the results:\n%s", again.Body)
		}
		if n := app.Count(t, "SELECT COUNT(*) FROM refunds WHERE creator_id = $1", w.ID); n != 2 {
			t.Errorf("%d refunds, want 2", n)
		}
		if empty := v.Open(t, "/dashboard/orders/refunds"); empty.Path != "/dashboard/orders" {
			t.Errorf("without a choice it leads to %s", empty.Path)
		}
		verified(t, app)
	})
}

func TestDashboard_ArchivesChosenListings(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		one, other := w.book(t, 2900), w.book(t, 900)
		v := w.Visit(t)
		ids := url.Values{"id": {one.ID, other.ID}}.Encode()
		if page := v.Open(t, "/dashboard/listings/archive?"+ids); !strings.Contains(page.Body, "Archive 2 listings") {
			t.Errorf("the confirmation:\n%s", page.Body)
		}
		send := func() *harness.Page {
			v.Open(t, "/dashboard/listings/archive?"+url.Values{"id": {w.listing.ID}}.Encode())
			return v.Send(t, "/dashboard/listings/archive", "id", one.ID, "id", other.ID)
		}
		if done := send(); !strings.Contains(done.Body, "2 listings archived.") {
			t.Errorf("the result:\n%s", done.Body)
		}
		if again := send(); !strings.Contains(again.Body, "0 listings archived.") {
			t.Errorf("again:\n%s", again.Body)
		}
		for id, want := range map[string]string{one.ID: "ARCHIVED", other.ID: "ARCHIVED", w.listing.ID: "ACTIVE"} {
			if got := w.AsCreator(t, get, "/v1/listings/mine/"+id, nil).Want(t, 200).Map(t)["status"]; got != want {
				t.Errorf("%s is %v, want %s", id, got, want)
			}
		}
	})
}
