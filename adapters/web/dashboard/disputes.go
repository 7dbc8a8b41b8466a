package dashboard

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"sundry/core/dispute"
	"sundry/ports"
)

func (r *Routes) mountDisputes(at fiber.Router) {
	r.get(at, "/disputes", r.disputes)
	r.get(at, "/disputes/:id", r.dispute)
	r.post(at, "/disputes/:id/evidence", r.submitEvidence)
	r.post(at, "/disputes/:id/accept", r.acceptDispute)
}

var disputeTones = map[dispute.Status]cell{
	dispute.NeedsResponse: badge("Needs your evidence", "bad"), dispute.UnderReview: badge("Under review", "wait"), dispute.Won: badge("Won", "ok"), dispute.Lost: badge("Lost", "mute"),
}

func (r *Routes) disputes(c *fiber.Ctx, v *visit) error {
	l := &list[dispute.State]{
		path: base + "/disputes", name: "disputes",
		filters: []filter{
			{Name: "status", Label: "Status", Options: choices("", "", "Any status", "needs_response", "Needs your evidence", "under_review", "Under review", "won", "Won", "lost", "Lost")},
			{Name: "q", Label: "Search", Placeholder: "Reason or ID"},
		},
		columns: []column[dispute.State]{
			{label: "Dispute", cell: func(d dispute.State) cell {
				return cell{Text: plainWords(d.Reason), Href: base + "/disputes/" + d.ID, Sub: d.ID}
			}},
			{label: "Amount", num: true, cell: func(d dispute.State) cell { return text(v.reader.Money(d.Share.Amount)) }},
			{label: "Status", cell: func(d dispute.State) cell { return disputeTones[d.Status] }},
			{label: "Respond by", cell: func(d dispute.State) cell { return v.moment(d.RespondBy) }, csv: func(d dispute.State) string { return exact(d.RespondBy) }},
			{label: "Opened", cell: func(d dispute.State) cell { return v.moment(d.CreatedAt) }, csv: func(d dispute.State) string { return exact(d.CreatedAt) }},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[dispute.State], error) {
			return r.Disputes.List(ctx, v.account(), "", page)
		},
		match: func(q query, d dispute.State) bool {
			return q.is("status", string(d.Status)) && q.has("q", d.Reason, d.ID, d.PaymentID)
		},
		empty: r.noDisputes(),
	}
	return show(r, c, v, l, page{Title: "Disputes", Lead: "Payments that a buyer’s bank wants back."})
}

// noDisputes says what disputes are; in the sandbox a test card makes one.
func (r *Routes) noDisputes() empty {
	nothing := empty{Title: "No disputes", Text: "When a buyer asks their bank to take a payment back, it appears here, and you have seven days to respond."}
	if r.Sandbox != nil {
		nothing.Text += " To try one, open a payment link and pay with the test card 4000 0000 0000 0259."
		nothing.Action = &action{Label: "Payment links", Href: base + "/links", Tone: "primary"}
	}
	return nothing
}

func evidenceForm(v *visit, d dispute.State) form {
	f := v.form("evidence", base+"/disputes/"+d.ID+"/evidence", "Send evidence",
		field{Name: "text", Label: "What happened", Type: "textarea", Rows: 8, Required: true, Hint: "What was sold, how it was delivered, and how the buyer used it."},
		field{Name: "fileUrls", Label: "Files", Type: "textarea", Rows: 3, Mono: true, Placeholder: "https://…", Hint: "One https address per line: receipts, logs, conversations."})
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
			p.Parts = append(p.Parts, notePart("wait", "In the sandbox the text winning_evidence wins, and losing_evidence loses."))
		}
		p.Parts = append(p.Parts, formPart(evidenceForm(v, d)))
	}
	return r.send(c, v, p)
}

func disputePage(v *visit, d dispute.State) page {
	status := disputeTones[d.Status]
	p := page{Nav: base + "/disputes", Title: "Dispute of " + v.reader.Money(d.Share.Amount), Badge: &status, Up: &action{Label: "Disputes", Href: base + "/disputes"}}
	switch d.Status {
	case dispute.NeedsResponse:
		p.Lead = "Respond by " + v.when(d.RespondBy) + ". The money is held and access is suspended meanwhile."
		p.Actions = []action{v.button("Accept", base+"/disputes/"+d.ID+"/accept").asking("The buyer gets the money back. This can’t be undone.")}
	case dispute.UnderReview:
		p.Lead = "The bank has your evidence and decides."
	default:
	}
	if d.Evidence.Text != "" {
		p.Parts = append(p.Parts, part{Kind: "text", Title: "Your evidence", Data: d.Evidence.Text})
	}
	all := []fact{
		{"Reason", text(plainWords(d.Reason))}, {"Order", to(d.PaymentID, base+"/orders/"+d.PaymentID)}, {"Tax in it", text(v.reader.Money(d.Share.Tax))},
		{"Opened", v.moment(d.CreatedAt)}, {"Respond by", v.moment(d.RespondBy)}, {"Closed", v.moment(d.ClosedAt)}, {"ID", copied(d.ID)},
	}
	for _, address := range d.Evidence.FileURLs {
		all = append(all, fact{"File", mono(address)})
	}
	p.Aside = []part{facts("Details", all...)}
	return p
}

func (r *Routes) submitEvidence(c *fiber.Ctx, v *visit) error {
	d, err := r.Disputes.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	in := read(c)
	if _, err := r.Disputes.SubmitEvidence(c.UserContext(), v.account(), d.ID, dispute.Evidence{Text: in.text("text"), FileURLs: in.lines("fileUrls")}); err != nil {
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
