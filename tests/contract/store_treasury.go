package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/ports"
)

func treasuryCases() storeCases {
	return storeCases{
		"a posting is whole, balanced and the only one":    aPostingIsWholeBalancedAndTheOnlyOne,
		"one of many equal postings is committed":          oneOfManyEqualPostingsIsCommitted,
		"entries are listed newest first":                  entriesAreListedNewestFirst,
		"the creator's accounts are summed by currency":    theCreatorsAccountsAreSummedByCurrency,
		"a statement has what happened between payouts":    aStatementHasWhatHappenedBetweenPayouts,
		"the ledger's lock lets the balance be spent once": theLedgersLockLetsTheBalanceBeSpentOnce,
		"a payout is found by its request for a while":     aPayoutIsFoundByItsRequestForAWhile,
		"a creator has one payout account":                 aCreatorHasOnePayoutAccount,
		"a payment has one sale":                           aPaymentHasOneSale,
	}
}

// posting is one of two legs, whose ids rise with n.
func posting(n int, creatorID, sourceID string, kind ledger.Kind, from, to ledger.Account,
	amount money.Amount) ledger.Posting {
	p := ledger.NewPosting(ledger.SourcePayment, sourceID, kind, ledger.Debit(from, amount), ledger.Credit(to, amount))
	return p.Booked(fmt.Sprintf("led_%06dx", n), creatorID, catalogTime)
}

// entriesOf are the postings' entries, newest first.
func entriesOf(postings ...ledger.Posting) (entries []ledger.Entry) {
	for _, p := range postings {
		entries = append(entries, p.Entries()...)
	}
	slices.Reverse(entries)
	return entries
}

func euros(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

// insertPostings writes postings in a transaction of their own.
func insertPostings(t *testing.T, store StoreAdapter, postings ...ledger.Posting) error {
	t.Helper()
	return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Treasury.Ledger.Insert(ctx, postings)
	})
}

