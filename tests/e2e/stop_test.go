package e2e_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/bootstrap"
	"sundry/config"
	"sundry/tests/testdb"
)

// TestAProgramThatCannotBeginStopsServing has one that was stopped before it was ready, which is no failure, and one
// whose database belongs to another process, which is.
func TestAProgramThatCannotBeginStopsServing(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		start := func(ctx context.Context, databaseURL string) (ran, served chan error) {
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := config.FromMap(map[string]string{
				"ADDR": listener.Addr().String(), "DATA_DIR": t.TempDir(), "DATABASE_URL": databaseURL,
				"SEED_DEMO":  "false",
				"APP_SECRET": "a secret of forty characters, for tests.",
			})
			if err != nil {
				t.Fatal(err)
			}
			program, err := bootstrap.New(t.Context(), cfg, slog.New(slog.DiscardHandler), bootstrap.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := program.Close(); err != nil {
					t.Error(err)
				}
			})
			ran, served = make(chan error, 1), make(chan error, 1)
			go func() { served <- program.Serve(listener) }()
			go func() { ran <- program.Run(ctx, bootstrap.Work) }()
			return ran, served
		}
		end := func(what string, ended chan error) error {
			t.Helper()
			select {
			case err := <-ended:
				return err
			case <-time.After(time.Minute):
				t.Fatalf("%s did not end", what)
				return nil
			}
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		ran, served := start(canceled, engine.URL(t))
		if err := end("what was stopped early", ran); err != nil {
			t.Errorf("it ended with %v", err)
		}
		if err := end("its HTTP side", served); err != nil {
			t.Errorf("its HTTP side ended with %v", err)
		}
		if engine.Name != testdb.SQLite.Name {
			return // PostgreSQL has many processes
		}
		owned := engine.URL(t)
		owner, err := gormstore.Open(t.Context(), owned)
		if err == nil {
			err = owner.LockProcess()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = owner.Close() })
		ran, served = start(t.Context(), owned)
		if err := end("the second process on a database", ran); err == nil {
			t.Error("two processes work on one SQLite database")
		}
		_ = end("its HTTP side", served)
	})
}

// What a first start prints is shown once, so it prints nothing beside another process.
func TestListen_NotBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	url := testdb.SQLite.URL(t)
	owner, err := gormstore.Open(t.Context(), url)
	if err == nil {
		err = owner.LockProcess()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close() })
	cfg, err := config.FromMap(map[string]string{
		"ADDR": "127.0.0.1:0", "DATA_DIR": t.TempDir(), "DATABASE_URL": url, "SEED_DEMO": "false",
		"APP_SECRET": "a secret of forty characters, for tests.",
	})
	if err != nil {
		t.Fatal(err)
	}
	app, err := bootstrap.New(t.Context(), cfg, slog.New(slog.DiscardHandler), bootstrap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Close() })
	if err := app.Listen(t.Context(), bootstrap.Serve); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v, want another process", err)
	}
}
