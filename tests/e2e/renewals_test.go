package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// advanceFar moves the clock over as many calls as it takes: one call does only so much work.
func advanceFar(t *testing.T, a *harness.Account, to time.Time) {
	t.Helper()
	for range 100 {
		response := a.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{
			"to": to.Format(time.RFC3339Nano),
		})
		if response.Status == 200 {
			return
		}
		response.Refuses(t, 409, "STATE_CONFLICT")
	}
	t.Fatal("the clock never arrives")
}

// all reads a list to its end, oldest first.
func all(t *testing.T, a *harness.Account, path string, query url.Values) (items []json.RawMessage) {
	t.Helper()
	query.Set("limit", "100")
	for {
		var page struct {
			Data       []json.RawMessage
			NextCursor *string
		}
		a.AsBackend(t, http.MethodGet, path+"?"+query.Encode(), nil).Want(t, 200).Into(t, &page)
		items = append(items, page.Data...)
		if page.NextCursor == nil || len(page.Data) == 0 {
			slices.Reverse(items)
			return items
		}
		query.Set("cursor", *page.NextCursor)
	}
}

var (
	idPattern      = regexp.MustCompile(`[a-z]{2,4}_[0-9a-z]{26}`)
	receiptPattern = regexp.MustCompile(`[0-9A-Z]{6}-([RCI])-`)
	secretPattern  = regexp.MustCompile(`/[0-9a-z]{52}\b`)
	slugPattern    = regexp.MustCompile(`plans-[0-9a-z]{12}`)
	timePattern    = regexp.MustCompile(`(T\d\d:\d\d):\d\d\.\d{3}Z`)
)

// books is everything that an account's subscription left behind, as text: ids named in the order in which they
// appear, and times cut to the minute, for the clock runs on while work is done.
func books(t *testing.T, a *harness.Account, customer string) string {
	t.Helper()
	var text strings.Builder
	for _, list := range []string{"/v1/events", "/v1/payments", "/v1/ledger/entries", "/v1/subscriptions"} {
		fmt.Fprintln(&text, list)
		rows := all(t, a, list, url.Values{})
		switch list {
		case "/v1/ledger/entries": // the legs of a posting have no order
			slices.SortStableFunc(rows, func(a, b json.RawMessage) int { return cmp.Compare(leg(t, a), leg(t, b)) })
		case "/v1/events": // nor have things that fall due together: an announcement is due when what it announces is done, which takes time
			slices.SortStableFunc(
				rows, func(a, b json.RawMessage) int { return cmp.Compare(happening(t, a), happening(t, b)) },
			)
		}
		for _, row := range rows {
			text.Write(append(row, '\n'))
		}
	}
	for _, path := range []string{"", "/explain"} {
		text.Write(
			append(a.AsBackend(t, http.MethodGet, "/v1/customer-access/"+customer+path, nil).Want(t, 200).Body, '\n'),
		)
	}
	names := map[string]string{}
	named := idPattern.ReplaceAllStringFunc(text.String(), func(id string) string {
		if names[id] == "" {
			prefix, _, _ := strings.Cut(id, "_")
			names[id] = fmt.Sprintf("%s_%d", prefix, len(names)+1)
		}
		return names[id]
	})
	named = secretPattern.ReplaceAllString(named, "/secret")
	named = slugPattern.ReplaceAllString(named, "plans")
	named = receiptPattern.ReplaceAllString(named, "ACCOUNT-$1-")
	return timePattern.ReplaceAllString(named, "$1")
}

// happening orders events by their minute, and within one by what they are.
func happening(t *testing.T, row json.RawMessage) string {
	t.Helper()
	var e struct{ CreatedAt, Type string }
	if err := json.Unmarshal(row, &e); err != nil {
		t.Fatal(err)
	}
	return timePattern.ReplaceAllString(e.CreatedAt, "$1") + e.Type
}

// leg orders ledger entries by when they were posted, and within a posting by what they are.
func leg(t *testing.T, row json.RawMessage) string {
	t.Helper()
	var e struct{ CreatedAt, PostingID, Kind, Account string }
	if err := json.Unmarshal(row, &e); err != nil {
		t.Fatal(err)
	}
	return e.CreatedAt + e.PostingID + e.Kind + e.Account
}

