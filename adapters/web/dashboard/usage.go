package dashboard

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/usage"
	"sundry/ports"
)

func (r *Routes) mountUsage(at fiber.Router) {
	r.get(at, "/usage", r.usage)
	r.get(at, "/usage/reports", r.usageReports)
	r.get(at, "/usage/figures", r.usageFigures)
	r.form(at, "/usage/plans/new", r.newBillingPlan)
	r.post(at, "/usage/plans/new", r.createBillingPlan)
	r.get(at, "/usage/plans/:id", r.billingPlan)
	r.post(at, "/usage/plans/:id/change", r.changeBillingPlan)
	r.post(at, "/usage/plans/:id/end", r.endBillingPlan)
	r.get(at, "/usage/meters", r.meters)
	r.form(at, "/usage/meters/new", r.newMeter)
	r.post(at, "/usage/meters/new", r.createMeter)
	r.mountPrices(at)
}

// maxChoices bounds the options of a select: the account's newest.
const maxChoices = 100

// usageUp links from the pages of meters and prices to their area.
func usageUp() *ui.Action { return &ui.Action{Label: "Usage", Href: base + "/usage"} }

// meterNames are the names of the account's newest meters by id.
func (r *Routes) meterNames(ctx context.Context, v *visit) (map[string]string, []usage.Meter, error) {
	meters, err := r.Usage.Meters(ctx, v.account(), ports.Page{Limit: maxChoices})
	names := map[string]string{}
	for _, m := range meters.Items {
		names[m.ID] = m.Name
	}
	return names, meters.Items, err
}

// usage shows usage-based billing: a meter counts, a price sets what it costs, a billing plan bills a subscription
// for it.
func (r *Routes) usage(c *fiber.Ctx, v *visit) error {
	names, _, err := r.meterNames(c.UserContext(), v)
	if err != nil {
		return err
	}
	customers := r.names(v)
	l := &ui.List[usage.PlanState]{
		Path: base + "/usage", FileName: "billing-plans",
		Filters: []ui.Filter{
			{
				Name: "status", Label: "Status",
				Options: ui.Choices("", "", "Any status", "active", "Active", "ended", "Ended"),
			},
			{Name: "subscription", Label: "Subscription", Placeholder: "sub_…"},
			{Name: "q", Label: "Search", Placeholder: "Meter, customer or ID"},
		},
		Columns: []ui.Column[usage.PlanState]{
			{Label: "Billing plan", Cell: func(p usage.PlanState) ui.Cell {
				return ui.Cell{
					Text: ui.Data(cmp.Or(names[p.MeterID], p.MeterID)), Href: base + "/usage/plans/" + p.ID,
					Sub: ui.Data(p.ID),
				}
			}},
			{
				Label: "Customer",
				Cell:  func(p usage.PlanState) ui.Cell { return customers.cell(p.CustomerID, p.ExternalCustomerID) },
			},
			{Label: "Status", Cell: func(p usage.PlanState) ui.Cell { return billingTones[p.Status] }},
			timeColumn(v, "Period ends", "", func(p usage.PlanState) time.Time { return p.Current.End }),
		},
		Read: named(customers, func(one usage.PlanState) string { return one.CustomerID },
			func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[usage.PlanState], error) {
				return r.Usage.BillingPlans(ctx, v.account(), q["subscription"], page)
			}),
		Match: func(q ui.Query, p usage.PlanState) bool {
			return q.Is("status", string(p.Status)) && q.Has(
				"q", names[p.MeterID], p.ID, p.CustomerID, p.ExternalCustomerID, customers.of(p.CustomerID, ""),
			)
		},
		Empty: ui.Empty{
			Title:  "Bill what is used",
			Text:   "A meter counts what your app reports, such as API calls. A price sets what a unit costs. A billing plan bills a subscription for it each period.",
			Action: &ui.Action{Label: "Create a meter", Href: base + "/usage/meters/new", Tone: "primary"},
		},
	}
	if len(names) > 0 {
		l.Empty.Action = &ui.Action{Label: "Create a price", Href: base + "/usage/prices/new", Tone: "primary"}
	}
	return show(r, c, v, l, ui.Page{Title: "Usage", Lead: "Usage that is billed, and its amounts.",
		Actions: []ui.Action{
			ui.Link("Use by meter", useByDay), ui.Link("Reports", base+"/usage/reports"),
			ui.Link("Meters", base+"/usage/meters"), ui.Link("Prices", base+"/usage/prices"),
			ui.Link("New billing plan", base+"/usage/plans/new").Primary(),
		}})
}

var billingTones = map[usage.PlanStatus]ui.Cell{
	usage.PlanActive: ui.Badge("Active", "ok"), usage.PlanEnded: ui.Badge("Ended", "mute"),
}

