package e2e_test

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
)

var listedOrder = regexp.MustCompile(`href="/dashboard/orders/(pay_[a-z0-9]+)"`)

// orders are the payments that a page lists.
func ordersOn(page *harness.Page) (ids []string) {
	for _, m := range listedOrder.FindAllStringSubmatch(page.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

var pageRow = regexp.MustCompile(`(?s)<tr>(.*?)</tr>`)

// rowWith is the text of the table row that contains some words; "" for none.
func rowWith(page *harness.Page, words string) string {
	for _, m := range pageRow.FindAllStringSubmatch(page.Body, -1) {
		text := html.UnescapeString(regexp.MustCompile(`<[^>]+>`).ReplaceAllString(m[1], " "))
		if strings.Contains(m[1], words) || strings.Contains(text, words) {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return ""
}

func TestOrdersShowRefundsAndDisputes(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		book := w.book(t, 2900)
		pay := func(card string) string {
			_, receipt := w.sell(t, book, card, nil)
			return text(t, receipt["paymentId"])
		}
		orders := map[string]string{
			"Paid": pay(harness.CardSucceeds), "Refunded": pay(harness.CardSucceeds),
			"Partly refunded": pay(harness.CardSucceeds), "Disputed": pay(cardDisputed), "Dispute lost": pay(cardDisputed),
		}
		won := pay(cardDisputed)
		w.refund(t, orders["Refunded"], 0).Want(t, 201)
		w.refund(t, orders["Partly refunded"], 1000).Want(t, 201)
		w.disputeOf(t, orders["Disputed"])
		for payment, evidence := range map[string]string{orders["Dispute lost"]: "losing_evidence", won: "winning_evidence"} {
			w.AsBackend(t, post, "/v1/disputes/"+w.disputeOf(t, payment)+"/evidence", JSON{"text": evidence}).Want(t, 200)
		}
		v := w.Visit(t)
		filters := map[string]string{
			"Paid": "paid", "Refunded": "refunded", "Partly refunded": "partly_refunded", "Disputed": "disputed",
			"Dispute lost": "dispute_lost",
		}
		home, list := v.Open(t, "/dashboard"), v.Open(t, "/dashboard/orders")
		for status, id := range orders {
			for at, page := range map[string]*harness.Page{"Home": home, "Orders": list} {
				if row := rowWith(page, id); !strings.Contains(row, " "+status+" ") {
					t.Errorf("%s shows the %s order as %q", at, status, row)
				}
			}
			want := []string{id}
			if status == "Paid" {
				want = []string{won, id}
			}
			if got := ordersOn(v.Open(t, "/dashboard/orders?status="+filters[status])); !slices.Equal(got, want) {
				t.Errorf("the filter %s finds %v, want %v", status, got, want)
			}
			if page := v.Open(t, "/dashboard/orders/"+id).Body; !strings.Contains(page, ">"+status+"</span></h1>") {
				t.Errorf("the page of the %s order has another badge", status)
			}
		}
		customer := w.AsBackend(t, get, "/v1/payments/"+orders["Disputed"], nil).Want(t, 200).Map(t)["customerId"]
		_, bought, _ := strings.Cut(v.Open(t, "/dashboard/customers/"+text(t, customer)).Body, "<h2>Orders</h2>")
		if row := rowWith(&harness.Page{Body: bought}, orders["Disputed"]); !strings.Contains(row, "Disputed") {
			t.Errorf("the customer's page shows %q", row)
		}
	})
}

func TestEarningsCountRefundsAndDisputes(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		buyer := JSON{"customer": JSON{"country": "DE"}}
		sell := func(card string) string {
			_, receipt := w.sell(t, w.book(t, 11900), card, buyer)
			return text(t, receipt["paymentId"])
		}
		v := w.Visit(t)
		for name, c := range map[string]struct {
			after func() string
			lines map[string]string
		}{
			"a sale": {
				func() string { return sell(harness.CardSucceeds) },
				map[string]string{"Buyer paid": "€119.00", "Tax": "−€19.00", "Sundry’s fee": "−€5.95", "You get": "€94.05"},
			},
			"a refund": {
				func() string {
					id := sell(harness.CardSucceeds)
					w.refund(t, id, 5950).Want(t, 201)
					return id
				},
				map[string]string{
					"Buyer paid": "€119.00", "Refunded": "−€59.50", "Tax in the refund": "€9.50", "You get": "€44.05",
				},
			},
			"a dispute": {
				func() string {
					id := sell(cardDisputed)
					w.disputeOf(t, id)
					return id
				},
				map[string]string{"Disputed": "−€119.00", "Tax in the dispute": "€19.00", "You get": "−€5.95"},
			},
		} {
			page := v.Open(t, "/dashboard/orders/"+c.after())
			_, earned, _ := strings.Cut(page.Body, "<h2>Earnings</h2>")
			earned, _, _ = strings.Cut(earned, "</section>")
			for line, amount := range c.lines {
				row := rowWith(&harness.Page{Body: earned}, ">"+line+"<")
				if row != line+" "+amount {
					t.Errorf("%s: %q, want %q", name, row, line+" "+amount)
				}
			}
			for _, raw := range []string{"requested_by_customer", "dispute_opened", "creator_pending"} {
				if strings.Contains(page.Body, raw) {
					t.Errorf("%s: the page shows %s", name, raw)
				}
			}
		}
	})
}

