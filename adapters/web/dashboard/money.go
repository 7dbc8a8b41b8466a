package dashboard

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/identity"
	"sundry/core/ledger"
	"sundry/core/payout"
	"sundry/ports"
)

func (r *Routes) mountMoney(at fiber.Router) {
	r.get(at, "/balance", r.balance)
	r.post(at, "/balance/schedule", r.saveSchedule)
	r.get(at, "/balance/payout", r.newPayout)
	r.post(at, "/balance/payout", r.requestPayout)
	r.get(at, "/balance/payouts/:id", r.payout)
	r.get(at, "/balance/payouts/:id/statement", r.statement)
	r.get(at, "/ledger", r.ledger)
	r.mountPayoutAccount(at)
}

var payoutTones = map[payout.Status]cell{
	payout.Pending: badge("On its way", "wait"), payout.Paid: badge("Paid", "ok"), payout.Failed: badge("Failed", "bad"),
}

// balance is what the creator has, and the payouts.
func (r *Routes) balance(c *fiber.Ctx, v *visit) error {
	l := &list[payout.State]{
		path: base + "/balance", name: "payouts",
		filters: []filter{{Name: "status", Label: "Status", Options: choices("", "", "Any status", "pending", "On its way", "paid", "Paid", "failed", "Failed")}},
		columns: []column[payout.State]{
			{label: "Payout", cell: func(p payout.State) cell {
				return cell{Text: v.reader.Money(p.Amount), Href: base + "/balance/payouts/" + p.ID}
			},
				csv: func(p payout.State) string { return p.Amount.Typed() + " " + string(p.Amount.Currency) }},
			{label: "Status", cell: func(p payout.State) cell { return payoutTones[p.Status] }},
			{label: "Asked for", cell: func(p payout.State) cell { return v.moment(p.CreatedAt) }, csv: func(p payout.State) string { return exact(p.CreatedAt) }},
			{label: "Paid", cell: func(p payout.State) cell { return v.moment(p.PaidAt) }, csv: func(p payout.State) string { return exact(p.PaidAt) }},
			{label: "ID", cell: func(p payout.State) cell { return mono(p.ID) }},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[payout.State], error) {
			return r.Treasury.ListPayouts(ctx, v.account(), page)
		},
		match: func(q query, p payout.State) bool { return q.is("status", string(p.Status)) },
		empty: empty{Title: "No payouts yet", Text: "Sales are pending for seven days, then available. What is available can be paid out.",
			Action: &action{Label: "Create a payment link", Href: base + "/links/new", Tone: "primary"}},
	}
	balances, err := r.Treasury.Balance(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	p := page{Title: "Balance and payouts", Lead: "Your share of what was sold, and what went to your bank.", Actions: []action{link("Ledger", base+"/ledger")}}
	for _, b := range balances {
		currency := string(b.Currency)
		title := ""
		if len(balances) > 1 {
			title = strings.ToUpper(currency)
		}
		p.Parts = append(p.Parts, part{Kind: "stats", Title: title, Data: []stat{
			{"Available", v.price(b.Available, currency), "Ready to pay out", ""}, {"Pending", v.price(b.Pending, currency), "Available after 7 days", ""},
			{"Held for disputes", v.price(b.Reserved, currency), "Until they are decided", base + "/disputes"}, {"On its way", v.price(b.InTransit, currency), "To your bank", ""},
		}})
	}
	account, err := r.Treasury.PayoutAccount(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	p.FormsLeadTo = stripeOnboarding
	p.Aside = append(p.Aside, formPart(scheduleForm(v)))
	p.Aside = append(p.Aside, payoutAccountParts(v, account)...)
	if len(balances) > 0 && account.CanReceive() {
		p.Actions = append(p.Actions, link("Pay out", base+"/balance/payout").primary())
	}
	return show(r, c, v, l, p)
}

// scheduleForm chooses when the balance is paid out by itself.
func scheduleForm(v *visit) form {
	f := v.form("schedule", base+"/balance/schedule", "Save", field{
		Name: "payoutSchedule", Label: "Pay out", Type: "select", Hint: "Each currency is paid out in full where it reaches the minimum.",
		Options: choices(string(v.Creator.PayoutSchedule), string(payout.Manual), "When I ask for it", string(payout.Daily), "Every day",
			string(payout.Weekly), "Every Monday", string(payout.Monthly), "On the first of the month"),
	})
	f.Title = "Schedule"
	return f
}

func (r *Routes) saveSchedule(c *fiber.Ctx, v *visit) error {
	edit := identity.ProfileEdit{PayoutSchedule: new(payout.Schedule(read(c).text("payoutSchedule")))}
	if _, err := r.Identity.EditProfile(c.UserContext(), v.account(), edit); err != nil {
		return r.refused(c, base+"/balance", err)
	}
	return r.done(c, base+"/balance", "Saved.")
}

// payoutForm asks how much, in one of the currencies there is money in.
func (r *Routes) payoutForm(c *fiber.Ctx, v *visit) (form, error) {
	balances, err := r.Treasury.Balance(c.UserContext(), v.account())
	if err != nil {
		return form{}, err
	}
	var options []option
	for _, b := range balances {
		options = append(options, option{Value: string(b.Currency), Label: v.price(b.Available, string(b.Currency)) + " available"})
	}
	f := v.form("payout", base+"/balance/payout", "Pay out",
		field{Name: "currency", Label: "From", Type: "select", Options: options, Half: true},
		field{Name: "amount", Label: "Amount", Half: true, Also: []string{"amountInCents"}, Hint: "Empty: all that is available."}, hidden("once", r.Identity.NewGuest()))
	f.Cancel = base + "/balance"
	return f, nil
}

func payoutPage() page {
	return page{Nav: base + "/balance", Title: "Pay out", Lead: "To your bank account.", Up: &action{Label: "Balance", Href: base + "/balance"}}
}

func (r *Routes) newPayout(c *fiber.Ctx, v *visit) error {
	f, err := r.payoutForm(c, v)
	if err != nil {
		return err
	}
	p := payoutPage()
	p.Parts = []part{formPart(f)}
	return r.send(c, v, p)
}

func (r *Routes) requestPayout(c *fiber.Ctx, v *visit) error {
	in := read(c)
	req := payout.Request{Currency: in.text("currency"), Minor: in.amount("amount", "amountInCents", in.text("currency"))}
	if once := in.text("once"); once != "" {
		req.Key = "dashboard-" + once
	}
	err := in.err()
	var asked payout.State
	if err == nil {
		asked, err = r.Treasury.RequestPayout(c.UserContext(), v.account(), req)
	}
	if err != nil {
		f, formErr := r.payoutForm(c, v)
		if formErr != nil {
			return formErr
		}
		return r.again(c, v, payoutPage(), f, err)
	}
	return r.done(c, base+"/balance/payouts/"+asked.ID, v.reader.Money(asked.Amount)+" is on its way.")
}

func (r *Routes) payout(c *fiber.Ctx, v *visit) error {
	s, err := r.Treasury.GetPayout(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	status := payoutTones[s.Status]
	p := page{Nav: base + "/balance", Title: "Payout of " + v.reader.Money(s.Amount), Badge: &status, Up: &action{Label: "Balance and payouts", Href: base + "/balance"},
		Actions: []action{link("Statement (CSV)", base+"/balance/payouts/"+s.ID+"/statement?format=csv")}}
	all := []fact{{"Amount", text(v.reader.Money(s.Amount))}, {"ID", copied(s.ID)}, {"Asked for", v.moment(s.CreatedAt)}, {"Paid", v.moment(s.PaidAt)}}
	if s.Destination != "" {
		all = append(all, fact{"To", copied(s.Destination)})
	}
	if s.FailureReason != "" {
		all = append(all, fact{"Why it failed", text(s.FailureReason)})
	}
	p.Parts = []part{facts("Details", all...)}
	entries, err := r.Treasury.Entries(c.UserContext(), v.account(), s.ID, ports.Page{Limit: 100})
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, v.entriesPart(entries.Items))
	return r.send(c, v, p)
}

// statement is the list of what a payout is made of.
func (r *Routes) statement(c *fiber.Ctx, v *visit) error {
	name, content, err := r.Treasury.Statement(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	return sendFile(c, name, content)
}

// sendFile responds with a CSV file that no cache keeps.
func sendFile(c *fiber.Ctx, name string, content []byte) error {
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	return c.Send(content)
}

func (r *Routes) ledger(c *fiber.Ctx, v *visit) error {
	l := &list[ledger.Entry]{
		path: base + "/ledger", name: "ledger",
		filters: []filter{{Name: "source", Label: "Source", Placeholder: "pay_…, ref_…, dsp_…, po_…"}, {Name: "q", Label: "Search", Placeholder: "Posting or account"}},
		columns: []column[ledger.Entry]{
			{label: "Posting", cell: func(e ledger.Entry) cell { return cell{Text: plainWords(string(e.Kind)), Sub: e.SourceID} }},
			{label: "Account", cell: func(e ledger.Entry) cell { return text(plainWords(string(e.Account))) }, csv: func(e ledger.Entry) string { return string(e.Account) }},
			{label: "Amount", num: true, cell: func(e ledger.Entry) cell { return text(v.reader.Money(e.Amount)) }, csv: func(e ledger.Entry) string { return e.Amount.Typed() }},
			{label: "Date", cell: func(e ledger.Entry) cell { return v.moment(e.CreatedAt) }, csv: func(e ledger.Entry) string { return exact(e.CreatedAt) }},
		},
		read: func(ctx context.Context, q query, page ports.Page) (ports.List[ledger.Entry], error) {
			return r.Treasury.Entries(ctx, v.account(), q["source"], page)
		},
		match: func(q query, e ledger.Entry) bool {
			return q.has("q", string(e.Kind), plainWords(string(e.Kind)), string(e.Account))
		},
		empty: empty{Title: "Nothing was posted yet", Text: "Every sale, fee, refund and payout appears here, to the cent.",
			Action: &action{Label: "Create a payment link", Href: base + "/links/new", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Nav: base + "/balance", Title: "Ledger", Lead: "Every movement of your money. Debits are positive, credits negative.", Up: &action{Label: "Balance and payouts", Href: base + "/balance"}})
}
