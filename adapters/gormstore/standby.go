package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"sundry/ports"
)

const (
	// standbyProbe is the pause between two looks at how far a standby is, and standbyTimeout bounds one.
	standbyProbe   = time.Second
	standbyTimeout = 2 * time.Second
	// standbyTries bounds the looks with which it begins.
	standbyTries = 10
	// standbySamples bounds the positions of the primary that are remembered: an hour of them.
	standbySamples = 3600
)

// standby is a PostgreSQL that follows the primary and serves the reads that may be stale, while it is close enough.
type standby struct {
	pool *pgxpool.Pool
	db   *sql.DB
	// leader and follower are a connection to each, for the probes alone: the others may all be in use.
	leader, follower *pgxpool.Pool
	// snapshots is gorm on the standby alone, reads on the standby or, where that fails, on the primary.
	snapshots, reads *gorm.DB
	limit            time.Duration
	opened           time.Time
	cancel           context.CancelFunc
	done             sync.WaitGroup

	// away means that it did not respond to the last probe or read.
	away atomic.Bool
	// current is a time up to which it has everything that was written; nil while none is known.
	current atomic.Pointer[time.Time]
	samples []walSample // of the probing goroutine

	served, passed atomic.Int64
}

// walSample is a position of the primary's log, as a number, and when it was read, at the earliest.
type walSample struct {
	at       time.Time
	position int64
}

// Standby names the address of a standby of PostgreSQL. It serves the reads of ports.AllowStale while it has everything
// that is older than limit.
func Standby(databaseURL string, limit time.Duration) Option {
	return func(s *Store) { s.standbyURL, s.standbyLimit = databaseURL, limit }
}

// openStandby opens a standby, which need not be there yet. What it cannot serve goes to the primary: direct leads to
// that, and so does onPrimary.
func openStandby(ctx context.Context, chosen *Store, direct *pgxpool.Config, onPrimary *sql.DB) (_ *standby,
	err error) {
	cfg, err := poolConfig("DATABASE_READ_URL", chosen.standbyURL, chosen.schema, false)
	if err != nil {
		return nil, err
	}
	one := func(of *pgxpool.Config) *pgxpool.Config {
		alone := of.Copy()
		alone.MaxConns, alone.MinConns, alone.MinIdleConns = 1, 0, 0
		return alone
	}
	s := &standby{limit: chosen.standbyLimit, opened: time.Now(), cancel: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open the standby: %w", err), s.close())
		}
	}()
	if s.leader, err = pgxpool.NewWithConfig(ctx, one(direct)); err != nil {
		return nil, err
	}
	if s.follower, err = pgxpool.NewWithConfig(ctx, one(cfg)); err != nil {
		return nil, err
	}
	if chosen.tracer != nil {
		cfg.ConnConfig.Tracer = pgxTracer{chosen.tracer}
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, err
	}
	s.db = stdlib.OpenDBFromPool(s.pool)
	if s.snapshots, err = gorm.Open(postgres.New(postgres.Config{Conn: s.db}), gormConfig()); err != nil {
		return nil, err
	}
	reads := staleReads{onPrimary, s}
	if s.reads, err = gorm.Open(postgres.New(postgres.Config{Conn: reads}), gormConfig()); err != nil {
		return nil, err
	}
	s.watch(ctx)
	return s, nil
}

// watch probes the standby until close.
func (s *standby) watch(ctx context.Context) {
	for range standbyTries { // a command that reads at once finds it known
		if s.probe(ctx); s.away.Load() || s.isUsable() {
			break
		}
		pause(ctx, 20*time.Millisecond)
	}
	probing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.done.Go(func() {
		for probing.Err() == nil {
			pause(probing, standbyProbe)
			s.probe(probing)
		}
	})
}

func (s *standby) close() (err error) {
	if s == nil {
		return nil
	}
	s.cancel()
	s.done.Wait()
	if s.db != nil {
		err = s.db.Close()
	}
	for _, pool := range []*pgxpool.Pool{s.pool, s.follower, s.leader} {
		if pool != nil {
			pool.Close()
		}
	}
	return err
}

// lag is the age of what may be missing on the standby, at most.
func (s *standby) lag() time.Duration {
	if known := s.current.Load(); known != nil {
		return time.Since(*known)
	}
	return time.Since(s.opened)
}

