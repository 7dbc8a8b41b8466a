package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// life is an account under random wishes, by way of the API.
type life struct {
	*testing.T
	r *rapid.T
	a *harness.Account

	mu     sync.Mutex
	faults []string
	// unavailable allows responses that something which the program needs is away.
	unavailable bool
	// opened are the checkout sessions that were made.
	opened []harness.Session
}

// customerLife is that of one customer with a subscription.
type customerLife struct {
	*life
	listing harness.Listing
	sub     subscribed
	// meter is the event by which the subscription's use is billed; "" where it is not.
	meter, name string
}

// wish sends a request that was drawn. It may run beside others.
type wish func()

// TestAnyInterleavingKeepsEveryInvariant does random things to a customer with a subscription, one after another and
// several at once, and has `sundry verify` look at all of the books after each.
func TestAnyInterleavingKeepsEveryInvariant(t *testing.T) {
	t.Parallel()
	eachLife(t, func(one *life) {
		l := &customerLife{life: one, name: "ada"}
		l.listing = plans(l.T, l.a, rapid.SampledFrom([]int{0, 14}).Draw(l.r, "trial"))
		for duration, months := range map[string]any{"once": nil, "repeating": 2, "forever": nil} {
			l.a.AsCreator(l, http.MethodPost, "/v1/discounts", harness.JSON{"code": strings.ToUpper(duration),
				"percentOff": 30, "duration": duration, "durationInMonths": months}).Want(l, 201)
		}
		l.subscribe()
		wishes := map[string]func() wish{
			"time": l.time, "time again": l.time, "card": l.card, "no card": l.removeCard, "cancel": l.cancel,
			"pause": l.pause, "resume": l.resume, "change": l.change, "seats": l.seats, "refund": l.refund,
			"refund again": l.refund, "dispute": l.answerDispute, "grant": l.grant, "use credit": l.useCredit,
			"use": l.use, "invoice": l.invoice, "edit": l.edit, "quoted change": l.quotedChange,
		}
		l.live(wishes, map[string]func(*rapid.T){
			"":             func(*rapid.T) { l.verify() },
			"buy it again": func(*rapid.T) { l.subscribe() },
			"meter":        func(*rapid.T) { l.meterUse() },
		})
	})
}

// eachLife runs random lives on each engine, each of an account of a program of its own: what verify finds is of it.
func eachLife(t *testing.T, live func(*life)) {
	t.Helper()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		rapid.Check(t, func(r *rapid.T) { liveOn(t, r, engine, nil, live) })
	})
}

// liveOn runs a life on a program of its own, which has environment variables.
func liveOn(t *testing.T, r *rapid.T, engine testdb.Engine, vars map[string]string, live func(*life)) {
	t.Helper()
	app, err := harness.Start(engine, vars)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := app.Close(); err != nil {
			t.Error(err)
		}
	}()
	live(&life{T: t, r: r, a: app.NewAccount(t)})
}

