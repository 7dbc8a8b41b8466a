// Package cli holds the commands of the program as one table. Host is the process that a command runs in. Some need
// nothing of it, as listen and trigger, which talk to a running service through its public API.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sundry/core/id"
	"sundry/modules/catalog"
	"sundry/modules/identity"
	"sundry/modules/imports"
	"sundry/modules/invoicing"
	"sundry/modules/operator"
	"sundry/modules/payments"
	"sundry/modules/subscriptions"
)

// Host is the process that a command runs in.
type Host struct {
	In       io.Reader
	Out, Err io.Writer
	// Build names the version and commit that the program was built from.
	Build Build
	// ReadJSON reads a document as strictly as the API reads the body of a request. VALIDATION_FAILED with every fault.
	ReadJSON func(raw []byte, into any) error
	// Settings reads the configuration. Its error lists every fault.
	Settings func() (Settings, error)
	// PlanMigrations reads the configuration, connects, and describes the migrations that Open would run, a line each. It
	// makes no database where there is none.
	PlanMigrations func(ctx context.Context) ([]string, error)
	// Backup reads the configuration and copies the database, which other processes may be using, to a new file.
	Backup func(ctx context.Context, file string) error
	// Open reads the configuration, connects, migrates and wires. An error where there is no database.
	Open func(ctx context.Context) (*App, error)
	// OpenOrCreate is Open that makes the database where there is none.
	OpenOrCreate func(ctx context.Context) (*App, error)
	// OpenCell is Open with the settings of a file in the place of the environment's.
	OpenCell func(ctx context.Context, file string) (*App, error)
}

// Settings are the parts of the configuration that commands use.
type Settings struct {
	Addr, MetricsAddr, BaseURL, DataDir string
	DatabaseInDataDir, Live, SeedsDemo  bool
	Cell                                id.Cell
}

// App holds the parts of the wired program that commands use.
type App struct {
	Settings  Settings
	Accounts  *identity.Service
	Catalog   *catalog.Transfer
	Documents *invoicing.Documents
	Operator  *operator.Service
	Imports   *imports.Service
	// Reconciliation compares the database with the payment providers.
	Reconciliation *payments.Reconciliation
	// Recurring reads what runs over all accounts.
	Recurring func(ctx context.Context) (subscriptions.Recurring, error)
	// Listen opens the addresses that the roles need, for Run, which otherwise does so itself.
	Listen func(ctx context.Context, roles Roles) error
	// Run plays the roles until ctx ends.
	Run func(ctx context.Context, roles Roles) error
	// Seed creates the demo creator in an empty sandbox database. It returns nil if there is any account.
	// ErrDemoElsewhere.
	Seed func(ctx context.Context) (*Demo, error)
	// Verify checks the invariants of what was made within an age, or of everything where that is zero, and returns one
	// line per violation.
	Verify func(ctx context.Context, age time.Duration) ([]string, error)
	// RotateSecrets replaces the keys of the deployment, and RetireSecrets deletes the former ones. report gets a line for
	// each step.
	RotateSecrets, RetireSecrets func(ctx context.Context, report func(line string)) error
	// FillDirectory claims every name of this cell in the directory. report gets a line for each that it cannot have.
	FillDirectory func(ctx context.Context, report func(line string)) error
	Close         func() error
}

// Roles are the parts of the program that a process plays.
type Roles struct{ Serve, Work bool }

// need is the part of the program that a command needs.
type need int

const (
	nothing need = iota
	theSettings
	theApp
)

// command is a row of the table.
type command struct {
	name  string // "" is the program without a command
	lines []line
	// apart puts the command behind an empty line of the usage, as no person types it.
	apart bool
	needs need
	// creates lets the command make the database where there is none. Any other would report on an empty one.
	creates bool
	// help is the text of --help; nil for the lines.
	help func() string
	// parse reads the arguments before anything is opened.
	parse func(args []string) (action, error)
}

// line describes one form of a command in the usage: its arguments, and what it does.
type line struct{ arguments, does string }

// call holds the arguments of an action. Settings and App are set if the command needs them.
type call struct {
	Host
	settings Settings
	app      *App
}

type action func(ctx context.Context, c call) error

