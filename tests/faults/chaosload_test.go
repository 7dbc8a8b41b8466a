//go:build unix

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"sundry/tests/harness"
)

// chaosLoad runs the clients of TestChaos and keeps every response that they got.
type chaosLoad struct {
	t        *testing.T
	c        *chaos
	account  *harness.Account
	listing  harness.Listing
	hours    harness.Listing
	slots    []string
	use      *meteredUse
	receiver *recordingReceiver
	servers  []string // addresses
	client   *http.Client
	stop     chan struct{}
	all      sync.WaitGroup
	began    time.Time

	mu sync.Mutex
	// sold are the customers of the sessions that were paid; booked, of appointments.
	sold, booked map[string]string
	// refunded are the refunds of payments.
	refunded map[string]string
	reported map[string]bool
	slot     int // the first that nobody has bought yet
	history  []porcupine.Operation
	asked    int // requests, with those that were sent again
}

// startLoad makes an account with something to sell and lets clients begin.
func startLoad(t *testing.T, c *chaos) *chaosLoad {
	t.Helper()
	account := c.processes[0].App.NewAccount(t)
	l := &chaosLoad{
		t: t, c: c, account: account, listing: withPlan(t, account), hours: bookable(t, account),
		use: newMeteredUse(t, account), receiver: listen(t),
		client: &http.Client{Timeout: 6 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8}},
		stop:   make(chan struct{}), began: time.Now(), sold: map[string]string{}, booked: map[string]string{},
		refunded: map[string]string{}, reported: map[string]bool{},
	}
	for _, p := range c.processes[:3] {
		l.servers = append(l.servers, p.App.URL)
	}
	l.slots = slotsOf(t, account, l.hours)
	l.receiver.subscribeTo(t, account, "payment.completed")
	for i, client := range []func(client, n int){l.buy, l.buy, l.buy, l.book, l.book, l.book, l.report} {
		l.all.Go(func() {
			for n := 0; !l.stopped(); n++ {
				client(i, n)
			}
		})
	}
	return l
}

// withPlan is a listing whose buyers get access.
func withPlan(t *testing.T, a *harness.Account) harness.Listing {
	t.Helper()
	listing := a.NewListing(t, nil)
	a.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/pro", harness.JSON{
		"name": "Pro", "isDefault": true, "trialDays": 0, "credits": []harness.JSON{}, "meters": []harness.JSON{},
		"prices":       []harness.JSON{{"interval": nil, "intervalCount": nil, "currency": "eur", "amountInCents": 1200}},
		"entitlements": []harness.JSON{{"key": "export", "type": "boolean", "value": true}},
	})
	return a.Publish(t, listing)
}

// slotsOf are times that do not overlap: every hour of a year's days, more than twenty minutes' buyers take.
func slotsOf(t *testing.T, a *harness.Account, hours harness.Listing) (all []string) {
	t.Helper()
	first, err := time.Parse(time.RFC3339, openStarts(t, a, hours)[0])
	if err != nil {
		t.Fatal(err)
	}
	for n := range 7 * 340 {
		all = append(all, first.AddDate(0, 0, n/7).Add(time.Duration(n%7)*time.Hour).Format(time.RFC3339))
	}
	return all
}

func (l *chaosLoad) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// end lets the clients finish what they have begun.
func (l *chaosLoad) end() {
	close(l.stop)
	l.all.Wait()
}

// answer is the response that a client got in the end.
type answer struct {
	status int
	body   map[string]any
	// lost means that an earlier attempt had no response. A process that was paused may read it much later.
	lost bool
}

// code returns the code of a refusal.
func (a answer) code() string { return fmt.Sprint(a.body["code"]) }

// ask sends a request to one process after another until the outcome is known, as a client does that heeds
// Retry-After: with the same key, so that what was done already is not done again.
func (l *chaosLoad) ask(method, path, key string, body harness.JSON) answer {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			l.t.Error(err)
			return answer{}
		}
	}
	lost := false
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		status, response, err := l.send(method, l.servers[rand.IntN(len(l.servers))]+path, key, encoded) //nolint:gosec // any
		var got map[string]any
		if err == nil {
			_ = json.Unmarshal(response, &got) // lists are not looked into
		}
		a := answer{status, got, lost}
		lost = lost || err != nil
		if status == http.StatusInternalServerError {
			l.t.Errorf("%s %s: %s", method, path, response)
		}
		if err == nil && status < 500 && status != http.StatusTooManyRequests &&
			!slices.Contains([]string{"STATE_CONFLICT", "IDEMPOTENCY_IN_PROGRESS"}, a.code()) {
			return a
		}
		if time.Now().After(end) {
			l.t.Errorf("%s %s has no outcome: %d %s (%v)", method, path, status, response, err)
			return a
		}
	}
}