// live does the wishes, alone and several at once, between the other steps.
func (l *life) live(wishes map[string]func() wish, steps map[string]func(*rapid.T)) {
	names := slices.Sorted(maps.Keys(wishes))
	for name, draw := range wishes {
		steps[name] = func(*rapid.T) { draw()() }
	}
	for _, name := range []string{"at once", "at once again", "at once once more"} {
		steps[name] = func(*rapid.T) {
			var all sync.WaitGroup
			for range rapid.IntRange(2, 4).Draw(l.r, "wishes") {
				all.Go(wishes[rapid.SampledFrom(names).Draw(l.r, "wish")]())
			}
			all.Wait()
		}
	}
	l.r.Repeat(steps)
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

func (l *customerLife) time() wish {
	return l.wait(time.Duration(rapid.IntRange(1, 40*24).Draw(l.r, "hours")) * time.Hour)
}

// wait moves the account's clock.
func (l *life) wait(d time.Duration) wish { return l.until(clockOf(l.T, l.a).Add(d)) }

// until moves the account's clock to an instant.
func (l *life) until(to time.Time) wish {
	return func() {
		for range 100 { // one call does only so much work, and another may be under way
			response := l.a.AsBackend(l, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{
				"to": to.Format(time.RFC3339Nano),
			})
			if l.allowed(response); response.Status != http.StatusConflict { // 400 where another has moved it further
				return
			}
		}
		l.Error("the clock never arrives")
	}
}

// post is the wish of a request whose refusal is as good as its effect.
func (l *life) post(path string, body any) wish {
	return func() {
		l.request(harness.Request{Method: http.MethodPost, Path: path, Body: body, Bearer: l.a.Key})
	}
}

// request sends one whose refusal is as good as its effect.
func (l *life) request(r harness.Request) {
	send := l.a.Ask
	if l.unavailable {
		send = l.a.AskUnjudged
	}
	l.allowed(send(l, r))
}

func (l *customerLife) ask(what string, body any) wish {
	return l.post("/v1/subscriptions/"+l.sub.ID+"/"+what, body)
}

func (l *customerLife) pause() wish { return l.ask("pause", nil) }

func (l *customerLife) resume() wish { return l.ask("resume", nil) }

func (l *customerLife) cancel() wish {
	return l.ask("cancel", harness.JSON{"atPeriodEnd": rapid.IntRange(0, 5).Draw(l.r, "now") > 0})
}

func (l *customerLife) card() wish {
	return l.post("/v1/sandbox/customers/"+l.sub.CustomerID+"/cards", harness.JSON{
		"cardNumber": rapid.SampledFrom([]string{
			harness.CardSucceeds, harness.CardTimesOut, harness.CardAsksAlways, harness.CardStaysPending, cardFailsLater,
			harness.CardDeclined, harness.CardDisputed,
		}).Draw(l.r, "number"),
	})
}

func (l *customerLife) removeCard() wish {
	return func() {
		path := "/v1/customers/" + l.sub.CustomerID + "/payment-methods"
		var cards struct{ Data []struct{ ID string } }
		l.a.AsBackend(l, http.MethodGet, path, nil).Want(l, 200).Into(l, &cards)
		if len(cards.Data) > 0 {
			l.allowed(l.a.AsBackend(l, http.MethodDelete, path+"/"+cards.Data[0].ID, nil))
		}
	}
}

func (l *customerLife) change() wish {
	return l.ask("change", harness.JSON{
		"plan":          rapid.SampledFrom([]string{"basic", "studio"}).Draw(l.r, "plan"),
		"interval":      rapid.SampledFrom([]string{"month", "year"}).Draw(l.r, "interval"),
		"prorationMode": rapid.SampledFrom([]string{"charge_now", "next_period"}).Draw(l.r, "mode"),
	})
}

// quotedChange looks at what a change costs, and makes it at that.
func (l *customerLife) quotedChange() wish {
	body := harness.JSON{
		"plan":          rapid.SampledFrom([]string{"basic", "studio"}).Draw(l.r, "plan"),
		"prorationMode": rapid.SampledFrom([]string{"charge_now", "next_period"}).Draw(l.r, "mode"),
		"quantity":      rapid.IntRange(1, 3).Draw(l.r, "quantity"),
	}
	path := "/v1/subscriptions/" + l.sub.ID + "/change"
	return func() {
		preview := l.a.AsBackend(l, http.MethodPost, path+"/preview", body)
		if l.allowed(preview); preview.Status == http.StatusOK {
			quoted := maps.Clone(body)
			quoted["quoteId"] = preview.Map(l)["quoteId"]
			l.allowed(l.a.AsBackend(l, http.MethodPost, path, quoted))
		}
	}
}

// edit sells a plan at another price, with other credits.
func (l *customerLife) edit() wish {
	key := rapid.SampledFrom([]string{"basic", "studio"}).Draw(l.r, "plan")
	path := "/v1/listings/" + l.listing.ID + "/plans/" + key
	body := renewingPlan(key, rapid.SampledFrom([]int{0, 14}).Draw(l.r, "trial"),
		eur("month", rapid.IntRange(500, 4000).Draw(l.r, "price")), eur("year", 30000))
	body["credits"] = []harness.JSON{{"key": "renders", "unit": "render",
		"amount": rapid.SampledFrom([]int{40, 100}).Draw(l.r, "credits"), "renews": true}}
	return func() { l.allowed(l.a.AsCreator(l, http.MethodPut, path, body)) }
}

func (l *customerLife) seats() wish {
	return l.ask("change", harness.JSON{
		"quantity":      rapid.IntRange(1, 5).Draw(l.r, "quantity"),
		"prorationMode": rapid.SampledFrom([]string{"charge_now", "next_period"}).Draw(l.r, "mode"),
	})
}

func nothing() {}

// opens makes a checkout session that can be made.
func (l *life) opens(body harness.JSON) (session harness.Session, made bool) {
	response := l.a.AsBackend(l, http.MethodPost, "/v1/checkout-sessions", body)
	if l.allowed(response); response.Status != http.StatusCreated {
		return session, false
	}
	response.Into(l, &session)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened = append(l.opened, session)
	return session, true
}

// session draws one of the last that were opened, and is false where none was.
func (l *life) session() (harness.Session, bool) {
	if len(l.opened) == 0 {
		return harness.Session{}, false
	}
	return l.opened[rapid.IntRange(max(0, len(l.opened)-4), len(l.opened)-1).Draw(l.r, "session")], true
}

func (l *life) payWith(session harness.Session, card, email string) {
	l.allowed(l.a.AsBackend(l, http.MethodPost, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
		harness.JSON{"cardNumber": card, "email": email}))
}

// pay pays a session that was opened, with a card of any kind.
func (l *life) pay() wish {
	session, ok := l.session()
	if !ok {
		return nothing
	}
	card := rapid.SampledFrom([]string{
		harness.CardSucceeds, harness.CardSucceeds, harness.CardSucceeds, harness.CardTimesOut, harness.CardAsksAlways,
		harness.CardStaysPending, harness.CardDeclined, harness.CardDisputed,
	}).Draw(l.r, "card")
	return func() { l.payWith(session, card, "ada@buyer.example") }
}

func (l *life) expire() wish {
	if session, ok := l.session(); ok {
		return l.post("/v1/checkout-sessions/"+session.ID+"/expire", nil)
	}
	return nothing
}

// disputed are the payments that were ever disputed.
func (l *life) disputed() map[string]bool {
	payments := map[string]bool{}
	for _, d := range allAs[struct{ PaymentID string }](l.T, l.a, "/v1/disputes", url.Values{}) {
		payments[d.PaymentID] = true
	}
	return payments
}

// sources lists the payments, subscriptions and grants that give plans under a name.
func (l *life) sources(name string) map[string]bool {
	gives := map[string]bool{}
	plans, _ := l.a.Access(l, name)["activePlans"].([]any)
	for _, one := range plans {
		gives[fmt.Sprint(one.(map[string]any)["sourceId"])] = true
	}
	return gives
}

func (l *life) refund() wish {
	type payment struct {
		ID            string
		AmountInCents int64
	}
	paid := allAs[payment](l.T, l.a, "/v1/payments", url.Values{"status": {"succeeded"}})
	if len(paid) == 0 {
		return nothing
	}
	p := paid[rapid.IntRange(0, len(paid)-1).Draw(l.r, "payment")]
	body := harness.JSON{"paymentId": p.ID, "reason": "asked", "keepAccess": rapid.Bool().Draw(l.r, "keep")}
	if to := rapid.SampledFrom([]string{"", "keep", "cancel_now", "cancel_at_period_end"}).Draw(l.r, "to"); to != "" {
		body["subscription"] = to
	}
	if rapid.Bool().Draw(l.r, "part") && p.AmountInCents > 1 {
		body["amountInCents"] = p.AmountInCents / 2
	}
	return l.post("/v1/refunds", body)
}

// answerDispute wins, loses or accepts one that waits for an answer.
func (l *life) answerDispute() wish {
	var disputes struct{ Data []struct{ ID, Status string } }
	l.a.AsBackend(l, http.MethodGet, "/v1/disputes", nil).Want(l, 200).Into(l, &disputes)
	for _, d := range disputes.Data {
		if d.Status != "needs_response" {
			continue
		}
		how := rapid.SampledFrom([]string{"winning_evidence", "losing_evidence", ""}).Draw(l.r, "answer")
		path := "/v1/disputes/" + d.ID
		if how == "" {
			return l.post(path+"/accept", nil)
		}
		return l.post(path+"/evidence", harness.JSON{"text": how})
	}
	return nothing
}

func (l *customerLife) grant() wish {
	body := harness.JSON{
		"entitlements": []harness.JSON{{"key": "studio", "type": "boolean", "value": true}},
		"credits":      []harness.JSON{{"key": "renders", "unit": "render", "amount": 5}},
	}
	if days := rapid.IntRange(0, 60).Draw(l.r, "days"); days > 0 {
		body["expiresAt"] = clockOf(l.T, l.a).AddDate(0, 0, days).Format(time.RFC3339)
	}
	return l.post("/v1/customer-access/"+l.name+"/grants", body)
}

func (l *customerLife) useCredit() wish {
	return l.post("/v1/customer-access/"+l.name+"/credits/consume", harness.JSON{
		"key": "renders", "amount": rapid.IntRange(1, 60).Draw(l.r, "amount"), "idempotencyKey": harness.Unique("use"),
	})
}

// meterUse bills the subscription for calls.
func (l *customerLife) meterUse() {
	if l.meter != "" {
		return
	}
	create := func(path string, body harness.JSON) (id string) {
		response := l.a.AsBackend(l, http.MethodPost, path, body)
		if l.allowed(response); response.Status == 201 {
			id = fmt.Sprint(response.Map(l)["id"])
		}
		return id
	}
	name := harness.Unique("calls")
	meter := create("/v1/usage/meters", harness.JSON{"name": "Calls", "eventName": name,
		"aggregation": rapid.SampledFrom([]string{"SUM", "MAX", "LAST"}).Draw(l.r, "aggregation")})
	price := create("/v1/usage/prices",
		priceBody(create("/v1/usage/products", harness.JSON{"name": "API access", "type": "SERVICE"})))
	if create("/v1/usage/billing-plans", harness.JSON{
		"subscriptionId": l.sub.ID, "meterId": meter, "priceId": price,
		"billingInterval": rapid.SampledFrom([]string{"day", "week", "month"}).Draw(l.r, "billing"),
	}) != "" {
		l.meter = name
	}
}

func (l *customerLife) use() wish {
	ago := time.Duration(rapid.IntRange(0, 34*24).Draw(l.r, "hours ago")) * time.Hour
	return l.post("/v1/usage/events", harness.JSON{
		"subscriptionId": l.sub.ID, "meter": l.meter, "quantity": rapid.IntRange(0, 40).Draw(l.r, "calls"),
		"idempotencyKey": harness.Unique("report"), "timestamp": clockOf(l.T, l.a).Add(-ago).Format(time.RFC3339),
	})
}

func (l *customerLife) invoice() wish { return l.invoiceOf(l.sub.CustomerID) }

func (l *life) invoiceOf(customerID string) wish {
	return l.post("/v1/invoices", harness.JSON{
		"customerId": customerID, "currency": "eur", "periodStart": "2026-03-01", "periodEnd": "2026-03-31",
		"idempotencyKey": harness.Unique("invoice"), "lineItems": []harness.JSON{
			{"description": "Hours", "amountInCents": rapid.IntRange(0, 5000).Draw(l.r, "amount")},
		},
	})
}

// allowed accepts what was done and what was refused with a reason; anything else is a fault of ours.
func (l *life) allowed(response *harness.Response) {
	if slices.Contains([]int{200, 201, 202, 204, 400, 402, 404, 409, 410}, response.Status) ||
		l.unavailable && response.Status == http.StatusServiceUnavailable {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf("%d: %s", response.Status, response.Body))
}

// verify waits for what is due now to be done, so that no task is half way, and verifies everything.
func (l *life) verify() {
	l.verifyBooks()
	l.verifyTasks()
}

// verifyBooks verifies everything but the tasks.
func (l *life) verifyBooks() {
	violations, err := l.a.Program.Verify(context.Background())
	if err != nil {
		l.r.Fatal(err)
	}
	if violations = append(violations, l.faults...); len(violations) > 0 {
		l.r.Fatalf("%v", violations)
	}
}

// verifyTasks fails for work that fails.
func (l *life) verifyTasks() {
	for _, task := range tasksOf(l.T, l.a, "failed") {
		if task.Attempts > 2 { // once is allowed: a dispute may be reported before its payment is settled
			l.r.Fatalf("work that fails: %s: %s", task.ID, *task.LastError)
		}
		l.Logf("work that failed: %s: %s", task.ID, *task.LastError)
	}
}
