package dashboard

import (
	"cmp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/ledger"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/refund"
)

// refundReasons are offered; the API takes any.
func refundReasons() []ui.Option {
	return ui.Choices("", "requested_by_customer", "Requested by the customer", "duplicate", "Paid twice", "fraudulent",
		"Fraud", "other", "Another reason")
}

// refundReason puts a refund's reason into words.
func (v *visit) refundReason(reason string) ui.Words {
	if words := labelOf(refundReasons(), reason); words != ui.Data(reason) {
		return words
	}
	if key := "document.reason." + reason; locale.Has(key) {
		return ui.Data(v.reader.Text(key))
	}
	return ui.Data(reason)
}

// refundEnds lists the effects that a refund can have on its subscription.
func refundEnds() []ui.Option {
	return ui.Choices("", "", "Cancel it now if the refund takes access away", string(refund.CancelNow),
		"Cancel it now", string(refund.CancelAtPeriodEnd), "Cancel it at the end of the period",
		string(refund.KeepSubscription), "Keep it")
}

// askRefund asks how much, and then shows what that returns before anything is done.
func (r *Routes) askRefund(c *fiber.Ctx, v *visit) error {
	o, err := r.loadOrder(c.UserContext(), v, c.Params("id"))
	if err != nil {
		return err
	}
	p, at := refundPage(v, o.paid), base+"/orders/"+o.paid.ID
	currency := string(o.paid.Amount.Currency)
	in := ui.ReadInput(c)
	asked, err := in.AmountOf(c.Query("amount"), "amountInCents", currency)
	preview, previewErr := r.Treasury.PreviewRefund(c.UserContext(), v.account(), o.paid.ID, nil)
	if previewErr != nil {
		return r.refused(c, at, previewErr)
	}
	f := ui.Form{ID: "refund", Action: at + "/refund", Submit: "Preview", Cancel: at, Fields: []ui.Field{
		{
			Name: "amount", Label: "Amount", Value: preview.Left.Amount.Typed(), Required: true,
			Suffix: ui.Data(strings.ToUpper(currency)), Half: true, Also: []string{"amountInCents"},
			Hint: v.say("Up to %s can be refunded.", v.reader.Money(preview.Left.Amount)),
		},
		{Name: "reason", Label: "Reason", Type: "select", Options: refundReasons(), Half: true},
		{Name: "keepAccess", Label: "The buyer keeps what they bought", Type: "checkbox"},
	}}
	if o.forSubscription() {
		f.Fields = append(f.Fields, ui.Field{
			Name: "subscription", Label: "Subscription", Type: "select", Options: refundEnds(),
			Hint: "A refund that takes access away cancels the subscription, unless you choose otherwise.",
		})
	}
	f.Get = true
	if asked != nil && err == nil {
		if preview, err = r.Treasury.PreviewRefund(c.UserContext(), v.account(), o.paid.ID, asked); err == nil {
			p.Parts = []ui.Part{r.refundPreview(c, v, o, preview.Share)}
			return r.send(c, v, p)
		}
	}
	if err != nil {
		f.Fields[0].Value = c.Query("amount")
		if !f.Refuse(err) {
			return err
		}
		c.Status(r.layout.Config().StatusOf(err))
	}
	return r.ask(c, v, p, f)
}

func refundPage(v *visit, paid payment.State) ui.Page {
	return ui.Page{
		Nav: base + "/orders", Title: "Refund", Lead: v.say("%s, %s", v.soldAs(paid), v.reader.Money(paid.Amount)),
		Up: &ui.Action{Label: "Order", Href: base + "/orders/" + paid.ID},
	}
}

// refundPreview shows the refund, and asks for confirmation. once is its idempotency key, so that it is made once
// however often the button is pressed.
func (r *Routes) refundPreview(c *fiber.Ctx, v *visit, o orderDetails, share ledger.Share) ui.Part {
	paid := o.paid
	f := v.form("confirm", base+"/orders/"+paid.ID+"/refund", v.say("Refund %s", v.reader.Money(share.Amount)),
		ui.Hidden("amount", share.Amount.Typed()), ui.Hidden("reason", c.Query("reason")),
		ui.Hidden("keepAccess", c.Query("keepAccess")), ui.Hidden("subscription", c.Query("subscription")),
		ui.Hidden("once", r.Identity.NewGuest()))
	f.Danger, f.Cancel = true, base+"/orders/"+paid.ID
	f.Title = "This goes back to the buyer"
	f.Facts = []ui.Fact{
		{Label: "Refund", Value: ui.Text(v.reader.Money(share.Amount))},
		{Label: "Tax included", Value: ui.Text(v.reader.Money(share.Tax))},
		{
			Label: "From your balance",
			Value: ui.Text(v.price(share.Amount.Minor-share.Tax.Minor, string(share.Amount.Currency))),
		},
		{Label: "Reason", Value: ui.Label(v.refundReason(c.Query("reason")))},
	}
	kept := ui.Words("The buyer keeps what they bought.")
	if c.Query("keepAccess") == "" {
		kept = "A full refund takes away what was bought."
	}
	f.Facts = append(f.Facts, ui.Fact{Label: "Access", Value: ui.Label(kept)})
	if o.forSubscription() {
		f.Facts = append(f.Facts, ui.Fact{
			Label: "Subscription", Value: ui.Label(v.say("%s.", labelOf(refundEnds(), c.Query("subscription")))),
		})
	}
	return ui.FormPart(f)
}

func (r *Routes) refund(c *fiber.Ctx, v *visit) error {
	paid, err := r.Payments.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	at, in := base+"/orders/"+paid.ID, ui.ReadInput(c)
	req := refund.Request{
		PaymentID: paid.ID, Minor: in.Amount("amount", "amountInCents", string(paid.Amount.Currency)),
		Reason: cmp.Or(in.Text("reason"), "other"), KeepAccess: in.Checked("keepAccess"),
		Subscription: refund.End(in.Text("subscription")),
	}
	if once := in.Text("once"); once != "" {
		req.Key = "dashboard-" + once
	}
	if err := in.Err(); err != nil {
		return r.refused(c, at, err)
	}
	made, err := r.Refunds.Create(c.UserContext(), v.account(), req)
	if err != nil {
		return r.refused(c, at, err)
	}
	switch made.Status {
	case refund.Succeeded:
		return r.done(c, at, v.say("Refunded %s.", v.reader.Money(made.Share.Amount)))
	case refund.Failed:
		return r.flash(c, at, "bad", v.say("The refund failed: %s", made.FailureReason))
	default:
		return r.done(c, at, v.say("The refund of %s is on its way.", v.reader.Money(made.Share.Amount)))
	}
}
