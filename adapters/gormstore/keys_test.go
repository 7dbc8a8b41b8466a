package gormstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/ports"
	"sundry/tests/testdb"
)

func TestReencrypt(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		url := engine.URL(t)
		store := engine.OpenAt(t, url)
		const rows = 450 // more than two batches; one of them is under way, without a body
		blob := map[string]string{"sqlite": "CAST('%s' AS BLOB)", "postgres": "CAST('%s' AS BYTEA)"}[engine.Name]
		values := make([]string, rows)
		for i := range values {
			body := map[bool]string{true: "old"}[i > 0]
			values[i] = fmt.Sprintf("('crt_%d', 'r', 'k', "+blob+", 200, "+blob+", 0, 0)", i%7*1000+i, "", body)
		}
		engine.Exec(t, url, "INSERT INTO idempotency_keys (creator_id, route, key, body_hash, status, body, lease_until, "+
			"created_at) VALUES "+strings.Join(values, ", "))
		seen := map[string]int{}
		renew := func(purpose string, value []byte) ([]byte, error) {
			seen[purpose]++
			if bytes.Equal(value, []byte("new")) {
				return nil, nil
			}
			return []byte("new"), nil
		}
		changed, err := store.Reencrypt(t.Context(), renew)
		if err != nil || changed != rows-1 || seen["kept-responses"] != rows-1 {
			t.Errorf("changed %d of %v, %v; want %d", changed, seen, err, rows-1)
		}
		if n := engine.Int(t, url, "SELECT COUNT(*) FROM idempotency_keys WHERE body = "+fmt.Sprintf(blob, "new")); n != rows-1 {
			t.Errorf("%d rows are renewed, want %d", n, rows-1)
		}
		if changed, err := store.Reencrypt(t.Context(), renew); err != nil || changed != 0 {
			t.Errorf("again it changes %d, %v", changed, err)
		}
	})
}

// The position moves once a batch is committed, and nowhere else: what stops before that is looked at again.
func TestReencrypt_StopsAnywhere(t *testing.T) {
	t.Parallel()
	const rows, batch = 450, 200
	died := errors.New("the process ends")
	for name, c := range map[string]struct {
		at     int   // the value whose renewal fails, once
		why    error // for which reason
		stored int   // before it
	}{
		"within the first batch":                     {150, died, 0},
		"between the commit and the next batch":      {batch, died, batch},
		"within the last batch":                      {rows - 1, died, 2 * batch},
		"a first batch that lost to another is read": {150, ports.ErrStale, rows},
		"a later batch that lost is read again":      {batch + 10, ports.ErrStale, rows},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
				url := engine.URL(t)
				store := engine.OpenAt(t, url)
				blob := map[string]string{"sqlite": "CAST('%s' AS BLOB)", "postgres": "CAST('%s' AS BYTEA)"}[engine.Name]
				values, want := make([]string, rows), map[string]bool{}
				for i := range values {
					values[i] = fmt.Sprintf("('crt_%04d', 'r', 'k', "+blob+", 200, "+blob+", 0, 0)", i, "", fmt.Sprint("old ", i))
					want[fmt.Sprint("new ", i)] = true
				}
				engine.Exec(t, url, "INSERT INTO idempotency_keys (creator_id, route, key, body_hash, status, body, lease_until, "+
					"created_at) VALUES "+strings.Join(values, ", "))
				seen := 0
				renew := func(_ string, value []byte) ([]byte, error) {
					if seen++; seen == c.at+1 {
						return nil, c.why
					}
					if i, old := bytes.CutPrefix(value, []byte("old ")); old {
						return append([]byte("new "), i...), nil
					}
					return nil, nil
				}
				changed, err := store.Reencrypt(t.Context(), renew)
				if changed != c.stored || errors.Is(err, died) != (c.stored < rows) || c.stored == rows && err != nil {
					t.Errorf("stored %d values, %v; want %d", changed, err, c.stored)
				}
				left := int(engine.Int(t, url, "SELECT COUNT(*) FROM idempotency_keys WHERE body >= "+fmt.Sprintf(blob, "old")))
				if left != rows-c.stored {
					t.Errorf("%d values are left to renew, want %d", left, rows-c.stored)
				}
				if changed, err = store.Reencrypt(t.Context(), renew); err != nil || changed != rows-c.stored {
					t.Errorf("the next run stored %d values, %v; want %d", changed, err, rows-c.stored)
				}
				_, err = store.Reencrypt(t.Context(), func(_ string, value []byte) ([]byte, error) {
					if !want[string(value)] {
						t.Errorf("there is %q, want each value once, renewed", value)
					}
					delete(want, string(value))
					return nil, nil
				})
				if err != nil || len(want) > 0 {
					t.Errorf("%d values are missing, %v", len(want), err)
				}
			})
		})
	}
}

func TestInsertKeys_KeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		at := time.UnixMilli(1_700_000_000_000)
		first := ports.StoredKey{Group: "links", Wrapped: []byte("one"), CreatedAt: at, ActiveFrom: at.Add(time.Minute)}
		second := first
		second.Wrapped = []byte("two") // another process at the same moment
		for _, key := range []ports.StoredKey{first, second} {
			if err := store.InsertKeys(t.Context(), []ports.StoredKey{key}); err != nil {
				t.Fatal(err)
			}
		}
		all, err := store.ListKeys(t.Context())
		if err != nil || len(all) != 1 || string(all[0].Wrapped) != "one" || !all[0].ActiveFrom.Equal(first.ActiveFrom) {
			t.Errorf("got %+v, %v; want the first alone", all, err)
		}
		if err := store.DeleteKeys(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		if all, err := store.ListKeys(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("after the deletion: %+v, %v", all, err)
		}
	})
}
