package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sundry/tests/bench/process"
	"sundry/tests/loopback"
)

// startReference starts this command again as the bare server, over the same database and with the same key.
func (w *fixture) startReference(address string) error {
	_, err := w.pool.Exec(w.ctx, `
		CREATE TABLE bench_documents (owner TEXT, name TEXT, body BYTEA, etag TEXT, PRIMARY KEY (owner, name));
		CREATE TABLE bench_a (id TEXT PRIMARY KEY, body JSONB);
		CREATE TABLE bench_b (id TEXT PRIMARY KEY, body JSONB);
		CREATE TABLE bench_c (id TEXT PRIMARY KEY, body JSONB);
		CREATE TABLE bench_keys (stream_id BIGINT, period_start BIGINT, received_at BIGINT, position BIGINT, event_id TEXT,
			creator_id TEXT COLLATE "C", key TEXT COLLATE "C", fingerprint BYTEA, PRIMARY KEY (creator_id, key));
		CREATE TABLE bench_events (stream_id BIGINT, period_start BIGINT, occurred_at BIGINT, received_at BIGINT, position BIGINT,
			voided_at BIGINT, ordered BOOLEAN, quantity NUMERIC, id TEXT, creator_id TEXT);
		CREATE INDEX ON bench_events (position);`)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	addr, err := loopback.FreeAddress(w.ctx)
	if err != nil {
		return err
	}
	w.bare = "http://" + addr
	bare, err := process.Start(w.ctx, process.Config{
		Args: []string{self, "-reference", addr}, Env: []string{"DATABASE_URL=" + address, "KEY=" + w.key}, Ready: w.bare + "/metrics",
	})
	if err != nil {
		return err
	}
	w.reference = bare
	w.closers = append(w.closers, func() error { bare.End(); return nil })
	return nil
}

// reference is the least that could do each job: fiber, a key check, pgx, nothing else.
type reference struct{ pool *pgxpool.Pool }

// serveReference serves the database DATABASE_URL with the key KEY, until it is killed.
func serveReference(ctx context.Context, addr string) error {
	pool, err := newPool(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer pool.Close()
	r := reference{pool}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true})
	app.Get("/metrics", adaptor.HTTPHandler(promhttp.Handler()))
	app.Use(keyCheck(os.Getenv("KEY")))
	app.Get("/document/:name", r.readDocument)
	app.Post("/three", r.insertThree())
	app.Post("/events", r.insertEvents())
	return app.Listen(addr)
}

// newPool opens as many connections as Sundry's own pool has.
func newPool(ctx context.Context, address string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 16
	return pgxpool.NewWithConfig(ctx, cfg)
}

// keyCheck is an HMAC of the presented key looked up in a map.
func keyCheck(key string) fiber.Handler {
	secret := []byte("bench")
	digest := func(key string) [32]byte {
		h := hmac.New(sha256.New, secret)
		h.Write([]byte(key))
		return [32]byte(h.Sum(nil))
	}
	known := map[[32]byte]string{digest(key): "owner"}
	return func(c *fiber.Ctx) error {
		owner, ok := known[digest(strings.TrimPrefix(c.Get("Authorization"), "Bearer "))]
		if !ok {
			return fiber.ErrUnauthorized
		}
		c.Locals("owner", owner)
		return c.Next()
	}
}

func (r reference) readDocument(c *fiber.Ctx) error {
	var body []byte
	var etag string
	err := r.pool.QueryRow(c.UserContext(), "SELECT body, etag FROM bench_documents WHERE owner = $1 AND name = $2",
		c.Locals("owner"), c.Params("name")).Scan(&body, &etag)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderETag, etag)
	if c.Get(fiber.HeaderIfNoneMatch) == etag {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(body)
}

func (r reference) insertThree() fiber.Handler {
	var next atomic.Int64
	return func(c *fiber.Ctx) error {
		id, body := strconv.FormatInt(next.Add(1), 10), string(c.Body())
		return pgx.BeginFunc(c.UserContext(), r.pool, func(tx pgx.Tx) error {
			for _, table := range []string{"bench_a", "bench_b", "bench_c"} {
				if _, err := tx.Exec(c.UserContext(), "INSERT INTO "+table+" VALUES ($1, $2)", id, body); err != nil {
					return err
				}
			}
			return c.SendStatus(fiber.StatusCreated)
		})
	}
}
