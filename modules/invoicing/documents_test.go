package invoicing_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/dispute"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/payout"
	"sundry/core/plan"
	"sundry/core/refund"
	"sundry/core/tax"
	"sundry/core/usage"
	"sundry/modules/invoicing"
	"sundry/ports"
	"sundry/tests/testdb"
)

const (
	payID = "pay_01h00000000000000000000000"
	refID = "ref_01h00000000000000000000000"
)

var german = locale.ParseTag("de")

// taxed are the details of a sale at one German rate.
func taxed(net, added int64) tax.Details {
	return tax.Details{Treatment: tax.Taxed, Country: "DE", Shares: []tax.Share{{Rate: 1900, Net: eur(net),
		Tax: eur(added)}}}
}

// sold is a checkout that was paid: 119.00 with 19.00 of tax in it.
func sold() checkout.Paid {
	return checkout.Paid{
		CheckoutID: "cs_1", PaymentID: payID, CreatorID: creatorID, CustomerID: customerID, Email: "grace@example.com",
		BuyerName: "Grace Hopper", Buyer: customer.Details{Address: customer.Address{Country: "DE", PostalCode: "10115"}},
		Offer: plan.Offer{Title: "Field notes", PlanKey: "pro", PlanName: "Pro"}, ReceiptNumber: "000000-R-000001",
		Subtotal: eur(11_900), Discount: eur(0), Tax: eur(1900), TaxAdded: eur(0), TaxDetails: taxed(10_000, 1900),
		Total: eur(11_900),
		Brand: "visa", Last4: "4242", At: noon,
	}
}

// bought writes the payment of sold, and issues its receipt.
func (w *fixture) bought() {
	w.t.Helper()
	e := sold()
	p := payment.NewPending(payment.Intent{
		ID: payID, CreatorID: creatorID, Amount: e.Total, Subject: payment.Subject{Purpose: payment.ForCheckout,
			SubjectID: e.CheckoutID},
		Sale: payment.Sale{Subtotal: e.Subtotal, Discount: eur(0), Tax: e.Tax, TaxAdded: eur(0), Credit: eur(0)},
	}, noon)
	_, err := p.Apply(payment.Outcome{Status: payment.Succeeded}, noon)
	w.must(errors.Join(err, p.Document(customerID, e.ReceiptNumber)))
	w.do(func(ctx context.Context, r ports.Repos) error {
		if _, err := r.Invoicing.DocumentNumbers.Next(ctx, creatorID, document.Receipts); err != nil {
			return err
		}
		return errors.Join(r.Payments.Payments.Insert(ctx, p.State()), w.documents.OnCheckoutPaid(ctx, r, e))
	})
}

// refunded writes a refund of bought, and issues its credit note.
func (w *fixture) refunded(amount, taxIn int64) refund.State {
	w.t.Helper()
	f := refund.NewPending(refund.State{
		ID: refID, CreatorID: creatorID,
		Return: ledger.Return{PaymentID: payID, Share: ledger.Share{Amount: eur(amount), Tax: eur(taxIn)}},
		Reason: "requested_by_customer",
	}, noon)
	w.do(func(ctx context.Context, r ports.Repos) error {
		n, err := r.Invoicing.DocumentNumbers.Next(ctx, creatorID, document.CreditNotes)
		if err != nil {
			return err
		}
		e, _, err := f.Succeed(document.Number(creatorID, document.CreditNotes, n), false, noon)
		if err != nil {
			return err
		}
		return errors.Join(r.Payments.Refunds.Insert(ctx, f.State()), w.documents.OnRefundCreated(ctx, r, e))
	})
	return f.State()
}

func (w *fixture) document(kind document.Kind, subjectID string) document.Snapshot {
	w.t.Helper()
	issued, err := w.documents.Of(context.Background(), kind, subjectID, locale.Default)
	w.must(err)
	return issued.Snapshot
}

