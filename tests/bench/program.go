package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"sundry/tests/loopback"
)

const (
	// idleSettle is the time after a start in which it still has something to do, and idleWindow how long an idle
	// process is watched.
	idleSettle = 15 * time.Second
	idleWindow = 20 * time.Second
	// clockTick is the unit of processor time in /proc.
	clockTick = 10 * time.Millisecond
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
	p.cmd.Env = append(vars, "ADDR="+addr, "DATA_DIR="+filepath.Join(folder, "data"), "PATH="+os.Getenv("PATH"))
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

// processorTime is what the process has used of the processors.
func (p *program) processorTime() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const user, system = 11, 12 // behind the name
	if len(fields) <= system {
		return 0, errors.New("/proc shows no processor time")
	}
	inUser, errUser := strconv.Atoi(fields[user])
	inSystem, errSystem := strconv.Atoi(fields[system])
	return time.Duration(inUser+inSystem) * clockTick, errors.Join(errUser, errSystem)
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

// idle measures what one process costs on PostgreSQL, and on Redis where there is one, while nothing happens. What
// others ask that Redis meanwhile is counted too.
func idle(ctx context.Context, _ *fixture) (measured string, err error) {
	address, drop, err := postgres()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, drop()) }()
	p, err := startProgram(ctx, "DATABASE_URL="+address, "REDIS_URL="+os.Getenv("REDIS_URL"))
	if err != nil {
		return "", err
	}
	defer p.end()
	time.Sleep(idleSettle)
	var before, after idleCounts
	if before, err = p.counts(ctx, address); err != nil {
		return "", err
	}
	time.Sleep(idleWindow)
	if after, err = p.counts(ctx, address); err != nil {
		return "", err
	}
	seconds := idleWindow.Seconds()
	return fmt.Sprintf("%.1f Redis commands and %.1f transactions a second, %.1f %% of a core, %s resident",
		float64(after.commands-before.commands)/seconds, float64(after.transactions-before.transactions)/seconds,
		100*(after.processor-before.processor).Seconds()/seconds, p.resident()), nil
}

type idleCounts struct {
	commands, transactions int64
	processor              time.Duration
}

// counts reads the servers' own counters, from another database, so that the reading does not count.
func (p *program) counts(ctx context.Context, address string) (c idleCounts, err error) {
	if c.processor, err = p.processorTime(); err != nil {
		return c, err
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return c, err
	}
	watched := config.Database
	config.Database = "postgres"
	db, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close(ctx)) }()
	if err = db.QueryRow(ctx, "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1",
		watched).Scan(&c.transactions); err != nil || os.Getenv("REDIS_URL") == "" {
		return c, err
	}
	options, err := redis.ParseURL(os.Getenv("REDIS_URL"))
	if err != nil {
		return c, err
	}
	client := redis.NewClient(options)
	defer func() { err = errors.Join(err, client.Close()) }()
	stats, err := client.InfoMap(ctx, "stats").Result()
	if err != nil {
		return c, err
	}
	c.commands, err = strconv.ParseInt(stats["Stats"]["total_commands_processed"], 10, 64)
	return c, err
}
