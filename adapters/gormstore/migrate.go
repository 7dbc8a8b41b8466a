package gormstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Migrate brings the schema up to date. A lock lets one process do it while others wait. It changes nothing, and says
// why, if the schema is newer than this program or was made by a migration that has changed since.
func (s *Store) Migrate(ctx context.Context) (err error) {
	db, err := s.write.DB()
	if err != nil {
		return fmt.Errorf("database handle: %w", err)
	}
	if s.lockSchema != nil {
		release, locked := s.lockSchema()
		if locked != nil {
			return locked
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	if s.direct != nil { // goose's lock and the tuning's are of a session
		direct := stdlib.OpenDB(*s.direct)
		defer func() { err = errors.Join(err, direct.Close()) }()
		db = direct
	}
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	dialectName, files, err := s.migrationFiles()
	if err != nil {
		return err
	}
	if dialectName == goose.DialectPostgres {
		if err := s.makeSchema(ctx, db); err != nil {
			return explainPooler(err)
		}
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(s.migrationLock()))
		if err != nil {
			return fmt.Errorf("migration lock: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(dialectName, db, files, options...)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	sums, err := checksums(files, provider.ListSources())
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if err := s.checkSchema(ctx, db, sums); err != nil {
		return explainPooler(err)
	}
	if err := untilUnlocked(ctx, migrationPause, func() error { _, err := provider.Up(ctx); return err }); err != nil {
		return fmt.Errorf("migrate: %w", explainPooler(err))
	}
	if tuning := s.dialect.tuning(); tuning != "" {
		if _, err := db.ExecContext(ctx, tuning); err != nil {
			return fmt.Errorf("tune the database: %w", err)
		}
	}
	return s.checkSearchPath(ctx)
}

const (
	// migrationTries limits the tries of a migration to get its locks. Each lasts lockTimeout, as the statements that
	// queue behind it wait as long; they run in the pause between two tries.
	migrationTries = 8
	// migrationPause is the time between two tries.
	migrationPause = time.Second
)

// untilUnlocked calls migrate until it fails for another reason than a lock that it waited for in vain. What ran before
// stays, and the rest runs at the next try.
func untilUnlocked(ctx context.Context, pause time.Duration, migrate func() error) error {
	for try := 1; ; try++ {
		err := migrate()
		pg, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || pg.Code != lockNotAvailable {
			return err
		}
		if try == migrationTries {
			return fmt.Errorf("a lock was not free %d times, each for %s ms; end the transaction that holds it: %w", try,
				lockTimeout, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// lockNotAvailable is the SQLSTATE after lock_timeout.
const lockNotAvailable = "55P03"

// migrationFiles returns the migrations of the engine, and goose's name of it.
func (s *Store) migrationFiles() (goose.Dialect, fs.FS, error) {
	engine, dialect := "sqlite", goose.DialectSQLite3
	if _, ok := s.dialect.(postgresDialect); ok {
		engine, dialect = "postgres", goose.DialectPostgres
	}
	files, err := migrationsOf(engine)
	if err != nil {
		err = fmt.Errorf("embedded migrations: %w", err)
	}
	return dialect, files, err
}

// checksums returns the SHA-256 of every migration's file, by its version.
func checksums(files fs.FS, sources []*goose.Source) (map[int64]string, error) {
	sums := map[int64]string{}
	for _, source := range sources {
		content, err := fs.ReadFile(files, source.Path)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		sums[source.Version] = hex.EncodeToString(sum[:])
	}
	return sums, nil
}

// checksumTable makes the table of the checksums. It is there before the first migration.
const checksumTable = "CREATE TABLE IF NOT EXISTS migration_checksums (version BIGINT PRIMARY KEY, checksum TEXT NOT NULL)"

// schemaLock is the advisory lock of PostgreSQL under which the checksums of defaultSchema are compared and written.
const schemaLock = 0x5e_c4e_c4

// checkSchema compares what was run on the database with this program's migrations, and records the checksums of those
// that are about to run. They are recorded before and not after, so that no crash leaves a migration without one.
func (s *Store) checkSchema(ctx context.Context, db *sql.DB, sums map[int64]string) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("check the schema: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	bind := s.bind()
	if _, ok := s.dialect.(postgresDialect); ok {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", s.checksumsLock()); err != nil {
			return fmt.Errorf("lock the schema: %w", err)
		}
	}
	if _, err := tx.ExecContext(ctx, checksumTable); err != nil {
		return fmt.Errorf("make the table of checksums: %w", err)
	}
	recorded, err := s.recordedChecksums(ctx, tx, bind)
	if err != nil {
		return fmt.Errorf("read the schema's checksums: %w", err)
	}
	if err := schemaFault(recorded, sums); err != nil {
		return err
	}
	for version, sum := range sums {
		const record = "INSERT INTO migration_checksums (version, checksum) VALUES (?, ?) " +
			"ON CONFLICT (version) DO UPDATE SET checksum = excluded.checksum"
		if _, ran := recorded[version]; !ran {
			if _, err := tx.ExecContext(ctx, bind(record), version, sum); err != nil {
				return fmt.Errorf("record a migration's checksum: %w", err)
			}
		}
	}
	return tx.Commit()
}

// recordedChecksums returns the checksum of every migration that has run, "" for one without.
func (s *Store) recordedChecksums(
	ctx context.Context, tx *sql.Tx, bind func(query string) string,
) (map[int64]string, error) {
	var ran bool
	if err := tx.QueryRowContext(ctx, bind(s.dialect.hasTable()), goose.DefaultTablename).Scan(&ran); err != nil || !ran {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT g.version_id, COALESCE(c.checksum, '') FROM goose_db_version g
		LEFT JOIN migration_checksums c ON c.version = g.version_id WHERE g.is_applied AND g.version_id > 0`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	recorded := map[int64]string{}
	for rows.Next() {
		var version int64
		var sum string
		if err := rows.Scan(&version, &sum); err != nil {
			return nil, err
		}
		recorded[version] = sum
	}
	return recorded, rows.Err()
}

// schemaFault says why this program must not use a schema: recorded are the checksums of the migrations that made it.
// It names the first fault only, as the others usually follow from it.
func schemaFault(recorded, sums map[int64]string) error {
	for _, version := range slices.Sorted(maps.Keys(recorded)) {
		sum := recorded[version]
		ours, known := sums[version]
		switch {
		case !known:
			return fmt.Errorf("the database has migration %05d, which this program does not know: a later version made the "+
				"schema; start that one or a newer", version)
		case sum == "":
			return fmt.Errorf("the database has migration %05d without a checksum: it was made before version 0.1.0, from "+
				"which no upgrade leads here; start on another database", version)
		case sum != ours:
			return fmt.Errorf("migration %05d is not the one that made this database: its file was changed since; start a "+
				"released version", version)
		}
	}
	return nil
}
