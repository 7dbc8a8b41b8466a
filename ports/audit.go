package ports

import (
	"context"
	"fmt"
)

// maxViolations bounds how many lines of one kind `sundry verify` lists.
const maxViolations = 100

// Violation is the line of `sundry verify` about what breaks one promise, a format of package fmt for the ids.
// docs/verify.md has the cause and the cure of each.
type Violation string

// Of returns the line about these ids.
func (v Violation) Of(ids ...any) string { return fmt.Sprintf(string(v), ids...) }

// Check is one promise that `sundry verify` checks.
type Check struct {
	// Find returns the ids of what breaks it, at most limit.
	Find func(ctx context.Context, limit int) ([]string, error)
	// Message is the line about each.
	Message Violation
}

// Checks are the promises of one module.
type Checks []Check

// Run returns one line per violation.
func (all Checks) Run(ctx context.Context) ([]string, error) {
	var lines []string
	for _, check := range all {
		ids, err := check.Find(ctx, maxViolations)
		if err != nil {
			return nil, fmt.Errorf("check that no %q: %w", check.Message, err)
		}
		for _, id := range ids {
			lines = append(lines, check.Message.Of(id))
		}
	}
	return lines, nil
}
