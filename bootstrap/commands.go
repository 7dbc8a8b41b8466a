package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"sundry/adapters/cli"
	"sundry/adapters/gormstore"
	"sundry/adapters/httpapi/strictjson"
	"sundry/adapters/keyring"
	"sundry/config"
	"sundry/core/id"
)

// Settings returns the settings that commands use.
func Settings(cfg config.Config) cli.Settings {
	return cli.Settings{
		Addr: cfg.Addr, MetricsAddr: cfg.MetricsAddr, BaseURL: cfg.BaseURL, DataDir: cfg.DataDir, Live: cfg.Live(),
		DatabaseInDataDir: cfg.IsDatabaseInDataDir(), SeedsDemo: cfg.Seeds(),
		Cell: id.Cell(cfg.Cell), //nolint:gosec // config has checked it
	}
}

// Main runs the command that the arguments of this process name, with its environment, until it is done or the process
// is asked to stop. A program with adapters of its own is a main function that calls it with them. It returns the
// status to exit with.
func Main(own Options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], own); err != nil {
		fmt.Fprintln(os.Stderr, "sundry:", err)
		return 1
	}
	return 0
}

// errInterrupted is the error of a command that was stopped, which may be at any place in it.
var errInterrupted = errors.New("interrupted before it was done: run it again")

func run(ctx context.Context, args []string, own Options) error {
	err := cli.Run(ctx, args, cli.Host{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Build: Build(),
		ReadJSON: strictjson.Decode,
		Settings: func() (cli.Settings, error) {
			cfg, err := configuration(own)
			return Settings(cfg), err
		},
		PlanMigrations: func(ctx context.Context) ([]string, error) {
			cfg, err := configuration(own)
			if err != nil {
				return nil, err
			}
			return planMigrations(ctx, cfg)
		},
		Backup: func(ctx context.Context, file string) error {
			cfg, err := configuration(own)
			if err != nil {
				return err
			}
			return gormstore.Backup(ctx, cfg.DatabaseURL, file)
		},
		Open: func(ctx context.Context) (*cli.App, error) { return openExisting(ctx, own, "") },
		OpenOrCreate: func(ctx context.Context) (*cli.App, error) {
			cfg, err := configuration(own)
			if err != nil {
				return nil, err
			}
			return openForCommands(ctx, cfg, own)
		},
		OpenCell: func(ctx context.Context, file string) (*cli.App, error) { return openExisting(ctx, own, file) },
	})
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}

// openExisting opens the program with the settings of the environment and, before those, of a file, "" for none. An
// error where there is no database.
func openExisting(ctx context.Context, own Options, file string) (*cli.App, error) {
	cfg, err := configurationOf(own, file)
	if err != nil {
		return nil, err
	}
	err = gormstore.RequireDatabase(ctx, cfg.DatabaseURL, cfg.DatabaseDirectURL, gormstore.InSchema(cfg.DatabaseSchema))
	if err != nil {
		return nil, err
	}
	return openForCommands(ctx, cfg, own)
}

func openForCommands(ctx context.Context, cfg config.Config, own Options) (*cli.App, error) {
	a, err := New(ctx, cfg, newLogger(cfg), own)
	if err != nil {
		return nil, err
	}
	return a.ForCommands(), nil
}

// planMigrations describes what New would change of the database's schema, and changes nothing.
func planMigrations(ctx context.Context, cfg config.Config) (lines []string, err error) {
	store, err := gormstore.OpenPooled(ctx, cfg.DatabaseURL, cfg.DatabaseDirectURL,
		gormstore.InSchema(cfg.DatabaseSchema), gormstore.Existing())
	if errors.Is(err, gormstore.ErrNoDatabase) {
		return gormstore.PlanNewDatabase(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return store.PlanMigrations(ctx)
}

// configuration reads the settings that the program does not bring itself.
func configuration(own Options) (config.Config, error) { return configurationOf(own, "") }

// configurationOf is configuration with the settings of a file before those of the environment, "" for none.
func configurationOf(own Options, file string) (config.Config, error) {
	var brought []config.Brought
	if len(own.Providers) > 0 {
		brought = append(brought, config.OwnPayments)
	}
	read := config.FromEnvironment
	if file != "" {
		read = func(own ...config.Brought) (config.Config, error) { return config.FromFile(file, own...) }
	}
	cfg, err := read(brought...)
	if err != nil {
		err = fmt.Errorf("configuration:\n%w", err)
	}
	return cfg, err
}

// ForCommands returns the parts of the program that commands use.
func (a *App) ForCommands() *cli.App {
	return &cli.App{
		Settings: Settings(a.cfg), Accounts: a.modules.Identity, Catalog: a.modules.CatalogFiles,
		Documents: a.modules.Documents, Reconciliation: a.modules.Reconciliation, Operator: a.modules.Operator,
		Imports: a.modules.Imports, Recurring: a.modules.Subscriptions.Recurring,
		FillDirectory: a.modules.Directory.Fill,
		Listen:        func(ctx context.Context, roles cli.Roles) error { return a.Listen(ctx, rolesOf(roles)...) },
		Run:           a.runRoles, Seed: a.SeedIfEmpty, Close: a.Close,
		Verify: func(ctx context.Context, age time.Duration) ([]string, error) {
			if age == 0 {
				return a.Verify(ctx)
			}
			return a.VerifySince(ctx, a.clock.Real().Add(-age))
		},
		RotateSecrets: func(ctx context.Context, report func(string)) error {
			return a.RotateSecrets(ctx, keyring.Overlap, report)
		},
		RetireSecrets: a.RetireSecrets,
	}
}

func (a *App) runRoles(ctx context.Context, roles cli.Roles) error {
	return a.Run(ctx, rolesOf(roles)...)
}

func rolesOf(roles cli.Roles) []Role {
	var all []Role
	if roles.Serve {
		all = append(all, Serve)
	}
	if roles.Work {
		all = append(all, Work)
	}
	return all
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
