package checkout_test

import (
	"errors"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/tax"
)

func TestTaxFollowsTheBuyerAndKeepsTheTotal(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }
	c := checkout.New(checkout.State{
		ID: "cs_1", Offer: plan.Offer{ListingType: "DIGITAL", Price: eur(11900)},
		Buyer: customer.Details{Address: customer.Address{Country: "DE"}, TaxID: "DE136695976"},
	}, at)
	sale := c.State().TaxSale(at)
	if sale.BuyerCountry != "DE" || sale.BuyerTaxID != "DE136695976" || len(sale.Lines) != 1 ||
		sale.Lines[0] != (tax.Line{Amount: eur(11900), Category: tax.Electronic}) {
		t.Errorf("%+v", sale)
	}
	before := c.State()
	c.ApplyTax(tax.Result{
		Treatment: tax.Taxed, Behavior: tax.Inclusive, Country: "DE", Net: eur(10000), Tax: eur(1900), Total: eur(11900),
		Shares: []tax.Share{{Rate: 1900, Net: eur(10000), Tax: eur(1900)}},
	})
	after := c.State()
	if after.Tax != eur(1900) || after.Total != eur(11900) || after.TaxAdded() != eur(0) ||
		after.Revision != before.Revision ||
		after.TaxDetails.Treatment != tax.Taxed || len(after.TaxDetails.Shares) != 1 {
		t.Errorf("%+v", after)
	}
	c.ApplyTax(tax.Result{Treatment: tax.Taxed, Behavior: tax.Exclusive, Country: "DE", Net: eur(11900), Tax: eur(2261),
		Total: eur(14161)})
	if after := c.State(); after.TaxAdded() != eur(2261) || after.Total != eur(14161) {
		t.Errorf("%+v", after)
	}
}

func TestTaxIsOwedOnWhatIsLeftAfterTheDiscount(t *testing.T) {
	t.Parallel()
	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }
	s := checkout.State{Subtotal: eur(1000), Discount: eur(200), Total: eur(952)}
	if got := s.TaxSale(time.Time{}).Lines[0].Amount; got != eur(800) {
		t.Errorf("%v is taxed", got)
	}
	if got := s.TaxAdded(); got != eur(152) {
		t.Errorf("%v is added", got)
	}
}

func TestEvidenceOfWhereTheBuyerIsStays(t *testing.T) {
	t.Parallel()
	c := checkout.New(checkout.State{ID: "cs_1", Buyer: customer.Details{Address: customer.Address{Country: "DE"}}},
		time.Time{})
	want := tax.Evidence{}
	for _, step := range []struct{ address, card string }{{"DE", ""}, {"", "FR"}, {"", ""}, {"AT", "BE"}} {
		c.NoteEvidence(step.address, step.card)
		if step.address != "" {
			want.ClientAddress = step.address
		}
		if step.card != "" {
			want.Card = step.card
		}
		if got := c.State().TaxDetails.Evidence; got != want {
			t.Errorf("after %+v: %+v, want %+v", step, got, want)
		}
	}
	c.ApplyTax(tax.Result{Treatment: tax.Taxed})
	want.Declared = "DE"
	if got := c.State().TaxDetails; got.Evidence != want || got.Treatment != tax.Taxed {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTheCheckOfAVATIDIsKeptWithItsID(t *testing.T) {
	t.Parallel()
	check := tax.VATCheck{ID: "DE136695976", Registered: true, Consultation: "W1"}
	for name, c := range map[string]struct {
		country, taxID string
		want           tax.VATCheck
	}{
		"the same id":                 {"DE", "136695976", check},
		"the same id with its prefix": {"DE", "DE136695976", check},
		"another id":                  {"DE", "DE811907980", tax.VATCheck{}},
		"no id":                       {"DE", "", tax.VATCheck{}},
	} {
		started := checkout.Restore(checkout.State{Buyer: customer.Details{Address: customer.Address{Country: c.country},
			TaxID: c.taxID}})
		started.NoteVATCheck(check)
		started.NoteVATCheck(tax.VATCheck{}) // the register did not decide
		if got := started.State().TaxDetails.Evidence.VATCheck; got != check {
			t.Errorf("%s: noted %+v", name, got)
		}
		started.ApplyTax(tax.Result{Treatment: tax.Taxed})
		if got := started.State().TaxDetails.Evidence; got.VATCheck != c.want || got.Declared != c.country {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestPayingBeforeTheTimesAreChosenNamesThem(t *testing.T) {
	t.Parallel()
	s := appointmentSession("virtual")
	s.Slots = nil
	err := checkout.Restore(s).StartPayment("pay_1", "ada@example.com", customer.Details{}, opened)
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || refused.Code != fault.SlotCountMismatch || len(refused.Details) != 1 ||
		refused.Details[0].Field != "appointmentSlots" || refused.Details[0].Code != fault.DetailTooShort {
		t.Errorf("%+v", err)
	}
}
