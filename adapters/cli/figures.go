package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"sundry/core/money"
	"sundry/core/operator"
	"sundry/core/subscription"
	"sundry/ports"
)

const figuresUsage = `usage: sundry figures [--cell FILE …]

Prints the number of accounts and of their listings, what buyers have paid, and what active and past due subscriptions
bring in a month.

` + cellHelp + ` Each cell has a line, and the last one is their sum.`

func figuresRow() command {
	return command{
		name: "figures", parse: parseFigures, help: text(figuresUsage),
		lines: []line{{"", "print accounts, sales and recurring revenue, of one cell or of several and in all (figures --help)"}},
	}
}

func parseFigures(args []string) (action, error) {
	files, rest, err := parseCells("figures", figuresUsage, args)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("this command takes nothing more: %q", rest[0])
	}
	return func(ctx context.Context, c call) error { return printFigures(ctx, c, files) }, nil
}

// figures sum up accounts.
type figures struct {
	accounts, listings, subscriptions int64
	sales, monthly                    map[money.Currency]int64
}

func newFigures() figures {
	return figures{sales: map[money.Currency]int64{}, monthly: map[money.Currency]int64{}}
}

func printFigures(ctx context.Context, c call, files []string) error {
	out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(out, "CELL\tACCOUNTS\tLISTINGS\tSALES\tSUBSCRIPTIONS\tA MONTH") // Flush returns its errors
	all := newFigures()
	err := c.eachCell(ctx, files, func(app *App) error {
		one, err := figuresOf(ctx, app)
		if err != nil {
			return err
		}
		all.add(one)
		one.print(out, fmt.Sprint(app.Settings.Cell))
		return nil
	})
	if err != nil {
		return err
	}
	if len(files) > 0 {
		all.print(out, "all")
	}
	return out.Flush()
}

func figuresOf(ctx context.Context, app *App) (figures, error) {
	f := newFigures()
	accounts, err := ports.AllPages(func(page ports.Page) (ports.List[operator.Account], error) {
		return app.Operator.Accounts(ctx, "", page)
	})
	if err != nil {
		return f, err
	}
	for _, a := range accounts {
		f.accounts++
		f.listings += a.Listings
		for _, sold := range a.Sales {
			f.sales[sold.Currency] += sold.Minor
		}
	}
	recurring, err := app.Recurring(ctx)
	f.monthly = recurring.Monthly
	for _, status := range []subscription.Status{subscription.StatusActive, subscription.StatusPastDue} {
		f.subscriptions += int64(recurring.Counts[status])
	}
	return f, err
}

func (f *figures) add(other figures) {
	f.accounts += other.accounts
	f.listings += other.listings
	f.subscriptions += other.subscriptions
	for currency, minor := range other.sales {
		f.sales[currency] += minor
	}
	for currency, minor := range other.monthly {
		f.monthly[currency] += minor
	}
}

func (f *figures) print(out *tabwriter.Writer, name string) {
	_, _ = fmt.Fprintf(out, "%s\t%d\t%d\t%s\t%d\t%s\n", name, f.accounts, f.listings, amounts(f.sales), f.subscriptions,
		amounts(f.monthly))
}

// amounts writes sums by currency.
func amounts(sums map[money.Currency]int64) string {
	var texts []string
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		amount := money.Amount{Minor: sums[currency], Currency: currency}
		texts = append(texts, amount.Typed()+" "+strings.ToUpper(string(currency)))
	}
	if len(texts) == 0 {
		return "nothing"
	}
	return strings.Join(texts, ", ")
}
