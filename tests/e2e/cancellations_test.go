package e2e_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/tests/harness"
)

// coaching is a new account that sells an hour for €100 with a full refund until a day before.
func coaching(t *testing.T, app *harness.App) *fixture {
	t.Helper()
	w := newFixture(t, app)
	l := w.bookableListing(t)
	w.AsCreator(t, patch, "/v1/listings/"+l.ID, JSON{"priceInCents": 10000,
		"metadata": JSON{"fullRefundHours": 24}}).Want(t, 200)
	w.hours = &l
	return w
}

// pack buys three times together, €100 in all, with a card.
func (w *fixture) pack(t *testing.T, card string) (ids []string, checkoutID string) {
	t.Helper()
	l := w.sessionHours(t)
	var variant struct{ VariantID string }
	w.AsCreator(t, post, "/v1/listings/"+l.ID+"/variants",
		JSON{"durationMinutes": 60, "sessionCount": 3, "priceInCents": 10000, "name": harness.Unique("pack")}).
		Want(t, 201).Into(t, &variant)
	first, err := time.Parse(time.RFC3339, w.openTime(t))
	if err != nil {
		t.Fatal(err)
	}
	slots := []JSON{}
	for i := range 3 {
		slots = append(slots, JSON{
			"startsAt": first.Add(time.Duration(2*i) * time.Hour).Format(time.RFC3339), "timezone": "Asia/Kathmandu",
			"deliveryMode": "virtual",
		})
	}
	var session harness.Session
	w.AsBackend(t, post, "/v1/checkout-sessions", JSON{
		"listingId": l.ID, "variantId": variant.VariantID, "externalCustomerId": harness.Unique("user"),
		"successUrl": "https://shop.example/thanks", "appointmentSlots": slots,
	}).Want(t, 201).Into(t, &session)
	w.Pay(t, session, card).Want(t, 200)
	var receipt struct{ Appointments []struct{ ID string } }
	w.AsBackend(t, get, "/v1/checkout-sessions/"+session.ID+"/receipt?headless=true", nil).Want(t, 200).Into(t, &receipt)
	for _, a := range receipt.Appointments {
		ids = append(ids, a.ID)
	}
	return ids, session.ID
}

// settledRefunds waits until every refund of a session is made, and returns what each refunded.
func (w *fixture) settledRefunds(t *testing.T, checkoutID string) (amounts []int64) {
	t.Helper()
	receipt := w.AsBackend(t, get, "/v1/checkout-sessions/"+checkoutID+"/receipt?headless=true", nil).Want(t, 200).Map(t)
	for range 1200 {
		var list struct {
			Data []struct {
				Status, Reason string
				AmountInCents  int64
			}
		}
		w.AsBackend(t, get, "/v1/refunds?paymentId="+text(t, receipt["paymentId"]), nil).Want(t, 200).Into(t, &list)
		amounts = nil
		for _, f := range list.Data {
			if f.Status == "succeeded" {
				amounts = append(amounts, f.AmountInCents)
			}
		}
		if len(amounts) == len(list.Data) {
			return amounts
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("a refund is still pending after half a minute")
	return nil
}

func sum(amounts []int64) (total int64) {
	for _, one := range amounts {
		total += one
	}
	return total
}

func (w *fixture) cancel(t *testing.T, id string, body JSON) JSON {
	t.Helper()
	return w.AsBackend(t, post, "/v1/appointments/"+id+"/cancel", body).Want(t, 200).Map(t)
}

func TestABuyerGetsBackWhatTheyWerePromised(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, buyer := coaching(t, app), harness.Unique("grace")+"@example.com"
		a := w.bookedBy(t, buyer, w.openTime(t))
		// concerns later buyers
		w.AsCreator(t, patch, "/v1/listings/"+a.ListingID, JSON{"metadata": JSON{"fullRefundHours": nil}}).Want(t, 200)

		wantWords(t, w.page(t, a, "").Want(t, 200), "Full refund if you cancel by")
		wantWords(t, w.page(t, a, "/cancel").Want(t, 200), "You get €100.00 back.", `name="refund" value="10000"`)
		wantWords(
			t, w.send(t, a, "/cancel", url.Values{"refund": {"9999"}, "reason": {"I am ill"}}).Want(t, 409),
			"What you get back has changed", "€100.00", `value="I am ill"`,
		)
		if now := w.read(t, a); now.Status != "confirmed" || len(w.settledRefunds(t, a.CheckoutID)) > 0 {
			t.Errorf("refused and canceled: %+v", now)
		}
		for range 3 { // pressed more than once
			w.send(t, a, "/cancel", url.Values{"refund": {"10000"}}).Want(t, 303)
		}
		if got := w.settledRefunds(t, a.CheckoutID); len(got) != 1 || got[0] != 10000 {
			t.Fatalf("refunds %v", got)
		}
		view := w.AsBackend(t, get, "/v1/appointments/"+a.ID, nil).Want(t, 200).Map(t)
		if view["canceledBy"] != "buyer" || view["refundDecision"] != "refunded" ||
			fmt.Sprint(view["fullRefundHours"]) != "24" || !strings.HasPrefix(text(t, view["refundId"]), "ref_") {
			t.Errorf("%v", view)
		}
		made := w.AsBackend(t, get, "/v1/refunds/"+text(t, view["refundId"]), nil).Want(t, 200).Map(t)
		if made["reason"] != "appointment_canceled" || made["creditNoteNumber"] == nil {
			t.Errorf("refund %v", made)
		}
		wantWords(t, w.page(t, a, "").Want(t, 200), "You canceled this appointment.", "€100.00 was refunded")
		w.advance(t, 1) // sends what is due
		if got := about(t, app, buyer, "Canceled: "); len(got) != 1 ||
			!strings.Contains(got[0].Parts["text/plain"], "You get €100.00 back on the card") {
			t.Errorf("mails %+v", got)
		}
		receipt := w.AsBackend(t, get, "/v1/checkout-sessions/"+a.CheckoutID+"/receipt?headless=true", nil).
			Want(t, 200).Map(t)
		if shown := receipt["appointments"].([]any)[0].(map[string]any); shown["canceledBy"] != "buyer" ||
			shown["refundId"] != view["refundId"] || fmt.Sprint(receipt["refundedInCents"]) != "10000" { //nolint:errcheck,forcetypeassert // a wrong shape may panic
			t.Errorf("receipt %v", receipt)
		}
		if n := w.events(t, "refund.created"); n != 1 {
			t.Errorf("%d refund.created", n)
		}
		verified(t, app)
	})
}

