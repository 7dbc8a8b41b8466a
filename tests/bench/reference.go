package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// startReference serves the least that could do each job: fiber, a key check, pgx, nothing else.
func (w *fixture) startReference(address string) error {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return err
	}
	cfg.MaxConns = 16 // as many as Sundry's own pool
	if w.pool, err = pgxpool.NewWithConfig(w.ctx, cfg); err != nil {
		return err
	}
	w.closers = append(w.closers, func() error { w.pool.Close(); return nil })
	_, err = w.pool.Exec(w.ctx, `
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
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true})
	app.Use(w.keyCheck())
	app.Get("/document/:name", w.readDocument)
	app.Post("/three", w.insertThree())
	app.Post("/events", w.insertEvents())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.bare, w.reference = "http://"+listener.Addr().String(), app
	var wg sync.WaitGroup
	wg.Go(func() { _ = app.Listener(listener) })
	w.closers = append(w.closers, func() error { err := app.Shutdown(); wg.Wait(); return err })
	return nil
}

// keyCheck is an HMAC of the presented key looked up in a map.
func (w *fixture) keyCheck() fiber.Handler {
	secret := []byte("bench")
	digest := func(key string) [32]byte {
		h := hmac.New(sha256.New, secret)
		h.Write([]byte(key))
		return [32]byte(h.Sum(nil))
	}
	known := map[[32]byte]string{digest(w.key): "owner"}
	return func(c *fiber.Ctx) error {
		owner, ok := known[digest(strings.TrimPrefix(c.Get("Authorization"), "Bearer "))]
		if !ok {
			return fiber.ErrUnauthorized
		}
		c.Locals("owner", owner)
		return c.Next()
	}
}

func (w *fixture) readDocument(c *fiber.Ctx) error {
	var body []byte
	var etag string
	err := w.pool.QueryRow(c.UserContext(), "SELECT body, etag FROM bench_documents WHERE owner = $1 AND name = $2",
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

func (w *fixture) insertThree() fiber.Handler {
	var next atomic.Int64
	return func(c *fiber.Ctx) error {
		id, body := strconv.FormatInt(next.Add(1), 10), string(c.Body())
		return pgx.BeginFunc(c.UserContext(), w.pool, func(tx pgx.Tx) error {
			for _, table := range []string{"bench_a", "bench_b", "bench_c"} {
				if _, err := tx.Exec(c.UserContext(), "INSERT INTO "+table+" VALUES ($1, $2)", id, body); err != nil {
					return err
				}
			}
			return c.SendStatus(fiber.StatusCreated)
		})
	}
}
