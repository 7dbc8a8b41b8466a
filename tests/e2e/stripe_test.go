package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/stripefake"
	"sundry/tests/testdb"
)

const stripeWebhookSecret = "whsec_only_for_tests"

// stripeShop is an account of a sandbox whose payments go through Stripe.
type stripeShop struct {
	*harness.Account
	app  *harness.App
	fake *stripefake.Server
}

// stripeVars are the environment variables of a program that takes payments through a Stripe.
func stripeVars(fake *stripefake.Server) map[string]string {
	return map[string]string{
		"STRIPE_SECRET_KEY": "sk_test_1", "STRIPE_PUBLISHABLE_KEY": "pk_test_1",
		"STRIPE_WEBHOOK_SECRET": stripeWebhookSecret, "STRIPE_API_BASE": fake.URL,
	}
}

// eachStripe runs a test with a Stripe of its own on each engine.
func eachStripe(t *testing.T, test func(t *testing.T, s stripeShop)) {
	t.Helper()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		fake := stripefake.New(t)
		app := harness.New(t, engine, stripeVars(fake))
		test(t, stripeShop{app.NewAccount(t), app, fake})
		if unkeyed := fake.Unkeyed(); len(unkeyed) > 0 {
			t.Errorf("sent without an idempotency key: %v", unkeyed)
		}
	})
}

// event sends an event of Stripe's, signed as Stripe does.
func (s stripeShop) event(t *testing.T, id, kind string, object map[string]any) *harness.Response {
	t.Helper()
	return s.signed(t, harness.JSON{
		"id": id, "object": "event", "type": kind, "livemode": false, "api_version": "2099-01-01",
		"data": harness.JSON{"object": object},
	})
}

// signed sends a whole event.
func (s stripeShop) signed(t *testing.T, event harness.JSON) *harness.Response {
	t.Helper()
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Unix()
	mac := hmac.New(sha256.New, []byte(stripeWebhookSecret))
	_, _ = fmt.Fprintf(mac, "%d.%s", at, payload)
	return s.app.Ask(t, harness.Request{
		Method: post, Path: "/v1/processor-events", Body: string(payload), Headers: map[string]string{
			"Stripe-Signature": fmt.Sprintf("t=%d,v1=%s", at, hex.EncodeToString(mac.Sum(nil))),
			"Content-Type":     "application/json",
		},
	})
}

// open makes a session for something that costs 20 euros.
func (s stripeShop) open(t *testing.T) harness.Session {
	t.Helper()
	listing := s.Published(t, harness.JSON{"priceInCents": 2000, "currency": "eur"})
	return s.NewSession(t, listing, "default", "user-1", nil)
}

// submit sends what Stripe's form on the page has made.
func (s stripeShop) submit(t *testing.T, session harness.Session, does string) *harness.Response {
	t.Helper()
	return s.app.Ask(t, harness.Request{
		Method: post, Path: "/c/" + session.Secret() + "/pay",
		Body: s.app.Agreed(t, session,
			harness.JSON{"email": "ada@example.com", "country": "IE", "confirmationToken": "ctoken_" + does}),
	})
}

func (s stripeShop) pageState(t *testing.T, session harness.Session) string {
	t.Helper()
	return text(
		t,
		s.app.Ask(t, harness.Request{Method: get, Path: "/c/" + session.Secret() + "/state"}).Want(t, 200).Map(t)["state"],
	)
}

// payment is the session's payment at Stripe.
func (s stripeShop) payment(t *testing.T, session harness.Session) map[string]any {
	t.Helper()
	found := s.fake.Get("pi_", "subject_id", session.ID)
	if found == nil {
		t.Fatalf("Stripe knows no payment of %s", session.ID)
	}
	return found
}

