package contract

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/core/customer"
	"sundry/core/discount"
	"sundry/core/dispute"
	"sundry/core/invoice"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/payout"
	"sundry/core/subscription"
	"sundry/ports"
)

// sortCases has one case per value that a list may be sorted by.
func sortCases() storeCases {
	at := func(n int64) time.Time { return catalogTime.Add(time.Duration(n) * time.Hour) }
	text := func(n int64) string { return string([]byte("aBcDe")[n]) }
	return storeCases{
		"payments by amount": sorted(paymentsKept(), "amount",
			func(s *payment.State, n int64) { s.Amount.Minor = 500 + n }),
		"payouts by amount": sorted(payoutsKept(), "amount",
			func(s *payout.State, n int64) { s.Amount.Minor = 1 + n }),
		"disputes by amount": sorted(disputesKept(), "amount",
			func(s *dispute.State, n int64) { s.Share.Amount.Minor = n }),
		"disputes by deadline": sorted(disputesKept(), "respondBy",
			func(s *dispute.State, n int64) { s.RespondBy = at(n) }),
		"customers by address": sorted(customersKept(), "email",
			func(s *customer.State, n int64) { s.Email = text(n) + "@example.com" }),
		"subscriptions by the end of their period": sorted(subscriptionsKept(), "currentPeriodEnd",
			func(s *subscription.State, n int64) { s.CurrentPeriodEnd = at(n) }),
		"invoices by total": sorted(invoicesKept(), "total", func(s *invoice.State, n int64) { s.Total.Minor = n }),
		"appointments by start": sorted(listedAppointments(), "startsAt",
			func(s *appointment.State, n int64) { s.StartsAt = at(n) }),
		"discounts by code": sorted(listedDiscounts(), "code",
			func(s *discount.State, n int64) { s.Code = text(n) + s.ID; s.Key = discount.Key(s.Code) }),
		"discounts by use": sorted(listedDiscounts(), "redeemed",
			func(s *discount.State, n int64) { s.Redeemed = int(n) }),
		"discounts by their end": sorted(listedDiscounts(), "expiresAt", func(s *discount.State, n int64) {
			if n < 4 { // never is last
				s.ExpiresAt = at(n)
			}
		}),
		"listings by title": sorted(listedListings(), "title", func(s *listing.State, n int64) { s.Title = text(n) }),
		"listings by price": sorted(listedListings(), "price", func(s *listing.State, n int64) { s.Price.Minor = n }),
		"totals":            listsAreTotaled,
		"listings by change": sorted(listedListings(), "updated",
			func(s *listing.State, n int64) { s.UpdatedAt = at(n) }),
	}
}

func listedAppointments() aggregate[appointment.State] {
	return aggregate[appointment.State]{
		make: func(id, creatorID string) appointment.State {
			s := filled[appointment.State]()
			s.ID, s.CreatorID, s.CheckoutID, s.ReservationID = "apt_"+id, creatorID, "cs_"+id, "rsv_"+id
			return s
		},
		key: func(s *appointment.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s appointment.State) error {
			return r.Booking.Appointments.Insert(ctx, s)
		},
		list: func(
			ctx context.Context, r ports.Repos, creatorID string, page ports.Page,
		) (ports.List[appointment.State], error) {
			return r.Booking.Appointments.List(ctx, creatorID, ports.AppointmentSearch{}, page)
		},
	}
}

func listedDiscounts() aggregate[discount.State] {
	return aggregate[discount.State]{
		make: func(id, creatorID string) discount.State {
			s := discountState("dsc_"+id, "CODE"+id)
			s.CreatorID = creatorID
			return s
		},
		key: func(s *discount.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s discount.State) error {
			return r.Catalog.Discounts.Insert(ctx, s)
		},
		list: func(
			ctx context.Context, r ports.Repos, creatorID string, page ports.Page,
		) (ports.List[discount.State], error) {
			return r.Catalog.Discounts.List(ctx, creatorID, page)
		},
	}
}

func listedListings() aggregate[listing.State] {
	return aggregate[listing.State]{
		make: func(id, creatorID string) listing.State {
			n, _ := strconv.Atoi(id)
			s := listingState(n)
			s.CreatorID = creatorID
			return s
		},
		key: func(s *listing.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s listing.State) error {
			return r.Catalog.Listings.Insert(ctx, s)
		},
		list: func(
			ctx context.Context, r ports.Repos, creatorID string, page ports.Page,
		) (ports.List[listing.State], error) {
			return r.Catalog.Listings.List(ctx, creatorID, page)
		},
	}
}

