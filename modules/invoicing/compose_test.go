package invoicing_test

import (
	"context"
	"strings"
	"testing"

	"sundry/core/document"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/ports"
	"sundry/tests/testdb"
)

// TestADocumentShowsWhatItHas freezes one document, changed in one way, and reads its page.
func TestADocumentShowsWhatItHas(t *testing.T) {
	t.Parallel()
	share := func(rate tax.BasisPoints, net, added int64) tax.Share {
		return tax.Share{Rate: rate, Net: eur(net), Tax: eur(added)}
	}
	for name, c := range map[string]struct {
		change     func(s *document.Snapshot)
		reader     string
		has, lacks []string
	}{
		"as it is": {
			func(*document.Snapshot) {}, "en", []string{"Date: March 8, 2026", "Sold by Sundry Ltd"},
			[]string{
				"Subtotal", "Period", "Reason", "Test document", "lists every entry", "reverse charge", "Paid with",
			},
		},
		"of the sandbox": {func(s *document.Snapshot) { s.Livemode = false }, "en",
			[]string{"Test document from the sandbox"}, nil},
		"of its own seller": {func(s *document.Snapshot) { s.OnBehalfOf = s.Seller.Name }, "en", nil,
			[]string{"merchant of record"}},
		"of nobody else": {func(s *document.Snapshot) { s.OnBehalfOf = "" }, "en", nil, []string{"merchant of record"}},
		"with added tax": {func(s *document.Snapshot) {
			s.TaxAdded, s.Tax, s.Total, s.TaxDetails.Shares = eur(810), eur(810), eur(10_810), []tax.Share{share(810, 10_000,
				810)}
		}, "en", []string{"Subtotal = €100.00\nVAT 8.1% (Germany) on €100.00 = €8.10\nAmount paid = €108.10"},
			[]string{"Includes"}},
		"in German": {func(s *document.Snapshot) {
			s.Tax, s.TaxDetails.Shares = eur(749), []tax.Share{share(810, 9251, 749)}
		}, "de", []string{"8,1"}, []string{"8.1"}},
		"in French": {func(s *document.Snapshot) {
			s.Tax, s.TaxDetails.Shares = eur(749), []tax.Share{share(810, 9251, 749)}
		}, "fr", []string{"8,1"}, []string{"8.1"}},
		"of two rates, one of nothing, and a rest": {func(s *document.Snapshot) {
			s.Tax, s.TaxDetails.Shares = eur(800), []tax.Share{share(0, 5000, 0), share(1900, 4300, 700)}
		}, "en", []string{"Includes VAT 19% (Germany) on €43.00 = €7.00\nIncludes VAT = €1.00"},
			[]string{"VAT 0%", "\nVAT 19%"}},
		"with a cent of tax": {func(s *document.Snapshot) {
			s.Tax, s.TaxDetails.Shares = eur(1), []tax.Share{share(1900, 5, 1)}
		}, "en", []string{"Includes VAT 19% (Germany) on €0.05 = €0.01"}, nil},
		"with a reverse charge": {func(s *document.Snapshot) {
			s.TaxDetails.Treatment = tax.ReverseCharge
		}, "en", []string{locale.Default.Text("document.reverse_charge")}, []string{"Includes"}},
		"of a change of plan": {func(s *document.Snapshot) {
			s.Lines[0].Share = payment.PlanShare{Plan: "Pro", Unused: true, Left: 3, Days: 31}
		}, "fr", []string{"Temps non utilisé\u00a0: Pro (3 jours sur 31)"}, []string{"Unused"}},
		"with a discount": {func(s *document.Snapshot) {
			s.Discount, s.Total = eur(1000), eur(9000)
		}, "en", []string{"Subtotal = €100.00\nDiscount = −€10.00\nAmount paid = €90.00"}, []string{"Credit"}},
		"with a discount as high as its tax": {func(s *document.Snapshot) {
			s.Discount, s.TaxAdded, s.Tax = eur(1000), eur(1000), eur(1000)
		}, "en", []string{"Subtotal = €100.00\nDiscount = −€10.00\nVAT = €10.00\nAmount paid = €100.00"}, nil},
		"with a credit as high as its tax": {func(s *document.Snapshot) {
			s.Credit, s.TaxAdded, s.Tax = eur(1000), eur(1000), eur(1000)
		}, "en", []string{"Subtotal = €100.00\nCredit from an earlier payment = −€10.00\nVAT = €10.00"}, nil},
		"for a reason of its own": {func(s *document.Snapshot) { s.Reason = "a mistake" }, "en",
			[]string{"Reason: a mistake"}, nil},
		"with one end of a period": {
			func(s *document.Snapshot) { s.PeriodStart = "2026-03-01" }, "en", nil, []string{"Period"},
		},
		"with the other end of a period": {
			func(s *document.Snapshot) { s.PeriodEnd = "2026-03-01" }, "en", nil, []string{"Period"},
		},
		"with words for its period": {func(s *document.Snapshot) {
			s.PeriodStart, s.PeriodEnd = "2026-03-01", "soon"
		}, "en", []string{"Period: March 1, 2026 – soon"}, nil},
		"with a count": {func(s *document.Snapshot) { s.Lines[0].Count = 1 }, "en", []string{"1 Field notes"}, nil},
		"with none": {
			func(s *document.Snapshot) { s.Lines[0].Quantity = "2.5" }, "en", []string{"2.5 Field notes"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, testdb.SQLite.Open(t))
			s := document.Snapshot{
				Kind: document.Receipt, SubjectID: payID, CreatorID: creatorID, Number: "000000-R-000001",
				IssuedAt: noon,
				Livemode: true,
				Seller:   document.Party{Name: "Sundry Ltd"}, OnBehalfOf: "Ada",
				Lines: []document.Line{{Description: "Field notes",
					Amount: eur(10_000)}},
				Subtotal: eur(10_000), Discount: eur(0), Credit: eur(0), Tax: eur(0), TaxAdded: eur(0),
				Total:      eur(10_000),
				TaxDetails: tax.Details{Country: "DE"}, Buyer: document.Party{Email: "grace@example.com"},
			}
			c.change(&s)
			w.must(s.Check())
			w.do(func(ctx context.Context, r ports.Repos) error { return r.Invoicing.Documents.Insert(ctx, s) })
			d, text := w.page(document.Receipt, payID, locale.ParseTag(c.reader))
			if d.Buyer.Name != "grace@example.com" || len(d.Buyer.Lines) != 0 || (d.Stamp == "") != s.Livemode {
				t.Errorf("%+v", d)
			}
			for _, want := range c.has {
				if !strings.Contains(text, want) {
					t.Errorf("it lacks %q:\n%s", want, text)
				}
			}
			for _, unwanted := range c.lacks {
				if strings.Contains(text, unwanted) {
					t.Errorf("it shows %q:\n%s", unwanted, text)
				}
			}
		})
	}
}
