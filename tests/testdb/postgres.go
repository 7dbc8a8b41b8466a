package testdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	// emptyTemplate is PostgreSQL's own, without a table.
	emptyTemplate = "template0"
)

var errNoAddress = errors.New("the server of the databases is not an address")

// server is the address of the PostgreSQL, or of the Citus in its place, that has the databases.
func server() string { return cmp.Or(testenv.Get(testenv.Citus), testenv.Get(testenv.Database)) }

// databaseURL is the server's address with another database in it.
func databaseURL(name string) (string, error) {
	u, err := url.Parse(server())
	if err != nil {
		return "", errNoAddress
	}
	u.Path = "/" + name
	if onCitus() {
		query := u.Query()
		query.Set("search_path", cell)
		query.Set("plan_cache_mode", "auto") // it finds the node of a schema by the values
		u.RawQuery = query.Encode()
	}
	return u.String(), nil
}

// administrate runs work on a connection to the server itself.
func administrate(work func(ctx context.Context, admin *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	admin, err := pgx.Connect(ctx, server())
	if err != nil {
		return fmt.Errorf("connect to the server of the databases: %w", err)
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
		if err := dropDatabase(ctx, admin, name); err != nil {
			return err
		}
		if err := copyDatabase(ctx, admin, emptyTemplate, name, ""); err != nil {
			return err
		}
		address, err := databaseURL(name)
		if err != nil {
			return err
		}
		if err := migratePostgres(ctx, name, address); err != nil {
			return err
		}
		if err := disconnect(ctx, admin, name); err != nil {
			return err
		}
		err = everywhere(ctx, admin,
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
		if err := everywhere(ctx, admin, "ALTER DATABASE "+name+" WITH IS_TEMPLATE false"); err != nil {
			return err
		}
		if err := dropDatabase(ctx, admin, name); err != nil {
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

// copyDatabase makes a database of a template, to which nothing may be connected.
func copyDatabase(ctx context.Context, admin *pgx.Conn, template, name, strategy string) error {
	err := everywhere(ctx, admin, "CREATE DATABASE "+name+" TEMPLATE "+template+strategy)
	if err == nil && template == emptyTemplate {
		err = cluster(ctx, admin, name)
	}
	return err
}

func dropDatabase(ctx context.Context, admin *pgx.Conn, name string) error {
	if err := disconnect(ctx, admin, name); err != nil {
		return err
	}
	return everywhere(ctx, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

func migratePostgres(ctx context.Context, name, address string) error {
	if !onCitus() {
		return migrate(address)
	}
	if err := migrate(address, gormstore.InSchema(cell)); err != nil {
		return err
	}
	return distribute(ctx, name)
}

func makePostgres() (address string, drop func() error, err error) {
	template, err := postgresTemplate()
	if err != nil {
		return "", nil, fmt.Errorf("make the template: %w", err)
	}
	return makePostgresFrom(template)
}

func makeEmptyPostgres() (address string, drop func() error, err error) {
	return makePostgresFrom(emptyTemplate)
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
		return copyDatabase(ctx, admin, template, name, strategy)
	})
	if err != nil {
		return "", nil, err
	}
	drop = func() error {
		return administrate(func(ctx context.Context, admin *pgx.Conn) error {
			return dropDatabase(ctx, admin, name)
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
		original := strings.TrimPrefix(source.Path, "/")
		if err := errors.Join(dropDatabase(ctx, admin, name), disconnect(ctx, admin, original)); err != nil {
			return err
		}
		return errors.Join(copyDatabase(ctx, admin, original, name, ""), reconnect(ctx, admin, original))
	})
}