// page is a document as a reader sees it: a line per fact, line, total and note.
func (w *fixture) page(kind document.Kind, subjectID string, reader locale.Locale) (ports.Document, string) {
	w.t.Helper()
	issued, err := w.documents.Of(context.Background(), kind, subjectID, reader)
	w.must(err)
	d := issued.Page
	var text []string
	for _, f := range d.Facts {
		text = append(text, f.Label+": "+f.Value)
	}
	for _, l := range d.Lines {
		text = append(text, strings.TrimSpace(l.Quantity+" "+l.Description+" "+l.Detail)+" = "+reader.Money(l.Amount))
	}
	for _, total := range d.Totals {
		text = append(text, total.Label+" = "+reader.Money(total.Amount))
	}
	return d, strings.Join(append(text, d.Notes...), "\n")
}

func TestAReceiptIsFrozenAndReadInAnyLanguage(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.bought()
		d, text := w.page(document.Receipt, payID, locale.Default)
		if d.Title != "Receipt" || d.Number != "000000-R-000001" || d.Stamp == "" || d.Seller.Name != "Sundry Ltd" ||
			d.Buyer.Name != "Grace Hopper" || !slices.Equal(d.Buyer.Lines, []string{"10115", "Germany", "grace@example.com"}) {
			t.Errorf("%+v", d)
		}
		for _, want := range []string{
			"Receipt number: 000000-R-000001", "Paid with: Visa •••• 4242", "Field notes Pro = €119.00",
			"Amount paid = €119.00",
			"Includes VAT 19% (Germany) on €100.00 = €19.00",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the receipt lacks %q:\n%s", want, text)
			}
		}
		if strings.Contains(text, "Subtotal") || strings.Contains(text, "Discount") {
			t.Errorf("the receipt shows what it has not:\n%s", text)
		}
		if _, text := w.page(document.Receipt, payID, german); !strings.Contains(text, "Deutschland") {
			t.Errorf("the German receipt:\n%s", text)
		}
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return w.documents.OnCheckoutPaid(ctx, r, sold())
		})
		if !errors.Is(err, ports.ErrDuplicate) {
			t.Errorf("issued twice: %v, want ErrDuplicate", err)
		}
	})
}

func TestDocumentsAreOpenedByTheirAddress(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.bought()
		address := documentLinks.URL(document.Receipt, payID)
		token := address[strings.LastIndex(address, "/")+1:]
		issued, err := w.documents.Open(t.Context(), document.Receipt, token, locale.Default)
		if err != nil || issued.SubjectID != payID {
			t.Fatalf("%+v, %v", issued, err)
		}
		if pdf, err := w.documents.PDF(issued); err != nil || string(pdf) != "PDF of 000000-R-000001" {
			t.Errorf("%s, %v", pdf, err)
		}
		for name, open := range map[string]func() error{
			"another kind": func() error {
				_, err := w.documents.Open(t.Context(), document.Invoice, token, german)
				return err
			},
			"an unknown kind": func() error { _, err := w.documents.Open(t.Context(), "letter", token, german); return err },
			"a forged token": func() error {
				_, err := w.documents.Open(t.Context(), document.Receipt, token+"a", german)
				return err
			},
			"not issued": func() error {
				_, err := w.documents.Of(t.Context(), document.CreditNote, refID, german)
				return err
			},
		} {
			if err := open(); !fault.Is(err, fault.NotFoundCode) {
				t.Errorf("%s: %v, want %s", name, err, fault.NotFoundCode)
			}
		}
	})
}

