package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sundry/tests/bench/process"
	"sundry/tests/testdb"
)

// fixture is the built program on PostgreSQL, and on the Redis of REDIS_URL where there is one, beside a bare server
// over the same database: a process each, and the clients of both are this one.
type fixture struct {
	ctx     context.Context //nolint:containedctx // one run, one context
	program *process.Sundry
	base    string
	bare    string
	// reference serves bare.
	reference *process.Process
	key       string
	pool      *pgxpool.Pool
	closers   []func() error
	// binary is the program's file, and vars the settings of all processes on this database.
	binary string
	// address is the database's URL.
	address string
	vars    []string
}

func newFixture(ctx context.Context, profile string) (_ *fixture, err error) {
	w := &fixture{ctx: ctx}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	folder, err := os.MkdirTemp("", "sundry-bench-")
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, func() error { return os.RemoveAll(folder) })
	var tags []string
	if profile != "" {
		tags = append(tags, "profile")
	}
	if w.binary, err = process.Build(ctx, folder, tags...); err != nil {
		return nil, err
	}
	address, drop, err := postgres()
	if err != nil {
		return nil, err
	}
	w.address, w.closers = address, append(w.closers, drop)
	w.vars = []string{
		"DATABASE_URL=" + address, "REDIS_URL=" + os.Getenv("REDIS_URL"), "APP_SECRET=" + rand.Text() + rand.Text(),
		"WEBHOOK_ALLOW_PRIVATE=true",
	}
	w.program, err = process.StartSundry(ctx, w.binary, "", append(slices.Clone(w.vars), "CPU_PROFILE="+profile)...)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, func() error { w.program.End(); return nil })
	w.base = w.program.URL
	if w.key, err = w.program.SecretKey(ctx); err != nil {
		return nil, err
	}
	if w.pool, err = newPool(ctx, address); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, func() error { w.pool.Close(); return nil })
	if err = w.warnOfSettings(ctx); err != nil {
		return nil, err
	}
	err = w.startReference(address)
	return w, err
}

// warnOfSettings prints the server's settings that no user's has: without autovacuum what is done lies before what is
// due, and without the rest a commit is not durable.
func (w *fixture) warnOfSettings(ctx context.Context) error {
	rows, err := w.pool.Query(ctx, `SELECT name || ' = ' || setting FROM pg_settings
		WHERE name IN ('autovacuum', 'fsync', 'full_page_writes', 'synchronous_commit') AND setting <> 'on'`)
	if err != nil {
		return err
	}
	odd, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if len(odd) > 0 {
		fmt.Fprintf(os.Stderr, "bench: figures of this server count for nothing: %s\n", strings.Join(odd, ", "))
	}
	return err
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