func TestCustomersAreShownInWords(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, email := app.NewAccount(t), harness.Unique("lena")+"@buyer.example"
		club := plans(t, a, 0)
		buy := func() JSON {
			session := a.NewSession(t, club, "basic", "", JSON{
				"catalog": nil, "listingId": club.ID, "externalCustomerId": nil, "customer": JSON{"country": "US"},
			})
			return a.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
				JSON{"cardNumber": harness.CardSucceeds, "email": email}).Want(t, 200).Map(t)
		}
		first, second := buy(), buy()
		v := a.Visit(t)
		list := v.Open(t, "/dashboard/customers")
		if row := rowWith(list, text(t, first["customerId"])); !strings.Contains(row, "one of 2 with this email") ||
			!strings.Contains(row, "United States") {
			t.Errorf("the list shows %q", row)
		}
		page := v.Open(t, "/dashboard/customers/"+text(t, first["customerId"]))
		for _, words := range []string{
			"Studio – basic", "Subscription started", "United States", "<h2>Same email</h2>",
			"/dashboard/customers/" + text(t, second["customerId"]), "Plans, entitlements, credits",
		} {
			if !strings.Contains(page.Body, words) {
				t.Errorf("the page lacks %q", words)
			}
		}
		for _, raw := range []string{"activePlans", " / basic", "sub_", `data-copy="–"`} {
			shown := regexp.MustCompile(`href="[^"]*"|id="[^"]*"`).ReplaceAllString(page.Body, "")
			if strings.Contains(shown, raw) {
				t.Errorf("the page shows %q", raw)
			}
		}
		order := v.Open(t, "/dashboard/orders/"+text(t, first["paymentId"])).Body
		if !strings.Contains(order, "None, not registered in United States") || strings.Contains(order, ">US<") {
			t.Errorf("the order shows codes: %s", order)
		}
	})
}

func TestTheNextPayoutIsAnnounced(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app).startOver(t)
		w.sell(t, w.book(t, 20000), harness.CardSucceeds, nil)
		v := w.Visit(t)
		next := func() string {
			t.Helper()
			_, stat, _ := strings.Cut(v.Open(t, "/dashboard/balance").Body, "<dt>Next payout</dt>")
			stat, _, _ = strings.Cut(stat, "</dd>")
			return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]+>`).ReplaceAllString(stat, " "))), " ")
		}
		if got := next(); got != "– When you ask for it" {
			t.Errorf("without a schedule: %q", got)
		}
		w.AsCreator(t, patch, "/v1/creator", JSON{"payoutSchedule": "daily"}).Want(t, 200)
		if got := next(); !strings.HasPrefix(got, "– ") || !strings.Contains(got, "at the earliest, from €10.00") {
			t.Errorf("while all is pending: %q", got)
		}
		w.AsCreator(t, patch, "/v1/creator", JSON{"payoutSchedule": "monthly"}).Want(t, 200)
		w.AsBackend(t, post, "/v1/sandbox/clock/advance", JSON{"seconds": 8 * 86400}).Want(t, 200)
		announced := next()
		amount, _, _ := strings.Cut(announced, " ")
		if !strings.HasPrefix(amount, "€1") {
			t.Fatalf("what is available: %q", announced)
		}
		w.AsBackend(t, post, "/v1/sandbox/clock/advance", JSON{"seconds": 31 * 86400}).Want(t, 200)
		if page := v.Open(t, "/dashboard/balance").Body; !strings.Contains(page, amount+"</a>") {
			t.Errorf("%s was announced, and not paid out: %s", amount, page)
		}
	})
}