func TestASaleThroughStripeIsPaidRefundedAndDisputed(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		session := s.open(t)
		s.submit(t, session, stripefake.Declines).Refuses(t, 402, "CARD_DECLINED")
		if state := s.pageState(t, session); state != "payment_failed" {
			t.Errorf("after a declined card the page is %s", state)
		}
		s.submit(t, session, stripefake.Succeeds).Want(t, 200)
		receipt := s.Receipt(t, session)
		if receipt["status"] != "paid" {
			t.Fatalf("%v", receipt)
		}
		refund := s.AsBackend(t, post, "/v1/refunds",
			harness.JSON{"paymentId": receipt["paymentId"], "amountInCents": 500, "reason": "asked"}).Want(t, 201).Map(t)
		if refund["status"] != "succeeded" || s.fake.Refunded(text(t, receipt["paymentId"])) != 500 {
			t.Errorf("%v, and Stripe returned %d", refund, s.fake.Refunded(text(t, receipt["paymentId"])))
		}

		dispute := s.fake.Dispute(text(t, receipt["paymentId"]), 2000)
		// reordered, doubled
		for n, kind := range []string{"charge.dispute.funds_withdrawn", "charge.dispute.created", "charge.dispute.created"} {
			s.event(t, fmt.Sprintf("evt_%d", min(n, 1)), kind, map[string]any{"id": dispute}).Want(t, 200)
		}
		opened := func() []any {
			return s.AsBackend(t, get, "/v1/disputes?paymentId="+url.QueryEscape(text(t, receipt["paymentId"])), nil).
				Want(t, 200).Map(t)["data"].([]any)
		}
		harness.Eventually(t, "the dispute is known", func() bool { return len(opened()) == 1 })
		known := opened()[0].(map[string]any)
		updated := s.AsBackend(t, post, "/v1/disputes/"+text(t, known["id"])+"/evidence",
			harness.JSON{"text": "They came."}).Want(t, 200).Map(t)
		if updated["status"] != "under_review" {
			t.Errorf("%v", updated)
		}
		s.fake.Change(dispute, map[string]any{"status": "won"})
		s.event(t, "evt_2", "charge.dispute.closed", map[string]any{"id": dispute}).Want(t, 200)
		harness.Eventually(
			t, "the dispute is won",
			func() bool { return opened()[0].(map[string]any)["status"] == "won" },
		)
		if n := len(opened()); n != 1 {
			t.Errorf("%d disputes are known", n)
		}
	})
}

func TestABuyerConfirmsToTheirBankThroughStripe(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		session := s.open(t)
		page := "/c/" + session.Secret()
		s.app.Ask(t, harness.Request{Method: get, Path: page + "/challenge"}).Refuses(t, 409, "STATE_CONFLICT")
		s.submit(t, session, stripefake.Challenges).Want(t, 200)
		if state := s.pageState(t, session); state != "authenticating" {
			t.Fatalf("the page is %s", state)
		}
		challenge := s.app.Ask(t, harness.Request{Method: get, Path: page + "/challenge"}).Want(t, 200).Map(t)
		intent := s.payment(t, session)
		if challenge["clientSecret"] != intent["client_secret"] {
			t.Errorf("%v", challenge)
		}
		paymentID := text(t, intent["metadata"].(map[string]any)["payment_id"])
		s.fake.Challenge(t, paymentID, true)
		s.app.Ask(t, harness.Request{Method: post, Path: page + "/authenticate", Body: harness.JSON{"approve": true}}).
			Want(t, 200)
		if receipt := s.Receipt(t, session); receipt["status"] != "paid" {
			t.Errorf("%v", receipt)
		}
	})
}

// The buyer closes the page on their way back from the bank: Stripe's event alone finishes the payment.
func TestStripesEventFinishesAPayment(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		session := s.open(t)
		s.submit(t, session, stripefake.Challenges).Want(t, 200)
		intent := s.payment(t, session)
		s.fake.Challenge(t, text(t, intent["metadata"].(map[string]any)["payment_id"]), true)
		// What the event contains of the payment is old: it is read again.
		s.event(t, "evt_paid", "payment_intent.requires_action", intent).Want(t, 200)
		harness.Eventually(
			t, "the session is paid", func() bool { return s.Receipt(t, session)["status"] == "paid" },
		)
	})
}

func TestNoCardNumberReachesUsWhereStripeTakesCards(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		session := s.open(t)
		for name, body := range map[string]harness.JSON{
			"a card number":      {"email": "ada@example.com", "country": "IE", "cardNumber": "5555555555554444"},
			"a token of another": {"email": "ada@example.com", "country": "IE", "confirmationToken": "pm_card_visa"},
			"nothing":            {"email": "ada@example.com", "country": "IE"},
		} {
			if response := s.app.Ask(
				t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/pay", Body: s.app.Agreed(t, session, body)},
			); response.Status != 400 {
				t.Errorf("%s: %d %s", name, response.Status, response.Body)
			}
		}
		if n := s.fake.Count("payment_intents"); n != 0 {
			t.Errorf("Stripe was asked %d times", n)
		}
	})
}

