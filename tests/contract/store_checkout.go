package contract

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/invoice"
	"sundry/core/slot"
	"sundry/ports"
)

func checkoutCases() storeCases {
	return storeCases{
		"sessions are found by their search":      sessionsAreFoundByTheirSearch,
		"sessions that hold times are counted":    sessionsThatHoldTimesAreCounted,
		"what a session was opened with is fixed": whatASessionWasOpenedWithIsFixed,
	}
}

func insertSessions(t *testing.T, store StoreAdapter, sessions ...checkout.State) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for _, s := range sessions {
			if err := r.Checkout.Sessions.Insert(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func sessionsAreFoundByTheirSearch(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first, second, third := sessionState("1", creator), sessionState("2", creator), sessionState("3", creator)
	first.Status, first.ReferenceID, first.CreatedAt = checkout.StatusPaid, "ref-1", catalogTime
	second.ExternalCustomerID, second.CreatedAt = "ada", catalogTime.Add(time.Hour)
	third.CustomerID, third.Status, third.CreatedAt = "cus_3", checkout.StatusPaid, catalogTime.Add(2*time.Hour)
	insertSessions(t, store, first, second, third, sessionState("4", "crt_2"))
	for name, c := range map[string]struct {
		search ports.SessionSearch
		want   []string
	}{
		"all":                  {ports.SessionSearch{}, []string{"cs_3", "cs_2", "cs_1"}},
		"by status":            {ports.SessionSearch{Status: checkout.StatusPaid}, []string{"cs_3", "cs_1"}},
		"by external customer": {ports.SessionSearch{ExternalCustomerID: "ada"}, []string{"cs_2"}},
		"by customer":          {ports.SessionSearch{CustomerID: "cus_3"}, []string{"cs_3"}},
		"by reference":         {ports.SessionSearch{ReferenceID: "ref-1"}, []string{"cs_1"}},
		"from a time": {ports.SessionSearch{Created: ports.Created{From: catalogTime.Add(time.Hour)}},
			[]string{"cs_3", "cs_2"}},
		"up to a time": {ports.SessionSearch{Created: ports.Created{To: catalogTime.Add(time.Hour)}},
			[]string{"cs_1"}},
		"by what is apart": {ports.SessionSearch{Status: checkout.StatusPaid, ExternalCustomerID: "ada"}, nil},
	} {
		list, err := store.Read(t.Context()).Checkout.Sessions.List(
			t.Context(), creator, c.search, ports.Page{Limit: 9},
		)
		var got []string
		for _, s := range list.Items {
			got = append(got, s.ID)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

// sessionsThatHoldTimesAreCounted counts within the transaction, in which the sessions and what they hold are new.
func sessionsThatHoldTimesAreCounted(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	count := func(ctx context.Context, r ports.Repos, creatorID, openedBy string) int {
		t.Helper()
		n, err := r.Checkout.Sessions.CountHolding(ctx, creatorID, openedBy)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	begin := catalogTime
	hold := func(ctx context.Context, r ports.Repos, id, creatorID, openedBy string, times int,
		status appointment.ReservationStatus) error {
		s := sessionState(id, creatorID)
		s.OpenedBy = openedBy
		if err := r.Checkout.Sessions.Insert(ctx, s); err != nil {
			return err
		}
		var held []appointment.ReservationState
		for n := range times {
			begin = begin.Add(time.Hour)
			held = append(held, appointment.ReservationState{
				ID: fmt.Sprint("clm_", id, n), CreatorID: creatorID, CheckoutID: s.ID, ListingID: "lst_1", Position: n,
				Status:   status,
				StartsAt: begin, EndsAt: begin.Add(time.Minute),
				Blocked:   slot.Interval{From: begin, Until: begin.Add(time.Minute)},
				CreatedAt: catalogTime, Revision: 1,
			})
		}
		if len(held) == 0 {
			return nil
		}
		ok, err := r.Booking.Reservations.Insert(ctx, held)
		if err == nil && !ok {
			t.Errorf("the times of %s are taken", s.ID)
		}
		return err
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for _, c := range []struct {
			id, creatorID, openedBy string
			times                   int
			status                  appointment.ReservationStatus
		}{
			{"1", creator, "net-1", 3, appointment.Held}, {"2", creator, "net-1", 1, appointment.Held},
			{"3", creator, "net-1",
				1, appointment.Confirmed},
			{"4", creator, "net-2", 1, appointment.Held}, {"5", "crt_2", "net-1", 1, appointment.Held},
			{"6", creator, "", 1,
				appointment.Held},
			{"7", creator, "net-1", 0, appointment.Held},
		} {
			if err := hold(ctx, r, c.id, c.creatorID, c.openedBy, c.times, c.status); err != nil {
				return err
			}
		}
		if n := count(ctx, r, creator, "net-1"); n != 2 {
			t.Errorf("%d sessions hold times in their own transaction, want 2", n)
		}
		return nil
	})
	for openedBy, want := range map[string]int{"net-1": 2, "net-2": 1, "net-3": 0, "": 0} {
		if n := count(t.Context(), store.Read(t.Context()), creator, openedBy); n != want {
			t.Errorf("%q holds with %d sessions, want %d", openedBy, n, want)
		}
	}
}

func whatASessionWasOpenedWithIsFixed(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first := sessionState("1", creator)
	insertSessions(t, store, first)
	changed := first
	changed.CreatorID, changed.OpenedBy, changed.ExternalCustomerID, changed.SuccessURL = "crt_2", "net-9", "eve",
		"https://evil.example"
	changed.ReferenceID, changed.CreatedAt = "ref-9", catalogTime.Add(time.Hour)
	changed.Email, changed.Offer.Quantity, changed.Revision = "new@example.com", 3, 2 // may change
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Checkout.Sessions.Update(ctx, changed)
	})
	want := first
	want.Email, want.Offer.Quantity, want.Revision = "new@example.com", 3, 2
	sessionsKept().want(t, store, want)
}

func insertInvoice(t *testing.T, store StoreAdapter, s invoice.State) error {
	t.Helper()
	return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Invoicing.Invoices.Insert(ctx, s)
	})
}

func anInvoiceIsMadeOncePerKeyAndPeriod(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	pushed, used := invoiceState("1", creator), invoiceState("2", creator)
	pushed.BillingPlanID, used.Key = "", ""
	for _, s := range []invoice.State{pushed, used} {
		if err := insertInvoice(t, store, s); err != nil {
			t.Fatal(err)
		}
	}
	for index, change := range map[string]func(s *invoice.State){
		"invoices_creator_id_key":                          func(s *invoice.State) { s.Key = pushed.Key },
		"invoices_creator_id_number":                       func(s *invoice.State) { s.Number = pushed.Number },
		"invoices_creator_id_billing_plan_id_period_start": func(s *invoice.State) { s.PeriodStart = used.PeriodStart },
	} {
		again, elsewhere := invoiceState("3", creator), invoiceState("4"+index, "crt_2")
		change(&again)
		change(&elsewhere)
		wantIndex(t, insertInvoice(t, store, again), index)
		if err := insertInvoice(t, store, elsewhere); err != nil {
			t.Errorf("another account's: %v", err)
		}
	}
	invoices := store.Read(t.Context()).Invoicing.Invoices
	if got, err := invoices.GetByKey(t.Context(), creator, pushed.Key); err != nil || got.ID != pushed.ID {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err := invoices.GetByKey(t.Context(), "crt_3", pushed.Key)
	wantError(t, "another account's key", err, ports.ErrNotFound)
	for name, c := range map[string]struct {
		search ports.InvoiceSearch
		want   int
	}{
		"all": {ports.InvoiceSearch{}, 2}, "by customer": {ports.InvoiceSearch{CustomerID: pushed.CustomerID}, 2},
		"by status":               {ports.InvoiceSearch{Status: pushed.Status}, 2},
		"by subscription":         {ports.InvoiceSearch{SubscriptionID: pushed.SubscriptionID}, 2},
		"by another customer":     {ports.InvoiceSearch{CustomerID: "cus_9"}, 0},
		"by another status":       {ports.InvoiceSearch{Status: "gone"}, 0},
		"by another subscription": {ports.InvoiceSearch{SubscriptionID: "sub_9"}, 0},
	} {
		if list, err := invoices.List(t.Context(), creator, c.search, ports.Page{Limit: 9}); err != nil ||
			len(list.Items) != c.want {
			t.Errorf("%s: %d, %v; want %d", name, len(list.Items), err, c.want)
		}
	}
}
