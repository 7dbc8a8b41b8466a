package checkout_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/appointment"
	core "sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/core/secret"
	"sundry/modules/checkout"
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
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.open()
		paid, err := w.pay(opened.ID, cardSucceeds)
		if err != nil || paid.Status != core.StatusPaid || paid.ReceiptNumber != "000000-R-000001" || paid.CustomerID == "" {
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
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.open()
		for attempt := 1; attempt < core.MaxAttempts; attempt++ {
			_, err := w.pay(opened.ID, cardDeclined)
			wantCode(t, err, fault.CardDeclined)
			if s := w.session(opened.ID); s.Status != core.StatusProcessing || s.LastError.Code != "card_declined" ||
				s.Attempts != attempt {
				t.Fatalf("after decline %d: %+v", attempt, s)
			}
		}
		other := w.open()
		if _, err := w.pay(other.ID, cardDeclined); err == nil {
			t.Fatal("the declined card paid")
		}
		if s, err := w.pay(other.ID, cardSucceeds); err != nil || s.Status != core.StatusPaid {
			t.Fatalf("another card in the same session: %+v, %v", s, err)
		}
		_, err := w.pay(opened.ID, cardDeclined)
		wantCode(t, err, fault.CardDeclined)
		if s := w.session(opened.ID); s.Status != core.StatusFailed {
			t.Fatalf("after the last attempt: %s", s.Status)
		}
		_, err = w.pay(opened.ID, cardSucceeds)
		wantCode(t, err, fault.StateConflict)
	})
}

func TestAuthenticationIsAskedForAndMayBePassedOrFailed(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx := context.Background()
		for name, card := range map[string]string{"once": cardAsksOnce, "always": cardAsksAlways} {
			opened := w.open()
			secret := secretOf(w, opened)
			_, err := w.pay(opened.ID, card)
			wantCode(t, err, fault.AuthenticationRequired)
			if page, err := w.checkout.Page(ctx, secret); err != nil || page.State != core.PageAuthenticating {
				t.Fatalf("%s: page %s, %v", name, page.State, err)
			}
			_, err = w.checkout.Authenticate(ctx, secret, false, home)
			wantCode(t, err, fault.CardDeclined)
			if page, _ := w.checkout.Page(ctx, secret); page.State != core.PagePaymentFailed {
				t.Fatalf("%s: page after failing is %s", name, page.State)
			}
			_, err = w.pay(opened.ID, card)
			wantCode(t, err, fault.AuthenticationRequired)
			if s, err := w.checkout.Authenticate(ctx, secret, true, home); err != nil || s.Status != core.StatusPaid {
				t.Fatalf("%s: after passing: %s, %v", name, s.Status, err)
			}
			if w.paidEvents(opened.ID) != 1 {
				t.Fatalf("%s: announced %d times", name, w.paidEvents(opened.ID))
			}
		}
	})
}

func TestAFailedChallengeIsAskedForAgainAndCounts(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.open()
		for attempt := range core.MaxAttempts - 1 {
			_, err := w.pay(opened.ID, cardAsksOnce)
			wantCode(t, err, fault.AuthenticationRequired)
			if s := w.session(opened.ID); s.Attempts != attempt || s.LivePaymentID == "" {
				t.Fatalf("challenge %d: %+v", attempt+1, s)
			}
		}
		_, err := w.pay(opened.ID, cardAsksOnce) // leaves the ninth
		wantCode(t, err, fault.AuthenticationRequired)
		_, err = w.pay(opened.ID, cardSucceeds) // leaves the tenth, and that was the last
		wantCode(t, err, fault.StateConflict)
		if s := w.session(opened.ID); s.Status != core.StatusFailed {
			t.Errorf("after the last challenge: %s", s.Status)
		}
		w.mustBeClean()
	})
}