// refundsOf are the refunds of a payment that are recorded: status, reason and amount.
func (s stripeShop) refundsOf(t *testing.T, paymentID string) (all []string) {
	t.Helper()
	var list struct {
		Data []struct {
			Status, Reason string
			AmountInCents  int64
		}
	}
	s.AsBackend(t, get, "/v1/refunds?paymentId="+paymentID, nil).Want(t, 200).Into(t, &list)
	for _, f := range list.Data {
		all = append(all, fmt.Sprintf("%s %s %d", f.Status, f.Reason, f.AmountInCents))
	}
	return all
}

func TestARefundMadeInStripesDashboardIsRecordedOnce(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		session := s.open(t)
		s.submit(t, session, stripefake.Succeeds).Want(t, 200)
		paymentID := text(t, s.Receipt(t, session)["paymentId"])
		s.AsBackend(t, post, "/v1/refunds", harness.JSON{"paymentId": paymentID, "amountInCents": 300,
			"reason": "asked"}).Want(t, 201)

		manual := s.fake.RefundInDashboard(t, paymentID, 500)
		charge := map[string]any{"id": "ch_1", "metadata": map[string]any{"payment_id": paymentID}}
		for n, event := range []struct {
			kind   string
			object map[string]any
		}{
			{"refund.created", map[string]any{"id": manual}}, // it can't name its payment
			{"charge.refunded", charge}, {"charge.refunded", charge}, {"refund.updated", map[string]any{"id": manual}},
		} {
			s.event(t, fmt.Sprintf("evt_hand_%d", n), event.kind, event.object).Want(t, 200)
		}
		want := "[succeeded refunded_at_processor 500 succeeded asked 300]"
		harness.Eventually(
			t, "the refund is recorded",
			func() bool { return fmt.Sprint(s.refundsOf(t, paymentID)) == want },
		)
		if got := fmt.Sprint(s.Receipt(t, session)["refundedInCents"]); got != "800" || s.fake.Refunded(paymentID) != 800 {
			t.Errorf("the receipt shows %s, Stripe returned %d", got, s.fake.Refunded(paymentID))
		}

		s.fake.RefundInDashboard(t, paymentID, 1200)
		s.event(t, "evt_hand_rest", "charge.refunded", charge).Want(t, 200)
		harness.Eventually(
			t, "all is refunded",
			func() bool { return fmt.Sprint(s.Receipt(t, session)["refundedInCents"]) == "2000" },
		)
		w, buyer := &fixture{Account: s.Account}, s.Receipt(t, session)["externalCustomerId"]
		if n := w.plans(t, buyer); n != 0 {
			t.Errorf("%d plans are left", n)
		}

		s.fake.Change(manual, map[string]any{"status": "failed", "failure_reason": "lost_or_stolen_card"})
		s.event(t, "evt_manual_failed", "refund.failed", map[string]any{"id": manual}).Want(t, 200)
		harness.Eventually(
			t, "the money came back",
			func() bool { return fmt.Sprint(s.Receipt(t, session)["refundedInCents"]) == "1500" },
		)
		if n := w.plans(t, buyer); n != 1 {
			t.Errorf("%d plans after a part came back, want 1", n)
		}
		// without the credit note that is void
		wantTaxReport(t, s.app, "IE,taxed,,23,eur,4,16.26,3.74,12.20,2.80,4.06,0.94")
		verified(t, s.app)
	})
}

// TestAFailedRefundRestoresPrepaidUse: the buyer's bank sends the money of prepaid use back, which can be used again
// until it expires.
func TestAFailedRefundRestoresPrepaidUse(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		listing := (&metered{fixture: &fixture{Account: s.Account}}).topUp(t)
		session := s.NewSession(t, listing, "two", "user-1", nil)
		s.submit(t, session, stripefake.Succeeds).Want(t, 200)
		paymentID := text(t, s.Receipt(t, session)["paymentId"])
		s.AsBackend(t, post, "/v1/refunds", harness.JSON{"paymentId": paymentID, "reason": "asked"}).Want(t, 201)
		credits := func() (left string) {
			var page struct {
				Data []struct {
					ReturnedInCents, BalanceInCents int64
					EndReason, EndedAt              *string
				}
			}
			s.AsBackend(t, get, "/v1/usage/credits?externalCustomerId=user-1", nil).Want(t, 200).Into(t, &page)
			return asJSON(t, page.Data)
		}
		const returned = `"ReturnedInCents":200,"BalanceInCents":0,"EndReason":"returned"`
		if got := credits(); !strings.Contains(got, returned) {
			t.Fatalf("the credits are %s, want %s", got, returned)
		}

		made := s.fake.Get("re_", "payment_id", paymentID)
		s.fake.Change(text(t, made["id"]), map[string]any{"status": "failed", "failure_reason": "lost_or_stolen_card"})
		s.event(t, "evt_back", "refund.failed", made).Want(t, 200)
		harness.Eventually(t, "the money came back", func() bool {
			return fmt.Sprint(s.refundsOf(t, paymentID)) == "[failed asked 150]"
		})
		const want = `[{"ReturnedInCents":0,"BalanceInCents":200,"EndReason":null,"EndedAt":null}]`
		if got := credits(); got != want {
			t.Errorf("the credits are %s, want %s", got, want)
		}
		var events struct{ Data []struct{ Type string } }
		s.AsBackend(t, get, "/v1/events?type=usage_credit.*&order=asc", nil).Want(t, 200).Into(t, &events)
		const told = `[{"Type":"usage_credit.granted"},{"Type":"usage_credit.ended"},{"Type":"usage_credit.granted"}]`
		if got := asJSON(t, events.Data); got != told {
			t.Errorf("the events are %s, want %s", got, told)
		}
		if n := s.app.Count(t, "SELECT COUNT(*) FROM tasks WHERE kind = 'usage.expire_prepaid'"); n != 1 {
			t.Errorf("%d tasks end the credit, want 1", n)
		}
		verified(t, s.app)
	})
}

