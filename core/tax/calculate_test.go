package tax_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/money"
	"sundry/core/tax"
)

// rates is a table of one rate per country, and a lower one for services in FR, so that a document can have two. Two
// countries have rates that no state has.
type rates map[string]tax.BasisPoints

func (r rates) Rate(country string, c tax.Category, _ time.Time) (tax.BasisPoints, bool) {
	if country == "FR" && c == tax.Service {
		return 1000, true
	}
	if country == "triple" && c == tax.Service {
		return 20_000, true
	}
	rate, ok := r[country]
	return rate, ok
}

var table = rates{"DE": 1900, "IE": 2300, "FI": 2550, "FR": 2000, "HU": 2700, "CH": 810, "triple": 30_000,
	"negative": -1}

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func electronic(minors ...int64) []tax.Line {
	var lines []tax.Line
	for _, minor := range minors {
		lines = append(lines, tax.Line{Amount: eur(minor), Category: tax.Electronic})
	}
	return lines
}

func TestCalculateKnownCases(t *testing.T) {
	t.Parallel()
	mixed := []tax.Line{{Amount: eur(1000), Category: tax.Electronic}, {Amount: eur(1000), Category: tax.Service}}
	for name, c := range map[string]struct {
		sale            tax.Sale
		treatment       tax.Treatment
		net, tax, total int64
	}{
		"German tax contained": {tax.Sale{Lines: electronic(11900), BuyerCountry: "DE"}, tax.Taxed, 10000, 1900,
			11900},
		"German tax added": {tax.Sale{Lines: electronic(10000), BuyerCountry: "DE",
			Behavior: tax.Exclusive}, tax.Taxed, 10000, 1900, 11900},
		"half a percent": {tax.Sale{Lines: electronic(1000), BuyerCountry: "FI", Behavior: tax.Exclusive},
			tax.Taxed, 1000, 255, 1255},
		"exactly half a cent rounds up": {tax.Sale{Lines: electronic(100), BuyerCountry: "FI", Behavior: tax.Exclusive},
			tax.Taxed, 100, 26, 126},
		"a contained part below half a cent": {tax.Sale{Lines: electronic(2), BuyerCountry: "DE"}, tax.Taxed, 2, 0, 2},
		"lines are rounded together": {tax.Sale{Lines: electronic(2, 2, 2, 2), BuyerCountry: "DE"}, tax.Taxed, 7, 1,
			8},
		"two rates are rounded apart": {tax.Sale{Lines: mixed, BuyerCountry: "FR"}, tax.Taxed, 1742, 258, 2000},
		"a discount line lowers the tax": {tax.Sale{Lines: electronic(11900, -1190), BuyerCountry: "DE"}, tax.Taxed, 9000,
			1710, 10710},
		"a credit mirrors its charge": {tax.Sale{Lines: electronic(-11900), BuyerCountry: "DE"}, tax.Taxed, -10000,
			-1900, -11900},
		"nothing costs no tax":    {tax.Sale{Lines: electronic(0), BuyerCountry: "DE"}, tax.Taxed, 0, 0, 0},
		"the country isn't known": {tax.Sale{Lines: electronic(11900)}, tax.Undetermined, 11900, 0, 11900},
		"a country without registration": {tax.Sale{Lines: electronic(11900), BuyerCountry: "US"}, tax.NotCollected,
			11900, 0, 11900},
		"a business across the border": {tax.Sale{Lines: electronic(11900), BuyerCountry: "DE",
			BuyerTaxID: "de 136695976"}, tax.ReverseCharge, 11900, 0, 11900},
		"a business, tax to be added": {tax.Sale{Lines: electronic(10000), BuyerCountry: "DE",
			BuyerTaxID: "DE136695976", Behavior: tax.Exclusive}, tax.ReverseCharge, 10000, 0, 10000},
		"a business with a mistyped id": {tax.Sale{Lines: electronic(11900), BuyerCountry: "DE",
			BuyerTaxID: "DE136695977"}, tax.Taxed, 10000, 1900, 11900},
		"a business with another state's id": {tax.Sale{Lines: electronic(11900), BuyerCountry: "DE",
			BuyerTaxID: "ATU13585627"}, tax.Taxed, 10000, 1900, 11900},
		"a business at home": {tax.Sale{Lines: electronic(12300), BuyerCountry: "IE", BuyerTaxID: "IE6388047V"},
			tax.Taxed, 10000, 2300, 12300},
		"a business outside the union": {tax.Sale{Lines: electronic(10810), BuyerCountry: "CH", BuyerTaxID: "CHE107787577"},
			tax.Taxed, 10000, 810, 10810},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.sale.SellerCountry = "IE"
			got, err := tax.Calculate(c.sale, table)
			if err != nil || got.Treatment != c.treatment || got.Net != eur(c.net) || got.Tax != eur(c.tax) ||
				got.Total != eur(c.total) {
				t.Errorf("got %s: net %v, tax %v, total %v, %v", got.Treatment, got.Net, got.Tax, got.Total, err)
			}
			if want := map[bool]string{true: "DE136695976"}[c.treatment == tax.ReverseCharge]; got.TaxID != want {
				t.Errorf("tax id %q with %s", got.TaxID, got.Treatment)
			}
		})
	}
}

