package bootstrap

import (
	"context"
	"fmt"
)

// Verify checks the invariants that must always hold, and returns one line per violation.
func (a *App) Verify(ctx context.Context) ([]string, error) {
	return a.runVerifiers(ctx, func(v verifier) func(context.Context) ([]string, error) { return v.all })
}

// verifyRecent is Verify without what takes longer the more there is.
func (a *App) verifyRecent(ctx context.Context) ([]string, error) {
	return a.runVerifiers(ctx, func(v verifier) func(context.Context) ([]string, error) { return v.recent })
}

func (a *App) runVerifiers(ctx context.Context, part func(verifier) func(context.Context) ([]string, error)) (
	[]string, error) {
	var all []string
	for _, v := range a.verifiers {
		err := a.store.Snapshot(ctx, func(ctx context.Context) error {
			lines, err := part(v)(ctx)
			all = append(all, lines...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	return all, nil
}
