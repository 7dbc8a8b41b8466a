package e2e_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sundry/modules/imports"
	"sundry/tests/stripefake"
)

// importing runs an import of everything until ctx ends.
func (s stripeShop) importing(ctx context.Context, t *testing.T, dryRun bool) (imports.Summary, error) {
	t.Helper()
	command := s.app.Program.ForCommands()
	creatorID, err := command.Accounts.FindAccount(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return command.Imports.Run(ctx, creatorID, imports.Options{
		Provider: "stripe", TakeOver: true, DryRun: dryRun, ExternalID: "user",
	}, func(imports.Note) error { return nil })
}

// carried compares what an import has carried over by now with what there is.
func carried(t *testing.T, got imports.Summary, want stripefake.Billed) {
	t.Helper()
	for kind, n := range map[string]int{
		"product": want.Products, "price": want.Prices, "customer": want.Customers, "card": want.Cards,
		"subscription": want.Subscriptions,
	} {
		for known, count := range got {
			if string(known) == kind && count.Carried+count.Before+count.Waiting != n {
				t.Errorf("%ss: %+v, want %d", kind, *count, n)
			}
		}
	}
}

// TestImportFromStripe interrupts an import twice, lets it finish, and has what it carried over renewed.
func TestImportFromStripe(t *testing.T) {
	t.Parallel()
	eachStripe(t, func(t *testing.T, s stripeShop) {
		want := s.fake.Bill(60, 30)
		planned, err := s.importing(t.Context(), t, true)
		if err != nil || s.app.Count(t, "SELECT COUNT(*) FROM imported_objects") != 0 || s.fake.Count("POST ") != 0 {
			t.Errorf("a dry run: %v", err)
		}
		carried(t, planned, want)
		for _, at := range []struct {
			route string
			n     int
		}{{"GET /v1/customers", 2}, {"POST /v1/subscriptions", 7}} {
			ctx, stop := context.WithCancel(t.Context())
			s.fake.Before(at.route, at.n, stop)
			if _, err := s.importing(ctx, t, false); err == nil || !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("interrupted at %s: %v", at.route, err)
			}
		}
		done, err := s.importing(t.Context(), t, false)
		if err != nil {
			t.Fatal(err)
		}
		carried(t, done, want)
		s.wantImported(t, want)
		again, err := s.importing(t.Context(), t, false)
		if err != nil || again["customer"].Carried+again["subscription"].Carried+again["product"].Carried != 0 {
			t.Errorf("again: %v", err)
		}
		s.wantImported(t, want)
		s.advanceDays(t, 11)
		renewed := s.app.Count(t, "SELECT COUNT(*) FROM payments WHERE status = 'succeeded' AND purpose = 'subscription'")
		ended := s.app.Count(t, "SELECT COUNT(*) FROM subscriptions WHERE status = 'canceled'")
		if ended != 2 || renewed+ended != int64(want.Subscriptions) { // each tenth was to end; one has no customer here
			t.Errorf("renewed %d, ended %d of %d", renewed, ended, want.Subscriptions)
		}
		if broken, err := s.app.Program.Verify(t.Context()); err != nil || len(broken) > 0 {
			t.Errorf("verify: %v %v", broken, err)
		}
	})
}

// wantImported compares the sums of the database with those of the account at Stripe.
func (s stripeShop) wantImported(t *testing.T, want stripefake.Billed) {
	t.Helper()
	for query, n := range map[string]int64{
		"SELECT COUNT(*) FROM customers":                                      int64(want.Customers),
		"SELECT COUNT(*) FROM payment_methods":                                int64(want.Cards),
		"SELECT COUNT(*) FROM subscriptions":                                  int64(want.Subscriptions),
		"SELECT CAST(COALESCE(SUM(credit), 0) AS INTEGER) FROM subscriptions": want.Credit,
	} {
		if got := s.app.Count(t, query); got != n {
			t.Errorf("%s: %d, want %d", query, got, n)
		}
	}
	amounts, after := map[string]int64{}, ""
	for {
		var page struct {
			Data []struct {
				Currency      string
				AmountInCents int64
				StartedAt     time.Time
			}
			NextCursor *string
		}
		s.AsBackend(t, get, "/v1/subscriptions?limit=100"+after, nil).Want(t, 200).Into(t, &page)
		for _, one := range page.Data {
			amounts[one.Currency] += one.AmountInCents
		}
		if page.NextCursor == nil {
			break
		}
		after = "&cursor=" + *page.NextCursor
	}
	for currency, sum := range want.Amounts {
		if amounts[currency] != sum {
			t.Errorf("%s: %d a period, want %d", currency, amounts[currency], sum)
		}
	}
	if got := s.fake.EndedHere(); got != want.Subscriptions {
		t.Errorf("%d subscriptions end at Stripe, want %d", got, want.Subscriptions)
	}
}
