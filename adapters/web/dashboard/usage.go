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
	r.get(at, "/usage/meters/new", r.newMeter)
	r.post(at, "/usage/meters/new", r.createMeter)
	r.get(at, "/usage/plans/:id", r.billingPlan)
}

// usage is the meters and what bills them.
func (r *Routes) usage(c *fiber.Ctx, v *visit) error {
	ctx := c.UserContext()
	meters, err := r.Usage.Meters(ctx, v.account(), ports.Page{Limit: 100})
	if err != nil {
		return err
	}
	names := map[string]string{}
	t := table{Label: "Meters", Heads: []head{{Label: "Meter"}, {Label: "Event name"}, {Label: "Counts"}, {Label: "Id"}, {Label: "Created"}}}
	for _, m := range meters.Items {
		names[m.ID] = m.Name
		t.Rows = append(t.Rows, row{[]cell{text(m.Name), copied(m.EventName), text(plainWords(string(m.Aggregation))), mono(m.ID), v.moment(m.CreatedAt)}})
	}
	if len(meters.Items) == 0 {
		t.Empty = &empty{Title: "Bill what is used", Text: "A meter counts what your app reports, such as API calls. A price and a billing plan turn it into an invoice each period.",
			Action: &action{Label: "Create a meter", Href: base + "/usage/meters/new", Tone: "primary"}}
	}
	l := &list[usage.PlanState]{
		path: base + "/usage", name: "billing-plans",
		filters: []filter{{Name: "status", Label: "Status", Options: choices("", "", "Any status", "active", "Active", "ending", "Ending", "ended", "Ended")}, {Name: "subscription", Label: "Subscription", Placeholder: "sub_…"}},
		columns: []column[usage.PlanState]{
			{label: "Billing plan", cell: func(p usage.PlanState) cell {
				return cell{Text: cmp.Or(names[p.MeterID], p.MeterID), Href: base + "/usage/plans/" + p.ID, Sub: p.ID}
			}},
			{label: "Customer", cell: func(p usage.PlanState) cell {
				return to(cmp.Or(p.ExternalCustomerID, p.CustomerID), base+"/customers/"+p.CustomerID)
			}},
			{label: "Status", cell: func(p usage.PlanState) cell { return text(plainWords(string(p.Status))) }},
			{label: "Period ends", cell: func(p usage.PlanState) cell { return v.moment(p.Current.End) }, csv: func(p usage.PlanState) string { return exact(p.Current.End) }},
		},
		read: func(ctx context.Context, q query, page ports.Page) (ports.List[usage.PlanState], error) {
			return r.Usage.BillingPlans(ctx, v.account(), q["subscription"], page)
		},
		match: func(q query, p usage.PlanState) bool { return q.is("status", string(p.Status)) },
		empty: empty{Title: "Nothing is billed by usage", Text: "Attach a billing plan to a subscription to bill what it uses of a meter.", Code: "POST /v1/usage/billing-plans"},
	}
	if c.Query("format") == "csv" {
		return l.export(c)
	}
	plans, err := l.part(c, "Billing plans")
	if err != nil {
		return err
	}
	plans.Title = "Billing plans"
	return r.send(c, v, page{
		Nav: base + "/usage", Title: "Usage", Lead: "What your app reports, and what it comes to.", Parts: []part{tablePart("Meters", t), plans},
		Actions: []action{link("New meter", base+"/usage/meters/new").primary()},
	})
}

func meterForm(v *visit) form {
	f := v.form("meter", base+"/usage/meters/new", "Create meter",
		field{Name: "name", Label: "Name", Required: true, Placeholder: "API calls", Half: true, Hint: "Customers read it on their invoice."},
		field{Name: "eventName", Label: "Event name", Required: true, Mono: true, Placeholder: "api.calls", Half: true, Hint: "What your app reports it by."},
		field{Name: "aggregation", Label: "Counts", Type: "select", Options: choices("", "SUM", "The sum of what is reported", "MAX", "The highest value", "LAST", "The last value")})
	f.Cancel = base + "/usage"
	return f
}

func meterPage() page {
	return page{Nav: base + "/usage", Title: "New meter", Up: &action{Label: "Usage", Href: base + "/usage"}}
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
	return r.done(c, base+"/usage", "The meter is ready: report events with its name.")
}

// billingPlan previews the invoice of the running period.
func (r *Routes) billingPlan(c *fiber.Ctx, v *visit) error {
	ctx := c.UserContext()
	s, err := r.Usage.BillingPlan(ctx, v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	p := page{Nav: base + "/usage", Title: "Running period", Lead: v.when(s.Current.Start) + " – " + v.when(s.Current.End), Up: &action{Label: "Usage", Href: base + "/usage"}}
	preview, err := r.Usage.Preview(ctx, v.account(), s.ID)
	switch {
	case fault.Is(err, fault.StateConflict):
		p.Parts = append(p.Parts, notePart("wait", "This billing plan has ended."))
	case err != nil:
		return err
	default:
		t := table{Label: "Lines", Heads: []head{{Label: "Meter"}, {Label: "Used", Num: true}, {Label: "Comes to", Num: true}}}
		var total int64
		for _, l := range preview.Lines {
			name := l.MeterName
			if l.Late {
				name += ", late use of an earlier period"
			}
			if l.Free {
				name += ", free in the trial"
			}
			total += l.AmountMinor
			t.Rows = append(t.Rows, row{[]cell{{Text: name, Sub: l.EventName}, {Text: l.Quantity.String(), Num: true}, {Text: v.price(l.AmountMinor, string(preview.Currency)), Num: true}}})
		}
		t.Rows = append(t.Rows, row{[]cell{text("So far"), text(""), {Text: v.price(total, string(preview.Currency)), Num: true}}})
		shown := tablePart("What the next invoice would be", t)
		shown.Lead = "As it stands at " + v.when(preview.AsOf) + ", before tax."
		p.Parts = append(p.Parts, shown)
	}
	p.Aside = []part{facts("Details", fact{"Subscription", to(s.SubscriptionID, base+"/subscriptions/"+s.SubscriptionID)}, fact{"Customer", to(cmp.Or(s.ExternalCustomerID, s.CustomerID), base+"/customers/"+s.CustomerID)},
		fact{"Status", text(plainWords(string(s.Status)))}, fact{"Meter", copied(s.MeterID)}, fact{"Price", copied(s.PriceID)}, fact{"Id", copied(s.ID)})}
	return r.send(c, v, p)
}
