// Package directory keeps the names that are unique over all cells in a small PostgreSQL of their own, or in a schema
// of one that the cells share.
package directory

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sundry/core/id"
	"sundry/ports"
)

const (
	// timeout bounds a call: a sign-up waits for it.
	timeout = 4 * time.Second
	// connections is the most that one process opens: names are claimed rarely.
	connections = 4
	// makeLock keeps two processes from making the tables at once.
	makeLock = 7319004114
)

// tables are made at the start. The key hashes names, so that the directory alone reveals none.
const tables = `
CREATE TABLE IF NOT EXISTS directory_key (one BOOLEAN PRIMARY KEY DEFAULT true CHECK (one), key BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS directory_cells (cell INTEGER PRIMARY KEY, seen_at TIMESTAMPTZ NOT NULL);
CREATE TABLE IF NOT EXISTS directory (
    kind TEXT NOT NULL, hash BYTEA NOT NULL, cell INTEGER NOT NULL, owner TEXT NOT NULL,
    claimed_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (kind, hash)
);
CREATE INDEX IF NOT EXISTS directory_owner ON directory (owner, kind);`

// Directory implements ports.Directory.
type Directory struct {
	pool *pgxpool.Pool
	cell id.Cell
	key  []byte
}

var _ ports.Directory = (*Directory)(nil)

// Open connects, makes the tables and the schema that the address names in search_path, and records the cell.
func Open(ctx context.Context, address string, cell id.Cell) (d *Directory, err error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("DIRECTORY_URL is not a valid PostgreSQL address") // err would print the password
	}
	cfg.MaxConns = connections
	cfg.ConnConfig.ConnectTimeout = timeout
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "sundry"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open the directory: %w", err)
	}
	d = &Directory{pool: pool, cell: cell}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		return d.make(ctx, tx, cfg.ConnConfig.RuntimeParams["search_path"])
	})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("make the directory: %w", err)
	}
	return d, nil
}

func (d *Directory) make(ctx context.Context, tx pgx.Tx, schema string) error {
	statements := []string{fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", makeLock)}
	if schema != "" {
		statements = append(statements, "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{schema}.Sanitize())
	}
	for _, statement := range append(statements, tables) {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	key := make([]byte, sha256.Size)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "INSERT INTO directory_key (key) VALUES ($1) ON CONFLICT DO NOTHING", key); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO directory_cells (cell, seen_at) VALUES ($1, now())
		ON CONFLICT (cell) DO UPDATE SET seen_at = now()`, d.cell); err != nil {
		return err
	}
	return tx.QueryRow(ctx, "SELECT key FROM directory_key").Scan(&d.key)
}

// Close gives the connections back.
func (d *Directory) Close() error {
	d.pool.Close()
	return nil
}

func (d *Directory) hash(kind ports.NameKind, name string) []byte {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(string(kind) + "\x00" + name))
	return mac.Sum(nil)
}

func (d *Directory) hashes(kind ports.NameKind, names []string) [][]byte {
	all := make([][]byte, len(names))
	for i, name := range names {
		all[i] = d.hash(kind, name)
	}
	return all
}

// claimSQL claims or claims again. A row that somebody else has stays as it is, and is missing from the count. The rows
// are in order, so that two claims of the same names wait for each other and do not deadlock.
const claimSQL = `WITH claimed AS (
	INSERT INTO directory (kind, hash, cell, owner, claimed_at)
	SELECT $1, hash, $2, $3, now() FROM unnest($4::bytea[]) AS hash ORDER BY hash
	ON CONFLICT (kind, hash) DO UPDATE SET claimed_at = now()
	WHERE directory.cell = excluded.cell AND directory.owner = excluded.owner
	RETURNING 1)
SELECT COUNT(*) FROM claimed`

// Claim implements ports.Directory.
func (d *Directory) Claim(ctx context.Context, kind ports.NameKind, owner string, names ...string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	distinct := map[string]bool{}
	var wanted []string
	for _, name := range names {
		if !distinct[name] {
			distinct[name] = true
			wanted = append(wanted, name)
		}
	}
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		var n int
		if err := tx.QueryRow(ctx, claimSQL, kind, d.cell, owner, d.hashes(kind, wanted)).Scan(&n); err != nil {
			return err
		}
		if n < len(wanted) {
			return &ports.DuplicateError{Index: "directory_" + string(kind)}
		}
		return nil
	})
	return unavailable("claim names", err)
}

// Settle implements ports.Directory.
func (d *Directory) Settle(
	ctx context.Context, kind ports.NameKind, owner string, keep []string, age time.Duration,
) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := d.pool.Exec(ctx, `DELETE FROM directory WHERE kind = $1 AND cell = $2 AND owner = $3
		AND hash <> ALL ($4::bytea[]) AND claimed_at <= now() - make_interval(secs => $5)`,
		kind, d.cell, owner, d.hashes(kind, keep), age.Seconds())
	return unavailable("settle names", err)
}

// Find implements ports.Directory.
func (d *Directory) Find(ctx context.Context, kind ports.NameKind, name string) (cell id.Cell, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = d.pool.QueryRow(ctx, "SELECT cell FROM directory WHERE kind = $1 AND hash = $2", kind,
		d.hash(kind, name)).Scan(&cell)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return cell, err == nil, unavailable("find a name", err)
}

// Cells implements ports.Directory.
func (d *Directory) Cells(ctx context.Context) ([]id.Cell, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	rows, err := d.pool.Query(ctx, "SELECT cell FROM directory_cells")
	if err != nil {
		return nil, unavailable("list cells", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.Cell])
	return all, unavailable("list cells", err)
}

// unavailable wraps an error of the directory. Nothing depends on which it is: a request that needs one that is away is
// tried again.
func unavailable(op string, err error) error {
	if err == nil || errors.Is(err, ports.ErrDuplicate) {
		return err
	}
	return fmt.Errorf("%s: %w: %w", op, ports.ErrDatabaseBusy, err)
}
