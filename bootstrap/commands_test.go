package bootstrap

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/adapters/cli"
	"sundry/adapters/gormstore"
	"sundry/adapters/httpapi/strictjson"
	"sundry/config"
)

func TestTaxReport_NotesThatASandboxIsATest(t *testing.T) {
	t.Parallel()
	cfg, err := config.FromMap(map[string]string{"DATA_DIR": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var out, notes strings.Builder
	err = cli.Run(t.Context(), []string{"tax-report", "2026-10-01", "2027-01-01"}, cli.Host{Out: &out, Err: &notes,
		Open: func(ctx context.Context) (*cli.App, error) {
			a, err := New(ctx, cfg, slog.New(slog.DiscardHandler), Options{})
			if err != nil {
				return nil, err
			}
			return a.ForCommands(), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "country,treatment,taxId,") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("wrote %q", out.String())
	}
	if !strings.HasPrefix(notes.String(), "TEST") {
		t.Errorf("noted %q", notes.String())
	}
}

func TestCatalogImport_ListsEveryFaultOfAFile(t *testing.T) {
	t.Parallel()
	cfg, err := config.FromMap(map[string]string{"DATA_DIR": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for document, want := range map[string][]string{
		`{"Version":1,"listings":[{"key":"one","priceInCents":1e30,"title":1}]}`: {
			"Version: This object has no such member. Did you mean \"version\"?", "listings[0].priceInCents: ",
			"listings[0].title: ",
		},
		`{"version":1,"listings":[{"key":"one"}],"listings":[]}`:              {"listings: "},
		`{"version":2,"listings":[{"key":"b_"}]}`:                             {"version: ", "listings[0].key: "},
		`{"version":1,"listings":[]} {}`:                                      {"body: "},
		"{\"version\":1,\"listings\":[{\"key\":\"one\",\"title\":\"\xff\"}]}": {"listings[0].title: "},
		``: {"body: "},
	} {
		err = cli.Run(t.Context(), []string{"catalog", "import", "-"}, cli.Host{
			In: strings.NewReader(document), ReadJSON: strictjson.Decode,
			Open: func(ctx context.Context) (*cli.App, error) {
				a, err := New(ctx, cfg, slog.New(slog.DiscardHandler), Options{})
				if err != nil {
					return nil, err
				}
				return a.ForCommands(), nil
			},
		})
		if err == nil {
			t.Errorf("%s is imported", document)
			continue
		}
		lines := strings.Split(err.Error(), "\n  ")
		if len(lines) != len(want)+1 {
			t.Errorf("%s: %q, want %d faults", document, lines, len(want))
			continue
		}
		for i, line := range lines[1:] {
			if !strings.HasPrefix(line, want[i]) {
				t.Errorf("%s: fault %d is %q, want %q", document, i, line, want[i])
			}
		}
	}
}

// Not parallel: it changes the folder of the process.
func TestCommandsNeedADatabase(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	for _, command := range []string{
		"verify", "figures", "tax-report 2026-10-01 2027-01-01", "reconcile 2026-11-23T21:00:00Z", "admin accounts",
		"catalog export f", "import stripe", "secrets rotate", "cell claim", "backup f",
	} {
		err := run(t.Context(), strings.Fields(command), Options{})
		path := filepath.Join(folder, "data", "sundry.db")
		if !errors.Is(err, gormstore.ErrNoDatabase) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error that names the database", command, err)
		}
		wantEmpty(t, command, folder)
	}
}

// Not parallel: it changes the folder of the process.
func TestMigrateCheckMakesNothing(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	if err := run(t.Context(), []string{"migrate", "--check"}, Options{}); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, "migrate --check", folder)
	if err := run(t.Context(), []string{"migrate"}, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"verify"}, Options{}); err != nil {
		t.Errorf("verify after migrate: %v", err)
	}
}

func wantEmpty(t *testing.T, command, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("%s left %v, %v; want nothing", command, left, err)
	}
}

// Not parallel: it changes the folder of the process.
func TestCommandsSayThatTheyWereInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := run(stopped, []string{"migrate"}, Options{}); !errors.Is(err, errInterrupted) {
		t.Errorf("got %v, want %v", err, errInterrupted)
	}
}
