package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/modules/subscriptions"
)

// hostOfCells has a cell for each file: its number, its environment, and the violations of its invariants.
func hostOfCells(out *strings.Builder, closed *int) Host {
	open := func(cell id.Cell, live bool, violations ...string) *App {
		return &App{
			Settings:  Settings{Cell: cell, Live: live},
			Verify:    func(context.Context, time.Duration) ([]string, error) { return violations, nil },
			Recurring: func(context.Context) (subscriptions.Recurring, error) { return subscriptions.Recurring{}, nil },
			Close:     func() error { *closed++; return nil },
		}
	}
	return Host{Out: out, Err: out, OpenCell: func(_ context.Context, file string) (*App, error) {
		switch file {
		case "a":
			return open(0, false), nil
		case "b":
			return open(1, false, "x is not y"), nil
		case "again":
			return open(0, false), nil
		case "live":
			return open(2, true), nil
		}
		return nil, errors.New("no such file")
	}}
}

func TestVerify_OfSeveralCells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want, fault string }{
		"one that holds":    {"--cell a", "cell 0: all invariants hold\n", ""},
		"one that does not": {"--cell a --cell=b", "cell 0: all invariants hold\ncell 1: x is not y\n", "violations of invariants: 1"},
		"one twice":         {"--cell a --cell again", "cell 0: all invariants hold\n", "again: it is cell 0, as a is"},
		"sandbox and live":  {"--cell a --cell live", "cell 0: all invariants hold\n", "live: it is of another environment"},
		"a missing file":    {"--cell b --cell missing", "cell 1: x is not y\n", "missing: no such file\nviolations of invariants: 1"},
	} {
		var out strings.Builder
		opened, closed := strings.Count(c.args, "--cell")-strings.Count(c.args, "missing"), 0
		err := Run(t.Context(), append([]string{"verify"}, strings.Fields(c.args)...), hostOfCells(&out, &closed))
		if out.String() != c.want || (err != nil) != (c.fault != "") || err != nil && !strings.HasPrefix(err.Error(), c.fault) {
			t.Errorf("%s: printed %q, want %q; error %v, want %q", name, out.String(), c.want, err, c.fault)
		}
		if closed != opened {
			t.Errorf("%s: %d cells are closed, want %d", name, closed, opened)
		}
	}
}
