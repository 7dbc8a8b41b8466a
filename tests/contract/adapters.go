package contract

import (
	"bytes"
	"context"
	"errors"
	stdimage "image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/slot"
	"sundry/core/tax"
	"sundry/ports"
)

// Taxes is the suite of ports.TaxCalculator. calculate is Calculate, or Calculate after whatever its PrefetchError asks
// for; the seller is in Ireland.
func Taxes(t *testing.T, calculate func(ctx context.Context, s tax.Sale) (tax.Result, error)) {
	t.Helper()
	sale := func(country string, behavior tax.Behavior) tax.Sale {
		return tax.Sale{
			Lines:    []tax.Line{{Amount: money.Amount{Minor: 10_000, Currency: "eur"}, Category: tax.Electronic}},
			Behavior: behavior, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			BuyerCountry: country,
		}
	}
	for name, c := range map[string]struct {
		sale       tax.Sale
		tax, total int64
		treatment  tax.Treatment
	}{
		"inside the price":            {sale("DE", tax.Inclusive), 1597, 10_000, tax.Taxed},
		"on top of the price":         {sale("DE", tax.Exclusive), 1900, 11_900, tax.Taxed},
		"before the country is known": {sale("", tax.Exclusive), 0, 10_000, tax.Undetermined},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := calculate(t.Context(), c.sale)
			if err != nil || got.Tax.Minor != c.tax || got.Total.Minor != c.total || got.Treatment != c.treatment {
				t.Fatalf("%+v, %v", got, err)
			}
			var shares int64
			for _, share := range got.Details().Shares {
				shares += share.Tax.Minor
			}
			if shares != c.tax {
				t.Errorf("the shares' taxes sum to %d, want %d", shares, c.tax)
			}
			if again, err := calculate(t.Context(), c.sale); err != nil || again.Tax != got.Tax {
				t.Errorf("again %+v, %v", again, err)
			}
		})
	}
}

// VATRegister is the suite of ports.VATRegister, over a register that knows one German VAT id and is away in France.
func VATRegister(t *testing.T, register ports.VATRegister, registered string) {
	t.Helper()
	known, err := register.Check(t.Context(), "DE", registered)
	if err != nil || !known.Registered || known.ID != registered || known.CheckedAt.IsZero() {
		t.Errorf("%+v, %v; want it registered", known, err)
	}
	if other, err := register.Check(t.Context(), "DE", "DE000000000"); err != nil || other.Registered {
		t.Errorf("%+v, %v; want it not registered", other, err)
	}
	if away, err := register.Check(t.Context(), "FR", "FR12345678901"); err == nil || away.Registered {
		t.Errorf("%+v, %v; want an error while the register is away", away, err)
	}
}

// Documents is the suite of ports.Documents.
func Documents(t *testing.T, documents ports.Documents) {
	t.Helper()
	d := ports.Document{
		Title: "Receipt", Number: "ABC-R-000001", IssuedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Seller: ports.DocumentParty{Name: "Sundry Ltd"}, Buyer: ports.DocumentParty{Name: "Zoë Łukasz \x00 😀 日本"},
		Lines: []ports.DocumentLine{{
			Description: "A guide", Quantity: "1", Amount: money.Amount{Minor: 1900, Currency: "eur"},
		}},
		Totals: []ports.DocumentTotal{{Label: "Total", Amount: money.Amount{Minor: 1900, Currency: "eur"}, Strong: true}},
	}
	first, err := documents.PDF(d)
	if err != nil || !bytes.HasPrefix(first, []byte("%PDF-")) {
		t.Fatalf("%.20q, %v; want a PDF", first, err)
	}
	if again, err := documents.PDF(d); err != nil || !bytes.Equal(again, first) {
		t.Errorf("the same document gives other bytes, %v", err)
	}
	d.Number = "ABC-R-000002"
	if other, err := documents.PDF(d); err != nil || bytes.Equal(other, first) {
		t.Errorf("another document gives the same bytes, %v", err)
	}
}

