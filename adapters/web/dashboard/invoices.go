package dashboard

import (
	"cmp"
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/invoice"
	"sundry/ports"
)

func (r *Routes) mountInvoices(at fiber.Router) {
	r.get(at, "/invoices", r.invoices)
	r.get(at, "/invoices/:id", r.invoice)
	r.post(at, "/invoices/:id/pay", r.payInvoice)
}

var invoiceTones = map[invoice.Status]ui.Cell{
	invoice.Open: ui.Badge("Open", "wait"), invoice.Failed: ui.Badge("Payment failed", "bad"),
	invoice.Paid: ui.Badge("Paid", "ok"),
}

// invoiceList lists invoices; customers are the names of who is billed.
func (r *Routes) invoiceList(v *visit, customers *names) *ui.List[invoice.State] {
	return &ui.List[invoice.State]{
		Path: base + "/invoices", FileName: "invoices",
		Filters: []ui.Filter{
			{
				Name: "status", Label: "Status",
				Options: ui.Choices("", "", "Any status", "open", "Open", "failed", "Payment failed", "paid", "Paid"),
			},
			{Name: "q", Label: "Search", Placeholder: "Number or customer", Matched: true},
		},
		Columns: []ui.Column[invoice.State]{
			{Label: "Invoice", Cell: func(i invoice.State) ui.Cell {
				return ui.Cell{Text: ui.Data(cmp.Or(i.Number, i.ID)), Href: base + "/invoices/" + i.ID}
			}},
			{Label: "Total", Num: true, Sort: "-total",
				Cell: func(i invoice.State) ui.Cell { return ui.Text(v.reader.Money(i.Total)) },
				CSV:  func(i invoice.State) string { return i.Total.Coded() }},
			{Label: "Status", Cell: func(i invoice.State) ui.Cell { return invoiceTones[i.Status] }},
			{
				Label: "Customer",
				Cell:  func(i invoice.State) ui.Cell { return customers.cell(i.CustomerID, i.ExternalCustomerID) },
			},
			timeColumn(v, "Date", "-created", func(i invoice.State) time.Time { return i.CreatedAt }),
		},
		Read: named(customers, func(one invoice.State) string { return one.CustomerID },
			func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[invoice.State], error) {
				return r.Invoicing.Invoices(
					ctx, v.account(), ports.InvoiceSearch{Status: invoice.Status(q["status"])}, page,
				)
			}),
		Summary: totals[invoice.State](v, "Invoices", "Invoiced"),
		Match: func(q ui.Query, i invoice.State) bool {
			return q.Has("q", i.Number, i.ID, i.CustomerID, i.ExternalCustomerID, customers.of(i.CustomerID, ""))
		},
		Empty: ui.Empty{
			Title: "No invoices yet",
			Text:  "Usage is invoiced when its period ends. Your backend can also push invoices of its own.",
			Code:  "POST /v1/invoices", Action: &ui.Action{Label: "Read how", Href: "/docs"},
		},
	}
}

func (r *Routes) invoices(c *fiber.Ctx, v *visit) error {
	return show(r, c, v, r.invoiceList(v, r.names(v)), ui.Page{
		Title: "Invoices", Lead: "What was billed after use, and the invoices that your backend made.",
	})
}

