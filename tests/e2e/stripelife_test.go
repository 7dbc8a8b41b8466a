package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/tests/harness"
	"sundry/tests/stripefake"
	"sundry/tests/testdb"
)

// stripeLife is that of an account whose customers pay through Stripe, which fails as it does in reality.
type stripeLife struct {
	*customersLife
	fake *stripefake.Server
	// currency is that of what is sold once.
	currency string
	// late are events that were not delivered yet, and sent those that may come again.
	late, sent []stripefake.Event
}

// TestAnyInterleavingAtStripe_KeepsItsBooks sells, refunds, pays out and is disputed through Stripe, one thing after
// another and several at once, while requests to Stripe fail before or after their effect, and its events come late,
// twice and in any order, or never. After each, `sundry verify` looks at all of it. Whenever everything has become
// quiet, the books are compared with Stripe's.
func TestAnyInterleavingAtStripe_KeepsItsBooks(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		rapid.Check(t, func(r *rapid.T) {
			fake := stripefake.New(t)
			liveOn(t, r, engine, stripeVars(fake), func(one *life) {
				l := newStripeLife(one, fake)
				l.live(map[string]func() wish{
					"time": l.time, "buy": l.buy, "buy more": l.buy, "submit": l.submit, "expire": l.expire,
					"outage": l.outage, "heal": l.heal, "deliver": l.deliver, "deliver more": l.deliver, "lose": l.lose,
					"bank": l.bank, "refund": l.refund, "refund there": l.refundThere, "delay refunds": l.delayRefunds,
					"decide a refund": l.decideRefund, "dispute": l.dispute, "decide a dispute": l.decideDispute,
					"answer": l.answerDispute, "pay out": l.payOut, "reverse": l.reverse,
					"change": l.ask, "change more": l.ask, "card": l.card, "invoice": l.invoice,
				}, map[string]func(*rapid.T){
					"":      func(*rapid.T) { l.verifyBooks() },
					"quiet": func(*rapid.T) { l.quiet() },
				})
				l.quiet()
			})
		})
	})
}

func newStripeLife(one *life, fake *stripefake.Server) *stripeLife {
	one.unavailable = true
	l := &stripeLife{fake: fake, customersLife: &customersLife{
		life: one, erased: map[string]bool{},
		club: plans(one.T, one.a, rapid.SampledFrom([]int{0, 14}).Draw(one.r, "trial")),
	}}
	l.currency = rapid.SampledFrom([]string{"eur", "eur", "usd", "isk", "kwd"}).Draw(one.r, "currency")
	l.once = l.a.Published(l, harness.JSON{"priceInCents": 2500, "currency": l.currency})
	l.a.AsBackend(l, post, "/v1/payout-account-sessions", harness.JSON{
		"country": "IE", "returnUrl": "https://shop.example/back",
	}).Want(l, 201)
	accountID := fmt.Sprint(fake.Latest("acct_")["id"])
	fake.Onboard(accountID)
	l.shop().reports(l.T, "evt_ready", accountID, "ready")
	fake.TakeEvents()
	return l
}

func (l *stripeLife) shop() stripeShop { return stripeShop{l.a, l.a.App, l.fake} }

func (l *stripeLife) time() wish {
	return l.wait(time.Duration(rapid.IntRange(1, 35*24).Draw(l.r, "hours")) * time.Hour)
}

func (l *stripeLife) method() string {
	return rapid.SampledFrom([]string{
		stripefake.Succeeds, stripefake.Succeeds, stripefake.Succeeds, stripefake.Declines, stripefake.Challenges,
		stripefake.PresentOnly,
	}).Draw(l.r, "card")
}

// buy opens a session and pays for it.
func (l *stripeLife) buy() wish {
	listing, plan := l.once, "default"
	if rapid.Bool().Draw(l.r, "recurring") {
		listing, plan = l.club, rapid.SampledFrom([]string{"basic", "studio"}).Draw(l.r, "plan")
	}
	body := harness.SessionBody(listing, plan, rapid.SampledFrom([]string{"ada", "bob"}).Draw(l.r, "name"), nil)
	card := l.method()
	return func() {
		if session, ok := l.opens(body); ok {
			l.submitCard(session, card)
		}
	}
}

