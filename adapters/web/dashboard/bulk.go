package dashboard

import (
	"cmp"
	"errors"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// maxChosen bounds the lines of a list that something is done with at once: as many as two pages have.
const maxChosen = 100

// chosen are the ids that a list's boxes, or the form of the page that asks, sent, each once.
func chosen(c *fiber.Ctx) (ids []string) {
	args := c.Context().QueryArgs()
	if c.Method() == fiber.MethodPost {
		args = c.Context().PostArgs()
	}
	for _, raw := range args.PeekMulti("id") {
		if id := string(raw); len(ids) < maxChosen && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// hidden are the fields that send ids on.
func hidden(ids []string) (fields []ui.Field) {
	for _, id := range ids {
		fields = append(fields, ui.Hidden("id", id))
	}
	return fields
}

// askArchive asks before listings are archived.
func (r *Routes) askArchive(c *fiber.Ctx, v *visit) error {
	t := ui.Table{Label: "Listings", Heads: []ui.Head{{Label: "Listing"}, {Label: "Status"}}}
	var ids []string
	for _, id := range chosen(c) {
		l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), id)
		switch {
		case fault.Is(err, fault.NotFoundCode):
		case err != nil:
			return err
		case l.Status != listing.Archived:
			ids = append(ids, id)
			t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
				ui.TextLink(l.Title, base+"/listings/"+l.ID), listingTones[l.Status],
			}})
		}
	}
	if len(ids) == 0 {
		return r.flash(c, base+"/listings", "bad", "Choose the listings to archive first.")
	}
	archive := v.plural(len(ids), "Archive %d listing", "Archive %d listings")
	f := v.form("archive", base+"/listings/archive", archive, hidden(ids)...)
	f.Danger, f.Cancel = true, base+"/listings"
	f.Lead = "Nobody can buy them any more. Earlier buyers keep their access, and running subscriptions go on."
	return r.send(c, v, ui.Page{
		Nav: base + "/listings", Title: archive,
		Up: &ui.Action{Label: "Listings", Href: base + "/listings"}, Parts: []ui.Part{ui.TablePart("", t), ui.FormPart(f)},
	})
}

// archiveChosen archives listings, each by itself. One that is archived already stays so.
func (r *Routes) archiveChosen(c *fiber.Ctx, v *visit) error {
	done, left := 0, ui.Words("")
	for _, id := range chosen(c) {
		l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), id)
		if err == nil && l.Status != listing.Archived {
			if _, err = r.Catalog.Archive(c.UserContext(), v.account(), id); err == nil {
				done++
			}
		}
		var refusal *fault.Error
		switch {
		case errors.As(err, &refusal):
			left = v.say("%s: %s", cmp.Or(l.Title, id), reasonOf(refusal))
		case err != nil:
			return err
		}
	}
	archived := v.plural(done, "%d listing archived.", "%d listings archived.")
	if left != "" {
		return r.flash(c, base+"/listings", "bad", v.say("%s %s", archived, left))
	}
	return r.done(c, base+"/listings", archived)
}

// refundKey is the idempotency key of the refund of a chosen payment.
func refundKey(once, paymentID string) string { return "dashboard-" + once + "-" + paymentID }

// maxOnce bounds what a form sends to be done once.
const maxOnce = 100

// chosenOrders returns the orders that a request names; one that is not the account's is left out.
func (r *Routes) chosenOrders(c *fiber.Ctx, v *visit) (orders []ports.ListedPayment, err error) {
	for _, id := range chosen(c) {
		paid, err := r.Payments.Listed(c.UserContext(), v.account(), id)
		if fault.Is(err, fault.NotFoundCode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		orders = append(orders, paid)
	}
	return orders, nil
}

// askRefunds asks before the rest of chosen orders is refunded; afterwards it shows the result of each.
func (r *Routes) askRefunds(c *fiber.Ctx, v *visit) error {
	if once := c.Query("once"); once != "" && len(once) <= maxOnce {
		return r.showRefunds(c, v, once)
	}
	t := ui.Table{Label: "Orders", Heads: []ui.Head{{Label: "Order"}, {Label: "To refund", Num: true}}}
	var ids []string
	sums := map[string]int64{}
	orders, err := r.chosenOrders(c, v)
	if err != nil {
		return err
	}
	for _, paid := range orders {
		cell := ui.Cell{Num: true}
		if why := heldBack(paid); why != "" {
			t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{v.orderCell(paid), {Text: "–", Sub: why, Num: true}}})
			continue
		}
		preview, err := r.Treasury.PreviewRefund(c.UserContext(), v.account(), paid.ID, nil)
		var refusal *fault.Error
		switch {
		case errors.As(err, &refusal):
			cell.Text = "–"
			cell.Sub = reasonOf(refusal)
		case err != nil:
			return err
		default:
			ids = append(ids, paid.ID)
			cell.Text = ui.Data(v.reader.Money(preview.Share.Amount))
			sums[string(preview.Share.Amount.Currency)] += preview.Share.Amount.Minor
		}
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{v.orderCell(paid), cell}})
	}
	if len(t.Rows) == 0 {
		return r.flash(c, base+"/orders", "bad", "Choose the orders to refund first.")
	}
	p := refundsPage(v.plural(len(ids), "Refund %d order", "Refund %d orders"))
	p.Parts = []ui.Part{ui.TablePart("", t)}
	if len(ids) > 0 {
		p.Parts = append(p.Parts, ui.FormPart(r.refundsForm(v, ids, sums)))
	}
	return r.send(c, v, p)
}

