package stripepay_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"sundry/adapters/stripepay"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/tax"
	"sundry/ports"
	"sundry/tests/stripefake"
)

var taxDay = time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC)

func taxSale(minor int64, currency money.Currency, country string, change func(*tax.Sale)) tax.Sale {
	s := tax.Sale{
		Lines:        []tax.Line{{Amount: money.Amount{Minor: minor, Currency: currency}, Category: tax.Electronic}},
		BuyerCountry: country, At: taxDay,
	}
	if change != nil {
		change(&s)
	}
	return s
}

func stripeTaxes(server *stripefake.Server, now func() time.Time) *stripepay.Taxes {
	return stripepay.NewTaxes(stripepay.New(stripepay.Config{SecretKey: "sk_live_1", APIBase: server.URL}), now)
}

// calculated is Calculate as a transaction runs it: what is missing is fetched, once.
func calculated(ctx context.Context, taxes *stripepay.Taxes, s tax.Sale) (tax.Result, error) {
	result, err := taxes.Calculate(ctx, s)
	var missing *ports.PrefetchError
	if !errors.As(err, &missing) {
		return result, err
	}
	if err := missing.Fetch(ctx); err != nil {
		return tax.Result{}, err
	}
	return taxes.Calculate(ctx, s)
}

func TestTheTaxIsStripes(t *testing.T) {
	t.Parallel()
	server := stripefake.New(t)
	taxes := stripeTaxes(server, time.Now)
	business := func(id string) func(*tax.Sale) { return func(s *tax.Sale) { s.BuyerTaxID = id } }
	postal := func(s *tax.Sale) { s.BuyerPostalCode = "94103" }
	exclusive := func(s *tax.Sale) { s.Behavior = tax.Exclusive }
	for name, c := range map[string]struct {
		sale            tax.Sale
		treatment       tax.Treatment
		net, tax, total int64
		rate            tax.BasisPoints
	}{
		"contained":                  {taxSale(11900, "eur", "DE", nil), tax.Taxed, 10000, 1900, 11900, 1900},
		"added":                      {taxSale(10000, "eur", "DE", exclusive), tax.Taxed, 10000, 1900, 11900, 1900},
		"a currency without cents":   {taxSale(1100, "jpy", "JP", nil), tax.Taxed, 1000, 100, 1100, 1000},
		"added to one without cents": {taxSale(1005, "jpy", "JP", exclusive), tax.Taxed, 1005, 101, 1106, 1000},
		"two jurisdictions, half a point": {taxSale(10000, "usd", "US", func(s *tax.Sale) {
			postal(s)
			exclusive(s)
		}), tax.Taxed, 10000, 863, 10863, 863},
		"the United States, place unknown": {taxSale(10000, "usd", "US", exclusive), tax.Undetermined, 10000, 0, 10000, 0},
		"no registration":                  {taxSale(10000, "eur", "CH", exclusive), tax.NotCollected, 10000, 0, 10000, 0},
		"a business": {taxSale(11900, "eur", "DE", business("de 136695976")), tax.ReverseCharge, 11900,
			0, 11900, 0},
		"a mistyped id": {taxSale(11900, "eur", "DE", business("DE136695977")), tax.Taxed, 10000, 1900, 11900,
			1900},
		"an id that Stripe refuses": {taxSale(11900, "eur", "DE", business("DE100007000")), tax.Taxed, 10000, 1900, 11900,
			1900},
		"two categories": {taxSale(11900, "eur", "DE", func(s *tax.Sale) {
			s.Lines = append(s.Lines, tax.Line{Amount: money.Amount{Minor: 1190, Currency: "eur"}, Category: tax.Service})
		}), tax.Taxed, 11000, 2090, 13090, 1900},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := calculated(t.Context(), taxes, c.sale)
			if err != nil || got.Treatment != c.treatment || got.Net.Minor != c.net || got.Tax.Minor != c.tax ||
				got.Total.Minor != c.total {
				t.Fatalf("%+v, %v", got, err)
			}
			if len(got.Shares) != 1 || got.Shares[0] != (tax.Share{Rate: c.rate, Net: got.Net, Tax: got.Tax}) ||
				got.Net.Currency != c.sale.Lines[0].Amount.Currency {
				t.Errorf("shares %+v of %+v", got.Shares, got)
			}
			if got.Country != c.sale.BuyerCountry || (got.TaxID == "DE136695976") != (c.treatment == tax.ReverseCharge) {
				t.Errorf("country %q, tax id %q", got.Country, got.TaxID)
			}
		})
	}
}