func TestARefusedPaymentLeavesTheBanksChallengeOpen(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx := context.Background()
		opened := w.open()
		secret := secretOf(w, opened)
		_, err := w.pay(opened.ID, cardAsksAlways)
		wantCode(t, err, fault.AuthenticationRequired)
		before := w.session(opened.ID)
		for name, p := range map[string]checkout.Payment{
			"a card that is none":     {Card: ports.CardInput{Number: "4111111111111111"}},
			"no card":                 {},
			"an address that is none": {Card: ports.CardInput{Number: cardSucceeds}, Email: "nobody"},
			"a country that is none": {
				Card: ports.CardInput{Number: cardSucceeds}, Buyer: customer.Details{Address: customer.Address{Country: "XX"}},
			},
			"a name that is too long": {
				Card: ports.CardInput{Number: cardSucceeds}, Buyer: customer.Details{Name: strings.Repeat("a", 201)},
			},
			"a card of another number": {Card: ports.CardInput{Number: "4242 4242 4242 4241"}},
		} {
			_, err := w.checkout.PayOnPage(ctx, secret, p, "192.0.2.1/32")
			if fault.CodeOf(err) != fault.ValidationFailed {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after := w.session(opened.ID); !reflect.DeepEqual(after, before) {
			t.Errorf("before %+v\nafter  %+v", before, after)
		}
		if s, err := w.checkout.Authenticate(ctx, secret, true, home); err != nil || s.Status != core.StatusPaid {
			t.Errorf("the challenge was not open any more: %s, %v", s.Status, err)
		}
	})
}

func secretOf(w *fixture, s core.State) string {
	return w.checkout.CheckoutURL(s.ID)[len("https://pay.example.com/c/"):]
}

func TestALostResponseIsUnknownAndReconciliationAsks(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.open()
		s, err := w.pay(opened.ID, cardLost)
		if err != nil || s.Status != core.StatusProcessing || s.LastError.Code != "" {
			t.Fatalf("a lost response was taken for an outcome: %+v, %v", s, err)
		}
		_, err = w.pay(opened.ID, cardSucceeds)
		wantCode(t, err, fault.StateConflict) // a second charge must not start
		w.advance(5 * time.Second)
		w.runDue()
		if s := w.session(opened.ID); s.Status != core.StatusPaid || w.paidEvents(opened.ID) != 1 {
			t.Fatalf("after reconciliation: %s, announced %d times", s.Status, w.paidEvents(opened.ID))
		}
		w.mustBeClean()
	})
}

func TestAProcessingPaymentWaitsForTheClock(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.open()
		if s, err := w.pay(opened.ID, cardStaysOpen); err != nil || s.Status != core.StatusProcessing {
			t.Fatalf("%s, %v", s.Status, err)
		}
		_, err := w.checkout.ExpireEarly(context.Background(), creatorID, opened.ID)
		wantCode(t, err, fault.StateConflict) // its money may still come
		w.advance(time.Minute)
		w.runDue()
		if s := w.session(opened.ID); s.Status != core.StatusPaid {
			t.Fatalf("after the clock moved: %s", s.Status)
		}
	})
}

func TestACrashAroundTheChargeIsFinishedOrUndone(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		before, after := w.open(), w.open()
		w.processor.DieBefore.Store(true)
		w.payAndDie(before.ID)
		w.processor.DieBefore.Store(false)
		w.processor.DieAfter.Store(true)
		w.payAndDie(after.ID)
		w.processor.DieAfter.Store(false)
		for _, id := range []string{before.ID, after.ID} {
			_, err := w.pay(id, cardSucceeds)
			wantCode(t, err, fault.StateConflict) // in doubt: nobody may charge again yet
		}
		w.advance(time.Minute)
		w.runDue()
		if s := w.session(after.ID); s.Status != core.StatusPaid || w.paidEvents(after.ID) != 1 {
			t.Fatalf("money was taken, but the session is %s", s.Status)
		}
		if s := w.session(before.ID); s.Status != core.StatusProcessing || s.LivePaymentID != "" ||
			s.LastError.Code != "processing_error" {
			t.Fatalf("nothing was taken, but the session is %+v", s)
		}
		if s, err := w.pay(before.ID, cardSucceeds); err != nil || s.Status != core.StatusPaid {
			t.Fatalf("paying again: %s, %v", s.Status, err)
		}
		w.mustBeClean()
	})
}