// orderCell names an order in a table.
func (v *visit) orderCell(paid ports.ListedPayment) ui.Cell {
	return ui.Cell{Text: v.soldAs(paid.State), Href: base + "/orders/" + paid.ID, Sub: ui.Data(paid.Sale.ReceiptNumber)}
}

// heldBack explains why an order can't be refunded while its money is held; "" where it isn't.
func heldBack(paid ports.ListedPayment) ui.Words {
	if paid.Standing() == payment.StandingDisputed {
		return "It’s disputed: nothing can be refunded now."
	}
	return ""
}

func refundsPage(title ui.Words) ui.Page {
	return ui.Page{Nav: base + "/orders", Title: title, Up: &ui.Action{Label: "Orders", Href: base + "/orders"}}
}

// refundsForm asks for confirmation, with what goes back in each currency.
func (r *Routes) refundsForm(v *visit, ids []string, sums map[string]int64) ui.Form {
	fields := append(hidden(ids), ui.Hidden("once", r.Identity.NewGuest()), ui.Field{
		Name: "reason", Label: "Reason", Type: "select", Options: refundReasons(),
	})
	f := v.form("refunds", base+"/orders/refunds", v.plural(len(ids), "Refund %d order", "Refund %d orders"),
		fields...)
	f.Danger, f.Cancel = true, base+"/orders"
	f.Title = "This goes back to the buyers"
	f.Lead = "All that is left of each order. It takes away what was bought, and cancels its subscription."
	for _, currency := range sortedAmounts(sums) {
		f.Facts = append(f.Facts, ui.Fact{Label: "Refund", Value: ui.Text(v.price(sums[currency], currency))})
	}
	return f
}

func sortedAmounts(sums map[string]int64) []string {
	all := make([]string, 0, len(sums))
	for currency := range sums {
		all = append(all, currency)
	}
	slices.Sort(all)
	return all
}

// refundChosen requests the refunds, each in a transaction of its own; a task makes each. The same form again requests
// none of them twice.
func (r *Routes) refundChosen(c *fiber.Ctx, v *visit) error {
	in, ids := ui.ReadInput(c), chosen(c)
	once := in.Text("once")
	if once == "" || len(once) > maxOnce {
		return r.flash(c, base+"/orders", "bad", "Choose the orders to refund first.")
	}
	for _, id := range ids {
		_, err := r.Refunds.Request(c.UserContext(), v.account(), refund.Request{
			PaymentID: id, Reason: cmp.Or(in.Text("reason"), "other"), Key: refundKey(once, id),
		})
		var refusal *fault.Error
		if err != nil && !errors.As(err, &refusal) {
			return err
		}
	}
	results := url.Values{"once": {once}, "id": ids}
	return r.done(c, base+"/orders/refunds?"+results.Encode(), "The refunds were requested.")
}

// showRefunds shows how far the refunds of a form are, order by order.
func (r *Routes) showRefunds(c *fiber.Ctx, v *visit, once string) error {
	t := ui.Table{Label: "Refunds", Heads: []ui.Head{{Label: "Order"}, {Label: "Amount", Num: true}, {Label: "Result"}}}
	settled, pending := 0, 0
	orders, err := r.chosenOrders(c, v)
	if err != nil {
		return err
	}
	for _, paid := range orders {
		amount := ui.Cell{Num: true}
		var result ui.Cell
		made, err := r.Refunds.Requested(c.UserContext(), v.account(), refundKey(once, paid.ID))
		switch {
		case fault.Is(err, fault.NotFoundCode):
			settled++
			result = ui.Cell{Text: "Not refunded", Sub: cmp.Or(heldBack(paid), r.whyNotRefunded(c, v, paid.ID))}
		case err != nil:
			return err
		default:
			amount.Text, result = ui.Data(v.reader.Money(made.Share.Amount)), refundTones[made.Status]
			if made.Status == refund.Pending {
				pending++
			} else {
				settled++
			}
		}
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{v.orderCell(paid), amount, result}})
	}
	p := refundsPage("Refunds")
	p.Lead = v.say("%d of %d are done.", settled, settled+pending)
	if pending > 0 {
		p.Actions = []ui.Action{ui.Link("Update", c.OriginalURL())}
	}
	p.Parts = []ui.Part{ui.TablePart("", t)}
	return r.send(c, v, p)
}

// whyNotRefunded explains why nothing was requested for an order; "" where nothing is known.
func (r *Routes) whyNotRefunded(c *fiber.Ctx, v *visit, paymentID string) ui.Words {
	_, err := r.Treasury.PreviewRefund(c.UserContext(), v.account(), paymentID, nil)
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return reasonOf(refusal)
	}
	return ""
}
