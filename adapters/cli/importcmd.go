package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	core "sundry/core/imports"
	"sundry/modules/imports"
)

const importUsage = `usage: sundry import stripe [--dry-run] [--take-over] [--external-id KEY] [EMAIL]

Carries over what the Stripe account of STRIPE_SECRET_KEY sells and bills by itself: products as listings, prices as
plans, customers, the card that each is charged with (by reference: it stays at Stripe), and running subscriptions with
their billing date, trial, quantity, credit and discount. Prints what cannot be carried over, and why. It may be stopped
and run again at any time: what is carried over already is not again.

  --dry-run          find out what would be carried over, and write nothing
  --take-over        carry subscriptions over, too: each is set to end at Stripe with its current period, and is charged
                     by this service from then on
  --external-id KEY  the pair of Stripe's metadata that is your own id of a customer; else their id at Stripe is
  EMAIL              the account to import into, where there are several`

// importCommand is `sundry import stripe`.
type importCommand struct {
	options imports.Options
	account string
}

func importRow() command {
	return command{
		name: "import", needs: theApp, parse: parseImport, help: text(importUsage),
		lines: []line{
			{"stripe [EMAIL]", "carry over products, customers, saved cards and subscriptions of Stripe (import --help)"},
		},
	}
}

func parseImport(args []string) (action, error) {
	var i importCommand
	flags := flag.NewFlagSet("import", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&i.options.DryRun, "dry-run", false, "")
	flags.BoolVar(&i.options.TakeOver, "take-over", false, "")
	flags.StringVar(&i.options.ExternalID, "external-id", "", "")
	plain, err := parseMixed(flags, args)
	if err != nil {
		return nil, fmt.Errorf("%w\n\n%s", err, importUsage)
	}
	if len(plain) < 1 || len(plain) > 2 || plain[0] != "stripe" {
		return nil, errors.New(importUsage)
	}
	i.options.Provider = plain[0]
	if len(plain) == 2 {
		i.account = plain[1]
	}
	return i.run, nil
}

func (i importCommand) run(ctx context.Context, c call) error {
	creatorID, err := accountID(ctx, c.app, i.account)
	if err != nil {
		return err
	}
	summary, err := c.app.Imports.Run(ctx, creatorID, i.options, func(n imports.Note) error {
		_, err := fmt.Fprintf(c.Out, "%s %s: %s\n", n.Kind, n.SourceID, n.Text)
		return err
	})
	if errors.Is(err, imports.ErrNoBilling) {
		return errors.New("nothing to import from: set STRIPE_SECRET_KEY, and the other settings of Stripe")
	}
	if printing := i.print(c.Out, summary); err == nil {
		err = printing
	}
	return err
}

// print prints the counts of each kind, also of a run that was interrupted.
func (i importCommand) print(out io.Writer, summary imports.Summary) error {
	carried := "carried over"
	if i.options.DryRun {
		carried = "to carry over"
	}
	for _, kind := range core.Kinds() {
		count := summary[kind]
		if count == nil {
			continue
		}
		line := fmt.Sprintf("%ss: %d %s, %d before, %d not", kind, count.Carried, carried, count.Before, count.Refused)
		if count.Waiting > 0 && i.options.TakeOver {
			line += fmt.Sprintf(", %d to take over", count.Waiting)
		} else if count.Waiting > 0 {
			line += fmt.Sprintf(", %d wait for --take-over", count.Waiting)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}
