package dashboard

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/identity"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/modules/treasury"
	"sundry/ports"
)

func (r *Routes) mountMoney(at fiber.Router) {
	r.get(at, "/balance", r.balance)
	r.careful(at, "/balance/schedule", r.saveSchedule)
	r.form(at, "/balance/payout", r.newPayout)
	r.careful(at, "/balance/payout", r.requestPayout)
	r.get(at, "/balance/payouts/:id", r.payout)
	r.get(at, "/balance/payouts/:id/statement", r.statement)
	r.get(at, "/ledger", r.ledger)
	r.mountPayoutAccount(at)
}

var payoutTones = map[payout.Status]ui.Cell{
	payout.Pending: ui.Badge("On its way", "wait"), payout.Paid: ui.Badge("Paid", "ok"),
	payout.Failed: ui.Badge("Failed", "bad"),
}

// balance shows the creator's balance and payouts.
func (r *Routes) balance(c *fiber.Ctx, v *visit) error {
	balances, err := r.Treasury.Balance(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	p := ui.Page{
		Title: "Balance and payouts", Lead: "Your share of what was sold, and what went to your bank.",
		Actions: []ui.Action{ui.Link("Ledger", base+"/ledger")},
	}
	account, err := r.Treasury.PayoutAccount(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	next, err := r.Treasury.NextPayout(c.UserContext(), v.account(), v.Creator.PayoutSchedule, balances)
	if err != nil {
		return err
	}
	for _, b := range balances {
		title := ui.Words("")
		if len(balances) > 1 {
			title = ui.Data(strings.ToUpper(string(b.Currency)))
		}
		p.Parts = append(p.Parts, ui.Part{
			Kind: "stats", Title: title, Data: append(v.balanceStats(b), v.nextPayout(next, b.Currency, account)),
		})
	}
	p.FormsLeadTo = r.PaysOut.PayoutOrigin
	p.Aside = append(p.Aside, ui.FormPart(scheduleForm(v)))
	p.Aside = append(p.Aside, payoutAccountParts(v, account, r.PaysOut.Label)...)
	if len(balances) > 0 && account.CanReceive() {
		p.Actions = append(p.Actions, ui.Link("Pay out", base+"/balance/payout").Primary())
	}
	l := r.payoutList(v)
	l.Empty = noPayouts(balances, account)
	return show(r, c, v, l, p)
}

func (v *visit) balanceStats(b ledger.Balance) []ui.Stat {
	currency := string(b.Currency)
	return []ui.Stat{
		{Label: "Available", Value: v.price(b.Available, currency), Note: "Ready to pay out", Href: ""},
		{Label: "Pending", Value: v.price(b.Pending, currency), Note: "Available after 7 days", Href: ""},
		{
			Label: "Held", Value: v.price(b.Reserved, currency), Note: "For open disputes and refunds on their way",
			Href: base + "/disputes",
		},
		{Label: "On its way", Value: v.price(b.InTransit, currency), Note: "To your bank", Href: ""},
	}
}

func (r *Routes) payoutList(v *visit) *ui.List[payout.State] {
	return &ui.List[payout.State]{
		Path: base + "/balance", FileName: "payouts",
		Filters: []ui.Filter{
			{
				Name: "status", Label: "Status",
				Options: ui.Choices("", "", "Any status", "pending", "On its way", "paid", "Paid", "failed", "Failed"),
			},
		},
		Columns: []ui.Column[payout.State]{
			{Label: "Payout", Sort: "-amount", Cell: func(p payout.State) ui.Cell {
				return ui.Cell{Text: ui.Data(v.reader.Money(p.Amount)), Href: base + "/balance/payouts/" + p.ID}
			},
				CSV: func(p payout.State) string { return p.Amount.Coded() }},
			{Label: "Status", Cell: func(p payout.State) ui.Cell { return payoutTones[p.Status] }},
			timeColumn(v, "Requested", "-created", func(p payout.State) time.Time { return p.CreatedAt }),
			timeColumn(v, "Paid", "", func(p payout.State) time.Time { return p.PaidAt }),
			{Label: "ID", Cell: func(p payout.State) ui.Cell { return ui.Mono(p.ID) }},
		},
		Read: func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[payout.State], error) {
			return r.Treasury.ListPayouts(ctx, v.account(), payout.Status(q["status"]), page)
		},
		Summary: totals[payout.State](v, "Payouts", "Paid out or on its way"),
	}
}

// nextPayout shows when the schedule pays out next, and how much in a currency.
func (v *visit) nextPayout(next treasury.NextPayout, currency money.Currency, account payout.AccountState) ui.Stat {
	amount := next.Amounts[currency]
	stat := ui.Stat{Label: "Next payout", Value: "–"}
	switch {
	case next.At.IsZero():
		stat.Note = "When you ask for it"
	case !account.CanReceive():
		stat.Note = "Waits for your payout account"
	case amount < next.Minimum:
		least := v.price(next.Minimum, string(currency))
		stat.Note = v.say("%s at the earliest, from %s", v.reader.Date(next.At), least)
	default:
		stat.Value, stat.Note = v.price(amount, string(currency)), ui.Data(v.reader.Date(next.At))
	}
	return stat
}

// noPayouts leads to the first payout: by selling, or where there is money already by asking for it.
func noPayouts(balances []ledger.Balance, account payout.AccountState) ui.Empty {
	e := ui.Empty{
		Title:  "No payouts yet",
		Text:   "Sales are pending for seven days, then available. What is available can be paid out.",
		Action: &ui.Action{Label: "Create a payment link", Href: base + "/links/new", Tone: "primary"},
	}
	if slices.ContainsFunc(balances, func(b ledger.Balance) bool { return b.Available > 0 }) {
		e.Text = "You have money to pay out."
		e.Action = &ui.Action{Label: "Set up your payout account", Href: "#payout-account", Tone: "primary"}
		if account.CanReceive() {
			e.Action = &ui.Action{Label: "Pay out", Href: base + "/balance/payout", Tone: "primary"}
		}
	}
	return e
}

// scheduleForm chooses when the balance is paid out automatically.
func scheduleForm(v *visit) ui.Form {
	f := v.form("schedule", base+"/balance/schedule", "Save", ui.Field{
		Name: "payoutSchedule", Label: "Pay out", Type: "select",
		Hint: "Each currency is paid out in full where it reaches the minimum.",
		Options: ui.Choices(
			string(v.Creator.PayoutSchedule), string(payout.Manual), "When I ask for it", string(payout.Daily),
			"Every day", string(payout.Weekly), "Every Monday", string(payout.Monthly), "On the first of the month",
		),
	})
	f.Title = "Schedule"
	return f.OfStored()
}

func (r *Routes) saveSchedule(c *fiber.Ctx, v *visit) error {
	f := scheduleForm(v)
	if err := f.CheckStored(c); err != nil {
		p := ui.Page{
			Nav: base + "/balance", Title: "Schedule",
			Up: &ui.Action{Label: "Balance and payouts", Href: base + "/balance"},
		}
		f.Title = ""
		return r.again(c, v, p, f, err)
	}
	edit := identity.ProfileEdit{PayoutSchedule: new(payout.Schedule(ui.ReadInput(c).Text("payoutSchedule")))}
	_, err := r.Identity.EditProfile(c.UserContext(), v.account(), edit)
	return r.result(c, base+"/balance", err, "Saved.")
}

// payoutForm asks how much, in one of the currencies there is money in.
func (r *Routes) payoutForm(c *fiber.Ctx, v *visit) (ui.Form, error) {
	balances, err := r.Treasury.Balance(c.UserContext(), v.account())
	if err != nil {
		return ui.Form{}, err
	}
	var options []ui.Option
	for _, b := range balances {
		options = append(options, ui.Option{
			Value: string(b.Currency), Label: v.say("%s available", v.price(b.Available, string(b.Currency))),
		})
	}
	f := v.form("payout", base+"/balance/payout", "Pay out",
		ui.Field{Name: "currency", Label: "From", Type: "select", Options: options, Half: true},
		ui.Field{Name: "amount", Label: "Amount", Half: true, Also: []string{"amountInCents"},
			Hint: "Leave empty for all that is available."}, ui.Hidden("once", r.Identity.NewGuest()))
	f.Cancel = base + "/balance"
	return f, nil
}

func payoutPage() ui.Page {
	return ui.Page{
		Nav: base + "/balance", Title: "Pay out", Lead: "To your bank account.",
		Up: &ui.Action{Label: "Balance", Href: base + "/balance"},
	}
}

func (r *Routes) newPayout(c *fiber.Ctx, v *visit) error {
	f, err := r.payoutForm(c, v)
	if err != nil {
		return err
	}
	return r.ask(c, v, payoutPage(), f)
}

func (r *Routes) requestPayout(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	req := payout.Request{
		Currency: in.Text("currency"), Minor: in.Amount("amount", "amountInCents", in.Text("currency")),
	}
	if once := in.Text("once"); once != "" {
		req.Key = "dashboard-" + once
	}
	err := in.Err()
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
	return r.done(c, base+"/balance/payouts/"+asked.ID, v.say("Payout of %s requested.", v.reader.Money(asked.Amount)))
}

func (r *Routes) payout(c *fiber.Ctx, v *visit) error {
	s, err := r.Treasury.GetPayout(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	status := payoutTones[s.Status]
	p := ui.Page{
		Nav: base + "/balance", Title: v.say("Payout of %s", v.reader.Money(s.Amount)), Badge: &status,
		Up:      &ui.Action{Label: "Balance and payouts", Href: base + "/balance"},
		Actions: []ui.Action{ui.Link("Statement (CSV)", base+"/balance/payouts/"+s.ID+"/statement?format=csv")},
	}
	all := []ui.Fact{
		{Label: "Amount", Value: ui.Text(v.reader.Money(s.Amount))},
		{Label: "ID", Value: ui.Copyable(s.ID)},
		{Label: "Requested", Value: v.moment(s.CreatedAt)},
		{Label: "Paid", Value: v.moment(s.PaidAt)},
	}
	if s.Destination != "" {
		all = append(all, ui.Fact{Label: "Destination", Value: ui.Copyable(s.Destination)})
	}
	if s.FailureReason != "" {
		all = append(all, ui.Fact{Label: "Reason", Value: ui.Text(s.FailureReason)})
	}
	p.Parts = []ui.Part{ui.Facts("Details", all...)}
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
	return c.Send(content)
}

func (r *Routes) ledger(c *fiber.Ctx, v *visit) error {
	l := &ui.List[ledger.Entry]{
		Path: base + "/ledger", FileName: "ledger",
		Filters: []ui.Filter{
			{Name: "source", Label: "Source", Placeholder: "pay_…, ref_…, dsp_…, po_…"},
			{Name: "q", Label: "Search", Placeholder: "Posting or account"},
		},
		Columns: []ui.Column[ledger.Entry]{
			{
				Label: "Posting",
				Cell: func(e ledger.Entry) ui.Cell {
					return ui.Cell{Text: wordsOf(postings, e.Kind), Sub: ui.Data(e.SourceID)}
				},
			},
			{
				Label: "Account",
				Cell:  func(e ledger.Entry) ui.Cell { return ui.Label(wordsOf(ledgerAccounts, e.Account)) },
				CSV:   func(e ledger.Entry) string { return string(e.Account) },
			},
			{
				Label: "Amount", Num: true,
				Cell: func(e ledger.Entry) ui.Cell { return ui.Text(v.reader.Money(e.Amount)) },
				CSV:  func(e ledger.Entry) string { return e.Amount.Typed() },
			},
			timeColumn(v, "Date", "", func(e ledger.Entry) time.Time { return e.CreatedAt }),
		},
		Read: func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[ledger.Entry], error) {
			return r.Treasury.Entries(ctx, v.account(), q["source"], page)
		},
		Match: func(q ui.Query, e ledger.Entry) bool {
			return q.Has("q", string(e.Kind), v.text(wordsOf(postings, e.Kind)), string(e.Account))
		},
		Empty: ui.Empty{
			Title: "Nothing was posted yet", Text: "Every sale, fee, refund and payout appears here, to the cent.",
			Action: &ui.Action{Label: "Create a payment link", Href: base + "/links/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Nav: base + "/balance", Title: "Ledger",
		Lead: "Every movement of your money. Debits are positive, credits negative.",
		Up:   &ui.Action{Label: "Balance and payouts", Href: base + "/balance"},
	})
}
