package bootstrap

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"sundry/adapters/cli"
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
