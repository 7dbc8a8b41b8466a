package gormstore_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/ports"
	"sundry/tests/testdb"
)

func TestADatabaseBelongsToItsFirstDeployment(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		mine := gormstore.Deployment{Environment: "sandbox", SecretCheck: "one"}
		for range 2 {
			if err := store.BelongTo(t.Context(), mine); err != nil {
				t.Fatalf("the same deployment is refused: %v", err)
			}
		}
		for want, other := range map[string]gormstore.Deployment{
			"ENVIRONMENT=sandbox": {Environment: "live", SecretCheck: "one"},
			"APP_SECRET":          {Environment: "sandbox", SecretCheck: "two"},
			"CELL=0":              {Environment: "sandbox", SecretCheck: "one", Cell: 7},
		} {
			if err := store.BelongTo(t.Context(), other); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v gets %v, want a refusal that names %s", other, err, want)
			}
		}
		if err := store.BelongTo(t.Context(), mine); err != nil {
			t.Errorf("after a refusal: %v", err)
		}
	})
}

// openSQLite opens a migrated database in a folder of its own.
func openSQLite(t *testing.T) (store *gormstore.Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data", "sundry.db")
	store, err := gormstore.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store, path
}

func TestOnlyTheOwnerReadsASQLiteDatabase(t *testing.T) {
	t.Parallel()
	_, path := openSQLite(t)
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", filepath.Base(file), info.Mode(), err)
		}
	}
}

func TestSQLiteHasOneServerAndManyReaders(t *testing.T) {
	t.Parallel()
	first, path := openSQLite(t)
	if err := first.LockProcess(); err != nil {
		t.Fatal(err)
	}
	second, err := gormstore.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	if err := second.LockProcess(); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second process gets %v", err)
	}
	if _, err := second.Read(t.Context()).Identity.Creators.Exists(t.Context()); err != nil {
		t.Errorf("reading beside it: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.LockProcess(); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}

func TestADatabaseThatAnotherProcessLocksIsBusySoon(t *testing.T) {
	t.Parallel()
	store, path := openSQLite(t)
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	write := func() error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Schedule(ctx, "kind", "subject", "", time.Now())
		})
	}
	began := time.Now()
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			if err := write(); !errors.Is(err, ports.ErrDatabaseBusy) {
				t.Errorf("a write beside the lock: %v", err)
			}
		})
	}
	writers.Wait()
	if waited := time.Since(began); waited > 8*time.Second {
		t.Errorf("eight writers were refused after %v, want about four seconds for all", waited)
	}
	if err := store.Writable(t.Context()); !errors.Is(err, ports.ErrDatabaseBusy) {
		t.Errorf("beside the lock the database is writable: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // a probe's response holds for a second
	if err := errors.Join(write(), store.Writable(t.Context())); err != nil {
		t.Errorf("once the lock is gone: %v", err)
	}
}