// commands is the table of commands, in the order of the usage.
func commands() []command {
	return []command{
		{
			name: "", needs: theApp, creates: true, parse: noArguments(serve(Roles{Serve: true, Work: true})),
			lines: []line{{"", "serve and work in one process"}},
		},
		{
			name: "serve", needs: theApp, creates: true, parse: noArguments(serve(Roles{Serve: true})),
			lines: []line{{"", "API and pages"}},
		},
		{
			name: "worker", needs: theApp, creates: true, parse: noArguments(work),
			lines: []line{{"", "background work"}},
		},
		{
			name: "migrate", creates: true, parse: parseMigrate,
			lines: []line{
				{"", "bring the database schema up to date"},
				{"--check", "print what that would run, and which locks it would take for how long"},
			},
		},
		{
			name: "seed", needs: theApp, creates: true, parse: noArguments(seed),
			lines: []line{{"", "make the demo creator in an empty sandbox database"}},
		},
		catalogRow(),
		{
			name: "verify", parse: parseVerify, help: text(verifyUsage),
			lines: []line{{"", "check the invariants of money and access; exit 1 and one line per violation"}},
		},
		adminRow(),
		figuresRow(),
		backupRow(),
		reconcileRow(),
		{
			name: "tax-report", parse: parseTaxReport, help: text(taxReportUsage),
			lines: []line{
				{"FROM UNTIL", "sum up the documents of these days by country, rate and so on, as CSV to file taxes from"},
			},
		},
		{
			name: "secrets", needs: theApp, parse: parseSecrets, help: text(secretsUsage),
			lines: []line{
				{"rotate", "replace every key and encrypt what is stored again, while the program runs (secrets --help)"},
				{"retire", "delete the keys before the last rotation: links that they made open nothing any more"},
			},
		},
		exportRow(),
		importRow(),
		cellRow(),
		{
			name: "listen", parse: parseListen, help: text(listenUsage),
			lines: []line{
				{"", "print the account's events and forward them to a URL, signed as webhooks are (listen --help)"},
			},
		},
		{
			name: "trigger", parse: parseTrigger, help: triggerUsage,
			lines: []line{{"TYPE", "make an event in the sandbox (trigger --help)"}},
		},
		{name: "version", parse: noArguments(printVersion), lines: []line{{"", "what this binary was built from"}}},
		{
			name: "healthcheck", needs: theSettings, parse: noArguments(checkHealth), apart: true,
			lines: []line{{"", "exit 0 when the process at METRICS_ADDR, or else ADDR, is ready, for a container's check"}},
		},
	}
}

// Run runs the command that args begin with.
func Run(ctx context.Context, args []string, host Host) error {
	name := ""
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if name == "help" && len(args) > 0 {
		name, args = args[0], []string{"--help"} // sundry help verify
	}
	all := commands()
	at := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	switch {
	case at >= 0:
		return all[at].run(ctx, args, host)
	case name == "help" || isHelp(name):
		_, err := fmt.Fprint(host.Out, usage(all))
		return err
	}
	return fmt.Errorf("unknown command %q\n\n%s", name, usage(all))
}

func (c command) run(ctx context.Context, args []string, host Host) (err error) {
	if slices.ContainsFunc(args, isHelp) {
		_, err := fmt.Fprintln(host.Out, strings.TrimSuffix(c.usage(), "\n"))
		return err
	}
	act, err := c.parse(args)
	if err != nil {
		return err
	}
	with := call{Host: host}
	if c.creates {
		with.Open = host.OpenOrCreate
	}
	switch c.needs {
	case theSettings:
		if with.settings, err = host.Settings(); err != nil {
			return err
		}
	case theApp:
		if with.app, err = with.Open(ctx); err != nil {
			return err
		}
		with.settings = with.app.Settings
		defer func() { err = errors.Join(err, with.app.Close()) }()
	case nothing:
	}
	return act(ctx, with)
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

func text(s string) func() string { return func() string { return s } }

// usage describes how to call the command.
func (c command) usage() string {
	if c.help != nil {
		return c.help()
	}
	lines := make([]string, len(c.lines))
	for i, l := range c.lines {
		lines[i] = strings.TrimSpace("usage: sundry "+c.name+" "+l.arguments) + "\n\n" +
			strings.ToUpper(l.does[:1]) + l.does[1:] + "."
	}
	return strings.Join(lines, "\n")
}

// noArguments parses the arguments of a command that takes none.
func noArguments(act action) func([]string) (action, error) {
	return func(args []string) (action, error) {
		if len(args) > 0 {
			return nil, fmt.Errorf("this command takes nothing more: %q", args[0])
		}
		return act, nil
	}
}

// usage lists every command.
func usage(all []command) string {
	var text strings.Builder
	text.WriteString("usage: sundry [command]\n\n")
	columns := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	for _, c := range all {
		if c.apart {
			_, _ = fmt.Fprintln(columns) // a strings.Builder never fails
		}
		name := c.name
		if name == "" {
			name = "(none)"
		}
		for _, l := range c.lines {
			_, _ = fmt.Fprintf(columns, "  %s\t%s\n", strings.TrimSpace(name+" "+l.arguments), l.does)
		}
	}
	_ = columns.Flush()
	return text.String()
}
