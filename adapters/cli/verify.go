package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"
)

const verifyUsage = `usage: sundry verify [--since DURATION] [--cell FILE …]

Checks the invariants of money and access; prints one line per violation, and exits with 1 if there is any.

--since 2h checks what was made in the last two hours alone: seconds instead of minutes in a large database. It skips
what only all rows show: sums over them, gaps between numbers, and customers without a snapshot.

` + cellHelp

func parseVerify(args []string) (action, error) {
	var age time.Duration
	files, rest, err := parseCells("verify", verifyUsage, args, func(flags *flag.FlagSet) {
		flags.Func("since", "", func(text string) (err error) {
			if age, err = time.ParseDuration(text); err != nil || age <= 0 {
				return errors.New("specify a duration such as 90m or 24h")
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("this command takes nothing more: %q", rest[0])
	}
	return func(ctx context.Context, c call) error { return verify(ctx, c, files, age) }, nil
}

// verify prints one line per violation and fails when there is any. Those of several cells begin with the cell. An age
// of zero is that of all rows.
func verify(ctx context.Context, c call, files []string, age time.Duration) error {
	found := 0
	err := c.eachCell(ctx, files, func(app *App) error {
		of := ""
		if len(files) > 0 {
			of = fmt.Sprintf("cell %d: ", app.Settings.Cell)
		}
		violations, err := app.Verify(ctx, age)
		if err != nil {
			return err
		}
		found += len(violations)
		for _, line := range violations {
			if _, err := fmt.Fprintf(c.Out, "%s%s\n", of, line); err != nil {
				return err
			}
		}
		if len(violations) == 0 {
			_, err = fmt.Fprintf(c.Out, "%sall invariants hold\n", of)
		}
		return err
	})
	if found > 0 {
		err = errors.Join(err,
			fmt.Errorf("violations of invariants: %d; docs/verify.md has the cause and the cure of each", found))
	}
	return err
}