func (s *standby) isUsable() bool {
	return s.current.Load() != nil && !s.away.Load() && s.lag() <= s.limit
}

// probe looks how far the standby is. Clocks are not compared: a position that the primary had at some time here, and
// that the standby has now, is as old as that.
func (s *standby) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, standbyTimeout)
	defer cancel()
	sample := walSample{at: time.Now()}
	written, err := readPosition(ctx, s.leader)
	if err == nil {
		sample.position = written.position
		if s.samples = append(s.samples, sample); len(s.samples) > standbySamples {
			s.samples = s.samples[1:]
		}
	}
	replayed, standbyErr := readPosition(ctx, s.follower)
	if standbyErr == nil && !replayed.follows { // it was promoted: new connections go to what follows now
		s.pool.Reset()
		s.follower.Reset()
	}
	if standbyErr != nil || !replayed.follows || err == nil && written.system != replayed.system {
		s.away.Store(true)
		return
	}
	for len(s.samples) > 0 && s.samples[0].position <= replayed.position {
		s.current.Store(&s.samples[0].at)
		s.samples = s.samples[1:]
	}
	s.away.Store(false)
}

// walState holds a server's place in the log.
type walState struct {
	// system is the same for a primary and its standbys.
	system int64
	// position is the end of the log that the server has written or, if it follows another, replayed.
	position int64
	follows  bool
}

func readPosition(ctx context.Context, server *pgxpool.Pool) (of walState, err error) {
	row := server.QueryRow(ctx, `SELECT (SELECT system_identifier FROM pg_control_system()), pg_is_in_recovery(),
		(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0'::pg_lsn)::bigint`)
	err = row.Scan(&of.system, &of.follows, &of.position)
	return of, err
}

// staleReads is the connection of reads that may be stale. What the standby cannot do, and whatever is no query, goes
// to the primary.
type staleReads struct {
	*sql.DB // the primary
	standby *standby
}

// QueryContext implements gorm.ConnPool.
func (c staleReads) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if c.standby.isUsable() {
		rows, err := c.standby.db.QueryContext(ctx, query, args...)
		if !c.standby.failed(err) {
			return rows, err
		}
	}
	c.standby.passed.Add(1)
	return c.DB.QueryContext(ctx, query, args...)
}

// QueryRowContext implements gorm.ConnPool.
func (c staleReads) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if c.standby.isUsable() {
		if row := c.standby.db.QueryRowContext(ctx, query, args...); !c.standby.failed(row.Err()) {
			return row
		}
	}
	c.standby.passed.Add(1)
	return c.DB.QueryRowContext(ctx, query, args...)
}

// snapshot runs fn in a transaction on the standby, and returns false where the primary has to.
func (s *standby) snapshot(ctx context.Context, fn func(db *gorm.DB) error, options *sql.TxOptions) (bool, error) {
	if s.isUsable() {
		err := s.snapshots.WithContext(ctx).Transaction(fn, options)
		if !s.failed(err) {
			return true, err
		}
	}
	s.passed.Add(1)
	return false, nil
}

// failed reports whether the standby, not the query, is why there is no result: it is away, or had to end the query to
// follow the primary. The next probe decides when it is used again.
func (s *standby) failed(err error) bool {
	engine := postgresDialect{}
	if err != nil && (engine.Unavailable(err) != nil || engine.retryable(err)) {
		s.away.Store(true)
		return true
	}
	s.served.Add(1)
	return false
}

// StandbyState describes the standby that serves reads.
type StandbyState struct {
	// Lag bounds how far it may be behind.
	Lag time.Duration
	// Served and Passed count the reads that it and, in its place, the primary have served.
	Served, Passed int64
}

// Standby returns the present state of the standby; the zero value where there is none.
func (s *Store) Standby() StandbyState {
	if s.standby == nil {
		return StandbyState{}
	}
	return StandbyState{s.standby.lag(), s.standby.served.Load(), s.standby.passed.Load()}
}

// mayBeStale reports whether a read outside of a transaction may go to a standby.
func (s *Store) mayBeStale(ctx context.Context) bool {
	return s.standby != nil && ports.MayBeStale(ctx)
}