func (l *stripeLife) submitCard(session harness.Session, card string) {
	body, ok := l.a.TryAgreed(l, session, harness.JSON{
		"email": "ada@example.com", "country": "IE", "confirmationToken": "ctoken_" + card,
	})
	if ok {
		l.request(harness.Request{Method: post, Path: "/c/" + session.Secret() + "/pay", Body: body})
	}
}

// submit pays a session that was opened before.
func (l *stripeLife) submit() wish {
	session, ok := l.session()
	if !ok {
		return nothing
	}
	card := l.method()
	return func() { l.submitCard(session, card) }
}

// outage makes some requests to Stripe fail.
func (l *stripeLife) outage() wish {
	route := rapid.SampledFrom([]string{
		"confirm", "/confirm", "cancel", "POST /v1/payment_intents", "POST /v1/refunds", "POST /v1/transfers", "POST", "GET",
		"/v1/",
	}).Draw(l.r, "route")
	if route == "POST /v1/transfers" && rapid.Bool().Draw(l.r, "refused") {
		return func() { l.fake.Fail(route, stripefake.Failure{Status: 400, Code: "balance_insufficient", Times: 1}) }
	}
	switch rapid.IntRange(0, 9).Draw(l.r, "kind") {
	case 0:
		return func() { l.fake.Linger(30 * time.Millisecond) }
	case 1: // its response is repeated for a day
		if stored := []string{"POST /v1/payment_intents", "POST /v1/transfers", "/confirm"}; slices.Contains(stored, route) {
			return func() { l.fake.Store(route, 500) }
		}
	}
	f := rapid.SampledFrom([]stripefake.Failure{
		{After: true}, {After: true}, {After: true, Status: 500}, {}, {Status: 500}, {Status: 503}, {Status: 429},
	}).Draw(l.r, "failure")
	f.Times = rapid.IntRange(1, 4).Draw(l.r, "times")
	return func() { l.fake.Fail(route, f) }
}

func (l *stripeLife) heal() wish {
	return func() {
		l.fake.Heal()
		l.fake.Linger(0)
	}
}

// fetchEvents takes what Stripe has to tell, at the end of what is late.
func (l *stripeLife) fetchEvents() { l.late = append(l.late, l.fake.TakeEvents()...) }

// deliver sends some of the events, in any order, and some once more.
func (l *stripeLife) deliver() wish {
	l.fetchEvents()
	if len(l.late) == 0 {
		return nothing
	}
	mixed := rapid.Permutation(l.late).Draw(l.r, "events")
	n := rapid.IntRange(1, min(len(mixed), 10)).Draw(l.r, "delivered")
	now := mixed[:n]
	l.late = mixed[n:]
	if len(l.sent) > 0 && rapid.Bool().Draw(l.r, "again") {
		now = append(slices.Clone(now), rapid.SampledFrom(l.sent).Draw(l.r, "event"))
	}
	l.sent = append(l.sent, now...)
	return func() {
		for _, e := range now {
			l.send(e)
		}
	}
}

func (l *stripeLife) send(e stripefake.Event) {
	l.allowed(l.shop().event(l.T, e.ID, e.Type, e.Object))
}

// lose drops the events without which the program finds out by itself.
func (l *stripeLife) lose() wish {
	l.fetchEvents()
	l.late = slices.DeleteFunc(l.late, func(e stripefake.Event) bool {
		return strings.HasPrefix(e.Type, "payment_intent.") || strings.HasPrefix(e.Type, "setup_intent.") ||
			e.Type == "transfer.created" || e.Type == "refund.created"
	})
	return nothing
}

// bank plays a buyer who confirms, or does not, and often returns to the page.
func (l *stripeLife) bank() wish {
	waiting, ok := l.object(rapid.SampledFrom([]string{"pi_", "pi_", "seti_"}).Draw(l.r, "kind"),
		has("status", "requires_action"))
	if !ok {
		return nothing
	}
	about := waiting["metadata"].(map[string]any)
	approve, back := rapid.Bool().Draw(l.r, "approve"), rapid.Bool().Draw(l.r, "back")
	at := slices.IndexFunc(l.opened, func(s harness.Session) bool { return s.ID == about["subject_id"] })
	return func() {
		l.fake.Challenge(l.T, fmt.Sprint(about["payment_id"]), approve)
		if back && at >= 0 {
			l.request(harness.Request{
				Method: post, Path: "/c/" + l.opened[at].Secret() + "/authenticate", Body: harness.JSON{"approve": approve},
			})
		}
	}
}

