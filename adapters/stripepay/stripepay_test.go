package stripepay_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"sundry/adapters/stripepay"
	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/ports"
	"sundry/tests/stripefake"
)

func newProcessor(t *testing.T) (*stripepay.Processor, *stripefake.Server) {
	t.Helper()
	fake := stripefake.New(t)
	t.Cleanup(func() {
		if unkeyed := fake.Unkeyed(); len(unkeyed) > 0 {
			t.Errorf("sent without an idempotency key: %v", unkeyed)
		}
	})
	return stripepay.New(stripepay.Config{SecretKey: "sk_test_1", APIBase: fake.URL}), fake
}

func request(does string) ports.ChargeRequest {
	return ports.ChargeRequest{
		PaymentID: "pay_" + rand.Text(), SubjectID: "cs_1", CreatorID: "crt_1", Method: "ctoken_" + does,
		Amount: money.Amount{Minor: 1250, Currency: "eur"},
	}
}

// Whatever goes wrong in whatever request, the processor is sure, or reports that it is not: afterwards Cancel or Find
// knows, and no attempt has moved money more than once.
func TestFailuresAreUnknownOrCertainAndNeverADecline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		route   string
		failure stripefake.Failure
		want    error
		// after is the status that Find returns once Stripe is healthy again; "" for ErrNotFound.
		after payment.Status
	}{
		"creating fails with 500": {"POST /v1/payment_intents", stripefake.Failure{Status: 500},
			ports.ErrOutcomeUnknown, ""},
		"creating is cut before its effect": {"POST /v1/payment_intents", stripefake.Failure{},
			ports.ErrOutcomeUnknown, ""},
		"creating is cut after its effect": {"POST /v1/payment_intents", stripefake.Failure{After: true},
			ports.ErrOutcomeUnknown, ""},
		"creating is refused because of too many": {"POST /v1/payment_intents",
			stripefake.Failure{Status: 429, Code: "rate_limit"}, ports.ErrProcessorUnavailable, ""},
		"the key is wrong": {"POST /v1/payment_intents", stripefake.Failure{Status: 401},
			ports.ErrProcessorUnavailable, ""},
		"confirming fails with 500": {"/confirm", stripefake.Failure{Status: 500}, ports.ErrOutcomeUnknown,
			""},
		"confirming fails with 500 after its effect": {"/confirm", stripefake.Failure{Status: 500, After: true},
			ports.ErrOutcomeUnknown, payment.Succeeded},
		"confirming is cut before its effect": {"/confirm", stripefake.Failure{}, ports.ErrOutcomeUnknown, ""},
		"confirming is cut after its effect": {"/confirm", stripefake.Failure{After: true}, ports.ErrOutcomeUnknown,
			payment.Succeeded},
		"confirming is refused because of too many": {"/confirm", stripefake.Failure{Status: 429, Code: "rate_limit"},
			ports.ErrProcessorUnavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, fake := newProcessor(t)
			fake.Fail(c.route, c.failure)
			r := request(stripefake.Succeeds)
			o, err := p.Charge(t.Context(), r)
			if !errors.Is(err, c.want) || o.Status != "" {
				t.Fatalf("charged: %+v, %v; want %v", o, err, c.want)
			}
			if errors.Is(c.want, ports.ErrOutcomeUnknown) == errors.Is(err, ports.ErrProcessorUnavailable) {
				t.Errorf("both unknown and certain: %v", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error prints what Stripe reports: %v", err)
			}
			fake.Heal()
			found, err := p.Find(t.Context(), r)
			if c.after == "" && !errors.Is(err, ports.ErrNotFound) || c.after != "" && (err != nil || found.Status != c.after) {
				t.Errorf("found %+v, %v; want %q", found, err, c.after)
			}
			want := payment.Canceled
			if c.after == payment.Succeeded {
				want = payment.Succeeded
			}
			if o, err := p.Cancel(t.Context(), r); err != nil || o.Status != want {
				t.Errorf("canceled: %+v, %v; want %s", o, err, want)
			}
			if o, err := p.Charge(t.Context(), r); err != nil || o.Status != want {
				t.Errorf("charged again: %+v, %v; want %s", o, err, want)
			}
		})
	}
}

