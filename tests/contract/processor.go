package contract

import (
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// ProcessorCards are payment methods of the processor under test, one per behavior; "" for one that it does not have,
// of which nothing is checked. A method that succeeds is needed.
type ProcessorCards struct {
	// Succeeds is charged at once, with the buyer present and without.
	Succeeds string
	// Declines is refused by its issuer.
	Declines string
	// Challenges wants the buyer to authenticate, and is refused when no buyer is present.
	Challenges string
	// PresentOnly succeeds with the buyer present and is refused without.
	PresentOnly string
	// TimesOut is charged, but the processor's response is lost.
	TimesOut string
}

// ProcessorFixture is a processor over an account of its own.
type ProcessorFixture struct {
	Processor ports.Processor
	Cards     ProcessorCards
	CreatorID string
	// Challenge plays the buyer at the bank's challenge, where that is not Authenticate's own part.
	Challenge func(t *testing.T, paymentID string, approve bool)
	// Confirm makes a transfer of money arrive, of a charge or a refund, where the processor learns that later; nil where
	// its response is the outcome.
	Confirm func(t *testing.T, id string)
	// Charges lists the charges of the account; nil where the processor can't.
	Charges ports.ChargeLister
	// Refunded returns the refunded part of a charge, in minor units, according to the processor.
	Refunded func(t *testing.T, paymentID string) int64
}

// Processor is the suite of ports.Processor: every promise that the port makes.
func Processor(t *testing.T, newFixture func(t *testing.T) ProcessorFixture) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, f ProcessorFixture){
		"charging again under one payment id repeats the first result":          processorRepeatsACharge,
		"rival charges under one payment id are one charge":                     processorChargesOnceUnderConcurrency,
		"a refusal by the issuer is an outcome with a reason, not an error":     processorDeclines,
		"a lost response is unknown, never a refusal, and Find has the outcome": processorResponseIsLost,
		"a cancellation before the charge is known keeps it from ever charging": processorCancelsBeforeTheCharge,
		"a cancellation leaves a succeeded or declined charge as it is":         processorCancelsTooLate,
		"a cancellation ends a challenge for good":                              processorCancelsAChallenge,
		"a challenge decides the payment once":                                  processorChallenges,
		"nobody is there to authenticate off session":                           processorChargesOffSession,
		"a card that was saved is charged again off session":                    processorKeepsACard,
		"nothing can be charged, to check a card":                               processorChargesNothing,
		"Find does not know what was never charged":                             processorFindsNothing,
		"one refund id returns once, others add up":                             processorRefundsOnce,
		"only a succeeded charge is refunded":                                   processorRefundsSucceededOnly,
		"what was charged or refunded since a time is listed":                   processorListsCharges,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newFixture(t))
		})
	}
}

// has reports whether the processor under test behaves in every one of some ways.
func has(methods ...string) bool { return !slices.Contains(methods, "") }

func (f ProcessorFixture) request(method string) ports.ChargeRequest {
	n := rand.Text()
	return ports.ChargeRequest{
		PaymentID: "pay_" + n, SubjectID: "cs_" + n, CreatorID: f.CreatorID, Method: method,
		Amount: money.Amount{Minor: 1250, Currency: "eur"},
	}
}

// charge expects a status without an error.
func (f ProcessorFixture) charge(t *testing.T, r ports.ChargeRequest, want payment.Status) payment.Outcome {
	t.Helper()
	outcome, err := f.Processor.Charge(t.Context(), r)
	if err == nil && outcome.Status == payment.Processing && f.Confirm != nil {
		f.Confirm(t, r.PaymentID)
		outcome, err = f.Processor.Charge(t.Context(), r)
	}
	if err != nil || outcome.Status != want {
		t.Fatalf("charged: %+v, %v; want %s", outcome, err, want)
	}
	return outcome
}

