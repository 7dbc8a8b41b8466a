package gormstore_test

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/tests/testdb"
)

func TestASchemaThatIsNotOursStopsTheStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, undo, want string }{
		"from a newer program": {
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)",
			"DELETE FROM goose_db_version WHERE version_id = 99999",
			"has migration 99999, which this program does not know",
		},
		"from a newer program that takes away": {
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE); " +
				"INSERT INTO migration_phases (version, phase) VALUES (99999, 'contract')",
			"DELETE FROM goose_db_version WHERE version_id = 99999",
			"takes away what it may use",
		},
		"made by a migration that changed": {
			"UPDATE migration_checksums SET checksum = 'x' || checksum WHERE version = 6",
			"UPDATE migration_checksums SET checksum = SUBSTR(checksum, 2) WHERE version = 6",
			"migration 00006 is not the one that made this database",
		},
		"from before checksums": {
			"UPDATE migration_checksums SET version = -6 WHERE version = 6",
			"UPDATE migration_checksums SET version = 6 WHERE version = -6",
			"has migration 00006 without a checksum",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
				url := engine.URL(t)
				migrate := func() error {
					store, err := gormstore.Open(t.Context(), url)
					if err != nil {
						t.Fatal(err)
					}
					defer func() { _ = store.Close() }()
					return store.Migrate(t.Context())
				}
				engine.Exec(t, url, c.change)
				if err := migrate(); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want a refusal that says %q", err, c.want)
				}
				engine.Exec(t, url, c.undo)
				if err := migrate(); err != nil {
					t.Errorf("after the refusal: %v", err)
				}
			})
		})
	}
}

func TestMigrate_RunsBesideALaterVersion(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		url := engine.URL(t)
		for _, statement := range []string{
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99997, TRUE)",
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99998, TRUE)",
			"INSERT INTO migration_phases (version, phase) VALUES (99997, 'expand')",
			"INSERT INTO migration_phases (version, phase) VALUES (99998, 'data')",
			"INSERT INTO migration_phases (version, phase) VALUES (99999, 'contract')", // recorded, but not run
		} {
			engine.Exec(t, url, statement)
		}
		store, err := gormstore.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		if err := store.Migrate(t.Context()); err != nil {
			t.Error(err)
		}
		lines, err := store.PlanMigrations(t.Context())
		want := "99997 of a later version ran before: this version runs beside it\n" +
			"99998 of a later version ran before: this version runs beside it"
		if got := strings.Join(lines, "\n"); err != nil || got != want {
			t.Errorf("got %v and %q, want %q", err, got, want)
		}
	})
}

func TestMigrate_BuildsAnInterruptedIndexAgain(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres.URL(t)
	for _, statement := range []string{
		"CREATE TABLE letters (letter TEXT)", "INSERT INTO letters VALUES ('a'), ('a')",
	} {
		testdb.Postgres.Exec(t, url, statement)
	}
	db, err := sql.Open("pgx", url+"&lock_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), "CREATE UNIQUE INDEX CONCURRENTLY letters_letter ON letters (letter)"); err == nil {
		t.Fatal("the build is not interrupted")
	}
	indexes := func() int64 {
		return testdb.Postgres.Int(t, url, "SELECT COUNT(*) FROM pg_class WHERE relname = 'letters_letter'")
	}
	if indexes() != 1 {
		t.Fatal("nothing is left of the interrupted build")
	}
	timeout := func() (text string) {
		if err := conn.QueryRowContext(t.Context(), "SHOW lock_timeout").Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	locker, err := gormstore.NewIndexLocker("letters_letter")
	if err != nil {
		t.Fatal(err)
	}
	if err := locker.SessionLock(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	if n, limit := indexes(), timeout(); n != 0 || limit != "0" {
		t.Errorf("while it is built: %d indexes, a limit of %s, want 0 and 0", n, limit)
	}
	if err := locker.SessionUnlock(t.Context(), conn); err != nil || timeout() != "5s" {
		t.Errorf("afterwards: %v, a limit of %s, want 5s", err, timeout())
	}
}

// TestAProcessWaitsForAnothersCheckOfTheSchema lets another process compare the schema for longer than a statement
// waits for a lock, as on a machine that is busy.
func TestAProcessWaitsForAnothersCheckOfTheSchema(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres.EmptyURL(t)
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	other, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock($1)", gormstore.SchemaLock); err != nil {
		t.Fatal(err)
	}
	store, err := gormstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	migrated := make(chan error, 1)
	go func() { migrated <- store.Migrate(t.Context()) }()
	select {
	case err := <-migrated:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(gormstore.LockTimeout + 500*time.Millisecond):
	}
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}

func TestProcessesThatStartAtOnceMigrateOnce(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		url := engine.EmptyURL(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				store, err := gormstore.Open(t.Context(), url)
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = store.Close() }()
				if err := store.Migrate(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := engine.Int(t, url, `SELECT COUNT(*) FROM goose_db_version g FULL JOIN migration_checksums c
			ON c.version = g.version_id WHERE g.version_id > 0 AND c.version IS NULL OR g.version_id IS NULL`); n != 0 {
			t.Errorf("%d migrations ran without a checksum, or twice", n)
		}
	})
}

func TestPlanMigrations(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		url := engine.EmptyURL(t)
		store, err := gormstore.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		plan := func() string {
			t.Helper()
			lines, err := store.PlanMigrations(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(lines, "\n")
		}
		all := plan()
		for _, want := range []string{"00001_platform.sql (expand)\n", "00070_keys.sql (expand)\n  CREATE TABLE deployment_keys"} {
			if !strings.Contains(all, want) {
				t.Errorf("an empty database gets no %q", want)
			}
		}
		if err := store.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := plan(); got != "" {
			t.Errorf("after the migration: %s", got)
		}
		for _, statement := range []string{
			"DELETE FROM goose_db_version WHERE version_id = 50", "DELETE FROM migration_checksums WHERE version = 50",
		} {
			engine.Exec(t, url, statement)
		}
		want := map[string]string{
			"postgres": "DROP INDEX customers_email: ACCESS EXCLUSIVE lock for an instant, reads and writes wait",
			"sqlite":   "DROP INDEX customers_email: all writers wait, as for every write of SQLite",
		}[engine.Name]
		if got := plan(); !strings.HasPrefix(got, "00050_customer_indexes.sql (contract)\n") || !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestRequireDatabase(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		if err := gormstore.RequireDatabase(t.Context(), engine.URL(t), ""); err != nil {
			t.Errorf("a database that is made: %v", err)
		}
		err := gormstore.RequireDatabase(t.Context(), engine.EmptyURL(t), "")
		if !errors.Is(err, gormstore.ErrNoDatabase) || !strings.Contains(err.Error(), "DATABASE_URL") {
			t.Errorf("an empty database: got %v, want an error that names DATABASE_URL", err)
		}
	})
}
