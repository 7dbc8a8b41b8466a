package contract

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/ports"
)

// PayoutRailFixture is a rail over an account of its own.
type PayoutRailFixture struct {
	Rail ports.PayoutRail
	// Confirm makes a payout arrive where the rail learns that later; nil where its response is the outcome.
	Confirm func(t *testing.T, payoutID string)
	// Payouts lists what was sent; nil where the rail can't.
	Payouts ports.PayoutLister
	// Sent returns the number of transfers that the rail has made, and is nil where nobody can tell.
	Sent func() int
}

// PayoutRail is the suite of ports.PayoutRail.
func PayoutRail(t *testing.T, newFixture func(t *testing.T) PayoutRailFixture) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, f PayoutRailFixture){
		"a payout that is sent again moves nothing more": railSendsOnce,
		"an account that was opened is found":            railFindsItsAccount,
		"an unknown account is not found":                railFindsNoOther,
		"a link leads somewhere":                         railLinks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newFixture(t))
		})
	}
}

func (f PayoutRailFixture) open(t *testing.T) payout.AccountReport {
	t.Helper()
	report, err := f.Rail.OpenAccount(t.Context(), ports.PayoutAccountRequest{
		CreatorID: "crt_" + rand.Text(), Email: "ada@example.com", Country: "DE",
	})
	if err != nil || report.ID == "" {
		t.Fatalf("opened %+v, %v", report, err)
	}
	return report
}

func railSendsOnce(t *testing.T, f PayoutRailFixture) {
	p := payout.State{
		ID: "po_" + rand.Text(), CreatorID: "crt_1", Amount: money.Amount{Minor: 5000, Currency: "eur"},
		Destination: f.open(t).ID,
	}
	for range 3 {
		if outcome, err := f.Rail.Send(t.Context(), p); err != nil || outcome.Status == payout.Failed {
			t.Fatalf("sent: %+v, %v", outcome, err)
		}
	}
	if f.Confirm != nil {
		f.Confirm(t, p.ID)
	}
	for _, ask := range []func() (ports.PayoutOutcome, error){
		func() (ports.PayoutOutcome, error) { return f.Rail.Find(t.Context(), p) },
		func() (ports.PayoutOutcome, error) { return f.Rail.Send(t.Context(), p) },
	} {
		if outcome, err := ask(); err != nil || outcome.Status != payout.Paid {
			t.Errorf("%+v, %v; want it paid", outcome, err)
		}
	}
	if f.Payouts != nil {
		wantListedPayout(t, f.Payouts, p)
	}
	if f.Sent != nil && f.Sent() != 1 {
		t.Errorf("%d transfers, want one", f.Sent())
	}
}

// wantListedPayout expects one payout, which was just sent, in the rail's list.
func wantListedPayout(t *testing.T, payouts ports.PayoutLister, p payout.State) {
	t.Helper()
	all, err := payouts.ListPayouts(t.Context(), time.Now().Add(-time.Minute))
	if err != nil || len(all) != 1 || all[0].PayoutID != p.ID || all[0].CreatorID != p.CreatorID ||
		all[0].Amount != p.Amount || all[0].Destination != p.Destination || all[0].At.IsZero() {
		t.Errorf("listed %+v, %v; want %+v", all, err, p)
	}
	if later, err := payouts.ListPayouts(t.Context(), time.Now().Add(time.Hour)); err != nil || len(later) != 0 {
		t.Errorf("listed %+v, %v since an hour from now", later, err)
	}
}

func railFindsItsAccount(t *testing.T, f PayoutRailFixture) {
	opened := f.open(t)
	if found, err := f.Rail.FindAccount(t.Context(), opened.ID); err != nil || found.ID != opened.ID {
		t.Errorf("found %+v, %v", found, err)
	}
}

func railFindsNoOther(t *testing.T, f PayoutRailFixture) {
	if found, err := f.Rail.FindAccount(t.Context(), "unknown"); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("found %+v, %v; want ErrNotFound", found, err)
	}
}

func railLinks(t *testing.T, f PayoutRailFixture) {
	link, err := f.Rail.LinkAccount(t.Context(), ports.PayoutAccountVisit{
		RailID: f.open(t).ID, ReturnURL: "https://pay.example.com/done", RefreshURL: "https://pay.example.com/again",
	})
	if err != nil || link.URL == "" {
		t.Errorf("%+v, %v", link, err)
	}
}

// EventFixture makes events as a provider sends them.
type EventFixture struct {
	Verifier ports.EventVerifier
	// Payload is an event about a payment, and Ignored one that matters to nobody here; nil where every event matters.
	Payload, Ignored []byte
	// Sign returns the signature of a payload at a time.
	Sign func(payload []byte, at time.Time) string
}

