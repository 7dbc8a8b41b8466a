package subscriptions_test

import (
	"context"
	"testing"
	"time"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/subscription"
	"sundry/modules/subscriptions"
	"sundry/ports"
	"sundry/tests/fakes"
)

var upgrade = subscriptions.Change{Plan: "studio", Mode: subscription.ChargeNow}

func renamed(to string) customer.Renamed {
	return customer.Renamed{State: customer.State{ID: customerID, CreatorID: creatorID, ExternalCustomerID: to}, To: to}
}

func TestAnotherAccountsSubscriptionIsUnknown(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		ctx := t.Context()
		for name, ask := range map[string]func(creator string) error{
			"get":     func(c string) error { _, err := w.Get(ctx, c, s.ID); return err },
			"cancel":  func(c string) error { _, err := w.Cancel(ctx, c, s.ID, true); return err },
			"pause":   func(c string) error { _, err := w.Pause(ctx, c, s.ID); return err },
			"resume":  func(c string) error { _, err := w.Resume(ctx, c, s.ID); return err },
			"preview": func(c string) error { _, err := w.Preview(ctx, c, s.ID, upgrade); return err },
			"change":  func(c string) error { _, err := w.ChangePlan(ctx, c, s.ID, upgrade); return err },
			"pay":     func(c string) error { _, err := w.PayNow(ctx, c, s.ID); return err },
			"confirm": func(c string) error { _, err := w.Confirm(ctx, c, s.ID, true, home); return err },
		} {
			if err := ask("crt_other"); !fault.Is(err, fault.NotFoundCode) {
				t.Errorf("%s: %v", name, err)
			}
		}
		w.wantEvents()
	})
}

func TestAChangeChargesTheDifferenceToTheCent(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.clock.Set(started.Add(10 * day)) // 18 of 28 days are left: 1992.857… − 642.857… cents
		changed, err := w.ChangePlan(t.Context(), creatorID, s.ID, upgrade)
		if err != nil || changed.Offer.PriceID != studio.PriceID || changed.Charge != nil ||
			!changed.CurrentPeriodEnd.Equal(s.CurrentPeriodEnd) {
			t.Fatalf("%+v, %v", changed, err)
		}
		w.wantEvents("subscription.charge_paid", "subscription.updated")
		back, err := w.ChangePlan(t.Context(), creatorID, s.ID, subscriptions.Change{
			Plan: "basic", Mode: subscription.ChargeNow,
		})
		if err != nil || back.Credit != eur(1350) || back.Offer.PriceID != basic.PriceID {
			t.Fatalf("%+v, %v", back, err)
		}
		w.wantEvents("subscription.updated")
		w.at(s.CurrentPeriodEnd)
		if live := w.live(); len(live) != 0 {
			t.Errorf("credit of 13.50 pays for 10.00: %+v", live)
		}
		if got := w.get(s.ID).Credit; got != eur(350) {
			t.Errorf("credit left: %+v", got)
		}
	})
}

func TestADeclinedChangeChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.charges.Response = fakes.Declined("insufficient_funds")
		_, err := w.ChangePlan(t.Context(), creatorID, s.ID, upgrade)
		refused(t, err, fault.CardDeclined)
		if got := w.get(s.ID); got.Offer.PriceID != basic.PriceID || got.Charge != nil ||
			got.Status != subscription.StatusActive {
			t.Errorf("%+v", got)
		}
		w.wantEvents()
		w.charges.Response = fakes.Declined("authentication_required")
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, upgrade)
		refused(t, err, fault.AuthenticationRequired)
		w.charges.Cardless = true
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, upgrade)
		refused(t, err, fault.PaymentMethodRequired)
	})
}

func TestAnUnknownOutcomeLeavesThePlanUntilItIsKnown(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.charges.Response = payment.Outcome{Status: payment.Processing}
		got, err := w.ChangePlan(t.Context(), creatorID, s.ID, upgrade)
		if err != nil || got.Offer.PriceID != basic.PriceID || got.Charge == nil {
			t.Fatalf("%+v, %v", got, err)
		}
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, upgrade)
		refused(t, err, fault.StateConflict)
		w.decide(payment.Outcome{Status: payment.Succeeded})
		if got := w.get(s.ID); got.Offer.PriceID != studio.PriceID {
			t.Errorf("%+v", got)
		}
	})
}

