package cli

import (
	"context"
	"fmt"
	"strings"
)

//nolint:gosec // the name of a command, no secret
const secretsUsage = `usage: sundry secrets rotate
       sundry secrets retire

rotate encrypts the keys of the deployment under APP_SECRET, makes new ones, waits two minutes until every process
uses them, and encrypts again what the database holds. Nothing breaks: links, sign-ins, API keys and webhooks' secrets
go on.
To replace APP_SECRET itself, restart every process with the new one and the old one as APP_SECRET_PREVIOUS, run
this command with both, and restart them without the old one.

retire deletes the keys before the last rotation, for when they may have leaked. Links in mails, and pages that were
left open, stop working; API keys, sign-ins to the dashboard and webhooks go on.
`

func parseSecrets(args []string) (action, error) {
	if len(args) == 1 {
		switch args[0] {
		case "rotate":
			return onSecrets(func(a *App) secretsCommand { return a.RotateSecrets }), nil
		case "retire":
			return onSecrets(func(a *App) secretsCommand { return a.RetireSecrets }), nil
		}
	}
	return nil, fmt.Errorf("this command takes rotate or retire, not %q: sundry secrets --help", strings.Join(args, " "))
}

type secretsCommand func(ctx context.Context, report func(line string)) error

func onSecrets(of func(*App) secretsCommand) action {
	return func(ctx context.Context, c call) error {
		return of(c.app)(ctx, func(line string) { fmt.Fprintln(c.Out, line) })
	}
}
