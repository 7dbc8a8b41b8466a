package bootstrap

import (
	"context"
	"fmt"
	"time"

	"sundry/ports"
)

const (
	// wholeCheck bounds a regular check of all rows.
	wholeCheck = time.Minute
	// recentRows bounds the age of the rows that it checks where all of them would take longer.
	recentRows = time.Hour
)

// Verify checks the invariants that must always hold, and returns one line per violation.
func (a *App) Verify(ctx context.Context) ([]string, error) { return linesOf(a.verifyAll(ctx)) }

// VerifySince is Verify for what was made since a time. It leaves out what only all rows can tell: sums over all of
// them, and gaps.
func (a *App) VerifySince(ctx context.Context, since time.Time) ([]string, error) {
	return linesOf(a.runVerifiers(ports.AllowStale(ctx), since, recentPart))
}

func linesOf(found []violations, err error) (lines []string, _ error) {
	for _, v := range found {
		lines = append(lines, v.lines...)
	}
	return lines, err
}

func (a *App) verifyAll(ctx context.Context) ([]violations, error) {
	return a.runVerifiers(ports.AllowStale(ctx), time.Time{}, func(v verifier) checker { return v.all })
}

// verifyRecent is the regular check. It reads all rows but those of counted use as long as a minute is enough for them,
// and from then on those of the last hour.
func (a *App) verifyRecent(ctx context.Context) ([]violations, error) {
	if !a.manyRows {
		whole, cancel := context.WithTimeout(ctx, wholeCheck)
		defer cancel()
		found, err := a.runVerifiers(whole, time.Time{}, recentPart)
		if whole.Err() == nil || ctx.Err() != nil {
			return found, err
		}
		a.manyRows = true
	}
	return a.runVerifiers(ctx, a.clock.Real().Add(-recentRows), recentPart)
}

func recentPart(v verifier) checker { return v.recent }

// violations holds the violations of an area, a line each.
type violations struct {
	area  string
	lines []string
}

// runVerifiers returns the violations of every area, also of those without any, among the rows made since a time.
func (a *App) runVerifiers(
	ctx context.Context, since time.Time, part func(verifier) checker,
) ([]violations, error) {
	var all []violations
	for _, v := range a.verifiers {
		var lines []string
		err := a.store.Snapshot(ctx, since, func(ctx context.Context) (err error) {
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