func TestAQuoteIsBindingOnceForItsChange(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		preview := func() subscription.Quote {
			q, err := w.Preview(t.Context(), creatorID, s.ID, upgrade)
			if err != nil {
				t.Fatal(err)
			}
			return q
		}
		with := func(q subscription.Quote) subscriptions.Change {
			c := upgrade
			c.QuoteID = q.ID
			return c
		}
		q := preview()
		w.clock.Set(started.Add(subscription.QuoteLifetime))
		_, err := w.ChangePlan(t.Context(), creatorID, s.ID, with(q))
		refused(t, err, fault.QuoteExpired)

		q = preview()
		other := with(q)
		other.Plan, other.Every = "studio", "year"
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, other)
		refused(t, err, fault.QuoteExpired)
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, with(subscription.Quote{ID: "qt_unknown"}))
		refused(t, err, fault.QuoteExpired)

		// A day passes within the lifetime: the price stays that of the quote.
		w.clock.Set(started.Add(day - time.Minute))
		q = preview()
		w.clock.Set(started.Add(day + time.Minute))
		w.charges.Response = payment.Outcome{Status: payment.Processing}
		if _, err := w.ChangePlan(t.Context(), creatorID, s.ID, with(q)); err != nil {
			t.Fatal(err)
		}
		if p := w.decide(payment.Outcome{Status: payment.Succeeded}); p.Amount != q.Bill.Due() || p.Amount != eur(2100) {
			t.Errorf("charged %+v", p.Amount)
		}
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, with(q)) // although it is on this plan already
		refused(t, err, fault.QuoteExpired)
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, subscriptions.Change{
			Plan: "basic", Mode: subscription.ChargeNow, QuoteID: q.ID,
		})
		refused(t, err, fault.QuoteExpired)
		if _, err := w.Cancel(t.Context(), creatorID, s.ID, false); err != nil {
			t.Fatal(err)
		}
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, with(q))
		refused(t, err, fault.StateConflict)
	})
}

func TestAQuoteOfAnotherAccountOrAnOlderStateIsRefused(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		q, err := w.Preview(t.Context(), creatorID, s.ID, upgrade)
		if err != nil {
			t.Fatal(err)
		}
		w.do(func(ctx context.Context, r ports.Repos) error { return w.OnCustomerRenamed(ctx, r, renamed("grace")) })
		c := upgrade
		c.QuoteID = q.ID
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, c)
		refused(t, err, fault.QuoteExpired)
		foreign := q
		foreign.ID, foreign.CreatorID, foreign.Revision = "qt_foreign", "crt_other", w.get(s.ID).Revision
		w.do(func(ctx context.Context, r ports.Repos) error { return r.Subscriptions.Quotes.Insert(ctx, foreign) })
		c.QuoteID = foreign.ID
		_, err = w.ChangePlan(t.Context(), creatorID, s.ID, c)
		refused(t, err, fault.QuoteExpired)
	})
}

func TestAChangeForTheNextPeriodCostsNothingNow(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		later := subscriptions.Change{Plan: "studio", Every: "year", Mode: subscription.NextPeriod}
		got, err := w.ChangePlan(t.Context(), creatorID, s.ID, later)
		if err != nil || got.Planned == nil || got.Offer.PriceID != basic.PriceID || len(w.live()) != 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		w.wantEvents("subscription.updated")
		w.at(s.CurrentPeriodEnd)
		if p := w.decide(payment.Outcome{Status: payment.Succeeded}); p.Amount != eur(30000) {
			t.Errorf("%+v", p.Amount)
		}
		_, err = w.Preview(t.Context(), creatorID, s.ID, subscriptions.Change{
			Plan: "unknown", Mode: subscription.ChargeNow,
		})
		refused(t, err, fault.NotFoundCode)
	})
}

func TestATrialIsNotHadTwice(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(studio)
		w.clock.Set(started.Add(day))
		got, err := w.ChangePlan(t.Context(), creatorID, s.ID, subscriptions.Change{
			Plan: "basic", Mode: subscription.ChargeNow,
		})
		if err != nil || got.Offer.TrialDays != 0 {
			t.Errorf("%+v, %v", got.Offer, err)
		}
	})
}

