package invoicing_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/invoice"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/core/usage"
	"sundry/ports"
	"sundry/tests/fakes"
)

func TestAPushedInvoiceIsChargedAtOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state, err := w.Push(t.Context(), creatorID, draft("k1", 7000, -1000))
		if err != nil || state.Status != invoice.Paid || state.Total != eur(6000) || !state.PaidAt.Equal(noon) ||
			state.AttemptCount != 1 {
			t.Fatalf("%+v, %v", state, err)
		}
		if state.Number != "000000-I-000001" || state.ExternalCustomerID != "ada" || state.Lines[1].AmountMinor != -1000 ||
			!id.Valid(id.InvoiceLine, state.Lines[0].ID) {
			t.Errorf("%+v", state)
		}
		if state.Tax != eur(958) || state.TaxDetails.Country != "DE" { // 19 % contained in 60.00
			t.Errorf("tax %v in %s", state.Tax, state.TaxDetails.Country)
		}
		w.wantEvents("invoice.created", "invoice.finalized", "invoice.paid")
		p, err := w.store.Read(t.Context()).Payments.Payments.Get(t.Context(), state.PaymentID)
		w.must(err)
		if p.Amount != eur(6000) || p.Sale.Tax != eur(958) || !p.OffSession || len(p.Sale.Lines) != 2 ||
			p.Sale.Lines[1].Amount != eur(-1000) ||
			p.Sale.Lines[0].Description != "Item 1" || p.CustomerID != customerID {
			t.Errorf("charged %+v", p)
		}
		if got := w.get(state.ID); !reflect.DeepEqual(got, state) {
			t.Errorf("stored %+v, want %+v", got, state)
		}
		if n := w.at(noon.Add(30 * day)); n != 0 {
			t.Errorf("%d tasks are left", n)
		}
	})
}

func TestTaxIsAddedWhereTheDraftSaysSo(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		exclusive := tax.Exclusive
		d := draft("k1", 6000)
		d.TaxBehavior = &exclusive
		state, err := w.Push(t.Context(), creatorID, d)
		if err != nil || state.Tax != eur(1140) || state.Total != eur(7140) || state.Subtotal != eur(6000) {
			t.Errorf("%+v, %v", state, err)
		}
		p, err := w.store.Read(t.Context()).Payments.Payments.Get(t.Context(), state.PaymentID)
		if err != nil || p.Sale.TaxAdded != eur(1140) || p.Amount != eur(7140) {
			t.Errorf("charged %+v, %v", p, err)
		}
	})
}

func TestAnInvoiceOfNothingIsPaidWithoutACharge(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state, err := w.Push(t.Context(), creatorID, draft("k1", 1000, -1000))
		if err != nil || state.Status != invoice.Paid || state.PaymentID != "" || state.Total != eur(0) {
			t.Errorf("%+v, %v", state, err)
		}
		for _, e := range fakes.Published[invoice.Event](w.bus) { // each has the number that is taken last
			if e.Invoice().Number != state.Number || e.Invoice().Links != state.Links {
				t.Errorf("%s of %+v, want number %s", e.EventName(), e.Invoice(), state.Number)
			}
		}
		w.wantEvents("invoice.created", "invoice.finalized", "invoice.paid")
		if live := w.charges.Live(t, creatorID); len(live) != 0 {
			t.Errorf("charged %+v", live)
		}
	})
}

func TestARefusedPushMakesNoInvoice(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		stranger := customer.State{
			ID: "cus_01h00000000000000000000001", CreatorID: otherID, ExternalCustomerID: "eve", CreatedAt: noon,
			UpdatedAt: noon, Revision: 1,
		}
		cardless := stranger
		cardless.ID, cardless.CreatorID, cardless.ExternalCustomerID = "cus_01h00000000000000000000002", creatorID, "bob"
		w.do(func(ctx context.Context, r ports.Repos) error {
			if err := r.Customers.Customers.Insert(ctx, stranger); err != nil {
				return err
			}
			return r.Customers.Customers.Insert(ctx, cardless)
		})
		to := func(customerID string) invoice.Draft {
			d := draft("k1", 1000)
			d.CustomerID = customerID
			return d
		}
		for name, c := range map[string]struct {
			draft invoice.Draft
			code  fault.Code
		}{
			"without lines":                       {draft("k1"), fault.ValidationFailed},
			"of less than nothing":                {draft("k1", -1), fault.ValidationFailed},
			"to an unknown customer":              {to("cus_unknown"), fault.CustomerNotFound},
			"to another account's customer":       {to(stranger.ID), fault.CustomerNotFound},
			"to a customer who has saved no card": {to(cardless.ID), fault.PaymentMethodRequired},
		} {
			if _, err := w.Push(t.Context(), creatorID, c.draft); !fault.Is(err, c.code) {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
		w.charges.Cardless = true // the card was removed a moment ago: the whole transaction is undone
		_, err := w.Push(t.Context(), creatorID, draft("k1", 1000))
		refused(t, err, fault.PaymentMethodRequired)
		if all := w.all(); len(all) != 0 {
			t.Errorf("made %+v", all)
		}
		w.charges.Cardless = false
		if state := w.push("k1", 1000); state.Number != "000000-I-000001" {
			t.Errorf("number %s: a refusal took one", state.Number)
		}
	})
}

