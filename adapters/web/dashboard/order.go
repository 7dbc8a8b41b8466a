package dashboard

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/country"
	"sundry/core/dispute"
	"sundry/core/ledger"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/core/tax"
	"sundry/ports"
)

func (r *Routes) mountOrders(at fiber.Router) {
	r.get(at, "/orders", r.orders)
	r.form(at, "/orders/refunds", r.askRefunds)
	r.post(at, "/orders/refunds", r.refundChosen)
	r.get(at, "/orders/:id", r.order)
	r.form(at, "/orders/:id/refund", r.askRefund)
	r.post(at, "/orders/:id/refund", r.refund)
}

// orderDetails is everything that belongs to a payment.
type orderDetails struct {
	paid     payment.State
	status   ui.Cell
	session  *checkout.State // nil for a payment outside a checkout
	booked   []appointment.State
	refunds  []refund.State
	disputes []dispute.State
	entries  []ledger.Entry // of the payment, its refunds and its disputes, newest first
}

func (r *Routes) loadOrder(ctx context.Context, v *visit, paymentID string) (o orderDetails, err error) {
	paid, err := r.Payments.Listed(ctx, v.account(), paymentID)
	if err != nil {
		return o, err
	}
	o.paid, o.status = paid.State, orderStatus(paid)
	if id := o.paid.CheckoutID(); id != "" {
		session, err := r.Checkout.Get(ctx, v.account(), id)
		if err != nil {
			return o, err
		}
		o.session = &session
	}
	all := ports.Page{Limit: 100}
	if o.session != nil {
		booked, err := r.Booking.Appointments(
			ctx, v.account(), ports.AppointmentSearch{CheckoutID: o.session.ID}, all,
		)
		if err != nil {
			return o, err
		}
		o.booked = booked.Items
		slices.Reverse(o.booked)
	}
	refunds, err := r.Refunds.List(ctx, v.account(), paymentID, all)
	if err != nil {
		return o, err
	}
	disputes, err := r.Disputes.List(ctx, v.account(), paymentID, all)
	if err != nil {
		return o, err
	}
	o.refunds, o.disputes = refunds.Items, disputes.Items
	sources := []string{paymentID}
	for _, f := range o.refunds {
		sources = append(sources, f.ID)
	}
	for _, d := range o.disputes {
		sources = append(sources, d.ID)
	}
	for _, source := range sources {
		entries, err := r.Treasury.Entries(ctx, v.account(), source, all)
		if err != nil {
			return o, err
		}
		o.entries = append(o.entries, entries.Items...)
	}
	slices.SortStableFunc(o.entries, func(a, b ledger.Entry) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return o, nil
}

// forSubscription reports whether the payment was for a subscription.
func (o orderDetails) forSubscription() bool {
	return o.paid.Purpose == payment.ForSubscription || o.session != nil && o.session.SubscriptionID != ""
}

// order is the page of one payment.
func (r *Routes) order(c *fiber.Ctx, v *visit) error {
	o, err := r.loadOrder(c.UserContext(), v, c.Params("id"))
	if err != nil {
		return err
	}
	at := base + "/orders/" + o.paid.ID
	p := ui.Page{
		Nav: base + "/orders", Title: ui.Data(v.reader.Money(o.paid.Amount)), Badge: &o.status, Lead: v.soldAs(o.paid),
		Up: &ui.Action{Label: "Orders", Href: base + "/orders"},
	}
	if o.paid.Status == payment.Succeeded && o.paid.Refunded.Minor < o.paid.Amount.Minor {
		p.Actions = append(p.Actions, ui.Link("Refund", at+"/refund"))
	}
	switch {
	case o.session != nil && o.session.ReceiptNumber != "":
		p.Actions = append(p.Actions, ui.Link("Receipt", r.Checkout.ReceiptURL(o.session.ID)))
	case o.session == nil && o.paid.Sale.ReceiptNumber != "":
		p.Actions = append(p.Actions, ui.Link("Receipt", r.Documents.ReceiptURL(o.paid.ID)))
	}
	p.Parts = append(p.Parts, v.saleLines(o.paid), ui.Part{Kind: "timeline", Title: "Timeline", Data: v.timeline(o)})
	if len(o.refunds) > 0 {
		p.Parts = append(p.Parts, v.refundsPart(o.refunds))
	}
	if earned, ok := v.earningsPart(o.entries); ok {
		behind := v.entriesPart(o.entries)
		behind.Title = "Show postings"
		earned.Kind, earned.Data = "folded", folded{earned.Data, behind}
		p.Parts = append(p.Parts, earned)
	}
	customers := r.names(v)
	if err := customers.load(c.UserContext(), o.paid.CustomerID); err != nil {
		return err
	}
	p.Aside = append(p.Aside, ui.Facts("Order", v.orderFacts(o, customers)...))
	if why := v.taxFacts(o.paid.Sale.TaxDetails); len(why) > 0 {
		p.Aside = append(p.Aside, ui.Facts("Tax", why...))
	}
	if o.session != nil {
		p.Aside = append(p.Aside, ui.Facts("Buyer and source", v.buyerFacts(*o.session)...))
		if err := r.addConsent(c.UserContext(), v, o, &p); err != nil {
			return err
		}
	}
	return r.send(c, v, p)
}

// addConsent shows what the buyer agreed to when they paid, with the refund policy as it was then.
func (r *Routes) addConsent(ctx context.Context, v *visit, o orderDetails, p *ui.Page) error {
	if o.paid.Status != payment.Succeeded {
		return nil
	}
	given := o.session.Consent
	if given == nil {
		p.Aside = append(p.Aside, ui.Facts("Consent", ui.Fact{Label: "Consent", Value: ui.Cell{
			Text: "None", Sub: "Nothing was to be agreed to, or the order wasn’t paid on a page.",
		}}))
		return nil
	}
	all := []ui.Fact{{Label: "Agreed", Value: v.moment(given.AcceptedAt)}}
	for _, one := range []struct {
		label ui.Words
		text  string
	}{
		{"Statement", given.Statement}, {"Immediate supply", given.ImmediateSupply}, {"Terms", given.TermsURL},
		{"Language", given.Locale}, {"Network", given.From.Network}, {"Browser", v.browserOf(given.From)},
	} {
		if one.text != "" {
			all = append(all, ui.Fact{Label: one.label, Value: ui.Text(one.text)})
		}
	}
	p.Aside = append(p.Aside, ui.Facts("Consent", all...))
	policy, err := r.Identity.AgreedPolicy(ctx, v.account(), given.RefundPolicy)
	if err == nil && policy != "" {
		p.Parts = append(p.Parts, ui.TextPart("Refund policy that the buyer agreed to", ui.Data(policy)))
	}
	return err
}

// browserOf names the browser that a buyer agreed with; "" for none.
func (v *visit) browserOf(from checkout.ConsentOrigin) string {
	if from.UserAgent == "" {
		return ""
	}
	return v.browserName(from.UserAgent)
}

// saleLines shows the lines of a payment.
func (v *visit) saleLines(p payment.State) ui.Part {
	t := ui.Table{Label: "Items", Heads: []ui.Head{{Label: "Item"}, {Label: "Amount", Num: true}}}
	add := func(label ui.Words, amount string) {
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{ui.Label(label), ui.Number(amount)}})
	}
	for _, l := range p.Sale.Lines {
		add(ui.Data(l.Text(v.reader)), v.reader.Money(l.Amount))
	}
	if len(p.Sale.Lines) == 0 {
		add("Subtotal", v.reader.Money(p.Sale.Subtotal))
	}
	currency := string(p.Amount.Currency)
	if p.Sale.Discount.Minor > 0 {
		add("Discount", v.price(-p.Sale.Discount.Minor, currency))
	}
	if p.Sale.Credit.Minor > 0 {
		add("Credit", v.price(-p.Sale.Credit.Minor, currency))
	}
	if p.Sale.Tax.Minor > 0 {
		add(ui.Data(v.reader.TaxLine(p.Sale.TaxDetails, p.Sale.TaxAdded.Minor == 0)), v.reader.Money(p.Sale.Tax))
	}
	add("Total", v.reader.Money(p.Amount))
	return ui.TablePart("Items", t)
}

