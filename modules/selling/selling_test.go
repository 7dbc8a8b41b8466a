package selling_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/modules/selling"
	"sundry/ports"
	"sundry/tests/testdb"
)

func wantCode(t testing.TB, err error, code fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != code {
		t.Fatalf("error code %q (%v), want %q", got, err, code)
	}
}

func TestPayingOnceMakesOneReceipt(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		opened := w.open()
		paid, err := w.pay(opened.ID, cardSucceeds)
		if err != nil || paid.Status != checkout.StatusPaid || paid.ReceiptNumber != "R-000001" || paid.CustomerID == "" {
			t.Fatalf("paid session %+v, %v", paid, err)
		}
		_, err = w.pay(opened.ID, cardSucceeds)
		wantCode(t, err, fault.SessionAlreadyPaid)
		if w.runDue() != 0 || w.paidEvents(opened.ID) != 1 {
			t.Fatal("something was left to do after a payment, or it was announced twice")
		}
		w.mustBeClean()
	})
}

func TestADeclinedCardLeavesTheSessionOpenUntilTheTenth(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		opened := w.open()
		for attempt := 1; attempt < checkout.MaxAttempts; attempt++ {
			_, err := w.pay(opened.ID, cardDeclined)
			wantCode(t, err, fault.CardDeclined)
			if s := w.session(opened.ID); s.Status != checkout.StatusProcessing || s.LastError.Code != "card_declined" || s.Attempts != attempt {
				t.Fatalf("after decline %d: %+v", attempt, s)
			}
		}
		other := w.open()
		if _, err := w.pay(other.ID, cardDeclined); err == nil {
			t.Fatal("the declined card paid")
		}
		if s, err := w.pay(other.ID, cardSucceeds); err != nil || s.Status != checkout.StatusPaid {
			t.Fatalf("another card in the same session: %+v, %v", s, err)
		}
		_, err := w.pay(opened.ID, cardDeclined)
		wantCode(t, err, fault.CardDeclined)
		if s := w.session(opened.ID); s.Status != checkout.StatusFailed {
			t.Fatalf("after the last attempt: %s", s.Status)
		}
		_, err = w.pay(opened.ID, cardSucceeds)
		wantCode(t, err, fault.StateConflict)
	})
}

func TestAuthenticationIsAskedForAndMayBePassedOrFailed(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		for name, card := range map[string]string{"once": cardAsksOnce, "always": cardAsksAlways} {
			opened := w.open()
			secret := secretOf(w, opened)
			_, err := w.pay(opened.ID, card)
			wantCode(t, err, fault.AuthenticationRequired)
			if page, err := w.selling.Page(ctx, secret); err != nil || page.State != checkout.PageAuthenticating {
				t.Fatalf("%s: page %s, %v", name, page.State, err)
			}
			_, err = w.selling.Authenticate(ctx, secret, false)
			wantCode(t, err, fault.CardDeclined)
			if page, _ := w.selling.Page(ctx, secret); page.State != checkout.PagePaymentFailed {
				t.Fatalf("%s: page after failing is %s", name, page.State)
			}
			_, err = w.pay(opened.ID, card)
			wantCode(t, err, fault.AuthenticationRequired)
			if s, err := w.selling.Authenticate(ctx, secret, true); err != nil || s.Status != checkout.StatusPaid {
				t.Fatalf("%s: after passing: %s, %v", name, s.Status, err)
			}
			if w.paidEvents(opened.ID) != 1 {
				t.Fatalf("%s: announced %d times", name, w.paidEvents(opened.ID))
			}
		}
		again := w.open()
		_, err := w.pay(again.ID, cardAsksOnce)
		wantCode(t, err, fault.AuthenticationRequired)
		if s, err := w.pay(again.ID, cardAsksOnce); err != nil || s.Status != checkout.StatusPaid {
			t.Fatalf("asked once already: %s, %v", s.Status, err)
		}
	})
}

func secretOf(w *world, s checkout.State) string {
	return w.selling.CheckoutURL(s.ID)[len("https://pay.example.com/c/"):]
}

func TestALostAnswerIsUnknownAndReconciliationAsks(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		opened := w.open()
		s, err := w.pay(opened.ID, cardLost)
		if err != nil || s.Status != checkout.StatusProcessing || s.LastError.Code != "" {
			t.Fatalf("a lost answer was taken for an outcome: %+v, %v", s, err)
		}
		_, err = w.pay(opened.ID, cardSucceeds)
		wantCode(t, err, fault.StateConflict) // a second charge must not start
		w.advance(5 * time.Second)
		w.runDue()
		if s := w.session(opened.ID); s.Status != checkout.StatusPaid || w.paidEvents(opened.ID) != 1 {
			t.Fatalf("after reconciliation: %s, announced %d times", s.Status, w.paidEvents(opened.ID))
		}
		w.mustBeClean()
	})
}