func TestADeclinedInvoiceIsKeptAndComesBack(t *testing.T) {
	t.Parallel()
	for decline, code := range map[string]fault.Code{
		"insufficient_funds": fault.CardDeclined, "authentication_required": fault.AuthenticationRequired,
	} {
		t.Run(decline, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				w.charges.Response = fakes.Declined(decline)
				state, err := w.Push(t.Context(), creatorID, draft("k1", 5000))
				refused(t, err, code)
				f, ok := errors.AsType[*fault.Error](err)
				if code == fault.CardDeclined && (!ok || f.DeclineCode != decline || f.Message != "No.") {
					t.Errorf("%+v, want the processor's reason", f)
				}
				if state.Status != invoice.Failed || string(state.DeclineCode) != decline ||
					!state.NextAttemptAt.Equal(noon.Add(day)) {
					t.Errorf("%+v", state)
				}
				w.wantEvents("invoice.created", "invoice.finalized", "invoice.payment_failed")
				if got := w.get(state.ID); !reflect.DeepEqual(got, state) {
					t.Errorf("stored %+v, want %+v", got, state)
				}
			})
		})
	}
}

func TestAPushWithoutAnOutcomeLeavesItOpen(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.charges.Response = payment.Outcome{Status: payment.Processing}
		state, err := w.Push(t.Context(), creatorID, draft("k1", 5000))
		if err != nil || state.Status != invoice.Open || state.AttemptCount != 0 {
			t.Fatalf("%+v, %v", state, err)
		}
		w.charges.Decide(t, creatorID, payment.Outcome{Status: payment.Succeeded}) // a late message
		if got := w.get(state.ID); got.Status != invoice.Paid {
			t.Errorf("%+v, want it paid", got)
		}
	})
}

func TestAKeyMakesOneInvoice(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		first := w.push("k1", 5000)
		w.bus.Take()
		again, err := w.Push(t.Context(), creatorID, draft("k1", 5000))
		refused(t, err, fault.IdempotencyKeyReused)
		if !reflect.DeepEqual(again, first) {
			t.Errorf("%+v, want the invoice that the key has made: %+v", again, first)
		}
		other, err := w.Push(t.Context(), creatorID, draft("k1", 5001))
		refused(t, err, fault.IdempotencyKeyMismatch)
		if other.ID != first.ID {
			t.Errorf("%+v, want the invoice that the key has made", other)
		}
		w.wantEvents()
		if all := w.all(); len(all) != 1 {
			t.Errorf("%d invoices, want one", len(all))
		}
	})
}

func TestDoubledPushesChargeOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		errs := make(chan error, 4)
		for range cap(errs) {
			go func() {
				_, err := w.Push(context.Background(), creatorID, draft("k1", 5000))
				errs <- err
			}()
		}
		made := 0
		for range cap(errs) {
			if err := <-errs; err == nil {
				made++
			} else if !fault.Is(err, fault.IdempotencyKeyReused) {
				t.Error(err)
			}
		}
		paid, err := w.store.Read(t.Context()).Payments.Payments.ListByCustomer(t.Context(), customerID, 10)
		if err != nil || made != 1 || len(paid) != 1 || len(w.all()) != 1 {
			t.Errorf(
				"%d requests made an invoice, %d payments, %d invoices, %v; want one each", made, len(paid),
				len(w.all()), err,
			)
		}
	})
}

func TestInvoicesAreFoundByTheirSearch(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		var made []string
		for _, key := range []string{"k1", "k2", "k3"} {
			made = append(made, w.push(key, 1000).ID)
		}
		slices.Reverse(made)
		var read []string
		page := ports.Page{Limit: 2}
		for range 2 {
			list, err := w.Invoices(t.Context(), creatorID, ports.InvoiceSearch{
				CustomerID: customerID, Status: invoice.Paid,
			},
				page)
			w.must(err)
			for _, state := range list.Items {
				read = append(read, state.ID)
				if state.Links.PDF != state.Links.Page+"/pdf" || state.Links.Page == "" {
					t.Errorf("links %+v", state.Links)
				}
			}
			page.After = list.Next
		}
		if !slices.Equal(read, made) {
			t.Errorf("read %v, want %v", read, made)
		}
		for name, search := range map[string]ports.InvoiceSearch{
			"another status": {Status: invoice.Failed}, "another customer": {CustomerID: "cus_1"},
			"a subscription": {SubscriptionID: "sub_1"},
		} {
			if list, err := w.Invoices(t.Context(), creatorID, search, ports.Page{Limit: 9}); err != nil ||
				len(list.Items) != 0 {
				t.Errorf("%s: %v, %v", name, list.Items, err)
			}
		}
		if list, err := w.Invoices(t.Context(), otherID, ports.InvoiceSearch{}, ports.Page{Limit: 9}); err != nil ||
			len(list.Items) != 0 {
			t.Errorf("another account sees %v, %v", list.Items, err)
		}
		_, err := w.Invoice(t.Context(), otherID, made[0])
		refused(t, err, fault.NotFoundCode)
		_, err = w.Invoice(t.Context(), creatorID, "inv_unknown")
		refused(t, err, fault.NotFoundCode)
		if got, err := w.ByLink(t.Context(), link(w.get(made[0]))); err != nil || got.ID != made[0] {
			t.Errorf("by its address: %+v, %v", got, err)
		}
		for _, forged := range []string{"", made[0], link(w.get(made[0])) + "a", "x" + link(w.get(made[0]))[1:]} {
			_, err := w.ByLink(t.Context(), forged)
			refused(t, err, fault.NotFoundCode)
		}
	})
}

