package e2e_test

import (
	"net/url"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// groupOf is a part of a page, by its heading; "" for none.
func groupOf(page *harness.Page, title string) string {
	_, part, found := strings.Cut(page.Body, "<h2>"+title+"</h2>")
	if !found {
		return ""
	}
	part, _, _ = strings.Cut(part, "</section>")
	return part
}

func TestSearchFindsEverythingOfTheAccount(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		book := w.book(t, 2900)
		session := w.NewSession(t, book, "default", harness.Unique("user"), nil)
		receipt := w.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", JSON{
			"cardNumber": harness.CardSucceeds, "email": "Grace.Hopper@example.com",
		}).Want(t, 200).Map(t)
		paymentID, customerID := text(t, receipt["paymentId"]), text(t, receipt["customerId"])
		w.refund(t, paymentID, 0).Want(t, 201)
		sale := w.AsBackend(t, get, "/v1/payments/"+paymentID, nil).Want(t, 200).Map(t)
		v := w.Visit(t)
		find := func(words string) *harness.Page {
			return v.Open(t, "/dashboard/search?q="+url.QueryEscape(words))
		}
		order, owner := `href="/dashboard/orders/`+paymentID+`"`, `href="/dashboard/customers/`+customerID+`"`
		for _, words := range []string{"grace.h", "HOPPER@", "hopper@example"} {
			page := find(words)
			if !strings.Contains(groupOf(page, "Orders"), order) || !strings.Contains(groupOf(page, "Customers"), owner) {
				t.Errorf("%q finds %s", words, page.Body)
			}
		}
		number := text(t, sale["receiptNumber"])
		for _, words := range []string{number, strings.ToLower(number), number[strings.Index(number, "-")+1:], "1"} {
			if page := find(words); !strings.Contains(groupOf(page, "Orders"), order) {
				t.Errorf("%q does not find the order: %s", words, page.Body)
			}
		}
		if page := find("C-1"); !strings.Contains(groupOf(page, "Orders"), order) {
			t.Errorf("the credit note does not lead to the order: %s", page.Body)
		}
		const title = "Type specimens"
		if page := find(title[1:]); !strings.Contains(groupOf(page, "Listings"), "/dashboard/listings/"+book.ID) {
			t.Errorf("%q does not find the listing: %s", title[1:], page.Body)
		}
		for id, want := range map[string]string{
			paymentID: "/dashboard/orders/" + paymentID, customerID: "/dashboard/customers/" + customerID,
			book.ID: "/dashboard/listings/" + book.ID,
		} {
			if page := find(id); page.Path != want || page.Status != 200 {
				t.Errorf("%s leads to %s (%d), want %s", id, page.Path, page.Status, want)
			}
		}
		other := app.NewAccount(t).Visit(t)
		for _, words := range []string{"grace.h", number, paymentID, customerID, book.ID, title} {
			page := other.Open(t, "/dashboard/search?q="+url.QueryEscape(words))
			if page.Status != 200 || strings.Contains(page.Body, paymentID) && words != paymentID ||
				!strings.Contains(page.Body, "Nothing found") {
				t.Errorf("another account finds %q: %d %s", words, page.Status, page.Body)
			}
		}
	})
}

func TestCustomersAndOrdersLeadToEachOther(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		book := w.book(t, 2900)
		_, receipt := w.sell(t, book, harness.CardSucceeds, nil)
		paymentID, customerID := text(t, receipt["paymentId"]), text(t, receipt["customerId"])
		w.refund(t, paymentID, 900).Want(t, 201)
		v := w.Visit(t)
		timeline := groupOf(v.Open(t, "/dashboard/customers/"+customerID), "Timeline")
		paid, refunded := strings.Index(timeline, "Paid €29.00"), strings.Index(timeline, "Refunded €9.00")
		if refunded < 0 || paid < refunded || strings.Count(timeline, "/dashboard/orders/"+paymentID) != 2 {
			t.Errorf("the timeline is not the refund and then the payment: %s", timeline)
		}
		if page := v.Open(t, "/dashboard/orders/"+paymentID).Body; !strings.Contains(page, "/dashboard/listings/"+book.ID) ||
			!strings.Contains(page, "/dashboard/customers/"+customerID) {
			t.Errorf("the order leads to neither listing nor customer: %s", page)
		}
		list := v.Open(t, "/dashboard/orders?from=2000-01-01&until=2999-12-31")
		for _, want := range []string{"<dt>Orders</dt><dd>1</dd>", "€29.00", "€9.00 refunded"} {
			if !strings.Contains(list.Body, want) {
				t.Errorf("the totals lack %q: %s", want, list.Body)
			}
		}
		if page := v.Open(t, "/dashboard/orders?until=2000-01-01"); len(ordersOn(page)) != 0 {
			t.Errorf("orders of before 2000: %v", ordersOn(page))
		}
	})
}
