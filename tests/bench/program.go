package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"sundry/tests/bench/process"
)

const (
	// idleSettle is the time after a start in which it still has something to do, and idleWindow how long each of its
	// counts is watched.
	idleSettle = 15 * time.Second
	idleWindow = 10 * time.Second
)

// start measures the embedded program from exec to ready, and its memory once idle.
func start(ctx context.Context, w *fixture) (string, error) {
	p, err := process.StartSundry(ctx, w.binary, "")
	if err != nil {
		return "", err
	}
	defer p.End()
	time.Sleep(time.Second)
	resident, err := p.Resident()
	return fmt.Sprintf("%.2f s to ready on an empty folder, %d MB resident", p.Took.Seconds(), resident), err
}

// idle measures what one process costs on PostgreSQL, and on Redis where there is one, while nothing happens. Redis
// counts the commands of all its clients: those that come without this process, as from the benches' own, are taken off.
func idle(ctx context.Context, w *fixture) (measured string, err error) {
	address, drop, err := postgres()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, drop()) }()
	others, err := perSecond(func() (int64, error) { return redisCommands(ctx) })
	if err != nil {
		return "", err
	}
	p, err := process.StartSundry(ctx, w.binary, "", "DATABASE_URL="+address, "REDIS_URL="+os.Getenv("REDIS_URL"))
	if err != nil {
		return "", err
	}
	defer p.End()
	time.Sleep(idleSettle)
	commands, errRedis := perSecond(func() (int64, error) { return redisCommands(ctx) })
	transactions, errPostgres := perSecond(func() (int64, error) { return transactionsOf(ctx, address) })
	processor, errProcessor := perSecond(func() (int64, error) {
		used, err := p.Processor()
		return used.Milliseconds(), err
	})
	resident, errMemory := p.Resident()
	return fmt.Sprintf("%.1f Redis commands and %.1f transactions a second, %.1f %% of a core, %d MB resident",
		commands-others, transactions, processor/10, resident), errors.Join(errRedis, errPostgres, errProcessor, errMemory)
}

// perSecond returns how fast a count grows.
func perSecond(count func() (int64, error)) (float64, error) {
	before, err := count()
	if err != nil {
		return 0, err
	}
	time.Sleep(idleWindow)
	after, err := count()
	return float64(after-before) / idleWindow.Seconds(), err
}

// transactionsOf counts those of a database, from another one, so that the counting does not count.
func transactionsOf(ctx context.Context, address string) (n int64, err error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return 0, err
	}
	watched := config.Database
	config.Database = "postgres"
	db, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close(ctx)) }()
	err = db.QueryRow(ctx, "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1", watched).Scan(&n)
	return n, err
}

// redisCommands counts what the Redis of REDIS_URL has run; 0 without one.
func redisCommands(ctx context.Context) (n int64, err error) {
	if os.Getenv("REDIS_URL") == "" {
		return 0, nil
	}
	options, err := redis.ParseURL(os.Getenv("REDIS_URL"))
	if err != nil {
		return 0, err
	}
	client := redis.NewClient(options)
	defer func() { err = errors.Join(err, client.Close()) }()
	stats, err := client.InfoMap(ctx, "stats").Result()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(stats["Stats"]["total_commands_processed"], 10, 64)
}
