package bootstrap

import (
	"context"
	"io"

	"sundry/adapters/cli"
)

// Listen prints the events of an account of a running service, and forwards them.
func Listen(ctx context.Context, args []string, out io.Writer) error {
	return cli.Listen(ctx, args, out)
}

// Trigger makes an event in a running sandbox.
func Trigger(ctx context.Context, args []string, out io.Writer) error {
	return cli.Trigger(ctx, args, out)
}