func TestThirteenMonthsInOneAdvanceAreThirteenAdvances(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]time.Time{
		"from the 31st":       time.Date(2027, 12, 31, 10, 0, 20, 0, time.UTC), // over a leap day
		"from the 29th":       time.Date(2027, 1, 29, 10, 0, 20, 0, time.UTC),
		"with a failing card": time.Date(2027, 3, 30, 10, 0, 20, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.Each(t, func(t *testing.T, app *harness.App) {
				live := func(steps int) string {
					a, customer := app.NewAccount(t), "ada"
					listing := plans(t, a, 14)
					advanceFar(t, a, start)
					card := harness.CardSucceeds
					if strings.Contains(name, "failing") {
						card = cardFailsLater
					}
					subscribe(t, a, listing, "basic", customer, card)
					for n := 1; n <= steps; n++ {
						advanceFar(t, a, start.AddDate(0, 0, 400*n/steps))
					}
					return books(t, a, customer)
				}
				once, often := live(1), live(13)
				if once != often {
					t.Errorf("the first difference:\n%s", difference(once, often))
				}
			})
		})
	}
}

func difference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range left {
		if i >= len(right) || left[i] != right[i] {
			other := "nothing"
			if i < len(right) {
				other = right[i]
			}
			return fmt.Sprintf("line %d of %d and %d\n%s\n%s", i, len(left), len(right), left[i], other)
		}
	}
	return "the second is longer"
}

// customerLife is one customer under random wishes, by way of the API.
type customerLife struct {
	*testing.T
	r       *rapid.T
	a       *harness.Account
	listing harness.Listing
	sub     subscribed
	// meter is the event by which the subscription's use is billed; "" where it is not.
	meter, name string
}

// TestAnyInterleavingKeepsEveryInvariant does random things to a customer with a subscription and has `sundry verify`
// look at all of the books after each.
func TestAnyInterleavingKeepsEveryInvariant(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		rapid.Check(t, func(r *rapid.T) {
			app, err := harness.Start(engine, nil) // of its own: what verify finds is of this case
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := app.Close(); err != nil {
					t.Error(err)
				}
			}()
			a := app.NewAccount(t)
			l := &customerLife{
				T: t, r: r, a: a, listing: plans(t, a, rapid.SampledFrom([]int{0, 14}).Draw(r, "trial")), name: "ada",
			}
			for duration, months := range map[string]any{"once": nil, "repeating": 2, "forever": nil} {
				a.AsCreator(t, http.MethodPost, "/v1/discounts", harness.JSON{"code": strings.ToUpper(duration),
					"percentOff": 30, "duration": duration, "durationInMonths": months}).Want(t, 201)
			}
			l.subscribe()
			r.Repeat(map[string]func(*rapid.T){
				"":           func(*rapid.T) { l.verify() },
				"time":       func(*rapid.T) { l.time() },
				"time again": func(*rapid.T) { l.time() },
				"card":       func(*rapid.T) { l.card() },
				"no card":    func(*rapid.T) { l.removeCard() },
				"pause":      func(*rapid.T) { l.ask("pause", nil) },
				"resume":     func(*rapid.T) { l.ask("resume", nil) },
				"cancel": func(*rapid.T) {
					l.ask("cancel",
						harness.JSON{"atPeriodEnd": rapid.IntRange(0, 5).Draw(r, "now") > 0})
				},
				"change":       func(*rapid.T) { l.change() },
				"refund":       func(*rapid.T) { l.refund() },
				"buy it again": func(*rapid.T) { l.subscribe() },
				"seats":        func(*rapid.T) { l.seats() },
				"refund again": func(*rapid.T) { l.refund() },
				"dispute":      func(*rapid.T) { l.answerDispute() },
				"grant":        func(*rapid.T) { l.grant() },
				"use credit":   func(*rapid.T) { l.useCredit() },
				"meter":        func(*rapid.T) { l.meterUse() },
				"use":          func(*rapid.T) { l.use() },
				"invoice":      func(*rapid.T) { l.invoice() },
			})
		})
	})
}

func (l *customerLife) subscribe() {
	if l.sub.ID != "" && !slices.Contains([]string{"canceled", "expired"}, subscription(l.T, l.a, l.sub.ID).Status) {
		return
	}
	plan := rapid.SampledFrom([]string{"basic", "studio"}).Draw(l.r, "plan")
	with := harness.JSON{"quantity": rapid.IntRange(1, 3).Draw(l.r, "quantity")}
	if code := rapid.SampledFrom([]string{"", "ONCE", "REPEATING", "FOREVER"}).Draw(l.r, "code"); code != "" {
		with["discountCode"] = code
	}
	session := l.a.NewSession(l.T, l.listing, plan, l.name, with)
	l.a.Pay(l.T, session, rapid.SampledFrom([]string{harness.CardSucceeds, cardFailsLater, harness.CardDisputed}).
		Draw(l.r, "card")).Want(l, 200)
	l.sub = subscription(l.T, l.a, text(l.T, l.a.Receipt(l.T, session)["subscriptionId"]))
	l.meter = ""
}