// Resuming within the paid time is free; later it costs a period.
func TestResumingIsFreeOnlyWithinThePaidTime(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		_, err := w.Resume(t.Context(), creatorID, s.ID)
		refused(t, err, fault.StateConflict)
		pause := func() {
			if _, err := w.Pause(t.Context(), creatorID, s.ID); err != nil {
				t.Fatal(err)
			}
		}
		pause()
		if n := w.at(s.CurrentPeriodEnd.Add(-time.Millisecond)); n != 0 {
			t.Error("a paused subscription is billed")
		}
		if got, err := w.Resume(t.Context(), creatorID, s.ID); err != nil || got.Status != subscription.StatusActive ||
			len(w.live()) != 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		pause()
		later := s.CurrentPeriodEnd.Add(5 * day)
		w.at(later)
		w.charges.Response = fakes.Declined("card_declined")
		_, err = w.Resume(t.Context(), creatorID, s.ID)
		refused(t, err, fault.CardDeclined)
		w.charges.Response = payment.Outcome{Status: payment.Processing}
		if got, err := w.Resume(t.Context(), creatorID, s.ID); err != nil || got.Status != subscription.StatusPaused {
			t.Fatalf("%+v, %v", got, err)
		}
		_, err = w.Resume(t.Context(), creatorID, s.ID)
		refused(t, err, fault.StateConflict)
		w.TakeNames()
		w.decide(payment.Outcome{Status: payment.Succeeded})
		w.wantEvents("subscription.charge_paid", "subscription.renewed")
		if got := w.get(s.ID); got.Status != subscription.StatusActive || !got.Anchor.Equal(later) {
			t.Errorf("%+v", got)
		}
	})
}

func TestACancellationAtThePeriodsEndEndsIt(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		for range 2 { // the second is nothing new
			if got, err := w.Cancel(t.Context(), creatorID, s.ID, true); err != nil || !got.CancelAtPeriodEnd {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		w.wantEvents("subscription.cancel_scheduled")
		w.at(s.CurrentPeriodEnd)
		w.wantEvents("subscription.canceled")
		_, err := w.Cancel(t.Context(), creatorID, s.ID, false)
		refused(t, err, fault.StateConflict)
	})
}

func TestANewCardPaysForAllAndForWhatIsOverdueAtOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		overdue, fine, over := w.begin(basic), w.begin(yearly), w.begin(yearly)
		if _, err := w.Cancel(t.Context(), creatorID, over.ID, false); err != nil {
			t.Fatal(err)
		}
		w.at(overdue.CurrentPeriodEnd)
		w.decide(fakes.Declined("stolen_card"))
		w.TakeNames()
		w.clock.Set(overdue.CurrentPeriodEnd.Add(3 * day))
		now, _ := w.clock.Now(t.Context(), "")
		saved := paymentmethod.Saved{State: paymentmethod.State{ID: "pm_2", CustomerID: customerID, CreatedAt: now}}
		for range 2 { // a doubled message charges nothing again
			w.do(func(ctx context.Context, r ports.Repos) error { return w.OnCardSaved(ctx, r, saved) })
		}
		w.wantEvents("subscription.updated", "subscription.updated")
		if p := w.decide(payment.Outcome{Status: payment.Succeeded}); p.PaymentMethodID != "pm_2" ||
			p.SubjectID != overdue.ID || !p.CreatedAt.Equal(now) {
			t.Errorf("%+v", p)
		}
		if got := w.get(fine.ID); got.PaymentMethodID != "pm_2" {
			t.Errorf("%+v", got)
		}
		if got := w.get(over.ID); got.PaymentMethodID != "pm_1" {
			t.Errorf("%+v", got)
		}
	})
}

func TestACardSavedWhileASubscriptionEndsChargesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.at(s.CurrentPeriodEnd)
		if _, err := w.Cancel(t.Context(), creatorID, s.ID, true); err != nil { // while the renewal is under way
			t.Fatal(err)
		}
		w.decide(fakes.Declined("card_declined"))
		saved := paymentmethod.Saved{
			State: paymentmethod.State{ID: "pm_2", CustomerID: customerID, CreatedAt: s.CurrentPeriodEnd},
		}
		w.do(func(ctx context.Context, r ports.Repos) error { return w.OnCardSaved(ctx, r, saved) })
		if live := w.live(); len(live) != 0 {
			t.Errorf("%+v", live)
		}
		w.at(s.CurrentPeriodEnd)
		if got := w.get(s.ID); got.Status != subscription.StatusCanceled {
			t.Errorf("%+v", got)
		}
	})
}

func TestTheNextCardTakesOverFromARemovedOne(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		remove := func(id, next string) {
			removed := paymentmethod.Removed{State: paymentmethod.State{ID: id, CustomerID: customerID}, Next: next}
			w.do(func(ctx context.Context, r ports.Repos) error { return w.OnCardRemoved(ctx, r, removed) })
		}
		remove("pm_9", "pm_2")
		w.wantEvents()
		remove("pm_1", "pm_2")
		w.wantEvents("subscription.updated")
		if got := w.get(s.ID); got.PaymentMethodID != "pm_2" {
			t.Errorf("%+v", got)
		}
	})
}

