package testdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"sundry/adapters/gormstore"
)

// sqliteTemplate is the bytes of a migrated, empty database file: copying it is much cheaper than migrating again.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "sundry-template-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "template.db")
	if err := migrate("sqlite:" + path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// migrate brings the database at url up to date and lets go of it.
func migrate(url string, options ...gormstore.Option) error {
	ctx := context.Background() // templates outlive the test that needs them first
	store, err := gormstore.Open(ctx, url, options...)
	if err != nil {
		return err
	}
	return errors.Join(store.Migrate(ctx), store.Close())
}

func makeSQLite() (url string, drop func() error, err error) {
	template, err := sqliteTemplate()
	if err != nil {
		return "", nil, fmt.Errorf("make the template: %w", err)
	}
	if url, drop, err = makeEmptySQLite(); err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(strings.TrimPrefix(url, "sqlite:"), template, 0o600); err != nil {
		return "", nil, errors.Join(fmt.Errorf("copy the template: %w", err), drop())
	}
	return url, drop, nil
}

func makeEmptySQLite() (url string, drop func() error, err error) {
	folder, err := os.MkdirTemp("", "sundry-test-")
	if err != nil {
		return "", nil, err
	}
	return "sqlite:" + filepath.Join(folder, "sundry.db"), func() error { return os.RemoveAll(folder) }, nil
}

func copySQLite(to, from string) error {
	db, err := sql.Open("sqlite", strings.TrimPrefix(from, "sqlite:"))
	if err != nil {
		return err
	}
	path := strings.TrimPrefix(to, "sqlite:")
	_, err = db.ExecContext(context.Background(), "VACUUM INTO ?", path+".copy")
	return errors.Join(err, db.Close(), os.Rename(path+".copy", path))
}
