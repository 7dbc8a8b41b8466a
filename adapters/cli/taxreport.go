package cli

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// taxReportCommand is `sundry tax-report FROM UNTIL`.
type taxReportCommand struct{ from, until time.Time }

const taxReportUsage = `usage: sundry tax-report FROM UNTIL

Writes what the documents from FROM up to, and without, UNTIL sum to, as CSV. Both are days in UTC: the last quarter of
2026 is
  sundry tax-report 2026-10-01 2027-01-01`

func parseTaxReport(args []string) (action, error) {
	c, err := parseTaxReportCommand(args)
	if err != nil {
		return nil, err
	}
	return c.run, nil
}

func parseTaxReportCommand(args []string) (c taxReportCommand, err error) {
	if len(args) != 2 {
		return c, errors.New(taxReportUsage)
	}
	var fromErr, untilErr error
	c.from, fromErr = parseDay("FROM", args[0])
	c.until, untilErr = parseDay("UNTIL", args[1])
	if fromErr == nil && untilErr == nil && !c.from.Before(c.until) {
		return c, fmt.Errorf("FROM must be before UNTIL: %s is not before %s", args[0], args[1])
	}
	return c, errors.Join(fromErr, untilErr)
}

// parseDay reads the beginning of a day in UTC.
func parseDay(name, text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1970 {
		return day, fmt.Errorf("%s must be a day such as 2026-10-01: %q is none", name, text)
	}
	return day, nil
}

// run writes the report. In a sandbox a note goes to Err, because the columns are the same as in live.
func (r taxReportCommand) run(ctx context.Context, c call) error {
	if !c.settings.Live {
		if _, err := fmt.Fprintln(c.Err, "TEST: these are documents of a sandbox. No money moved."); err != nil {
			return err
		}
	}
	return c.app.Documents.TaxReport(ctx, r.from, r.until, c.Out)
}