func TestARenewalHasAReceipt(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		p := payment.NewPending(payment.Intent{
			ID: payID, CreatorID: creatorID, Amount: eur(7000), Brand: "visa", Last4: "4242",
			Subject: payment.Subject{Purpose: payment.ForSubscription, SubjectID: "sub_1", CustomerID: customerID},
			Sale: payment.Sale{
				Subtotal: eur(10_000), Discount: eur(1000), Tax: eur(0), TaxAdded: eur(0), Credit: eur(2000),
				Lines: []payment.Line{{Description: "Pro", Amount: eur(12_000)}, {Description: "Unused time",
					Amount: eur(-2000)}},
				PeriodStart: noon, PeriodEnd: noon.AddDate(0, 1, 0),
			},
		}, noon)
		_, err := p.Apply(payment.Outcome{Status: payment.Succeeded}, noon)
		w.must(err)
		issue := func(p payment.State) {
			w.do(func(ctx context.Context, r ports.Repos) error {
				return w.documents.OnPaymentCompleted(ctx, r, payment.Completed{State: p})
			})
		}
		other := p.State()
		issue(other) // without a number
		other.Purpose, other.Sale.ReceiptNumber = payment.ForInvoice, "000000-R-000009"
		issue(other) // an invoice is a document of its own
		if _, err := w.documents.Of(t.Context(), document.Receipt, payID, german); !fault.Is(err, fault.NotFoundCode) {
			t.Fatalf("issued: %v", err)
		}
		w.must(p.Document(customerID, "000000-R-000001"))
		w.do(func(ctx context.Context, r ports.Repos) error {
			_, err := r.Invoicing.DocumentNumbers.Next(ctx, creatorID, document.Receipts)
			return errors.Join(err, r.Payments.Payments.Insert(ctx, p.State()))
		})
		issue(p.State())
		d, text := w.page(document.Receipt, payID, locale.Default)
		if d.Buyer.Name != "Grace" || !slices.Equal(d.Buyer.Lines, []string{"10115", "Germany", "grace@example.com"}) {
			t.Errorf("to %+v", d.Buyer)
		}
		for _, want := range []string{
			"Period: March 8, 2026 – April 8, 2026", "Pro = €120.00", "Unused time = −€20.00", "Subtotal = €100.00",
			"Discount = −€10.00",
			"Credit from an earlier payment = −€20.00", "Amount paid = €70.00",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the receipt lacks %q:\n%s", want, text)
			}
		}
	})
}

func TestAnInvoiceExplainsItsUse(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := closed("inv_01h00000000000000000000001")
		quantity, err := usage.ParseQuantity("300")
		w.must(err)
		unit, err := usage.ParseUnitAmount("10")
		w.must(err)
		first := usage.Rated{
			MeterName: "Calls", AmountMinor: 3000, RatedMinor: 3000, PeriodStart: e.Period.Start,
			PeriodEnd: e.Period.End,
			Quantity:  quantity,
			Charges:   []usage.Charge{{Quantity: quantity, Tier: usage.Tier{Unit: unit}, Amount: "3000"}},
		}
		dear, err := usage.ParseUnitAmount("1000")
		w.must(err)
		late := first
		late.Charges = []usage.Charge{
			{Quantity: usage.Units(3), PackageSize: 100, Tier: usage.Tier{Unit: dear}, Amount: "3000"},
		}
		late.Late, late.BilledMinor, late.AmountMinor = true, 2500, 500
		e.Lines = []usage.Rated{first, late}
		w.must(w.close(e))
		state := w.get(e.InvoiceID)
		d, text := w.page(document.Invoice, e.InvoiceID, locale.Default)
		if d.Title != "Invoice" || d.Number != state.Number || strings.Contains(text, "Paid on") {
			t.Errorf("%+v\n%s", d, text)
		}
		if first := d.Lines[0]; first.Quantity != "300" || strings.Contains(first.Detail, "−") {
			t.Errorf("use that is billed for the first time: %+v", first)
		}
		for _, want := range []string{"300 × 0.10 = 30.00", "3 packages of 100 × 10.00 = 30.00", "− 25.00", "Total = €35.00",
			"Period: February 6, 2026 – March 8, 2026"} {
			if !strings.Contains(text, want) {
				t.Errorf("the invoice lacks %q:\n%s", want, text)
			}
		}
		w.clock.Advance(day)
		w.charges.Decide(t, creatorID, payment.Outcome{Status: payment.Succeeded})
		if _, text := w.page(document.Invoice, e.InvoiceID, locale.Default); !strings.Contains(text,
			"Paid on: March 9, 2026") {
			t.Errorf("a paid invoice:\n%s", text)
		}
	})
}

