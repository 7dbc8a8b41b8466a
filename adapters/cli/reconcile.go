package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sundry/modules/payments"
)

const reconcileUsage = `usage: sundry reconcile [--apply] SINCE

For a database that was restored to a point in time. Compares what the payment provider charged, refunded and paid out
since then with the books, and prints each difference with what it would do. With --apply it does it:
  settled          the payment, or the checkout session of a lost one, is completed as if nothing had happened
  refunded         nothing here can be completed, so the buyer's money goes back
  refund recorded  the money went back already, and the books are to say so
  payout recorded  the money was paid out already, and the books are to say so
  left open        a person has to decide; the command exits with 1

SINCE is the recovered point, as 2026-11-23T21:00:00Z. Run it before anything is served or worked on, without --apply
first. It may be repeated: what was done is not found again. What else is to do is in docs/recovery.md`

// reconcileCommand is `sundry reconcile [--apply] SINCE`.
type reconcileCommand struct {
	since time.Time
	apply bool
}

func reconcileRow() command {
	return command{
		name: "reconcile", needs: theApp, parse: parseReconcile, help: text(reconcileUsage),
		lines: []line{{
			"[--apply] SINCE", "settle or refund what was charged after the point that a database was restored to",
		}},
	}
}

func parseReconcile(args []string) (action, error) {
	c := reconcileCommand{}
	if at := slices.Index(args, "--apply"); at >= 0 {
		c.apply, args = true, slices.Delete(slices.Clone(args), at, at+1)
	}
	if len(args) != 1 {
		return nil, errors.New(reconcileUsage)
	}
	var err error
	if c.since, err = time.Parse(time.RFC3339, args[0]); err != nil {
		return nil, fmt.Errorf("SINCE must be a time such as 2026-11-23T21:00:00Z: %q is none", args[0])
	}
	if now := time.Now(); c.since.After(now) { // nothing would be found since then
		return nil, fmt.Errorf("SINCE must be in the past: now is %s", now.UTC().Format(time.RFC3339))
	}
	return c.run, nil
}

func (r reconcileCommand) run(ctx context.Context, c call) error {
	if names := c.app.Reconciliation.Unlisted(); len(names) > 0 {
		if _, err := fmt.Fprintf(c.Err, "not compared, as it lists no charges: %s\n", strings.Join(names, ", ")); err != nil {
			return err
		}
	}
	found, open := 0, 0
	err := c.app.Reconciliation.Run(ctx, r.since, r.apply, func(f payments.Finding) error {
		found++
		if f.Remedy == payments.LeftOpen {
			open++
		}
		_, err := fmt.Fprintf(c.Out, "%s %s %s of %s, account %s: %s: %s\n", f.ID, f.Amount.Typed(),
			strings.ToUpper(string(f.Amount.Currency)), f.At.Format(time.RFC3339), f.CreatorID, f.Remedy, f.Why)
		return err
	})
	if err != nil {
		return err
	}
	outcome := "nothing is different"
	switch {
	case found > 0 && r.apply:
		outcome = fmt.Sprintf("differences: %d, left open: %d", found, open)
	case found > 0:
		outcome = fmt.Sprintf("differences: %d; nothing was changed: add --apply to do this", found)
	}
	if _, err := fmt.Fprintln(c.Out, outcome); err != nil {
		return err
	}
	if open > 0 {
		return fmt.Errorf("left open: %d", open)
	}
	return nil
}