func (v *visit) orderFacts(o orderDetails, customers *names) []ui.Fact {
	p := o.paid
	all := []ui.Fact{
		{Label: "Payment", Value: ui.Copyable(p.ID)},
		{Label: "Receipt", Value: ui.Text(orDash(p.Sale.ReceiptNumber))},
	}
	if p.Last4 != "" {
		all = append(all, ui.Fact{Label: "Card", Value: ui.Text(layout.CardName(p.Brand, p.Last4))})
	}
	if p.Decline.Message != "" && p.Status == payment.Declined {
		all = append(all, ui.Fact{Label: "Reason",
			Value: ui.Cell{Text: v.declined(p.Decline), Sub: ui.Data(string(p.Decline.Code))}})
	}
	if p.CustomerID != "" {
		all = append(all, ui.Fact{Label: "Customer", Value: customers.cell(p.CustomerID, "")})
	}
	if p.Purpose == payment.ForSubscription {
		all = append(all, ui.Fact{
			Label: "Subscription", Value: ui.TextLink(p.SubjectID, base+"/subscriptions/"+p.SubjectID),
		})
	}
	if o.session != nil {
		all = append(all, ui.Fact{Label: "Listing", Value: ui.TextLink(o.session.Offer.Title,
			base+"/listings/"+o.session.Offer.ListingID)})
	}
	for _, a := range o.booked {
		all = append(all, ui.Fact{Label: "Appointment", Value: ui.Cell{
			Text: ui.Data(v.when(a.StartsAt)), At: a.StartsAt, Href: base + "/bookings/" + a.ID,
		}})
	}
	if p.Purpose == payment.ForInvoice {
		all = append(all, ui.Fact{Label: "Invoice", Value: ui.TextLink(p.SubjectID, base+"/invoices/"+p.SubjectID)})
	}
	return append(all,
		ui.Fact{Label: "Created", Value: v.moment(p.CreatedAt)},
		ui.Fact{Label: "Settled", Value: v.moment(p.SettledAt)},
	)
}