// object draws one of Stripe's objects of a kind, and is false where none is as wanted.
func (l *stripeLife) object(prefix string, wanted func(o map[string]any) bool) (map[string]any, bool) {
	all := slices.DeleteFunc(l.fake.All(prefix), func(o map[string]any) bool { return !wanted(o) })
	if len(all) == 0 {
		return nil, false
	}
	return rapid.SampledFrom(all).Draw(l.r, "object"), true
}

func has(member string, values ...any) func(o map[string]any) bool {
	return func(o map[string]any) bool { return slices.Contains(values, o[member]) }
}

// refundThere refunds a payment, or a part of it, in Stripe's dashboard.
func (l *stripeLife) refundThere() wish {
	paid, ok := l.object("pi_", has("status", "succeeded"))
	if !ok {
		return nothing
	}
	amount := int64(paid["amount"].(float64)) / int64(rapid.IntRange(1, 3).Draw(l.r, "part"))
	amount -= amount % map[any]int64{"isk": 100, "kwd": 10, "eur": 1, "usd": 1}[paid["currency"]]
	return func() {
		l.fake.RefundInDashboard(l.T, fmt.Sprint(paid["metadata"].(map[string]any)["payment_id"]), amount)
	}
}

// delayRefunds keeps new refunds pending, or no longer.
func (l *stripeLife) delayRefunds() wish {
	delay := rapid.Bool().Draw(l.r, "delay")
	return func() { l.fake.DelayRefunds(delay) }
}

// decideRefund ends one that is pending. Of those that succeeded, some come back.
func (l *stripeLife) decideRefund() wish {
	from := []any{"pending"}
	if rapid.IntRange(0, 3).Draw(l.r, "comes back") == 0 {
		from = []any{"succeeded"}
	}
	made, ok := l.object("re_", has("status", from...))
	if !ok {
		return nothing
	}
	end := map[string]any{"status": "failed", "failure_reason": "lost_or_stolen_card"}
	if from[0] == "pending" && rapid.Bool().Draw(l.r, "succeeds") {
		end = map[string]any{"status": "succeeded"}
	}
	return func() { l.fake.Change(fmt.Sprint(made["id"]), end) }
}

// dispute opens one of all that is left of a payment.
func (l *stripeLife) dispute() wish {
	paid, ok := l.object("pi_", has("status", "succeeded"))
	if !ok {
		return nothing
	}
	return func() { l.fake.DisputeRest(fmt.Sprint(paid["metadata"].(map[string]any)["payment_id"])) }
}

// decideDispute ends one.
func (l *stripeLife) decideDispute() wish {
	open, ok := l.object("dp_", has("status", "needs_response", "under_review"))
	if !ok {
		return nothing
	}
	end := rapid.SampledFrom([]string{"won", "lost"}).Draw(l.r, "end")
	return func() { l.fake.Decide(fmt.Sprint(open["id"]), end) }
}

func (l *stripeLife) invoice() wish {
	if c, ok := l.customer(); ok {
		return l.invoiceOf(c.ID)
	}
	return nothing
}

func (l *stripeLife) payOut() wish {
	body := harness.JSON{"currency": rapid.SampledFrom([]string{"eur", l.currency}).Draw(l.r, "of")}
	if rapid.Bool().Draw(l.r, "part") {
		body["amountInCents"] = 1000
	}
	return l.post("/v1/payouts", body)
}

// reverse takes a transfer back.
func (l *stripeLife) reverse() wish {
	sent, ok := l.object("tr_", has("reversed", false))
	if !ok {
		return nothing
	}
	return func() {
		l.fake.Change(fmt.Sprint(sent["id"]), map[string]any{"reversed": true, "amount_reversed": sent["amount"]})
	}
}
