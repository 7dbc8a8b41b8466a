// Command sundry is the whole service in one binary: API, pages and workers.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"sundry/bootstrap"
	"sundry/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sundry:", err)
		os.Exit(1)
	}
}

const usage = `usage: sundry [command]

  (none)   serve and work in one process
  serve    API and pages
  worker   background work
  migrate  bring the database schema up to date
  seed     make the demo creator in an empty sandbox database
  catalog export FILE [EMAIL]   write listings, variants, plans, prices and payment links by stable keys ("-" = stdout)
  catalog import FILE [EMAIL]   show what would change, then make the catalog so (--dry-run only shows, --yes never asks)
  verify   check the invariants of money and access; exit 1 and one line per violation
  tax-report FROM UNTIL   sum up the documents of these days by country, rate and so on, as CSV to file taxes from
  listen   print the account's events and forward them to a URL, signed as webhooks are (listen --help)
  trigger TYPE   make an event in the sandbox (trigger --help)
  version  what this binary was built from

  healthcheck  exit 0 when the process at ADDR is ready, for a container's health check
`

// run is main with an error: it picks the command.
func run(ctx context.Context, args []string) error {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command { // these talk to a running service and need no configuration of one
	case "listen":
		return bootstrap.Listen(ctx, args[1:], os.Stdout)
	case "trigger":
		return bootstrap.Trigger(ctx, args[1:], os.Stdout)
	}
	if len(args) > 1 && command != "catalog" && command != "tax-report" {
		return fmt.Errorf("this command takes nothing more: %q", args[1])
	}
	var transfer catalogCommand
	var report taxReportCommand
	switch command {
	case "catalog":
		var err error
		if transfer, err = parseCatalogCommand(args[1:]); err != nil {
			return err
		}
	case "tax-report":
		var err error
		if report, err = parseTaxReportCommand(args[1:]); err != nil {
			return err
		}
	case "version":
		fmt.Println(version())
		return nil
	case "help", "-h", "--help":
		fmt.Print(usage)
		return nil
	case "", "serve", "worker", "migrate", "seed", "verify", "healthcheck":
	default:
		return fmt.Errorf("unknown command %q\n\n%s", command, usage)
	}
	cfg, err := config.FromEnvironment()
	if err != nil {
		return fmt.Errorf("configuration:\n%w", err)
	}
	if command == "healthcheck" {
		return healthcheck(ctx, cfg.Addr)
	}
	app, err := bootstrap.New(ctx, cfg, logger(cfg))
	if err != nil {
		return err
	}
	switch command {
	case "catalog":
		return errors.Join(transfer.run(ctx, app, os.Stdin, os.Stdout), app.Close())
	case "tax-report":
		return errors.Join(report.run(ctx, app, cfg, os.Stdout, os.Stderr), app.Close())
	}
	return errors.Join(runCommand(ctx, app, cfg, command), app.Close())
}

// runCommand is the command itself, on the wired program.
func runCommand(ctx context.Context, app *bootstrap.App, cfg config.Config, command string) error {
	switch command {
	case "":
		return serve(ctx, app, cfg, bootstrap.Serve, bootstrap.Work)
	case "serve":
		return serve(ctx, app, cfg, bootstrap.Serve)
	case "worker":
		return app.Run(ctx, bootstrap.Work)
	case "seed":
		demo, err := app.SeedIfEmpty(ctx)
		if err == nil && demo == nil {
			err = errors.New("the database already has creators; nothing was seeded")
		}
		if err != nil {
			return err
		}
		return demo.Print(os.Stdout, cfg.BaseURL)
	case "verify":
		return verify(ctx, app)
	}
	return nil // migrate: New has migrated
}

// serve runs the program until ctx ends.
func serve(ctx context.Context, app *bootstrap.App, cfg config.Config, roles ...bootstrap.Role) error {
	if err := printQuickStart(ctx, app, cfg); err != nil {
		return err
	}
	go debug.FreeOSMemory() // to read templates and the OpenAPI document takes several times what is kept of them
	return app.Run(ctx, roles...)
}

// printQuickStart seeds an empty sandbox and prints how to use it.
func printQuickStart(ctx context.Context, app *bootstrap.App, cfg config.Config) error {
	if !cfg.Seeds() {
		return nil
	}
	demo, err := app.SeedIfEmpty(ctx)
	if err != nil {
		return err
	}
	if demo == nil {
		fmt.Printf("\n  Dashboard  %[1]s/dashboard\n  Reference  %[1]s/docs\n  Start over: stop, delete %[2]s, start again.\n\n", cfg.BaseURL, cfg.DataDir)
		return nil
	}
	return demo.Print(os.Stdout, cfg.BaseURL)
}

// verify prints one line per violation and fails when there is any.
func verify(ctx context.Context, app *bootstrap.App) error {
	violations, err := app.Verify(ctx)
	if err != nil {
		return err
	}
	for _, line := range violations {
		fmt.Println(line)
	}
	if len(violations) > 0 {
		return fmt.Errorf("violations of invariants: %d", len(violations))
	}
	fmt.Println("all invariants hold")
	return nil
}

func logger(cfg config.Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.LogLevel)) // config has checked it
	options := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "sundry (unknown build)"
	}
	revision := "unknown revision"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return "sundry " + info.Main.Version + " (" + revision + ", " + info.GoVersion + ")"
}