// Stripe charges thousandths in tens only.
func TestTaxOfThousandthsCanBeCharged(t *testing.T) {
	t.Parallel()
	line := tax.Line{Amount: money.Amount{Minor: 10_050, Currency: "kwd"}, Category: tax.Electronic}
	for behavior, want := range map[tax.Behavior][2]int64{
		tax.Exclusive: {1910, 11_960}, tax.Inclusive: {1605, 10_050},
	} {
		got, err := tax.Calculate(tax.Sale{
			Lines: []tax.Line{line}, SellerCountry: "IE", BuyerCountry: "DE", Behavior: behavior,
		}, table)
		if err != nil || got.Tax.Minor != want[0] || got.Total.Minor != want[1] {
			t.Errorf("%s: tax %v, total %v, %v, want %v", behavior, got.Tax, got.Total, err, want)
		}
	}
}

func TestCalculateRefusesWhatCannotBeTaxed(t *testing.T) {
	t.Parallel()
	of := func(c tax.Category, minor int64) tax.Line { return tax.Line{Amount: eur(minor), Category: c} }
	for name, c := range map[string]struct {
		lines    []tax.Line
		behavior tax.Behavior
		country  string
		want     error
	}{
		"no line": {nil, "", "DE", tax.ErrNoLines},
		"two currencies": {[]tax.Line{{Amount: eur(1)},
			{Amount: money.Amount{Minor: 1, Currency: "usd"}}}, "", "DE", money.ErrCurrencyMismatch},
		"an overflow of one rate": {electronic(1<<62, 1<<62), "", "DE", money.ErrOverflow},
		"an overflow of all rates": {[]tax.Line{of(tax.Electronic, math.MaxInt64), of(tax.Service, math.MaxInt64)},
			"", "FR", money.ErrOverflow},
		"an overflow of the taxes alone": {[]tax.Line{of(tax.Electronic, 1<<61), of(tax.Service, 1<<61)}, tax.Exclusive,
			"triple", money.ErrOverflow},
		"an overflow of the tax to be added": {electronic(math.MaxInt64), tax.Exclusive, "DE", money.ErrOverflow},
		"a rate below zero":                  {electronic(100), "", "negative", money.ErrOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := tax.Calculate(tax.Sale{Lines: c.lines, BuyerCountry: c.country, Behavior: c.behavior},
				table); !errors.Is(err, c.want) {
				t.Errorf("got %+v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestAVATIDDecidesBetweenMemberStatesOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seller, buyer, id string
		decides           bool
	}{
		"from one member state to another": {"IE", "DE", "DE136695976", true},
		"within one":                       {"DE", "DE", "DE136695976", false},
		"from outside the union":           {"CH", "DE", "DE136695976", false},
		"to outside the union":             {"IE", "CH", "CHE107787577", false},
		"a mistyped one":                   {"IE", "DE", "DE136695977", false},
		"none":                             {"IE", "DE", "", false},
	} {
		if got := tax.DependsOnVATID(c.seller, c.buyer, c.id); got != c.decides {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAMemberStateIsOneByItsTwoCapitals(t *testing.T) {
	t.Parallel()
	for country, member := range map[string]bool{"AT": true, "SK": true, "CH": false, "GB": false, "de": false, "": false,
		" ": false, "AT BE": false} {
		if tax.InEU(country) != member {
			t.Errorf("%q: %v", country, !member)
		}
	}
}

func TestABehaviorIsInclusiveOrExclusive(t *testing.T) {
	t.Parallel()
	for behavior, known := range map[tax.Behavior]bool{"inclusive": true, "exclusive": true, "": false,
		"included": false} {
		if behavior.Known() != known {
			t.Errorf("%q: %v", behavior, !known)
		}
	}
}

func TestCalculateHoldsItsInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sale := tax.Sale{
			SellerCountry: "IE",
			BuyerCountry:  rapid.SampledFrom([]string{"", "DE", "IE", "FI", "FR", "HU", "CH", "US"}).Draw(t, "country"),
			Behavior:      rapid.SampledFrom([]tax.Behavior{"", tax.Inclusive, tax.Exclusive}).Draw(t, "behavior"),
			Lines: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tax.Line {
				return tax.Line{
					Amount:   eur(rapid.Int64Range(0, 1<<40).Draw(t, "minor")),
					Category: rapid.SampledFrom([]tax.Category{tax.Electronic, tax.Service}).Draw(t, "category"),
				}
			}), 1, 8).Draw(t, "lines"),
		}
		got, err := tax.Calculate(sale, table)
		if err != nil {
			t.Fatal(err)
		}
		var sum, net, due int64
		for _, line := range sale.Lines {
			sum += line.Amount.Minor
		}
		for i, share := range got.Shares {
			if i > 0 && got.Shares[i-1].Rate >= share.Rate {
				t.Fatalf("shares out of order or of one rate: %+v", got.Shares)
			}
			// the error of one rounding is at most half a minor unit
			if off := 20_000*share.Tax.Minor - 2*int64(share.Rate)*share.Net.Minor; off > 10_000+int64(share.Rate) ||
				off < -10_000-int64(share.Rate) {
				t.Fatalf("share %+v is off", share)
			}
			net, due = net+share.Net.Minor, due+share.Tax.Minor
		}
		base := got.Net.Minor
		if got.Behavior == tax.Inclusive {
			base = got.Total.Minor
		}
		if base != sum || net != got.Net.Minor || due != got.Tax.Minor || got.Total.Minor != net+due || due < 0 {
			t.Fatalf("lines of %d gave %+v", sum, got)
		}
		if (got.Treatment == tax.Taxed) != (got.Tax.Minor > 0) && sum > 1000 {
			t.Fatalf("%s with tax %v", got.Treatment, got.Tax)
		}
	})
}

func TestGross_AddsTheTaxOfOneRate(t *testing.T) {
	t.Parallel()
	details := func(behavior tax.Behavior, rates ...tax.BasisPoints) tax.Details {
		d := tax.Details{Behavior: behavior}
		for _, rate := range rates {
			d.Shares = append(d.Shares, tax.Share{Rate: rate})
		}
		return d
	}
	for name, c := range map[string]struct {
		details     tax.Details
		price, want int64
		err         error
	}{
		"a price without its tax":   {details(tax.Exclusive, 1900), 1000, 1190, nil},
		"one that contains its tax": {details(tax.Inclusive, 1900), 1000, 1000, nil},
		"without a tax":             {details(tax.Exclusive), 1000, 1000, nil},
		"at two rates":              {details(tax.Exclusive, 1000, 1900), 1000, 1000, nil},
		"more tax than an integer":  {details(tax.Exclusive, 30_000), math.MaxInt64, 0, money.ErrOverflow},
		"more than one in all":      {details(tax.Exclusive, 1900), math.MaxInt64, 0, money.ErrOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.details.Gross(eur(c.price))
			if !errors.Is(err, c.err) || err == nil && got != eur(c.want) {
				t.Errorf("got %v, %v, want %d, %v", got, err, c.want, c.err)
			}
		})
	}
}