// book lists what the ledger has of the account.
func book(t *testing.T, store StoreAdapter, sourceID string) []ledger.Entry {
	t.Helper()
	list, err := store.Read(t.Context()).Treasury.Ledger.List(t.Context(), creator, sourceID, ports.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func aPostingIsWholeBalancedAndTheOnlyOne(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	sale := posting(1, creator, "pay_1", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorPending, euros(700))
	fee := posting(
		2, creator, "pay_1", ledger.KindProcessorFee, ledger.ProcessorFee, ledger.ProcessorClearing, euros(30),
	)
	if err := insertPostings(t, store, sale, fee); err != nil {
		t.Fatal(err)
	}
	if err := insertPostings(t, store); err != nil {
		t.Errorf("nothing: %v", err)
	}
	want := entriesOf(sale, fee)
	if got := book(t, store, ""); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	other := posting(3, creator, "pay_2", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorPending, euros(5))
	again := posting(4, creator, "pay_1", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorPending, euros(700))
	wantIndex(t, insertPostings(t, store, other, again), "ledger_postings_source_id_kind")
	odd := posting(5, creator, "pay_3", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorPending, euros(5))
	odd.Legs[0].Amount.Minor++
	wantError(t, "a posting that is off by one", insertPostings(t, store, other, odd), ledger.ErrUnbalanced)
	foreign := posting(6, creator, "pay_3", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorPending, euros(5))
	foreign.Legs[1].Amount.Currency = "usd"
	wantError(t, "a posting of two currencies", insertPostings(t, store, other, foreign), ledger.ErrUnbalanced)
	odd.Legs = odd.Legs[:1]
	wantError(t, "one leg alone", insertPostings(t, store, other, odd), ledger.ErrUnbalanced)
	if got := book(t, store, ""); len(got) != 4 {
		t.Errorf("%d entries after what was refused, want 4", len(got))
	}
}

func oneOfManyEqualPostingsIsCommitted(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	const rivals = 8
	results := make(chan error, rivals)
	for n := range rivals {
		go func() {
			results <- insertPostings(t, store, posting(
				n+1, creator, "pay_1", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorPending, euros(700),
			))
		}()
	}
	made := 0
	for range rivals {
		if err := <-results; err == nil {
			made++
		} else if !errors.Is(err, ports.ErrDuplicate) {
			t.Error(err)
		}
	}
	if got := book(t, store, "pay_1"); made != 1 || len(got) != 2 {
		t.Errorf("%d were committed with %d entries, want one with two", made, len(got))
	}
}

func entriesAreListedNewestFirst(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	var all []ledger.Posting
	for n := range 4 {
		all = append(all, posting(n+1, creator, fmt.Sprint("pay_", n), ledger.KindSale, ledger.ProcessorClearing,
			ledger.CreatorPending, euros(1)))
	}
	all = append(all, posting(9, "crt_2", "pay_9", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorPending,
		euros(1)))
	if err := insertPostings(t, store, all...); err != nil {
		t.Fatal(err)
	}
	want := entriesOf(all[:4]...)
	var got []ledger.Entry
	page := ports.Page{Limit: 3}
	for range 3 {
		list, err := store.Read(t.Context()).Treasury.Ledger.List(t.Context(), creator, "", page)
		if err != nil {
			t.Fatal(err)
		}
		got, page.After = append(got, list.Items...), list.Next
	}
	if !slices.Equal(got, want) || page.After != (ports.Cursor{}) {
		t.Errorf("listed\n%+v\nwant\n%+v", got, want)
	}
	if got := book(t, store, "pay_2"); !slices.Equal(got, want[2:4]) {
		t.Errorf("of one source %+v", got)
	}
	if got := book(t, store, "pay_9"); len(got) != 0 {
		t.Errorf("another account's source shows %+v", got)
	}
}

func theCreatorsAccountsAreSummedByCurrency(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	usd := money.Amount{Minor: 40, Currency: "usd"}
	err := insertPostings(t, store,
		posting(1, creator, "pay_1", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorPending, euros(700)),
		posting(2, creator, "pay_1", ledger.KindRelease, ledger.CreatorPending, ledger.CreatorAvailable, euros(500)),
		posting(3, creator, "pay_2", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorReserved, usd),
		posting(
			4, creator, "po_1", ledger.KindPayoutRequested, ledger.CreatorAvailable, ledger.CreatorInTransit,
			euros(100),
		),
		posting(5, "crt_2", "pay_3", ledger.KindSale, ledger.ProcessorClearing, ledger.CreatorPending, euros(1)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := store.Read(t.Context()).Treasury.Ledger.Balances(t.Context(), creator)
	want := []ledger.Balance{
		{Currency: "eur", Pending: 200, Available: 400, InTransit: 100}, {Currency: "usd", Reserved: 40},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if got, err := store.Read(t.Context()).Treasury.Ledger.Balances(t.Context(), "crt_3"); err != nil || len(got) != 0 {
		t.Errorf("an account without entries: %+v, %v", got, err)
	}
}

func aStatementHasWhatHappenedBetweenPayouts(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx, r := t.Context(), store.Read(t.Context())
	release := func(n int, sourceID string, minor int64) ledger.Posting {
		return posting(
			n, creator, sourceID, ledger.KindRelease, ledger.CreatorPending, ledger.CreatorAvailable, euros(minor),
		)
	}
	out := func(n int, sourceID string, amount money.Amount) ledger.Posting {
		return posting(
			n, creator, sourceID, ledger.KindPayoutRequested, ledger.CreatorAvailable, ledger.CreatorInTransit, amount,
		)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for id, total := range map[string]int64{"pay_1": 500, "pay_2": 300} {
			s := salesKept().make("1", creator)
			s.PaymentID, s.Total.Minor, s.Tax.Minor, s.PlatformFee.Minor = id, total, 100, 20
			if err := r.Treasury.Sales.Insert(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
	refund := posting(
		4, creator, "ref_1", ledger.KindRefund, ledger.CreatorAvailable, ledger.ProcessorClearing, euros(30),
	)
	dollars := out(5, "po_usd", money.Amount{Minor: 9, Currency: "usd"})
	err := insertPostings(t, store, release(1, "pay_1", 380), out(2, "po_1", euros(200)), release(3, "pay_2", 180),
		refund, dollars, out(6, "po_2", euros(300)))
	if err != nil {
		t.Fatal(err)
	}
	entry := func(payoutID, currency string) (id, before string) {
		t.Helper()
		p := payout.State{ID: payoutID, CreatorID: creator, Amount: money.Amount{Currency: money.Currency(currency)}}
		id, before, err := r.Treasury.Ledger.PayoutPosting(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		return id, before
	}
	first, none := entry("po_1", "eur")
	second, before := entry("po_2", "eur")
	if none != "" || before != first || first != "led_0000020" || second != "led_0000060" {
		t.Errorf("the payouts are at %s and %s, behind %q and %s", first, second, none, before)
	}
	if _, before := entry("po_usd", "usd"); before != "" {
		t.Errorf("the payout in another currency comes after %s", before)
	}
	_, _, err = r.Treasury.Ledger.PayoutPosting(ctx, payout.State{ID: "po_9", CreatorID: creator, Amount: euros(1)})
	wantError(t, "an unknown payout", err, ports.ErrNotFound)
	theStatementIsBetween(t, r, first, second)
}

// theStatementIsBetween reads what happened between two payouts in each way in which it is read.
func theStatementIsBetween(t *testing.T, r ports.Repos, first, second string) {
	t.Helper()
	ctx := t.Context()
	if sum, err := r.Treasury.Ledger.SumAvailable(ctx, creator, "eur", first); err != nil || sum != -180 {
		t.Errorf("the balance behind the first payout is %d, %v; want -180", sum, err)
	}
	if sum, err := r.Treasury.Ledger.SumAvailable(ctx, creator, "eur", ""); err != nil || sum != 0 {
		t.Errorf("the balance before everything is %d, %v", sum, err)
	}
	var sources []string
	after := first
	for range 3 {
		entries, err := r.Treasury.Ledger.ListAvailable(ctx, creator, "eur", after, second, 1)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%+v, %v", entries, err)
		}
		sources, after = append(sources, entries[0].SourceID), entries[0].PostingID
	}
	if !slices.Equal(sources, []string{"pay_2", "ref_1", "po_2"}) {
		t.Errorf("between the payouts: %v", sources)
	}
	if entries, err := r.Treasury.Ledger.ListAvailable(ctx, creator, "eur", after, second, 9); err != nil ||
		len(entries) != 0 {
		t.Errorf("behind the second payout: %+v, %v", entries, err)
	}
	sums, err := r.Treasury.Ledger.SumStatement(ctx, creator, "eur", first, second)
	want := []ledger.KindSum{
		{Kind: ledger.KindRelease, Count: 1, Minor: 180, Sales: 300, Tax: 100, Fee: 20},
		{Kind: ledger.KindPayoutRequested,
			Count: 1, Minor: -300},
		{Kind: ledger.KindRefund, Count: 1, Minor: -30},
	}
	if err != nil || !slices.Equal(sums, want) {
		t.Errorf("got %+v, %v; want %+v", sums, err, want)
	}
}

// theLedgersLockLetsTheBalanceBeSpentOnce has many transactions read what is available and spend it.
func theLedgersLockLetsTheBalanceBeSpentOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	if err := insertPostings(t, store, posting(1, creator, "pay_1", ledger.KindRelease, ledger.CreatorPending,
		ledger.CreatorAvailable, euros(100))); err != nil {
		t.Fatal(err)
	}
	const rivals = 8
	results := make(chan bool, rivals)
	for n := range rivals {
		go func() {
			spent := false
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				spent = false
				if err := r.Treasury.Ledger.Lock(ctx, creator); err != nil {
					return err
				}
				balances, err := r.Treasury.Ledger.Balances(ctx, creator)
				if err != nil || balances[0].Available < 100 {
					return err
				}
				spent = true
				return r.Treasury.Ledger.Insert(ctx, []ledger.Posting{posting(
					n+2, creator, fmt.Sprint("po_", n), ledger.KindPayoutRequested, ledger.CreatorAvailable,
					ledger.CreatorInTransit, euros(100),
				)})
			})
			if err != nil {
				t.Error(err)
			}
			results <- spent && err == nil
		}()
	}
	spent := 0
	for range rivals {
		if <-results {
			spent++
		}
	}
	if spent != 1 {
		t.Errorf("the balance was spent %d times, want once", spent)
	}
}

func aPayoutIsFoundByItsRequestForAWhile(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first := payoutsKept().make("1", creator)
	first.RequestKey, first.CreatedAt = "k", catalogTime
	later := payoutsKept().make("2", creator)
	later.RequestKey, later.CreatedAt = "k", catalogTime.Add(48*time.Hour)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return errors.Join(r.Treasury.Payouts.Insert(ctx, first), r.Treasury.Payouts.Insert(ctx, later))
	})
	find := func(creatorID, key string, since time.Time) (payout.State, error) {
		return store.Read(t.Context()).Treasury.Payouts.GetByRequest(t.Context(), creatorID, key, since)
	}
	if got, err := find(creator, "k", later.CreatedAt); err != nil || got != later {
		t.Errorf("got %+v, %v; want the one of that very instant", got, err)
	}
	for name, c := range map[string]struct {
		creatorID, key string
		since          time.Time
	}{
		"since it was made": {creator, "k", later.CreatedAt.Add(time.Millisecond)}, "another key": {creator, "l",
			catalogTime},
		"another account": {"crt_2", "k", catalogTime},
	} {
		_, err := find(c.creatorID, c.key, c.since)
		wantError(t, name, err, ports.ErrNotFound)
	}
}

func aCreatorHasOnePayoutAccount(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	account := func(creatorID, railID string) payout.AccountState {
		a := payoutAccountsKept().make("1", creatorID)
		a.CreatorID, a.ID = creatorID, railID
		return a
	}
	insert := func(a payout.AccountState) error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Treasury.Accounts.Insert(ctx, a)
		})
	}
	if err := insert(account(creator, "acct_1")); err != nil {
		t.Fatal(err)
	}
	wantError(t, "a second account", insert(account(creator, "acct_2")), ports.ErrDuplicate)
	wantIndex(t, insert(account("crt_2", "acct_1")), "payout_accounts_rail_id")
	accounts := store.Read(t.Context()).Treasury.Accounts
	if got, err := accounts.GetByRailID(t.Context(), "acct_1"); err != nil || got.CreatorID != creator {
		t.Errorf("by the rail's id: %+v, %v", got, err)
	}
	_, err := accounts.GetByRailID(t.Context(), "acct_2")
	wantError(t, "an id of nobody's", err, ports.ErrNotFound)
}

func aPaymentHasOneSale(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Treasury.Sales.Insert(ctx, salesKept().make("1", creator))
	})
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Treasury.Sales.Insert(ctx, salesKept().make("1", creator))
	})
	wantError(t, "a second sale of a payment", err, ports.ErrDuplicate)
}
