package pdf_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"sundry/adapters/pdf"
	"sundry/core/money"
	"sundry/ports"
)

func document(lines int) ports.Document {
	d := ports.Document{
		Title: "Invoice", Number: "ABC123-I-000001", Stamp: "TEST", IssuedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Seller: ports.DocumentParty{Name: "Sundry Ltd", Lines: []string{"1 Quay Street", "Dublin"}, TaxID: "IE6388047V"},
		Buyer:  ports.DocumentParty{Name: "Zoë Łukasz Ωmega Жук", Lines: []string{"zoe@example.com"}},
		Facts:  []ports.DocumentFact{{Label: "Period", Value: "March 2026"}},
		Totals: []ports.DocumentTotal{{Label: "Total", Amount: money.Amount{Minor: 4734, Currency: "eur"}, Strong: true}},
		Notes:  []string{"Thank you."},
	}
	for range lines {
		d.Lines = append(d.Lines, ports.DocumentLine{Description: "API calls", Detail: "10 at €0.05", Quantity: "10.625",
			Amount: money.Amount{Minor: 4734, Currency: "eur"}})
	}
	return d
}

func render(t *testing.T, d ports.Document) []byte {
	t.Helper()
	out, err := pdf.New().PDF(d)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out, []byte("%PDF-")) || !bytes.Contains(out, []byte("%%EOF")) {
		t.Fatalf("%d bytes are no PDF", len(out))
	}
	return out
}

func TestADocumentIsAPDFAndAlwaysTheSame(t *testing.T) {
	t.Parallel()
	first, second := render(t, document(3)), render(t, document(3))
	if !bytes.Equal(first, second) {
		t.Error("one document gives two PDFs")
	}
	if len(first) > 100_000 {
		t.Errorf("%d bytes: the fonts are not cut to what is used", len(first))
	}
}

func TestALongDocumentHasSeveralPages(t *testing.T) {
	t.Parallel()
	if pages := bytes.Count(render(t, document(250)), []byte("/Type /Page\n")); pages < 5 {
		t.Errorf("250 lines on %d pages", pages)
	}
}

func TestNoTextBreaksADocument(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "an emoji": "😀 party", "control characters": "a\x00b\tc\r\n", "a bad encoding": "\xff\xfe",
		"right to left": "\u202eabc שלום",
		"one long word": strings.Repeat("x", 5000), "Chinese": "汉字漢字", "the page count's own mark": "{pages}",
		"parentheses": `)\(`, "only emoji": strings.Repeat("🎨", 500), "emoji and words": strings.Repeat("🎨 art ", 500),
		"a family": "👩‍👩‍👧", "a flag": "🇩🇪", "a skin tone": "👍🏽", "a keycap": "1️⃣", "a new emoji": "\U0001FAFF",
		"private use": "\ue000", "a heart": "❤️ ☀",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := document(1)
			d.Title, d.Number, d.Buyer.Name, d.Seller.Lines = text, text, text, []string{text}
			d.Lines[0].Description, d.Lines[0].Detail, d.Lines[0].Quantity = text, text, text
			d.Facts, d.Notes = []ports.DocumentFact{{Label: text, Value: text}}, []string{text}
			render(t, d)
		})
	}
}

// An emoji is drawn from a font of its own, which documents without one do not carry.
func TestEmojiAreDrawn(t *testing.T) {
	t.Parallel()
	plain, drawn := document(1), document(1)
	plain.Lines[0].Description, drawn.Lines[0].Description = "Portraits ", "Portraits 🎨 ❤️"
	without, with := render(t, plain), render(t, drawn)
	if bytes.Contains(without, []byte("emoji")) {
		t.Error("a document without emoji carries their font")
	}
	if !bytes.Contains(with, []byte("emoji")) {
		t.Error("a document with emoji lacks their font")
	}
	if grown := len(with) - len(without); grown > 40_000 {
		t.Errorf("two emoji cost %d bytes", grown)
	}
}
