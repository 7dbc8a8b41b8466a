package e2e_test

import (
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

const cardDisputed = "4000000000000259"

func text(t *testing.T, v any) string {
	t.Helper()
	s, ok := v.(string)
	if !ok {
		t.Fatalf("%v is no text", v)
	}
	return s
}

// refund refunds a part of a payment; 0 is all that is left.
func (w *fixture) refund(t *testing.T, paymentID string, minor int64) *harness.Response {
	t.Helper()
	body := harness.JSON{"paymentId": paymentID, "reason": "requested_by_customer"}
	if minor > 0 {
		body["amountInCents"] = minor
	}
	return w.AsBackend(t, post, "/v1/refunds", body)
}

// refunded is a refund of one cent.
func (w *fixture) refunded(t *testing.T) string {
	t.Helper()
	_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
	return text(t, w.refund(t, text(t, receipt["paymentId"]), 1).Want(t, 201).Map(t)["id"])
}

// refundedInFull is a refund of all of a payment.
func (w *fixture) refundedInFull(t *testing.T) string {
	t.Helper()
	_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
	return text(t, w.refund(t, text(t, receipt["paymentId"]), 0).Want(t, 201).Map(t)["id"])
}

// dispute sells a listing to a buyer who disputes it, and waits for the dispute.
func (w *fixture) dispute(t *testing.T, listing harness.Listing) (disputeID string, receipt harness.JSON) {
	t.Helper()
	_, receipt = w.sell(t, listing, cardDisputed, nil)
	return w.disputeOf(t, text(t, receipt["paymentId"])), receipt
}

func (w *fixture) disputeOf(t *testing.T, paymentID string) string {
	t.Helper()
	for range 600 {
		var list struct{ Data []struct{ ID string } }
		w.AsBackend(t, get, "/v1/disputes?paymentId="+paymentID, nil).Want(t, 200).Into(t, &list)
		if len(list.Data) == 1 {
			return list.Data[0].ID
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("payment %s is not disputed after half a minute", paymentID)
	return ""
}

func (w *fixture) plans(t *testing.T, customer any) int {
	t.Helper()
	plans, _ := w.Access(t, text(t, customer))["activePlans"].([]any)
	return len(plans)
}

// events counts the account's events of a type.
func (w *fixture) events(t *testing.T, kind string) int {
	t.Helper()
	var list struct{ Data []struct{ Type string } }
	w.AsBackend(t, get, "/v1/events?limit=100", nil).Want(t, 200).Into(t, &list)
	n := 0
	for _, e := range list.Data {
		if e.Type == kind {
			n++
		}
	}
	return n
}

func TestRefundsInPartsTakeAccessWithTheLast(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session, receipt := w.sell(t, w.book(t, 10000), harness.CardSucceeds, nil)
		paymentID, buyer := text(t, receipt["paymentId"]), receipt["externalCustomerId"]

		first := w.refund(t, paymentID, 4000).Want(t, 201).Map(t)
		if first["status"] != "succeeded" || first["checkoutId"] != session.ID {
			t.Errorf("refund %v", first)
		}
		if number := text(t, first["creditNoteNumber"]); number[6:] != "-C-000001" {
			t.Errorf("credit note %s", number)
		}
		wantLegs(t, w.posted(t, text(t, first["id"])), map[string]int64{
			"refund creator_pending": 4000, "refund processor_clearing": -4000,
		})
		w.wantBalance(t, "after the first part", 5500, 0, 0, 0)
		if got := version(t, w.Receipt(t, session)["refundedInCents"]); got != 4000 || w.plans(t, buyer) != 1 {
			t.Errorf("the receipt shows %d refunded, %d plans", got, w.plans(t, buyer))
		}

		w.refund(t, paymentID, 6001).Refuses(t, 409, "NOT_REFUNDABLE")
		w.AsBackend(t, post, "/v1/refunds", harness.JSON{"amountInCents": 0}).Refuses(
			t, 400, "VALIDATION_FAILED", "amountInCents", "paymentId", "reason",
		)
		newFixture(t, app).refund(t, paymentID, 1).Refuses(t, 404, "NOT_FOUND")
		w.wantBalance(t, "after refused refunds", 5500, 0, 0, 0)

		w.advance(t, week)
		w.AsBackend(t, post, "/v1/refunds", harness.JSON{"checkoutId": session.ID, "reason": "The rest."}).Want(t, 201)
		w.wantBalance(t, "after everything was refunded", 0, -500, 0, 0)
		if got := version(t, w.Receipt(t, session)["refundedInCents"]); got != 10000 || w.plans(t, buyer) != 0 {
			t.Errorf("the receipt shows %d refunded, %d plans", got, w.plans(t, buyer))
		}
		if status := w.Receipt(t, session)["status"]; status != "paid" {
			t.Errorf("a refund changed the receipt to %v", status)
		}
		w.refund(t, paymentID, 0).Refuses(t, 409, "NOT_REFUNDABLE")
		if n := w.events(t, "refund.created"); n != 2 {
			t.Errorf("%d refund.created", n)
		}
	})
}

func TestARefundMayKeepAccess(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session, receipt := w.sell(t, w.book(t, 10000), harness.CardSucceeds, nil)
		w.AsBackend(t, post, "/v1/refunds", harness.JSON{"checkoutId": session.ID, "reason": "goodwill",
			"keepAccess": true}).Want(t, 201)
		if n := w.plans(t, receipt["externalCustomerId"]); n != 1 {
			t.Errorf("%d plans are left", n)
		}
	})
}

