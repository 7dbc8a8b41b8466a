package dashboard

import (
	"cmp"
	"context"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/usage"
	"sundry/ports"
)

func (r *Routes) mountUsage(at fiber.Router) {
	r.get(at, "/usage", r.usage)
	r.get(at, "/usage/plans/new", r.newBillingPlan)
	r.post(at, "/usage/plans/new", r.createBillingPlan)
	r.get(at, "/usage/plans/:id", r.billingPlan)
	r.get(at, "/usage/meters", r.meters)
	r.get(at, "/usage/meters/new", r.newMeter)
	r.post(at, "/usage/meters/new", r.createMeter)
	r.mountPrices(at)
}

// maxChoices is how many of the account's newest things a select offers.
const maxChoices = 100

// usageUp leads from the pages of meters and prices to what they are for.
func usageUp() *action { return &action{Label: "Usage", Href: base + "/usage"} }

// meterNames are the names of the account's newest meters by id.
func (r *Routes) meterNames(ctx context.Context, v *visit) (map[string]string, []usage.Meter, error) {
	meters, err := r.Usage.Meters(ctx, v.account(), ports.Page{Limit: maxChoices})
	names := map[string]string{}
	for _, m := range meters.Items {
		names[m.ID] = m.Name
	}
	return names, meters.Items, err
}

// usage is what is billed by use: a meter counts, a price sets what it costs, a billing plan bills a subscription for it.
func (r *Routes) usage(c *fiber.Ctx, v *visit) error {
	names, _, err := r.meterNames(c.UserContext(), v)
	if err != nil {
		return err
	}
	customers := r.names(v)
	l := &list[usage.PlanState]{
		path: base + "/usage", name: "billing-plans",
		filters: []filter{{Name: "status", Label: "Status", Options: choices("", "", "Any status", "active", "Active", "ended", "Ended")}, {Name: "subscription", Label: "Subscription", Placeholder: "sub_…"},
			{Name: "q", Label: "Search", Placeholder: "Meter, customer or ID"}},
		columns: []column[usage.PlanState]{
			{label: "Billing plan", cell: func(p usage.PlanState) cell {
				return cell{Text: cmp.Or(names[p.MeterID], p.MeterID), Href: base + "/usage/plans/" + p.ID, Sub: p.ID}
			}},
			{label: "Customer", cell: func(p usage.PlanState) cell { return customers.cell(p.CustomerID, p.ExternalCustomerID) }},
			{label: "Status", cell: func(p usage.PlanState) cell { return billingTones[p.Status] }},
			{label: "Period ends", cell: func(p usage.PlanState) cell { return v.moment(p.Current.End) }, csv: func(p usage.PlanState) string { return exact(p.Current.End) }},
		},
		read: named(customers, func(one usage.PlanState) string { return one.CustomerID },
			func(ctx context.Context, q query, page ports.Page) (ports.List[usage.PlanState], error) {
				return r.Usage.BillingPlans(ctx, v.account(), q["subscription"], page)
			}),
		match: func(q query, p usage.PlanState) bool {
			return q.is("status", string(p.Status)) && q.has("q", names[p.MeterID], p.ID, p.CustomerID, p.ExternalCustomerID, customers.of(p.CustomerID, ""))
		},
		empty: empty{Title: "Bill what is used", Text: "A meter counts what your app reports, such as API calls. A price sets what a unit costs. A billing plan bills a subscription for it each period.",
			Action: &action{Label: "Create a meter", Href: base + "/usage/meters/new", Tone: "primary"}},
	}
	if len(names) > 0 {
		l.empty.Action = &action{Label: "Create a price", Href: base + "/usage/prices/new", Tone: "primary"}
	}
	return show(r, c, v, l, page{Title: "Usage", Lead: "What is billed by use, and what it comes to.", Actions: []action{
		link("Meters", base+"/usage/meters"), link("Prices", base+"/usage/prices"), link("New billing plan", base+"/usage/plans/new").primary(),
	}})
}

var billingTones = map[usage.PlanStatus]cell{usage.PlanActive: badge("Active", "ok"), usage.PlanEnded: badge("Ended", "mute")}

var aggregations = map[usage.Aggregation]string{usage.Sum: "The sum", usage.Max: "The highest value", usage.Last: "The last value"}

