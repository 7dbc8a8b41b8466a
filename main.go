// Command sundry is the whole service in one binary: API, pages and workers.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sundry/adapters/cli"
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

// run runs a command with the environment of this process.
func run(ctx context.Context, args []string) error {
	return cli.Run(ctx, args, cli.Host{In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Settings: func() (cli.Settings, error) {
			cfg, err := configuration()
			return bootstrap.Settings(cfg), err
		},
		Open: func(ctx context.Context) (*cli.App, error) {
			cfg, err := configuration()
			if err != nil {
				return nil, err
			}
			return bootstrap.OpenForCommands(ctx, cfg)
		},
	})
}

func configuration() (config.Config, error) {
	cfg, err := config.FromEnvironment()
	if err != nil {
		err = fmt.Errorf("configuration:\n%w", err)
	}
	return cfg, err
}