func TestARenamedCustomerIsRenamedEverywhereOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s, over := w.begin(basic), w.begin(basic)
		if _, err := w.Cancel(t.Context(), creatorID, over.ID, false); err != nil {
			t.Fatal(err)
		}
		w.TakeNames()
		for range 2 {
			w.do(
				func(ctx context.Context, r ports.Repos) error { return w.OnCustomerRenamed(ctx, r, renamed("grace")) },
			)
		}
		w.wantEvents("subscription.updated", "subscription.updated")
		for _, id := range []string{s.ID, over.ID} {
			if got := w.get(id); got.ExternalCustomerID != "grace" {
				t.Errorf("%+v", got)
			}
		}
		if all, err := w.OfCustomer(t.Context(), customerID); err != nil || len(all) != 2 || all[0].ID != over.ID {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestACustomerPaysWhatIsOverdueAndConfirmsIt(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		_, err := w.PayNow(t.Context(), creatorID, s.ID)
		refused(t, err, fault.StateConflict)
		_, err = w.Confirm(t.Context(), creatorID, s.ID, true, home)
		refused(t, err, fault.StateConflict)
		w.at(s.CurrentPeriodEnd)
		w.decide(fakes.Declined("authentication_required"))
		w.charges.Response = payment.Outcome{Status: payment.RequiresAction}
		for approve, want := range map[bool]subscription.Status{false: subscription.StatusPastDue,
			true: subscription.StatusActive} {
			if approve && w.get(s.ID).Status == subscription.StatusActive {
				t.Fatal("paid already")
			}
			if got := w.get(s.ID).Status; got == subscription.StatusActive {
				continue
			}
			p, err := w.PayNow(t.Context(), creatorID, s.ID)
			if err != nil || p.Status != payment.RequiresAction || p.OffSession {
				t.Fatalf("%+v, %v", p, err)
			}
			_, err = w.PayNow(t.Context(), creatorID, s.ID)
			refused(t, err, fault.StateConflict)
			if _, err = w.Confirm(t.Context(), creatorID, s.ID, approve, home); approve != (err == nil) {
				t.Errorf("approve %v: %v", approve, err)
			}
			if !approve {
				refused(t, err, fault.CardDeclined)
			}
			if got := w.get(s.ID).Status; got != want {
				t.Errorf("approve %v: %s", approve, got)
			}
		}
	})
}

func TestAListIsNarrowedByCustomerAndStatus(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		active, over := w.begin(basic), w.begin(basic)
		if _, err := w.Cancel(t.Context(), creatorID, over.ID, false); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			filter ports.SubscriptionFilter
			want   []string
		}{
			"all":             {ports.SubscriptionFilter{}, []string{over.ID, active.ID}},
			"active":          {ports.SubscriptionFilter{Status: subscription.StatusActive}, []string{active.ID}},
			"of the customer": {ports.SubscriptionFilter{CustomerID: customerID}, []string{over.ID, active.ID}},
			"of another":      {ports.SubscriptionFilter{CustomerID: "cus_other"}, nil},
			"by external id": {
				ports.SubscriptionFilter{ExternalCustomerID: "ada", Status: subscription.StatusCanceled},
				[]string{over.ID},
			},
			"of nobody's name": {ports.SubscriptionFilter{ExternalCustomerID: "grace"}, nil},
		} {
			c.filter.CreatorID = creatorID
			list, err := w.List(t.Context(), c.filter, ports.Page{Limit: 10})
			var got []string
			for _, s := range list.Items {
				got = append(got, s.ID)
			}
			if err != nil || len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	})
}

func TestVerifyFindsWhatStandsStill(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		lines := func() int {
			found, err := w.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return len(found)
		}
		before := lines() // without modules/access nobody has access by it
		w.do(func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Cancel(ctx, subscriptions.TaskDue, s.ID)
		})
		if after := lines(); after != before+1 {
			t.Errorf("%d lines, then %d", before, after)
		}
		w.do(func(ctx context.Context, r ports.Repos) error {
			lost := payment.NewPending(
				payment.Intent{
					ID: "pay_lost", CreatorID: creatorID, Amount: eur(5),
					Subject: payment.Subject{Purpose: payment.ForSubscription, SubjectID: s.ID},
				},
				started,
			)
			if _, err := lost.Apply(payment.Outcome{Status: payment.Succeeded}, started); err != nil {
				return err
			}
			return r.Payments.Payments.Insert(ctx, lost.State())
		})
		if after := lines(); after != before+2 {
			t.Errorf("%d lines, then %d with lost money", before, after)
		}
	})
}