func TestAProcessingPaymentWaitsForTheClock(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		opened := w.open()
		if s, err := w.pay(opened.ID, cardStaysOpen); err != nil || s.Status != checkout.StatusProcessing {
			t.Fatalf("%s, %v", s.Status, err)
		}
		_, err := w.selling.ExpireEarly(context.Background(), creatorID, opened.ID)
		wantCode(t, err, fault.StateConflict) // its money may still come
		w.advance(time.Minute)
		w.runDue()
		if s := w.session(opened.ID); s.Status != checkout.StatusPaid {
			t.Fatalf("after the clock moved: %s", s.Status)
		}
	})
}

func TestAProcessThatDiesAroundTheChargeIsFinishedOrUndone(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		before, after := w.open(), w.open()
		w.processor.dieBefore = true
		w.payAndDie(before.ID)
		w.processor.dieBefore, w.processor.dieAfter = false, true
		w.payAndDie(after.ID)
		w.processor.dieAfter = false
		for _, id := range []string{before.ID, after.ID} {
			_, err := w.pay(id, cardSucceeds)
			wantCode(t, err, fault.StateConflict) // in doubt: nobody may charge again yet
		}
		w.advance(time.Minute)
		w.runDue()
		if s := w.session(after.ID); s.Status != checkout.StatusPaid || w.paidEvents(after.ID) != 1 {
			t.Fatalf("money was taken, but the session is %s", s.Status)
		}
		if s := w.session(before.ID); s.Status != checkout.StatusProcessing || s.LivePaymentID != "" || s.LastError.Code != "processing_error" {
			t.Fatalf("nothing was taken, but the session is %+v", s)
		}
		if s, err := w.pay(before.ID, cardSucceeds); err != nil || s.Status != checkout.StatusPaid {
			t.Fatalf("paying again: %s, %v", s.Status, err)
		}
		w.mustBeClean()
	})
}

func TestAnUnreachableProcessorChargesNothingAndSaysSo(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		opened := w.open()
		w.processor.unreachable = true
		_, err := w.pay(opened.ID, cardSucceeds)
		wantCode(t, err, fault.ProcessorUnavailable)
		w.processor.unreachable = false
		if s, err := w.pay(opened.ID, cardSucceeds); err != nil || s.Status != checkout.StatusPaid {
			t.Fatalf("%s, %v", s.Status, err)
		}
	})
}

func TestATrialTakesTheCardAndNoMoney(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.offer.Interval, w.offer.IntervalCount, w.offer.TrialDays = "month", 1, 14
		opened := w.open()
		if opened.Total.Minor != 0 {
			t.Fatalf("due now %d", opened.Total.Minor)
		}
		_, err := w.selling.PayInSandbox(context.Background(), creatorID, opened.ID, selling.Payment{})
		wantCode(t, err, fault.ValidationFailed)
		s, err := w.pay(opened.ID, cardSucceeds)
		if err != nil || s.SubscriptionID == "" {
			t.Fatalf("%+v, %v", s, err)
		}
	})
}

func TestSomethingFreeNeedsNoCard(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.offer.Price = money.Amount{Currency: "eur"}
		opened := w.open()
		s, err := w.selling.PayInSandbox(context.Background(), creatorID, opened.ID, selling.Payment{})
		if err != nil || s.Status != checkout.StatusPaid || w.paidEvents(opened.ID) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		w.mustBeClean()
	})
}

func TestManyAtOncePayOnce(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		opened := w.open()
		var wg sync.WaitGroup
		codes := make([]fault.Code, 32)
		for i := range codes {
			wg.Go(func() {
				_, err := w.pay(opened.ID, cardSucceeds)
				codes[i] = fault.CodeOf(err)
			})
		}
		wg.Wait()
		for _, code := range codes {
			if code != "" && code != fault.SessionAlreadyPaid && code != fault.StateConflict {
				t.Errorf("an answer was %q", code)
			}
		}
		if s := w.session(opened.ID); s.Status != checkout.StatusPaid || w.paidEvents(opened.ID) != 1 {
			t.Fatalf("%s, announced %d times", s.Status, w.paidEvents(opened.ID))
		}
		w.mustBeClean()
	})
}

func TestPayRacingExpiryEndsOneWay(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		for round := range 60 {
			opened := w.open()
			card := []string{cardSucceeds, cardAsksOnce, cardLost, cardDeclined}[round%4]
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = w.pay(opened.ID, card) })
			wg.Go(func() { _, _ = w.selling.ExpireEarly(context.Background(), creatorID, opened.ID) })
			wg.Wait()
			w.settled(opened.ID)
		}
		w.mustBeClean()
	})
}

