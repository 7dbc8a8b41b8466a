package contract

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sundry/ports"
)

// openings are the two ways of beginning a transaction.
func openings(store StoreAdapter) map[string]func(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	return map[string]func(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error{
		"Atomically": store.Atomically, "Pipelined": store.Pipelined,
	}
}

func whatATransactionLacksIsFetchedBeforeItRunsAgain(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	for name, begin := range openings(store) {
		now, runs, fetched := realNow(), 0, false
		fetch := func(ctx context.Context) error {
			fetched = true
			// With the first run's transaction still open, this one would join it, or wait for its locks until the test ends.
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			err := begin(ctx, func(ctx context.Context, r ports.Repos) error {
				return r.Tasks.Schedule(ctx, "test.run", name+"/fetched", "", now)
			})
			if running := claim(t, store, now, 64); len(running) != 1 || running[0].Subject != name+"/fetched" {
				t.Errorf("%s: before the second run there is %v, want what the fetch itself has written alone", name, running)
			}
			return err
		}
		err := begin(t.Context(), func(ctx context.Context, r ports.Repos) error {
			runs++
			if err := r.Tasks.Schedule(ctx, "test.run", fmt.Sprintf("%s/%d", name, runs), "", now); err != nil {
				return err
			}
			return store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { // it joins, and passes the error on
				if err := r.Tasks.Schedule(ctx, "test.run", fmt.Sprintf("%s/%d/joined", name, runs), "", now); err != nil || fetched {
					return err
				}
				return fmt.Errorf("tax: %w", &ports.PrefetchError{What: "a rate", Fetch: fetch})
			})
		})
		if err != nil || runs != 2 {
			t.Fatalf("%s: %d runs, %v", name, runs, err)
		}
		left := map[string]bool{}
		for _, task := range claim(t, store, now, 64) {
			left[task.Subject] = true
		}
		if len(left) != 2 || !left[name+"/2"] || !left[name+"/2/joined"] {
			t.Errorf("%s: committed %v, want the second run alone", name, left)
		}
	}
}

func whatCannotBeFetchedIsTheError(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	down := errors.New("no network")
	for name, begin := range openings(store) {
		runs := 0
		err := begin(t.Context(), func(ctx context.Context, r ports.Repos) error {
			runs++
			if err := r.Tasks.Schedule(ctx, "test.run", name, "", realNow()); err != nil {
				return err
			}
			return &ports.PrefetchError{What: "a rate", Fetch: func(context.Context) error { return down }}
		})
		if !errors.Is(err, down) || runs != 1 {
			t.Errorf("%s: %d runs, %v", name, runs, err)
		}
	}
	claimNone(t, store, realNow())
}

func aTransactionThatLacksSomethingForGoodEnds(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	for name, begin := range openings(store) {
		runs, fetches := 0, 0
		err := begin(t.Context(), func(context.Context, ports.Repos) error {
			runs++
			return &ports.PrefetchError{What: "a rate", Fetch: func(context.Context) error { fetches++; return nil }}
		})
		var missing *ports.PrefetchError
		if err == nil || errors.As(err, &missing) || errors.Is(err, ports.ErrDatabaseBusy) || runs != fetches || runs < 2 || runs > 20 {
			t.Errorf("%s: %d runs, %d fetches, %v", name, runs, fetches, err)
		}
	}
}