func TestEvidenceOfTheBuyersCountry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		evidence tax.Evidence
		country  string
		proven   bool
	}{
		"nothing is known":                  {tax.Evidence{}, "", false},
		"the buyer's word alone":            {tax.Evidence{Declared: "DE"}, "DE", false},
		"the word and the card agree":       {tax.Evidence{Declared: "DE", ClientAddress: "FR", Card: "DE"}, "DE", true},
		"the word and the address agree":    {tax.Evidence{Declared: "DE", ClientAddress: "DE", Card: "FR"}, "DE", true},
		"card and address against the word": {tax.Evidence{Declared: "DE", ClientAddress: "FR", Card: "FR"}, "FR", true},
		"all differ":                        {tax.Evidence{Declared: "DE", ClientAddress: "FR", Card: "IT"}, "DE", false},
		"only the address":                  {tax.Evidence{ClientAddress: "FR"}, "FR", false},
		"address and card differ":           {tax.Evidence{ClientAddress: "FR", Card: "IT"}, "IT", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			country, proven := c.evidence.Country()
			if country != c.country || proven != c.proven {
				t.Errorf("got %s, %v", country, proven)
			}
		})
	}
}

func TestARateIsWrittenInPercent(t *testing.T) {
	t.Parallel()
	for rate, want := range map[tax.BasisPoints]string{0: "0", 5: "0.05", 810: "8.1", 1000: "10", 1900: "19", 2550: "25.5",
		10_000: "100"} {
		if got := rate.Percent(); got != want {
			t.Errorf("%d is written as %s, want %s", rate, got, want)
		}
	}
}
