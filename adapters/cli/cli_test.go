package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/webhook"
)

// faultyHost fails whenever a command asks it for something.
func faultyHost(out *strings.Builder) Host {
	return Host{
		Out:      out,
		ReadJSON: json.Unmarshal,
		Settings: func() (Settings, error) { return Settings{}, errAsked },
		Open:     func(context.Context) (*App, error) { return nil, errAsked },
		OpenOrCreate: func(context.Context) (*App, error) {
			return nil, fmt.Errorf("%w: %w", errAsked, errAskedToCreate)
		},
	}
}

var (
	errAsked         = errors.New("asked for settings")
	errAskedToCreate = errors.New("asked to make a database")
)

func TestRun_RefusesWhatIsNoCommand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"sell"}, {"sell", "x"}, {"serve", "worker"}, {"version", "2"}, {"verify", "--fix"}, {"catalog", "--x"},
		{"backup"}, {"backup", "a", "b"}, {"reconcile"}, {"reconcile", "yesterday"},
		{"reconcile", "2999-11-23T21:00:00Z"},
		{"reconcile", "--fix", "2026-11-23T21:00:00Z"}, {"admin"}, {"admin", "delete", "a@b.c"},
		{"admin", "suspend", "a@b.c"}, {"admin", "limits"}, {"admin", "limits", "a@b.c", "listings=many"},
		{"admin", "accounts", "a", "b"}, {"catalog", "import", "no such file"}, {"catalog", "import", "cli_test.go"},
	} {
		var out strings.Builder
		err := Run(t.Context(), args, faultyHost(&out))
		if err == nil || errors.Is(err, errAsked) || out.Len() > 0 {
			t.Errorf("%v: error %v, output %q", args, err, out.String())
		}
	}
	for _, command := range []string{"sell", "admin sell", "trigger sell", "secrets sell", "cell sell", "migrate sell"} {
		err := Run(t.Context(), strings.Fields(command), Host{})
		if err == nil || !strings.Contains(err.Error(), `"sell"`) {
			t.Errorf("%s: got %v, want \"sell\" in it", command, err)
		}
	}
}

func TestRun_NamesEveryFaultOfLimits(t *testing.T) {
	t.Parallel()
	err := Run(t.Context(), []string{"admin", "limits", "a@b.c", "listings=many", "sessions=5", "things=1"}, Host{})
	for _, fault := range []string{"listings: A limit is", "things: There is no such limit"} {
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("got %v, want %q in it", err, fault)
		}
	}
}

func TestRun_OpensWhatTheCommandNeeds(t *testing.T) {
	t.Parallel()
	for command, asks := range map[string]bool{
		"version": false, "help": false, "--help": false, "healthcheck": true, "": true, "serve": true, "worker": true,
		"migrate": true, "seed": true, "verify": true, "figures": true, "catalog export f": true,
		"admin accounts": true, "admin suspend a@b.c spam": true, "admin limits a@b.c listings=5": true, "admin audit": true,
		"tax-report 2026-10-01 2027-01-01": true, "reconcile --apply 2025-11-23T21:00:00Z": true,
	} {
		var out strings.Builder
		args := strings.Fields(command)
		if err := Run(t.Context(), args, faultyHost(&out)); errors.Is(err, errAsked) != asks {
			t.Errorf("%q: error %v, want it to ask: %t", command, err, asks)
		}
		if !asks && out.Len() == 0 {
			t.Errorf("%q printed nothing", command)
		}
	}
}

func TestRun_CreatesTheDatabase(t *testing.T) {
	t.Parallel()
	for command, creates := range map[string]bool{
		"": true, "serve": true, "worker": true, "migrate": true, "seed": true, "verify": false, "figures": false,
		"catalog export f": false, "admin accounts": false, "tax-report 2026-10-01 2027-01-01": false,
		"reconcile 2026-11-23T21:00:00Z": false, "secrets rotate": false, "import stripe": false, "cell claim": false,
	} {
		err := Run(t.Context(), strings.Fields(command), faultyHost(&strings.Builder{}))
		if !errors.Is(err, errAsked) || errors.Is(err, errAskedToCreate) != creates {
			t.Errorf("%q: error %v, want it to make a database: %t", command, err, creates)
		}
	}
}