// Calendars is the suite of ports.CalendarWriter and ports.CalendarReader: what one writes the other reads.
func Calendars(t *testing.T, writer ports.CalendarWriter, reader ports.CalendarReader) {
	t.Helper()
	from := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	all := slot.Interval{From: from.AddDate(0, 0, -1), Until: from.AddDate(0, 0, 1)}
	entry := ports.CalendarEntry{
		UID: "apt_1@elsewhere.example", StartsAt: from, EndsAt: from.Add(time.Hour), StampedAt: from,
		Summary: "Call, with Ada; and \"Grace\"\nBEGIN:VEVENT", Attendee: ports.CalendarParty{Email: "grace@example.com"},
	}
	busy := func(entries ...ports.CalendarEntry) []slot.Interval {
		t.Helper()
		raw := writer.Write(ports.CalendarFile{Method: ports.CalendarPublish, Entries: entries})
		found, err := reader.Busy(raw, time.UTC, all, "pay.example.com")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := busy(entry); len(found) != 1 || !found[0].From.Equal(from) || !found[0].Until.Equal(from.Add(time.Hour)) {
		t.Errorf("busy %v, want the entry's hour", found)
	}
	later := entry
	later.UID, later.StartsAt, later.EndsAt = "apt_2@elsewhere.example", from.Add(30*time.Minute), from.Add(2*time.Hour)
	if found := busy(entry, later); len(found) != 1 || !found[0].Until.Equal(from.Add(2*time.Hour)) {
		t.Errorf("busy %v, want both entries merged", found)
	}
	ours, canceled := entry, entry
	ours.UID, canceled.Canceled = "apt_1@pay.example.com", true
	if found := busy(ours); len(found) != 0 {
		t.Errorf("busy %v by an appointment of our own", found)
	}
	if found := busy(canceled); len(found) != 0 {
		t.Errorf("busy %v by a canceled entry", found)
	}
	if found, err := reader.Busy([]byte("<html>"), time.UTC, all, ""); err == nil {
		t.Errorf("busy %v by a page", found)
	}
}

// Encrypter is the suite of ports.Encrypter. Two that newEncrypter makes have different keys.
func Encrypter(t *testing.T, newEncrypter func() ports.Encrypter) {
	t.Helper()
	one, other := newEncrypter(), newEncrypter()
	for _, plain := range [][]byte{nil, []byte("whsec_1"), make([]byte, 100_000)} {
		sealed := one.Encrypt(plain)
		if opened, err := one.Decrypt(sealed); err != nil || !bytes.Equal(opened, plain) {
			t.Errorf("%d bytes came back as %d, %v", len(plain), len(opened), err)
		}
		if bytes.Equal(sealed, one.Encrypt(plain)) {
			t.Error("encrypted twice it is the same")
		}
		if len(plain) > 0 && bytes.Contains(sealed, plain) {
			t.Error("the plain text is in it")
		}
		if opened, err := other.Decrypt(sealed); err == nil {
			t.Errorf("another key reads %q", opened)
		}
		sealed[len(sealed)-1] ^= 1
		if opened, err := one.Decrypt(sealed); err == nil {
			t.Errorf("changed it still reads as %q", opened)
		}
	}
	if opened, err := one.Decrypt(nil); err == nil {
		t.Errorf("nothing reads as %q", opened)
	}
}

// ImageDecoder is the suite of ports.ImageDecoder.
func ImageDecoder(t *testing.T, decoder ports.ImageDecoder) {
	t.Helper()
	picture := stdimage.NewRGBA(stdimage.Rect(0, 0, 40, 20))
	picture.Set(1, 1, color.RGBA{R: 200, A: 255})
	var asPNG, asJPEG bytes.Buffer
	if err := errors.Join(png.Encode(&asPNG, picture), jpeg.Encode(&asJPEG, picture, nil)); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"PNG": asPNG.Bytes(), "JPEG": asJPEG.Bytes()} {
		for _, limit := range []int{100, 10} {
			got, err := decoder.Decode(t.Context(), append(file, "<script>"...), limit)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			written, _, err := stdimage.DecodeConfig(bytes.NewReader(got.Body))
			if err != nil || max(written.Width, written.Height) > limit || bytes.Contains(got.Body, []byte("<script>")) {
				t.Errorf("%s in %d: %d × %d, %v", name, limit, written.Width, written.Height, err)
			}
		}
	}
	for name, file := range map[string][]byte{
		"nothing": nil, "a page": []byte("<html>"), "half a picture": asPNG.Bytes()[:40],
	} {
		if got, err := decoder.Decode(t.Context(), file, 100); !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("%s: %+v, %v; want VALIDATION_FAILED", name, got, err)
		}
	}
}
