package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"sundry/tests/loopback"
)

const (
	// idleSettle is the time after a start in which it still has something to do, and idleWindow how long each of its
	// counts is watched.
	idleSettle = 15 * time.Second
	idleWindow = 10 * time.Second
)

// program is the built program as a process of its own.
type program struct {
	cmd    *exec.Cmd
	folder string
	// took is the time from exec to ready.
	took time.Duration
}

// startProgram builds the program and starts it in an empty folder.
func startProgram(ctx context.Context, vars ...string) (_ *program, err error) {
	folder, err := os.MkdirTemp("", "sundry-start-")
	if err != nil {
		return nil, err
	}
	p := &program{folder: folder}
	defer func() {
		if err != nil {
			p.end()
		}
	}()
	binary := filepath.Join(folder, "sundry")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w: %s", err, out)
	}
	addr, err := loopback.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.CommandContext(ctx, binary)
	p.cmd.Env = slices.Concat(vars,
		[]string{"ADDR=" + addr, "DATA_DIR=" + filepath.Join(folder, "data"), "PATH=" + os.Getenv("PATH")})
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	err = await(ctx, "http://"+addr+"/readyz")
	p.took = time.Since(begin)
	return p, err
}

// end kills the process and removes its folder.
func (p *program) end() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
	_ = os.RemoveAll(p.folder)
}

// resident is the process's resident memory as the kernel reports it, where it does.
func (p *program) resident() string {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		return "unknown memory"
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return strconv.Itoa(kb/1024) + " MB"
		}
	}
	return "unknown memory"
}

// processorMillis is the time of a processor that the process has used.
func (p *program) processorMillis() (int64, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0, err
	}
	const user, system, tick = 11, 12, 10 // fields behind the name; a tick is a hundredth of a second
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= system {
		return 0, errors.New("/proc shows no processor time")
	}
	inUser, errUser := strconv.ParseInt(fields[user], 10, 64)
	inSystem, errSystem := strconv.ParseInt(fields[system], 10, 64)
	return tick * (inUser + inSystem), errors.Join(errUser, errSystem)
}

// start measures the embedded program from exec to ready, and its memory once idle.
func start(ctx context.Context, _ *fixture) (string, error) {
	p, err := startProgram(ctx)
	if err != nil {
		return "", err
	}
	defer p.end()
	time.Sleep(time.Second)
	return fmt.Sprintf("%.2f s to ready on an empty folder, %s resident", p.took.Seconds(), p.resident()), nil
}

// idle measures what one process costs on PostgreSQL, and on Redis where there is one, while nothing happens. Redis
// counts the commands of all its clients: those that come without this process, as from the bench's own, are taken off.
func idle(ctx context.Context, _ *fixture) (measured string, err error) {
	address, drop, err := postgres()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, drop()) }()
	others, err := perSecond(func() (int64, error) { return redisCommands(ctx) })
	if err != nil {
		return "", err
	}
	p, err := startProgram(ctx, "DATABASE_URL="+address, "REDIS_URL="+os.Getenv("REDIS_URL"))
	if err != nil {
		return "", err
	}
	defer p.end()
	time.Sleep(idleSettle)
	commands, errRedis := perSecond(func() (int64, error) { return redisCommands(ctx) })
	transactions, errPostgres := perSecond(func() (int64, error) { return transactionsOf(ctx, address) })
	processor, errProcessor := perSecond(p.processorMillis)
	return fmt.Sprintf("%.1f Redis commands and %.1f transactions a second, %.1f %% of a core, %s resident",
		commands-others, transactions, processor/10, p.resident()), errors.Join(errRedis, errPostgres, errProcessor)
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