func (r *Routes) meters(c *fiber.Ctx, v *visit) error {
	l := &list[usage.Meter]{
		path: base + "/usage/meters", name: "meters",
		filters: []filter{{Name: "q", Label: "Search", Placeholder: "Name or event name"}},
		columns: []column[usage.Meter]{
			{label: "Meter", cell: func(m usage.Meter) cell { return text(m.Name) }},
			{label: "Event name", cell: func(m usage.Meter) cell { return copied(m.EventName) }},
			{label: "Counts", cell: func(m usage.Meter) cell { return text(aggregations[m.Aggregation]) }, csv: func(m usage.Meter) string { return string(m.Aggregation) }},
			{label: "ID", cell: func(m usage.Meter) cell { return mono(m.ID) }},
			{label: "Created", cell: func(m usage.Meter) cell { return v.moment(m.CreatedAt) }, csv: func(m usage.Meter) string { return exact(m.CreatedAt) }},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[usage.Meter], error) {
			return r.Usage.Meters(ctx, v.account(), page)
		},
		match: func(q query, m usage.Meter) bool { return q.has("q", m.Name, m.EventName, m.ID) },
		empty: empty{Title: "Count what is used", Text: "A meter counts what your app reports under its event name: the sum, the highest or the last value of a period.",
			Action: &action{Label: "Create a meter", Href: base + "/usage/meters/new", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Nav: base + "/usage", Title: "Meters", Lead: "What your app reports.", Up: usageUp(), Actions: []action{link("New meter", base+"/usage/meters/new").primary()}})
}

func meterForm(v *visit) form {
	f := v.form("meter", base+"/usage/meters/new", "Create meter",
		field{Name: "name", Label: "Name", Required: true, Placeholder: "API calls", Half: true, Hint: "Customers read it on their invoice."},
		field{Name: "eventName", Label: "Event name", Required: true, Mono: true, Placeholder: "api.calls", Half: true, Hint: "What your app reports it by."},
		field{Name: "aggregation", Label: "Counts", Type: "select", Options: choices("", "SUM", "The sum of what is reported", "MAX", "The highest value", "LAST", "The last value")})
	f.Cancel = base + "/usage/meters"
	return f
}

func meterPage() page {
	return page{Nav: base + "/usage", Title: "New meter", Up: &action{Label: "Meters", Href: base + "/usage/meters"}}
}

func (r *Routes) newMeter(c *fiber.Ctx, v *visit) error {
	p := meterPage()
	p.Parts = []part{formPart(meterForm(v))}
	return r.send(c, v, p)
}

func (r *Routes) createMeter(c *fiber.Ctx, v *visit) error {
	in := read(c)
	if _, err := r.Usage.CreateMeter(c.UserContext(), v.account(), usage.MeterDraft{Name: in.text("name"), EventName: in.text("eventName"), Aggregation: in.text("aggregation")}); err != nil {
		return r.again(c, v, meterPage(), meterForm(v), err)
	}
	return r.done(c, base+"/usage/meters", "The meter is ready: report use with its event name. Next, create a price: it sets what a unit costs.")
}

func billingPlanPage() page {
	return page{Nav: base + "/usage", Title: "New billing plan", Lead: "Bills a subscription for what it uses of a meter, each period.", Up: usageUp()}
}

// billingPlanForm offers what the account has; missing names what it has to make first.
func (r *Routes) billingPlanForm(c *fiber.Ctx, v *visit) (f form, missing *empty, err error) {
	ctx := c.UserContext()
	_, meters, err := r.meterNames(ctx, v)
	if err != nil {
		return f, nil, err
	}
	prices, err := r.Usage.Prices(ctx, v.account(), ports.Page{Limit: maxChoices})
	if err != nil {
		return f, nil, err
	}
	subscriptions, err := r.Subscriptions.List(ctx, ports.SubscriptionFilter{CreatorID: v.account()}, ports.Page{Limit: maxChoices})
	if err != nil {
		return f, nil, err
	}
	var subs []option
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
			subs = append(subs, option{Value: s.ID, Label: customers.of(s.CustomerID, s.ExternalCustomerID) + ", " + planName(s), Selected: s.ID == c.Query("subscription")})
		}
	}
	switch {
	case len(meters) == 0:
		return f, &empty{Title: "First, a meter", Text: "It counts what your app reports.", Action: &action{Label: "Create a meter", Href: base + "/usage/meters/new", Tone: "primary"}}, nil
	case len(prices.Items) == 0:
		return f, &empty{Title: "First, a price", Text: "It sets what a unit costs.", Action: &action{Label: "Create a price", Href: base + "/usage/prices/new", Tone: "primary"}}, nil
	case len(subs) == 0:
		return f, &empty{Title: "First, a subscription", Text: "Use is billed to the card of a subscription. Share a link to a subscription listing, and come back when somebody has subscribed.", Action: &action{Label: "Payment links", Href: base + "/links", Tone: "primary"}}, nil
	}
	var meterOptions, priceOptions []option
	for _, m := range meters {
		meterOptions = append(meterOptions, option{Value: m.ID, Label: m.Name + " (" + m.EventName + ")"})
	}
	for _, p := range prices.Items {
		priceOptions = append(priceOptions, option{Value: p.ID, Label: tiersLine(p)})
	}
	f = v.form("billing", base+"/usage/plans/new", "Create billing plan",
		field{Name: "subscriptionId", Label: "Subscription", Type: "select", Options: subs}, field{Name: "meterId", Label: "Meter", Type: "select", Options: meterOptions},
		field{Name: "priceId", Label: "Price", Type: "select", Options: priceOptions},
		field{Name: "billingInterval", Label: "Billed every", Type: "select", Half: true, Options: choices("month", "day", "day", "week", "week", "month", "month", "year", "year")})
	f.Cancel = base + "/usage"
	return f, nil, nil
}