func TestAnUnreachableProcessorChargesNothingAndSaysSo(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		opened := w.open()
		w.processor.Unreachable.Store(true)
		_, err := w.pay(opened.ID, cardSucceeds)
		wantCode(t, err, fault.ProcessorUnavailable)
		w.processor.Unreachable.Store(false)
		if s, err := w.pay(opened.ID, cardSucceeds); err != nil || s.Status != core.StatusPaid {
			t.Fatalf("%s, %v", s.Status, err)
		}
	})
}

func TestATrialTakesTheCardAndNoMoney(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.offer.Interval, w.offer.IntervalCount, w.offer.TrialDays = "month", 1, 14
		opened := w.open()
		if opened.Total.Minor != 0 {
			t.Fatalf("due now %d", opened.Total.Minor)
		}
		_, err := w.checkout.PayInSandbox(context.Background(), creatorID, opened.ID, checkout.Payment{})
		wantCode(t, err, fault.ValidationFailed)
		s, err := w.pay(opened.ID, cardSucceeds)
		if err != nil || s.SubscriptionID == "" {
			t.Fatalf("%+v, %v", s, err)
		}
	})
}

func TestSomethingFreeNeedsNoCard(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.offer.Price = money.Amount{Currency: "eur"}
		opened := w.open()
		paid, err := w.checkout.PayInSandbox(context.Background(), creatorID, opened.ID, checkout.Payment{})
		if s := paid.Session; err != nil || s.Status != core.StatusPaid || w.paidEvents(opened.ID) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		w.mustBeClean()
	})
}

func TestManyAtOncePayOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
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
				t.Errorf("a response was %q", code)
			}
		}
		if s := w.session(opened.ID); s.Status != core.StatusPaid || w.paidEvents(opened.ID) != 1 {
			t.Fatalf("%s, announced %d times", s.Status, w.paidEvents(opened.ID))
		}
		w.mustBeClean()
	})
}

func TestReceiptsOfPaymentsAtOnceHaveNoGap(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		const sales = 20
		opened := make([]string, sales)
		for i := range opened {
			opened[i] = w.open().ID
		}
		numbers := make([]string, sales)
		var wg sync.WaitGroup
		for i, id := range opened {
			wg.Go(func() {
				if i%5 == 4 { // a declined attempt must leave no gap
					_, err := w.pay(id, cardDeclined)
					wantCode(t, err, fault.CardDeclined)
				}
				paid, err := w.pay(id, cardSucceeds)
				if err != nil {
					t.Errorf("session %d: %v", i, err)
				}
				numbers[i] = paid.ReceiptNumber
			})
		}
		wg.Wait()
		slices.Sort(numbers)
		for i, number := range numbers {
			if want := document.Number(creatorID, document.Receipts, int64(i+1)); number != want {
				t.Errorf("receipt %d has the number %q, want %q", i, number, want)
			}
		}
		w.mustBeClean()
	})
}

func TestPayRacingExpiryEndsOneWay(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ends := map[core.Status]int{}
		// At least sixty rounds, and on until each side has won one: the later one starts behind by another while
		// each time.
		for round := 0; round < 60 || round < 2000 && (ends[core.StatusPaid] == 0 || ends[core.StatusExpired] == 0); round++ {
			opened := w.open()
			card := []string{cardSucceeds, cardAsksOnce, cardLost, cardDeclined}[round%4]
			behind := time.Duration(round%16-8) * 250 * time.Microsecond
			var wg sync.WaitGroup
			wg.Go(func() { time.Sleep(behind); _, _ = w.pay(opened.ID, card) })
			wg.Go(func() {
				time.Sleep(-behind)
				_, _ = w.checkout.ExpireEarly(context.Background(), creatorID, opened.ID)
			})
			wg.Wait()
			w.settled(opened.ID)
			ends[w.session(opened.ID).Status]++
		}
		if ends[core.StatusPaid] == 0 || ends[core.StatusExpired] == 0 {
			t.Errorf("the race ended one way only: %v", ends)
		}
		w.mustBeClean()
	})
}

