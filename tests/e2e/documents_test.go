package e2e_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// pathOf is the path of an absolute address.
func pathOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Path == "" {
		t.Fatalf("%q is no address", address)
	}
	return u.Path
}

// creditNote is the kind and the secret of a credit note.
func (w *fixture) creditNote(t *testing.T) string {
	t.Helper()
	f := w.AsBackend(t, get, "/v1/refunds/"+w.refunded(t), nil).Want(t, 200).Map(t)
	return strings.ReplaceAll(strings.TrimPrefix(pathOf(t, text(t, f["creditNoteUrl"])), "/d/"), "/", " ")
}

// wantDocument asks for a document as a page, in a language, and as PDF.
func (w *fixture) wantDocument(t *testing.T, address, language string, contains ...string) {
	t.Helper()
	path := pathOf(t, address)
	page := w.Ask(t, harness.Request{Method: get, Path: path,
		Headers: map[string]string{"Accept-Language": language}}).Want(t, 200)
	html := strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(string(page.Body))
	for _, s := range contains {
		if !strings.Contains(html, s) {
			t.Errorf("%s in %s lacks %q:\n%s", path, language, s, html)
		}
	}
	pdf := w.Ask(t, harness.Request{Method: get, Path: path + "/pdf"}).Want(t, 200)
	if pdf.Header.Get("Content-Type") != "application/pdf" || !bytes.HasPrefix(pdf.Body, []byte("%PDF-")) {
		t.Errorf("%s/pdf is %s", path, pdf.Header.Get("Content-Type"))
	}
}

func TestEveryMovementOfMoneyHasItsDocument(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{
			"SELLER_NAME": "Sundry Payments Ltd", "SELLER_ADDRESS": "1 Quay Street, Dublin",
			"SELLER_VAT_ID": "IE6388047V",
		})
		w := newFixture(t, app)
		german := harness.JSON{
			"email":    "ada@example.com",
			"customer": harness.JSON{"name": "Ada Lovelace", "country": "DE", "postalCode": "10115"},
		}
		_, receipt := w.sell(t, w.book(t, 11900), harness.CardSucceeds, german)
		paymentID := text(t, receipt["paymentId"])
		listed := w.AsBackend(t, get, "/v1/payments", nil).Want(t, 200).Map(t)["data"].([]any)[0].(map[string]any)
		w.wantDocument(
			t, text(t, listed["receiptUrl"]), "en", text(t, receipt["receiptNumber"]), "Sundry Payments Ltd",
			"1 Quay Street, Dublin", "IE6388047V", "Ada Lovelace", "Germany", "Includes VAT 19% (Germany) on €100.00",
			"€19.00", "€119.00", "Visa •••• 4242", "Test document",
		)
		w.wantDocument(
			t, text(t, listed["receiptUrl"]), "de", "Beleg", "Enthaltene USt. 19 % (Deutschland) auf 100,00 €",
			"119,00 €",
		)
		w.wantDocument(t, text(t, receipt["receiptUrl"]), "en", "Receipt")

		f := w.refund(t, paymentID, 5000).Want(t, 201).Map(t)
		w.wantDocument(
			t, text(t, f["creditNoteUrl"]), "fr", "Avoir", text(t, f["creditNoteNumber"]),
			"Remboursement de "+text(t, receipt["receiptNumber"]), "Dont TVA 19 % (Allemagne) sur 42,02 €", "7,98 €",
			"50,00 €", "À la demande du client",
		)
		shown := string(
			w.Ask(t, harness.Request{Method: get, Path: pathOf(t, text(t, receipt["receiptUrl"]))}).Want(t, 200).Body,
		)
		if !strings.Contains(shown, text(t, f["creditNoteNumber"])) || !strings.Contains(shown, "−€50.00") {
			t.Errorf("the receipt does not show its refund:\n%s", shown)
		}

		_, disputed := w.sell(t, w.book(t, 11900), cardDisputed, german)
		disputeID := w.disputeOf(t, text(t, disputed["paymentId"]))
		lost := w.AsBackend(t, post, "/v1/disputes/"+disputeID+"/accept", nil).Want(t, 200).Map(t)
		if n := app.Count(
			t, "SELECT COUNT(*) FROM documents WHERE subject_id = $1 AND number = $2", disputeID, lost["creditNoteNumber"],
		); n != 1 {
			t.Errorf("the dispute has the number %v, which is not that of its credit note", lost["creditNoteNumber"])
		}
		if got := app.Count(
			t, "SELECT COUNT(*) FROM documents WHERE subject_id = $1 AND series = 'C' AND total = 11900 AND tax = 1900",
			disputeID,
		); got != 1 {
			t.Errorf("a lost dispute has %d credit notes", got)
		}

		w.sell(t, w.book(t, 30000), harness.CardSucceeds, german)
		w.advance(t, week)
		p := w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 10000}).Want(t, 201).Map(t)
		w.wantDocument(
			t, text(t, p["statementUrl"]), "en", "Payout statement", text(t, p["id"]), "Sales, as buyers paid them",
			"Platform fee", "Stays available", "€100.00",
		)
		csv := w.AsBackend(t, get, "/v1/payouts/"+text(t, p["id"])+"/statement?format=csv", nil).Want(t, 200)
		pdf := w.AsBackend(t, get, "/v1/payouts/"+text(t, p["id"])+"/statement?format=pdf", nil).Want(t, 200)
		if !bytes.HasPrefix(pdf.Body, []byte("%PDF-")) || !bytes.HasPrefix(csv.Body, []byte("createdAt")) {
			t.Error("the statement is not in the format that was asked for")
		}
		failed := w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 1313}).
			Want(t, 201).Map(t)
		w.AsBackend(t, get, "/v1/payouts/"+text(t, failed["id"])+"/statement?format=pdf", nil).Refuses(t, 409,
			"STATE_CONFLICT")
		verified(t, app)

		app.Exec(t, "UPDATE documents SET total = total + 1 WHERE subject_id = $1", paymentID)
		lines, err := app.Program.Verify(t.Context())
		if err != nil || len(lines) != 2 || !strings.Contains(lines[0], paymentID) { // the second names the document
			t.Errorf("after a document was changed verify reports %q, %v", lines, err)
		}
	})
}

func TestADocumentStaysAsItWasIssued(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
		payments := w.AsBackend(t, get, "/v1/payments", nil).Want(t, 200).Map(t)["data"].([]any)
		path := pathOf(t, text(t, payments[0].(map[string]any)["receiptUrl"])) + "/pdf"
		first := w.Ask(t, harness.Request{Method: get, Path: path}).Want(t, 200).Body
		app.Exec(
			t,
			"UPDATE sessions SET buyer = '{\"name\":\"Somebody Else\"}', email = 'else@example.com' WHERE payment_id = $1",
			text(t, receipt["paymentId"]),
		)
		app.Exec(t, "UPDATE creators SET display_name = 'Another Name' WHERE id = $1", w.ID)
		if again := w.Ask(t, harness.Request{Method: get, Path: path}).Want(t, 200).Body; !bytes.Equal(first, again) {
			t.Error("a receipt changed after it was issued")
		}
		for _, foreign := range []string{
			"/d/receipt/" + strings.Repeat("0", 52),
			"/d/credit_note/" + strings.TrimPrefix(strings.TrimSuffix(path, "/pdf"), "/d/receipt/"), "/d/poem/x",
		} {
			w.Ask(t, harness.Request{Method: get, Path: foreign}).Want(t, 404)
			w.Ask(t, harness.Request{Method: get, Path: foreign + "/pdf"}).Want(t, 404)
		}
	})
}
