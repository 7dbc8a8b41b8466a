package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"sundry/bootstrap"
)

// catalogCommand is `sundry catalog export|import FILE [EMAIL]`.
type catalogCommand struct {
	action, file, account string
	dryRun, yes           bool
}

const catalogUsage = "usage: sundry catalog export FILE [EMAIL]\n       sundry catalog import [--dry-run] [--yes] FILE [EMAIL]"

func parseCatalogCommand(args []string) (c catalogCommand, err error) {
	var plain []string
	for _, arg := range args {
		switch {
		case arg == "--dry-run" || arg == "-dry-run":
			c.dryRun = true
		case arg == "--yes" || arg == "-yes" || arg == "-y":
			c.yes = true
		case strings.HasPrefix(arg, "-") && arg != "-":
			return c, fmt.Errorf("unknown flag %s\n\n%s", arg, catalogUsage)
		default:
			plain = append(plain, arg)
		}
	}
	if len(plain) < 2 || len(plain) > 3 || plain[0] != "export" && plain[0] != "import" || plain[0] == "export" && (c.dryRun || c.yes) {
		return c, errors.New(catalogUsage)
	}
	c.action, c.file = plain[0], plain[1]
	if len(plain) == 3 {
		c.account = plain[2]
	}
	return c, nil
}

func (c catalogCommand) run(ctx context.Context, app *bootstrap.App, in io.Reader, out io.Writer) error {
	if c.action == "export" {
		return c.export(ctx, app, out)
	}
	raw, err := c.read(in)
	if err != nil {
		return err
	}
	d, err := bootstrap.ReadCatalog(raw)
	if err != nil {
		return err
	}
	found, applied := 0, false
	err = app.ImportCatalog(ctx, c.account, d, func(changes []string) bool {
		found = len(changes)
		for _, line := range changes {
			fmt.Fprintln(out, line)
		}
		applied = found > 0 && !c.dryRun && (c.yes || c.file == "-" || !isTerminal(in) || agrees(in, out))
		return applied
	})
	switch {
	case err != nil:
		return err
	case applied:
		fmt.Fprintln(out, "The catalog matches the file.")
	case found == 0:
		fmt.Fprintln(out, "Nothing to change.")
	default:
		fmt.Fprintln(out, "Nothing was written.")
	}
	return nil
}

func (c catalogCommand) export(ctx context.Context, app *bootstrap.App, out io.Writer) error {
	d, err := app.ExportCatalog(ctx, c.account)
	if err != nil {
		return err
	}
	if c.file == "-" {
		return d.Write(out)
	}
	var file bytes.Buffer
	if err := d.Write(&file); err != nil {
		return err
	}
	if err := os.WriteFile(c.file, file.Bytes(), 0o644); err != nil { //nolint:gosec // a catalog is no secret: others may read it
		return err
	}
	fmt.Fprintf(out, "Listings written to %s: %d\n", c.file, len(d.Listings))
	return nil
}

func (c catalogCommand) read(in io.Reader) ([]byte, error) {
	if c.file == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(c.file)
}

// isTerminal reports whether a person could reply.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != os.DevNull && info.Name() != "null"
}

func agrees(in io.Reader, out io.Writer) bool {
	fmt.Fprint(out, "Write this? [y/N] ")
	reply, _ := bufio.NewReader(in).ReadString('\n') // no reply is no
	return strings.EqualFold(strings.TrimSpace(reply), "y")
}
