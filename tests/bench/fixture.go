package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"sundry/bootstrap"
	"sundry/config"
	"sundry/tests/loopback"
	"sundry/tests/testdb"
)

// fixture is the whole program on PostgreSQL beside a bare server over the same database.
type fixture struct {
	ctx       context.Context //nolint:containedctx // one run, one context
	app       *bootstrap.App
	base      string
	bare      string
	key       string
	pool      *pgxpool.Pool
	reference *fiber.App
	closers   []func() error
	cfg       config.Config
}

func newFixture(ctx context.Context) (_ *fixture, err error) {
	w := &fixture{ctx: ctx}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	address, drop, err := postgres()
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, drop)
	addr, err := loopback.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "sundry-bench-")
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, func() error { return os.RemoveAll(folder) })
	cfg, err := config.FromMap(map[string]string{
		"ADDR": addr, "DATABASE_URL": address, "DATA_DIR": folder, "WEBHOOK_ALLOW_PRIVATE": "true",
		"REDIS_URL": os.Getenv("REDIS_URL"),
	})
	if err != nil {
		return nil, err
	}
	app, err := bootstrap.New(ctx, cfg, slog.New(slog.NewTextHandler(os.Stderr,
		&slog.HandlerOptions{Level: slog.LevelWarn})), bootstrap.Options{})
	if err != nil {
		return nil, err
	}
	demo, err := app.SeedIfEmpty(ctx)
	if err != nil {
		return nil, errors.Join(err, app.Close())
	}
	w.app, w.base, w.key, w.cfg = app, cfg.BaseURL, demo.SecretKey, cfg
	running, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var runErr error
	wg.Go(func() { runErr = app.Run(running, bootstrap.Serve, bootstrap.Work) })
	w.closers = append(w.closers, func() error { stop(); wg.Wait(); return errors.Join(runErr, app.Close()) })
	if err := w.startReference(address); err != nil {
		return nil, err
	}
	return w, await(ctx, w.base+"/readyz")
}

// postgres makes an empty, migrated database.
func postgres() (string, func() error, error) {
	for _, engine := range testdb.Engines() {
		if engine.Name == "postgres" {
			return engine.Make()
		}
	}
	return "", nil, errors.New("the benches need PostgreSQL: set TEST_DATABASE_URL")
}

// await asks until the address responds 200.
func await(ctx context.Context, url string) error {
	for range 400 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("%s never responded", url)
}

// call makes one API request with the demo key and reads the response into out.
func (w *fixture) call(method, path string, body, out any) error {
	return w.callAs(w.key, method, path, body, out)
}

// client keeps as many connections as a bench has requests under way.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}

// callAs is call with another credential; "" for none.
func (w *fixture) callAs(credential, method, path string, body, out any) error {
	var payload io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(w.ctx, method, w.base+path, payload)
	if err != nil {
		return err
	}
	if credential != "" {
		req.Header.Set("Authorization", "Bearer "+credential)
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, raw)
	}
	return json.Unmarshal(raw, out)
}

func (w *fixture) close() error {
	var all []error
	for _, closer := range slices.Backward(w.closers) {
		all = append(all, closer())
	}
	return errors.Join(all...)
}