func TestACreditNoteCorrectsItsDocument(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.bought()
		f := w.refunded(5950, 950)
		d, text := w.page(document.CreditNote, refID, locale.Default)
		if d.Buyer.Name != "Grace Hopper" || d.Title != "Credit note" {
			t.Errorf("%+v", d)
		}
		for _, want := range []string{
			"Corrects: 000000-R-000001", "Reason: Requested by the customer",
			"Refund of 000000-R-000001 Field notes = €59.50",
			"Amount credited = €59.50", "Includes VAT 19% (Germany) on €50.00 = €9.50",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the credit note lacks %q:\n%s", want, text)
			}
		}
		links, err := w.documents.Credits(t.Context(), creatorID, payID)
		if err != nil || len(links) != 1 || links[0].Number != f.CreditNoteNumber ||
			links[0].URL != documentLinks.URL(document.CreditNote, refID) {
			t.Errorf("%+v, %v", links, err)
		}
		if links, err := w.documents.Credits(t.Context(), otherID, payID); err != nil || len(links) != 0 {
			t.Errorf("another account sees %+v, %v", links, err)
		}
		back := refund.Restore(f)
		back.Fail("closed", noon)
		w.do(func(ctx context.Context, r ports.Repos) error { return r.Payments.Refunds.Update(ctx, back.State()) })
		_, text = w.page(document.CreditNote, refID, locale.Default)
		if !strings.Contains(text, locale.Default.Text("document.void")) {
			t.Errorf("the note of a refund that came back is not void:\n%s", text)
		}
		if links, err := w.documents.Credits(t.Context(), creatorID, payID); err != nil || len(links) != 0 {
			t.Errorf("a void note is listed: %+v, %v", links, err)
		}
	})
}

func TestMoneyWithoutADocumentIsCreditedToo(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		p := payment.NewPending(payment.Intent{
			ID: payID, CreatorID: creatorID, Amount: eur(1000),
			Subject: payment.Subject{Purpose: payment.ForCheckout, SubjectID: "cs_1", CustomerID: customerID},
		}, noon)
		_, err := p.Apply(payment.Outcome{Status: payment.Succeeded}, noon)
		w.must(err)
		w.do(func(ctx context.Context, r ports.Repos) error { return r.Payments.Payments.Insert(ctx, p.State()) })
		w.refunded(1000, 0)
		d, text := w.page(document.CreditNote, refID, locale.Default)
		if d.Buyer.Name != "Grace" || strings.Contains(text, "Corrects") || !strings.Contains(text, "Refund = €10.00") {
			t.Errorf("%+v\n%s", d, text)
		}
	})
}

func TestAnInvoiceIsCreditedByItsNumber(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state := w.push("k1", 5000)
		lost := dispute.Closed{State: dispute.State{
			ID: "dsp_01h00000000000000000000000", CreatorID: creatorID,
			Return:   ledger.Return{PaymentID: state.PaymentID, Share: ledger.Share{Amount: eur(5000), Tax: eur(798)}},
			Status:   dispute.Lost,
			ClosedAt: noon, CreditNoteNumber: "000000-C-000001", RespondBy: noon, CreatedAt: noon, Revision: 1,
		}}
		for name, change := range map[string]func(e *dispute.Closed){
			"won":     func(e *dispute.Closed) { e.Status = dispute.Won },
			"nothing": func(e *dispute.Closed) { e.Share.Amount.Minor = 0 },
		} {
			e := lost
			change(&e)
			w.do(func(ctx context.Context, r ports.Repos) error { return w.documents.OnDisputeClosed(ctx, r, e) })
			if _, err := w.documents.Of(t.Context(), document.CreditNote, lost.ID, german); !fault.Is(err, fault.NotFoundCode) {
				t.Errorf("%s: %v, want no credit note", name, err)
			}
		}
		w.do(func(ctx context.Context, r ports.Repos) error {
			if _, err := r.Invoicing.DocumentNumbers.Next(ctx, creatorID, document.CreditNotes); err != nil {
				return err
			}
			return errors.Join(r.Payments.Disputes.Insert(ctx, lost.State), w.documents.OnDisputeClosed(ctx, r, lost))
		})
		note := w.document(document.CreditNote, lost.ID)
		if note.Corrects != state.Number || note.Number != "000000-C-000001" || note.Reason != "dispute_lost" ||
			note.Total != eur(5000) ||
			note.Discount != eur(0) || note.Credit != eur(0) || note.TaxAdded != eur(0) ||
			note.Tax != eur(798) || len(note.TaxDetails.Shares) != 1 || note.TaxDetails.Shares[0].Net != eur(4202) ||
			!note.IssuedAt.Equal(noon) {
			t.Errorf("%+v", note)
		}
	})
}