// declined explains a decline as the buyer reads it.
func (v *visit) declined(reason payment.DeclineReason) ui.Words {
	return ui.Data(v.reader.Decline(string(reason.Code)))
}

var taxTreatments = map[tax.Treatment]ui.Words{
	tax.Undetermined: "None: the country isn't known", tax.Taxed: "Collected", tax.ReverseCharge: "Reverse charge",
	tax.NotCollected: "None: not registered there",
}

// taxFacts explain the tax of a payment, with the check of the VAT ID that removed it.
func (v *visit) taxFacts(d tax.Details) []ui.Fact {
	treatment, computed := taxTreatments[d.Treatment]
	if !computed {
		return nil
	}
	where := country.Name(d.Country, v.reader.Language)
	if d.Treatment == tax.NotCollected && d.Country != "" {
		treatment = v.say("None, not registered in %s", where)
	}
	all := []ui.Fact{{Label: "Tax", Value: ui.Label(treatment)}}
	if d.Country != "" {
		all = append(all, ui.Fact{Label: "Country", Value: ui.Text(where)})
	}
	if d.TaxID == "" {
		return all
	}
	all = append(all, ui.Fact{Label: "VAT ID", Value: ui.Copyable(d.TaxID)})
	check := d.Evidence.VATCheck
	if check.ID == "" {
		return append(all, ui.Fact{
			Label: "VAT ID check",
			Value: ui.Cell{Text: "Shape and check digits", Sub: "No register was asked, or none responded."},
		})
	}
	result := ui.Badge("Registered", "ok")
	if !check.Registered {
		result = ui.Badge("Not registered", "bad")
	}
	all = append(all,
		ui.Fact{Label: "VAT ID check", Value: result},
		ui.Fact{Label: "Checked", Value: v.moment(check.CheckedAt)},
	)
	if check.Consultation != "" {
		all = append(all, ui.Fact{Label: "Consultation number", Value: ui.Copyable(check.Consultation)})
	}
	return all
}

