package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/document"
	"sundry/modules/invoicing"
)

// taxReportCommand is `sundry tax-report [--cell FILE …] FROM UNTIL`.
type taxReportCommand struct {
	from, until time.Time
	cells       []string
}

const taxReportUsage = `usage: sundry tax-report [--cell FILE …] FROM UNTIL

Writes what the documents from FROM up to, and without, UNTIL sum to, as CSV. Both are days in UTC: the last quarter of
2026 is
  sundry tax-report 2026-10-01 2027-01-01

` + cellHelp + ` Their documents are summed up as those of one`

func parseTaxReport(args []string) (action, error) {
	c, err := parseTaxReportCommand(args)
	if err != nil {
		return nil, err
	}
	return c.run, nil
}

func parseTaxReportCommand(args []string) (c taxReportCommand, err error) {
	if c.cells, args, err = parseCells("tax-report", taxReportUsage, args); err != nil {
		return c, err
	}
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
	report, live := document.TaxReport{}, false
	err := c.eachCell(ctx, r.cells, func(app *App) error {
		live = app.Settings.Live
		return app.Documents.SumTaxes(ctx, r.from, r.until, report)
	})
	if err != nil {
		return err
	}
	if !live {
		if _, err := fmt.Fprintln(c.Err, "TEST: these are documents of a sandbox. No money moved."); err != nil {
			return err
		}
	}
	return invoicing.WriteTaxReport(report, c.Out)
}
