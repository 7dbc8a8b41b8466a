package contract

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sundry/core/access"
	"sundry/core/listing"
	"sundry/core/usage"
	"sundry/ports"
)

func whatATransactionLacksIsFetchedBeforeItRunsAgain(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now, runs, fetched := realNow(), 0, false
	fetch := func(ctx context.Context) error {
		fetched = true
		// With the first run's transaction still open, this one would join it, or wait for its locks until the test
		// ends.
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		err := store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Schedule(ctx, "test.run", "fetched", "", now)
		})
		if running := claim(t, store, now, 64); len(running) != 1 || running[0].Subject != "fetched" {
			t.Errorf("before the second run there is %v, want what the fetch itself has written alone", running)
		}
		return err
	}
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		runs++
		if err := r.Tasks.Schedule(ctx, "test.run", fmt.Sprint(runs), "", now); err != nil {
			return err
		}
		// it joins, and passes the error on
		return store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			if err := r.Tasks.Schedule(
				ctx, "test.run", fmt.Sprintf("%d/joined", runs), "", now,
			); err != nil || fetched {
				return err
			}
			return fmt.Errorf("tax: %w", &ports.PrefetchError{What: "a rate", Fetch: fetch})
		})
	})
	if err != nil || runs != 2 {
		t.Fatalf("%d runs, %v", runs, err)
	}
	left := map[string]bool{}
	for _, task := range claim(t, store, now, 64) {
		left[task.Subject] = true
	}
	if len(left) != 2 || !left["2"] || !left["2/joined"] {
		t.Errorf("committed %v, want the second run alone", left)
	}
}

func whatCannotBeFetchedIsTheError(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	down := errors.New("no network")
	runs := 0
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		runs++
		if err := r.Tasks.Schedule(ctx, "test.run", "never", "", realNow()); err != nil {
			return err
		}
		return &ports.PrefetchError{What: "a rate", Fetch: func(context.Context) error { return down }}
	})
	if !errors.Is(err, down) || runs != 1 {
		t.Errorf("%d runs, %v", runs, err)
	}
	claimNone(t, store, realNow())
}

func aTransactionThatLacksSomethingForGoodEnds(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	runs, fetches := 0, 0
	err := store.Atomically(t.Context(), func(context.Context, ports.Repos) error {
		runs++
		return &ports.PrefetchError{What: "a rate", Fetch: func(context.Context) error { fetches++; return nil }}
	})
	var missing *ports.PrefetchError
	if err == nil || errors.As(err, &missing) || errors.Is(err, ports.ErrDatabaseBusy) || runs != fetches || runs < 2 ||
		runs > 20 {
		t.Errorf("%d runs, %d fetches, %v", runs, fetches, err)
	}
}

// aJoinedPartReportsItsRefusedWrite joins a transaction with a write that the database refuses: the caller of that part
// gets the error, as if the transaction were the part's own.
func aJoinedPartReportsItsRefusedWrite(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	taken, other := listingState(1), listingState(2)
	insertListings(t, store, taken)
	other.Slug = taken.Slug
	insert := func(ctx context.Context, s listing.State) error {
		return store.Atomically(
			ctx, func(ctx context.Context, r ports.Repos) error { return r.Catalog.Listings.Insert(ctx, s) },
		)
	}
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Schedule(ctx, "test.run", "outer", "", realNow()); err != nil {
			return err
		}
		if err := insert(ctx, listingState(3)); err != nil {
			t.Errorf("a part that nobody refuses: %v", err)
		}
		err := insert(ctx, other)
		wantIndex(t, err, "listings_slug")
		return nil // the whole cannot commit all the same
	})
	wantIndex(t, err, "listings_slug")
	claimNone(t, store, realNow())
	if _, err := store.Read(t.Context()).Catalog.Listings.Get(t.Context(), listingState(3).ID); !errors.Is(err,
		ports.ErrNotFound) {
		t.Errorf("a part of what did not commit: %v", err)
	}
}

func aSnapshotShowsOneMoment(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	saveNext(t, store, access.Restore(accessGrant("grt_1", "sub_1")))
	alert := usage.Alert{ID: "ual_1", CreatorID: creator, SubscriptionID: "sub_1", MeterID: "mtr_1", CreatedAt: realNow()}
	seen := func(ctx context.Context, want int) {
		t.Helper()
		history, err := store.Read(ctx).Access.Snapshots.ListHistory(ctx, creator, ada, 9)
		if err != nil || len(history) != want {
			t.Errorf("%d changes, %v, want %d", len(history), err, want)
		}
		_, err = store.Read(ctx).Usage.Alerts.Get(ctx, creator, alert.ID)
		if errors.Is(err, ports.ErrNotFound) != (want == 1) {
			t.Errorf("the alert of the second change: %v", err)
		}
	}
	err := store.Snapshot(t.Context(), time.Time{}, func(ctx context.Context) error {
		seen(ctx, 1)
		err := store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return r.Usage.Alerts.Insert(ctx, alert)
		})
		saveNext(t, store, access.Restore(accessGrant("grt_2", "sub_2")))
		seen(ctx, 1)
		seen(t.Context(), 2)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	seen(t.Context(), 2)
}