func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		if c.name == "" {
			continue
		}
		for _, args := range [][]string{{c.name, "--help"}, {c.name, "-h"}, {c.name, "x", "--help"}, {"help", c.name}} {
			var out strings.Builder
			if err := Run(t.Context(), args, faultyHost(&out)); err != nil {
				t.Errorf("%v: %v", args, err)
			}
			if !strings.HasPrefix(out.String(), "usage: sundry "+c.name) || !strings.HasSuffix(out.String(), "\n") {
				t.Errorf("%v printed %q", args, out.String())
			}
		}
	}
	// An endpoint has to fail for days, and reports that reach the limit are refused unless they come at once.
	notMade := []string{"webhook_endpoint.disabled", "webhook_endpoint.test", "usage.limit_reached"}
	for _, known := range webhook.Catalogue() {
		name := string(known.Type)
		if made := slices.Contains(TriggerTypes(), name); made == slices.Contains(notMade, name) {
			t.Errorf("trigger makes %s: %v", name, made)
		}
	}
}

func TestRun_ClosesTheApp(t *testing.T) {
	t.Parallel()
	errClosed, errViolated := errors.New("closed"), errors.New("cannot verify")
	err := Run(t.Context(), []string{"verify"}, Host{Open: func(context.Context) (*App, error) {
		return &App{
			Verify: func(context.Context, time.Duration) ([]string, error) { return nil, errViolated },
			Close:  func() error { return errClosed },
		}, nil
	}})
	if !errors.Is(err, errClosed) || !errors.Is(err, errViolated) {
		t.Errorf("got %v, want both errors", err)
	}
}

// Deleting DATA_DIR would leave what a database elsewhere holds.
func TestServe_SaysHowToStartOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inDataDir bool
		seed      error
		want      string
	}{
		{true, nil, "Start over: stop, delete data, start again."},
		{false, nil, "Start over: stop, empty the database, start again."},
		{false, ErrDemoElsewhere, "The demo creator is in another cell."},
	} {
		var out strings.Builder
		err := printQuickStart(t.Context(), call{
			Host: Host{Out: &out}, app: &App{
				Listen: func(context.Context, Roles) error { return nil },
				Seed:   func(context.Context) (*Demo, error) { return nil, c.seed },
			},
			settings: Settings{DataDir: "data", DatabaseInDataDir: c.inDataDir, SeedsDemo: true},
		}, Roles{})
		if err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("printed %q, %v; want %q", out.String(), err, c.want)
		}
	}
}

func TestVerify_FailsWithViolations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		found []string
		want  string
		fails bool
	}{
		"none": {nil, "all invariants hold\n", false},
		"two":  {[]string{"a is not b", "c is not d"}, "a is not b\nc is not d\n", true},
	} {
		var out strings.Builder
		err := Run(t.Context(), []string{"verify"}, Host{Out: &out, Open: func(context.Context) (*App, error) {
			return &App{
				Verify: func(context.Context, time.Duration) ([]string, error) { return c.found, nil },
				Close:  func() error { return nil },
			}, nil
		}})
		if (err != nil) != c.fails || out.String() != c.want {
			t.Errorf("%s: printed %q, want %q; error %v", name, out.String(), c.want, err)
		}
	}
}

func TestReadmeListsTheCommands(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var named, known []string
	for _, found := range regexp.MustCompile("`sundry ([a-z-]+)").FindAllStringSubmatch(string(readme), -1) {
		named = append(named, found[1])
	}
	for _, c := range commands() {
		if c.name == "" {
			continue
		}
		known = append(known, c.name)
		if !slices.Contains(named, c.name) {
			t.Errorf("README.md does not name `sundry %s`", c.name)
		}
	}
	for _, name := range named {
		if !slices.Contains(known, name) {
			t.Errorf("README.md names `sundry %s`, which is no command", name)
		}
	}
}

func TestUsageListsTheCommands(t *testing.T) {
	t.Parallel()
	text := usage(commands())
	for _, c := range commands() {
		for _, l := range c.lines {
			want := strings.TrimSpace(c.name + " " + l.arguments)
			if !strings.Contains(text, "\n  "+want) || !strings.Contains(text, "  "+l.does+"\n") {
				t.Errorf("the usage does not have %q with %q:\n%s", want, l.does, text)
			}
		}
	}
}
