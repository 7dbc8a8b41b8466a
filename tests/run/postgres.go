package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// oldestPostgres is the first version that the store supports, as server_version_num.
const oldestPostgres = 140000

// fewestConnections is the number of connections that a server must allow: two test packages at a time start several
// processes each.
const fewestConnections = 200

// serverSettings suit a server that lives for one run: many test packages connect at once, and nobody needs its data
// after a power cut. A killed server still recovers: what it wrote is in the page cache.
var serverSettings = []string{"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300"}

// findPostgres returns the URL of a server on which the tests may create databases, and how it was had.
func findPostgres(ctx context.Context, b *bench) (address, how string, err error) {
	if given := os.Getenv("TEST_DATABASE_URL"); given != "" {
		// Named on purpose: a fault there is reported, not worked around.
		return given, "TEST_DATABASE_URL", checkPostgres(ctx, given)
	}
	return firstOf(ctx, []way{
		{"the server on 127.0.0.1:5432", runningPostgres},
		{"a server of its own", func(ctx context.Context) (string, error) { return startPostgres(ctx, b) }},
		{"apt-get install postgresql, a server of its own", func(ctx context.Context) (string, error) {
			if err := aptInstall(ctx, "postgresql"); err != nil {
				return "", err
			}
			return startPostgres(ctx, b)
		}},
		{"Docker, postgres:16-alpine", func(ctx context.Context) (string, error) { return dockerPostgres(ctx, b) }},
		{"brew install postgresql@16, a server of its own", func(ctx context.Context) (string, error) {
			if err := brewInstall(ctx, "postgresql@16"); err != nil {
				return "", err
			}
			return startPostgres(ctx, b)
		}},
	})
}

// findCitus returns the coordinator that is to have the databases in the place of PostgreSQL. None is looked for.
func findCitus(context.Context, *bench) (address, how string, err error) {
	if given := os.Getenv("TEST_CITUS_URL"); given != "" {
		return given, "TEST_CITUS_URL, in the place of PostgreSQL", nil
	}
	return "", "not tested: TEST_CITUS_URL is not set", nil
}

// runningPostgres tries the sign-ins that fresh installations have.
func runningPostgres(ctx context.Context) (string, error) {
	users := []*url.Userinfo{url.User("postgres"), url.UserPassword("postgres", "postgres")}
	if name := os.Getenv("USER"); name != "" && name != "postgres" {
		users = append(users, url.User(name))
	}
	var failures []error
	for _, user := range users {
		address := postgresURL(user, "127.0.0.1:5432")
		err := checkPostgres(ctx, address)
		if err == nil {
			return address, checkConnections(ctx, address)
		}
		failures = append(failures, err)
	}
	return "", errors.Join(failures...)
}

func postgresURL(user *url.Userinfo, host string) string {
	u := url.URL{Scheme: "postgres", User: user, Host: host, Path: "/postgres", RawQuery: "sslmode=disable"}
	return u.String()
}

// checkPostgres reports whether the tests can work there: it does once what each of them will do.
func checkPostgres(ctx context.Context, address string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()

	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return err
	}
	if version < oldestPostgres {
		return fmt.Errorf("version %d is older than %d", version/10000, oldestPostgres/10000)
	}
	name := "sundry_probe_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return err
	}
	defer func() {
		_, dropErr := conn.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)")
		err = errors.Join(err, dropErr)
	}()
	return createExtension(ctx, address, name)
}

// checkConnections refuses a server that would run out of connections in the middle of the tests.
func checkConnections(ctx context.Context, address string) (err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	var allowed int
	err = conn.QueryRow(ctx, "SELECT current_setting('max_connections')::int").Scan(&allowed)
	if err == nil && allowed < fewestConnections {
		return fmt.Errorf("it allows %d connections, fewer than the %d that the tests may need", allowed, fewestConnections)
	}
	return err
}

func createExtension(ctx context.Context, address, database string) (err error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	config.Database = database
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, err = conn.Exec(ctx, "CREATE EXTENSION btree_gist")
	return err
}

// startPostgres makes a cluster in a temporary folder and serves it on a free port, with the newest installed version.
func startPostgres(ctx context.Context, b *bench) (string, error) {
	initdb, err := program("initdb", append([]string{"/usr/lib/postgresql/*/bin/initdb"},
		brewPlaces("postgresql@*", "initdb")...)...)
	if err != nil {
		return "", err
	}
	// initdb may be a link on PATH; the server lies beside the real one.
	if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
		return "", err
	}
	dir, err := b.tempDirIn(inMemory(), "postgres")
	if err != nil {
		return "", err
	}
	as, err := unprivileged(dir)
	if err != nil {
		return "", err
	}
	data := filepath.Join(dir, "data")
	if _, err := commandAs(ctx, as, initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale",
		"--no-sync"); err != nil {
		return "", err
	}
	port, err := freePort(ctx)
	if err != nil {
		return "", err
	}
	args := append([]string{"-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="},
		serverSettings...)
	// SIGINT is PostgreSQL's fast shutdown: it ends open sessions instead of waiting for them.
	server, err := startService(b, as, syscall.SIGINT, filepath.Join(filepath.Dir(initdb), postgresProgram()), args...)
	if err != nil {
		return "", err
	}
	address := postgresURL(url.User("postgres"), "127.0.0.1:"+port)
	return address, server.ready(ctx, func(ctx context.Context) error { return checkPostgres(ctx, address) })
}

func postgresProgram() string {
	if runtime.GOOS == "windows" {
		return "postgres.exe"
	}
	return "postgres"
}

func dockerPostgres(ctx context.Context, b *bench) (string, error) {
	host, err := dockerRun(ctx, b, "postgres", "5432",
		append([]string{"--env", "POSTGRES_HOST_AUTH_METHOD=trust", "postgres:16-alpine"}, serverSettings...)...)
	if err != nil {
		return "", err
	}
	address := postgresURL(url.User("postgres"), host)
	return address, await(ctx, 90*time.Second, nil, nil,
		func(ctx context.Context) error { return checkPostgres(ctx, address) })
}
