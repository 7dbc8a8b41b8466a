package gormstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/id"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/ports"
	"sundry/tests/testdb"
)

var balanceDay = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// earned is a posting of one account that was made at a time: minor is released to its available balance.
func earned(n int, creatorID string, currency money.Currency, minor int64, at time.Time) ledger.Posting {
	amount := money.Amount{Minor: minor, Currency: currency}
	p := ledger.NewPosting(ledger.SourcePayment, fmt.Sprint("pay_", n), ledger.KindRelease,
		ledger.Debit(ledger.CreatorPending, amount), ledger.Credit(ledger.CreatorAvailable, amount))
	return p.Booked(id.First(id.LedgerEntry, at.Add(time.Duration(n)*time.Millisecond)), creatorID, at)
}

func post(t *testing.T, store *gormstore.Store, postings ...ledger.Posting) {
	t.Helper()
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Treasury.Ledger.Insert(ctx, postings)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantBalances(t *testing.T, store *gormstore.Store, creatorID string, want ...ledger.Balance) {
	t.Helper()
	got, err := store.Read(t.Context()).Treasury.Ledger.Balances(t.Context(), creatorID)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: got %+v, %v; want %+v", creatorID, got, err, want)
	}
}

func balance(currency money.Currency, released int64) ledger.Balance {
	return ledger.Balance{Currency: currency, Pending: -released, Available: released}
}

func TestStoredBalancesCountEachPostingOnce(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		url := engine.URL(t)
		store := engine.OpenAt(t, url)
		late := balanceDay.Add(-30 * time.Minute) // an earlier one may still be committed
		old := balanceDay.Add(-2 * time.Hour)
		sum := func(now time.Time, page int) {
			t.Helper()
			if err := gormstore.SumBalancesInPages(t.Context(), store, now, page); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.SumBalances(t.Context(), balanceDay); err != nil { // an empty ledger
			t.Fatal(err)
		}
		for n := range 25 {
			post(t, store, earned(n, "crt_1", "eur", 100, old), earned(100+n, "crt_2", "usd", 1, old))
		}
		post(t, store, earned(201, "crt_1", "usd", 7, old), earned(202, "crt_1", "eur", 1000, late))
		before := []ledger.Balance{balance("eur", 3500), balance("usd", 7)}
		wantBalances(t, store, "crt_1", before...)

		// Pages of seven, asked for by many at a time: of the account's 26 older ones five wait for the next page.
		var rivals sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			rivals.Go(func() {
				results[i] = gormstore.SumBalancesInPages(t.Context(), store, balanceDay, 7)
			})
		}
		rivals.Wait()
		if err := errors.Join(results...); err != nil {
			t.Fatal(err)
		}
		wantBalances(t, store, "crt_1", before...)
		wantBalances(t, store, "crt_2", balance("usd", 25))
		wantBalances(t, store, "crt_3")
		if got := engine.Int(t, url,
			"SELECT available FROM ledger_balances WHERE creator_id = 'crt_1' AND currency = 'eur'"); got != 2100 {
			t.Errorf("stored %d of the 2100 in three pages", got)
		}

		// What is committed after the sum, within the hour before it, counts; and again with the next sum.
		post(t, store, earned(203, "crt_1", "eur", 20, late))
		wantBalances(t, store, "crt_1", balance("eur", 3520), balance("usd", 7))
		sum(balanceDay.Add(2*time.Hour), 1)
		wantBalances(t, store, "crt_1", balance("eur", 3520), balance("usd", 7))

		// The stored sums are what is read, and verify adds the ledger up beside them.
		audit := store.Read(t.Context()).Treasury.Audit
		if wrong, err := audit.MisstatedBalances(t.Context(), 10); err != nil || len(wrong) > 0 {
			t.Errorf("before the fault: %v, %v", wrong, err)
		}
		engine.Exec(t, url, "UPDATE ledger_balances SET available = available + 1 WHERE creator_id = 'crt_2'")
		wantBalances(t, store, "crt_2", ledger.Balance{Currency: "usd", Pending: -25, Available: 26})
		if wrong, err := audit.MisstatedBalances(t.Context(), 10); err != nil || !slices.Equal(wrong, []string{"crt_2"}) {
			t.Errorf("of a wrong balance of crt_2 the audit names %v, %v", wrong, err)
		}
	})
}