// settled checks that a session and its attempts agree.
func (w *fixture) settled(id string) {
	w.t.Helper()
	s := w.session(id)
	announced := w.paidEvents(id)
	if (s.Status == core.StatusPaid) != (announced == 1) || announced > 1 {
		w.t.Fatalf("session is %s and was announced %d times", s.Status, announced)
	}
	if s.Status == core.StatusExpired && s.LivePaymentID != "" {
		w.t.Fatal("an expired session holds an attempt")
	}
	if s.PaymentID != "" {
		p, err := w.store.Read(context.Background()).Payments.Payments.Get(context.Background(), s.PaymentID)
		if err != nil || p.Status != payment.Succeeded || p.Amount != s.Total {
			w.t.Fatalf("session is paid by %+v, %v", p, err)
		}
	}
}

// Whatever the order of cards, responses, deaths, expiry and late workers: one payment at most, announced exactly once.
func TestInterleavingsKeepSessionAndPaymentsConsistent(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		w := newFixture(t, engine.Open(t))
		rapid.Check(t, func(rt *rapid.T) {
			opened := w.open()
			secret := secretOf(w, opened)
			for range rapid.IntRange(1, 8).Draw(rt, "steps") {
				switch rapid.IntRange(0, 6).Draw(rt, "step") {
				case 0, 1:
					card := rapid.SampledFrom([]string{cardSucceeds, cardDeclined, cardAsksOnce, cardAsksAlways, cardLost,
						cardStaysOpen}).Draw(rt, "card")
					_, _ = w.pay(opened.ID, card)
				case 2:
					_, _ = w.checkout.Authenticate(context.Background(), secret, rapid.Bool().Draw(rt, "approve"), home)
				case 3:
					before := rapid.Bool().Draw(rt, "before")
					w.processor.DieBefore.Store(before)
					w.processor.DieAfter.Store(!before)
					func() {
						defer func() { _ = recover() }()
						_, _ = w.pay(opened.ID, cardSucceeds)
					}()
					w.processor.DieBefore.Store(false)
					w.processor.DieAfter.Store(false)
				case 4:
					_, _ = w.checkout.ExpireEarly(context.Background(), creatorID, opened.ID)
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
			if s := w.session(opened.ID); s.Status == core.StatusProcessing {
				rt.Fatalf("a day later the session is still open: %+v", s)
			}
		})
		w.mustBeClean()
	})
}

func TestAReturnTokenOpensOnlyItsOwnSession(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx := context.Background()
		mine, other := w.open(), w.open()
		if _, err := w.pay(mine.ID, cardSucceeds); err != nil {
			t.Fatal(err)
		}
		secrets := core.Secrets{Keys: secret.Fixed(make([]byte, 32))}
		good := secrets.ReturnToken(mine.ID, time.Now())
		if status, err := w.checkout.ReceiptStatus(ctx, mine.ID, good); err != nil || status != core.StatusPaid {
			t.Fatalf("%s, %v", status, err)
		}
		for name, c := range map[string]struct{ id, token string }{
			"another session's": {other.ID, good},
			"an expired one":    {mine.ID, secrets.ReturnToken(mine.ID, time.Now().Add(-25*time.Hour))},
			"none":              {mine.ID, ""},
			"garbage":           {mine.ID, "AAAA"},
			"an unknown id":     {"cs_00000000000000000000000000", good},
			"another key's":     {mine.ID, core.Secrets{Keys: secret.Fixed([]byte("x"))}.ReturnToken(mine.ID, time.Now())},
		} {
			_, err := w.checkout.ReceiptStatus(ctx, c.id, c.token)
			if fault.CodeOf(err) != fault.Unauthenticated {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestARequestIsToldEveryFaultAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		metadata := map[string]string{}
		for i := range 21 {
			metadata[fmt.Sprint(i)] = "x"
		}
		_, err := w.checkout.Create(context.Background(), creatorID, checkout.NewSession{
			Catalog: &core.CatalogReference{Interval: "fortnight"}, ListingID: "", Email: "nobody",
			SuccessURL: "http://evil.example",
			CancelURL:  "javascript:alert(1)", UIMode: "popup", DiscountCode: "FREE TODAY", Metadata: metadata,
			Slots: []appointment.SlotChoice{{Field: "appointmentSlot"}},
		})
		var f *fault.Error
		if !asFault(err, &f) {
			t.Fatalf("not a fault: %v", err)
		}
		got := map[string]bool{}
		for _, d := range f.Details {
			got[d.Field] = true
		}
		for _, field := range []string{"catalog.listing", "catalog.interval", "externalCustomerId", "email", "successUrl",
			"cancelUrl", "uiMode", "discountCode", "metadata", "appointmentSlot.startsAt", "appointmentSlot.timezone"} {
			if !got[field] {
				t.Errorf("%s is not listed in %v", field, f.Details)
			}
		}
		if tasks, err := w.queue.Claim(context.Background(), ports.DefaultTasks, time.Now().Add(48*time.Hour), time.Minute,
			10); err != nil || len(tasks) != 0 {
			t.Errorf("a refused request left %d tasks (%v)", len(tasks), err)
		}
	})
}