// A part is refunded in Stripe's dashboard and the rest disputed. The dispute is reported first.
func TestARefundAtStripeIsReportedAfterADispute(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		session := s.open(t)
		s.submit(t, session, stripefake.Succeeds).Want(t, 200)
		paymentID := text(t, s.Receipt(t, session)["paymentId"])
		s.fake.RefundInDashboard(t, paymentID, 500)
		report := func(eventID, kind, objectID string) {
			t.Helper()
			s.event(t, eventID, kind, map[string]any{
				"id": objectID, "metadata": map[string]any{"payment_id": paymentID},
			}).Want(t, 200)
			s.processed(t)
		}
		dispute := s.fake.Dispute(paymentID, 1500)
		report("evt_disputed", "charge.dispute.created", dispute)
		report("evt_refunded", "charge.refunded", "ch_1")
		if got := fmt.Sprint(s.refundsOf(t, paymentID)); got != "[succeeded refunded_at_processor 500]" {
			t.Errorf("recorded %s", got)
		}
		s.fake.Change(dispute, map[string]any{"status": "lost"})
		report("evt_lost", "charge.dispute.closed", dispute)
		if got := s.balance(t); got != -100 { // the fee
			t.Errorf("the balance is %d", got)
		}
		verified(t, s.app)
	})
}

// automatic waits for the automatic refund of a payment to have a status.
func (s stripeShop) automatic(t *testing.T, paymentID, want string) {
	t.Helper()
	harness.Eventually(t, "the automatic refund is "+want, func() bool {
		return fmt.Sprint(s.refundsOf(t, paymentID)) == "["+want+" already_subscribed 1900]"
	})
}

// secondSubscription leaves a buyer at their bank for a subscription after another session has begun the one that they
// may have, so that its money will go back.
func (s stripeShop) secondSubscription(t *testing.T) (intent map[string]any, paymentID string) {
	t.Helper()
	listing := (&fixture{Account: s.Account}).subscription(t)
	s.AsCreator(t, http.MethodPatch, "/v1/listings/"+listing.ID, harness.JSON{"oneSubscriptionPerCustomer": true}).
		Want(t, 200)
	late := s.NewSession(t, listing, "pro", "user-1", nil)
	s.submit(t, late, stripefake.Challenges).Want(t, 200)
	s.submit(t, s.NewSession(t, listing, "pro", "user-1", nil), stripefake.Succeeds).Want(t, 200)
	intent = s.payment(t, late)
	return intent, text(t, intent["metadata"].(map[string]any)["payment_id"])
}

