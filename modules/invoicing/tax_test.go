package invoicing_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/invoice"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/tax"
	"sundry/modules/invoicing"
	"sundry/ports"
	"sundry/tests/fakes"
)

// move changes the customer's country, and saves cards of these countries, each a minute after the one before.
func (w *fixture) move(to string, cards ...string) {
	w.t.Helper()
	w.do(func(ctx context.Context, r ports.Repos) error {
		buyer, err := r.Customers.Customers.Get(ctx, customerID)
		if err != nil {
			return err
		}
		buyer.Details.Address = customer.Address{Country: to}
		buyer.Revision++
		return r.Customers.Customers.Update(ctx, buyer)
	})
	for i, country := range cards {
		w.saveCard(fmt.Sprint("pm_", i+2), customerID, country, noon.Add(time.Duration(i+1)*time.Minute))
	}
}

// saveCard saves a customer's card of a country.
func (w *fixture) saveCard(cardID, customerID, country string, at time.Time) {
	w.t.Helper()
	w.do(func(ctx context.Context, r ports.Repos) error {
		card := paymentmethod.New(cardID, creatorID, customerID, paymentmethod.Card{
			Token: "tok", Brand: "visa", Last4: "4242", ExpMonth: 1, ExpYear: 2030, Country: country,
		}, paymentmethod.Mandate{Text: "yes", AcceptedAt: at}, at)
		return r.Payments.PaymentMethods.Insert(ctx, card.State())
	})
}

// goLive makes the deployment one of real money.
func (w *fixture) goLive() {
	cfg := w.config
	cfg.Live = true
	w.Service = invoicing.New(cfg, w.deps)
}

func TestAnInvoiceIsTaxedWhereItsCustomerIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		address  string
		cards    []string
		country  string
		tax      int64 // contained in 100.00
		evidence tax.Evidence
	}{
		"at their address":          {"FR", []string{"AT"}, "FR", 1667, tax.Evidence{Declared: "FR"}},
		"where their last card is":  {"", []string{"FR", "DE"}, "DE", 1597, tax.Evidence{Card: "DE"}},
		"nowhere, if nothing tells": {"", nil, "", 0, tax.Evidence{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				w.move(c.address, c.cards...)
				state := w.push("k1", 10_000)
				if state.Status != invoice.Paid || state.Tax != eur(c.tax) || state.TaxDetails.Country != c.country ||
					state.TaxDetails.Evidence != c.evidence {
					t.Errorf("%+v", state)
				}
				if undetermined := state.TaxDetails.Treatment == tax.Undetermined; undetermined != (c.country == "") {
					t.Errorf("%s in %q", state.TaxDetails.Treatment, c.country)
				}
				w.goLive()
				_, err := w.Push(t.Context(), creatorID, draft("k2", 10_000))
				if c.country != "" {
					w.must(err)
					return
				}
				refused(t, err, fault.TaxLocationRequired)
				if all := w.all(); len(all) != 1 {
					t.Errorf("%d invoices, want the refused one undone", len(all))
				}
			})
		})
	}
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.move("DE")
		if cent := w.push("k1", 1); cent.TaxDetails.Treatment != tax.Taxed {
			t.Errorf("a cent is %+v", cent.TaxDetails)
		}
		if nothing := w.push("k2", 1, -1); nothing.TaxDetails.Treatment != "" {
			t.Errorf("nothing is taxed: %+v", nothing.TaxDetails)
		}
	})
}

// TestAPeriodIsTaxedByTheOnlyCard bills a customer of whom nothing else is known.
func TestAPeriodIsTaxedByTheOnlyCard(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ card, country string }{
		"which tells the country": {"FR", "FR"}, "which is gone": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				e := closed("inv_01h00000000000000000000001", 5000)
				e.Plan.CustomerID = "cus_unknown"
				if c.card != "" {
					w.saveCard("pm_2", e.Plan.CustomerID, c.card, noon)
				}
				w.must(w.close(e))
				if got := w.get(e.InvoiceID).TaxDetails; got.Country != c.country || got.Evidence.Card != c.card {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

func TestARefusalWithoutWordsHasOurs(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for key, response := range map[string]payment.Outcome{
			"declined": {Status: payment.Declined, Decline: payment.DeclineReason{Code: "insufficient_funds"}},
			"canceled": {Status: payment.Canceled},
		} {
			w.charges.Response = response
			state, err := w.Push(t.Context(), creatorID, draft(key, 5000))
			refused(t, err, fault.CardDeclined)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Message != "The card was declined." ||
				state.Status != invoice.Failed {
				t.Errorf("%s: %v of %+v", key, err, state)
			}
		}
	})
}

// TestAfterTheLastAttemptNothingIsPlanned has a customer try in vain when the time of retries is over.
func TestAfterTheLastAttemptNothingIsPlanned(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state := w.failing() // a retry is planned for tomorrow
		w.clock.Advance(8 * day)
		w.charges.Response = fakes.Declined("insufficient_funds")
		got, err := w.PayByLink(t.Context(), link(state))
		refused(t, err, fault.CardDeclined)
		if task, ok := w.next(); ok || !got.NextAttemptAt.IsZero() {
			t.Errorf("%+v is planned for %+v", task, got)
		}
	})
}
