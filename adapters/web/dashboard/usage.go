package dashboard

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/money"
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
			{
				Label: "Period ends", Cell: func(p usage.PlanState) ui.Cell { return v.moment(p.Current.End) },
				CSV: func(p usage.PlanState) string { return ui.ExactTime(p.Current.End) },
			},
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
			{
				Label: "Created", Cell: func(m usage.Meter) ui.Cell { return v.moment(m.CreatedAt) },
				CSV: func(m usage.Meter) string { return ui.ExactTime(m.CreatedAt) },
			},
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
	p := meterPage()
	p.Parts = []ui.Part{ui.FormPart(meterForm(v))}
	return r.send(c, v, p)
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

func billingPlanPage() ui.Page {
	return ui.Page{
		Nav: base + "/usage", Title: "New billing plan",
		Lead: "Bills a subscription for what it uses of a meter, each period.", Up: usageUp(),
	}
}

// billingPlanForm offers the account's meters and prices; missing names what has to be created first.
func (r *Routes) billingPlanForm(c *fiber.Ctx, v *visit) (f ui.Form, missing *ui.Empty, err error) {
	ctx := c.UserContext()
	_, meters, err := r.meterNames(ctx, v)
	if err != nil {
		return f, nil, err
	}
	prices, err := r.Usage.Prices(ctx, v.account(), ports.Page{Limit: maxChoices})
	if err != nil {
		return f, nil, err
	}
	subscriptions, err := r.Subscriptions.List(
		ctx, ports.SubscriptionFilter{CreatorID: v.account()}, ports.Page{Limit: maxChoices},
	)
	if err != nil {
		return f, nil, err
	}
	var subs []ui.Option
	var subscribers []string
	customers := r.names(v)
	for _, s := range subscriptions.Items {
		subscribers = append(subscribers, s.CustomerID)
	}
	if err := customers.load(c.UserContext(), subscribers...); err != nil {
		return f, nil, err
	}
	for _, s := range subscriptions.Items {
		if !s.Status.Terminal() {
			subs = append(subs, ui.Option{
				Value: s.ID, Label: ui.Data(customers.of(s.CustomerID, s.ExternalCustomerID) + ", " + s.Offer.Name()),
				Selected: s.ID == c.Query("subscription"),
			})
		}
	}
	switch {
	case len(meters) == 0:
		return f, &ui.Empty{Title: "First, a meter", Text: "It counts what your app reports.",
			Action: &ui.Action{Label: "Create a meter", Href: base + "/usage/meters/new", Tone: "primary"}}, nil
	case len(prices.Items) == 0:
		return f, &ui.Empty{Title: "First, a price", Text: "It sets what a unit costs.",
			Action: &ui.Action{Label: "Create a price", Href: base + "/usage/prices/new", Tone: "primary"}}, nil
	case len(subs) == 0:
		return f, &ui.Empty{Title: "First, a subscription",
			Text: "Use is billed to the card of a subscription. Share a link to a subscription listing, and come back " +
				"when somebody has subscribed.", Action: &ui.Action{Label: "Payment links", Href: base + "/links",
				Tone: "primary"}}, nil
	}
	var meterOptions, priceOptions []ui.Option
	for _, m := range meters {
		meterOptions = append(meterOptions, ui.Option{Value: m.ID, Label: ui.Data(m.Name + " (" + m.EventName + ")")})
	}
	for _, p := range prices.Items {
		priceOptions = append(priceOptions, ui.Option{Value: p.ID, Label: ui.Data(v.tiersLine(p))})
	}
	f = v.form("billing", base+"/usage/plans/new", "Create billing plan",
		ui.Field{Name: "subscriptionId", Label: "Subscription", Type: "select", Options: subs},
		ui.Field{Name: "meterId", Label: "Meter", Type: "select", Options: meterOptions},
		ui.Field{Name: "priceId", Label: "Price", Type: "select", Options: priceOptions},
		ui.Field{
			Name: "billingInterval", Label: "Billed every", Type: "select", Half: true,
			Options: ui.Choices("month", "day", "day", "week", "week", "month", "month", "year", "year"),
		})
	f.Cancel = base + "/usage"
	return f, nil, nil
}

