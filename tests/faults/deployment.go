// Package faults puts the promises to the test: it runs the built binary as processes of its own and kills them, cuts
// their connections and empties their Redis, and then checks what was lost or done twice.
package faults

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // database/sql driver "pgx"
	_ "modernc.org/sqlite"             // database/sql driver "sqlite"

	"sundry/adapters/gormstore"
	"sundry/tests/harness"
	"sundry/tests/loopback"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
	"sundry/tests/testredis"
)

// programFolder holds the built program, "" before it is built.
var programFolder string

// binary builds the program once per test process.
var binary = sync.OnceValues(func() (_ string, err error) {
	programFolder, err = os.MkdirTemp("", "sundry-faults-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(programFolder, "sundry")
	return path, build(context.Background(), path, "")
})

// build makes the program as the container image does, from the sources of an overlay where there is one.
func build(ctx context.Context, path, overlay string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-overlay="+overlay, "-o", path,
		"sundry").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// Main runs the package's tests, many at a time since they mostly wait for leases, and removes the binary.
func Main(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err) // go test always has this flag
	}
	code := m.Run()
	_ = os.RemoveAll(programFolder)
	os.Exit(code)
}

// Deployment holds what the processes of one deployment share: a database, a Redis if there is one, a secret.
type Deployment struct {
	// DatabaseURL and RedisURL lead past the proxies, for the test's own queries.
	DatabaseURL string
	RedisURL    string
	// Database and Redis stand between the processes and their servers, to be cut; nil on SQLite.
	Database *Proxy
	Redis    *Proxy
	env      map[string]string
	// program is the path of the binary, "" for the one of this source.
	program string
	// direct is the test's own connection.
	direct *sql.DB
}

// fewConnections keeps many processes within one server's limit.
func fewConnections(t testing.TB, databaseURL string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("pool_max_conns", "5")
	u.RawQuery = q.Encode()
	return u.String()
}

// Embedded is a deployment of one process on SQLite.
func Embedded(t testing.TB) *Deployment {
	t.Helper()
	d := newDeployment(t)
	d.DatabaseURL = testdb.SQLite.URL(t)
	d.env["DATABASE_URL"] = d.DatabaseURL
	return d
}

// Distributed is a deployment of several processes on PostgreSQL and Redis.
func Distributed(t testing.TB) *Deployment {
	t.Helper()
	return distributed(t, testredis.Shared)
}

// WithRedisToEmpty is Distributed over a Redis database that nobody else uses. One test only may have it.
func WithRedisToEmpty(t testing.TB) *Deployment {
	t.Helper()
	return distributed(t, testredis.Faults)
}

func distributed(t testing.TB, redisDB int) *Deployment {
	t.Helper()
	d := newDeployment(t)
	d.DatabaseURL, d.RedisURL = testdb.Postgres.URL(t), testredis.URL(t, redisDB)
	d.Database, d.Redis = NewProxy(t, d.DatabaseURL), NewProxy(t, d.RedisURL)
	d.env["DATABASE_URL"], d.env["REDIS_URL"] = fewConnections(t, d.Database.Via(d.DatabaseURL)), d.Redis.Via(d.RedisURL)
	return d
}

// WithoutRedis is Distributed with the workers in process: PostgreSQL alone.
func WithoutRedis(t testing.TB) *Deployment {
	t.Helper()
	d := newDeployment(t)
	d.DatabaseURL = testdb.Postgres.URL(t)
	d.Database = NewProxy(t, d.DatabaseURL)
	d.env["DATABASE_URL"] = fewConnections(t, d.Database.Via(d.DatabaseURL))
	return d
}

// newDeployment skips the test where there is no PostgreSQL, for an embedded database too: a killed process is missed
// only after half a minute.
func newDeployment(t testing.TB) *Deployment {
	t.Helper()
	testenv.Need(t, testenv.Database)
	return makeDeployment(t)
}

// makeDeployment is a deployment without servers.
func makeDeployment(t testing.TB) *Deployment {
	t.Helper()
	return &Deployment{env: map[string]string{
		"ENVIRONMENT": "sandbox", "APP_SECRET": rand.Text() + rand.Text(), "DATA_DIR": t.TempDir(),
		"SEED_DEMO": "false",
		"LOG_LEVEL": "info", "PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME"),
	}}
}