func (f ProcessorFixture) cancel(t *testing.T, r ports.ChargeRequest, want payment.Status) {
	t.Helper()
	if outcome, err := f.Processor.Cancel(t.Context(), r); err != nil || outcome.Status != want {
		t.Errorf("canceled: %+v, %v; want %s", outcome, err, want)
	}
}

func (f ProcessorFixture) find(t *testing.T, r ports.ChargeRequest, want payment.Status) payment.Outcome {
	t.Helper()
	outcome, err := f.Processor.Find(t.Context(), r)
	if err != nil || outcome.Status != want {
		t.Errorf("found %+v, %v; want %s", outcome, err, want)
	}
	return outcome
}

// refund names the charge as its outcome was stored.
func (f ProcessorFixture) refund(t *testing.T, r ports.ChargeRequest, refundID string, minor int64) error {
	t.Helper()
	charged, err := f.Processor.Find(t.Context(), r)
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		t.Error(err)
	}
	request := ports.RefundRequest{
		RefundID: refundID, PaymentID: r.PaymentID, ProcessorID: charged.ProcessorID, CreatorID: f.CreatorID,
		Amount: money.Amount{Minor: minor, Currency: "eur"},
	}
	outcome, err := f.Processor.Refund(t.Context(), request)
	if err == nil && outcome.Status == refund.Pending && f.Confirm != nil {
		f.Confirm(t, refundID)
		outcome, err = f.Processor.Refund(t.Context(), request)
	}
	if err == nil && outcome.Status != refund.Succeeded {
		t.Errorf("refunded: %+v", outcome)
	}
	return err
}

// authenticate plays the buyer who completes the bank's challenge and comes back.
func (f ProcessorFixture) authenticate(t *testing.T, r ports.ChargeRequest, approve bool) (payment.Outcome, error) {
	t.Helper()
	if f.Challenge != nil {
		f.Challenge(t, r.PaymentID, approve)
	}
	return f.Processor.Authenticate(t.Context(), r, approve)
}

func (f ProcessorFixture) wantRefunded(t *testing.T, paymentID string, want int64) {
	t.Helper()
	if got := f.Refunded(t, paymentID); got != want {
		t.Errorf("%d were refunded, want %d", got, want)
	}
}

func processorRepeatsACharge(t *testing.T, f ProcessorFixture) {
	r := f.request(f.Cards.Succeeds)
	first := f.charge(t, r, payment.Succeeded)
	if again := f.charge(t, r, payment.Succeeded); again != first {
		t.Errorf("%+v, at first %+v", again, first)
	}
	if !has(f.Cards.Declines) {
		return
	}
	refused := f.request(f.Cards.Declines)
	first = f.charge(t, refused, payment.Declined)
	refused.Method = f.Cards.Succeeds // a retry never becomes another charge
	if again := f.charge(t, refused, payment.Declined); again != first {
		t.Errorf("%+v, at first %+v", again, first)
	}
}

func processorChargesOnceUnderConcurrency(t *testing.T, f ProcessorFixture) {
	r := f.request(f.Cards.Succeeds)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			outcome, err := f.Processor.Charge(t.Context(), r)
			if err != nil || outcome.Status != payment.Succeeded && outcome.Status != payment.Processing {
				t.Errorf("charged: %+v, %v", outcome, err)
			}
		})
	}
	all.Wait()
	f.charge(t, r, payment.Succeeded)
	if err := f.refund(t, r, "ref_"+rand.Text(), r.Amount.Minor); err != nil {
		t.Error(err)
	}
	f.wantRefunded(t, r.PaymentID, r.Amount.Minor)
}

func processorDeclines(t *testing.T, f ProcessorFixture) {
	if !has(f.Cards.Declines) {
		return
	}
	r := f.request(f.Cards.Declines)
	outcome := f.charge(t, r, payment.Declined)
	if !outcome.Decline.Code.Known() || outcome.Decline.Message == "" {
		t.Errorf("declined without a reason: %+v", outcome)
	}
	if found := f.find(t, r, payment.Declined); found.Decline != outcome.Decline {
		t.Errorf("found %+v, got %+v before", found, outcome)
	}
}

