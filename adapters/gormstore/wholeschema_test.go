package gormstore

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write schema/sqlite.sql")

// migrated returns an empty database that was migrated, with the whole schema or, with "", by the migrations.
func migrated(t *testing.T, wholeSchema string) *Store {
	t.Helper()
	store, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "sundry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	store.wholeSchema = wholeSchema
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

// texts reads a query of one column of text.
func texts(t *testing.T, s *Store, query string, args ...any) (all []string) {
	t.Helper()
	if err := s.read.Raw(query, args...).Scan(&all).Error; err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

// schemaOf writes the statements that make the database's schema and the rows that its migrations have inserted.
func schemaOf(t *testing.T, s *Store) string {
	t.Helper()
	var all strings.Builder
	for _, kind := range []string{"table", "index", "trigger", "view"} {
		for _, statement := range texts(t, s, "SELECT sql FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite_%' "+
			"AND tbl_name NOT LIKE 'migration_%' AND sql IS NOT NULL ORDER BY rowid", kind) {
			all.WriteString(statement + ";\n")
		}
	}
	for _, table := range texts(t, s, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "+
		"AND name NOT LIKE 'migration_%' AND name <> 'goose_db_version' ORDER BY name") {
		var values []string
		for _, column := range texts(t, s, "SELECT name FROM pragma_table_info(?)", table) {
			values = append(values, "quote("+column+")")
		}
		for _, row := range texts(t, s, "SELECT "+strings.Join(values, " || ', ' || ")+" FROM "+table) {
			fmt.Fprintf(&all, "INSERT INTO %s VALUES (%s);\n", table, row)
		}
	}
	return all.String()
}

// TestTheWholeSchemaIsThatOfTheMigrations writes it with -update.
func TestTheWholeSchemaIsThatOfTheMigrations(t *testing.T) {
	t.Parallel()
	files, err := migrationsOf("sqlite")
	if err != nil {
		t.Fatal(err)
	}
	known, err := readMigrations(files)
	if err != nil {
		t.Fatal(err)
	}
	stepwise := migrated(t, "")
	want := schemaHeader(known) + schemaOf(t, stepwise)
	if *update {
		if err := os.WriteFile("schema/sqlite.sql", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !*update && sqliteSchema != want {
		t.Fatal("schema/sqlite.sql is not what the migrations make: go test ./adapters/gormstore " +
			"-run TestTheWholeSchemaIsThatOfTheMigrations -update")
	}
	whole := migrated(t, want)
	for _, query := range []string{
		"SELECT version_id || ' ' || is_applied FROM goose_db_version ORDER BY version_id",
		"SELECT version || checksum FROM migration_checksums ORDER BY version",
		"SELECT version || phase FROM migration_phases ORDER BY version",
	} {
		if got, want := fmt.Sprint(texts(t, whole, query)), fmt.Sprint(texts(t, stepwise, query)); got != want {
			t.Errorf("%s: %s, where the migrations leave %s", query, got, want)
		}
	}
	if got, want := schemaOf(t, whole), schemaOf(t, stepwise); got != want {
		t.Errorf("the schema is %s, where the migrations make %s", got, want)
	}
}

// A schema of other migrations is not used, and neither is any on a database that has tables.
func TestTheWholeSchemaIsForItsMigrationsAlone(t *testing.T) {
	t.Parallel()
	stale := strings.Replace(sqliteSchema, "-- Migrations: ", "-- Migrations: 0", 1) + "CREATE TABLE stale (n);"
	if stale == sqliteSchema+"CREATE TABLE stale (n);" {
		t.Fatal("the header names no migrations")
	}
	if got := texts(t, migrated(t, stale), "SELECT name FROM sqlite_master WHERE name = 'stale'"); len(got) > 0 {
		t.Error("the schema of other migrations was used")
	}
	used := migrated(t, "")
	used.wholeSchema = sqliteSchema
	if err := used.Migrate(t.Context()); err != nil {
		t.Errorf("on a database with tables: %v", err)
	}
}