func (v *visit) buyerFacts(s checkout.State) []ui.Fact {
	all := []ui.Fact{
		{Label: "Email", Value: ui.Text(orDash(s.Email))},
		{Label: "Name", Value: ui.Text(orDash(s.Buyer.Name))},
		{Label: "Country", Value: v.country(s.Buyer.Country)},
	}
	if s.SubscriptionID != "" {
		all = append(all, ui.Fact{
			Label: "Subscription", Value: ui.TextLink(s.SubscriptionID, base+"/subscriptions/"+s.SubscriptionID),
		})
	}
	if s.PaymentLinkID != "" {
		all = append(all, ui.Fact{
			Label: "Payment link", Value: ui.TextLink(s.PaymentLinkID, base+"/links/"+s.PaymentLinkID),
		})
	}
	if s.ReferenceID != "" {
		all = append(all, ui.Fact{Label: "Reference", Value: ui.Copyable(s.ReferenceID)})
	}
	for _, name := range slices.Sorted(maps.Keys(s.UTM)) {
		all = append(all, ui.Fact{Label: ui.Data(name), Value: ui.Text(s.UTM[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Metadata)) {
		all = append(all, ui.Fact{Label: ui.Data(name), Value: ui.Text(s.Metadata[name])})
	}
	return append(all, ui.Fact{Label: "Checkout", Value: ui.Copyable(s.ID)})
}

// timeline lists the events of a payment, the latest first.
func (v *visit) timeline(o orderDetails) []ui.Step {
	type moment struct {
		at time.Time
		ui.Step
	}
	var all []moment
	add := func(at time.Time, tone string, title, text ui.Words) {
		if !at.IsZero() {
			all = append(all, moment{at, ui.Step{Title: title, Text: text, Tone: tone, At: v.when(at)}})
		}
	}
	if o.session != nil {
		add(o.session.CreatedAt, "mute", "Checkout opened", "")
	}
	add(o.paid.CreatedAt, "mute", "Payment started", "")
	switch o.paid.Status {
	case payment.Succeeded:
		add(o.paid.SettledAt, "ok", "Paid", ui.Data(v.reader.Money(o.paid.Amount)))
	case payment.Declined:
		add(o.paid.SettledAt, "bad", "Declined", v.declined(o.paid.Decline))
	case payment.Canceled:
		add(o.paid.SettledAt, "mute", "Canceled", "")
	default:
	}
	for _, f := range o.refunds {
		begun, note := ui.Words("Refund requested"), ui.Words("no credit note")
		if f.Automatic {
			begun = "Refund started automatically"
		}
		if f.CreditNoteNumber != "" {
			note = v.say("credit note %s", f.CreditNoteNumber)
		}
		add(f.CreatedAt, "wait", begun, v.say("%s, %s", v.reader.Money(f.Share.Amount), v.refundReason(f.Reason)))
		switch f.Status {
		case refund.Succeeded:
			add(f.SettledAt, "ok", "Refunded", v.say("%s, %s", v.reader.Money(f.Share.Amount), note))
		case refund.Failed:
			add(f.SettledAt, "bad", "Refund failed", ui.Data(f.FailureReason))
		default:
		}
	}
	for _, d := range o.disputes {
		add(d.CreatedAt, "bad", "Disputed", v.say("The bank’s reason: %s", wordsOf(disputeReasons, d.Reason)))
		if d.Status.Closed() {
			if d.Status == dispute.Won {
				add(d.ClosedAt, "ok", "Dispute won", "")
			} else {
				add(d.ClosedAt, "bad", "Dispute lost", "")
			}
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return b.at.Compare(a.at) })
	steps := make([]ui.Step, len(all))
	for i, m := range all {
		steps[i] = m.Step
	}
	return steps
}

var refundTones = map[refund.Status]ui.Cell{
	refund.Pending: ui.Badge("Pending", "wait"), refund.Succeeded: ui.Badge("Refunded", "ok"),
	refund.Failed: ui.Badge("Failed", "bad"),
}

func (v *visit) refundsPart(refunds []refund.State) ui.Part {
	t := ui.Table{Label: "Refunds", Heads: []ui.Head{
		{Label: "Refund"},
		{Label: "Amount", Num: true},
		{Label: "Tax included", Num: true},
		{Label: "Status"},
		{Label: "Date"},
	}}
	for _, f := range refunds {
		about, pairs := []string{v.text(v.refundReason(f.Reason))}, f.Metadata.Map()
		for _, key := range slices.Sorted(maps.Keys(pairs)) {
			about = append(about, key+": "+pairs[key])
		}
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			{Text: ui.Data(cmp.Or(f.CreditNoteNumber, f.ID)), Sub: ui.Data(strings.Join(about, " · "))},
			ui.Number(v.reader.Money(f.Share.Amount)),
			ui.Number(v.reader.Money(f.Share.Tax)),
			refundTones[f.Status], v.moment(f.CreatedAt),
		}})
	}
	return ui.TablePart("Refunds", t)
}

// folded is a table with what it is made of behind it.
type folded struct {
	Table  any
	Behind ui.Part
}

// entriesPart shows ledger entries.
func (v *visit) entriesPart(entries []ledger.Entry) ui.Part {
	t := ui.Table{Label: "Ledger", Heads: []ui.Head{
		{Label: "Posting"},
		{Label: "Account"},
		{Label: "Amount", Num: true},
		{Label: "Date"},
	}}
	for _, e := range entries {
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			ui.Label(wordsOf(postings, e.Kind)), ui.Label(wordsOf(ledgerAccounts, e.Account)),
			ui.Number(v.reader.Money(e.Amount)), v.moment(e.CreatedAt),
		}})
	}
	p := ui.TablePart("Postings", t)
	p.Lead = "Debits are positive, credits negative; each posting adds up to zero."
	return p
}
