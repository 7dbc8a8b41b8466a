package testdb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore"
	"sundry/tests/testenv"
)

const (
	templatePrefix = "sundry_template_"
	// templateLock keeps two test processes from making the same template at once.
	templateLock = 7_319_004_112
)

func server() string { return testenv.Get(testenv.Database) }

// databaseURL is the server's address with another database in it.
func databaseURL(name string) (string, error) {
	u, err := url.Parse(server())
	if err != nil {
		return "", fmt.Errorf("TEST_DATABASE_URL is not an address")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// administrate runs work on a connection to the server itself.
func administrate(work func(ctx context.Context, admin *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	admin, err := pgx.Connect(ctx, server())
	if err != nil {
		return fmt.Errorf("connect to TEST_DATABASE_URL: %w", err)
	}
	defer func() { _ = admin.Close(ctx) }()
	return work(ctx, admin)
}

// postgresTemplate is the name of a migrated, empty database. The name holds a hash of the migrations, so every
// process with the same schema shares it and a changed schema makes a new one.
var postgresTemplate = sync.OnceValues(func() (string, error) {
	hash := sha256.Sum256([]byte(gormstore.Schema()))
	name := templatePrefix + hex.EncodeToString(hash[:6])
	return name, administrate(func(ctx context.Context, admin *pgx.Conn) error {
		if _, err := admin.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(templateLock)); err != nil {
			return err
		}
		var ready bool // the mark is set last, so that a template whose making was interrupted is made again
		err := admin.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)",
			name).Scan(&ready)
		if err != nil || ready {
			return err
		}
		if err := execAll(
			ctx, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)", "CREATE DATABASE "+name,
		); err != nil {
			return err
		}
		address, err := databaseURL(name)
		if err != nil {
			return err
		}
		if err := migrate(address); err != nil {
			return err
		}
		err = execAll(ctx, admin,
			fmt.Sprintf("COMMENT ON DATABASE %s IS '%d'", name, time.Now().Unix()), // when it was made
			"ALTER DATABASE "+name+" WITH IS_TEMPLATE true ALLOW_CONNECTIONS false")
		if err != nil {
			return err
		}
		return dropOldTemplates(ctx, admin)
	})
})

// dropOldTemplates removes the templates of schemas that were made days ago; one that is still wanted is made again.
func dropOldTemplates(ctx context.Context, admin *pgx.Conn) error {
	rows, err := admin.Query(ctx,
		"SELECT datname FROM pg_database WHERE starts_with(datname, $1) AND shobj_description(oid, 'pg_database')::bigint < $2",
		templatePrefix, time.Now().Add(-72*time.Hour).Unix())
	if err != nil {
		return err
	}
	old, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := execAll(
			ctx, admin, "ALTER DATABASE "+name+" WITH IS_TEMPLATE false", "DROP DATABASE "+name,
		); err != nil {
			return err
		}
	}
	return nil
}

func execAll(ctx context.Context, admin *pgx.Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := admin.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func makePostgres() (address string, drop func() error, err error) {
	template, err := postgresTemplate()
	if err != nil {
		return "", nil, fmt.Errorf("make the template: %w", err)
	}
	return makePostgresFrom(template)
}

func makeEmptyPostgres() (address string, drop func() error, err error) {
	return makePostgresFrom("template0")
}

// copyStrategy ends a CREATE DATABASE. Copying files takes half of what copying pages through the log does, but waits
// for the disk where the server waits for it, and PostgreSQL 14 knows no other way.
var copyStrategy = sync.OnceValues(func() (clause string, err error) {
	err = administrate(func(ctx context.Context, admin *pgx.Conn) error {
		return admin.QueryRow(ctx, `SELECT CASE WHEN current_setting('server_version_num')::int >= 150000
			AND current_setting('fsync') = 'off' THEN ' STRATEGY file_copy' ELSE '' END`).Scan(&clause)
	})
	return clause, err
})

func makePostgresFrom(template string) (address string, drop func() error, err error) {
	name := "sundry_test_" + strings.ToLower(rand.Text()[:16])
	strategy, err := copyStrategy()
	if err != nil {
		return "", nil, err
	}
	err = administrate(func(ctx context.Context, admin *pgx.Conn) error {
		return execAll(ctx, admin, "CREATE DATABASE "+name+" TEMPLATE "+template+strategy)
	})
	if err != nil {
		return "", nil, err
	}
	drop = func() error {
		return administrate(func(ctx context.Context, admin *pgx.Conn) error {
			return execAll(ctx, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		})
	}
	address, err = databaseURL(name)
	return address, drop, err
}

func copyPostgres(to, from string) error {
	target, err := url.Parse(to)
	if err != nil {
		return err
	}
	source, err := url.Parse(from)
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(target.Path, "/")
	return administrate(func(ctx context.Context, admin *pgx.Conn) error {
		return execAll(ctx, admin, "DROP DATABASE "+name+" WITH (FORCE)",
			"CREATE DATABASE "+name+" TEMPLATE "+strings.TrimPrefix(source.Path, "/"))
	})
}