// settled checks that a session and its attempts tell one story.
func (w *world) settled(id string) {
	w.t.Helper()
	s := w.session(id)
	announced := w.paidEvents(id)
	if (s.Status == checkout.StatusPaid) != (announced == 1) || announced > 1 {
		w.t.Fatalf("session is %s and was announced %d times", s.Status, announced)
	}
	if s.Status == checkout.StatusExpired && s.LivePaymentID != "" {
		w.t.Fatal("an expired session holds an attempt")
	}
	if s.PaymentID != "" {
		p, err := w.store.Read(context.Background()).Payments.Get(context.Background(), s.PaymentID)
		if err != nil || p.Status != payment.Succeeded || p.Amount != s.Total {
			w.t.Fatalf("session is paid by %+v, %v", p, err)
		}
	}
}

// Whatever the order of cards, answers, deaths, expiry and late workers: one payment at most, announced exactly once.
func TestAnyInterleavingKeepsOneStory(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		w := newWorld(t, engine.Open(t))
		rapid.Check(t, func(rt *rapid.T) {
			opened := w.open()
			secret := secretOf(w, opened)
			for range rapid.IntRange(1, 8).Draw(rt, "steps") {
				switch rapid.IntRange(0, 6).Draw(rt, "step") {
				case 0, 1:
					card := rapid.SampledFrom([]string{cardSucceeds, cardDeclined, cardAsksOnce, cardAsksAlways, cardLost, cardStaysOpen}).Draw(rt, "card")
					_, _ = w.pay(opened.ID, card)
				case 2:
					_, _ = w.selling.Authenticate(context.Background(), secret, rapid.Bool().Draw(rt, "approve"))
				case 3:
					w.processor.dieBefore = rapid.Bool().Draw(rt, "before")
					w.processor.dieAfter = !w.processor.dieBefore
					func() {
						defer func() { _ = recover() }()
						_, _ = w.pay(opened.ID, cardSucceeds)
					}()
					w.processor.dieBefore, w.processor.dieAfter = false, false
				case 4:
					_, _ = w.selling.ExpireEarly(context.Background(), creatorID, opened.ID)
				case 5:
					w.advance(time.Duration(rapid.IntRange(1, 200).Draw(rt, "seconds")) * time.Second)
				case 6:
					w.runDue()
				}
				w.settled(opened.ID)
			}
			w.advance(25 * time.Hour)
			w.runDue()
			w.settled(opened.ID)
			if s := w.session(opened.ID); s.Status == checkout.StatusProcessing {
				rt.Fatalf("a day later the session is still open: %+v", s)
			}
		})
		w.mustBeClean()
	})
}

func TestAReturnTokenOpensOnlyItsOwnSession(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		ctx := context.Background()
		mine, other := w.open(), w.open()
		if _, err := w.pay(mine.ID, cardSucceeds); err != nil {
			t.Fatal(err)
		}
		secrets := checkout.Secrets{Key: make([]byte, 32)}
		good := secrets.ReturnToken(mine.ID, time.Now())
		if status, err := w.selling.ReceiptStatus(ctx, mine.ID, good); err != nil || status != checkout.StatusPaid {
			t.Fatalf("%s, %v", status, err)
		}
		for name, c := range map[string]struct{ id, token string }{
			"another session's": {other.ID, good},
			"an expired one":    {mine.ID, secrets.ReturnToken(mine.ID, time.Now().Add(-25*time.Hour))},
			"none":              {mine.ID, ""},
			"garbage":           {mine.ID, "AAAA"},
			"an unknown id":     {"cs_00000000000000000000000000", good},
			"another key's":     {mine.ID, checkout.Secrets{Key: []byte("x")}.ReturnToken(mine.ID, time.Now())},
		} {
			_, err := w.selling.ReceiptStatus(ctx, c.id, c.token)
			if fault.CodeOf(err) != fault.Unauthenticated {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestARequestIsToldEveryFaultAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		metadata := map[string]string{}
		for i := range 21 {
			metadata[fmt.Sprint(i)] = "x"
		}
		_, err := w.selling.Create(context.Background(), creatorID, selling.NewSession{
			Catalog: &checkout.CatalogReference{Interval: "fortnight"}, ListingID: "", Email: "nobody", SuccessURL: "http://evil.example",
			CancelURL: "javascript:alert(1)", UIMode: "popup", DiscountCode: "FREE", Metadata: metadata, Slots: []appointment.Pick{{Field: "appointmentSlot"}},
		})
		var f *fault.Error
		if !asFault(err, &f) {
			t.Fatalf("not a fault: %v", err)
		}
		got := map[string]bool{}
		for _, d := range f.Details {
			got[d.Field] = true
		}
		for _, field := range []string{"catalog.listing", "catalog.plan", "catalog.interval", "externalCustomerId", "email", "successUrl", "cancelUrl", "uiMode", "discountCode", "metadata", "appointmentSlot.startsAt", "appointmentSlot.timezone"} {
			if !got[field] {
				t.Errorf("%s is not listed in %v", field, f.Details)
			}
		}
		if tasks, err := w.queue.Claim(context.Background(), ports.OtherTasks, time.Now().Add(48*time.Hour), time.Minute, 10); err != nil || len(tasks) != 0 {
			t.Errorf("a refused request left %d tasks (%v)", len(tasks), err)
		}
	})
}