// EventVerifier is the suite of ports.EventVerifier.
func EventVerifier(t *testing.T, newFixture func(t *testing.T) EventFixture) {
	t.Helper()
	f, now := newFixture(t), time.Now()
	read := func(payload []byte, signature string, at time.Time) (ports.ProcessorEvent, bool, error) {
		return f.Verifier.Verify(payload, signature, at)
	}
	e, ok, err := read(f.Payload, f.Sign(f.Payload, now), now)
	if err != nil || !ok || e.ID == "" || e.Kind != ports.AboutPayment || e.ObjectID == "" {
		t.Errorf("%+v, %v, %v; want an event about a payment", e, ok, err)
	}
	if again, _, _ := read(f.Payload, f.Sign(f.Payload, now.Add(time.Minute)), now); again != e {
		t.Errorf("sent again it is %+v, at first %+v", again, e)
	}
	if f.Ignored != nil {
		if e, ok, err := read(f.Ignored, f.Sign(f.Ignored, now), now); ok || err != nil {
			t.Errorf("ignored: %+v, %v, %v", e, ok, err)
		}
	}
	changed := append([]byte(" "), f.Payload...)
	for name, refused := range map[string]struct {
		payload   []byte
		signature string
	}{
		"without a signature":       {f.Payload, ""},
		"of another payload":        {changed, f.Sign(f.Payload, now)},
		"of six minutes ago":        {f.Payload, f.Sign(f.Payload, now.Add(-6*time.Minute))},
		"of six minutes from now":   {f.Payload, f.Sign(f.Payload, now.Add(6*time.Minute))},
		"that is cut off":           {f.Payload, f.Sign(f.Payload, now)[:20]},
		"that is no signature form": {f.Payload, "nonsense"},
	} {
		if e, ok, err := read(refused.payload, refused.signature, now); ok || !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a signature %s: %+v, %v, %v; want UNAUTHENTICATED", name, e, ok, err)
		}
	}
	body := []byte(`{"id":`)
	if e, ok, err := read(body, f.Sign(body, now), now); ok || !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("no JSON: %+v, %v, %v; want VALIDATION_FAILED", e, ok, err)
	}
}

// DisputeFixture is a provider on whose side a dispute can be opened.
type DisputeFixture struct {
	Disputes ports.DisputeProcessor
	// Open opens a dispute of a payment of its own, and returns the provider's id of it.
	Open func(t *testing.T) (processorID string)
}

// Disputes is the suite of ports.DisputeProcessor.
func Disputes(t *testing.T, newFixture func(t *testing.T) DisputeFixture) {
	t.Helper()
	evidence := ports.DisputeEvidence{
		Evidence: dispute.Evidence{
			Text: "It was delivered on 1 March.", FileIDs: []string{"file_1"},
			Collected: dispute.NewCollected(time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)),
		},
		Files: []ports.DisputeFile{
			{ID: "file_1", Name: "proof.pdf", ContentType: "application/pdf", Content: []byte("%PDF-1.4")},
		},
	}
	for name, test := range map[string]func(t *testing.T, f DisputeFixture, processorID string){
		"an open dispute names its payment, amount and last day": func(t *testing.T, f DisputeFixture, processorID string) {
			d, err := f.Disputes.FindDispute(t.Context(), processorID)
			if err != nil || d.ProcessorID != processorID || d.PaymentID == "" || d.Amount.Minor <= 0 || d.RespondBy.IsZero() ||
				d.Status != dispute.NeedsResponse {
				t.Errorf("%+v, %v", d, err)
			}
		},
		"a file is taken before the response and with it": func(t *testing.T, f DisputeFixture, processorID string) {
			for range 2 {
				if err := f.Disputes.CheckFile(t.Context(), processorID, evidence.Files[0]); err != nil {
					t.Errorf("checked: %v", err)
				}
			}
			if d, err := f.Disputes.FindDispute(t.Context(), processorID); err != nil || d.Status != dispute.NeedsResponse {
				t.Errorf("after the check: %+v, %v", d, err)
			}
			if d, err := f.Disputes.SubmitEvidence(t.Context(), processorID, evidence); err != nil ||
				d.Status == dispute.NeedsResponse {
				t.Errorf("%+v, %v", d, err)
			}
		},
		"evidence that is sent again changes nothing": func(t *testing.T, f DisputeFixture, processorID string) {
			first, err := f.Disputes.SubmitEvidence(t.Context(), processorID, evidence)
			if err != nil || first.Status == dispute.NeedsResponse {
				t.Fatalf("%+v, %v", first, err)
			}
			if again, err := f.Disputes.SubmitEvidence(t.Context(), processorID, evidence); err != nil ||
				again.Status != first.Status {
				t.Errorf("%+v, %v; at first %+v", again, err, first)
			}
		},
		"an accepted dispute is lost, once": func(t *testing.T, f DisputeFixture, processorID string) {
			for range 2 {
				if d, err := f.Disputes.AcceptDispute(t.Context(), processorID); err != nil || d.Status != dispute.Lost {
					t.Errorf("%+v, %v; want it lost", d, err)
				}
			}
		},
		"an unknown dispute is not found": func(t *testing.T, f DisputeFixture, _ string) {
			if d, err := f.Disputes.FindDispute(t.Context(), "dp_unknown"); !errors.Is(err, ports.ErrNotFound) {
				t.Errorf("%+v, %v; want ErrNotFound", d, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			test(t, f, f.Open(t))
		})
	}
}
