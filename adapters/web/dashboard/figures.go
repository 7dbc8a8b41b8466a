package dashboard

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/civil"
	"sundry/core/ledger"
	"sundry/ports"
)

// span is a time that the figures are shown for, in columns of a day or a month, with the same time before.
type span struct {
	choice  string
	label   ui.Words
	today   civil.Date
	columns []column
}

// whole is the column of all columns.
func (s span) whole() column {
	first, last := s.columns[0], s.columns[len(s.columns)-1]
	return column{from: first.from, to: last.to, beforeFrom: first.beforeFrom, beforeTo: last.beforeTo}
}

// withBefore returns the days of all columns and those before.
func (s span) withBefore() civil.Days {
	return civil.Days{From: s.whole().beforeFrom, To: s.whole().to}
}

// column is a bar of a chart: its days, those of the time before, and its names.
type column struct {
	from, to             civil.Date
	beforeFrom, beforeTo civil.Date
	name, long           string
}

// spans are the choices, the second of which is the one at first.
var spans = []struct {
	choice string
	label  ui.Words
}{
	{"7", "7 days"}, {"30", "30 days"}, {"90", "90 days"}, {"12m", "12 months"},
}

// titled is the title of a chart of a figure, with the length of time that a column covers.
func (s span) titled() ui.Words {
	if s.choice == "12m" {
		return "%s by month"
	}
	return "%s by day"
}

// askedSpan returns the time that a request chooses, up to the account's day.
func (r *Routes) askedSpan(c *fiber.Ctx, v *visit) (span, error) {
	now, err := r.Clock.Now(c.UserContext(), v.account())
	if err != nil {
		return span{}, err
	}
	return v.spanOf(c.Query("days"), civil.DateIn(time.UTC, now)), nil
}

// spanOf returns the columns of a choice up to a day.
func (v *visit) spanOf(choice string, today civil.Date) span {
	s := span{choice: spans[1].choice, label: spans[1].label, today: today}
	for _, one := range spans {
		if one.choice == choice {
			s.choice, s.label = one.choice, one.label
		}
	}
	if n, err := strconv.Atoi(s.choice); err == nil {
		for day := today + 1 - civil.Date(n); day <= today; day++ { //nolint:gosec // at most 90
			before := day - civil.Date(n) //nolint:gosec // at most 90
			s.columns = append(s.columns, column{
				day, day, before, before, v.reader.ShortDay(dayOf(day)), v.reader.Date(dayOf(day)),
			})
		}
		return s
	}
	month := dayOf(today).AddDate(0, 0, 1-dayOf(today).Day())
	firstDay := func(months int) civil.Date { return civil.DateIn(time.UTC, month.AddDate(0, months, 0)) }
	for n := -11; n <= 0; n++ {
		at := month.AddDate(0, n, 0)
		s.columns = append(s.columns, column{
			firstDay(n), firstDay(n+1) - 1, firstDay(n - 12), firstDay(n-11) - 1, v.reader.ShortMonth(at),
			v.reader.Month(at),
		})
	}
	return s
}

// figureKind is one of the figures.
type figureKind struct {
	choice string
	label  ui.Words
	of     func(ledger.Figures) int64
}

// figureKinds lists the figures of a chart, in the order of the choices.
var figureKinds = []figureKind{
	{"gross", "Gross", func(f ledger.Figures) int64 { return f.Gross }},
	{"net", "Net", ledger.Figures.Net},
	{"refunds", "Refunds", func(f ledger.Figures) int64 { return f.Refunds }},
}

// timeChoices are the links to the other times.
func timeChoices(current span, href func(choice string) string) ui.ChoiceGroup {
	group := ui.ChoiceGroup{Label: "Time"}
	for _, one := range spans {
		group.Choices = append(group.Choices, ui.Choice{
			Label: one.label, Href: href(one.choice), Current: one.choice == current.choice,
		})
	}
	return group
}

// currencyChoices are the links to the other currencies; none where there are no others.
func currencyChoices(all []string, current string, href func(currency string) string) []ui.ChoiceGroup {
	if len(all) < 2 {
		return nil
	}
	group := ui.ChoiceGroup{Label: "Currency"}
	for _, one := range all {
		group.Choices = append(group.Choices, ui.Choice{
			Label: ui.Data(strings.ToUpper(one)), Href: href(one), Current: one == current,
		})
	}
	return []ui.ChoiceGroup{group}
}

// soldFigures renders the sales in one currency.
type soldFigures struct {
	*visit
	days     []ledger.DayFigures
	currency string
}

// salesParts shows the balance and what was sold, in one currency: the one that was chosen, or the busiest.
func (r *Routes) salesParts(c *fiber.Ctx, v *visit) ([]ui.Part, error) {
	ctx := c.UserContext()
	s, err := r.askedSpan(c, v)
	if err != nil {
		return nil, err
	}
	revenue, err := r.Treasury.Revenue(ports.AllowStale(ctx), v.account(), s.withBefore())
	if err != nil {
		return nil, err
	}
	currencies := busiest(revenue.Figures)
	f := soldFigures{visit: v, days: revenue.Figures, currency: c.Query("currency")}
	if !slices.Contains(currencies, f.currency) {
		f.currency = strings.Join(currencies[:min(len(currencies), 1)], "")
	}
	balance, err := r.balanceStats(ctx, v, &f.currency)
	if err != nil {
		return nil, err
	}
	kind := figureKinds[0]
	for _, one := range figureKinds {
		if one.choice == c.Query("figure") {
			kind = one
		}
	}
	address := func(days, figure, currency string) string {
		return base + "?" + url.Values{"days": {days}, "figure": {figure}, "currency": {currency}}.Encode() + "#sales"
	}
	kinds := ui.ChoiceGroup{Label: "Figure"}
	for _, one := range figureKinds {
		kinds.Choices = append(kinds.Choices, ui.Choice{
			Label: one.label, Href: address(s.choice, one.choice, f.currency), Current: one.choice == kind.choice,
		})
	}
	chart := f.chart(s, kind)
	chart.Groups = append([]ui.ChoiceGroup{
		timeChoices(s, func(choice string) string { return address(choice, kind.choice, f.currency) }), kinds,
	}, currencyChoices(currencies, f.currency, func(one string) string { return address(s.choice, kind.choice, one) })...)
	shown := ui.ChartPart(v.say(s.titled(), kind.label), ui.Data(v.daysOf(s)), chart)
	shown.Anchor = "sales"
	return []ui.Part{{Kind: "stats", Data: append(f.stats(s), balance...)}, shown}, nil
}

