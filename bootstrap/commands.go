package bootstrap

import (
	"context"
	"log/slog"
	"os"

	"sundry/adapters/cli"
	"sundry/config"
)

// Settings returns the settings that commands use.
func Settings(cfg config.Config) cli.Settings {
	return cli.Settings{
		Addr: cfg.Addr, BaseURL: cfg.BaseURL, DataDir: cfg.DataDir, Live: cfg.Livemode(), SeedsDemo: cfg.Seeds(),
	}
}

// OpenForCommands is New for a command, with a log on standard error.
func OpenForCommands(ctx context.Context, cfg config.Config) (*cli.App, error) {
	a, err := New(ctx, cfg, newLogger(cfg))
	if err != nil {
		return nil, err
	}
	return a.ForCommands(), nil
}

// ForCommands returns the parts of the program that commands use.
func (a *App) ForCommands() *cli.App {
	return &cli.App{
		Settings: Settings(a.cfg), Accounts: a.modules.Identity, Catalog: a.modules.Catalog, Documents: a.modules.Documents,
		Run: a.runRoles, Seed: a.SeedIfEmpty, Verify: a.Verify, Close: a.Close,
	}
}

func (a *App) runRoles(ctx context.Context, roles cli.Roles) error {
	var all []Role
	if roles.Serve {
		all = append(all, Serve)
	}
	if roles.Work {
		all = append(all, Work)
	}
	return a.Run(ctx, all...)
}

func newLogger(cfg config.Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.LogLevel)) // config has checked it
	options := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}