// path returns the path of the deployment's program.
func (d *Deployment) path(t testing.TB) string {
	t.Helper()
	if d.program != "" {
		return d.program
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Process is one running process of a deployment.
type Process struct {
	// App asks the process over HTTP, for those that serve.
	App  *harness.App
	cmd  *exec.Cmd
	log  *lockedBuffer
	done chan struct{} // closed when it has ended
	err  error         // of the end
}

// Start runs a command of the program ("" = everything in one process) and waits until it is ready. vars come on top
// of the deployment's own.
func (d *Deployment) Start(t testing.TB, command string, vars map[string]string) *Process {
	t.Helper()
	path := d.path(t)
	addr, metrics := cmp.Or(vars["ADDR"], freeAddress(t)), freeAddress(t)
	p := &Process{
		App: &harness.App{URL: "http://" + addr, Log: &harness.Log{}}, log: &lockedBuffer{}, done: make(chan struct{}),
	}
	// Not bound to the test's context: the process shall outlive it until the clean-up below has killed it.
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), path, strings.Fields(command)...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	for name, value := range d.env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Env = append(p.cmd.Env, "ADDR="+addr, "METRICS_ADDR="+metrics)
	for name, value := range vars {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.err = p.cmd.Wait(); close(p.done) }()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("log of %q:\n%s", command, p.log.String())
		}
	})
	p.awaitReady(t, "http://"+metrics+"/readyz")
	if command != "worker" {
		p.awaitReady(t, p.App.URL+"/readyz")
	}
	return p
}

// RunToEnd runs a command of the program until it exits, and returns its output.
func (d *Deployment) RunToEnd(t testing.TB, command string) (string, error) {
	t.Helper()
	path := d.path(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, strings.Fields(command)...)
	// A command that hangs prints where.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 5 * time.Second
	for name, value := range d.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Verify fails the test when `sundry verify` finds an invariant broken.
func (d *Deployment) Verify(t testing.TB) {
	t.Helper()
	if out, err := d.RunToEnd(t, "verify"); err != nil {
		t.Errorf("sundry verify: %v\n%s", err, out)
	}
}

// probe asks a process whether it is ready.
var probe = &http.Client{Timeout: 5 * time.Second}

func (p *Process) awaitReady(t testing.TB, address string) {
	t.Helper()
	harness.Eventually(t, "the process is ready at "+address, func() bool {
		select {
		case <-p.done:
			t.Fatalf("the process ended: %v\n%s", p.err, p.log.String())
		default:
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := probe.Do(request)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// Kill ends the process as kill -9 does, and waits until it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // gone is as good as killed
	<-p.done
}

// Terminate sends SIGTERM and fails the test unless the process ends: it has 20 seconds, and a slow machine twice that.
func (p *Process) Terminate(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.done:
		if p.err != nil {
			t.Errorf("after SIGTERM the process ended with %v\n%s", p.err, p.log.String())
		}
	case <-time.After(40 * time.Second):
		t.Errorf("40 seconds after SIGTERM the process still runs\n%s", p.log.String())
	}
}

// Log returns the process's log so far.
func (p *Process) Log() string { return p.log.String() }

// Store opens the deployment's database beside the processes.
func (d *Deployment) Store(t testing.TB, options ...gormstore.Option) *gormstore.Store {
	t.Helper()
	address := d.DatabaseURL
	if d.Database != nil {
		address = fewConnections(t, address)
	}
	store, err := gormstore.Open(t.Context(), address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return store
}

// Count runs a query that yields one number, on the deployment's database, beside the processes.
func (d *Deployment) Count(t testing.TB, query string) int {
	t.Helper()
	var n sql.NullInt64
	if err := d.database(t).QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return int(n.Int64)
}

// database opens the test's own connection, once.
func (d *Deployment) database(t testing.TB) *sql.DB {
	t.Helper()
	if d.direct != nil {
		return d.direct
	}
	driver, source := "pgx", d.DatabaseURL
	if path, ok := strings.CutPrefix(d.DatabaseURL, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	d.direct = db
	return db
}

// EmptyRedis does what FLUSHALL does to a deployment made WithRedisToEmpty.
func (d *Deployment) EmptyRedis(t testing.TB) {
	t.Helper()
	if err := testredis.Client(t, testredis.Faults).FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	addr, err := loopback.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
