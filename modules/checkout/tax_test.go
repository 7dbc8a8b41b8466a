package checkout_test

import (
	"context"
	"net/http"
	"reflect"
	"testing"

	"sundry/adapters/stripepay"
	core "sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/tax"
	"sundry/modules/checkout"
	"sundry/ports"
	"sundry/tests/stripefake"
)

// forStripeTax runs the test with Stripe Tax in the place of the table.
func forStripeTax(t *testing.T, test func(t *testing.T, w *fixture, server *stripefake.Server)) {
	t.Helper()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		server := stripefake.New(t)
		w.taxes.TaxCalculator = stripepay.NewTaxes(
			stripepay.New(stripepay.Config{SecretKey: "sk_live_1", APIBase: server.URL}), w.clock.Real,
		)
		test(t, w, server)
	})
}

// payFrom pays on the page with the given details.
func (w *fixture) payFrom(s core.State, buyer customer.Details) (core.State, error) {
	page, err := w.checkout.Page(context.Background(), secretOf(w, s))
	if err != nil {
		return core.State{}, err
	}
	page, err = w.checkout.PayOnPage(context.Background(), secretOf(w, s), checkout.Payment{
		Card: ports.CardInput{Number: cardSucceeds}, Email: "ada@example.com", Buyer: buyer,
		Accepted: core.Acceptance{
			Shown: page.Session.Agreement(page.Terms, locale.Default).Key(), ImmediateSupply: true,
		},
	}, "192.0.2.1/32")
	return page.Session, err
}

func TestStripesTaxIsAskedForOutsideOfTransactions(t *testing.T) {
	t.Parallel()
	forStripeTax(t, func(t *testing.T, w *fixture, server *stripefake.Server) {
		opened := w.open()
		if opened.Tax.Minor != 0 || server.Count("tax/calculations") != 0 {
			t.Fatalf("before the country is known: %v, asked %d times", opened.Tax, server.Count("tax/calculations"))
		}
		described, err := w.checkout.Describe(t.Context(), secretOf(w, opened), checkout.Description{
			Buyer: customer.Details{Address: customer.Address{Country: "DE"}},
		}, "192.0.2.1")
		if err != nil || described.Tax.Minor != 192 || described.Total.Minor != 1200 ||
			described.TaxDetails.Treatment != tax.Taxed {
			t.Fatalf("%+v, %v", described.TaxDetails, err)
		}
		paid, err := w.payFrom(opened, customer.Details{})
		if err != nil || paid.Status != core.StatusPaid || paid.Tax.Minor != 192 {
			t.Errorf("%s with %v, %v", paid.Status, paid.Tax, err)
		}
		if n := server.Count("tax/calculations"); n != 1 {
			t.Errorf("asked %d times", n)
		}
		w.mustBeClean()
	})
}

func TestNothingIsSoldWhileStripesTaxIsUnknown(t *testing.T) {
	t.Parallel()
	forStripeTax(t, func(t *testing.T, w *fixture, server *stripefake.Server) {
		opened := w.open()
		server.Fail("tax/calculations", stripefake.Failure{Status: http.StatusInternalServerError})
		_, err := w.checkout.Describe(t.Context(), secretOf(w, opened), checkout.Description{
			Buyer: customer.Details{Address: customer.Address{Country: "DE"}},
		}, "192.0.2.1")
		wantCode(t, err, fault.ProcessorUnavailable)
		_, err = w.payFrom(opened, customer.Details{Address: customer.Address{Country: "DE"}})
		wantCode(t, err, fault.ProcessorUnavailable)
		if after := w.session(opened.ID); !reflect.DeepEqual(after, opened) {
			t.Errorf("before %+v\nafter  %+v", opened, after)
		}
		server.Heal()
		if paid, err := w.payFrom(opened, customer.Details{Address: customer.Address{Country: "DE"}}); err != nil ||
			paid.Tax.Minor != 192 {
			t.Errorf("healed: %v, %v", paid.Tax, err)
		}
		w.mustBeClean()
	})
}

func TestAPostalCodeIsNeededWhereItDecidesTheTax(t *testing.T) {
	t.Parallel()
	forStripeTax(t, func(t *testing.T, w *fixture, server *stripefake.Server) {
		opened := w.open()
		described, err := w.checkout.Describe(t.Context(), secretOf(w, opened), checkout.Description{
			Buyer: customer.Details{Address: customer.Address{Country: "US"}},
		}, "192.0.2.1")
		if err != nil || described.TaxDetails.Treatment != tax.Undetermined {
			t.Fatalf("the page shows the tax later: %+v, %v", described.TaxDetails, err)
		}
		_, err = w.payFrom(opened, customer.Details{})
		var refused *fault.Error
		if !asFault(err, &refused) || refused.Code != fault.ValidationFailed || len(refused.Details) != 1 ||
			refused.Details[0].Field != "postalCode" {
			t.Fatalf("%v", err)
		}
		if after := w.session(opened.ID); !reflect.DeepEqual(after, described) {
			t.Errorf("before %+v\nafter  %+v", described, after)
		}
		paid, err := w.payFrom(opened, customer.Details{Address: customer.Address{PostalCode: "94103"}})
		if err != nil || paid.Status != core.StatusPaid || paid.Tax.Minor != 95 || paid.Total.Minor != 1200 {
			t.Errorf("%s with %v of %v, %v", paid.Status, paid.Tax, paid.Total, err)
		}
		w.mustBeClean()
	})
}

func TestAPaymentWithoutTaxLeavesTheChallengeOpen(t *testing.T) {
	t.Parallel()
	forStripeTax(t, func(t *testing.T, w *fixture, server *stripefake.Server) {
		opened := w.open()
		_, err := w.pay(opened.ID, cardAsksAlways)
		wantCode(t, err, fault.AuthenticationRequired)
		before := w.session(opened.ID)
		server.Fail("tax/calculations", stripefake.Failure{})
		_, err = w.payFrom(opened, customer.Details{Address: customer.Address{Country: "DE"}})
		wantCode(t, err, fault.ProcessorUnavailable)
		server.Heal()
		_, err = w.payFrom(opened, customer.Details{Address: customer.Address{Country: "US"}})
		wantCode(t, err, fault.ValidationFailed)
		if after := w.session(opened.ID); !reflect.DeepEqual(after, before) {
			t.Errorf("before %+v\nafter  %+v", before, after)
		}
	})
}