func (l *customerLife) seats() {
	l.ask("change", harness.JSON{
		"quantity":      rapid.IntRange(1, 5).Draw(l.r, "quantity"),
		"prorationMode": rapid.SampledFrom([]string{"charge_now", "next_period"}).Draw(l.r, "mode"),
	})
}

// answerDispute wins, loses or accepts one that waits for an answer.
func (l *customerLife) answerDispute() {
	var disputes struct{ Data []struct{ ID, Status string } }
	l.a.AsBackend(l, http.MethodGet, "/v1/disputes", nil).Want(l, 200).Into(l, &disputes)
	for _, d := range disputes.Data {
		if d.Status != "needs_response" {
			continue
		}
		how := rapid.SampledFrom([]string{"winning_evidence", "losing_evidence", ""}).Draw(l.r, "answer")
		if path := "/v1/disputes/" + d.ID; how == "" {
			l.allowed(l.a.AsBackend(l, http.MethodPost, path+"/accept", nil))
		} else {
			l.allowed(l.a.AsBackend(l, http.MethodPost, path+"/evidence", harness.JSON{"text": how}))
		}
		return
	}
}

func (l *customerLife) grant() {
	body := harness.JSON{"entitlements": []harness.JSON{{"key": "studio", "type": "boolean", "value": true}},
		"credits": []harness.JSON{{"key": "renders", "unit": "render", "amount": 5}}}
	if days := rapid.IntRange(0, 60).Draw(l.r, "days"); days > 0 {
		body["expiresAt"] = clockOf(l.T, l.a).AddDate(0, 0, days).Format(time.RFC3339)
	}
	l.allowed(l.a.AsBackend(l, http.MethodPost, "/v1/customer-access/"+l.name+"/grants", body))
}

func (l *customerLife) useCredit() {
	l.allowed(l.a.AsBackend(l, http.MethodPost, "/v1/customer-access/"+l.name+"/credits/consume", harness.JSON{
		"key": "renders", "amount": rapid.IntRange(1, 60).Draw(l.r, "amount"), "idempotencyKey": harness.Unique("use"),
	}))
}

// meterUse bills the subscription for calls.
func (l *customerLife) meterUse() {
	if l.meter != "" {
		return
	}
	make := func(path string, body harness.JSON) string {
		var made struct{ ID string }
		response := l.a.AsBackend(l, http.MethodPost, path, body)
		l.allowed(response)
		if response.Status == 201 {
			response.Into(l, &made)
		}
		return made.ID
	}
	name := harness.Unique("calls")
	meter := make("/v1/usage/meters", harness.JSON{"name": "Calls", "eventName": name,
		"aggregation": rapid.SampledFrom([]string{"SUM", "MAX", "LAST"}).Draw(l.r, "aggregation")})
	product := make("/v1/usage/products", harness.JSON{"name": "API access", "type": "SERVICE"})
	price := make("/v1/usage/prices", priceBody(product))
	if make("/v1/usage/billing-plans", harness.JSON{
		"subscriptionId": l.sub.ID, "meterId": meter, "priceId": price,
		"billingInterval": rapid.SampledFrom([]string{"day", "week", "month"}).Draw(l.r, "billing"),
	}) != "" {
		l.meter = name
	}
}

func (l *customerLife) use() {
	if l.meter == "" {
		return
	}
	ago := time.Duration(rapid.IntRange(0, 34*24).Draw(l.r, "hours ago")) * time.Hour
	response := l.a.AsBackend(l, http.MethodPost, "/v1/usage/events", harness.JSON{
		"subscriptionId": l.sub.ID, "meter": l.meter, "quantity": rapid.IntRange(0, 40).Draw(l.r, "calls"),
		"idempotencyKey": harness.Unique("report"), "timestamp": clockOf(l.T, l.a).Add(-ago).Format(time.RFC3339),
	})
	if response.Status != 202 {
		l.allowed(response)
	}
}

func (l *customerLife) invoice() {
	l.allowed(l.a.AsBackend(l, http.MethodPost, "/v1/invoices", harness.JSON{
		"customerId": l.sub.CustomerID, "currency": "eur", "periodStart": "2026-03-01", "periodEnd": "2026-03-31",
		"idempotencyKey": harness.Unique("invoice"), "lineItems": []harness.JSON{
			{"description": "Hours", "amountInCents": rapid.IntRange(0, 5000).Draw(l.r, "amount")},
		},
	}))
}