func TestParallelRefundsNeverReturnMoreThanWasPaid(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session, receipt := w.sell(t, w.book(t, 10000), harness.CardSucceeds, nil)
		statuses := make(chan int, 12)
		for range cap(statuses) {
			go func() { statuses <- w.refund(t, text(t, receipt["paymentId"]), 3000).Status }()
		}
		made := 0
		for range cap(statuses) {
			if <-statuses == 201 {
				made++
			}
		}
		if got := version(t, w.Receipt(t, session)["refundedInCents"]); made != 3 || got != 9000 {
			t.Errorf("%d refunds returned %d", made, got)
		}
	})
}

func TestADisputeHoldsTheMoneyAndSuspendsAccess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		close   func(t *testing.T, w *fixture, id string) harness.JSON
		status  string
		balance [4]int64
		plans   int
	}{
		"won": {func(t *testing.T, w *fixture, id string) harness.JSON {
			return w.AsBackend(t, post, "/v1/disputes/"+id+"/evidence", harness.JSON{"text": "winning_evidence"}).
				Want(t, 200).Map(t)
		}, "won", [4]int64{9500, 0, 0, 0}, 1},
		"lost": {func(t *testing.T, w *fixture, id string) harness.JSON {
			return w.AsBackend(t, post, "/v1/disputes/"+id+"/evidence", harness.JSON{"text": "losing_evidence"}).
				Want(t, 200).Map(t)
		}, "lost", [4]int64{-500, 0, 0, 0}, 0},
		"accepted": {func(t *testing.T, w *fixture, id string) harness.JSON {
			return w.AsBackend(t, post, "/v1/disputes/"+id+"/accept", nil).Want(t, 200).Map(t)
		}, "lost", [4]int64{-500, 0, 0, 0}, 0},
		"without evidence in time": {func(t *testing.T, w *fixture, id string) harness.JSON {
			w.advance(t, week+60)
			for range 600 {
				if d := w.AsBackend(t, get, "/v1/disputes/"+id, nil).Want(t, 200).Map(t); d["status"] != "needs_response" {
					return d
				}
				time.Sleep(50 * time.Millisecond)
			}
			return nil
		}, "lost", [4]int64{0, -500, 0, 0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.Each(t, func(t *testing.T, app *harness.App) {
				w := newFixture(t, app)
				id, receipt := w.dispute(t, w.book(t, 10000))
				paymentID := text(t, receipt["paymentId"])
				w.wantBalance(t, "while disputed", -500, 0, 10000, 0)
				if n := w.plans(t, receipt["externalCustomerId"]); n != 0 {
					t.Errorf("%d plans while disputed", n)
				}
				w.refund(t, paymentID, 1).Refuses(t, 409, "NOT_REFUNDABLE")
				d := c.close(t, w, id)
				if d["status"] != c.status || d["paymentId"] != paymentID {
					t.Errorf("dispute %v, want %s", d, c.status)
				}
				w.wantBalance(t, "once "+name, c.balance[0], c.balance[1], c.balance[2], c.balance[3])
				if n := w.plans(t, receipt["externalCustomerId"]); n != c.plans {
					t.Errorf("%d plans once %s", n, name)
				}
				w.AsBackend(t, post, "/v1/disputes/"+id+"/accept", nil).Refuses(t, 409, "STATE_CONFLICT")
				if opened, closed := w.events(t, "dispute.opened"), w.events(t, "dispute.closed"); opened != 1 || closed != 1 {
					t.Errorf("%d dispute.opened, %d dispute.closed", opened, closed)
				}
				newFixture(t, app).AsBackend(t, get, "/v1/disputes/"+id, nil).Refuses(t, 404, "NOT_FOUND")
			})
		})
	}
}

