package stripepay_test

import (
	"testing"

	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
	"sundry/tests/stripefake"
)

// TestUnitsOtherThanStripesAreConvertedOrRefused: Stripe takes 50 krónur as 5000, and would take an amount of
// mga for a hundred times as much.
func TestUnitsOtherThanStripesAreConvertedOrRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount money.Amount
		sent   int64 // 0: refused
	}{
		{money.Amount{Minor: 1250, Currency: "eur"}, 1250},
		{money.Amount{Minor: 1250, Currency: "jpy"}, 1250},
		{money.Amount{Minor: 1250, Currency: "isk"}, 125_000},
		{money.Amount{Minor: 1250, Currency: "ugx"}, 125_000},
		{money.Amount{Minor: 1250, Currency: "kwd"}, 1250},
		{money.Amount{Minor: 1255, Currency: "kwd"}, 0},
		{money.Amount{Minor: 125_000, Currency: "mga"}, 0},
	} {
		p, fake := newProcessor(t)
		r := request(stripefake.Succeeds)
		r.Amount = c.amount
		o, err := p.Charge(t.Context(), r)
		if err != nil {
			t.Fatalf("%+v: %v", c.amount, err)
		}
		if c.sent == 0 {
			if o.Status != payment.Declined || o.Decline.Code != "currency_not_supported" ||
				fake.Count("POST /v1/payment_intents") != 0 {
				t.Errorf("%+v: %+v", c.amount, o)
			}
			continue
		}
		if intent := fake.Get("pi_", "payment_id", r.PaymentID); o.Status != payment.Succeeded ||
			intent["amount"] != float64(c.sent) || intent["currency"] != string(c.amount.Currency) {
			t.Errorf("%+v: %+v, %v", c.amount, o, intent)
		}
		if want := (c.sent*3/200 + 25) * c.amount.Minor / c.sent; o.Fee.Minor < want || o.Fee.Minor > want+1 ||
			o.Fee.Currency != c.amount.Currency {
			t.Errorf("%+v: the fee is %+v, want about %d", c.amount, o.Fee, want)
		}
		back := ports.RefundRequest{RefundID: "ref_1", PaymentID: r.PaymentID, ProcessorID: o.ProcessorID, CreatorID: "crt_1",
			Amount: c.amount}
		if _, err := p.Refund(t.Context(), back); err != nil {
			t.Fatal(err)
		}
		if made, err := p.ListRefunds(t.Context(), o.ProcessorID); err != nil || len(made) != 1 ||
			made[0].Amount != c.amount {
			t.Errorf("%+v was refunded as %+v, %v", c.amount, made, err)
		}
	}
}

// Stripe takes refunds of thousandths in tens only, too (docs.stripe.com/currencies, three-decimal currencies).
func TestARefundThatStripeNeverMakesFails(t *testing.T) {
	t.Parallel()
	p, fake := newProcessor(t)
	r := request(stripefake.Succeeds)
	r.Amount = money.Amount{Minor: 1250, Currency: "kwd"}
	o, err := p.Charge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	back := ports.RefundRequest{RefundID: "ref_1", PaymentID: r.PaymentID, ProcessorID: o.ProcessorID, CreatorID: "crt_1",
		Amount: money.Amount{Minor: 417, Currency: "kwd"}}
	made, err := p.Refund(t.Context(), back)
	if err != nil || made != (refund.Outcome{Status: refund.Failed, Reason: "currency_not_supported", Refused: true}) ||
		fake.Count("POST /v1/refunds") != 0 {
		t.Errorf("%+v, %v", made, err)
	}
}
