// Package harness runs the whole program in the test's process, over a real listener, and asks it over HTTP. Every
// response is validated by the API's own document.
package harness

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/adapters/passwords"
	"sundry/bootstrap"
	"sundry/config"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

// cheap keeps the hundreds of sign-ups of a run off the processor. adapters/passwords tests the cost that the program has.
var cheap = passwords.Cost{MemoryKiB: 64, Passes: 1}

// App is the running program.
type App struct {
	// URL is its address, without a trailing slash.
	URL string
	// Program is the running program, for what HTTP cannot show.
	Program *bootstrap.App
	Log     *Log
	// DatabaseURL is of its database.
	DatabaseURL string
	// DataDir is its folder for files.
	DataDir string
	closers []func() error
	// behind leads to the database behind the program's back, once that is needed.
	behind     *sql.DB
	openBehind sync.Once
}

// Start runs the program on a new database of the engine: SQLite with everything in process, PostgreSQL with Redis.
// vars are environment variables on top of what a test needs. Close it.
func Start(engine testdb.Engine, vars map[string]string) (app *App, err error) {
	databaseURL, drop, err := engine.Make()
	if err != nil {
		return nil, err
	}
	if app, err = start(engine, databaseURL, vars, bootstrap.Options{}); err != nil {
		return nil, errors.Join(err, drop())
	}
	app.closers = slices.Insert(app.closers, 0, drop)
	return app, nil
}

// start runs the program on a database, with adapters that it does not pick by its configuration.
func start(engine testdb.Engine, databaseURL string, vars map[string]string, options bootstrap.Options) (app *App,
	err error) {
	a := &App{Log: &Log{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	folder, err := os.MkdirTemp("", "sundry-data-")
	if err != nil {
		return nil, err
	}
	a.DataDir = folder
	a.closers = append(a.closers, func() error { return os.RemoveAll(folder) })
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a.URL = "http://" + listener.Addr().String()
	env := map[string]string{
		"ADDR": listener.Addr().String(), "BASE_URL": a.URL, "DATA_DIR": folder, "DATABASE_URL": databaseURL,
		"SEED_DEMO": "false",
		"LOG_LEVEL": "warn",
	}
	if engine.Name == testdb.Postgres.Name && vars["REDIS_URL"] == "" && testenv.Get(testenv.Redis) != "" {
		if env["REDIS_URL"], err = emptyRedis(); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	maps.Copy(env, vars)
	a.DatabaseURL = env["DATABASE_URL"]
	if name, ok := strings.CutSuffix(env["BASE_URL"], ":0"); ok { // the same program under another name
		env["BASE_URL"] = name + a.URL[strings.LastIndexByte(a.URL, ':'):]
	}
	cfg, err := config.FromMap(env)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	options.Passwords = passwords.NewArgon2id(cheap)
	a.Program, err = bootstrap.New(
		context.Background(), cfg, slog.New(slog.NewTextHandler(a.Log, &slog.HandlerOptions{Level: slog.LevelWarn})), options,
	)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	a.closers = append(a.closers, a.Program.Close)
	a.run(listener)
	return a, nil
}

// run serves on the listener, which had to be there before the program: its address is part of the configuration.
func (a *App) run(listener net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- a.Program.Serve(listener) }()
	go func() { ended <- a.Program.Run(ctx, bootstrap.Work) }()
	a.closers = append(a.closers, func() error {
		cancel() // Run shuts the HTTP side down too
		return errors.Join(<-ended, <-ended)
	})
}

// Close stops the program and gives its database back.
func (a *App) Close() error {
	var all []error
	if a.behind != nil {
		all = append(all, a.behind.Close())
	}
	for _, closer := range slices.Backward(a.closers) {
		all = append(all, closer())
	}
	a.closers = nil
	return errors.Join(all...)
}

// New is Start for one test, which ends it.
func New(t testing.TB, engine testdb.Engine, vars map[string]string) *App {
	t.Helper()
	app, err := Start(engine, vars)
	return app.endedBy(t, engine, err)
}

// With is New with adapters of the test.
func With(t testing.TB, engine testdb.Engine, options bootstrap.Options) *App {
	t.Helper()
	databaseURL, drop, err := engine.Make()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	app, err := start(engine, databaseURL, nil, options)
	return app.endedBy(t, engine, err)
}

// On is New on a database that the test has.
func On(t testing.TB, engine testdb.Engine, databaseURL string, vars map[string]string) *App {
	t.Helper()
	app, err := start(engine, databaseURL, vars, bootstrap.Options{})
	return app.endedBy(t, engine, err)
}

// Refused returns why the program does not start on a database; nil when it does.
func Refused(engine testdb.Engine, databaseURL string, vars map[string]string) error {
	app, err := start(engine, databaseURL, vars, bootstrap.Options{})
	if err == nil {
		return app.Close()
	}
	return err
}

// endedBy leaves it to a test to end the program, if it started.
func (a *App) endedBy(t testing.TB, engine testdb.Engine, err error) *App {
	t.Helper()
	if err != nil {
		t.Fatalf("start the program on %s: %v", engine.Name, err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("stop the program: %v", err)
		}
	})
	return a
}

// shared are the programs that the tests of a package have in common, one per engine: an account of its own is all
// that most tests need.
var shared = struct {
	sync.Mutex
	apps map[string]*App
}{apps: map[string]*App{}}

// Each runs the test once per engine, in parallel, on a program that it shares with other tests. The package needs
// TestMain to call Main.
func Each(t *testing.T, test func(t *testing.T, app *App)) {
	t.Helper()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) { test(t, sharedApp(t, engine)) })
}

func sharedApp(t *testing.T, engine testdb.Engine) *App {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if app := shared.apps[engine.Name]; app != nil {
		return app
	}
	app, err := Start(engine, nil)
	if err != nil {
		t.Fatalf("start the program on %s: %v", engine.Name, err)
	}
	shared.apps[engine.Name] = app
	return app
}

// Main runs the package's tests and stops what they shared.
func Main(m *testing.M) {
	code := m.Run()
	for name, app := range shared.apps {
		if err := app.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "stop the program on %s: %v\n", name, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// Two programs on one Redis database would take each other's tasks, so each gets the next of these.
const (
	firstRedisDatabase = 5
	redisDatabases     = 11
)

var redisDatabase atomic.Int64

// emptyRedis is the address of a Redis database that nobody else in this process uses, emptied.
func emptyRedis() (string, error) {
	u, err := url.Parse(testenv.Get(testenv.Redis))
	if err != nil {
		return "", errors.New("TEST_REDIS_URL is not an address")
	}
	u.Path = "/" + strconv.FormatInt(firstRedisDatabase+(redisDatabase.Add(1)-1)%redisDatabases, 10)
	options, err := redis.ParseURL(u.String())
	if err != nil {
		return "", errors.New("TEST_REDIS_URL is not the address of a Redis")
	}
	client := redis.NewClient(options)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := errors.Join(client.FlushDB(ctx).Err(), client.Close()); err != nil {
		return "", fmt.Errorf("empty TEST_REDIS_URL: %w", err)
	}
	return u.String(), nil
}