// closed is a closed billing period with lines of the given amounts.
func closed(invoiceID string, amounts ...int64) usage.PeriodClosed {
	e := usage.PeriodClosed{
		InvoiceID: invoiceID, Currency: "eur", At: noon, Period: usage.Period{Start: noon.Add(-30 * day), End: noon},
		Plan: usage.PlanState{
			ID: "ubp_1", CreatorID: creatorID, CustomerID: customerID, ExternalCustomerID: "ada",
			SubscriptionID: "sub_1",
		},
	}
	for _, amount := range amounts {
		e.Lines = append(e.Lines, usage.Rated{MeterName: "Calls", AmountMinor: amount, RatedMinor: amount,
			PeriodStart: e.Period.Start})
	}
	return e
}

func (w *fixture) close(e usage.PeriodClosed) error {
	return w.store.Atomically(context.Background(), func(ctx context.Context, r ports.Repos) error {
		return w.OnPeriodClosed(ctx, r, e)
	})
}

func TestAClosedPeriodIsOneInvoice(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.clock.Advance(day) // a late worker: the charge counts as made when it was due
		first := closed("inv_01h00000000000000000000001", 3000, 2000)
		w.must(w.close(first))
		w.wantEvents("invoice.created", "invoice.finalized")
		state := w.get(first.InvoiceID)
		if state.Total != eur(5000) || state.BillingPlanID != "ubp_1" || state.SubscriptionID != "sub_1" || state.Key != "" ||
			state.PeriodStart != "2026-02-06T12:00:00.000Z" || state.PeriodEnd != "2026-03-08T12:00:00.000Z" {
			t.Errorf("%+v", state)
		}
		if live := w.charges.Live(t, creatorID); len(live) != 1 || !live[0].CreatedAt.Equal(noon) ||
			live[0].Amount != eur(5000) {
			t.Errorf("charged %+v", live)
		}
		second := first
		second.InvoiceID = "inv_01h00000000000000000000002"
		if err := w.close(second); err == nil {
			t.Error("one period is billed by two invoices")
		}
		if all := w.all(); len(all) != 1 {
			t.Errorf("%d invoices, want one", len(all))
		}
		w.bus.Take()
		w.charges.Decide(t, creatorID, payment.Outcome{Status: payment.Succeeded})
		w.wantEvents("invoice.paid")
		nothing := closed("inv_01h00000000000000000000003", 0)
		nothing.Period.Start = noon
		w.must(w.close(nothing))
		if state := w.get(nothing.InvoiceID); state.Status != invoice.Paid || state.Number != "000000-I-000002" {
			t.Errorf("%+v, want nothing to be paid at once", state)
		}
		if live := w.charges.Live(t, creatorID); len(live) != 0 {
			t.Errorf("nothing is charged: %+v", live)
		}
	})
}

func TestAPeriodOfACustomerWithoutACardFails(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.charges.Cardless = true
		e := closed("inv_01h00000000000000000000001", 5000)
		w.must(w.close(e))
		w.wantEvents("invoice.created", "invoice.finalized", "invoice.payment_failed")
		state := w.get(e.InvoiceID)
		if state.Status != invoice.Failed || state.DeclineCode != "payment_method_required" ||
			!state.NextAttemptAt.Equal(noon.Add(day)) {
			t.Errorf("%+v", state)
		}
		if n := w.at(noon.Add(day)); n != 1 {
			t.Errorf("%d tasks ran a day later, want the retry", n)
		}
		w.charges.Cardless = false
		if n := w.at(noon.Add(3 * day)); n != 1 || len(w.charges.Live(t, creatorID)) != 1 {
			t.Errorf("%d tasks ran after two more days, %d charges", n, len(w.charges.Live(t, creatorID)))
		}
		w.charges.Decide(t, creatorID, payment.Outcome{Status: payment.Succeeded})
		if got := w.get(e.InvoiceID); got.Status != invoice.Paid || got.AttemptCount != 3 {
			t.Errorf("%+v", got)
		}
	})
}
