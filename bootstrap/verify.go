package bootstrap

import (
	"context"
	"fmt"

	"sundry/ports"
)

// Verify checks the invariants that must always hold, and returns one line per violation.
func (a *App) Verify(ctx context.Context) ([]string, error) {
	found, err := a.verifyAll(ctx)
	var lines []string
	for _, v := range found {
		lines = append(lines, v.lines...)
	}
	return lines, err
}

func (a *App) verifyAll(ctx context.Context) ([]violations, error) {
	return a.runVerifiers(ports.AllowStale(ctx), func(v verifier) func(context.Context) ([]string, error) { return v.all })
}

// verifyRecent is verifyAll without what takes longer the more there is.
func (a *App) verifyRecent(ctx context.Context) ([]violations, error) {
	return a.runVerifiers(ctx, func(v verifier) func(context.Context) ([]string, error) { return v.recent })
}

// violations are those of an area, a line each.
type violations struct {
	area  string
	lines []string
}

// runVerifiers returns the violations of every area, also of those without any.
func (a *App) runVerifiers(ctx context.Context, part func(verifier) func(context.Context) ([]string, error)) (
	[]violations, error) {
	var all []violations
	for _, v := range a.verifiers {
		var lines []string
		err := a.store.Snapshot(ctx, func(ctx context.Context) (err error) {
			lines, err = part(v)(ctx)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		all = append(all, violations{v.area, lines})
	}
	return all, nil
}