func processorResponseIsLost(t *testing.T, f ProcessorFixture) {
	if !has(f.Cards.TimesOut) {
		return
	}
	r := f.request(f.Cards.TimesOut)
	for range 2 {
		outcome, err := f.Processor.Charge(t.Context(), r)
		if !errors.Is(err, ports.ErrOutcomeUnknown) || outcome.Status.Final() {
			t.Errorf("%+v, %v; want ErrOutcomeUnknown and no outcome", outcome, err)
		}
	}
	f.find(t, r, payment.Succeeded)
	f.cancel(t, r, payment.Succeeded)
}

func processorCancelsBeforeTheCharge(t *testing.T, f ProcessorFixture) {
	r := f.request(f.Cards.Succeeds)
	f.cancel(t, r, payment.Canceled)
	f.cancel(t, r, payment.Canceled)
	f.charge(t, r, payment.Canceled)
	f.find(t, r, payment.Canceled)
	if err := f.refund(t, r, "ref_"+rand.Text(), 1); err == nil {
		t.Error("money of a canceled charge went back")
	}
}

func processorCancelsTooLate(t *testing.T, f ProcessorFixture) {
	for method, want := range map[string]payment.Status{f.Cards.Succeeds: payment.Succeeded,
		f.Cards.Declines: payment.Declined} {
		if !has(method) {
			continue
		}
		r := f.request(method)
		f.charge(t, r, want)
		f.cancel(t, r, want)
		f.find(t, r, want)
	}
}

func processorCancelsAChallenge(t *testing.T, f ProcessorFixture) {
	if !has(f.Cards.Challenges) {
		return
	}
	r := f.request(f.Cards.Challenges)
	f.charge(t, r, payment.RequiresAction)
	f.cancel(t, r, payment.Canceled)
	outcome, err := f.authenticate(t, r, true)
	if err == nil && outcome.Status != payment.Canceled {
		t.Errorf("authenticated after the cancellation: %+v", outcome)
	}
	f.find(t, r, payment.Canceled)
}

func processorChallenges(t *testing.T, f ProcessorFixture) {
	if !has(f.Cards.Challenges) {
		return
	}
	for approve, want := range map[bool]payment.Status{true: payment.Succeeded, false: payment.Declined} {
		r := f.request(f.Cards.Challenges)
		f.charge(t, r, payment.RequiresAction)
		f.find(t, r, payment.RequiresAction)
		for _, response := range []bool{approve, !approve} { // the first response is kept
			if outcome, err := f.authenticate(t, r, response); err == nil && outcome.Status != want {
				t.Errorf("responded with %v: %+v, want %s", response, outcome, want)
			}
		}
		if found := f.find(t, r, want); want == payment.Declined && found.Decline.Code == "" {
			t.Errorf("declined without a reason: %+v", found)
		}
	}
}

func processorChargesOffSession(t *testing.T, f ProcessorFixture) {
	for _, method := range []string{f.Cards.Challenges, f.Cards.PresentOnly} {
		if !has(method) {
			continue
		}
		r := f.request(method)
		r.OffSession = true
		if outcome := f.charge(t, r, payment.Declined); outcome.Decline.Code == "" {
			t.Errorf("declined without a reason: %+v", outcome)
		}
	}
	if has(f.Cards.PresentOnly) {
		f.charge(t, f.request(f.Cards.PresentOnly), payment.Succeeded)
	}
	r := f.request(f.Cards.Succeeds)
	r.OffSession = true
	f.charge(t, r, payment.Succeeded)
}

func processorKeepsACard(t *testing.T, f ProcessorFixture) {
	first := f.request(f.Cards.Succeeds)
	first.SaveCard = true
	outcome := f.charge(t, first, payment.Succeeded)
	if outcome.Method == "" || outcome.Brand == "" {
		t.Fatalf("no card was kept: %+v", outcome)
	}
	again := f.request(outcome.Method)
	again.OffSession = true
	f.charge(t, again, payment.Succeeded)
}

