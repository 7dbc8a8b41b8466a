package gormstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"modernc.org/sqlite"

	"sundry/adapters/gormstore/access"
	"sundry/adapters/gormstore/mail"
	"sundry/adapters/gormstore/repo"
	"sundry/adapters/gormstore/usage"
	"sundry/adapters/gormstore/webhooks"
	"sundry/ports"
)

// Open connects to sqlite:PATH or postgres://… . It does not migrate.
func Open(ctx context.Context, databaseURL string, options ...Option) (*Store, error) {
	return OpenPooled(ctx, databaseURL, "", options...)
}

// OpenPooled is Open where the first address leads to a pooler that lends a connection for one transaction at a time,
// as PgBouncer does, and the second to PostgreSQL itself; "" where there is no pooler.
func OpenPooled(ctx context.Context, databaseURL, directURL string, options ...Option) (s *Store, err error) {
	chosen := Store{schema: defaultSchema}
	for _, choose := range options {
		choose(&chosen)
	}
	if path, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		if chosen.standbyURL != "" {
			return nil, errors.New("DATABASE_READ_URL needs a DATABASE_URL of PostgreSQL")
		}
		if chosen.existing {
			err = requireFile(path)
		}
		if err == nil {
			s, err = openSQLite(path, chosen.tracer)
		}
	} else {
		s, err = openPostgres(ctx, databaseURL, directURL, &chosen)
	}
	if err != nil {
		return nil, err
	}
	for _, choose := range options {
		choose(s)
	}
	return s, nil
}

func gormConfig() *gorm.Config {
	return &gorm.Config{
		Logger:                 logger.Discard, // errors are returned, and statements hold personal data
		SkipDefaultTransaction: true,           // Atomically is the only way to write
		DisableAutomaticPing:   true,
		QueryFields:            true, // a query that asks for * ends when a later version adds a column
	}
}

// openSQLite opens one writing connection and a few reading ones. WAL lets readers go on while the writer commits;
// synchronous=FULL makes a commit survive a power cut.
func openSQLite(path string, tracer ports.Tracer) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the database folder: %w", err)
	}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	pragmas := "_pragma=busy_timeout(4000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"
	dsn := fileURI(path) + "?" + pragmas
	open := func(dsn string, connections int) (*gorm.DB, *sql.DB, error) {
		connector, err := sqlite.NewConnector(dsn)
		if err != nil {
			return nil, nil, fmt.Errorf("open sqlite: %w", err)
		}
		db := sql.OpenDB(cachingConnector{connector})
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		g, err := gorm.Open(sqliteDialector{db}, gormConfig())
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("open sqlite %s: %w", path, err), db.Close())
		}
		if tracer != nil {
			if err := traceGorm(g, tracer); err != nil {
				return nil, nil, errors.Join(fmt.Errorf("trace sqlite: %w", err), db.Close())
			}
		}
		return g, db, nil
	}
	write, writeDB, err := open(dsn+"&_txlock=immediate", 1)
	if err != nil {
		return nil, err
	}
	read, readDB, err := open(dsn+"&_pragma=query_only(1)", 4)
	if err != nil {
		return nil, errors.Join(err, writeDB.Close())
	}
	row := point(func(ctx context.Context, query string, args ...any) repo.Scanner {
		return readDB.QueryRowContext(ctx, query, args...)
	})
	if tracer != nil {
		row = row.traced(tracer)
	}
	return newStore(&Store{
		write: write, read: read, dialect: sqliteDialect{}, gate: newWriterGate(sqliteDialect{}.Unavailable),
		lock:        func() (func() error, error) { return lockProcess(path) },
		lockSchema:  func() (func() error, error) { return lockSchema(path) },
		wholeSchema: sqliteSchema,
		engine:      repo.Engine{Point: row},
		close:       func() error { return errors.Join(readDB.Close(), writeDB.Close()) },
	}), nil
}

// makePrivate makes the database a file that its owner alone may read. The engine gives its other files the same mode.
func makePrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the operator's own path
	if err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	if err := errors.Join(file.Chmod(0o600), file.Close()); err != nil {
		return fmt.Errorf("make the database private: %w", err)
	}
	return nil
}

const (
	// lockTimeout in milliseconds: a transaction that waits this long for a lock is run again rather than holding its
	// caller.
	lockTimeout = "5000"
	// idleTimeout in milliseconds: no transaction waits for anything outside the database, so one that is idle this long
	// belongs to a process that was stopped, and must not go on holding what it has locked.
	idleTimeout = "10000"
	// localTimeouts sets both for one transaction.
	localTimeouts = "SELECT set_config('lock_timeout', '" + lockTimeout +
		"', true), set_config('idle_in_transaction_session_timeout', '" + idleTimeout + "', true)"
)

// configure sets what the connections of an address begin with. A pooler refuses settings, and its connections keep no
// prepared statement: behind one the descriptions of statements are remembered here. Tables are found in the schema
// alone: with another one behind it, a table that is missing would be another cell's.
func configure(cfg *pgx.ConnConfig, schema string, pooled bool) {
	cfg.ConnectTimeout, cfg.DialFunc = 5*time.Second, dial
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "sundry"
	}
	if pooled {
		cfg.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		return
	}
	if schema != defaultSchema {
		cfg.RuntimeParams["search_path"] = schema
	}
	cfg.RuntimeParams["lock_timeout"] = lockTimeout
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = idleTimeout
	// The statements are prepared once per connection, and their plans do not depend on the parameters: planning each
	// execution again would cost nearly as much as the execution. A router that needs the values says otherwise. Such a
	// plan does not know that a condition leaves little, so it seems costly enough to be compiled, at every execution:
	// that took 0.6 s of a claim over a long backlog, which runs for 2 ms.
	for name, value := range map[string]string{"plan_cache_mode": "force_generic_plan", "jit": "off"} {
		if cfg.RuntimeParams[name] == "" {
			cfg.RuntimeParams[name] = value
		}
	}
}