func TestACardIsRecognizedBeforeItIsCharged(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	token := "ctoken_" + stripefake.Succeeds + "_first"
	before, err := p.Fingerprint(t.Context(), token)
	if err != nil || before == "" {
		t.Fatalf("%q, %v", before, err)
	}
	r := request(stripefake.Succeeds)
	r.Method = token
	if o, err := p.Charge(t.Context(), r); err != nil || o.CardFingerprint != before || o.CardCountry != "IE" {
		t.Errorf("charged %q of %q, %v; want %q", o.CardFingerprint, o.CardCountry, err, before)
	}
	if other, err := p.Fingerprint(t.Context(), token+"2"); err != nil || other == before {
		t.Errorf("another card is %q, %v", other, err)
	}
	if saved, err := p.Fingerprint(t.Context(), "cus_1/pm_1"); err != nil || saved != "" {
		t.Errorf("a saved card is %q, %v", saved, err)
	}
	fake.Fail("confirmation_tokens", stripefake.Failure{Status: 429, Code: "rate_limit"})
	if _, err := p.Fingerprint(t.Context(), token); !errors.Is(err, ports.ErrProcessorUnavailable) {
		t.Errorf("%v", err)
	}
}

func TestAnAddressThatNobodyConfirmsMovesNothing(t *testing.T) {
	t.Parallel()
	p := stripepay.New(stripepay.Config{SecretKey: "sk_test_1", APIBase: "http://127.0.0.1:1"})
	for name, call := range map[string]func(ports.ChargeRequest) error{
		"charge": func(r ports.ChargeRequest) error { _, err := p.Charge(t.Context(), r); return err },
		"find":   func(r ports.ChargeRequest) error { _, err := p.Find(t.Context(), r); return err },
		"cancel": func(r ports.ChargeRequest) error { _, err := p.Cancel(t.Context(), r); return err },
	} {
		if err := call(request(stripefake.Succeeds)); !errors.Is(err, ports.ErrProcessorUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATimeOutIsUnknown(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	fake.Linger(300 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if o, err := p.Charge(ctx, request(stripefake.Succeeds)); !errors.Is(err, ports.ErrOutcomeUnknown) {
		t.Errorf("%+v, %v", o, err)
	}
}

// Stripe keeps the response to a key, failures included. What certainly never began cannot end: it is a refusal.
func TestAKeyThatOnlyRepeatsAFailureEndsTheAttempt(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	r := request(stripefake.Succeeds)
	fake.Store("POST /v1/payment_intents", 500)
	if o, err := p.Charge(t.Context(), r); !errors.Is(err, ports.ErrOutcomeUnknown) {
		t.Errorf("at first: %+v, %v", o, err)
	}
	if o, err := p.Charge(t.Context(), r); err != nil || o.Status != payment.Declined {
		t.Errorf("again: %+v, %v", o, err)
	}
	if o, err := p.Cancel(t.Context(), r); err != nil || o.Status != payment.Canceled {
		t.Errorf("canceled: %+v, %v", o, err)
	}
}

func TestARefusalNamesStripesReasonAndEndsTheIntent(t *testing.T) {
	t.Parallel()
	for does, code := range map[string]payment.DeclineCode{stripefake.Declines: payment.InsufficientFunds,
		stripefake.Garbage: payment.CardDeclined} {
		p, fake := newProcessor(t)
		r := request(does)
		o, err := p.Charge(t.Context(), r)
		if err != nil || o.Status != payment.Declined || o.Decline.Code != code || o.Decline.Message == "" ||
			strings.Contains(o.Decline.Message, "secret") {
			t.Errorf("%s: %+v, %v", does, o, err)
		}
		if intent := fake.Get("pi_", "payment_id", r.PaymentID); intent["status"] != "canceled" {
			t.Errorf("%s: the intent is %s: anyone with its secret could still pay it", does, intent["status"])
		}
	}
	p, fake := newProcessor(t)
	r := request(stripefake.Succeeds)
	r.Amount.Minor = 49
	if o, err := p.Charge(t.Context(), r); err != nil || o.Status != payment.Declined ||
		o.Decline.Code != "amount_too_small" {
		t.Errorf("too small: %+v, %v", o, err)
	}
	if n := fake.Count("/confirm"); n != 0 {
		t.Errorf("confirmed %d times", n)
	}
}

func TestADeclineIsNotKnownUntilTheIntentIsEnded(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	fake.Fail("/cancel", stripefake.Failure{Status: 500})
	r := request(stripefake.Declines)
	if o, err := p.Charge(t.Context(), r); !errors.Is(err, ports.ErrOutcomeUnknown) {
		t.Errorf("%+v, %v", o, err)
	}
	fake.Heal()
	if o, err := p.Find(t.Context(), r); err != nil || o.Status != payment.Declined {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestTheBuyersBrowserGetsWhatItNeedsForTheBank(t *testing.T) {
	t.Parallel()
	p, _ := newProcessor(t)
	r := request(stripefake.Challenges)
	o, err := p.Charge(t.Context(), r)
	if err != nil || o.Status != payment.RequiresAction || o.Action.ClientSecret == "" || o.ProcessorID == "" {
		t.Fatalf("%+v, %v", o, err)
	}
	r.ProcessorID = o.ProcessorID
	if again, err := p.Find(t.Context(), r); err != nil || again.Action != o.Action {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestASavedCardIsChargedThroughAnInvoiceOfItsLines(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	saved := request(stripefake.Succeeds)
	saved.SaveCard, saved.CustomerID, saved.Email = true, "cus_1", "ada@example.com"
	first, err := p.Charge(t.Context(), saved)
	if err != nil || first.Method == "" || first.Fee.Minor == 0 || first.Fee.Currency != "eur" {
		t.Fatalf("%+v, %v", first, err)
	}
	r := request("")
	r.Method, r.OffSession, r.CustomerID = first.Method, true, "cus_1"
	line := func(text string, minor int64) payment.Line {
		return payment.Line{Description: text, Amount: money.Amount{Minor: minor, Currency: "eur"}}
	}
	r.Lines = []payment.Line{line("Seats", 1000), line("Calls", 200)} // and 50 of tax on top
	o, err := p.Charge(t.Context(), r)
	if err != nil || o.Status != payment.Succeeded {
		t.Fatalf("%+v, %v", o, err)
	}
	if items, invoice := fake.Count("POST /v1/invoiceitems"), fake.Get("in_", "payment_id", r.PaymentID); items != 3 ||
		invoice["status"] != "paid" || invoice["amount_due"] != 1250.0 {
		t.Errorf("%d items, %v", items, invoice)
	}
	again, err := p.Charge(t.Context(), r)
	if err != nil || again != o || fake.Count("POST /v1/invoices/") == 0 {
		t.Errorf("%+v, %v", again, err)
	}
	r.PaymentID = request("").PaymentID
	fake.Fail("GET /v1/payment_intents", stripefake.Failure{Status: 429})
	_, err = p.Charge(t.Context(), r)
	if !errors.Is(err, ports.ErrOutcomeUnknown) || errors.Is(err, ports.ErrProcessorUnavailable) {
		t.Errorf("once it is paid, Stripe is not reached: got %v, want %v", err, ports.ErrOutcomeUnknown)
	}
	fake.Heal()
	declined := r
	declined.PaymentID, declined.Method = "pay_"+rand.Text(), strings.Replace(r.Method, stripefake.Succeeds,
		stripefake.Declines, 1)
	if o, err := p.Charge(t.Context(), declined); err != nil || o.Status != payment.Declined {
		t.Errorf("%+v, %v", o, err)
	}
	if invoice := fake.Get("in_", "payment_id", declined.PaymentID); invoice["status"] != "void" {
		t.Errorf("an unpaid invoice stays at Stripe: %v", invoice)
	}
}

func TestOneCustomerOfOursIsOneOfStripes(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	for range 2 {
		r := request(stripefake.Succeeds)
		r.PaymentID, r.Amount.Minor, r.SaveCard, r.CustomerID = "seti_"+rand.Text(), 0, true, "cus_1"
		if o, err := p.Charge(t.Context(), r); err != nil || o.Status != payment.Succeeded || o.ExpYear != 2034 {
			t.Fatalf("%+v, %v", o, err)
		}
		fake.ForgetKeys() // a day later
	}
	if n := fake.Count("POST /v1/customers"); n != 1 {
		t.Errorf("%d customers were made", n)
	}
}

func TestARefundIsMadeOnceHoweverLateItIsAskedForAgain(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	r := request(stripefake.Succeeds)
	o, err := p.Charge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	back := ports.RefundRequest{RefundID: "ref_1", PaymentID: r.PaymentID, ProcessorID: o.ProcessorID, CreatorID: "crt_1",
		Amount: money.Amount{Minor: 500, Currency: "eur"}}
	for range 2 {
		if out, err := p.Refund(t.Context(), back); err != nil || out.Status != refund.Succeeded {
			t.Errorf("%+v, %v", out, err)
		}
		fake.ForgetKeys()
	}
	made := fake.Get("re_", "refund_id", "ref_1")
	fake.Change(made["id"].(string), map[string]any{"status": "failed", "failure_reason": "expired_or_canceled_card"})
	if out, err := p.Refund(t.Context(), back); err != nil ||
		out != (refund.Outcome{Status: refund.Failed, Reason: "expired_or_canceled_card"}) {
		t.Errorf("the bank returned it: %+v, %v", out, err)
	}
	back.RefundID, back.Amount.Minor = "ref_2", 2000
	want := refund.Outcome{Status: refund.Failed, Reason: "amount_too_large", Refused: true}
	if out, err := p.Refund(t.Context(), back); err != nil || out != want {
		t.Errorf("more than was paid: %+v, %v, want %+v", out, err, want)
	}
}

func TestDisputesAreReadAnsweredAndAccepted(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	r := request(stripefake.Succeeds)
	if _, err := p.Charge(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	id := fake.Dispute(r.PaymentID, 1250)
	fake.Change(id, map[string]any{"status": "warning_needs_response"})
	if _, err := p.FindDispute(t.Context(), id); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("an inquiry: %v", err)
	}
	fake.Change(id, map[string]any{"status": "needs_response"})
	report, err := p.FindDispute(t.Context(), id)
	if err != nil || report.PaymentID != r.PaymentID || report.CreatorID != "crt_1" || report.Amount != r.Amount ||
		report.Reason != "fraudulent" || report.RespondBy.IsZero() {
		t.Fatalf("%+v, %v", report, err)
	}
	evidence := ports.DisputeEvidence{Evidence: dispute.Evidence{Text: strings.Repeat("é", dispute.MaxText),
		FileURLs: []string{"https://example.com/a.pdf"}}}
	for range 2 {
		if report, err = p.SubmitEvidence(t.Context(), id, evidence); err != nil || report.Status != dispute.UnderReview {
			t.Errorf("%+v, %v", report, err)
		}
	}
	if report, err = p.AcceptDispute(t.Context(), id); err != nil || report.Status != dispute.Lost {
		t.Errorf("%+v, %v", report, err)
	}
}

// wholeEvidence has everything that a response may have.
func wholeEvidence() ports.DisputeEvidence {
	at := dispute.Moment{Time: time.Date(2026, 3, 8, 14, 5, 0, 0, time.UTC)}
	c := dispute.NewCollected(at.Time)
	c.Buyer = dispute.Buyer{Name: new("Ada Lovelace"), Email: new("ada@example.com"), Line1: new("Main Street 1"),
		City: new("London"), PostalCode: new("N1"), Country: new("GB")}
	c.Purchase = dispute.Purchase{PaidAt: at, AmountInCents: 1250, Currency: "eur", Network: new("192.0.2.7/32")}
	c.Receipt = &dispute.Receipt{Number: "A-1", Items: []dispute.Item{{Description: "Field guide", AmountInCents: 1250}}}
	c.Consent = &dispute.Consent{AcceptedAt: at, Statement: new("I agree.")}
	c.Downloads = append(c.Downloads, dispute.Download{Name: "guide.pdf", Count: 3, LastDownloadedAt: at})
	c.RefundPolicy = new("No refunds after the download.")
	return ports.DisputeEvidence{
		Evidence: dispute.Evidence{Text: "They came.", FileIDs: []string{"file_1", "file_2"}, Collected: c},
		Files: []ports.DisputeFile{
			{ID: "file_1", Name: "chat.pdf", ContentType: "application/pdf", Content: []byte("%PDF-chat")},
			{ID: "file_2", Name: "room.png", ContentType: "image/png", Content: []byte("\x89PNG\r\n\x1a\nroom")},
		},
		Receipt: &ports.DisputeFile{ID: "receipt", Name: "receipt.pdf", ContentType: "application/pdf",
			Content: []byte("%PDF-receipt")},
	}
}

func TestEvidence_IsSentInStripesMembers(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	r := request(stripefake.Succeeds)
	if _, err := p.Charge(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	id := fake.Dispute(r.PaymentID, 1250)
	if report, err := p.SubmitEvidence(t.Context(), id, wholeEvidence()); err != nil ||
		report.Status != dispute.UnderReview {
		t.Fatalf("%+v, %v", report, err)
	}
	got := fake.Evidence(id)
	for member, want := range map[string]string{
		"customer_name": "Ada Lovelace", "customer_email_address": "ada@example.com", "customer_purchase_ip": "192.0.2.7",
		"billing_address": "Main Street 1, N1 London, GB", "service_date": "2026-03-08",
		"product_description": "Field guide", "uncategorized_text": "They came.", "receipt": "%PDF-receipt",
		"uncategorized_file": "%PDF-chat", "service_documentation": "\x89PNG\r\n\x1a\nroom",
		"access_activity_log": "Downloads\n- guide.pdf: 3 times, last 2026-03-08 14:05 UTC\n",
		"refund_policy_disclosure": "The buyer agreed to this refund policy on 2026-03-08: I agree.\n\n" +
			"No refunds after the download.",
	} {
		if got[member] != want {
			t.Errorf("%s: %q, want %q", member, got[member], want)
		}
		delete(got, member)
	}
	if len(got) > 0 {
		t.Errorf("more was sent: %q", got)
	}
}

// A response that breaks off anywhere is finished by sending it again: nothing is uploaded or submitted twice.
func TestEvidence_GoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		route    string
		failure  stripefake.Failure
		uploads  int // requests
		submits  int
		uploaded int // files
	}{
		"before an upload":       {"POST /v1/files", stripefake.Failure{Status: 503, Times: 1}, 4, 1, 3},
		"after an upload":        {"POST /v1/files", stripefake.Failure{Status: 503, Times: 1, After: true}, 4, 1, 3},
		"before the submission":  {"POST /v1/disputes", stripefake.Failure{Status: 503, Times: 1}, 6, 2, 3},
		"after the submission":   {"POST /v1/disputes", stripefake.Failure{Status: 503, Times: 1, After: true}, 3, 1, 3},
		"at a file that is none": {"POST /v1/files", stripefake.Failure{Status: 400, Times: 1}, 3, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, fake := newProcessor(t)
			r := request(stripefake.Succeeds)
			if _, err := p.Charge(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			id := fake.Dispute(r.PaymentID, 1250)
			fake.Fail(c.route, c.failure)
			report, err := p.SubmitEvidence(t.Context(), id, wholeEvidence())
			if refused := c.failure.Status == 400; (err == nil) != refused {
				t.Fatalf("the first time: %+v, %v", report, err)
			}
			if report, err = p.SubmitEvidence(t.Context(), id, wholeEvidence()); err != nil ||
				report.Status != dispute.UnderReview {
				t.Errorf("the second time: %+v, %v", report, err)
			}
			if u, s := fake.Count("POST /v1/files"), fake.Count("POST /v1/disputes"); u != c.uploads || s != c.submits {
				t.Errorf("%d uploads and %d submissions, want %d and %d", u, s, c.uploads, c.submits)
			}
			if n := fake.Number("file_"); n != c.uploaded {
				t.Errorf("%d files are uploaded, want %d", n, c.uploaded)
			}
		})
	}
}

func TestEvidence_ChecksFilesFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int // of Stripe's response; 0 for what it takes
		refused bool
	}{
		"a file that Stripe takes":   {0, false},
		"a file that Stripe refuses": {400, true},
		"a Stripe that fails":        {503, false},
		"a key that Stripe refuses":  {401, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, fake := newProcessor(t)
			r := request(stripefake.Succeeds)
			if _, err := p.Charge(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			id, evidence := fake.Dispute(r.PaymentID, 1250), wholeEvidence()
			if c.status != 0 {
				fake.Fail("POST /v1/files", stripefake.Failure{Status: c.status, Times: 1})
			}
			err := p.CheckFile(t.Context(), id, evidence.Files[0])
			if errors.Is(err, ports.ErrFileRefused) != c.refused || (err == nil) != (c.status == 0) {
				t.Errorf("checked: %v", err)
			}
			if c.refused {
				evidence.Files, evidence.FileIDs = evidence.Files[1:], evidence.FileIDs[1:]
			}
			if report, err := p.SubmitEvidence(t.Context(), id, evidence); err != nil || report.Status != dispute.UnderReview {
				t.Fatalf("%+v, %v", report, err)
			}
			if n, want := fake.Number("file_"), len(evidence.Files)+1; n != want {
				t.Errorf("%d files are uploaded, want %d", n, want)
			}
		})
	}
}

func TestAPayoutIsOneTransfer(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	rail := stripepay.NewRail(p)
	out := payout.State{ID: "po_1", CreatorID: "crt_1", Destination: "acct_1",
		Amount: money.Amount{Minor: 5000, Currency: "eur"}}
	if _, err := rail.Find(t.Context(), out); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("found before it was sent: %v", err)
	}
	for range 2 {
		if got, err := rail.Send(t.Context(), out); err != nil || got.Status != payout.Paid {
			t.Errorf("%+v, %v", got, err)
		}
		fake.ForgetKeys()
	}
	if n := fake.Count("POST /v1/transfers"); n != 1 {
		t.Errorf("%d transfers", n)
	}
	made := fake.Get("tr_", "payout_id", "po_1")
	fake.Change(made["id"].(string), map[string]any{"amount_reversed": 2000})
	if got, err := rail.Find(t.Context(), out); err != nil || got != (ports.PayoutOutcome{
		Status: payout.Paid, Returned: true,
	}) {
		t.Errorf("reversed in part: %+v, %v", got, err)
	}
	fake.Change(made["id"].(string), map[string]any{"reversed": true})
	if got, err := rail.Find(t.Context(), out); err != nil || got.Status != payout.Failed {
		t.Errorf("reversed: %+v, %v", got, err)
	}
	if made["destination"] != "acct_1" {
		t.Errorf("sent to %v", made["destination"])
	}
	out.ID, out.Destination = "po_2", ""
	if got, err := rail.Send(t.Context(), out); err != nil ||
		got != (ports.PayoutOutcome{Status: payout.Failed, Reason: "no_payout_account"}) {
		t.Errorf("without an account: %+v, %v", got, err)
	}
}

func TestOnlyTestCardNumbersAndOnlyInTheSandbox(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		live bool
		in   ports.CardInput
		want string
		ok   bool
	}{
		"a token":              {true, ports.CardInput{Token: "ctoken_1"}, "ctoken_1", true},
		"no token":             {true, ports.CardInput{Token: "pm_1"}, "pm_1", false},
		"nothing":              {true, ports.CardInput{}, "", true},
		"a test card":          {false, ports.CardInput{Number: "4242 4242 4242 4242"}, "pm_card_visa", true},
		"a test card in live":  {true, ports.CardInput{Number: "4242424242424242"}, "", false},
		"a number in between":  {false, ports.CardInput{Number: "5555555555554444"}, "", false},
		"a token with a slash": {false, ports.CardInput{Token: "ctoken_1/../x"}, "ctoken_1/../x", false},
	} {
		var f fault.Violations
		got := stripepay.New(stripepay.Config{Live: c.live}).Method(c.in, &f)
		if got != c.want || (f.Err() == nil) != c.ok {
			t.Errorf("%s: %q, %v", name, got, f.Err())
		}
	}
}
