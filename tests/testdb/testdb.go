// Package testdb hands a fresh, migrated database to each test: SQLite in the test's own folder and PostgreSQL in a
// database of its own, dropped when the test ends. PostgreSQL is there when TEST_DATABASE_URL names its server;
// TEST_ENGINE=postgres leaves SQLite out.
package testdb

import (
	"testing"

	"sundry/adapters/gormstore"
	"sundry/tests/testenv"
)

// Engine is one of the two databases that the product runs on.
type Engine struct {
	// Name is "sqlite" or "postgres".
	Name            string
	make, makeEmpty func() (url string, drop func() error, err error)
	// copyTo replaces one database by the contents of another.
	copyTo func(to, from string) error
}

// The engines.
var (
	SQLite   = Engine{Name: "sqlite", make: makeSQLite, makeEmpty: makeEmptySQLite, copyTo: copySQLite}
	Postgres = Engine{Name: "postgres", make: makePostgres, makeEmpty: makeEmptyPostgres, copyTo: copyPostgres}
)

// Make returns the DATABASE_URL of a new, migrated, empty database that lives until drop is called.
func (e Engine) Make() (url string, drop func() error, err error) { return e.make() }

// URL returns the DATABASE_URL of a new, migrated, empty database that lives as long as the test. It skips the test
// when the engine is not there.
func (e Engine) URL(t testing.TB) string {
	t.Helper()
	return e.url(t, e.make)
}

// EmptyURL is URL of a database without a schema.
func (e Engine) EmptyURL(t testing.TB) string {
	t.Helper()
	return e.url(t, e.makeEmpty)
}

func (e Engine) url(t testing.TB, made func() (url string, drop func() error, err error)) string {
	t.Helper()
	if e.Name == Postgres.Name {
		testenv.Need(t, testenv.Database)
	}
	url, drop, err := made()
	if err != nil {
		t.Fatalf("make a %s database: %v", e.Name, err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("drop the %s database: %v", e.Name, err)
		}
	})
	return url
}

// Copy returns the DATABASE_URL of a copy of the database at url, as a restored backup would be. Nothing may be
// connected to that one.
func (e Engine) Copy(t testing.TB, url string) string {
	t.Helper()
	copied := e.URL(t)
	if err := e.copyTo(copied, url); err != nil {
		t.Fatalf("copy the %s database: %v", e.Name, err)
	}
	return copied
}

// Open is a store over a new database, closed when the test ends.
func (e Engine) Open(t testing.TB, options ...gormstore.Option) *gormstore.Store {
	t.Helper()
	return e.OpenAt(t, e.URL(t), options...)
}

// OpenAt is a store over the database of an address, closed when the test ends.
func (e Engine) OpenAt(t testing.TB, url string, options ...gormstore.Option) *gormstore.Store {
	t.Helper()
	store, err := gormstore.Open(t.Context(), url, options...)
	if err != nil {
		t.Fatalf("open %s: %v", e.Name, err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close %s: %v", e.Name, err)
		}
	})
	return store
}

// Engines returns those under test in this run.
func Engines() []Engine {
	switch {
	case testenv.Get(testenv.Engine) == Postgres.Name:
		return []Engine{Postgres}
	case testenv.Get(testenv.Database) == "":
		return []Engine{SQLite}
	}
	return []Engine{SQLite, Postgres}
}

// EachEngine runs the test once per engine, in parallel.
func EachEngine(t *testing.T, test func(t *testing.T, engine Engine)) {
	t.Helper()
	for _, engine := range Engines() {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			test(t, engine)
		})
	}
}

// EachStore runs the test once per engine, in parallel, over a new store.
func EachStore(t *testing.T, test func(t *testing.T, store *gormstore.Store), options ...gormstore.Option) {
	t.Helper()
	EachEngine(t, func(t *testing.T, engine Engine) { test(t, engine.Open(t, options...)) })
}
