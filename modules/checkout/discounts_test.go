package checkout_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	core "sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/modules/checkout"
	"sundry/ports"
)

// openWithCode opens a session with a discount code.
func (w *fixture) openWithCode(code string) (core.State, error) {
	return w.checkout.Create(context.Background(), creatorID, checkout.NewSession{
		ListingID: w.offer.ListingID, SuccessURL: "https://shop.example/done", DiscountCode: code,
	})
}

func (w *fixture) mustOpenWithCode(t *testing.T) core.State {
	t.Helper()
	s, err := w.openWithCode("FIFTH")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASessionTakesADiscountCode(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.mustOpenWithCode(t)
		if s := w.session(opened.ID); s.Discount.Minor != 240 || s.Total.Minor != 960 || s.DiscountTerms == nil ||
			s.DiscountTerms.Code != "FIFTH" {
			t.Fatalf("opened %+v", s)
		}
		if w.codes.used[opened.ID] {
			t.Error("a code counts as used before anybody pays")
		}
		_, err := w.openWithCode("SIXTH")
		if fault.CodeOf(err) != fault.ValidationFailed || !strings.Contains(err.Error(), "discountCode") {
			t.Errorf("an unknown code: %v", err)
		}
		_, err = w.pay(opened.ID, cardDeclined)
		wantCode(t, err, fault.CardDeclined)
		if w.codes.used[opened.ID] {
			t.Error("a declined payment used the code up")
		}
		s, err := w.pay(opened.ID, cardSucceeds)
		if err != nil || s.Status != core.StatusPaid || s.Total.Minor != 960 || !w.codes.used[opened.ID] {
			t.Errorf("paid %+v, %v, used %v", s, err, w.codes.used)
		}
		w.mustBeClean()
	})
}

func TestABuyerChangesTheCodeOnThePage(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.open()
		secret := secretOf(w, opened)
		for _, c := range []struct {
			code  string
			total int64
			want  fault.Code
		}{{"FIFTH", 960, ""}, {"SIXTH", 960, fault.ValidationFailed}, {"", 1200, ""}, {"FIFTH", 960, ""}} {
			_, err := w.checkout.ApplyDiscountOnPage(t.Context(), secret, c.code, home)
			if s := w.session(opened.ID); fault.CodeOf(err) != c.want && (err != nil || c.want != "") ||
				s.Total.Minor != c.total {
				t.Errorf("%q: %v, total %d; want %q and %d", c.code, err, s.Total.Minor, c.want, c.total)
			}
		}
		_, err := w.pay(opened.ID, cardAsksAlways)
		wantCode(t, err, fault.AuthenticationRequired)
		before := w.session(opened.ID)
		_, err = w.checkout.ApplyDiscountOnPage(t.Context(), secret, "", home)
		wantCode(t, err, fault.StateConflict)
		if after := w.session(opened.ID); !reflect.DeepEqual(after, before) {
			t.Errorf("the price changed under a payment: %+v", after)
		}
	})
}

func TestACodeThatIsUsedUpIsRefusedWhenItIsPaidWith(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.mustOpenWithCode(t)
		w.codes.exhausted = true
		before := w.session(opened.ID)
		_, err := w.pay(opened.ID, cardSucceeds)
		wantCode(t, err, fault.LimitReached)
		if after := w.session(opened.ID); !reflect.DeepEqual(after, before) {
			t.Errorf("a refused payment changed the session: %+v", after)
		}
		if _, err := w.checkout.ApplyDiscountOnPage(t.Context(), secretOf(w, opened), "", home); err != nil {
			t.Fatal(err)
		}
		if s, err := w.pay(opened.ID, cardSucceeds); err != nil || s.Status != core.StatusPaid || s.Total.Minor != 1200 {
			t.Errorf("without the code: %+v, %v", s, err)
		}
	})
}

// The buyer's money arrives after the session was given up, and others have used the code up since.
func TestLateMoneyForADiscountThatIsUsedUpGoesBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.mustOpenWithCode(t)
		_, err := w.pay(opened.ID, cardAsksAlways)
		wantCode(t, err, fault.AuthenticationRequired)
		attempt := w.session(opened.ID).LivePaymentID
		if _, err := w.checkout.ExpireEarly(t.Context(), creatorID, opened.ID); err != nil {
			t.Fatal(err)
		}
		if len(w.codes.used) != 0 {
			t.Errorf("the code is still used by %v", w.codes.used)
		}
		w.codes.exhausted = true
		settled, err := w.settle(attempt, payment.Outcome{Status: payment.Succeeded})
		if err != nil || settled.Status != core.StatusExpired || w.paidEvents(opened.ID) != 0 || len(w.codes.used) != 0 {
			t.Errorf("settled %+v, %v, used by %v", settled, err, w.codes.used)
		}
		due, err := w.queue.Claim(t.Context(), ports.DefaultTasks, w.clock.Real().Add(time.Minute), time.Minute, 10)
		if err != nil || len(due) != 1 || due[0].Kind != ports.TaskRefundPayment || due[0].Subject != attempt {
			t.Errorf("due %+v, %v; want the refund of %s", due, err, attempt)
		}
		w.wantRefund(attempt, refund.DiscountUsedUp)
	})
}