func TestAReversedPaymentIsCredited(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.bought()
		p, err := w.store.Read(t.Context()).Payments.Payments.Get(t.Context(), payID)
		w.must(err)
		w.clock.Advance(time.Hour)
		for _, number := range []string{"", "000000-C-000001"} { // a payment without a receipt has no credit note either
			w.do(func(ctx context.Context, r ports.Repos) error {
				if number != "" {
					if _, err := r.Invoicing.DocumentNumbers.Next(ctx, p.CreatorID, document.CreditNotes); err != nil {
						return err
					}
				}
				return w.documents.OnPaymentReversed(ctx, r, payment.Reversed{
					State: p, Share: ledger.Share{Amount: p.Amount, Tax: p.Sale.Tax}, Reason: refund.NoLongerDue, CreditNoteNumber: number,
				})
			})
		}
		note := w.document(document.CreditNote, payID)
		if note.Number != "000000-C-000001" || note.Corrects != "000000-R-000001" || note.Reason != refund.NoLongerDue ||
			note.Total != eur(11_900) || note.Tax != eur(1900) || !note.IssuedAt.Equal(noon.Add(time.Hour)) {
			t.Errorf("%+v", note)
		}
		failed := refund.NewPending(refund.State{
			ID: refund.AutomaticID(payID), CreatorID: creatorID,
			Return:           ledger.Return{PaymentID: payID, Share: ledger.Share{Amount: p.Amount, Tax: p.Sale.Tax}},
			CreditNoteNumber: note.Number, Automatic: true,
		}, noon)
		failed.Fail("expired_or_canceled_card", noon.Add(day))
		w.do(func(ctx context.Context, r ports.Repos) error { return r.Payments.Refunds.Insert(ctx, failed.State()) })
		if _, text := w.page(document.CreditNote, payID, locale.Default); !strings.Contains(
			text, locale.Default.Text("document.void"),
		) {
			t.Errorf("the note of an automatic refund that came back is not void:\n%s", text)
		}
		voided, err := w.store.Read(t.Context()).Invoicing.Documents.ListVoided(
			t.Context(), noon, noon.Add(2*day), document.Snapshot{}, 10,
		)
		if err != nil || len(voided) != 1 || voided[0].Number != note.Number {
			t.Errorf("void notes %+v, %v", voided, err)
		}
	})
}