func TestABuyerWhoCancelsTooLateGetsNothingBack(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, buyer := coaching(t, app), harness.Unique("grace")+"@example.com"
		a := w.bookedBy(t, buyer, w.openTime(t))
		starts, err := time.Parse(time.RFC3339, a.StartsAt)
		if err != nil {
			t.Fatal(err)
		}
		w.AsBackend(t, post, "/v1/sandbox/clock/advance",
			JSON{"to": starts.Add(-23 * time.Hour).Format(time.RFC3339)}).Want(t, 200)
		wantWords(t, w.page(t, a, "/cancel").Want(t, 200), "it starts in less than 24 hours", `name="refund" value="0"`)
		w.send(t, a, "/cancel", url.Values{"refund": {"10000"}}).Want(t, 409) // shown when it was still in time
		w.send(t, a, "/cancel", url.Values{"refund": {"0"}}).Want(t, 303)
		view := w.AsBackend(t, get, "/v1/appointments/"+a.ID, nil).Want(t, 200).Map(t)
		if view["status"] != "canceled" || view["refundDecision"] != "too_late" || view["refundId"] != nil ||
			len(w.settledRefunds(t, a.CheckoutID)) > 0 {
			t.Errorf("%v", view)
		}
		wantWords(t, w.page(t, a, "").Want(t, 200), "canceled less than 24 hours before the start")
		w.advance(t, 1) // sends what is due
		if got := about(t, app, buyer, "Canceled: "); len(got) != 1 ||
			!strings.Contains(got[0].Parts["text/plain"], "canceled less than 24 hours before the start") {
			t.Errorf("mails %+v", got)
		}
	})
}

func TestMovingTooLateToCancelRestoresNoRefund(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := coaching(t, app)
		a := w.booked(t)
		starts, err := time.Parse(time.RFC3339, a.StartsAt)
		if err != nil {
			t.Fatal(err)
		}
		w.AsBackend(t, post, "/v1/sandbox/clock/advance",
			JSON{"to": starts.Add(-23 * time.Hour).Format(time.RFC3339)}).Want(t, 200)
		w.send(t, a, "/reschedule", url.Values{
			"startsAt": {starts.AddDate(0, 0, 14).Format("2006-01-02T15:04:05.000Z")},
		}).Want(t, 303)
		wantWords(t, w.page(t, a, "/cancel").Want(t, 200), "it starts in less than 360 hours", `name="refund" value="0"`)
		w.send(t, a, "/cancel", url.Values{"refund": {"0"}}).Want(t, 303)
		view := w.AsBackend(t, get, "/v1/appointments/"+a.ID, nil).Want(t, 200).Map(t)
		if view["status"] != "canceled" || view["refundDecision"] != "too_late" ||
			fmt.Sprint(view["fullRefundHours"]) != "360" || len(w.settledRefunds(t, a.CheckoutID)) > 0 {
			t.Errorf("%v", view)
		}
	})
}

func TestCancelingAPackRefundsExactlyWhatWasPaid(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := coaching(t, app)
		ids, checkoutID := w.pack(t, harness.CardSucceeds)
		for _, i := range []int{1, 2, 0} {
			if a := w.cancel(t, ids[i], JSON{}); a["canceledBy"] != "creator" || a["refundDecision"] != "refunded" {
				t.Errorf("%v", a)
			}
		}
		if got := w.settledRefunds(t, checkoutID); fmt.Sprint(got) != "[3333 3333 3334]" {
			t.Errorf("refunds %v", got)
		}
		verified(t, app)
	})
}

