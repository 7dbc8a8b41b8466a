package gormstore_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore"
	"sundry/ports"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// inSchemas opens one database as a store for each schema. They migrate together, as cells do that start together.
func inSchemas(t *testing.T, names ...string) []*gormstore.Store {
	t.Helper()
	address := testdb.Postgres.EmptyURL(t)
	stores := make([]*gormstore.Store, len(names))
	var migrating sync.WaitGroup
	for i, name := range names {
		stores[i] = testdb.Postgres.OpenAt(t, address, gormstore.InSchema(name))
		migrating.Go(func() {
			if err := stores[i].Migrate(t.Context()); err != nil {
				t.Errorf("migrate %s: %v", name, err)
			}
		})
	}
	migrating.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return stores
}

func TestSchemasOfOneDatabaseShareNothing(t *testing.T) {
	t.Parallel()
	stores := inSchemas(t, "public", "cell_a", "cell_b")
	for i, store := range stores {
		if err := store.BelongTo(t.Context(), gormstore.Deployment{Environment: "sandbox", Cell: i}); err != nil {
			t.Errorf("schema %d: %v", i, err)
		}
	}

	var leading atomic.Int32
	woken := make([]atomic.Int32, len(stores))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for i, store := range stores {
		running.Go(func() {
			store.RunAsLeader(ctx, "work", func(ctx context.Context) { leading.Add(1); <-ctx.Done() })
		})
		running.Go(func() { _ = store.ListenForTasks(ctx, func(...ports.TaskClass) { woken[i].Add(1) }) })
	}
	defer running.Wait()
	defer cancel()
	harness.Eventually(t, "each schema has a leader", func() bool { return leading.Load() == int32(len(stores)) })
	harness.Eventually(t, "each schema is listened to", func() bool {
		return woken[0].Load() == 1 && woken[1].Load() == 1 && woken[2].Load() == 1
	})
	stores[1].NotifyWorkers()
	harness.Eventually(t, "the workers of the schema are notified", func() bool { return woken[1].Load() == 2 })
	stores[2].NotifyWorkers()
	harness.Eventually(t, "those of the other are, too", func() bool { return woken[2].Load() == 2 })
	if a, b := woken[0].Load(), woken[1].Load(); a != 1 || b != 2 {
		t.Errorf("public was woken %d times and cell_a %d times, want 1 and 2", a, b)
	}

	holding, done := make(chan struct{}), make(chan struct{})
	running.Go(func() {
		_ = stores[1].Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			err := r.Booking.Reservations.Lock(ctx, "crt_1")
			close(holding)
			<-done
			return err
		})
	})
	<-holding
	err := stores[2].Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Booking.Reservations.Lock(ctx, "crt_1")
	})
	close(done)
	if err != nil {
		t.Errorf("a lock of another schema is in the way: %v", err)
	}
}

func TestASchemaIsPlannedBeforeItIsMade(t *testing.T) {
	t.Parallel()
	address := testdb.Postgres.URL(t) // public is migrated
	store := testdb.Postgres.OpenAt(t, address, gormstore.InSchema("cell_a"))
	lines, err := store.PlanMigrations(t.Context())
	if err != nil || len(lines) < 30 {
		t.Errorf("the plan of an empty schema has %d lines, %v", len(lines), err)
	}
	if n := testdb.Postgres.Int(t, address, "SELECT COUNT(*) FROM pg_namespace WHERE nspname = 'cell_a'"); n != 0 {
		t.Error("a plan has made the schema")
	}
}

func TestDroppingACellLeavesTheOthers(t *testing.T) {
	t.Parallel()
	address := testdb.Postgres.EmptyURL(t)
	for _, name := range []string{"cell_a", "cell_b"} {
		if err := testdb.Postgres.OpenAt(t, address, gormstore.InSchema(name)).Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	testdb.Postgres.Exec(t, address, "DROP SCHEMA cell_a CASCADE")
	for what, query := range map[string]string{
		"constraint against overlaps": "SELECT COUNT(*) FROM pg_constraint WHERE contype = 'x' AND conrelid = 'cell_b.reservations'::regclass",
		"index of the search":         "SELECT COUNT(*) FROM pg_indexes WHERE schemaname = 'cell_b' AND indexname = 'listings_search'",
	} {
		if n := testdb.Postgres.Int(t, address, query); n != 1 {
			t.Errorf("cell_b has %d of the %s, want 1", n, what)
		}
	}
}

func TestAPoolerToAnotherSchemaIsRefused(t *testing.T) {
	t.Parallel()
	address := testdb.Postgres.URL(t)
	store, err := gormstore.OpenPooled(t.Context(), address, address, gormstore.InSchema("cell_a"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := store.Migrate(ctx); err == nil || !strings.Contains(err.Error(), "search_path TO cell_a") {
		t.Errorf("a pooler that leads to public: %v, want the statement that it has to run", err)
	}
}

// TestTriggersNeedNoSearchPath writes from a connection that looks in no schema, as the workers of Citus do.
func TestTriggersNeedNoSearchPath(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres.URL(t)
	const ofFunctions = " FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND prolang <> " +
		"(SELECT oid FROM pg_language WHERE lanname = 'c')"
	if n := testdb.Postgres.Int(t, url, "SELECT COUNT(*)"+ofFunctions+
		" AND prosrc ~ '(INTO|UPDATE|FROM) [a-z]+_' AND proconfig IS NULL"); n != 0 {
		t.Errorf("%d functions name a table and have no search path", n)
	}
	if testdb.Postgres.Int(t, url, "SELECT COUNT(*)"+ofFunctions+" AND proconfig IS NOT NULL") == 0 {
		t.Error("none has one")
	}
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	var schema string
	if err := db.QueryRow(t.Context(), "SELECT current_schema(), set_config('search_path', '', false)").Scan(&schema,
		new(string)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), "INSERT INTO "+schema+".scheduling VALUES ('crt_1', '', '')"); err != nil {
		t.Fatal(err)
	}
	if n := testdb.Postgres.Int(t, url, "SELECT version FROM calendar_versions WHERE creator_id = 'crt_1'"); n != 1 {
		t.Errorf("version %d of the calendar, want 1", n)
	}
}