func TestStripeIsNotAskedWithoutNeed(t *testing.T) {
	t.Parallel()
	server := stripefake.New(t)
	now := taxDay
	taxes := stripeTaxes(server, func() time.Time { return now })
	for name, sale := range map[string]tax.Sale{"the country isn't known": taxSale(11900, "eur", "", nil),
		"nothing is due": taxSale(0, "eur", "DE", nil)} {
		got, err := taxes.Calculate(t.Context(), sale)
		if err != nil || got.Treatment != tax.Undetermined || got.Tax.Minor != 0 || got.Total != sale.Lines[0].Amount {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	asked := 0
	calculate := func(name string, s tax.Sale, again bool) {
		t.Helper()
		if _, err := calculated(t.Context(), taxes, s); err != nil {
			t.Fatal(err)
		}
		if again {
			asked++
		}
		if got := server.Count("POST /v1/tax/calculations"); got != asked {
			t.Errorf("%s: asked %d times, want %d", name, got, asked)
		}
	}
	calculate("first", taxSale(11900, "eur", "DE", nil), true)
	calculate("the same", taxSale(11900, "eur", "DE", nil), false)
	calculate("later that day", taxSale(11900, "eur", "DE", func(s *tax.Sale) { s.At = taxDay.Add(time.Minute) }), false)
	for name, change := range map[string]func(*tax.Sale){
		"the amount": func(s *tax.Sale) {
			s.Lines[0].Amount.Minor++
		}, "the currency": func(s *tax.Sale) { s.Lines[0].Amount.Currency = "usd" },
		"the category": func(s *tax.Sale) {
			s.Lines[0].Category = tax.Service
		}, "the behavior": func(s *tax.Sale) { s.Behavior = tax.Exclusive },
		"the country": func(s *tax.Sale) {
			s.BuyerCountry = "FR"
		}, "the postal code": func(s *tax.Sale) { s.BuyerPostalCode = "10115" },
		"the tax id": func(s *tax.Sale) {
			s.BuyerTaxID = "DE136695976"
		}, "the day": func(s *tax.Sale) { s.At = taxDay.AddDate(0, 0, 1) },
	} {
		calculate(name, taxSale(11900, "eur", "DE", change), true)
	}
	now = now.Add(5 * time.Minute)
	calculate("minutes later", taxSale(11900, "eur", "DE", nil), true)
}

func TestNoTaxIsTakenWhileStripeFails(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]stripefake.Failure{
		"no money for the request": {Status: http.StatusPaymentRequired},
		"too many requests":        {Status: http.StatusTooManyRequests, Code: "rate_limit"},
		"a fault of Stripe's":      {Status: http.StatusInternalServerError}, "a cut connection": {},
		"a lost response":           {After: true},
		"a setting that is missing": {Status: http.StatusBadRequest, Code: "tax_settings_not_active"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := stripefake.New(t)
			taxes := stripeTaxes(server, time.Now)
			server.Fail("tax/calculations", failure)
			result, err := calculated(t.Context(), taxes, taxSale(11900, "eur", "DE", nil))
			if fault.CodeOf(err) != fault.ProcessorUnavailable || result.Total.Minor != 0 {
				t.Fatalf("%+v, %v", result, err)
			}
			server.Heal()
			if got, err := calculated(t.Context(), taxes, taxSale(11900, "eur", "DE", nil)); err != nil ||
				got.Tax.Minor != 1900 {
				t.Errorf("healed: %+v, %v", got, err)
			}
		})
	}
}

func TestACalculationThatTakesTooLongIsGivenUp(t *testing.T) {
	t.Parallel()
	server := stripefake.New(t)
	server.Linger(6 * time.Second)
	began := time.Now()
	if _, err := calculated(t.Context(), stripeTaxes(server, time.Now),
		taxSale(11900, "eur", "DE", nil)); fault.CodeOf(err) != fault.ProcessorUnavailable {
		t.Errorf("%v", err)
	}
	if waited := time.Since(began); waited > 5900*time.Millisecond {
		t.Errorf("given up after %v", waited)
	}
}

func TestTheMemoryOfTaxesIsBounded(t *testing.T) {
	t.Parallel()
	server := stripefake.New(t)
	synctest.Test(t, func(t *testing.T) {
		taxes := stripeTaxes(server, time.Now)
		for i := range stripepay.MaxTaxes + 100 {
			taxes.Remember(fmt.Sprint(i))
		}
		if n := taxes.Remembered(); n != stripepay.MaxTaxes {
			t.Errorf("%d calculations are kept, want %d", n, stripepay.MaxTaxes)
		}
		time.Sleep(time.Hour)
		taxes.Remember("later")
		if n := taxes.Remembered(); n != 1 {
			t.Errorf("after an hour %d calculations are kept, want the new one", n)
		}
	})
}
