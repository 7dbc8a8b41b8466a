package bootstrap

import (
	"context"
	"fmt"
)

// Verify checks the invariants that must always hold, and returns one line per violation.
func (a *App) Verify(ctx context.Context) ([]string, error) {
	var all []string
	for _, check := range a.verifiers {
		lines, err := check(ctx)
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		all = append(all, lines...)
	}
	return all, nil
}
