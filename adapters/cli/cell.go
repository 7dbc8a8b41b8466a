package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sundry/core/id"
	"sundry/core/identity"
)

const cellUsage = `usage: sundry cell map BACKEND
       sundry cell claim

map writes the lines of the router's map that send what belongs to this cell (CELL) to the backend of this name:
deploy/haproxy has the rest.

claim enters every email address and slug of this cell into the directory (DIRECTORY_URL), as is needed once when a
deployment gets its directory. It writes a line for each that another account has there, and exits with 1 then. Doing
it again changes nothing.
`

func cellRow() command {
	return command{
		name: "cell", parse: parseCell, help: text(cellUsage),
		lines: []line{
			{"map BACKEND", "write this cell's lines of the router's map (cell --help)"},
			{"claim", "enter this cell's email addresses and slugs into the directory of all cells"},
		},
	}
}

func parseCell(args []string) (action, error) {
	switch {
	case len(args) == 2 && args[0] == "map" && args[1] != "":
		return func(_ context.Context, c call) error {
			settings, err := c.Settings()
			if err != nil {
				return err
			}
			return writeCellMap(c.Out, settings.Cell, args[1])
		}, nil
	case len(args) == 1 && args[0] == "claim":
		return claimNames, nil
	}
	return nil, fmt.Errorf("this command takes map BACKEND or claim, not %q: sundry cell --help", strings.Join(args, " "))
}

// writeCellMap writes what a router finds in requests: the tag of ids and of what begins with one, that of API keys,
// and the number.
func writeCellMap(out io.Writer, cell id.Cell, backend string) error {
	_, err := fmt.Fprintf(out, "id:%s %s\nkey:%s %s\ncell:%d %s\n", cell.Tag(), backend, identity.KeyTag(cell), backend,
		cell, backend)
	return err
}

func claimNames(ctx context.Context, c call) (err error) {
	app, err := c.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	taken := 0
	if err := app.FillDirectory(ctx, func(line string) { taken++; fmt.Fprintln(c.Out, line) }); err != nil {
		return err
	}
	if taken > 0 {
		return fmt.Errorf("names that are another account's: %d; change them here or there", taken)
	}
	return nil
}
