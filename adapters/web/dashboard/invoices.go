package dashboard

import (
	"cmp"
	"context"

	"github.com/gofiber/fiber/v2"

	"sundry/core/invoice"
	"sundry/ports"
)

func (r *Routes) mountInvoices(at fiber.Router) {
	r.get(at, "/invoices", r.invoices)
	r.get(at, "/invoices/:id", r.invoice)
	r.post(at, "/invoices/:id/pay", r.payInvoice)
}

var invoiceTones = map[invoice.Status]cell{
	invoice.Open: badge("Open", "wait"), invoice.Failed: badge("Payment failed", "bad"), invoice.Paid: badge("Paid", "ok"),
}

func (r *Routes) invoices(c *fiber.Ctx, v *visit) error {
	customers := r.names(v)
	l := &list[invoice.State]{
		path: base + "/invoices", name: "invoices",
		filters: []filter{
			{Name: "status", Label: "Status", Options: choices("", "", "Any status", "open", "Open", "failed", "Payment failed", "paid", "Paid")},
			{Name: "q", Label: "Search", Placeholder: "Number or customer"},
		},
		columns: []column[invoice.State]{
			{label: "Invoice", cell: func(i invoice.State) cell {
				return cell{Text: cmp.Or(i.Number, i.ID), Href: base + "/invoices/" + i.ID}
			}},
			{label: "Total", num: true, cell: func(i invoice.State) cell { return text(v.reader.Money(i.Total)) },
				csv: func(i invoice.State) string { return i.Total.Typed() + " " + string(i.Currency) }},
			{label: "Status", cell: func(i invoice.State) cell { return invoiceTones[i.Status] }},
			{label: "Customer", cell: func(i invoice.State) cell { return customers.cell(i.CustomerID, i.ExternalCustomerID) }},
			{label: "Date", cell: func(i invoice.State) cell { return v.moment(i.CreatedAt) }, csv: func(i invoice.State) string { return exact(i.CreatedAt) }},
		},
		read: named(customers, func(one invoice.State) string { return one.CustomerID },
			func(ctx context.Context, q query, page ports.Page) (ports.List[invoice.State], error) {
				return r.Invoicing.Invoices(ctx, v.account(), ports.InvoiceSearch{Status: invoice.Status(q["status"])}, page)
			}),
		match: func(q query, i invoice.State) bool {
			return q.has("q", i.Number, i.ID, i.CustomerID, i.ExternalCustomerID, customers.of(i.CustomerID, ""))
		},
		empty: empty{Title: "No invoices yet", Text: "Usage is invoiced when its period ends. Your backend can also push invoices of its own.", Code: "POST /v1/invoices",
			Action: &action{Label: "Read how", Href: "/docs"}},
	}
	return show(r, c, v, l, page{Title: "Invoices", Lead: "What was billed after use, and the invoices that your backend made."})
}

func (r *Routes) invoice(c *fiber.Ctx, v *visit) error {
	i, err := r.Invoicing.Invoice(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	status := invoiceTones[i.Status]
	p := page{Nav: base + "/invoices", Title: cmp.Or(i.Number, "Invoice"), Badge: &status, Lead: v.reader.Money(i.Total), Up: &action{Label: "Invoices", Href: base + "/invoices"}}
	if i.Links.Page != "" {
		p.Actions = append(p.Actions, link("Open", i.Links.Page), link("PDF", i.Links.PDF))
	}
	if i.Status != invoice.Paid {
		p.Actions = append(p.Actions, v.button("Charge now", base+"/invoices/"+i.ID+"/pay").primary())
	}
	t := table{Label: "Lines", Heads: []head{{Label: "Line"}, {Label: "Quantity", Num: true}, {Label: "Amount", Num: true}}}
	currency := string(i.Currency)
	for _, l := range i.Lines {
		quantity := "–"
		if l.Rated != nil {
			quantity = l.Rated.Quantity.String()
		}
		t.Rows = append(t.Rows, row{[]cell{text(l.Description), {Text: quantity, Num: true}, {Text: v.price(l.AmountMinor, currency), Num: true}}})
	}
	if i.Tax.Minor > 0 {
		t.Rows = append(t.Rows, row{[]cell{text("Tax"), text(""), {Text: v.reader.Money(i.Tax), Num: true}}})
	}
	t.Rows = append(t.Rows, row{[]cell{text("Total"), text(""), {Text: v.reader.Money(i.Total), Num: true}}})
	p.Parts = append(p.Parts, tablePart("Lines", t))
	for _, l := range i.Lines {
		if l.Rated == nil || len(l.Rated.Charges) == 0 {
			continue
		}
		tiers := table{Label: "Tiers", Heads: []head{{Label: "Tier"}, {Label: "Quantity", Num: true}, {Label: "Per unit", Num: true}, {Label: "Amount", Num: true}}}
		for _, charge := range l.Rated.Charges {
			upTo := "and more"
			if !charge.Tier.Unbounded {
				upTo = "up to " + charge.Tier.UpTo.String()
			}
			tiers.Rows = append(tiers.Rows, row{[]cell{text(upTo), {Text: charge.Quantity.String(), Num: true}, {Text: charge.Tier.Unit.String(), Num: true}, {Text: charge.Amount, Num: true}}})
		}
		shown := tablePart("How “"+l.Description+"” was rated", tiers)
		shown.Lead = "In minor units, exactly; the sum of a line is rounded once."
		p.Parts = append(p.Parts, shown)
	}
	customers := r.names(v)
	if err := customers.load(c.UserContext(), i.CustomerID); err != nil {
		return err
	}
	all := []fact{
		{"Customer", customers.cell(i.CustomerID, i.ExternalCustomerID)}, {"Created", v.moment(i.CreatedAt)}, {"Paid", v.moment(i.PaidAt)},
	}
	if i.SubscriptionID != "" {
		all = append(all, fact{"Subscription", to(i.SubscriptionID, base+"/subscriptions/"+i.SubscriptionID)})
	}
	if i.PaymentID != "" {
		all = append(all, fact{"Payment", to(i.PaymentID, base+"/orders/"+i.PaymentID)})
	}
	if i.Status == invoice.Failed {
		all = append(all, fact{"Why it failed", text(plainWords(i.DeclineCode))}, fact{"Next attempt", v.moment(i.NextAttemptAt)})
	}
	p.Aside = []part{facts("Details", append(all, fact{"ID", copied(i.ID)})...)}
	return r.send(c, v, p)
}

func (r *Routes) payInvoice(c *fiber.Ctx, v *visit) error {
	at := base + "/invoices/" + c.Params("id")
	if _, err := r.Invoicing.Pay(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "The card is charged.")
}