func (r *Routes) newBillingPlan(c *fiber.Ctx, v *visit) error {
	p := billingPlanPage()
	f, missing, err := r.billingPlanForm(c, v)
	if err != nil {
		return err
	}
	p.Parts = []part{formPart(f)}
	if missing != nil {
		p.Parts = []part{tablePart("", table{Empty: missing})}
	}
	return r.send(c, v, p)
}

func (r *Routes) createBillingPlan(c *fiber.Ctx, v *visit) error {
	in := read(c)
	made, err := r.Usage.CreateBillingPlan(c.UserContext(), v.account(), usage.PlanDraft{
		SubscriptionID: in.text("subscriptionId"), MeterID: in.text("meterId"), PriceID: in.text("priceId"), BillingInterval: in.text("billingInterval"),
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
	p := page{Nav: base + "/usage", Title: "Running period", Badge: &status, Lead: v.when(s.Current.Start) + " – " + v.when(s.Current.End), Up: usageUp()}
	preview, err := r.Usage.Preview(ctx, v.account(), s.ID)
	switch {
	case fault.Is(err, fault.StateConflict):
		p.Parts = append(p.Parts, notePart("wait", "This billing plan has ended."))
	case err != nil:
		return err
	default:
		p.Parts = append(p.Parts, previewPart(v, preview))
	}
	price, err := r.Usage.Price(ctx, v.account(), s.PriceID)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, tiersPart(price))
	customers := r.names(v)
	if err := customers.load(ctx, s.CustomerID); err != nil {
		return err
	}
	p.Aside = []part{facts("Details", fact{"Subscription", to(s.SubscriptionID, base+"/subscriptions/"+s.SubscriptionID)}, fact{"Customer", customers.cell(s.CustomerID, s.ExternalCustomerID)},
		fact{"Next invoice", v.moment(s.NextInvoiceAt())}, fact{"Meter", copied(s.MeterID)}, fact{"Price", copied(s.PriceID)}, fact{"ID", copied(s.ID)})}
	return r.send(c, v, p)
}

// previewPart is what the running period comes to, tier by tier.
func previewPart(v *visit, preview usage.Preview) part {
	currency := string(preview.Currency)
	t := table{Label: "Lines", Heads: []head{{Label: "Meter"}, {Label: "Used", Num: true}, {Label: "Comes to", Num: true}}}
	for _, l := range preview.Lines {
		name := l.MeterName
		if l.Late {
			name += ", late use of an earlier period"
		}
		if l.Free {
			name += ", free in the trial"
		}
		t.Rows = append(t.Rows, row{[]cell{{Text: name, Sub: chargesLine(l.Charges, preview.Currency)}, {Text: l.Quantity.String(), Num: true}, {Text: v.price(l.AmountMinor, currency), Num: true}}})
	}
	t.Rows = append(t.Rows, row{[]cell{text("So far"), text(""), {Text: v.price(preview.TotalMinor(), currency), Num: true}}})
	shown := tablePart("What the next invoice would be", t)
	shown.Lead = "As of " + v.when(preview.AsOf) + ", before tax."
	return shown
}

// billedPart is what a subscription's billing plans come to in their running periods; none when it has no plan.
func (r *Routes) billedPart(c *fiber.Ctx, v *visit, subscriptionID string) ([]part, error) {
	ctx := c.UserContext()
	plans, err := r.Usage.BillingPlans(ctx, v.account(), subscriptionID, ports.Page{Limit: pageSize})
	if err != nil || len(plans.Items) == 0 {
		return nil, err
	}
	t := table{Label: "Billed by use", Heads: []head{{Label: "Meter"}, {Label: "Used", Num: true}, {Label: "So far", Num: true}, {Label: "Period ends"}}}
	for _, s := range plans.Items {
		preview, err := r.Usage.Preview(ctx, v.account(), s.ID)
		if fault.Is(err, fault.StateConflict) { // it has ended
			continue
		}
		if err != nil {
			return nil, err
		}
		for n, l := range preview.Lines {
			comes := cell{}
			if n == 0 {
				comes = cell{Text: v.price(preview.TotalMinor(), string(preview.Currency)), Num: true}
			}
			t.Rows = append(t.Rows, row{[]cell{to(l.MeterName, base+"/usage/plans/"+s.ID), {Text: l.Quantity.String(), Num: true}, comes, v.moment(l.PeriodEnd)}})
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	p := tablePart("Billed by use in this period", t)
	p.Lead = "Before tax."
	return []part{p}, nil
}
