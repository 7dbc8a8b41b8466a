package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"sundry/core/fault"
	"sundry/modules/catalog"
	"sundry/ports"
)

// catalogCommand is `sundry catalog export|import FILE [EMAIL]`.
type catalogCommand struct {
	action, file, account string
	dryRun, yes           bool
}

const catalogUsage = `usage: sundry catalog export FILE [EMAIL]
       sundry catalog import [--dry-run] [--yes] FILE [EMAIL]

export writes the account's listings, plans, prices, payment links, discounts, meters and so on to FILE as JSON, by keys
that are the same in the sandbox and in live. import makes the account's catalog match such a file: it prints what would
change, and asks before it writes where a person is at the terminal.

  FILE         "-" is standard output of export, and standard input of import, which asks nothing then
  EMAIL        the account, where there are several
  --dry-run    print what would change, and write nothing
  --yes, -y    never ask`

func catalogRow() command {
	return command{
		name: "catalog", parse: parseCatalog, help: text(catalogUsage),
		lines: []line{
			{
				"export FILE [EMAIL]",
				`write listings, plans, prices, links, discounts, meters and so on by stable keys ("-" = stdout)`,
			},
			{
				"import FILE [EMAIL]",
				"show what would change, then make the catalog so (--dry-run only shows, --yes never asks)",
			},
		},
	}
}

func parseCatalog(args []string) (action, error) {
	c, err := parseCatalogCommand(args)
	if err != nil {
		return nil, err
	}
	if c.action == "export" {
		return withApp(c.export), nil
	}
	return c.importFile, nil
}

// importFile makes the catalog match the file, which is read before the program is opened.
func (f catalogCommand) importFile(ctx context.Context, c call) error {
	raw, err := f.read(c.In)
	if err != nil {
		return err
	}
	document, err := readCatalog(raw, c.ReadJSON)
	if err == nil {
		err = withApp(func(ctx context.Context, c call) error { return f.importDocument(ctx, c, document) })(ctx, c)
	}
	return listFaults(err)
}

// withApp opens the program for an action.
func withApp(act action) action {
	return func(ctx context.Context, c call) error {
		return within(func(app *App) error {
			c.app = app
			return act(ctx, c)
		})(c.Open(ctx))
	}
}

// read reads the whole file, or standard input.
func (f catalogCommand) read(in io.Reader) ([]byte, error) {
	if f.file == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(f.file)
}

// readCatalog reads a document as PUT /v1/catalog does.
func readCatalog(raw []byte, readJSON func(raw []byte, into any) error) (d catalog.Document, err error) {
	if err := readJSON(raw, &d); err != nil {
		return catalog.Document{}, err
	}
	return d, d.Check()
}

// listFaults gives each fault of a refused catalog a line of its own.
func listFaults(err error) error {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || len(refused.Details) == 0 {
		return err
	}
	var text strings.Builder
	text.WriteString("the catalog is refused:")
	for _, d := range refused.Details {
		fmt.Fprintf(&text, "\n  %s: %s", d.Field, d.Message)
	}
	return errors.New(text.String())
}

// parseCatalogCommand reads the arguments. Flags may stand before, between and behind the others.
func parseCatalogCommand(args []string) (c catalogCommand, err error) {
	flags := flag.NewFlagSet("catalog", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&c.dryRun, "dry-run", false, "")
	flags.BoolVar(&c.yes, "yes", false, "")
	flags.BoolVar(&c.yes, "y", false, "")
	plain, err := parseMixed(flags, args)
	if err != nil {
		return c, fmt.Errorf("%w\n\n%s", err, catalogUsage)
	}
	if len(plain) < 2 || len(plain) > 3 ||
		plain[0] != "export" && plain[0] != "import" || plain[0] == "export" && (c.dryRun || c.yes) {
		return c, errors.New(catalogUsage)
	}
	c.action, c.file = plain[0], plain[1]
	if len(plain) == 3 {
		c.account = plain[2]
	}
	return c, nil
}

// parseMixed reads flags that may stand before, between and behind plain arguments, and returns the latter.
func parseMixed(flags *flag.FlagSet, args []string) (plain []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return plain, nil
		}
		plain, args = append(plain, flags.Arg(0)), flags.Args()[1:]
	}
}

// importDocument makes the catalog match the file. It shows what would change and asks a person at a terminal first.
func (f catalogCommand) importDocument(ctx context.Context, c call, document catalog.Document) error {
	creatorID, err := accountID(ctx, c.app, f.account)
	if err != nil {
		return err
	}
	changes, err := c.app.Catalog.PreviewImport(ctx, creatorID, document)
	if err != nil {
		return err
	}
	for _, line := range changes {
		if _, err := fmt.Fprintln(c.Out, line); err != nil {
			return err
		}
	}
	outcome := "Nothing was written."
	switch {
	case len(changes) == 0:
		outcome = "Nothing to change."
	case !f.dryRun && (f.yes || f.file == "-" || !isTerminal(c.In) || agrees(c.In, c.Out)):
		if _, err := c.app.Catalog.Import(ctx, creatorID, document); err != nil {
			return err
		}
		outcome = "The catalog matches the file."
	}
	_, err = fmt.Fprintln(c.Out, outcome)
	return err
}

func (f catalogCommand) export(ctx context.Context, c call) error {
	creatorID, err := accountID(ctx, c.app, f.account)
	if err != nil {
		return err
	}
	document, err := c.app.Catalog.Export(ctx, creatorID)
	if err != nil {
		return err
	}
	if f.file == "-" {
		return document.Write(c.Out)
	}
	if err := writeFile(f.file, document.Write); err != nil {
		return err
	}
	_, err = fmt.Fprintf(reportTo(c, f.file), "Listings written to %s: %d\n", f.file, len(document.Listings))
	return err
}

// accountID returns the id of the account with an e-mail address; without one, of the only account.
func accountID(ctx context.Context, app *App, email string) (string, error) {
	id, err := app.Accounts.FindAccount(ctx, email)
	switch {
	case errors.Is(err, ports.ErrNotFound) && email == "":
		return "", errors.New("there is not exactly one account here: name one by its e-mail address, as the last argument")
	case errors.Is(err, ports.ErrNotFound):
		return "", fmt.Errorf("no account has the e-mail address %s", email)
	}
	return id, err
}

// isTerminal reports whether a person could reply. The null device is a character device, too, and standard input has
// a name of its own whatever it leads to.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

func agrees(in io.Reader, out io.Writer) bool {
	_, _ = fmt.Fprint(out, "Write this? [y/N] ")     // a broken terminal shows in the reply
	reply, _ := bufio.NewReader(in).ReadString('\n') // no reply is no
	return strings.EqualFold(strings.TrimSpace(reply), "y")
}
