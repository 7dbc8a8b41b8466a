package dashboard

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/civil"
	core "sundry/core/usage"
	"sundry/modules/usage"
	"sundry/ports"
)

const (
	useByDay = base + "/usage/figures"
	// maxMeterChoices bounds the meters that the chart offers: those with the most reports.
	maxMeterChoices = 6
)

// usageFigures shows the use of a meter: the one that was chosen, or the one with the most reports.
func (r *Routes) usageFigures(c *fiber.Ctx, v *visit) error {
	s, err := r.askedSpan(c, v)
	if err != nil {
		return err
	}
	figures, err := r.Usage.Figures(ports.AllowStale(c.UserContext()), v.account(), "", s.withBefore())
	if err != nil {
		return err
	}
	p := ui.Page{
		Nav: base + "/usage", Title: "Use by meter", Lead: "What was counted of your app’s reports, by day.", Up: usageUp(),
		Actions: []ui.Action{ui.Link("Reports", base+"/usage/reports"), ui.Link("Meters", base+"/usage/meters")},
	}
	if len(figures.Meters) == 0 {
		p.Parts = []ui.Part{ui.TablePart("", ui.Table{Empty: &ui.Empty{
			Title: "No use yet", Text: "Usage that your app reported in the last two years appears here, by meter.",
			Action: &ui.Action{Label: "Your meters", Href: base + "/usage/meters", Tone: "primary"},
		}})}
		return r.send(c, v, p)
	}
	slices.SortStableFunc(figures.Meters, func(a, b usage.MeterFigures) int {
		return cmp.Compare(b.Total.Reports, a.Total.Reports)
	})
	chosen := max(slices.IndexFunc(figures.Meters, func(m usage.MeterFigures) bool {
		return m.Meter.ID == c.Query("meter")
	}), 0)
	used := meterUse{v, figures.Meters[chosen]}
	address := func(days, meter string) string {
		return useByDay + "?" + url.Values{"days": {days}, "meter": {meter}}.Encode()
	}
	chart := used.chart(s)
	chart.Groups = []ui.ChoiceGroup{
		timeChoices(s, func(choice string) string { return address(choice, used.Meter.ID) }),
	}
	if len(figures.Meters) > 1 {
		group := ui.ChoiceGroup{Label: "Meter"}
		for i, m := range figures.Meters {
			if i < maxMeterChoices || i == chosen {
				group.Choices = append(group.Choices, ui.Choice{
					Label: ui.Data(m.Meter.Name), Href: address(s.choice, m.Meter.ID), Current: i == chosen,
				})
			}
		}
		chart.Groups = append(chart.Groups, group)
	}
	p.Parts = []ui.Part{
		{Kind: "stats", Data: used.stats(s)},
		ui.ChartPart(
			v.say(s.titled(), used.Meter.Name),
			ui.Data(v.text(used.explained())+" "+v.daysOf(s)+"."), chart,
		),
	}
	return r.send(c, v, p)
}

// meterUse renders the use of a meter.
type meterUse struct {
	*visit
	usage.MeterFigures
}

// explained says what a column is.
func (m meterUse) explained() ui.Words {
	switch m.Meter.Aggregation {
	case core.Max:
		return "The highest value of each subscription, added up; of a month its highest day."
	case core.Last:
		return "The last value of each subscription, added up; of a month its last day."
	case core.Count:
		return "The number of reports."
	case core.Unique:
		return "The number of different values, each once in a billing period."
	case core.Sum:
	}
	return "The sum of what was reported."
}

// over returns the use of some days.
func (m meterUse) over(from, to civil.Date) core.DayUse {
	var days []core.DayUse
	for _, d := range m.Days {
		if d.Day >= from && d.Day <= to {
			days = append(days, d)
		}
	}
	total, _ := m.Meter.Aggregation.Over(days) // a part of what fits
	return total
}

// chartDecimals is 10 to the number of decimals that the chart draws; tables have all of them.
const chartDecimals = 1000

// drawn is a quantity in thousandths, as a chart has it: cut where it has more digits than a bar can show.
func drawn(q core.Quantity) int64 {
	const most = 1e15
	value, _ := strconv.ParseFloat(q.String(), 64) // a quantity is a number
	return int64(min(max(value, -most), most) * chartDecimals)
}

// tick writes a value of the axis.
func tick(value int64) string {
	return strconv.FormatFloat(float64(value)/chartDecimals, 'f', -1, 64)
}

func (m meterUse) chart(s span) ui.Chart {
	chart := ui.Chart{
		Now: s.label, Before: m.say("The %s before", s.label), None: "No use in these days.", Scale: tick,
		Table: ui.Table{Label: m.say("Use of %s", m.Meter.Name), Heads: []ui.Head{
			{Label: "When"}, {Label: "Use", Num: true}, {Label: "Reports", Num: true}, {Label: "Use before", Num: true},
		}},
	}
	for _, col := range s.columns {
		use, before := m.over(col.from, col.to), m.over(col.beforeFrom, col.beforeTo)
		chart.Points = append(chart.Points, ui.Point{
			Value: drawn(use.Quantity), Before: drawn(before.Quantity), Name: col.name,
			Title: m.text("%s: %s (before: %s)", col.long, use.Quantity.String(), before.Quantity.String()),
		})
		if use.Reports == 0 && before.Reports == 0 {
			continue
		}
		chart.Table.Rows = append(chart.Table.Rows, ui.Row{Cells: []ui.Cell{
			ui.Text(col.long), ui.Number(use.Quantity.String()), ui.Number(strconv.FormatInt(use.Reports, 10)),
			ui.Number(before.Quantity.String()),
		}})
	}
	return chart
}

// stats are the figures of a time.
func (m meterUse) stats(s span) []ui.Stat {
	whole := s.whole()
	total, before := m.over(whole.from, whole.to), m.over(whole.beforeFrom, whole.beforeTo)
	label := m.say("Use, last %s", s.label)
	switch m.Meter.Aggregation {
	case core.Max:
		label = m.say("Highest day, last %s", s.label)
	case core.Last:
		label = m.say("Last day, last %s", s.label)
	case core.Sum, core.Count, core.Unique:
	}
	return []ui.Stat{
		{
			Label: label, Value: total.Quantity.String(),
			Note: m.trend(drawn(total.Quantity)/chartDecimals, drawn(before.Quantity)/chartDecimals, s.label),
		},
		{
			Label: m.say("Reports, last %s", s.label), Value: strconv.FormatInt(total.Reports, 10),
			Href: base + "/usage/reports?meter=" + url.QueryEscape(m.Meter.EventName),
		},
	}
}
