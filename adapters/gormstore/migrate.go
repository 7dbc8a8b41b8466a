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

// Migrate brings the schema up to date. A lock lets one process do it while others wait. A later version's schema stays
// as it is: this program runs on it if all that it does not know has only added to it. Otherwise, and where a migration
// has changed since it made the schema, Migrate changes nothing and says why.
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
	dialectName, files, err := s.migrationFiles()
	if err != nil {
		return err
	}
	known, err := readMigrations(files)
	if err != nil {
		return err
	}
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	indexes := &indexLocker{}
	if dialectName == goose.DialectPostgres {
		if err := s.makeSchema(ctx, db); err != nil {
			return explainPooler(err)
		}
		indexes.SessionLocker, err = lock.NewPostgresSessionLocker(lock.WithLockID(s.migrationLock()))
		if err != nil {
			return fmt.Errorf("migration lock: %w", err)
		}
		options = append(options, goose.WithSessionLocker(indexes))
	}
	provider, err := goose.NewProvider(dialectName, db, files, options...)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	err = untilUnlocked(ctx, migrationPause, func() error { return s.checkSchema(ctx, db, known) })
	if err != nil {
		return explainPooler(err)
	}
	for _, step := range stepsOf(known) {
		indexes.building = step.index
		err := untilUnlocked(ctx, migrationPause, func() error { _, err := provider.UpTo(ctx, step.last); return err })
		if err != nil {
			return fmt.Errorf("migrate: %w", explainPooler(err))
		}
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

// untilUnlocked calls run until it fails for another reason than a lock that it waited for in vain. Of migrations, what
// ran before stays, and the rest runs at the next try.
func untilUnlocked(ctx context.Context, pause time.Duration, run func() error) error {
	for try := 1; ; try++ {
		err := run()
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

// migration is a file of this program's.
type migration struct {
	version  int64
	path     string
	checksum string // SHA-256
	changes  []change
	phase    phase
}

// readMigrations reads an engine's migrations, in their order.
func readMigrations(files fs.FS) ([]migration, error) {
	sources, err := sourcesOf(files)
	if err != nil {
		return nil, err
	}
	all := make([]migration, len(sources))
	for i, source := range sources {
		content, err := fs.ReadFile(files, source.Path)
		if err != nil {
			return nil, fmt.Errorf("read migrations: %w", err)
		}
		changes, err := changesOf(string(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source.Path, err)
		}
		sum := sha256.Sum256(content)
		all[i] = migration{
			version: source.Version, path: source.Path, checksum: hex.EncodeToString(sum[:]), changes: changes,
			phase: phaseOf(source.Version, changes),
		}
	}
	return all, nil
}

// schemaTables are there before the first migration: the checksum of each, and what it does to programs that do not
// know it.
var schemaTables = []string{
	"CREATE TABLE IF NOT EXISTS migration_checksums (version BIGINT PRIMARY KEY, checksum TEXT NOT NULL)",
	"CREATE TABLE IF NOT EXISTS migration_phases (version BIGINT PRIMARY KEY, phase TEXT NOT NULL)",
}

// schemaLock is the advisory lock of PostgreSQL under which the checksums of defaultSchema are compared and written.
const schemaLock = 0x5e_c4e_c4

// checkSchema compares what was run on the database with this program's migrations, and records those that are about to
// run. They are recorded before and not after, so that no crash leaves a migration without its record. On an empty
// database it makes the whole schema, where there is one.
func (s *Store) checkSchema(ctx context.Context, db *sql.DB, known []migration) (err error) {
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
	for _, table := range schemaTables {
		if _, err := tx.ExecContext(ctx, table); err != nil {
			return fmt.Errorf("make the tables of migrations: %w", err)
		}
	}
	ran, err := s.ranMigrations(ctx, tx)
	if err != nil {
		return err
	}
	if _, err := compareSchema(ran, known); err != nil {
		return err
	}
	for _, m := range known {
		if _, done := ran[m.version]; done {
			continue
		}
		for _, record := range []struct{ table, column, value string }{
			{"migration_checksums", "checksum", m.checksum}, {"migration_phases", "phase", string(m.phase)},
		} {
			query := fmt.Sprintf("INSERT INTO %s (version, %s) VALUES (?, ?) ON CONFLICT (version) DO UPDATE SET %[2]s = "+
				"excluded.%[2]s", record.table, record.column)
			if _, err := tx.ExecContext(ctx, bind(query), m.version, record.value); err != nil {
				return fmt.Errorf("record a migration: %w", err)
			}
		}
	}
	if err := s.makeWhole(ctx, tx, known); err != nil {
		return fmt.Errorf("make the schema: %w", err)
	}
	return tx.Commit()
}

// ranMigration holds the record of a migration that has run; "" where there is none.
type ranMigration struct {
	checksum string
	phase    phase
}

// ranMigrations returns those that have run, by their versions. A database may have no schema yet, or one that an older
// version made.
func (s *Store) ranMigrations(ctx context.Context, tx *sql.Tx) (map[int64]ranMigration, error) {
	versions, err := s.textsByVersion(ctx, tx, goose.DefaultTablename,
		"SELECT version_id, '' FROM goose_db_version WHERE is_applied AND version_id > 0")
	if err != nil {
		return nil, err
	}
	sums, err := s.textsByVersion(ctx, tx, "migration_checksums", "SELECT version, checksum FROM migration_checksums")
	if err != nil {
		return nil, err
	}
	phases, err := s.textsByVersion(ctx, tx, "migration_phases", "SELECT version, phase FROM migration_phases")
	if err != nil {
		return nil, err
	}
	ran := map[int64]ranMigration{}
	for version := range versions {
		ran[version] = ranMigration{sums[version], phase(phases[version])}
	}
	return ran, nil
}

// textsByVersion reads a query of a table of migrations: nothing where there is no such table.
func (s *Store) textsByVersion(ctx context.Context, tx *sql.Tx, table, query string) (_ map[int64]string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read %s: %w", table, err)
		}
	}()
	var there bool
	if err := tx.QueryRowContext(ctx, s.bind()(s.dialect.hasTable()), table).Scan(&there); err != nil || !there {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	texts := map[int64]string{}
	for rows.Next() {
		var version int64
		var text string
		if err := rows.Scan(&version, &text); err != nil {
			return nil, err
		}
		texts[version] = text
	}
	return texts, rows.Err()
}

const (
	// schemaCheckEvery is the time between two comparisons of the schema with this program's migrations.
	schemaCheckEvery = 5 * time.Second
	// schemaCheckTimeout bounds one of them.
	schemaCheckTimeout = 3 * time.Second
)

// AwaitSchemaFault returns why this program must not use the schema any more, once a later version has taken from it
// what it may use; nil when ctx ends before. A database that does not respond is no fault of the schema.
func (s *Store) AwaitSchemaFault(ctx context.Context) error {
	_, files, err := s.migrationFiles()
	if err != nil {
		return err
	}
	known, err := readMigrations(files)
	if err != nil {
		return err
	}
	every := time.NewTicker(schemaCheckEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		ran, err := s.recordedMigrations(ctx)
		if err != nil {
			continue // readiness reports it
		}
		if _, err := compareSchema(ran, known); err != nil {
			return err
		}
	}
}

// recordedMigrations is ranMigrations, in one statement, on a database that has been migrated.
func (s *Store) recordedMigrations(ctx context.Context) (map[int64]ranMigration, error) {
	ctx, cancel := context.WithTimeout(ctx, schemaCheckTimeout)
	defer cancel()
	var rows []struct {
		Version         int64
		Checksum, Phase string
	}
	err := s.read.WithContext(ctx).Raw(`SELECT g.version_id AS version, COALESCE(c.checksum, '') AS checksum,
		COALESCE(p.phase, '') AS phase FROM goose_db_version g LEFT JOIN migration_checksums c ON c.version = g.version_id
		LEFT JOIN migration_phases p ON p.version = g.version_id WHERE g.is_applied AND g.version_id > 0`).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read the migrations that have run: %w", err)
	}
	ran := map[int64]ranMigration{}
	for _, row := range rows {
		ran[row.Version] = ranMigration{row.Checksum, phase(row.Phase)}
	}
	return ran, nil
}

// compareSchema returns the migrations that a later version ran and that this program can run beside, or why it must
// not use the schema. It names the first fault only, as the others usually follow from it.
func compareSchema(ran map[int64]ranMigration, known []migration) (later []int64, err error) {
	ours := map[int64]string{}
	for _, m := range known {
		ours[m.version] = m.checksum
	}
	for _, version := range slices.Sorted(maps.Keys(ran)) {
		m := ran[version]
		sum, isOurs := ours[version]
		switch {
		case !isOurs && (m.phase == expand || m.phase == neutral):
			later = append(later, version)
		case !isOurs:
			return nil, fmt.Errorf("the database has migration %05d, which this program does not know and which takes away "+
				"what it may use: a later version made the schema; start that one or a newer", version)
		case m.checksum == "":
			return nil, fmt.Errorf("the database has migration %05d without a checksum: it was made before version 0.1.0, "+
				"from which no upgrade leads here; start on another database", version)
		case m.checksum != sum:
			return nil, fmt.Errorf("migration %05d is not the one that made this database: its file was changed since; "+
				"start a released version", version)
		}
	}
	return later, nil
}