// A second payment of a session goes back by itself. A buyer who disputes it keeps what the first has bought.
func TestADisputedSecondPaymentTakesNothingAway(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		order, user := harness.Unique("order"), harness.Unique("user")
		session := w.NewSession(t, w.listing, "pro", user, harness.JSON{"referenceId": order})
		w.Pay(t, session, harness.CardAsksAlways).Refuses(t, 402, "AUTHENTICATION_REQUIRED")
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := w.Receipt(t, session)
		var attempts struct{ Data []struct{ ID string } }
		w.AsBackend(t, get, "/v1/payments?referenceId="+order, nil).Want(t, 200).Into(t, &attempts)
		late := attempts.Data[1].ID
		w.Exec(t, `UPDATE sandbox_charges SET outcome = (SELECT outcome FROM sandbox_charges WHERE payment_id = $2)
			WHERE payment_id = $1`, late, text(t, receipt["paymentId"]))
		w.Exec(t, "UPDATE payments SET status = 'processing', settled_at = NULL WHERE id = $1", late)
		reported := func(kind, objectID string) {
			t.Helper()
			event := harness.JSON{"id": harness.Unique("evt"), "kind": kind, "objectId": objectID, "creatorId": w.ID}
			app.Ask(t, processorEvent(t, app, event, time.Now())).Want(t, 200)
			w.advance(t, 30)
		}
		reported("payment", late)
		w.Exec(t, `INSERT INTO sandbox_disputes (id, payment_id, creator_id, currency, amount, status, respond_by)
			SELECT 'dp_1', id, creator_id, currency, amount, 'needs_response', 9999999999999
			FROM payments WHERE id = $1`, late)
		for _, status := range []string{"needs_response", "lost"} {
			w.Exec(t, "UPDATE sandbox_disputes SET status = $1 WHERE id = 'dp_1'", status)
			reported("dispute", "dp_1")
			sub := w.AsBackend(t, get, "/v1/subscriptions/"+text(t, receipt["subscriptionId"]), nil).Want(t, 200).Map(t)
			if plans, _ := w.Access(t, user)["activePlans"].([]any); len(plans) != 1 || sub["status"] != "active" {
				t.Errorf("%s: %d plans of a subscription that is %v", status, len(plans), sub["status"])
			}
		}
		if w.disputeOf(t, late) == "" {
			t.Error("the dispute is not listed")
		}
	})
}

func TestARefundBeforeADisputeLeavesTheRestToIt(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		id, receipt := w.dispute(t, w.book(t, 10000))
		paymentID := text(t, receipt["paymentId"])
		w.AsBackend(t, post, "/v1/disputes/"+id+"/evidence", harness.JSON{"text": "winning_evidence"}).Want(t, 200)
		w.refund(t, paymentID, 10000).Want(t, 201)
		w.wantBalance(t, "after a refund of a won dispute", -500, 0, 0, 0)
		w.refund(t, paymentID, 1).Refuses(t, 409, "NOT_REFUNDABLE")
	})
}

// listed finds the only refund of a payment, one that the service made by itself. noted is true where it has a credit
// note.
func (w *fixture) listed(t *testing.T, paymentID, reason string, noted bool) {
	t.Helper()
	var refunds struct {
		Data []struct {
			ID, PaymentID, Reason, Status, CreditNoteNumber, SettledAt string
			AmountInCents                                              int64
		}
	}
	w.AsBackend(t, get, "/v1/refunds?paymentId="+paymentID, nil).Want(t, 200).Into(t, &refunds)
	if len(refunds.Data) != 1 {
		t.Fatalf("%s has %d refunds, want 1", paymentID, len(refunds.Data))
	}
	f := refunds.Data[0]
	paid := w.AsBackend(t, get, "/v1/payments/"+paymentID, nil).Want(t, 200).Map(t)
	if f.Reason != reason || f.Status != "succeeded" || f.SettledAt == "" || (f.CreditNoteNumber != "") != noted ||
		version(t, paid["refundedInCents"]) != f.AmountInCents {
		t.Errorf("the refund of %v is %+v, want %s", paid, f, reason)
	}
	if n := w.Count(t, "SELECT COUNT(*) FROM events WHERE type = 'refund.created' AND data LIKE $1",
		"%"+f.ID+"%"); n != 1 {
		t.Errorf("%d events of %s, want 1", n, f.ID)
	}
}

// The charge of a renewal arrives after its subscription was canceled.
func TestMoneyThatIsNoLongerDueIsListed(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		s := subscribe(t, w.Account, plans(t, w.Account, 0), "basic", "ada", harness.CardSucceeds)
		customer := text(t, w.AsBackend(t, get, "/v1/subscriptions/"+s.ID, nil).Want(t, 200).Map(t)["customerId"])
		w.AsBackend(t, post, "/v1/sandbox/customers/"+customer+"/cards",
			harness.JSON{"cardNumber": harness.CardStaysPending}).Want(t, 201)
		w.Exec(t, "UPDATE subscriptions SET payment_method_id = (SELECT id FROM payment_methods WHERE customer_id = $1 "+
			"ORDER BY id DESC LIMIT 1) WHERE id = $2", customer, s.ID)
		advanceTo(t, w.Account, s.CurrentPeriodEnd.Add(time.Second))
		cancelNow(t, w.Account, s.ID)
		w.advance(t, 3600)
		var paid struct{ Data []struct{ ID string } }
		w.AsBackend(t, get, "/v1/payments", nil).Want(t, 200).Into(t, &paid)
		w.listed(t, paid.Data[0].ID, "no_longer_due", true)
		page := w.Visit(t).Open(t, "/dashboard/orders/"+paid.Data[0].ID).Body
		for _, words := range []string{"The payment was not due any more", "Refund started automatically"} {
			if !strings.Contains(page, words) {
				t.Errorf("the order lacks %q", words)
			}
		}
		verified(t, app)
	})
}
