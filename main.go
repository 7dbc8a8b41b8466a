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
  version  what this binary was built from
`

// run is main with an error: it picks the command.
func run(ctx context.Context, args []string) error {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "version":
		fmt.Println(version())
		return nil
	case "help", "-h", "--help":
		fmt.Print(usage)
		return nil
	case "", "serve", "worker", "migrate":
	default:
		return fmt.Errorf("unknown command %q\n\n%s", command, usage)
	}
	cfg, err := config.FromEnvironment()
	if err != nil {
		return fmt.Errorf("configuration:\n%w", err)
	}
	app, err := bootstrap.New(ctx, cfg, logger(cfg))
	if err != nil {
		return err
	}
	switch command {
	case "":
		err = app.Run(ctx, bootstrap.Serve, bootstrap.Work)
	case "serve":
		err = app.Run(ctx, bootstrap.Serve)
	case "worker":
		err = app.Run(ctx, bootstrap.Work)
	case "migrate": // New has migrated
	}
	return errors.Join(err, app.Close())
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
