package dashboard

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"sundry/core/payment"
	"sundry/ports"
)

// orderTones are the badges of a payment's states.
var orderTones = map[payment.Status]cell{
	payment.Pending:        badge("Pending", "wait"),
	payment.RequiresAction: badge("Needs confirmation", "wait"),
	payment.Processing:     badge("Processing", "wait"),
	payment.Succeeded:      badge("Paid", "ok"),
	payment.Declined:       badge("Declined", "bad"),
	payment.Canceled:       badge("Canceled", "mute"),
}

// orderStatus is a payment's badge, with what has gone back.
func orderStatus(p payment.State) cell {
	switch {
	case p.Status == payment.Succeeded && p.Refunded.Minor >= p.Amount.Minor && p.Refunded.Minor > 0:
		return badge("Refunded", "mute")
	case p.Status == payment.Succeeded && p.Refunded.Minor > 0:
		return badge("Partly refunded", "wait")
	}
	return orderTones[p.Status]
}

// soldAs is what a payment was for.
func soldAs(p payment.State) string {
	if len(p.Sale.Lines) > 0 {
		return p.Sale.Lines[len(p.Sale.Lines)-1].Description
	}
	return "Order"
}

func (r *Routes) orderList(v *visit) *list[ports.ListedPayment] {
	customers := r.names(v)
	return &list[ports.ListedPayment]{
		path: base + "/orders", name: "orders",
		filters: []filter{
			{Name: "status", Label: "Status", Options: choices("", "", "Any status", "succeeded", "Paid", "declined", "Declined", "processing", "Processing",
				"requires_action", "Needs confirmation", "canceled", "Canceled")},
			{Name: "customer", Label: "Customer", Placeholder: "Email, cus_… or your ID"},
			{Name: "q", Label: "Search", Placeholder: "Product or receipt number"},
		},
		columns: []column[ports.ListedPayment]{
			{label: "Order", cell: func(p ports.ListedPayment) cell {
				return cell{Text: soldAs(p.State), Href: base + "/orders/" + p.ID, Sub: p.Sale.ReceiptNumber}
			}},
			{label: "Amount", num: true, cell: func(p ports.ListedPayment) cell { return text(v.reader.Money(p.Amount)) },
				csv: func(p ports.ListedPayment) string { return p.Amount.Typed() + " " + string(p.Amount.Currency) }},
			{label: "Status", cell: func(p ports.ListedPayment) cell { return orderStatus(p.State) }},
			{label: "Customer", cell: func(p ports.ListedPayment) cell { return customers.cell(p.CustomerID, p.ExternalCustomerID) }},
			{label: "Date", cell: func(p ports.ListedPayment) cell { return v.moment(p.CreatedAt) }, csv: func(p ports.ListedPayment) string { return exact(p.CreatedAt) }},
		},
		read: named(customers, func(one ports.ListedPayment) string { return one.CustomerID },
			func(ctx context.Context, q query, page ports.Page) (ports.List[ports.ListedPayment], error) {
				return r.Payments.List(ctx, v.account(), ports.PaymentSearch{Status: payment.Status(q["status"])}, page)
			}),
		match: func(q query, p ports.ListedPayment) bool {
			return q.has("q", soldAs(p.State), p.Sale.ReceiptNumber, p.ID) && q.has("customer", p.CustomerID, p.ExternalCustomerID, customers.of(p.CustomerID, ""))
		},
		empty: empty{
			Title: "No orders yet", Text: "Create a payment link for one of your listings, open it and pay with a test card.",
			Action: &action{Label: "Create a payment link", Href: base + "/links/new", Tone: "primary"},
		},
	}
}

func (r *Routes) orders(c *fiber.Ctx, v *visit) error {
	return show(r, c, v, r.orderList(v), page{Title: "Orders", Lead: "Every payment that was tried, newest first."})
}
