package checkout_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sundry/core/appointment"
	core "sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// sellTime makes the catalog's one offer a single hour, in person or not.
func (w *fixture) sellTime() {
	w.offer.ListingType, w.offer.VariantID = "APPOINTMENT", "var_01h00000000000000000000000"
	w.offer.DurationMinutes, w.offer.SessionCount, w.offer.DeliveryModes = 60, 1, []string{"virtual", "in_person"}
}

func times() []appointment.SlotChoice {
	return []appointment.SlotChoice{{
		StartsAt: time.Date(2030, 6, 3, 9, 0, 0, 0, time.UTC), Timezone: "Europe/Paris",
		DeliveryMode: appointment.Virtual, Field: "appointmentSlots[0]",
	}}
}

func TestTimesAreChosenOnThePageBeforeAnythingIsCharged(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.sellTime()
		ctx := context.Background()
		opened := w.open()
		if lifetime := opened.ExpiresAt.Sub(opened.CreatedAt); lifetime != 30*time.Minute {
			t.Errorf("open for %s", lifetime)
		}
		page, err := w.checkout.Page(ctx, secretOf(w, opened))
		if err != nil || page.State != core.PageChooseMode || page.AgainURL != "" {
			t.Fatalf("page %+v, %v", page, err)
		}
		_, err = w.pay(opened.ID, cardSucceeds)
		wantCode(t, err, fault.SlotCountMismatch)
		if s := w.session(opened.ID); s.LivePaymentID != "" {
			t.Fatal("a payment was begun before the times were chosen")
		}
		chosen, err := w.checkout.ChooseOnPage(ctx, secretOf(w, opened), times())
		if err != nil || len(chosen.Slots) != 1 || chosen.Slots[0].DeliveryMode != "virtual" {
			t.Fatalf("chosen %+v, %v", chosen.Slots, err)
		}
		if s, err := w.pay(opened.ID, cardSucceeds); err != nil || s.Status != core.StatusPaid {
			t.Fatalf("paid: %s, %v", s.Status, err)
		}
		_, err = w.checkout.ChooseOnPage(ctx, secretOf(w, opened), times())
		wantCode(t, err, fault.SessionAlreadyPaid)
	})
}

func TestASessionThatHasLostItsTimeIsNotCharged(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.sellTime()
		ctx := context.Background()
		opened := w.open()
		secret := secretOf(w, opened)
		if _, err := w.checkout.ChooseOnPage(ctx, secret, times()); err != nil {
			t.Fatal(err)
		}
		_ = w.bookings.Release(ctx, w.store.Read(ctx), creatorID, opened.ID)
		_, err := w.pay(opened.ID, cardSucceeds)
		var f *fault.Error
		if !asFault(err, &f) || f.Code != fault.SlotUnavailable || f.ListingURL != w.checkout.AgainURL(opened.ID) {
			t.Fatalf("refused with %+v", err)
		}
		if d := f.Details; len(d) != 1 || d[0].Field != "appointmentSlots[0].startsAt" || d[0].Code != fault.DetailTaken {
			t.Errorf("the details are %+v, want the time that is TAKEN", d)
		}
		page, err := w.checkout.Page(ctx, secret)
		if err != nil || page.State != core.PageSlotUnavailable || page.AgainURL != f.ListingURL {
			t.Fatalf("page %+v, %v", page, err)
		}
		fresh, err := w.checkout.Again(ctx, secret, "192.0.2.1/32")
		if err != nil || fresh == w.checkout.CheckoutURL(opened.ID) {
			t.Fatalf("again: %s, %v", fresh, err)
		}
		if _, err := w.checkout.ChooseOnPage(ctx, secret, times()); err != nil {
			t.Fatalf("choosing again in the same session: %v", err)
		}
		if same, err := w.checkout.Again(ctx, secret, "192.0.2.1/32"); err != nil ||
			same != w.checkout.CheckoutURL(opened.ID) {
			t.Errorf("a session that leads somewhere was left: %s, %v", same, err)
		}
	})
}

func TestTheTenthDeclineAndTheExpiryGiveTheTimeBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.sellTime()
		choose := func() core.State {
			opened := w.open()
			if _, err := w.checkout.ChooseOnPage(context.Background(), secretOf(w, opened), times()); err != nil {
				t.Fatal(err)
			}
			return opened
		}
		declined, expired := choose(), choose()
		for range core.MaxAttempts {
			_, err := w.pay(declined.ID, cardDeclined)
			wantCode(t, err, fault.CardDeclined)
		}
		if w.bookings.held[declined.ID] != 0 || w.bookings.held[expired.ID] != 1 {
			t.Fatalf("held after the last decline: %v", w.bookings.held)
		}
		w.advance(core.AppointmentLifetime)
		w.runDue()
		if s := w.session(expired.ID); s.Status != core.StatusExpired || w.bookings.held[expired.ID] != 0 {
			t.Fatalf("after half an hour: %s, held %v", s.Status, w.bookings.held)
		}
		_, err := w.pay(expired.ID, cardSucceeds)
		wantCode(t, err, fault.SessionExpired)
		w.mustBeClean()
	})
}

func TestMoneyForATimeThatIsGoneGoesBackOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.sellTime()
		ctx := context.Background()
		opened := w.open()
		if _, err := w.checkout.ChooseOnPage(ctx, secretOf(w, opened), times()); err != nil {
			t.Fatal(err)
		}
		w.bookings.taken = true
		s, err := w.pay(opened.ID, cardSucceeds)
		if err != nil || s.Status != core.StatusExpired || s.ReceiptNumber != "" {
			t.Fatalf("%+v, %v", s, err)
		}
		w.mustBeClean() // the refund is on its way
		due, err := w.queue.Claim(ctx, ports.DefaultTasks, w.clock.Real(), time.Minute, 10)
		if err != nil || len(due) != 1 || due[0].Kind != ports.TaskRefundPayment {
			t.Fatalf("due: %+v, %v", due, err)
		}
		w.wantRefund(due[0].Subject, refund.SlotUnavailable)
		if first, second := w.run(due[0]), w.run(due[0]); first != nil || !errors.Is(second, ports.ErrFenced) {
			t.Fatalf("released: %v, then again: %v", first, second)
		}
		p, err := w.store.Read(ctx).Payments.Payments.Get(ctx, due[0].Subject)
		if err != nil || p.Status != payment.Succeeded || p.Refunded != (money.Amount{Minor: 1200, Currency: "eur"}) {
			t.Fatalf("payment %+v, %v", p, err)
		}
		if w.paidEvents(opened.ID) != 0 {
			t.Error("announced as paid")
		}
		receipt, err := w.checkout.Receipt(ctx, creatorID, opened.ID, "")
		if err != nil || receipt.Session.Status != core.StatusExpired || len(receipt.Appointments) != 0 {
			t.Errorf("receipt %+v, %v", receipt, err)
		}
		w.mustBeClean()
	})
}