// send sends a request once.
func (l *chaosLoad) send(method, address, key string, body []byte) (status int, response []byte, err error) {
	l.mu.Lock()
	l.asked++
	l.mu.Unlock()
	request, err := http.NewRequestWithContext(l.t.Context(), method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+l.account.Key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	got, err := l.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = got.Body.Close() }()
	response, err = io.ReadAll(got.Body)
	return got.StatusCode, response, err
}

// pay pays a session, again and again without a key, until a response says that it is paid. A charge that was
// interrupted leaves the session to its buyer, with an error: they pay again.
func (l *chaosLoad) pay(session, card string) bool {
	paid := l.charge(session, card)
	for end := time.Now().Add(3 * time.Minute); paid.status == http.StatusOK && time.Now().Before(end); {
		if paid.body["status"] == "paid" {
			return true
		}
		time.Sleep(200 * time.Millisecond) // the outcome of a charge is unknown, and the processor is asked
		paid = l.ask(http.MethodGet, "/v1/checkout-sessions/"+session+"/receipt?headless=true", "", nil)
		if paid.status == http.StatusOK && paid.body["status"] != "paid" && paid.body["lastPaymentError"] != nil {
			paid = l.charge(session, card)
		}
	}
	if paid.code() == "SESSION_ALREADY_PAID" { // the response to an earlier try was lost
		return true
	}
	l.t.Errorf("a payment of %s responded with %d %v", session, paid.status, paid.body)
	return false
}

func (l *chaosLoad) charge(session, card string) answer {
	return l.ask(http.MethodPost, "/v1/sandbox/checkout-sessions/"+session+"/pay", "",
		harness.JSON{"cardNumber": card, "email": "ada@example.com"})
}

// open opens a session for a customer.
func (l *chaosLoad) open(listing harness.Listing, plan, customer string, over harness.JSON) answer {
	return l.ask(http.MethodPost, "/v1/checkout-sessions", harness.Unique("key"),
		harness.SessionBody(listing, plan, customer, over))
}

