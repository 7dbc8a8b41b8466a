package payment_test

import (
	"math"
	"testing"

	"sundry/core/money"
	"sundry/core/payment"
)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func TestOnlyACheckoutHasASession(t *testing.T) {
	t.Parallel()
	for purpose, want := range map[payment.Purpose]string{payment.ForCheckout: "x", payment.ForSubscription: "",
		payment.ForInvoice: ""} {
		if got := (payment.Subject{Purpose: purpose, SubjectID: "x"}).CheckoutID(); got != want {
			t.Errorf("%s: %q", purpose, got)
		}
	}
}

func TestTheTotalOfASale(t *testing.T) {
	t.Parallel()
	sale := payment.Sale{Subtotal: eur(1000), Discount: eur(100), Tax: eur(190), TaxAdded: eur(190), Credit: eur(50)}
	if total, err := sale.Total(); err != nil || total != eur(1040) {
		t.Errorf("%+v, %v", total, err)
	}
	for name, broken := range map[string]func(*payment.Sale){
		"another currency of the discount": func(s *payment.Sale) { s.Discount.Currency = "usd" },
		"another currency of the credit":   func(s *payment.Sale) { s.Credit.Currency = "usd" },
		"another currency of the tax":      func(s *payment.Sale) { s.TaxAdded.Currency = "usd" },
		"more than fits":                   func(s *payment.Sale) { s.TaxAdded.Minor = math.MaxInt64 },
	} {
		s := sale
		broken(&s)
		if total, err := s.Total(); err == nil {
			t.Errorf("%s: %+v", name, total)
		}
	}
	if total, err := (payment.Sale{Subtotal: eur(1000),
		Discount: money.Amount{Minor: 100, Currency: "usd"}}).Total(); err == nil {
		t.Errorf("another currency before amounts without one: %+v", total)
	}
}
