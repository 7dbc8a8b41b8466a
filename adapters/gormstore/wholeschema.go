package gormstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/pressly/goose/v3"
)

// sqliteSchema makes of an empty SQLite database what all migrations do one after the other, on which a first start
// would spend half of its time. It is written by a test, as its first line is, which names the migrations.
//
//go:embed schema/sqlite.sql
var sqliteSchema string

// schemaHeader is the first line of a whole schema.
func schemaHeader(known []migration) string {
	all := sha256.New()
	for _, m := range known {
		_, _ = all.Write([]byte(m.checksum)) // never fails
	}
	return "-- of the migrations " + hex.EncodeToString(all.Sum(nil)) + "\n"
}

// makeWhole makes the whole schema of an empty database, and records that the migrations have run. It does nothing on
// any other database, and where the schema is that of other migrations.
func (s *Store) makeWhole(ctx context.Context, db *sql.DB, known []migration) (err error) {
	if !strings.HasPrefix(s.wholeSchema, schemaHeader(known)) {
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("make the schema: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("make the schema: %w", err), tx.Rollback())
		}
	}()
	var used bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_master)").Scan(&used); err != nil {
		return err
	}
	if used {
		return tx.Rollback()
	}
	if _, err := tx.ExecContext(ctx, s.wholeSchema); err != nil {
		return err
	}
	const ran = "INSERT INTO " + goose.DefaultTablename + " (version_id, is_applied) VALUES (?, TRUE)"
	for _, m := range append([]migration{{}}, known...) { // goose begins with 0
		if _, err := tx.ExecContext(ctx, ran, m.version); err != nil {
			return err
		}
	}
	if err := s.recordMigrations(ctx, tx, known); err != nil {
		return err
	}
	return tx.Commit()
}