func (r *Routes) newBillingPlan(c *fiber.Ctx, v *visit) error {
	p := billingPlanPage()
	f, missing, err := r.billingPlanForm(c, v)
	if err != nil {
		return err
	}
	p.Parts = []ui.Part{ui.FormPart(f)}
	if missing != nil {
		p.Parts = []ui.Part{ui.TablePart("", ui.Table{Empty: missing})}
	}
	return r.send(c, v, p)
}

func (r *Routes) createBillingPlan(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	made, err := r.Usage.CreateBillingPlan(c.UserContext(), v.account(), usage.PlanDraft{
		SubscriptionID: in.Text("subscriptionId"), MeterID: in.Text("meterId"), PriceID: in.Text("priceId"),
		BillingInterval: in.Text("billingInterval"),
	})
	if err != nil {
		f, missing, formErr := r.billingPlanForm(c, v)
		if formErr != nil || missing != nil {
			return cmp.Or(formErr, err)
		}
		return r.again(c, v, billingPlanPage(), f, err)
	}
	return r.done(c, base+"/usage/plans/"+made.ID, "What is used from this period on is billed.")
}

// billingPlan previews the invoice of the running period.
func (r *Routes) billingPlan(c *fiber.Ctx, v *visit) error {
	ctx := c.UserContext()
	s, err := r.Usage.BillingPlan(ctx, v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	status := billingTones[s.Status]
	p := ui.Page{
		Nav: base + "/usage", Title: "Running period", Badge: &status,
		Lead: ui.Data(v.when(s.Current.Start) + " – " + v.when(s.Current.End)), Up: usageUp(),
	}
	preview, err := r.Usage.Preview(ctx, v.account(), s.ID)
	switch {
	case fault.Is(err, fault.StateConflict):
		p.Parts = append(p.Parts, ui.NotePart("wait", "This billing plan has ended."))
	case err != nil:
		return err
	default:
		p.Parts = append(p.Parts, previewPart(v, preview))
	}
	price, err := r.Usage.Price(ctx, v.account(), s.PriceID)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, v.pricePartsOf(price)...)
	if s.Schedule.EndsAt.IsZero() {
		next, err := r.nextPriceForm(c, v, s, price.Currency)
		if err != nil {
			return err
		}
		p.Parts = append(p.Parts, ui.FormPart(next))
		p.Actions = append(p.Actions, v.button("End", base+"/usage/plans/"+s.ID+"/end").Confirm(
			"The running period is the last: later use is refused. This can't be undone.",
		))
	}
	customers := r.names(v)
	if err := customers.load(ctx, s.CustomerID); err != nil {
		return err
	}
	p.Aside = []ui.Part{ui.Facts("Details",
		ui.Fact{Label: "Subscription", Value: ui.TextLink(s.SubscriptionID, base+"/subscriptions/"+s.SubscriptionID)},
		ui.Fact{Label: "Customer", Value: customers.cell(s.CustomerID, s.ExternalCustomerID)},
		ui.Fact{Label: "Next invoice", Value: v.moment(s.NextInvoiceAt())},
		ui.Fact{Label: "Ends", Value: v.moment(s.Schedule.EndsAt)},
		ui.Fact{Label: "Meter", Value: ui.Copyable(s.MeterID)},
		ui.Fact{Label: "Price", Value: ui.Copyable(s.PriceID)},
		ui.Fact{Label: "ID", Value: ui.Copyable(s.ID)},
	)}
	return r.send(c, v, p)
}

// nextPriceForm offers the prices in a plan's currency for the periods after the running one.
func (r *Routes) nextPriceForm(
	c *fiber.Ctx, v *visit, p usage.PlanState, currency money.Currency,
) (f ui.Form, err error) {
	prices, err := r.Usage.Prices(c.UserContext(), v.account(), ports.Page{Limit: maxChoices})
	var options []ui.Option
	for _, price := range prices.Items {
		if price.Currency == currency {
			options = append(options, ui.Option{
				Value: price.ID, Label: ui.Data(v.tiersLine(price)),
				Selected: price.ID == cmp.Or(p.NextPriceID, p.PriceID),
			})
		}
	}
	return v.form("price", base+"/usage/plans/"+p.ID+"/change", "Change price", ui.Field{
		Name: "priceId", Label: "Price from the next period on", Type: "select", Options: options,
		Hint: v.say("The next period begins %s.", v.when(p.Current.End)),
	}), err
}