func TestACreatorDecidesAboutTheMoney(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := coaching(t, app)
		kept := w.booked(t)
		w.AsBackend(t, post, "/v1/appointments/"+kept.ID+"/cancel", JSON{"refund": "no"}).Refuses(
			t, 400, "VALIDATION_FAILED", "refund",
		)
		if a := w.cancel(
			t, kept.ID, JSON{"refund": false, "reason": "As agreed."},
		); a["refundDecision"] != "declined" || a["refundId"] != nil {
			t.Errorf("kept: %v", a)
		}
		wantWords(t, w.page(t, kept, "").Want(t, 200), "canceled this appointment.", "isn’t refunded", "As agreed.")

		ids, checkoutID := w.pack(t, harness.CardSucceeds)
		w.AsBackend(t, post, "/v1/refunds", JSON{"checkoutId": checkoutID, "amountInCents": 5000,
			"reason": "goodwill"}).Want(t, 201)
		for i, want := range []string{"refunded", "refunded", "already_refunded"} {
			if a := w.cancel(t, ids[i], JSON{}); a["refundDecision"] != want {
				t.Errorf("%d: %v", i, a)
			}
		}
		if got := w.settledRefunds(t, checkoutID); sum(got) != 10000 || len(got) != 3 {
			t.Errorf("refunds %v", got)
		}

		w.AsCreator(t, patch, "/v1/listings/"+kept.ListingID, JSON{"priceInCents": 0}).Want(t, 200)
		free := w.booked(t)
		wantWords(t, w.page(t, free, "/cancel").Want(t, 200), "Cancel this appointment?")
		if a := w.cancel(t, free.ID, JSON{}); a["refundDecision"] != "not_paid" {
			t.Errorf("free: %v", a)
		}
		verified(t, app)
	})
}

func TestADisputedPaymentIsNotRefundedByCanceling(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := coaching(t, app)
		ids, checkoutID := w.pack(t, cardDisputed)
		receipt := w.AsBackend(t, get, "/v1/checkout-sessions/"+checkoutID+"/receipt?headless=true", nil).Want(t, 200).Map(t)
		w.disputeOf(t, text(t, receipt["paymentId"]))
		if a := w.cancel(t, ids[0], JSON{}); a["status"] != "canceled" || a["refundDecision"] != "disputed" ||
			a["refundId"] != nil {
			t.Errorf("%v", a)
		}
		if got := w.settledRefunds(t, checkoutID); len(got) > 0 {
			t.Errorf("refunds %v", got)
		}
		verified(t, app)
	})
}

// TestCancelingRacesEveryOtherRefund cancels each appointment of a pack from many sides while it is refunded manually
// too.
func TestCancelingRacesEveryOtherRefund(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := coaching(t, app)
		for range 4 {
			ids, checkoutID := w.pack(t, harness.CardSucceeds)
			var a bookedTime
			w.AsBackend(t, get, "/v1/appointments/"+ids[0], nil).Want(t, 200).Into(t, &a)
			var race sync.WaitGroup
			statuses := make(chan int, 12)
			for _, id := range ids {
				for range 3 {
					race.Go(func() { statuses <- w.AsBackend(t, post, "/v1/appointments/"+id+"/cancel", nil).Status })
				}
			}
			race.Go(func() { w.send(t, a, "/cancel", url.Values{"refund": {"3333"}}) })
			race.Go(func() {
				w.AsBackend(t, post, "/v1/refunds", JSON{
					"checkoutId": checkoutID, "amountInCents": 4000, "reason": "goodwill",
				})
			})
			race.Wait()
			close(statuses)
			canceled := 0
			for status := range statuses {
				if status == 200 {
					canceled++
				}
			}
			if got := w.settledRefunds(t, checkoutID); canceled < 2 || canceled > 3 || sum(got) != 10000 {
				t.Fatalf("%d cancellations, refunds %v", canceled, got)
			}
		}
		verified(t, app)
	})
}

func TestAWonDisputeOfCanceledAppointments(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := coaching(t, app)
		ids, checkoutID := w.pack(t, cardDisputed)
		receipt := w.AsBackend(t, get, "/v1/checkout-sessions/"+checkoutID+"/receipt?headless=true", nil).Want(t, 200).Map(t)
		disputeID := w.disputeOf(t, text(t, receipt["paymentId"]))
		for _, id := range ids {
			w.cancel(t, id, JSON{})
		}
		w.AsBackend(t, post, "/v1/disputes/"+disputeID+"/evidence", JSON{"text": "winning_evidence"}).Want(t, 200)
		if n := w.plans(t, receipt["externalCustomerId"]); n != 0 {
			t.Errorf("%d plans of appointments that were canceled while their payment was disputed", n)
		}
	})
}
