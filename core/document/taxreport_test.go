package document_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/document"
	"sundry/core/money"
	"sundry/core/tax"
)

func amount(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

// taxed is a document of a total with one share.
func taxed(kind document.Kind, details tax.Details, total, due int64, rate tax.BasisPoints) document.Snapshot {
	details.Shares = []tax.Share{{Rate: rate, Net: amount(total - due), Tax: amount(due)}}
	return document.Snapshot{Kind: kind, TaxDetails: details, Total: amount(total), Tax: amount(due)}
}

func sum(net, due int64) document.TaxSum { return document.TaxSum{Net: amount(net), Tax: amount(due)} }

var (
	german   = tax.Details{Treatment: tax.Taxed, Country: "DE"}
	reversed = tax.Details{Treatment: tax.ReverseCharge, Country: "DE", TaxID: "DE136695976"}
	mixed    = tax.Details{Treatment: tax.Taxed, Country: "FR", Shares: []tax.Share{
		{Rate: 1000, Net: amount(909), Tax: amount(91)}, {Rate: 2000, Net: amount(833), Tax: amount(167)},
	}}
)

func TestDocumentsAreAddedUpByWhatReturnsDistinguish(t *testing.T) {
	t.Parallel()
	unprefixed := reversed
	unprefixed.TaxID = "136695976"
	key := func(country string, treatment tax.Treatment, taxID string, rate tax.BasisPoints) document.TaxKey {
		return document.TaxKey{Country: country, Treatment: treatment, TaxID: taxID, Rate: rate, Currency: "eur"}
	}
	for name, c := range map[string]struct {
		issued, voided []document.Snapshot
		want           []document.TaxRow
	}{
		"no document": {},
		"a receipt, an invoice and a credit note": {
			issued: []document.Snapshot{
				taxed(document.Receipt, german, 11900, 1900, 1900), taxed(document.Invoice, german, 1190, 190, 1900),
				taxed(document.CreditNote, german, 5000, 798, 1900),
			},
			want: []document.TaxRow{{key("DE", tax.Taxed, "", 1900), 3, sum(11000, 2090), sum(4202, 798), sum(6798, 1292)}},
		},
		"what pays a creator out": {
			issued: []document.Snapshot{{Kind: document.PayoutStatement, Total: amount(5000), Tax: amount(0)}},
		},
		"one business, with and without its prefix": {
			issued: []document.Snapshot{taxed(document.Receipt, reversed, 100, 0, 0), taxed(document.Receipt, unprefixed, 50, 0,
				0)},
			want: []document.TaxRow{{key("DE", tax.ReverseCharge, "DE136695976", 0), 2, sum(150, 0), sum(0, 0), sum(150, 0)}},
		},
		"a cent of tax that no rate explains": {
			issued: []document.Snapshot{{
				Kind: document.Receipt, Total: amount(119), Tax: amount(19),
				TaxDetails: tax.Details{Treatment: tax.Taxed, Country: "DE",
					Shares: []tax.Share{{Rate: 1900, Net: amount(100), Tax: amount(18)}}},
			}},
			want: []document.TaxRow{
				{key("DE", tax.Taxed, "", document.NoRate), 1, sum(0, 1), sum(0, 0), sum(0, 1)},
				{key("DE", tax.Taxed, "", 1900), 1, sum(100, 18), sum(0, 0), sum(100, 18)},
			},
		},
		"two rates in one document, credited without them": {
			issued: []document.Snapshot{
				{Kind: document.Receipt, TaxDetails: mixed, Total: amount(2000), Tax: amount(258)},
				{Kind: document.CreditNote, TaxDetails: tax.Details{Treatment: tax.Taxed, Country: "FR"}, Total: amount(1000),
					Tax: amount(129)},
			},
			want: []document.TaxRow{
				{key("FR", tax.Taxed, "", document.NoRate), 1, sum(0, 0), sum(871, 129), sum(-871, -129)},
				{key("FR", tax.Taxed, "", 1000), 1, sum(909, 91), sum(0, 0), sum(909, 91)},
				{key("FR", tax.Taxed, "", 2000), 1, sum(833, 167), sum(0, 0), sum(833, 167)},
			},
		},
		"shares that leave something of the total": {
			issued: []document.Snapshot{{Kind: document.Receipt, TaxDetails: mixed, Total: amount(2010), Tax: amount(260)}},
			want: []document.TaxRow{
				{key("FR", tax.Taxed, "", document.NoRate), 1, sum(8, 2), sum(0, 0), sum(8, 2)},
				{key("FR", tax.Taxed, "", 1000), 1, sum(909, 91), sum(0, 0), sum(909, 91)},
				{key("FR", tax.Taxed, "", 2000), 1, sum(833, 167), sum(0, 0), sum(833, 167)},
			},
		},
		"nothing is known of the tax": {
			issued: []document.Snapshot{
				{Kind: document.Invoice, Total: amount(0), Tax: amount(0)},
				taxed(document.Receipt, tax.Details{Treatment: tax.Undetermined}, 100, 0, 0),
			},
			want: []document.TaxRow{
				{key("", "", "", document.NoRate), 1, sum(0, 0), sum(0, 0), sum(0, 0)},
				{key("", tax.Undetermined, "", 0), 1, sum(100, 0), sum(0, 0), sum(100, 0)},
			},
		},
		"a credit note that is void before the time is over": {
			issued: []document.Snapshot{taxed(document.CreditNote, german, 5000, 798, 1900)},
			voided: []document.Snapshot{taxed(document.CreditNote, german, 5000, 798, 1900)},
			want:   []document.TaxRow{{key("DE", tax.Taxed, "", 1900), 1, sum(0, 0), sum(0, 0), sum(0, 0)}},
		},
		"a credit note of an earlier time that is void now": {
			voided: []document.Snapshot{taxed(document.CreditNote, german, 5000, 798, 1900)},
			want:   []document.TaxRow{{key("DE", tax.Taxed, "", 1900), 0, sum(0, 0), sum(-4202, -798), sum(4202, 798)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := document.TaxReport{}
			for _, s := range c.issued {
				if err := report.Issued(s); err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range c.voided {
				if err := report.Voided(s); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := report.Rows(); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestASumOutOfRangeIsRefused(t *testing.T) {
	t.Parallel()
	report := document.TaxReport{}
	for i, s := range []document.Snapshot{
		taxed(document.Receipt, german, math.MaxInt64, 0, 1900), taxed(document.Receipt, german, 1, 0, 1900),
		taxed(document.Receipt, german, 1, 1, 1900),
	} {
		if err := report.Issued(s); (err != nil) != (i == 1) {
			t.Errorf("document %d: %v", i, err)
		}
	}
	if err := report.Voided(taxed(document.CreditNote, german, 2, 1, 1900)); err != nil {
		t.Fatal(err)
	}
	if rows, err := report.Rows(); err == nil {
		t.Errorf("more than fits is due: %+v", rows)
	}
}

func TestAReportSumsToTheTotalsOfItsDocumentsInAnyOrder(t *testing.T) {
	t.Parallel()
	anyone := rapid.Custom(func(t *rapid.T) document.Snapshot {
		minor := func(name string) money.Amount {
			return money.Amount{Minor: rapid.Int64Range(0, 1<<40).Draw(t, name), Currency: "eur"}
		}
		s := document.Snapshot{
			Kind:  rapid.SampledFrom([]document.Kind{document.Receipt, document.Invoice, document.CreditNote}).Draw(t, "kind"),
			Total: minor("total"), Tax: minor("tax"),
		}
		s.TaxDetails.Country = rapid.SampledFrom([]string{"", "DE", "FR", "US"}).Draw(t, "country")
		s.TaxDetails.Treatment = rapid.SampledFrom([]tax.Treatment{"", tax.Undetermined, tax.Taxed, tax.NotCollected}).Draw(t,
			"treatment")
		for range rapid.IntRange(0, 2).Draw(t, "shares") { // they need not add up
			rate := tax.BasisPoints(rapid.IntRange(0, 2).Draw(t, "rate"))
			s.TaxDetails.Shares = append(s.TaxDetails.Shares, tax.Share{Rate: rate, Net: minor("net"), Tax: minor("due")})
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		documents := rapid.SliceOf(anyone).Draw(t, "documents")
		rowsOf := func(documents []document.Snapshot) []document.TaxRow {
			report := document.TaxReport{}
			for _, s := range documents {
				if err := report.Issued(s); err != nil {
					t.Fatal(err)
				}
			}
			rows, err := report.Rows()
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		rows := rowsOf(documents)
		var total, due, parts int64
		for _, s := range documents {
			sign := int64(1)
			if s.Kind == document.CreditNote {
				sign = -1
			}
			total, due = total+sign*s.Total.Minor, due+sign*s.Tax.Minor
		}
		for _, row := range rows {
			total, due = total-row.Due.Net.Minor-row.Due.Tax.Minor, due-row.Due.Tax.Minor
			parts += int64(row.Documents)
		}
		if total != 0 || due != 0 || parts < int64(len(documents)) {
			t.Fatalf("%d of the totals and %d of the tax of %d documents are lost in %+v", total, due, len(documents), rows)
		}
		if again := rowsOf(rapid.Permutation(documents).Draw(t, "order")); !slices.Equal(again, rows) {
			t.Fatalf("in another order they come to\n%+v, not\n%+v", again, rows)
		}
	})
}