// poolConfig reads the address in a setting. A pool has at least 16 connections, unless the address says otherwise.
func poolConfig(setting, databaseURL, schema string, pooled bool) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, errors.New(setting + " is not a valid PostgreSQL address") // err would print the password
	}
	configure(cfg.ConnConfig, schema, pooled)
	if !strings.Contains(databaseURL, "pool_max_conns") {
		cfg.MaxConns = max(cfg.MaxConns, 16)
	}
	if cfg.MaxConns < 2 { // the check of all invariants reads from one and notes on another what it has seen
		return nil, fmt.Errorf("%s has pool_max_conns=%d, where at least 2 connections are needed", setting, cfg.MaxConns)
	}
	return cfg, nil
}

// openPostgres opens one pool that gorm and the hot paths share.
func openPostgres(ctx context.Context, databaseURL, directURL string, chosen *Store) (*Store, error) {
	pooled := directURL != ""
	cfg, err := poolConfig("DATABASE_URL", databaseURL, chosen.schema, pooled)
	if err != nil {
		return nil, err
	}
	direct, err := poolConfig("DATABASE_DIRECT_URL", cmp.Or(directURL, databaseURL), chosen.schema, false)
	if err != nil {
		return nil, err
	}
	if chosen.tracer != nil {
		cfg.ConnConfig.Tracer = pgxTracer{chosen.tracer}
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	queue := newQueue(pool)
	db := sql.OpenDB(queue)
	db.SetMaxIdleConns(0) // the pool keeps them
	g, err := gorm.Open(postgres.New(postgres.Config{Conn: db}), gormConfig())
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	if err := registerFlushCallback(g); err != nil {
		pool.Close()
		return nil, err
	}
	var following *standby
	if chosen.standbyURL != "" {
		if following, err = openStandby(ctx, chosen, direct, db); err != nil {
			pool.Close()
			return nil, err
		}
	}
	notifier := newNotifier(pool, inSchema(tasksChannel, chosen.schema))
	return newStore(&Store{
		write: g, read: g, dialect: postgresDialect{chosen.schema}, schema: chosen.schema, notifier: notifier, queue: queue,
		direct: direct.ConnConfig, pooled: pooled, standby: following,
		engine: repo.Engine{Pool: pool, Point: func(ctx context.Context, query string, args ...any) repo.Scanner {
			return pool.QueryRow(ctx, query, args...)
		}},
		close: func() error {
			notifier.stop()
			err := errors.Join(following.close(), db.Close())
			pool.Close()
			return err
		},
	}), nil
}

// newStore completes what both engines share.
func newStore(s *Store) *Store {
	s.classOf, s.keyOf, s.wake = unclassified, withoutKey, wakeNobody
	s.keysFound = newKeysFound()
	s.engine.Dialect, s.engine.Retryable = s.dialect, s.dialect.retryable
	s.Reader = access.NewReader(s.engine)
	s.DeliveryStore = webhooks.NewDeliveryStore(s.engine, s)
	s.Outbox = mail.NewOutbox(s.engine, s)
	s.Intake = usage.NewIntake(s.engine, s.write)
	return s
}

// explainPooler adds to the error of a pooler that refuses our settings how to connect through it.
func explainPooler(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && strings.Contains(pg.Message, "unsupported startup parameter") {
		return fmt.Errorf("DATABASE_URL leads to a pooler such as PgBouncer: set DATABASE_DIRECT_URL to the address of "+
			"PostgreSQL itself (%w)", err)
	}
	return err
}

// separateConnection is one that does not go back to the pool, for what a connection holds as long as it lives. leave
// closes it.
func (s *Store) separateConnection(ctx context.Context) (conn *pgx.Conn, leave func(), err error) {
	conn, err = pgx.ConnectConfig(ctx, s.direct)
	if err != nil {
		return nil, nil, err
	}
	return conn, func() {
		goodbye, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(goodbye)
	}, nil
}

// Pool describes the connections to the database.
type Pool struct {
	InUse, Idle, Max int
	// Waited sums the time that callers have waited for a connection.
	Waited time.Duration
}

// Pool returns the present state of the connections: on SQLite, of those that write and those that read.
func (s *Store) Pool() Pool {
	if s.engine.Pool != nil {
		stat := s.engine.Pool.Stat()
		return Pool{InUse: int(stat.AcquiredConns()), Idle: int(stat.IdleConns()), Max: int(stat.MaxConns()),
			Waited: stat.EmptyAcquireWaitTime()}
	}
	var all Pool
	for _, of := range []*gorm.DB{s.write, s.read} {
		if db, err := of.DB(); err == nil {
			stat := db.Stats()
			all.InUse, all.Idle, all.Max = all.InUse+stat.InUse, all.Idle+stat.Idle, all.Max+stat.MaxOpenConnections
			all.Waited += stat.WaitDuration
		}
	}
	return all
}
