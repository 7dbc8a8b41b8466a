package gormstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3/lock"
)

// defaultSchema is the schema in which PostgreSQL looks by default.
const defaultSchema = "public"

// inSchema makes a name that belongs to a whole database one of a schema. In defaultSchema it stays what it is, so that
// versions that know no other schema agree with this one.
func inSchema(name, schema string) string {
	if schema == "" || schema == defaultSchema {
		return name
	}
	return name + "_" + schema
}

// extensions are PostgreSQL's that the migrations and the tuning use. A database has each once. They are in
// defaultSchema, where they outlive every cell; what uses them finds them by their types.
var extensions = []struct {
	name   string
	needed bool
}{{"btree_gist", true}, {"pg_trgm", false}}

// makeSchema makes the schema where there is none, and what its tables need of the whole database.
func (s *Store) makeSchema(ctx context.Context, db *sql.DB) error {
	if s.schema == defaultSchema {
		return nil
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("make the schema %s: %w", s.schema, err)
	}
	defer func() { _ = conn.Close() }()
	// Cells that start together would make the same extension twice, which one of them is refused.
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", schemaLock); err != nil {
		return fmt.Errorf("make the schema %s: %w", s.schema, err)
	}
	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", schemaLock)
	}()
	if _, err := conn.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+s.schema); err != nil {
		return fmt.Errorf("make the schema %s: %w", s.schema, err)
	}
	for _, extension := range extensions {
		_, err := conn.ExecContext(ctx, "CREATE EXTENSION IF NOT EXISTS "+extension.name+" SCHEMA "+defaultSchema)
		if err != nil && extension.needed {
			return fmt.Errorf("make the extension %s: %w", extension.name, err)
		}
	}
	return nil
}

// migrationLock is the session lock under which goose runs the migrations.
func (s *Store) migrationLock() int64 {
	if s.schema == defaultSchema {
		return lock.DefaultLockID
	}
	return s.dialect.LockNumber("migrate")
}

// checksumsLock is the lock under which the checksums of the schema's migrations are compared and written.
func (s *Store) checksumsLock() int64 {
	if s.schema == defaultSchema {
		return schemaLock
	}
	return s.dialect.LockNumber("checksums")
}

// checkSearchPath returns an error where a pooler leads to another schema than the one that was migrated: it drops the
// settings of its clients, so it has to set the search path itself.
func (s *Store) checkSearchPath(ctx context.Context) error {
	if !s.pooled {
		return nil
	}
	var found sql.NullString
	if err := s.engine.Pool.QueryRow(ctx, "SELECT current_schema()").Scan(&found); err != nil {
		return fmt.Errorf("read the search path: %w", err)
	}
	if found.String != s.schema {
		return fmt.Errorf("DATABASE_URL leads to the schema %q and DATABASE_SCHEMA is %s: have the pooler run \"SET "+
			"search_path TO %s\" on each of its connections (connect_query of PgBouncer), or the user begin with it (ALTER "+
			"ROLE … SET search_path)", found.String, s.schema, s.schema)
	}
	return nil
}