func TestAPayoutHasAStatement(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.statement = ledger.Statement{
			Opening: eur(370), Closing: eur(70),
			Lines: []ledger.StatementLine{
				{Key: "sales", Count: 2, Amount: eur(10_000)}, {Key: "sales_fee", Amount: eur(-530)},
			},
		}
		p := payout.State{
			ID: "po_01h00000000000000000000000", CreatorID: creatorID, Amount: eur(9770), Status: payout.Paid,
			CreatedAt: noon, PaidAt: noon, Revision: 1,
		}
		w.do(func(ctx context.Context, r ports.Repos) error {
			if err := r.Treasury.Payouts.Insert(ctx, p); err != nil {
				return err
			}
			return w.documents.OnPayoutPaid(ctx, r, payout.PaidOut{State: p})
		})
		d, text := w.page(document.PayoutStatement, p.ID, locale.Default)
		if d.Buyer.Name != "Ada" || !slices.Equal(d.Buyer.Lines, []string{"ada@example.com"}) || d.Number != p.ID {
			t.Errorf("%+v", d)
		}
		for _, want := range []string{"Balance after the payout before = €3.70", "2 Sales, as buyers paid them = €100.00",
			"= −€0.70", "Paid out = €97.70"} {
			if !strings.Contains(text, want) {
				t.Errorf("the statement lacks %q:\n%s", want, text)
			}
		}
		if strings.Contains(text, "merchant of record") || !strings.Contains(text, locale.Default.Text("document.statement.note")) {
			t.Errorf("a statement is no sale:\n%s", text)
		}
		w.statement.Closing = eur(71) // it no longer adds up
		p.ID = "po_01h00000000000000000000001"
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return w.documents.OnPayoutPaid(ctx, r, payout.PaidOut{State: p})
		})
		if _, missing := w.documents.Of(t.Context(), document.PayoutStatement, p.ID, german); err == nil ||
			!fault.Is(missing, fault.NotFoundCode) {
			t.Errorf("a statement that does not add up was issued: %v, %v", err, missing)
		}
	})
}

func (w *fixture) writeTaxReport(from, until time.Time, out io.Writer) error {
	report := document.TaxReport{}
	if err := w.documents.SumTaxes(w.t.Context(), from, until, report); err != nil {
		return err
	}
	return invoicing.WriteTaxReport(report, out)
}

func TestTheTaxReportSumsWhatWasIssued(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.bought()
		f := w.refunded(5950, 950)
		report := func(from, until time.Time) [][]string {
			t.Helper()
			var out bytes.Buffer
			w.must(w.writeTaxReport(from, until, &out))
			rows, err := csv.NewReader(&out).ReadAll()
			w.must(err)
			return rows[1:]
		}
		want := []string{"DE", "taxed", "", "19", "eur", "2", "100.00", "19.00", "50.00", "9.50", "50.00", "9.50"}
		if rows := report(noon, noon.Add(time.Second)); len(rows) != 1 || !slices.Equal(rows[0], want) {
			t.Errorf("%v, want %v", rows, want)
		}
		if rows := report(noon.Add(-day), noon); len(rows) != 0 {
			t.Errorf("%v before anything was issued", rows)
		}
		back := refund.Restore(f)
		back.Fail("closed", noon.Add(day))
		w.do(func(ctx context.Context, r ports.Repos) error { return r.Payments.Refunds.Update(ctx, back.State()) })
		if rows := report(noon, noon.Add(time.Second)); len(rows) != 1 || !slices.Equal(rows[0], want) {
			t.Errorf("%v: the report of a time that is over has changed", rows)
		}
		want = []string{"DE", "taxed", "", "19", "eur", "0", "0.00", "0.00", "-50.00", "-9.50", "50.00", "9.50"}
		if rows := report(noon.Add(day), noon.Add(2*day)); len(rows) != 1 || !slices.Equal(rows[0], want) {
			t.Errorf("%v, want %v", rows, want)
		}
	})
}

func TestADocumentNamesItsParties(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.documentDeps.Seller.Name = "" // the deployment names none: the creator sells
		w.documents = invoicing.NewDocuments(w.documentDeps)
		w.do(func(ctx context.Context, r ports.Repos) error {
			buyer, err := r.Customers.Customers.Get(ctx, customerID)
			if err != nil {
				return err
			}
			buyer.Details.Name = "Rear Admiral Grace Hopper"
			buyer.Revision++
			return r.Customers.Customers.Update(ctx, buyer)
		})
		if bill := w.document(document.Invoice, w.push("k1", 1000).ID); bill.Seller.Name != "Ada" ||
			bill.Buyer.Name != "Rear Admiral Grace Hopper" {
			t.Errorf("sold by %+v to %+v", bill.Seller, bill.Buyer)
		}
	})
}

func TestAReceiptNamesThePlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ key, plan, detail string }{
		"of several":                    {"pro", "Pro", "Pro"},
		"not the only one":              {"default", "Standard", ""},
		"not one named as the listing":  {"pro", "Field notes", ""},
		"not the only one, named as it": {"default", "Field notes", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, testdb.SQLite.Open(t))
			e := sold()
			e.Offer.PlanKey, e.Offer.PlanName = c.key, c.plan
			w.do(func(ctx context.Context, r ports.Repos) error { return w.documents.OnCheckoutPaid(ctx, r, e) })
			if got := w.document(document.Receipt, payID).Lines[0].Detail; got != c.detail {
				t.Errorf("%q, want %q", got, c.detail)
			}
		})
	}
}

func TestAChargeWithoutAPeriodShowsNone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, testdb.SQLite.Open(t))
	p := payment.NewPending(payment.Intent{
		ID: payID, CreatorID: creatorID, Amount: eur(500),
		Subject: payment.Subject{Purpose: payment.ForSubscription, SubjectID: "sub_1", CustomerID: "cus_unknown"},
		Sale: payment.Sale{Subtotal: eur(500), Discount: eur(0), Tax: eur(0), TaxAdded: eur(0), Credit: eur(0),
			Lines: []payment.Line{{Description: "Pro", Amount: eur(500)}}},
	}, noon)
	_, err := p.Apply(payment.Outcome{Status: payment.Succeeded}, noon)
	w.must(errors.Join(err, p.Document("cus_unknown", "000000-R-000001")))
	w.do(func(ctx context.Context, r ports.Repos) error {
		return w.documents.OnPaymentCompleted(ctx, r, payment.Completed{State: p.State()})
	})
	issued := w.document(document.Receipt, payID)
	if issued.PeriodStart != "" || issued.PeriodEnd != "" || issued.Buyer != (document.Party{}) {
		t.Errorf("%+v", issued)
	}
}

func TestAStatementThatEndsAtNothingSaysNothing(t *testing.T) {
	t.Parallel()
	for closing, want := range map[int64]int{0: 2, 1: 3} {
		w := newFixture(t, testdb.SQLite.Open(t))
		w.statement = ledger.Statement{Opening: eur(0), Closing: eur(closing),
			Lines: []ledger.StatementLine{{Key: "sales", Count: 1, Amount: eur(1000)}}}
		p := payout.State{ID: "po_01h00000000000000000000000", CreatorID: creatorID, Amount: eur(1000 - closing),
			Status: payout.Paid, CreatedAt: noon, PaidAt: noon, Revision: 1}
		w.do(func(ctx context.Context, r ports.Repos) error {
			return w.documents.OnPayoutPaid(ctx, r, payout.PaidOut{State: p})
		})
		if got := w.document(document.PayoutStatement, p.ID).Lines; len(got) != want {
			t.Errorf("%d left: %+v, want %d lines", closing, got, want)
		}
	}
}

func TestTheTaxReportIsSafeToOpen(t *testing.T) {
	t.Parallel()
	w := newFixture(t, testdb.SQLite.Open(t))
	e := sold()
	e.Tax, e.TaxDetails = eur(0), tax.Details{Treatment: tax.ReverseCharge, TaxID: "=1+1"}
	w.do(func(ctx context.Context, r ports.Repos) error { return w.documents.OnCheckoutPaid(ctx, r, e) })
	var out bytes.Buffer
	w.must(w.writeTaxReport(noon, noon.Add(time.Second), &out))
	rows, err := csv.NewReader(&out).ReadAll()
	w.must(err)
	if len(rows) != 2 || rows[1][2] != "'=1+1" || rows[1][3] != "" {
		t.Errorf("%v, want no formula and no rate", rows)
	}
	if err := w.writeTaxReport(noon, noon.Add(time.Second), full{}); !errors.Is(err, errFull) {
		t.Errorf("%v of a disk that is full", err)
	}
}

var errFull = errors.New("full")

// full is a disk with no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
