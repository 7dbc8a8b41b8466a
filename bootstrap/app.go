// Package bootstrap puts the program together: which adapter fills which port, which module hears which event, and
// what starts and stops in which order.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/gofiber/fiber/v2"
	"github.com/redis/go-redis/v9"

	"sundry/adapters/gormstore"
	"sundry/adapters/httpapi"
	"sundry/adapters/jobs"
	"sundry/adapters/system"
	"sundry/config"
	"sundry/ports"
)

// App is the wired program.
type App struct {
	cfg     config.Config
	log     *slog.Logger
	store   *gormstore.Store
	redis   *redis.Client // nil without REDIS_URL
	clock   ports.Clock
	ids     ports.IDs
	secrets secrets
	mux     *jobs.Mux
	modules httpapi.Modules
	http    *fiber.App
	// closers run in reverse order of what they close.
	closers []func() error
}

// Role is a part of the program that a process plays.
type Role string

// The roles: one process plays both unless told otherwise.
const (
	Serve Role = "serve"
	Work  Role = "worker"
)

// New connects, migrates and wires. Close must be called even when Run never is.
func New(ctx context.Context, cfg config.Config, log *slog.Logger) (app *App, err error) {
	a := &App{cfg: cfg, log: log, ids: system.NewIDs()}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if a.secrets, err = loadSecrets(cfg); err != nil {
		return nil, err
	}
	if a.store, err = gormstore.Open(ctx, cfg.DatabaseURL); err != nil {
		return nil, err
	}
	a.closers = append(a.closers, a.store.Close)
	if err = a.store.Migrate(ctx); err != nil {
		return nil, err
	}
	if err = a.openRedis(); err != nil {
		return nil, err
	}
	a.clock = system.NewClock(a.store, !cfg.Livemode())
	a.mux = jobs.NewMux(a.store, a.clock, log)
	if err = a.wire(); err != nil {
		return nil, err
	}
	return a, nil
}

// Handler is the HTTP application, for tests that need no listener.
func (a *App) Handler() *fiber.App { return a.http }

// Run plays the given roles until ctx ends, then stops within the shutdown time: no new requests, those under way
// finish, then the jobs.
func (a *App) Run(ctx context.Context, roles ...Role) error {
	if err := a.keepHouse(ctx); err != nil {
		return err
	}
	failed := make(chan error, len(roles)+1)
	for _, role := range roles {
		switch role {
		case Serve:
			listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.cfg.Addr)
			if err != nil {
				return fmt.Errorf("listen on %s: %w", a.cfg.Addr, err)
			}
			a.log.InfoContext(ctx, "serving", slog.String("url", a.cfg.BaseURL))
			go func() { failed <- a.http.Listener(listener) }()
		case Work:
		default:
			return fmt.Errorf("unknown role %q", role)
		}
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.ShutdownTimeout)
	defer cancel()
	return errors.Join(err, a.http.ShutdownWithContext(stop))
}

// Close gives everything back, last opened first.
func (a *App) Close() error {
	var all []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		all = append(all, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(all...)
}
