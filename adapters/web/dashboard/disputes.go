package dashboard

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/dispute"
	"sundry/ports"
)

func (r *Routes) mountDisputes(at fiber.Router) {
	r.get(at, "/disputes", r.disputes)
	r.get(at, "/disputes/:id", r.dispute)
	r.post(at, "/disputes/:id/evidence", r.submitEvidence)
	r.post(at, "/disputes/:id/accept", r.acceptDispute)
}

var disputeTones = map[dispute.Status]ui.Cell{
	dispute.NeedsResponse: ui.Badge("Needs your evidence", "bad"),
	dispute.UnderReview:   ui.Badge("Under review", "wait"), dispute.Won: ui.Badge("Won", "ok"),
	dispute.Lost: ui.Badge("Lost", "mute"),
}

func (r *Routes) disputes(c *fiber.Ctx, v *visit) error {
	l := &ui.List[dispute.State]{
		Path: base + "/disputes", FileName: "disputes",
		Filters: []ui.Filter{
			{
				Name: "status", Label: "Status",
				Options: ui.Choices(
					"", "", "Any status", "needs_response", "Needs your evidence", "under_review", "Under review",
					"won", "Won", "lost", "Lost",
				),
			},
			{Name: "q", Label: "Search", Placeholder: "Reason or ID"},
		},
		Columns: []ui.Column[dispute.State]{
			{Label: "Dispute", Cell: func(d dispute.State) ui.Cell {
				return ui.Cell{Text: plainWords(d.Reason), Href: base + "/disputes/" + d.ID, Sub: d.ID}
			}},
			{
				Label: "Amount", Num: true,
				Cell: func(d dispute.State) ui.Cell { return ui.Text(v.reader.Money(d.Share.Amount)) },
			},
			{Label: "Status", Cell: func(d dispute.State) ui.Cell { return disputeTones[d.Status] }},
			{
				Label: "Respond by", Cell: func(d dispute.State) ui.Cell { return v.moment(d.RespondBy) },
				CSV: func(d dispute.State) string { return ui.ExactTime(d.RespondBy) },
			},
			{
				Label: "Opened", Cell: func(d dispute.State) ui.Cell { return v.moment(d.CreatedAt) },
				CSV: func(d dispute.State) string { return ui.ExactTime(d.CreatedAt) },
			},
		},
		Read: func(ctx context.Context, _ ui.Query, page ports.Page) (ports.List[dispute.State], error) {
			return r.Disputes.List(ctx, v.account(), "", page)
		},
		Match: func(q ui.Query, d dispute.State) bool {
			return q.Is("status", string(d.Status)) && q.Has("q", d.Reason, d.ID, d.PaymentID)
		},
		Empty: r.noDisputes(),
	}
	return show(r, c, v, l, ui.Page{Title: "Disputes", Lead: "Payments that a buyer’s bank wants back."})
}

// noDisputes says what disputes are; in the sandbox a test card makes one.
func (r *Routes) noDisputes() ui.Empty {
	nothing := ui.Empty{
		Title: "No disputes",
		Text:  "When a buyer asks their bank to take a payment back, it appears here, and you have seven days to respond.",
	}
	if r.Sandbox != nil {
		nothing.Text += " To try one, open a payment link and pay with the test card 4000 0000 0000 0259."
		nothing.Action = &ui.Action{Label: "Payment links", Href: base + "/links", Tone: "primary"}
	}
	return nothing
}

func evidenceForm(v *visit, d dispute.State) ui.Form {
	f := v.form("evidence", base+"/disputes/"+d.ID+"/evidence", "Send evidence",
		ui.Field{
			Name: "text", Label: "What happened", Type: "textarea", Rows: 8, Required: true,
			Hint: "What was sold, how it was delivered, and how the buyer used it.",
		},
		ui.Field{
			Name: "fileUrls", Label: "Files", Type: "textarea", Rows: 3, Mono: true, Placeholder: "https://…",
			Hint: "One https address per line: receipts, logs, conversations.",
		})
	f.Title, f.Lead = "Your evidence", "It is sent to the bank once. You can’t change it afterwards."
	return f
}

func (r *Routes) dispute(c *fiber.Ctx, v *visit) error {
	d, err := r.Disputes.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	p := disputePage(v, d)
	if d.Status == dispute.NeedsResponse {
		if r.Sandbox != nil {
			p.Parts = append(p.Parts, ui.NotePart(
				"wait", "In the sandbox the text winning_evidence wins, and losing_evidence loses.",
			))
		}
		p.Parts = append(p.Parts, ui.FormPart(evidenceForm(v, d)))
	}
	return r.send(c, v, p)
}

func disputePage(v *visit, d dispute.State) ui.Page {
	status := disputeTones[d.Status]
	p := ui.Page{
		Nav: base + "/disputes", Title: "Dispute of " + v.reader.Money(d.Share.Amount), Badge: &status,
		Up: &ui.Action{Label: "Disputes", Href: base + "/disputes"},
	}
	switch d.Status {
	case dispute.NeedsResponse:
		p.Lead = "Respond by " + v.when(d.RespondBy) + ". The money is held and access is suspended meanwhile."
		p.Actions = []ui.Action{
			v.button("Accept", base+"/disputes/"+d.ID+"/accept").Confirm(
				"The buyer gets the money back. This can’t be undone.",
			),
		}
	case dispute.UnderReview:
		p.Lead = "The bank has your evidence and decides."
	default:
	}
	if d.Evidence.Text != "" {
		p.Parts = append(p.Parts, ui.Part{Kind: "text", Title: "Your evidence", Data: d.Evidence.Text})
	}
	all := []ui.Fact{
		{Label: "Reason", Value: ui.Text(plainWords(d.Reason))},
		{Label: "Order", Value: ui.TextLink(d.PaymentID, base+"/orders/"+d.PaymentID)},
		{Label: "Tax included", Value: ui.Text(v.reader.Money(d.Share.Tax))},
		{Label: "Opened", Value: v.moment(d.CreatedAt)},
		{Label: "Respond by", Value: v.moment(d.RespondBy)},
		{Label: "Closed", Value: v.moment(d.ClosedAt)},
		{Label: "ID", Value: ui.Copyable(d.ID)},
	}
	for _, address := range d.Evidence.FileURLs {
		all = append(all, ui.Fact{Label: "File", Value: ui.Mono(address)})
	}
	p.Aside = []ui.Part{ui.Facts("Details", all...)}
	return p
}

func (r *Routes) submitEvidence(c *fiber.Ctx, v *visit) error {
	d, err := r.Disputes.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	in := ui.ReadInput(c)
	if _, err := r.Disputes.SubmitEvidence(
		c.UserContext(), v.account(), d.ID, dispute.Evidence{Text: in.Text("text"), FileURLs: in.Lines("fileUrls")},
	); err != nil {
		return r.again(c, v, disputePage(v, d), evidenceForm(v, d), err)
	}
	return r.done(c, base+"/disputes/"+d.ID, "Your evidence is sent.")
}

func (r *Routes) acceptDispute(c *fiber.Ctx, v *visit) error {
	at := base + "/disputes/" + c.Params("id")
	if _, err := r.Disputes.Accept(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "Accepted: the buyer gets the money back.")
}
