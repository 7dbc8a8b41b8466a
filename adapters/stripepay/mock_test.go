package stripepay_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"sundry/adapters/stripepay"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/payout"
	"sundry/core/tax"
	"sundry/ports"
	"sundry/tests/loopback"
	"sundry/tests/testenv"
)

// startMock runs stripe-mock, which checks every request against Stripe's own description of its API and responds with
// fixed objects. Without one it skips the test.
func startMock(t *testing.T) (address string) {
	t.Helper()
	path := testenv.Need(t, testenv.StripeMock)
	addr, err := loopback.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	args := []string{"-http-addr", addr, "-strict-version-check"}
	mock := exec.CommandContext(ctx, path, args...) //nolint:gosec // the tests' own program
	if err := mock.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = mock.Wait() })
	address = "http://" + addr
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		response, err := http.Get(address) //nolint:noctx // a test's own server
		if err == nil {
			_ = response.Body.Close()
			return address
		}
		if time.Now().After(deadline) {
			t.Fatalf("stripe-mock does not respond: %v", err)
		}
	}
}

// Stripe's own description of its API takes every request that the adapter makes, in the version that the library
// names. stripe-mock has no memory: its responses mean nothing for an attempt, so only refusals of a shape count.
func TestStripesOwnDescriptionTakesEveryRequest(t *testing.T) {
	t.Parallel()
	p := stripepay.New(stripepay.Config{SecretKey: "sk_test_123", APIBase: startMock(t)})
	request := func(change func(*ports.ChargeRequest)) ports.ChargeRequest {
		r := ports.ChargeRequest{
			PaymentID: "pay_" + rand.Text(), SubjectID: "cs_1", CreatorID: "crt_1", Method: "ctoken_1", Email: "ada@example.com",
			Name:   "Ada",
			Amount: money.Amount{Minor: 1250, Currency: "eur"},
		}
		change(&r)
		return r
	}
	lines := []payment.Line{{Description: "Seats", Amount: money.Amount{Minor: 1000, Currency: "eur"}}}
	charge := func(change func(*ports.ChargeRequest)) func() error {
		return func() error {
			o, err := p.Charge(t.Context(), request(change))
			if o.Status == payment.Declined { // Stripe refused the request itself
				return fmt.Errorf("refused: %s", o.Decline.Code)
			}
			return err
		}
	}
	rail, taxes := stripepay.NewRail(p), stripepay.NewTaxes(p, time.Now)
	taxed := func(change func(*tax.Sale)) func() error {
		return func() error {
			if _, err := calculated(t.Context(), taxes, taxSale(10000, "eur", "DE", change)); stripepay.StatusOf(err) != 0 {
				return err
			}
			return nil // the fixed calculation is of another sale
		}
	}
	for name, call := range map[string]func() error{
		"a payment by a token":          charge(func(*ports.ChargeRequest) {}),
		"a payment that saves the card": charge(func(r *ports.ChargeRequest) { r.SaveCard = true }),
		"a payment of a known customer": charge(func(r *ports.ChargeRequest) {
			r.SaveCard, r.CustomerID = true, "cus_1"
		}),
		"a payment by a saved card": charge(func(r *ports.ChargeRequest) {
			r.Method, r.OffSession = "cus_1/pm_1", true
		}),
		"a saved card with the buyer there": charge(func(r *ports.ChargeRequest) { r.Method = "cus_1/pm_1" }),
		"a card that is saved for nothing":  charge(func(r *ports.ChargeRequest) { r.SaveCard, r.Amount.Minor = true, 0 }),
		"an invoice with items": charge(func(r *ports.ChargeRequest) {
			r.Method, r.OffSession, r.Lines = "cus_1/pm_1", true, lines
		}),
		"finding by Stripe's id": func() error {
			_, err := p.Find(t.Context(), request(func(r *ports.ChargeRequest) { r.ProcessorID = "pi_1" }))
			return err
		},
		"finding a setup": func() error {
			_, err := p.Find(t.Context(), request(func(r *ports.ChargeRequest) { r.ProcessorID = "seti_1" }))
			return err
		},
		"finding after Stripe forgot the key": func() error {
			_, err := p.Find(t.Context(), request(func(r *ports.ChargeRequest) {
				r.PaymentID = "pay_01h00000000000000000000000"
			}))
			return err
		},
		"canceling": func() error {
			_, err := p.Cancel(t.Context(), request(func(*ports.ChargeRequest) {}))
			return err
		},
		"canceling a setup": func() error {
			_, err := p.Cancel(t.Context(), request(func(r *ports.ChargeRequest) { r.Amount.Minor = 0 }))
			return err
		},
		"a refund": func() error {
			_, err := p.Refund(t.Context(), ports.RefundRequest{RefundID: "ref_1", PaymentID: "pay_1", ProcessorID: "pi_1",
				Amount: money.Amount{Minor: 100, Currency: "eur"}})
			return err
		},
		"the payouts since a time": func() error { _, err := rail.ListPayouts(t.Context(), time.Now()); return err },
		"the charges since a time": func() error { _, err := p.ListCharges(t.Context(), time.Now()); return err },
		"the products":             func() error { _, err := p.ListProducts(t.Context(), "prod_1"); return err },
		"the customers":            func() error { _, err := p.ListCustomers(t.Context(), "cus_1"); return err },
		"the subscriptions":        func() error { _, err := p.ListSubscriptions(t.Context(), "sub_1"); return err },
		"a subscription that ends": func() error { return p.EndSubscription(t.Context(), "sub_1", "sub_2") },
		"a dispute":                func() error { _, err := p.FindDispute(t.Context(), "dp_1"); return err },
		"evidence": func() error {
			_, err := p.SubmitEvidence(t.Context(), "dp_1", wholeEvidence())
			return err
		},
		"acceptance": func() error { _, err := p.AcceptDispute(t.Context(), "dp_1"); return err },
		"a transfer": func() error {
			_, err := rail.Send(t.Context(), payout.State{ID: "po_1", CreatorID: "crt_1", Destination: "acct_1",
				Amount: money.Amount{Minor: 5000, Currency: "eur"}})
			return err
		},
		"opening an account": func() error {
			_, err := rail.OpenAccount(t.Context(), ports.PayoutAccountRequest{CreatorID: "crt_1", Email: "ada@example.com",
				Country: "DE"})
			return err
		},
		"the tax of a consumer":           taxed(func(s *tax.Sale) { s.BuyerPostalCode = "10115" }),
		"the tax of a business in the EU": taxed(func(s *tax.Sale) { s.BuyerTaxID = "DE136695976" }),
		"the tax of a Swiss business":     taxed(func(s *tax.Sale) { s.BuyerCountry, s.BuyerTaxID = "CH", "CHE107787577" }),
		"the tax of a British business":   taxed(func(s *tax.Sale) { s.BuyerCountry, s.BuyerTaxID = "GB", "GB980780684" }),
		"an account":                      func() error { _, err := rail.FindAccount(t.Context(), "acct_1"); return err },
		"an account's page": func() error {
			_, err := rail.LinkAccount(t.Context(), ports.PayoutAccountVisit{RailID: "acct_1",
				ReturnURL: "https://example.com/a", RefreshURL: "https://example.com/b"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Fixed objects are of other payments: not found, or not known, is as good as anything. A wrong shape is a 400.
			err := call()
			if err != nil && !errors.Is(err, ports.ErrNotFound) && !errors.Is(err, ports.ErrOutcomeUnknown) ||
				stripepay.StatusOf(err) != 0 {
				t.Errorf("%v", err)
			}
		})
	}
}