// daysOf writes the days of a span that have begun.
func (v *visit) daysOf(s span) string {
	whole := s.whole()
	return v.reader.Date(dayOf(whole.from)) + " – " + v.reader.Date(dayOf(min(whole.to, s.today)))
}

// sum adds up some days.
func (f soldFigures) sum(from, to civil.Date) (total ledger.Figures) {
	for _, d := range f.days {
		if string(d.Currency) == f.currency && d.Day >= from && d.Day <= to {
			total = total.Plus(d.Figures)
		}
	}
	return total
}

func (f soldFigures) chart(s span, kind figureKind) ui.Chart {
	chart := ui.Chart{
		Now: s.label, Before: f.say("The %s before", s.label), None: "No sales in these days.",
		Scale: func(minor int64) string { return withoutCents(f.price(minor, f.currency)) },
		Table: ui.Table{Label: "Sales", Heads: []ui.Head{
			{Label: "When"}, {Label: "Gross", Num: true}, {Label: "Refunds", Num: true}, {Label: "Net", Num: true},
			{Label: f.say("%s before", kind.label), Num: true},
		}},
	}
	for _, col := range s.columns {
		figures, before := f.sum(col.from, col.to), kind.of(f.sum(col.beforeFrom, col.beforeTo))
		value := kind.of(figures)
		chart.Points = append(chart.Points, ui.Point{
			Value: value, Before: before, Name: col.name,
			Title: f.text("%s: %s (before: %s)", col.long, f.price(value, f.currency), f.price(before, f.currency)),
		})
		if figures == (ledger.Figures{}) && before == 0 {
			continue
		}
		row := ui.Row{Cells: []ui.Cell{ui.Text(col.long)}}
		for _, minor := range []int64{figures.Gross, figures.Refunds, figures.Net(), before} {
			row.Cells = append(row.Cells, ui.Number(f.price(minor, f.currency)))
		}
		chart.Table.Rows = append(chart.Table.Rows, row)
	}
	return chart
}

// stats are the figures of a time.
func (f soldFigures) stats(s span) []ui.Stat {
	whole := s.whole()
	total, before := f.sum(whole.from, whole.to), f.sum(whole.beforeFrom, whole.beforeTo)
	return []ui.Stat{
		{
			Label: f.say("Gross, last %s", s.label), Value: f.price(total.Gross, f.currency),
			Note: f.trend(total.Gross, before.Gross, s.label), Href: base + "/orders",
		},
		{
			Label: f.say("Net, last %s", s.label), Value: f.price(total.Net(), f.currency),
			Note: "After refunds, tax and fees", Href: base + "/ledger",
		},
		{Label: f.say("Orders, last %s", s.label), Value: strconv.FormatInt(total.Sales, 10), Href: base + "/orders"},
	}
}

// balanceStats shows the balance in a currency; where none is given, in the first that there is.
func (r *Routes) balanceStats(ctx context.Context, v *visit, currency *string) ([]ui.Stat, error) {
	balances, err := r.Treasury.Balance(ctx, v.account())
	if err != nil {
		return nil, err
	}
	if *currency == "" && len(balances) > 0 {
		*currency = string(balances[0].Currency)
	}
	*currency = cmp.Or(*currency, "eur")
	var shown ledger.Balance
	for _, b := range balances {
		if string(b.Currency) == *currency {
			shown = b
		}
	}
	return []ui.Stat{
		{Label: "Available", Value: v.price(shown.Available, *currency), Note: "Ready to pay out", Href: base + "/balance"},
		{Label: "Pending", Value: v.price(shown.Pending, *currency), Note: "Available after 7 days", Href: base + "/balance"},
	}, nil
}

// busiest returns the currencies, that with most sales first.
func busiest(days []ledger.DayFigures) (currencies []string) {
	counts := map[string]int64{}
	for _, d := range days {
		if _, known := counts[string(d.Currency)]; !known {
			currencies = append(currencies, string(d.Currency))
		}
		counts[string(d.Currency)] += d.Sales
	}
	slices.SortFunc(currencies, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return currencies
}

// trend compares with the same time before.
func (v *visit) trend(now, before int64, label ui.Words) ui.Words {
	switch {
	case before <= 0 || now == before:
		return ""
	case now > before:
		return v.say("up %d%% on the %s before", (now-before)*100/before, label)
	default:
		return v.say("down %d%% on the %s before", (before-now)*100/before, label)
	}
}

var noCents = regexp.MustCompile(`[.,]00(\D|$)`)

// withoutCents shortens a round amount for an axis.
func withoutCents(price string) string { return noCents.ReplaceAllString(price, "$1") }