// buy sells to a new customer, who can use at once what they paid for. Every third gets a part of the money back.
func (l *chaosLoad) buy(_, n int) {
	customer := harness.Unique("customer")
	opened := l.open(l.listing, "pro", customer, nil)
	session, _ := opened.body["id"].(string)
	card := harness.CardSucceeds
	if n%10 == 9 {
		card = harness.CardTimesOut
	}
	if opened.status != http.StatusCreated {
		l.t.Errorf("a session responded with %d %v", opened.status, opened.body)
		return
	}
	if !l.pay(session, card) {
		return
	}
	l.mu.Lock()
	l.sold[session] = customer
	l.mu.Unlock()
	l.wantAccess(customer)
	if n%3 != 0 {
		return
	}
	receipt := l.ask(http.MethodGet, "/v1/checkout-sessions/"+session+"/receipt?headless=true", "", nil)
	payment, _ := receipt.body["paymentId"].(string)
	refund := l.ask(http.MethodPost, "/v1/refunds", harness.Unique("key"), harness.JSON{
		"paymentId": payment, "amountInCents": 100, "reason": "requested_by_customer",
	})
	id, _ := refund.body["id"].(string)
	if refund.status != http.StatusCreated {
		l.t.Errorf("a refund of %s responded with %d %v", payment, refund.status, refund.body)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refunded[payment] = id
}

func (l *chaosLoad) wantAccess(customer string) {
	access := l.ask(http.MethodGet, "/v1/customer-access/"+customer, "", nil)
	if plans, _ := access.body["activePlans"].([]any); access.status != http.StatusOK || len(plans) != 1 {
		l.t.Errorf("%s has paid, and the access is %d %v", customer, access.status, access.body)
	}
}

// slotInput is an operation of a client on a slot: it holds it, or releases it. Late is an attempt to hold it whose
// response was lost and whose repetition was refused: it holds it at any time after, or never.
type slotInput struct {
	slot          int
	release, late bool
}

// keptOf is the number of holds for each that is bought: a fast machine would sell all in ten minutes otherwise, as it
// did in seven with 6.
const keptOf = 18

// book wants the first free slot, which others want as well, and gives it back or buys it.
func (l *chaosLoad) book(client, n int) {
	l.mu.Lock()
	slot := l.slot
	l.mu.Unlock()
	if slot == len(l.slots) {
		l.t.Error("all times are sold: the clients need more")
		time.Sleep(time.Second)
		return
	}
	customer := harness.Unique("customer")
	called := time.Since(l.began).Nanoseconds()
	opened := l.open(l.hours, "default", customer, harness.JSON{
		"appointmentSlot": harness.JSON{"startsAt": l.slots[slot], "timezone": "Asia/Tokyo"},
	})
	held := opened.status == http.StatusCreated
	if !held && opened.code() != "SLOT_TAKEN" {
		l.t.Errorf("a slot responded with %d %v", opened.status, opened.body)
		return
	}
	l.note(client, slotInput{slot: slot}, called, held)
	if !held {
		if opened.lost {
			l.noteLate(client, slot, called)
		}
		time.Sleep(20 * time.Millisecond)
		return
	}
	session, _ := opened.body["id"].(string)
	if n%keptOf != 0 {
		called := time.Since(l.began).Nanoseconds()
		expired := l.ask(http.MethodPost, "/v1/checkout-sessions/"+session+"/expire", harness.Unique("key"), nil)
		if expired.status != http.StatusOK {
			l.t.Errorf("the end of %s responded with %d %v", session, expired.status, expired.body)
		}
		l.note(client, slotInput{slot: slot, release: true}, called, true)
		return
	}
	if !l.pay(session, harness.CardSucceeds) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.booked[session] = customer
	l.slot = max(l.slot, slot+1)
}

// noteLate adds an attempt that nobody waits for any more. If it does hold the slot, nobody gives it back: the clients
// go on with the next one.
func (l *chaosLoad) noteLate(client, slot int, called int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slot = max(l.slot, slot+1)
	l.history = append(l.history, porcupine.Operation{
		ClientId: client, Input: slotInput{slot: slot, late: true}, Call: called, Output: true, Return: math.MaxInt64,
	})
}

// note adds an operation to the history of a slot.
func (l *chaosLoad) note(client int, input slotInput, called int64, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history = append(l.history, porcupine.Operation{
		ClientId: client, Input: input, Call: called, Output: done, Return: time.Since(l.began).Nanoseconds(),
	})
}

// slotModel describes a slot to porcupine: one client holds it until they release it, and others are refused meanwhile.
var slotModel = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		bySlot := map[int][]porcupine.Operation{}
		for _, o := range history {
			input, _ := o.Input.(slotInput)
			bySlot[input.slot] = append(bySlot[input.slot], o)
		}
		return slices.Collect(maps.Values(bySlot))
	},
	Init: func() []any { return []any{false} },
	Step: func(state, input, output any) []any {
		held, _ := state.(bool)
		wanted, _ := input.(slotInput)
		done, _ := output.(bool)
		switch {
		case wanted.late:
			return []any{held, true}
		case wanted.release && held:
			return []any{false}
		case done && !held && !wanted.release:
			return []any{true}
		case !done && held:
			return []any{true}
		}
		return nil
	},
}).ToModel()