// A customer confirms to their bank for a second subscription after another session has begun one.
func TestAnAutomaticRefundFollowsItsOutcome(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		intent, paymentID := s.secondSubscription(t)
		earned := s.balance(t)
		s.fake.DelayRefunds(true)
		s.fake.Challenge(t, paymentID, true)
		s.event(t, "evt_paid", "payment_intent.succeeded", intent).Want(t, 200)
		made := func() map[string]any { return s.fake.Get("re_", "payment_id", paymentID) }
		harness.Eventually(t, "the refund is asked for", func() bool { return made() != nil })
		s.automatic(t, paymentID, "pending")

		report := func(event string, members map[string]any) {
			s.fake.Change(text(t, made()["id"]), members)
			s.event(t, event, "refund.updated", made()).Want(t, 200)
		}
		report("evt_made", map[string]any{"status": "succeeded"})
		s.automatic(t, paymentID, "succeeded")
		if got := s.balance(t); got != earned {
			t.Errorf("the balance is %d, want %d", got, earned)
		}
		report("evt_back", map[string]any{"status": "failed", "failure_reason": "expired_or_canceled_card"})
		s.automatic(t, paymentID, "failed")
		if got := s.fake.Number("re_"); got != 1 {
			t.Errorf("%d refunds were made", got)
		}
		if failing := s.app.Count(t, "SELECT COUNT(*) FROM tasks WHERE last_error <> ''"); failing > 0 {
			t.Errorf("%d tasks failed", failing)
		}
		verified(t, s.app)

		s.AsBackend(t, post, "/v1/refunds", harness.JSON{"paymentId": paymentID, "reason": "to another card"}).Want(t, 201)
		again := s.fake.Get("re_", "payment_id", paymentID)
		if again["status"] == "failed" {
			t.Error("the money is not refunded again")
		}
		verified(t, s.app)
	})
}

// TestAnAutomaticRefundFindsThoseAtStripe: somebody returned a part in Stripe's dashboard, of which no event arrives.
func TestAnAutomaticRefundFindsThoseAtStripe(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		intent, paymentID := s.secondSubscription(t)
		s.fake.Challenge(t, paymentID, true)
		manual := s.fake.RefundInDashboard(t, paymentID, 500)
		s.fake.Change(manual, map[string]any{"status": "pending"})
		s.event(t, "evt_paid", "payment_intent.succeeded", intent).Want(t, 200)
		wait := func(want string) {
			t.Helper()
			harness.Eventually(t, want, func() bool { return fmt.Sprint(s.refundsOf(t, paymentID)) == want })
		}
		wait("[pending refunded_at_processor 500 pending already_subscribed 1900]")
		s.fake.Change(manual, map[string]any{"status": "succeeded"})
		s.event(t, "evt_manual", "refund.updated", map[string]any{"id": manual}).Want(t, 200)
		wait("[succeeded refunded_at_processor 500 succeeded already_subscribed 1400]")
		if got := s.fake.Refunded(paymentID); got != 1900 {
			t.Errorf("Stripe returned %d, want 1900", got)
		}
		if failing := s.app.Count(t, "SELECT COUNT(*) FROM tasks WHERE last_error <> ''"); failing > 0 {
			t.Errorf("%d tasks failed", failing)
		}
		verified(t, s.app)
	})
}

// balance returns the pending and available earnings of the account, in minor units.
func (s stripeShop) balance(t *testing.T) (minor int64) {
	t.Helper()
	var list struct {
		Data []struct{ PendingInCents, AvailableInCents int64 }
	}
	s.AsBackend(t, get, "/v1/balance", nil).Want(t, 200).Into(t, &list)
	for _, b := range list.Data {
		minor += b.PendingInCents + b.AvailableInCents
	}
	return minor
}

// TestUseBelowTheLeastChargeIsCarriedOver: Stripe charges 50 cents at least, so three calls of 10 are asked for with
// the next day's.
func TestUseBelowTheLeastChargeIsCarriedOver(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		club := s.Published(t, harness.JSON{
			"type": "SUBSCRIPTION", "priceInCents": 900, "currency": "eur", "metadata": harness.JSON{"interval": "month"},
		})
		session := s.NewSession(t, club, "default", "user-1", nil)
		s.submit(t, session, stripefake.Succeeds).Want(t, 200)
		receipt := s.Receipt(t, session)
		m := &metered{fixture: &fixture{Account: s.Account}, customer: "user-1", event: "calls"}
		m.subscriptionID, m.customerID = text(t, receipt["subscriptionId"]), text(t, receipt["customerId"])
		m.meterID = m.make(t, "/v1/usage/meters",
			harness.JSON{"name": "API calls", "eventName": m.event, "aggregation": "SUM"})
		m.priceID = m.make(t, "/v1/usage/prices", priceBody(m.product(t)))
		m.planID = m.make(t, "/v1/usage/billing-plans", m.planBody())
		for _, total := range []int64{0, 60} {
			m.report(t, "3")
			advance(t, m.Account, 25*time.Hour)
			invoices := m.invoices(t)
			if last := invoices[len(invoices)-1]; last.Status != "paid" || last.TotalInCents != total {
				t.Errorf("got a %s invoice of %d, want a paid one of %d: %+v", last.Status, last.TotalInCents, total, last)
			}
		}
	})
}
