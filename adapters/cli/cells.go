package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"sundry/core/id"
)

// cellHelp describes --cell in the usage of commands that sum up cells.
const cellHelp = `With --cell, once for each cell of the deployment, the cells that these files describe: FILE has a cell's settings, a
line NAME=VALUE each, as the files that Docker (--env-file) and systemd (EnvironmentFile) read. What it leaves out is
taken from the environment.`

// parseCells reads the flags --cell, and those that define adds, and returns the files of the cells and what follows.
func parseCells(name, usage string, args []string, define ...func(*flag.FlagSet)) (files, rest []string, err error) {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, add := range define {
		add(flags)
	}
	flags.Func("cell", "", func(file string) error {
		files = append(files, file)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return nil, nil, fmt.Errorf("%w\n\n%s", err, usage)
	}
	return files, flags.Args(), nil
}

// eachCell runs do with each cell that the files describe or, without files, with that of the environment, one after
// the other. It begins with no cell twice, nor with cells of two environments, whose sums would mean nothing.
func (c call) eachCell(ctx context.Context, files []string, do func(app *App) error) error {
	if len(files) == 0 {
		return within(do)(c.Open(ctx))
	}
	known := map[id.Cell]string{}
	var live bool
	for _, file := range files {
		err := within(func(app *App) error {
			cell := app.Settings.Cell
			switch other, twice := known[cell]; {
			case twice:
				return fmt.Errorf("it is cell %d, as %s is", cell, other)
			case len(known) > 0 && live != app.Settings.Live:
				return errors.New("it is of another environment than the files before it")
			}
			known[cell], live = file, app.Settings.Live
			return do(app)
		})(c.OpenCell(ctx, file))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// within closes the app that do has used.
func within(do func(app *App) error) func(*App, error) error {
	return func(app *App, err error) error {
		if err != nil {
			return err
		}
		return errors.Join(do(app), app.Close())
	}
}
