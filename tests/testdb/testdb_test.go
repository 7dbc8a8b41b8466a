package testdb_test

import (
	"context"
	"testing"

	"sundry/adapters/gormstore"
	"sundry/core/document"
	"sundry/ports"
	"sundry/tests/testdb"
)

func TestEachStoreIsMigratedAndItsOwn(t *testing.T) {
	t.Parallel()
	for range 2 { // what the first pair of stores counts, the second must not see
		testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
			var number int64
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) (err error) {
				number, err = r.Invoicing.DocumentNumbers.Next(ctx, "crt_1", document.Receipts)
				return err
			})
			if err != nil || number != 1 {
				t.Fatalf("first number of a new database = %d, %v", number, err)
			}
		})
	}
}