// report reports use, each once.
func (l *chaosLoad) report(_, n int) {
	key := fmt.Sprint("use-", n)
	reported := l.ask(http.MethodPost, "/v1/usage/events", "", harness.JSON{
		"subscriptionId": l.use.subscription, "meter": l.use.event, "quantity": 1, "idempotencyKey": key,
	})
	if reported.status != http.StatusAccepted {
		l.t.Errorf("the report %s responded with %d %v", key, reported.status, reported.body)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reported[key] = true
}

// check holds what the clients were told against the database, the processor's book and the receiver's.
func (l *chaosLoad) check() {
	t, c := l.t, l.c
	t.Logf("%d requests: %d sales, %d appointments of %d operations on slots, %d refunds, %d reports of use, %d events "+
		"received, %d of them again", l.asked, len(l.sold), len(l.booked), len(l.history), len(l.refunded), len(l.reported),
		l.receiver.received(), l.receiver.repeated())
	if len(l.sold) == 0 || len(l.booked) == 0 || len(l.refunded) == 0 || len(l.reported) == 0 {
		t.Error("nothing of a kind was done")
	}
	if result := porcupine.CheckOperationsTimeout(slotModel, l.history, time.Minute); result != porcupine.Ok {
		t.Errorf("the history of the slots is not linearizable: %s", result)
		for _, one := range slotModel.Partition(l.history) {
			if !porcupine.CheckOperations(slotModel, one) {
				t.Logf("the history of a slot, its end: %+v", one[max(0, len(one)-20):])
			}
		}
	}
	paid := l.counts("SELECT subject_id, COUNT(*) FROM payments WHERE status = 'succeeded' GROUP BY subject_id")
	received := map[string]int{} // completed payments, by session
	for _, body := range l.receiver.bodies {
		var event struct{ Data struct{ CheckoutID string } }
		if err := json.Unmarshal(body, &event); err != nil {
			t.Errorf("%v: %s", err, body)
		}
		received[event.Data.CheckoutID]++
	}
	for _, sales := range []map[string]string{l.sold, l.booked} {
		for session := range sales {
			if paid[session] != 1 {
				t.Errorf("session %s was paid, as its buyer was told, and has %d payments", session, paid[session])
			}
			if received[session] != 1 {
				t.Errorf("the receiver has %d events of the payment of %s", received[session], session)
			}
		}
	}
	for _, customer := range l.sold {
		l.wantAccess(customer)
	}
	for session, n := range paid {
		if n > 1 {
			t.Errorf("session %s was paid %d times", session, n)
		}
	}
	refunds := l.counts("SELECT payment_id, COUNT(*) FROM refunds WHERE status = 'succeeded' GROUP BY payment_id")
	for payment := range l.refunded {
		if refunds[payment] != 1 {
			t.Errorf("the refund of %s was made %d times", payment, refunds[payment])
		}
	}
	for what, w := range map[string]struct {
		query string
		want  int
	}{
		"charges at the processor that are no payment of ours": {`SELECT COUNT(*) FROM sandbox_charges c
			LEFT JOIN payments p ON p.id = c.payment_id AND p.status = 'succeeded'
			WHERE c.payment_id LIKE 'pay_%' AND c.outcome LIKE '%succeeded%' AND p.id IS NULL`, 0},
		"refunds":                        {"SELECT COUNT(*) FROM refunds", len(l.refunded)},
		"reports of use":                 {"SELECT COUNT(*) FROM usage_events", len(l.reported)},
		"appointments":                   {"SELECT COUNT(*) FROM appointments", len(l.booked)},
		"slots with an appointment each": {"SELECT COUNT(DISTINCT starts_at) FROM appointments", len(l.booked)},
	} {
		if got := c.Count(t, w.query); got != w.want {
			t.Errorf("%d %s, want %d", got, what, w.want)
		}
	}
}

// counts runs a query that yields a count for each of many names.
func (l *chaosLoad) counts(query string) map[string]int {
	l.t.Helper()
	rows, err := l.c.database(l.t).QueryContext(l.t.Context(), query)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	all := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			l.t.Fatal(err)
		}
		all[name] = n
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return all
}

// TestChaosFindsAFault shows that the model of a slot refuses what must not happen.
func TestChaosFindsAFault(t *testing.T) {
	t.Parallel()
	hold, release := slotInput{}, slotInput{release: true}
	step := func(input slotInput, call, end int64, done bool) porcupine.Operation {
		return porcupine.Operation{ClientId: int(call), Input: input, Call: call, Output: done, Return: end}
	}
	for name, c := range map[string]struct {
		history []porcupine.Operation
		want    bool
	}{
		"held, refused, given back, held": {[]porcupine.Operation{
			step(hold, 1, 2, true), step(hold, 3, 4, false), step(release, 5, 6, true), step(hold, 7, 8, true),
		}, true},
		"held while it is given back": {[]porcupine.Operation{
			step(hold, 1, 2, true), step(release, 3, 6, true), step(hold, 4, 5, true),
		}, true},
		"refused to all, as an attempt that was lost has held it": {[]porcupine.Operation{
			step(hold, 1, 2, true), step(hold, 3, 4, false), step(slotInput{late: true}, 3, math.MaxInt64, true),
			step(release, 5, 6, true), step(hold, 7, 8, false),
		}, true},
		"held by two": {[]porcupine.Operation{step(hold, 1, 2, true), step(hold, 3, 4, true)}, false},
		"refused although it is free": {[]porcupine.Operation{
			step(hold, 1, 2, true), step(release, 3, 4, true), step(hold, 5, 6, false),
		}, false},
	} {
		if got := porcupine.CheckOperations(slotModel, c.history); got != c.want {
			t.Errorf("%s: linearizable is %t, want %t", name, got, c.want)
		}
	}
}
