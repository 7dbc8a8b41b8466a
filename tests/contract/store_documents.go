package contract

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/core/document"
	"sundry/ports"
)

// nextNumber takes a receipt number in a transaction of its own.
func nextNumber(t *testing.T, store StoreAdapter, creatorID string) int64 {
	t.Helper()
	var n int64
	atomically(t, store, func(ctx context.Context, r ports.Repos) (err error) {
		n, err = r.Invoicing.DocumentNumbers.Next(ctx, creatorID, document.Receipts)
		return err
	})
	return n
}

func numbersHaveNoGap(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	const documents = 20
	numbers := make([]int64, documents)
	var wg sync.WaitGroup
	for i := range numbers {
		wg.Go(func() {
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) (err error) {
				numbers[i], err = r.Invoicing.DocumentNumbers.Next(ctx, creator, document.Receipts)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != int64(i+1) {
			t.Fatalf("numbers %v, want 1 to %d", numbers, documents)
		}
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for series, account := range map[document.Series]string{document.Invoices: creator, document.Receipts: "crt_other"} {
			if n, err := r.Invoicing.DocumentNumbers.Next(ctx, account, series); err != nil || n != 1 {
				t.Errorf("the first of %s of %s is %d, %v", series, account, n, err)
			}
		}
		return nil
	})
}

func aNumberThatIsNotCommittedIsUsedAgain(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	undo := errors.New("undo")
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		if n, err := r.Invoicing.DocumentNumbers.Next(ctx, creator, document.Receipts); err != nil || n != 1 {
			t.Errorf("the first number is %d, %v", n, err)
		}
		return undo
	})
	if !errors.Is(err, undo) || nextNumber(t, store, creator) != 1 {
		t.Errorf("after %v the next number is not 1", err)
	}
}

func accountsDoNotWaitForEachOthersNumber(t *testing.T, db Database) {
	if db.OneProcess {
		return // its one writer waits for every other
	}
	store := db.Open(t, StoreOptions{})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if _, err := r.Invoicing.DocumentNumbers.Next(ctx, creator, document.Receipts); err != nil {
			return err
		}
		other, cancel := context.WithTimeout(t.Context(), 4*time.Second) // less than the lock's own time-out
		defer cancel()
		return store.Atomically(other, func(ctx context.Context, r ports.Repos) error {
			_, err := r.Invoicing.DocumentNumbers.Next(ctx, "crt_other", document.Receipts)
			return err
		})
	})
}