func (r *Routes) invoice(c *fiber.Ctx, v *visit) error {
	i, err := r.Invoicing.Invoice(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	status := invoiceTones[i.Status]
	p := ui.Page{
		Nav: base + "/invoices", Title: cmp.Or(ui.Data(i.Number), "Invoice"), Badge: &status,
		Lead: ui.Data(v.reader.Money(i.Total)),
		Up:   &ui.Action{Label: "Invoices", Href: base + "/invoices"},
	}
	if i.Links.Page != "" {
		p.Actions = append(p.Actions, ui.Link("View", i.Links.Page), ui.Link("PDF", i.Links.PDF))
	}
	if i.Status != invoice.Paid {
		p.Actions = append(p.Actions, v.button("Charge now", base+"/invoices/"+i.ID+"/pay").Primary())
	}
	p.Parts = append(invoiceLines(v, i), v.tiersOf(i)...)
	customers := r.names(v)
	if err := customers.load(c.UserContext(), i.CustomerID); err != nil {
		return err
	}
	all := []ui.Fact{
		{Label: "Customer", Value: customers.cell(i.CustomerID, i.ExternalCustomerID)},
		{Label: "Created", Value: v.moment(i.CreatedAt)},
		{Label: "Paid", Value: v.moment(i.PaidAt)},
	}
	if i.SubscriptionID != "" {
		all = append(all, ui.Fact{
			Label: "Subscription", Value: ui.TextLink(i.SubscriptionID, base+"/subscriptions/"+i.SubscriptionID),
		})
	}
	if i.PaymentID != "" {
		all = append(all, ui.Fact{Label: "Payment", Value: ui.TextLink(i.PaymentID, base+"/orders/"+i.PaymentID)})
	}
	if i.Status == invoice.Failed {
		all = append(all,
			ui.Fact{Label: "Reason", Value: ui.Label(wordsOf(declineReasons, i.DeclineCode))},
			ui.Fact{Label: "Next attempt", Value: v.moment(i.NextAttemptAt)},
		)
	}
	all = append(all, metadataFacts(i.Metadata)...)
	p.Aside = []ui.Part{ui.Facts("Details", append(all, ui.Fact{Label: "ID", Value: ui.Copyable(i.ID)})...)}
	return r.send(c, v, p)
}

func (r *Routes) payInvoice(c *fiber.Ctx, v *visit) error {
	at := base + "/invoices/" + c.Params("id")
	_, err := r.Invoicing.Pay(c.UserContext(), v.account(), c.Params("id"))
	return r.result(c, at, err, "The card is charged.")
}

// invoiceLines shows the lines of an invoice with its tax and total.
func invoiceLines(v *visit, i invoice.State) []ui.Part {
	t := ui.Table{Label: "Lines", Heads: []ui.Head{
		{Label: "Line"},
		{Label: "Quantity", Num: true},
		{Label: "Amount", Num: true},
	}}
	currency := string(i.Currency)
	for _, l := range i.Lines {
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			ui.Text(l.Description),
			ui.Number(cmp.Or(l.Quantity(), "–")),
			ui.Number(v.price(l.AmountMinor, currency)),
		}})
	}
	if i.Tax.Minor > 0 {
		t.Rows = append(t.Rows, ui.Row{
			Cells: []ui.Cell{ui.Label("Tax"), ui.Text(""), ui.Number(v.reader.Money(i.Tax))},
		})
	}
	t.Rows = append(t.Rows, ui.Row{
		Cells: []ui.Cell{ui.Label("Total"), ui.Text(""), ui.Number(v.reader.Money(i.Total))},
	})
	return []ui.Part{ui.TablePart("Lines", t)}
}

// tiersOf shows how each rated line came from its tiers.
func (v *visit) tiersOf(i invoice.State) (parts []ui.Part) {
	for _, l := range i.Lines {
		if l.Rated == nil || len(l.Rated.Charges) == 0 {
			continue
		}
		tiers := ui.Table{Label: "Tiers", Heads: []ui.Head{
			{Label: "Tier"},
			{Label: "Quantity", Num: true},
			{Label: "Per unit", Num: true},
			{Label: "Amount", Num: true},
		}}
		for _, charge := range l.Rated.Charges {
			upTo := ui.Words("and more")
			if !charge.Tier.Unbounded {
				upTo = v.say("up to %s", charge.Tier.UpTo.String())
			} else if charge.PackageSize > 0 {
				upTo = v.say("packages of %d", charge.PackageSize)
			}
			tiers.Rows = append(tiers.Rows, ui.Row{Cells: []ui.Cell{
				ui.Label(upTo),
				ui.Number(charge.Quantity.String()),
				ui.Number(charge.Tier.Unit.String()),
				ui.Number(charge.Amount),
			}})
		}
		shown := ui.TablePart(v.say("How “%s” was rated", l.Description), tiers)
		shown.Lead = "In minor units, exactly; the sum of a line is rounded once."
		parts = append(parts, shown)
	}
	return parts
}
