package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// backupPages is the number of pages that are copied between two looks at whether the caller has given up.
const backupPages = 1024

// Backup copies the SQLite database at sqlite:PATH to a new file while programs go on using it: the copy is the
// database as it was at one moment. The file appears when it is complete. An error for PostgreSQL, for a database that
// is not there, and for a file that is.
func Backup(ctx context.Context, databaseURL, file string) (err error) {
	path, ok := strings.CutPrefix(databaseURL, "sqlite:")
	if !ok {
		return errors.New("sundry backup copies SQLite databases, and DATABASE_URL leads to PostgreSQL: " +
			"back it up with pgBackRest or pg_basebackup, as docs/recovery.md shows")
	}
	if err := requireFile(path); err != nil {
		return err
	}
	if err := refuseExisting(file); err != nil {
		return err
	}
	partial, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".partial-*")
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		cause.Path = file // what the caller asked for, not the name until it is complete
	}
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	name := partial.Name()
	defer func() {
		if err != nil {
			_ = os.Remove(name)
		}
	}()
	if err := partial.Close(); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	err = copySQLite(ctx, path, name)
	if full, ok := errors.AsType[*sqlite.Error](err); ok && full.Code() == sqlite3.SQLITE_FULL {
		return fmt.Errorf("write the backup: the disk of %s is full", file)
	}
	if err != nil {
		return fmt.Errorf("back up %s: %w", path, err)
	}
	if err := refuseExisting(file); err != nil {
		return err
	}
	if err := os.Rename(name, file); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	return syncFolder(filepath.Dir(file))
}

func refuseExisting(file string) error {
	_, err := os.Lstat(file)
	switch {
	case err == nil:
		return fmt.Errorf("%s exists already: a backup never replaces a file", file)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("write the backup: %w", err)
}

// copySQLite copies a database by SQLite's online backup. The transaction around it keeps the pages as they were when
// it began; without it the copy would begin again with every commit of another connection.
func copySQLite(ctx context.Context, from, to string) (err error) {
	db, err := sql.Open("sqlite", fileURI(from)+"?mode=rw&_pragma=busy_timeout(4000)&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, begin := range []string{"BEGIN", "SELECT COUNT(*) FROM sqlite_schema"} {
		if _, err := conn.ExecContext(ctx, begin); err != nil {
			return err
		}
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }() // it has read only
	return conn.Raw(func(driver any) error {
		source, ok := driver.(interface {
			NewBackup(uri string) (*sqlite.Backup, error)
		})
		if !ok {
			return fmt.Errorf("the driver %T makes no backups", driver)
		}
		backup, err := source.NewBackup(fileURI(to))
		if err != nil {
			return err
		}
		more := true
		for more && err == nil {
			if err = ctx.Err(); err == nil {
				more, err = backup.Step(backupPages)
			}
		}
		if err != nil {
			_ = backup.Finish() // it returns err again
			return err
		}
		return backup.Finish()
	})
}

func fileURI(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

// syncFolder makes a rename in a folder survive a power cut, where the system can open folders.
func syncFolder(path string) error {
	folder, err := os.Open(path) //nolint:gosec // the operator's own path
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	_ = folder.Sync() // Windows can't
	return folder.Close()
}