var aggregations = map[usage.Aggregation]ui.Words{
	usage.Sum: "The sum", usage.Max: "The highest value", usage.Last: "The last value",
	usage.Count: "Reports", usage.Unique: "Different values",
}

func (r *Routes) meters(c *fiber.Ctx, v *visit) error {
	l := &ui.List[usage.Meter]{
		Path: base + "/usage/meters", FileName: "meters",
		Filters: []ui.Filter{{Name: "q", Label: "Search", Placeholder: "Name or event name"}},
		Columns: []ui.Column[usage.Meter]{
			{Label: "Meter", Cell: func(m usage.Meter) ui.Cell {
				return ui.TextLink(m.Name, useByDay+"?meter="+url.QueryEscape(m.ID))
			}},
			{Label: "Event name", Cell: func(m usage.Meter) ui.Cell { return ui.Copyable(m.EventName) }},
			{
				Label: "Counts", Cell: func(m usage.Meter) ui.Cell { return ui.Label(aggregations[m.Aggregation]) },
				CSV: func(m usage.Meter) string { return string(m.Aggregation) },
			},
			{
				Label: "Dimensions",
				Cell:  func(m usage.Meter) ui.Cell { return ui.Text(strings.Join(m.Dimensions, ", ")) },
			},
			{Label: "ID", Cell: func(m usage.Meter) ui.Cell { return ui.Mono(m.ID) }},
			timeColumn(v, "Created", "", func(m usage.Meter) time.Time { return m.CreatedAt }),
		},
		Read: func(ctx context.Context, _ ui.Query, page ports.Page) (ports.List[usage.Meter], error) {
			return r.Usage.Meters(ctx, v.account(), page)
		},
		Match: func(q ui.Query, m usage.Meter) bool { return q.Has("q", m.Name, m.EventName, m.ID) },
		Empty: ui.Empty{
			Title:  "Count what is used",
			Text:   "A meter counts what your app reports under its event name: their sum, the highest or last value, or their number in a period.",
			Action: &ui.Action{Label: "Create a meter", Href: base + "/usage/meters/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Nav: base + "/usage", Title: "Meters", Lead: "What your app reports.", Up: usageUp(),
		Actions: []ui.Action{ui.Link("New meter", base+"/usage/meters/new").Primary()},
	})
}

func meterForm(v *visit) ui.Form {
	f := v.form("meter", base+"/usage/meters/new", "Create meter",
		ui.Field{
			Name: "name", Label: "Name", Required: true, Placeholder: "API calls", Half: true,
			Hint: "Customers read it on their invoice.",
		},
		ui.Field{
			Name: "eventName", Label: "Event name", Required: true, Mono: true, Placeholder: "api.calls", Half: true,
			Hint: "What your app reports it by.",
		},
		ui.Field{
			Name: "aggregation", Label: "Counts", Type: "select",
			Options: ui.Choices(
				"", "SUM", "The sum of what is reported", "MAX", "The highest value", "LAST", "The last value",
				"COUNT", "How many reports there are", "UNIQUE", "How many different values a property has",
			),
		},
		ui.Field{
			Name: "uniqueProperty", Label: "Property", Mono: true, Placeholder: "userId",
			Hint: "Only for different values: the property of your reports that has them.",
		},
		ui.Field{
			Name: "dimensions", Label: "Dimensions", Type: "textarea", Rows: 2, Mono: true, Placeholder: "model\nregion",
			Hint: "Only for sums and numbers of reports: up to five properties of your reports, one per line, whose values prices may depend on.",
		})
	f.Cancel = base + "/usage/meters"
	return f
}

func meterPage() ui.Page {
	return ui.Page{
		Nav: base + "/usage", Title: "New meter", Up: &ui.Action{Label: "Meters", Href: base + "/usage/meters"},
	}
}

func (r *Routes) newMeter(c *fiber.Ctx, v *visit) error {
	return r.ask(c, v, meterPage(), meterForm(v))
}

func (r *Routes) createMeter(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	if _, err := r.Usage.CreateMeter(
		c.UserContext(), v.account(),
		usage.MeterDraft{
			Name: in.Text("name"), EventName: in.Text("eventName"), Aggregation: in.Text("aggregation"),
			UniqueProperty: in.Text("uniqueProperty"), Dimensions: in.Lines("dimensions"),
		},
	); err != nil {
		return r.again(c, v, meterPage(), meterForm(v), err)
	}
	return r.done(
		c, base+"/usage/meters",
		"The meter is ready: report use with its event name. Next, create a price: it sets what a unit costs.",
	)
}
