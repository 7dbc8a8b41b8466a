package gormstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"

	"sundry/adapters/gormstore/repo"
)

// ErrNoDatabase means that there is no database yet where the settings lead. Errors that wrap it name the place and
// the settings.
var ErrNoDatabase = errors.New("set DATA_DIR or DATABASE_URL to the database's place, or make a new one with sundry " +
	"migrate")

// RequireDatabase returns ErrNoDatabase unless a start or sundry migrate has made the database. It makes nothing.
func RequireDatabase(ctx context.Context, databaseURL, directURL string, options ...Option) (err error) {
	s, err := OpenPooled(ctx, databaseURL, directURL, append(options, Existing())...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var found bool
	err = repo.ScanRow(s.read.WithContext(ctx).Raw(s.dialect.hasTable(), goose.DefaultTablename), &found)
	if err != nil {
		return fmt.Errorf("look for the tables of the database: %w", explainPooler(err))
	}
	switch path, ok := strings.CutPrefix(databaseURL, "sqlite:"); {
	case found:
		return nil
	case ok:
		return fmt.Errorf("%s has no tables: %w", absolute(path), ErrNoDatabase)
	}
	return fmt.Errorf("the PostgreSQL database of DATABASE_URL has no tables in the schema %s: %w", s.schema,
		ErrNoDatabase)
}

// requireFile returns ErrNoDatabase where the file of a SQLite database is missing or empty.
func requireFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return fmt.Errorf("there is no database at %s: %w", absolute(path), ErrNoDatabase)
	}
	if err != nil {
		return fmt.Errorf("look for the database: %w", err)
	}
	return nil
}

// absolute is the whole path of a file, since what is wrong with it is often the folder it is relative to.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