func processorChargesNothing(t *testing.T, f ProcessorFixture) {
	r := f.request(f.Cards.Succeeds)
	r.Amount.Minor, r.SaveCard = 0, true
	if outcome := f.charge(t, r, payment.Succeeded); outcome.Method == "" {
		t.Errorf("no card was kept: %+v", outcome)
	}
}

func processorFindsNothing(t *testing.T, f ProcessorFixture) {
	r := f.request("")
	if outcome, err := f.Processor.Find(t.Context(), r); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("found %+v, %v; want ErrNotFound", outcome, err)
	}
	if err := f.refund(t, r, "ref_"+rand.Text(), 1); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("refunded: %v; want ErrNotFound", err)
	}
}

func processorRefundsOnce(t *testing.T, f ProcessorFixture) {
	r := f.request(f.Cards.Succeeds)
	f.charge(t, r, payment.Succeeded)
	first, second := "ref_"+rand.Text(), "ref_"+rand.Text()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := f.refund(t, r, first, 500); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.wantRefunded(t, r.PaymentID, 500)
	if err := f.refund(t, r, second, 250); err != nil {
		t.Fatal(err)
	}
	f.wantRefunded(t, r.PaymentID, 750)
	f.find(t, r, payment.Succeeded)
}

func processorRefundsSucceededOnly(t *testing.T, f ProcessorFixture) {
	for method, status := range map[string]payment.Status{f.Cards.Declines: payment.Declined,
		f.Cards.Challenges: payment.RequiresAction} {
		if !has(method) {
			continue
		}
		r := f.request(method)
		f.charge(t, r, status)
		if err := f.refund(t, r, "ref_"+rand.Text(), 1); err == nil {
			t.Errorf("money of a charge that is %s went back", status)
		}
		f.wantRefunded(t, r.PaymentID, 0)
	}
}

func processorListsCharges(t *testing.T, f ProcessorFixture) {
	if f.Charges == nil {
		return
	}
	began := time.Now().Add(-time.Minute)
	listed := func(since time.Time) map[string]ports.ChargeReport {
		t.Helper()
		all, err := f.Charges.ListCharges(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		byPayment := map[string]ports.ChargeReport{}
		for _, c := range all {
			byPayment[c.PaymentID] = c
		}
		if len(all) != len(byPayment) {
			t.Errorf("%d charges are listed in %d lines", len(byPayment), len(all))
		}
		return byPayment
	}
	paid, nothing, canceled := f.request(f.Cards.Succeeds), f.request(f.Cards.Succeeds), f.request(f.Cards.Succeeds)
	nothing.Amount.Minor, nothing.SaveCard = 0, true
	f.charge(t, paid, payment.Succeeded)
	f.charge(t, nothing, payment.Succeeded)
	f.cancel(t, canceled, payment.Canceled)
	if has(f.Cards.Declines) {
		f.charge(t, f.request(f.Cards.Declines), payment.Declined)
	}
	all := listed(began)
	got := all[paid.PaymentID]
	if len(all) != 1 || got.SubjectID != paid.SubjectID || got.CreatorID != paid.CreatorID || got.Amount != paid.Amount ||
		got.Refunded.Minor != 0 || got.At.Before(began) {
		t.Errorf("listed %+v, want the charge of %+v", all, paid)
	}
	if err := f.refund(t, paid, "ref_"+rand.Text(), 500); err != nil {
		t.Fatal(err)
	}
	if got := listed(began)[paid.PaymentID].Refunded; got.Minor != 500 {
		t.Errorf("%d of it are refunded, want 500", got.Minor)
	}
	if later := listed(time.Now().Add(time.Hour)); len(later) != 0 {
		t.Errorf("listed %+v since an hour from now", later)
	}
}
