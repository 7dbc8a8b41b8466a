package dashboard

import (
	"cmp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/usage"
	"sundry/ports"
)

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
	subs, err := r.subscriptionOptions(c, v)
	if err != nil {
		return f, nil, err
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

// subscriptionOptions offers the account's newest subscriptions that go on; the one that the address names is selected.
func (r *Routes) subscriptionOptions(c *fiber.Ctx, v *visit) (options []ui.Option, err error) {
	ctx := c.UserContext()
	found, err := r.Subscriptions.List(
		ctx, ports.SubscriptionFilter{CreatorID: v.account()}, ports.Page{Limit: maxChoices},
	)
	if err != nil {
		return nil, err
	}
	var subscribers []string
	for _, s := range found.Items {
		subscribers = append(subscribers, s.CustomerID)
	}
	customers := r.names(v)
	if err := customers.load(ctx, subscribers...); err != nil {
		return nil, err
	}
	for _, s := range found.Items {
		if !s.Status.Terminal() {
			options = append(options, ui.Option{
				Value: s.ID, Label: ui.Data(customers.of(s.CustomerID, s.ExternalCustomerID) + ", " + s.Offer.Name()),
				Selected: s.ID == c.Query("subscription"),
			})
		}
	}
	return options, nil
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
	case fault.Is(err, fault.LimitReached):
		p.Parts = append(p.Parts, ui.NotePart("bad", beyondInvoice))
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
	f = v.form("price", base+"/usage/plans/"+p.ID+"/change", "Change price", ui.Field{
		Name: "priceId", Label: "Price from the next period on", Type: "select", Options: options,
		Hint: v.say("The next period begins %s.", v.when(p.Current.End)),
	})
	return f.OfStored(), err
}

func (r *Routes) changeBillingPlan(c *fiber.Ctx, v *visit) error {
	ctx, at := c.UserContext(), base+"/usage/plans/"+c.Params("id")
	s, err := r.Usage.BillingPlan(ctx, v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	price, err := r.Usage.Price(ctx, v.account(), s.PriceID)
	if err != nil {
		return err
	}
	f, err := r.nextPriceForm(c, v, s, price.Currency)
	if err != nil {
		return err
	}
	if err := f.CheckStored(c); err != nil {
		p := ui.Page{Nav: base + "/usage", Title: "Change price", Up: &ui.Action{Label: "Running period", Href: at}}
		return r.again(c, v, p, f, err)
	}
	change := usage.PriceChange{PriceID: ui.ReadInput(c).Text("priceId")}
	_, err = r.Usage.ChangePrice(ctx, v.account(), s.ID, change)
	return r.result(c, at, err, "The price is billed from the next period on.")
}

func (r *Routes) endBillingPlan(c *fiber.Ctx, v *visit) error {
	at := base + "/usage/plans/" + c.Params("id")
	_, err := r.Usage.EndBillingPlan(c.UserContext(), v.account(), c.Params("id"))
	return r.result(c, at, err, "The running period is the last.")
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

// beyondInvoice stands in place of an amount that is too large.
const beyondInvoice ui.Words = "What was used costs more than an invoice can charge. Check the reported quantities."

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
		if fault.Is(err, fault.LimitReached) {
			t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
				{Text: ui.Data(s.ID), Href: base + "/usage/plans/" + s.ID, Sub: beyondInvoice}, {}, {},
				v.moment(s.Current.End),
			}})
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