// sorted lists five rows, two of which may have the same value, and one of another account in every order.
func sorted[S any](a aggregate[S], by string, set func(s *S, n int64)) func(t *testing.T, db Database) {
	return func(t *testing.T, db Database) {
		t.Helper()
		store := db.Open(t, StoreOptions{})
		ids := map[string]int{}
		for i, n := range []int64{4, 1, 3, 1, 2, 0} {
			s := a.make(strconv.Itoa(i+1), []string{creator, "crt_2"}[i/5])
			set(&s, n)
			id, _ := a.key(&s)
			ids[id] = i + 1
			atomically(t, store, func(ctx context.Context, r ports.Repos) error { return a.insert(ctx, r, s) })
		}
		for want, sort := range map[string]ports.Sort{
			"2 4 5 3 1": {By: by, Ascending: true}, "1 3 5 4 2": {By: by},
			"1 2 3 4 5": {By: ports.SortCreated, Ascending: true}, "5 4 3 2 1": {By: ports.SortCreated},
		} {
			for _, limit := range []int{2, 5} {
				var got []string
				for page := (ports.Page{Limit: limit, Sort: sort}); ; {
					list, err := a.list(t.Context(), store.Read(t.Context()), creator, page)
					if err != nil || list.Partial || len(list.Items) > limit {
						t.Fatalf("by %+v: %d rows, partial %t, %v", sort, len(list.Items), list.Partial, err)
					}
					for _, s := range list.Items {
						id, _ := a.key(&s)
						got = append(got, strconv.Itoa(ids[id]))
					}
					if page.After = list.Next; page.After == (ports.Cursor{}) {
						break
					}
				}
				if !slices.Equal(got, strings.Fields(want)) {
					t.Errorf("by %+v in pages of %d: %v, want %s", sort, limit, got, want)
				}
			}
		}
		unknown := ports.Page{Limit: 2, Sort: ports.Sort{By: "id; DROP TABLE tasks"}}
		if list, err := a.list(t.Context(), store.Read(t.Context()), creator, unknown); err == nil ||
			!strings.Contains(err.Error(), "can't be sorted by") || len(list.Items) > 0 {
			t.Errorf("an unknown sort lists %d rows, %v", len(list.Items), err)
		}
	}
}

func listsAreTotaled(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	for i, in := range []struct {
		currency money.Currency
		amount   int64
		status   payout.Status
		owner    string
	}{
		{"eur", 100, payout.Paid, creator}, {"usd", 5, payout.Paid, creator}, {"eur", 30, payout.Failed, creator},
		{"eur", 7, payout.Pending, creator}, {"eur", 1, payout.Paid, "crt_2"},
	} {
		id := strconv.Itoa(i + 1)
		p, v, c := payoutsKept().make(id, in.owner), invoiceState(id, in.owner), customerState(id, in.owner)
		p.Amount, p.Status = money.Amount{Minor: in.amount, Currency: in.currency}, in.status
		v.Total, v.Currency, v.Status = p.Amount, in.currency, invoice.Open
		if in.status == payout.Paid {
			v.Status = invoice.Paid
		}
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return errors.Join(r.Treasury.Payouts.Insert(ctx, p), r.Invoicing.Invoices.Insert(ctx, v),
				r.Customers.Customers.Insert(ctx, c))
		})
	}
	ctx, r := t.Context(), store.Read(t.Context())
	page := ports.Page{Limit: 1, Totals: true}
	want := func(list string, got []ports.Total, err error, want ...ports.Total) {
		t.Helper()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("the totals of %s are %+v, %v; want %+v", list, got, err, want)
		}
	}
	payouts, err := r.Treasury.Payouts.List(ctx, creator, "", page)
	want("payouts", payouts.Totals, err, ports.Total{Currency: "eur", Count: 3, Minor: 107},
		ports.Total{Currency: "usd", Count: 1, Minor: 5})
	payouts, err = r.Treasury.Payouts.List(ctx, creator, payout.Failed, page)
	want("failed payouts", payouts.Totals, err, ports.Total{Currency: "eur", Count: 1})
	invoices, err := r.Invoicing.Invoices.List(ctx, creator, ports.InvoiceSearch{}, page)
	want("invoices", invoices.Totals, err, ports.Total{Currency: "eur", Count: 3, Minor: 137},
		ports.Total{Currency: "usd", Count: 1, Minor: 5})
	page.Sort = ports.Sort{By: "total"}
	invoices, err = r.Invoicing.Invoices.List(ctx, creator, ports.InvoiceSearch{Status: invoice.Paid}, page)
	want("paid invoices", invoices.Totals, err, ports.Total{Currency: "eur", Count: 1, Minor: 100},
		ports.Total{Currency: "usd", Count: 1, Minor: 5})
	page.Sort = ports.Sort{}
	customers, err := r.Customers.Customers.List(ctx, ports.CustomerFilter{CreatorID: creator}, page)
	want("customers", customers.Totals, err, ports.Total{Count: 4})
	page.Totals = false
	customers, err = r.Customers.Customers.List(ctx, ports.CustomerFilter{CreatorID: creator}, page)
	want("customers without them", customers.Totals, err)
}