func (r *Routes) changeBillingPlan(c *fiber.Ctx, v *visit) error {
	at := base + "/usage/plans/" + c.Params("id")
	change := usage.PriceChange{PriceID: ui.ReadInput(c).Text("priceId")}
	if _, err := r.Usage.ChangePrice(c.UserContext(), v.account(), c.Params("id"), change); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "The price is billed from the next period on.")
}

func (r *Routes) endBillingPlan(c *fiber.Ctx, v *visit) error {
	at := base + "/usage/plans/" + c.Params("id")
	if _, err := r.Usage.EndBillingPlan(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "The running period is the last.")
}

// nameOfLine is the name of the meter, with the values of the rate that the line is of.
func nameOfLine(l usage.Rated) string {
	if when := l.When(); when != "" {
		return l.MeterName + " (" + when + ")"
	}
	return l.MeterName
}

// previewPart shows the amounts of the running period, tier by tier.
func previewPart(v *visit, preview usage.Preview) ui.Part {
	currency := string(preview.Currency)
	t := ui.Table{Label: "Lines", Heads: []ui.Head{
		{Label: "Meter"},
		{Label: "Used", Num: true},
		{Label: "Comes to", Num: true},
	}}
	for _, l := range preview.Lines {
		name := nameOfLine(l)
		if l.Late {
			name = v.text("%s, late use of an earlier period", name)
		}
		if !l.Included.IsZero() {
			name = v.text("%s, %s included", name, l.Included.String())
		}
		if l.Free {
			name = v.text("%s, free in the trial", name)
		}
		cost := chargesLine(l.Charges, preview.Currency)
		if l.TopUpMinor > 0 {
			least := v.text("%s up to the minimum of the period", majorAmount(l.TopUpMinor, preview.Currency))
			cost = strings.TrimPrefix(cost+" + "+least, " + ")
		}
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			{Text: ui.Data(name), Sub: ui.Data(cost)},
			ui.Number(l.Quantity.String()),
			ui.Number(v.price(l.AmountMinor, currency)),
		}})
	}
	if preview.CreditMinor > 0 {
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			ui.Label("Prepaid usage credit"), ui.Text(""), ui.Number(v.price(-preview.CreditMinor, currency)),
		}})
	}
	t.Rows = append(t.Rows, ui.Row{
		Cells: []ui.Cell{ui.Label("So far"), ui.Text(""), ui.Number(v.price(preview.TotalMinor(), currency))},
	})
	shown := ui.TablePart("What the next invoice would be", t)
	shown.Lead = v.say("As of %s, before tax.", v.when(preview.AsOf))
	shown.Actions = []ui.Action{reportsOf("subscription", preview.Plan.SubscriptionID)}
	return shown
}

// billedPart shows the amounts of a subscription's billing plans in their running periods; none when it has no plan.
func (r *Routes) billedPart(c *fiber.Ctx, v *visit, subscriptionID string) ([]ui.Part, error) {
	ctx := c.UserContext()
	plans, err := r.Usage.BillingPlans(ctx, v.account(), subscriptionID, ports.Page{Limit: ui.PageSize})
	if err != nil || len(plans.Items) == 0 {
		return nil, err
	}
	t := ui.Table{Label: "Billed by use", Heads: []ui.Head{
		{Label: "Meter"},
		{Label: "Used", Num: true},
		{Label: "So far", Num: true},
		{Label: "Period ends"},
	}}
	for _, s := range plans.Items {
		preview, err := r.Usage.Preview(ctx, v.account(), s.ID)
		if fault.Is(err, fault.StateConflict) { // it has ended
			continue
		}
		if err != nil {
			return nil, err
		}
		for n, l := range preview.Lines {
			comes := ui.Cell{}
			if n == 0 {
				comes = ui.Number(v.price(preview.TotalMinor(), string(preview.Currency)))
			}
			t.Rows = append(t.Rows, ui.Row{
				Cells: []ui.Cell{
					ui.TextLink(nameOfLine(l), base+"/usage/plans/"+s.ID), ui.Number(l.Quantity.String()), comes,
					v.moment(l.PeriodEnd),
				},
			})
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	p := ui.TablePart("Billed by use in this period", t)
	p.Lead = "Before tax."
	p.Actions = []ui.Action{reportsOf("subscription", subscriptionID)}
	return []ui.Part{p}, nil
}
