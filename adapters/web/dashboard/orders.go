package dashboard

import (
	"context"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/payment"
	"sundry/ports"
)

// standings are the badges of a payment's states, in the order of the filter.
var standings = []struct {
	is payment.Standing
	ui.Cell
}{
	{payment.StandingPaid, ui.Badge("Paid", "ok")},
	{payment.StandingPartlyRefunded, ui.Badge("Partly refunded", "wait")},
	{payment.StandingRefunded, ui.Badge("Refunded", "mute")},
	{payment.StandingDisputed, ui.Badge("Disputed", "bad")},
	{payment.StandingDisputeLost, ui.Badge("Dispute lost", "bad")},
	{payment.Standing(payment.Declined), ui.Badge("Declined", "bad")},
	{payment.Standing(payment.Pending), ui.Badge("Pending", "wait")},
	{payment.Standing(payment.Processing), ui.Badge("Processing", "wait")},
	{payment.Standing(payment.RequiresAction), ui.Badge("Needs confirmation", "wait")},
	{payment.Standing(payment.Canceled), ui.Badge("Canceled", "mute")},
}

// orderStatus returns a payment's badge.
func orderStatus(p ports.ListedPayment) ui.Cell {
	for _, s := range standings {
		if s.is == p.Standing() {
			return s.Cell
		}
	}
	return ui.Text(orDash(string(p.Standing())))
}

// standingChoices are the options of the filter by state.
func standingChoices() []ui.Option {
	all := ui.Choices("", "", "Any status")
	for _, s := range standings {
		all = append(all, ui.Option{Value: string(s.is), Label: s.Text})
	}
	return all
}

// soldAs names the purpose of a payment.
func (v *visit) soldAs(p payment.State) ui.Words {
	if len(p.Sale.Lines) > 0 {
		return ui.Data(p.Sale.Lines[len(p.Sale.Lines)-1].Text(v.reader))
	}
	return "Order"
}

// orderList lists orders; customers are the names of who paid.
func (r *Routes) orderList(v *visit, customers *names) *ui.List[ports.ListedPayment] {
	return &ui.List[ports.ListedPayment]{
		Path: base + "/orders", FileName: "orders",
		Filters: []ui.Filter{
			{Name: "status", Label: "Status", Options: standingChoices()},
			{Name: "customer", Label: "Customer", Placeholder: "Email, cus_… or external ID", Matched: true},
			{Name: "q", Label: "Search", Placeholder: "Product or receipt number", Matched: true},
			{Name: "from", Label: "From", Date: true},
			{Name: "until", Label: "To", Date: true},
		},
		Columns: []ui.Column[ports.ListedPayment]{
			{Label: "Order", Cell: v.orderCell},
			{
				Label: "Amount", Num: true, Sort: "-amount",
				Cell: func(p ports.ListedPayment) ui.Cell { return ui.Text(v.reader.Money(p.Amount)) },
				CSV:  func(p ports.ListedPayment) string { return p.Amount.Coded() },
			},
			{Label: "Status", Cell: orderStatus},
			{
				Label: "Customer",
				Cell:  func(p ports.ListedPayment) ui.Cell { return customers.cell(p.CustomerID, p.ExternalCustomerID) },
			},
			timeColumn(v, "Date", "-created", func(p ports.ListedPayment) time.Time { return p.CreatedAt }),
		},
		Read: named(customers, func(one ports.ListedPayment) string { return one.CustomerID },
			func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[ports.ListedPayment], error) {
				return r.Payments.List(ctx, v.account(), orderSearch(q), page)
			}),
		Summary: func(ctx context.Context, q ui.Query, _ ports.List[ports.ListedPayment]) (ui.Part, error) {
			return r.orderTotals(ctx, v, q)
		},
		Match: func(q ui.Query, p ports.ListedPayment) bool {
			return q.Has("q", v.text(v.soldAs(p.State)), p.Sale.ReceiptNumber, p.ID) && q.Has(
				"customer", p.CustomerID, p.ExternalCustomerID, customers.of(p.CustomerID, ""),
			)
		},
		Empty: ui.Empty{
			Title:  "No orders yet",
			Text:   "Create a payment link for one of your listings, open it and pay with a test card.",
			Action: &ui.Action{Label: "Create a payment link", Href: base + "/links/new", Tone: "primary"},
		},
		Bulk: &ui.Bulk[ports.ListedPayment]{
			Action: base + "/orders/refunds", Label: "Refund selected orders",
			ID: func(p ports.ListedPayment) string {
				if p.Status != payment.Succeeded || p.Refunded.Minor >= p.Amount.Minor {
					return ""
				}
				return p.ID
			},
			Name: func(p ports.ListedPayment) string {
				return v.text("%s, %s", v.soldAs(p.State), v.reader.Money(p.Amount))
			},
		},
	}
}

func (r *Routes) orders(c *fiber.Ctx, v *visit) error {
	return show(r, c, v, r.orderList(v, r.names(v)), ui.Page{
		Title: "Orders", Lead: "Every payment that was tried.",
	})
}

// orderSearch is the part of the filters that the database knows.
func orderSearch(q ui.Query) ports.PaymentSearch {
	return ports.PaymentSearch{Standing: payment.Standing(q["status"]), Created: q.Days("from", "until")}
}

// orderTotals adds up what the filters find.
func (r *Routes) orderTotals(ctx context.Context, v *visit, q ui.Query) (ui.Part, error) {
	totals, err := r.Payments.Totals(ports.AllowStale(ctx), v.account(), orderSearch(q))
	if err != nil {
		return ui.Part{}, err
	}
	var count int64
	var all []ui.Stat
	for _, t := range totals {
		count += t.Count
		paid := ui.Stat{Label: "Paid", Value: v.price(t.Paid, string(t.Currency))}
		if t.Refunded > 0 {
			paid.Note = v.say("of which %s refunded", v.price(t.Refunded, string(t.Currency)))
		}
		all = append(all, paid)
	}
	shown := ui.Part{Kind: "totals", Data: append([]ui.Stat{{Label: "Orders", Value: fmt.Sprint(count)}}, all...)}
	if count >= ports.NewestRows {
		shown.Lead = "Totals of the latest 10,000 orders. Choose days for the rest."
	}
	return shown, nil
}