func TestMoneyForAPaidSessionIsRefundedOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx := context.Background()
		opened := w.open()
		_, err := w.pay(opened.ID, cardAsksOnce)
		wantCode(t, err, fault.AuthenticationRequired)
		late := w.session(opened.ID).LivePaymentID
		paid, err := w.pay(opened.ID, cardSucceeds) // cancels the challenge
		if err != nil || paid.Status != core.StatusPaid {
			t.Fatalf("paid session %+v, %v", paid, err)
		}
		// the processor took it all the same
		if err := w.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return r.Sandbox.Charges.UpdateOutcome(ctx, late, payment.Outcome{Status: payment.Succeeded})
		}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // reported twice
			after, err := w.settle(late, payment.Outcome{Status: payment.Succeeded})
			if err != nil || after.Status != core.StatusPaid || after.PaymentID != paid.PaymentID ||
				after.ReceiptNumber != paid.ReceiptNumber {
				t.Fatalf("after late money: %+v, %v", after, err)
			}
		}
		w.mustBeClean() // the refund is on its way
		if ran := w.runDue(); ran != 1 {
			t.Errorf("%d tasks ran, want the refund alone", ran)
		}
		p, err := w.store.Read(ctx).Payments.Payments.Get(ctx, late)
		if err != nil || p.Status != payment.Succeeded || p.Refunded != p.Amount {
			t.Errorf("late payment %+v, %v", p, err)
		}
		if own, err := w.store.Read(ctx).Payments.Payments.Get(ctx, paid.PaymentID); err != nil || own.Refunded.Minor != 0 {
			t.Errorf("the session's own payment %+v, %v", own, err)
		}
		if w.paidEvents(opened.ID) != 1 {
			t.Error("announced as paid again")
		}
		w.mustBeClean()
	})
}

func TestVerifyFindsMoneyThatIsNotItsSessionsAndIsKept(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx := context.Background()
		opened := w.open()
		_, err := w.pay(opened.ID, cardAsksOnce)
		wantCode(t, err, fault.AuthenticationRequired)
		late := w.session(opened.ID).LivePaymentID
		if _, err := w.pay(opened.ID, cardSucceeds); err != nil {
			t.Fatal(err)
		}
		if _, err := w.settle(late, payment.Outcome{Status: payment.Succeeded}); err != nil {
			t.Fatal(err)
		}
		w.wantRefund(late, refund.PaidTwice)
		if err := w.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Cancel(ctx, ports.TaskRefundPayment, late)
		}); err != nil {
			t.Fatal(err)
		}
		violations, err := w.checkout.Verify(ctx)
		if err != nil || len(violations) != 1 || !strings.Contains(violations[0], late) {
			t.Errorf("found %v, %v; want the payment %s", violations, err, late)
		}
	})
}
