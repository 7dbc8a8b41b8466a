package gormstore_test

import (
	"bytes"
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
