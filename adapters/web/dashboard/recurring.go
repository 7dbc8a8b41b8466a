package dashboard

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/civil"
	"sundry/core/subscription"
	"sundry/modules/subscriptions"
	"sundry/ports"
)

// movementKinds are the movements of the MRR in the order of their columns.
var movementKinds = []struct {
	kind  subscription.MovementKind
	label ui.Words
}{
	{subscription.NewRevenue, "New"}, {subscription.Expansion, "Expansion"}, {subscription.Reactivation, "Reactivation"},
	{subscription.Contraction, "Contraction"}, {subscription.Churn, "Churn"},
}

const recurringPath = base + "/subscriptions/revenue"

// recurring shows the monthly recurring revenue, what moved it, churn and trials, in one currency.
func (r *Routes) recurring(c *fiber.Ctx, v *visit) error {
	s, err := r.askedSpan(c, v)
	if err != nil {
		return err
	}
	both, err := r.Subscriptions.Figures(ports.AllowStale(c.UserContext()), v.account(), s.withBefore())
	if err != nil {
		return err
	}
	p := ui.Page{
		Nav: base + "/subscriptions", Title: "Recurring revenue",
		Lead: "What your subscriptions bring in a month: prices after discounts, a year as 12 months. Trials and pauses " +
			"count nothing.",
		Up: &ui.Action{Label: "Subscriptions", Href: base + "/subscriptions"},
	}
	if len(both.Currencies) == 0 {
		p.Parts = []ui.Part{ui.TablePart("", ui.Table{Empty: &noRecurring})}
		return r.send(c, v, p)
	}
	var currencies []string
	chosen := 0
	for i, one := range both.Currencies {
		currencies = append(currencies, string(one.Currency))
		if currencies[i] == c.Query("currency") {
			chosen = i
		}
	}
	f := shownFigures{v, both.Currencies[chosen], currencies[chosen]}
	address := func(days, currency string) string {
		return recurringPath + "?" + url.Values{"days": {days}, "currency": {currency}}.Encode()
	}
	chart := f.chart(s)
	chart.Groups = append([]ui.ChoiceGroup{
		timeChoices(s, func(choice string) string { return address(choice, f.currency) }),
	}, currencyChoices(currencies, f.currency, func(one string) string { return address(s.choice, one) })...)
	p.Parts = append(f.stats(f.figures.Since(s.whole().from), s.label), ui.ChartPart("Monthly recurring revenue",
		ui.Data(v.daysOf(s)), chart))
	return r.send(c, v, p)
}

// noRecurring leads to the first subscription.
var noRecurring = ui.Empty{
	Title: "No recurring revenue yet", Text: "Your first subscription appears here.",
	Action: &ui.Action{
		Label: "New subscription listing", Href: base + "/listings/new?type=SUBSCRIPTION", Tone: "primary",
	},
}

// shownFigures are figures of one currency on their way to a page.
type shownFigures struct {
	*visit
	figures  subscriptions.CurrencyFigures
	currency string
}

// at returns the state at the end of a day.
func (f shownFigures) at(day civil.Date) subscriptions.Standing {
	standing := f.figures.Opening
	for _, d := range f.figures.Days {
		if d.Day <= day {
			standing = d.Closing
		}
	}
	return standing
}

// movesOf adds up the movements of some days by kind.
func (f shownFigures) movesOf(from, to civil.Date) map[subscription.MovementKind]int64 {
	sums := map[subscription.MovementKind]int64{}
	for _, d := range f.figures.Days {
		if d.Day >= from && d.Day <= to {
			for kind, move := range d.Moves {
				sums[kind] += move.Minor
			}
		}
	}
	return sums
}

func (f shownFigures) chart(s span) ui.Chart {
	chart := ui.Chart{
		Now: s.label, Before: f.say("The %s before", s.label), None: "No recurring revenue in these days.",
		Scale: func(minor int64) string { return withoutCents(f.price(minor, f.currency)) },
		Table: ui.Table{Label: "Monthly recurring revenue", Heads: []ui.Head{{Label: "When"}, {Label: "MRR", Num: true}}},
	}
	for _, kind := range movementKinds {
		chart.Table.Heads = append(chart.Table.Heads, ui.Head{Label: kind.label, Num: true})
	}
	for _, col := range s.columns {
		value, before := f.at(col.to).MRR, f.at(col.beforeTo).MRR
		chart.Points = append(chart.Points, ui.Point{
			Value: value, Before: before, Name: col.name,
			Title: f.text("%s: %s (before: %s)", col.long, f.price(value, f.currency), f.price(before, f.currency)),
		})
		sums := f.movesOf(col.from, col.to)
		if len(sums) == 0 {
			continue
		}
		row := ui.Row{Cells: []ui.Cell{ui.Text(col.long), ui.Number(f.price(value, f.currency))}}
		for _, kind := range movementKinds {
			row.Cells = append(row.Cells, ui.Number(f.price(sums[kind.kind], f.currency)))
		}
		chart.Table.Rows = append(chart.Table.Rows, row)
	}
	slices.Reverse(chart.Table.Rows)
	return chart
}

// stats shows the figures of a time.
func (f shownFigures) stats(figures subscriptions.CurrencyFigures, label ui.Words) []ui.Part {
	closing := figures.Closing()
	main := []ui.Stat{
		{
			Label: "MRR", Value: f.price(closing.MRR, f.currency),
			Note: f.trend(closing.MRR, figures.Opening.MRR, label),
		},
		{Label: "Paying subscriptions", Value: strconv.FormatInt(closing.Subscriptions, 10)},
		{
			Label: f.say("Churn rate, last %s", label), Value: percentOf(figures.ChurnRate()),
			Note: "Of those that ran at its start",
		},
		{
			Label: f.say("Trial conversion, last %s", label), Value: percentOf(figures.TrialConversion()),
			Note: "Of the trials that ended",
		},
	}
	var moved []ui.Stat
	for _, kind := range movementKinds {
		moved = append(moved, ui.Stat{
			Label: kind.label, Value: f.price(figures.Total[kind.kind].Minor, f.currency),
			Note: f.plural(int(figures.Total[kind.kind].Count), "%d subscription", "%d subscriptions"),
		})
	}
	return []ui.Part{
		{Kind: "stats", Data: main}, {Kind: "stats", Title: f.say("Movements, last %s", label), Data: moved},
	}
}

// percentOf writes a share in percent; a dash where the whole is zero.
func percentOf(rate float64, ok bool) string {
	if !ok {
		return "–"
	}
	return strconv.FormatFloat(rate*100, 'f', 1, 64) + "%"
}