func (l *customerLife) time() {
	hours := rapid.IntRange(1, 40*24).Draw(l.r, "hours")
	advanceFar(l.T, l.a, clockOf(l.T, l.a).Add(time.Duration(hours)*time.Hour))
}

func (l *customerLife) card() {
	number := rapid.SampledFrom([]string{
		harness.CardSucceeds, harness.CardTimesOut, harness.CardAsksAlways, harness.CardStaysPending, cardFailsLater,
		harness.CardDeclined, harness.CardDisputed,
	}).Draw(l.r, "number")
	l.allowed(
		l.a.AsBackend(
			l, http.MethodPost, "/v1/sandbox/customers/"+l.sub.CustomerID+"/cards", harness.JSON{"cardNumber": number},
		),
	)
}

func (l *customerLife) removeCard() {
	path := "/v1/customers/" + l.sub.CustomerID + "/payment-methods"
	var cards struct{ Data []struct{ ID string } }
	l.a.AsBackend(l, http.MethodGet, path, nil).Want(l, 200).Into(l, &cards)
	if len(cards.Data) > 0 {
		l.allowed(l.a.AsBackend(l, http.MethodDelete, path+"/"+cards.Data[0].ID, nil))
	}
}

func (l *customerLife) ask(what string, body any) {
	l.allowed(l.a.AsBackend(l, http.MethodPost, "/v1/subscriptions/"+l.sub.ID+"/"+what, body))
}

func (l *customerLife) change() {
	l.ask("change", harness.JSON{
		"plan":          rapid.SampledFrom([]string{"basic", "studio"}).Draw(l.r, "plan"),
		"interval":      rapid.SampledFrom([]string{"month", "year"}).Draw(l.r, "interval"),
		"prorationMode": rapid.SampledFrom([]string{"charge_now", "next_period"}).Draw(l.r, "mode"),
	})
}

func (l *customerLife) refund() {
	paid := all(l.T, l.a, "/v1/payments", url.Values{"status": {"succeeded"}})
	if len(paid) == 0 {
		return
	}
	var p struct {
		ID            string
		AmountInCents int64
	}
	if err := json.Unmarshal(paid[rapid.IntRange(0, len(paid)-1).Draw(l.r, "payment")], &p); err != nil {
		l.Fatal(err)
	}
	body := harness.JSON{"paymentId": p.ID, "reason": "asked", "keepAccess": rapid.Bool().Draw(l.r, "keep")}
	if to := rapid.SampledFrom([]string{"", "keep", "cancel_now", "cancel_at_period_end"}).Draw(l.r, "to"); to != "" {
		body["subscription"] = to
	}
	if rapid.Bool().Draw(l.r, "part") && p.AmountInCents > 1 {
		body["amountInCents"] = p.AmountInCents / 2
	}
	l.allowed(l.a.AsBackend(l, http.MethodPost, "/v1/refunds", body))
}

// allowed accepts what was done and what was refused with a reason; anything else is a fault of ours.
func (l *customerLife) allowed(response *harness.Response) {
	if !slices.Contains([]int{200, 201, 204, 400, 402, 404, 409}, response.Status) {
		l.r.Fatalf("%d: %s", response.Status, response.Body)
	}
}

// verify waits for what is due now to be done, so that no task is half way, and verifies everything.
func (l *customerLife) verify() {
	violations, err := l.a.Program.Verify(context.Background())
	if err != nil {
		l.r.Fatal(err)
	}
	if len(violations) > 0 {
		l.r.Fatalf("%v", violations)
	}
	if failed := tasksOf(l.T, l.a, "failed"); len(failed) > 0 {
		l.r.Fatalf("work that fails: %+v", failed)
	}
}

// TestAccessThatARefundKeepsIsSound refunds a change of plan, and then what else the period was paid by, which leaves
// the access.
func TestAccessThatARefundKeepsIsSound(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil)
		a := app.NewAccount(t)
		sub := subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+sub.ID+"/change",
			harness.JSON{"plan": "studio", "interval": "month", "prorationMode": "charge_now"}).Want(t, 200)
		paid := all(t, a, "/v1/payments", url.Values{"status": {"succeeded"}})
		if len(paid) != 2 {
			t.Fatalf("%d payments, want that of the checkout and that of the change", len(paid))
		}
		for i, keep := range []bool{false, true} { // newest first
			var p struct{ ID string }
			if err := json.Unmarshal(paid[i], &p); err != nil {
				t.Fatal(err)
			}
			a.AsBackend(t, http.MethodPost, "/v1/refunds", harness.JSON{
				"paymentId": p.ID, "reason": "asked", "keepAccess": keep, "subscription": "keep",
			}).Want(t, 201)
		}
		verified(t, app)
	})
}
