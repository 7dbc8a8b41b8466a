package dashboard

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/dispute"
	"sundry/core/file"
	"sundry/ports"
)

func (r *Routes) mountDisputes(at fiber.Router) {
	r.get(at, "/disputes", r.disputes)
	r.get(at, "/disputes/:id", r.dispute)
	r.post(at, "/disputes/:id/evidence", r.submitEvidence)
	r.post(at, "/disputes/:id/accept", r.acceptDispute)
	r.get(at, "/disputes/:id/evidence.pdf", r.evidencePDF)
	r.post(at, "/disputes/:id/files", r.uploadDisputeFile)
	r.get(at, "/disputes/:id/files/:file", r.disputeFile)
	r.post(at, "/disputes/:id/files/:file/delete", r.deleteDisputeFile)
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
				return ui.Cell{
					Text: wordsOf(disputeReasons, d.Reason), Href: base + "/disputes/" + d.ID, Sub: ui.Data(d.ID),
				}
			}},
			{
				Label: "Amount", Num: true, Sort: "-amount",
				Cell: func(d dispute.State) ui.Cell { return ui.Text(v.reader.Money(d.Share.Amount)) },
			},
			{Label: "Status", Cell: func(d dispute.State) ui.Cell { return disputeTones[d.Status] }},
			timeColumn(v, "Respond by", "respondBy", func(d dispute.State) time.Time { return d.RespondBy }),
			timeColumn(v, "Opened", "-created", func(d dispute.State) time.Time { return d.CreatedAt }),
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
		nothing.Text = "When a buyer asks their bank to take a payment back, it appears here, and you have seven " +
			"days to respond. To try one, open a payment link and pay with the test card 4000 0000 0000 0259."
		nothing.Action = &ui.Action{Label: "Payment links", Href: base + "/links", Tone: "primary"}
	}
	return nothing
}

// evidenceForm asks for the response. The dispute's files are boxes that are ticked until the creator unticks them.
func evidenceForm(v *visit, d dispute.State) ui.Form {
	f := v.form("evidence", base+"/disputes/"+d.ID+"/evidence", "Send evidence",
		ui.Field{
			Name: "text", Label: "What happened", Type: "textarea", Rows: 8, Required: true,
			Hint: "What was sold, how it was delivered, and how the buyer used it.",
		})
	for _, file := range d.Files {
		f.Fields = append(f.Fields, ui.Field{
			Name: fileBox(file.ID), Label: v.say("Send %s", file.Name), Type: "checkbox", Checked: true,
			Also: []string{"fileIds"},
		})
	}
	f.Fields = append(f.Fields, ui.Field{
		Name: "fileUrls", Label: "Links", Type: "textarea", Rows: 3, Mono: true, Placeholder: "https://…",
		Hint: "One https address per line, of what you can’t upload.",
	})
	f.Title = "Your evidence"
	f.Lead = "It is sent to the bank once, with what is collected below. You can’t change it afterwards."
	return f
}

// fileBox names the box that sends a file.
func fileBox(fileID string) string { return "file-" + fileID }

func (r *Routes) dispute(c *fiber.Ctx, v *visit) error {
	d, collected, err := r.Disputes.Evidence(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	p := disputePage(v, d)
	if d.Open() && r.Sandbox != nil {
		p.Parts = append(p.Parts, ui.NotePart(
			"wait", "In the sandbox the text winning_evidence wins, and losing_evidence loses.",
		))
	}
	p.Parts = append(p.Parts, disputeFiles(v, d)...)
	if d.Open() {
		p.Parts = append(p.Parts, ui.FormPart(evidenceForm(v, d)))
	}
	p.Parts = append(p.Parts, collectedParts(d, collected)...)
	return r.send(c, v, p)
}

// disputeFiles shows the files for the bank and takes more while a response can be given.
func disputeFiles(v *visit, d dispute.State) []ui.Part {
	at := base + "/disputes/" + d.ID + "/files"
	t := ui.Table{Label: "Files", Heads: []ui.Head{
		{Label: "File"}, {Label: "Size", Num: true}, {Label: "Added"}, {},
	}}
	if !d.Open() {
		t.Heads[3] = ui.Head{Label: "Sent"}
	}
	for _, f := range d.Files {
		last := ui.Cell{Actions: []ui.Action{v.button("Delete", at+"/"+f.ID+"/delete")}}
		if !d.Open() {
			last = ui.Label("No")
			if slices.Contains(d.Evidence.FileIDs, f.ID) {
				last = ui.Label("Yes")
			}
		}
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			ui.TextLink(f.Name, at+"/"+f.ID), ui.Number(v.reader.Size(f.Size)), v.moment(f.CreatedAt), last,
		}})
	}
	shown := ui.TablePart("Files for the bank", t)
	shown.Anchor, shown.Lead = "files", "Receipts, conversations, proof of delivery."
	upload := ui.FormPart(disputeFileForm(v, d.ID))
	var parts []ui.Part
	if len(d.Files) > 0 {
		parts = append(parts, shown)
	} else {
		upload.Title, upload.Lead, upload.Anchor = shown.Title, shown.Lead, shown.Anchor
	}
	if d.Open() && len(d.Files) < dispute.MaxFiles {
		parts = append(parts, upload)
	}
	return parts
}

func disputeFileForm(v *visit, disputeID string) ui.Form {
	f := v.form("dispute-file", base+"/disputes/"+disputeID+"/files", "Upload", ui.Field{
		Name: "file", Label: "File", Type: "file", Required: true, Hint: "PDF, PNG or JPEG, at most 1 MB.",
		Also: []string{"name"},
	})
	f.Multipart = true
	return f
}

// collectedParts are the sections of what the program knows.
func collectedParts(d dispute.State, c dispute.Collected) []ui.Part {
	text := ui.Words("This is what we know about the payment.")
	switch {
	case d.Open():
		text = "This is what we know about the payment. It goes to the bank with your response."
	case d.Evidence.Collected != nil:
		text = "This went to the bank with your response."
	}
	head := ui.TextPart("Collected evidence", text)
	head.Anchor = "collected"
	head.Actions = []ui.Action{ui.Link("Download PDF", base+"/disputes/"+d.ID+"/evidence.pdf")}
	parts := []ui.Part{head}
	for _, section := range c.Sections() {
		var facts []ui.Fact
		for _, line := range section.Lines {
			facts = append(facts, ui.Fact{Label: ui.Data(line.Label), Value: ui.Text(line.Value)})
		}
		shown := ui.Facts(ui.Data(section.Title), facts...)
		shown.Lang = "en" // as the bank reads it
		parts = append(parts, shown)
	}
	return parts
}

func disputePage(v *visit, d dispute.State) ui.Page {
	status := disputeTones[d.Status]
	p := ui.Page{
		Nav: base + "/disputes", Title: v.say("Dispute of %s", v.reader.Money(d.Share.Amount)), Badge: &status,
		Up: &ui.Action{Label: "Disputes", Href: base + "/disputes"},
	}
	switch d.Status {
	case dispute.NeedsResponse:
		p.Lead = v.say("Respond by %s. The money is held and access is suspended meanwhile.", v.when(d.RespondBy))
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
		p.Parts = append(p.Parts, ui.TextPart("Your evidence", ui.Data(d.Evidence.Text)))
	}
	all := []ui.Fact{
		{Label: "Reason", Value: ui.Label(wordsOf(disputeReasons, d.Reason))},
		{Label: "Order", Value: ui.TextLink(d.PaymentID, base+"/orders/"+d.PaymentID)},
		{Label: "Tax included", Value: ui.Text(v.reader.Money(d.Share.Tax))},
		{Label: "Opened", Value: v.moment(d.CreatedAt)},
		{Label: "Respond by", Value: v.moment(d.RespondBy)},
		{Label: "Closed", Value: v.moment(d.ClosedAt)},
		{Label: "ID", Value: ui.Copyable(d.ID)},
	}
	for _, address := range d.Evidence.FileURLs {
		all = append(all, ui.Fact{Label: "Link", Value: ui.Mono(address)})
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
	evidence := dispute.Evidence{Text: in.Text("text"), FileURLs: in.Lines("fileUrls")}
	for _, f := range d.Files {
		if in.Checked(fileBox(f.ID)) {
			evidence.FileIDs = append(evidence.FileIDs, f.ID)
		}
	}
	if _, err := r.Disputes.SubmitEvidence(c.UserContext(), v.account(), d.ID, evidence); err != nil {
		return r.again(c, v, disputePage(v, d), evidenceForm(v, d), err)
	}
	return r.done(c, base+"/disputes/"+d.ID, "Your evidence is sent.")
}

func (r *Routes) uploadDisputeFile(c *fiber.Ctx, v *visit) error {
	d, err := r.Disputes.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	var sent file.Proposal
	content, err := sentFile(c, &sent)
	if err == nil {
		_, err = r.Disputes.UploadFile(c.UserContext(), v.account(), d.ID, sent.Name, content)
	}
	if err != nil {
		return r.again(c, v, disputePage(v, d), disputeFileForm(v, d.ID), err)
	}
	return r.done(c, base+"/disputes/"+d.ID+"#files", "The file is uploaded. It is sent with your evidence.")
}

func (r *Routes) deleteDisputeFile(c *fiber.Ctx, v *visit) error {
	at := base + "/disputes/" + c.Params("id")
	if _, err := r.Disputes.DeleteFile(c.UserContext(), v.account(), c.Params("id"), c.Params("file")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at+"#files", "The file is deleted.")
}

// disputeFile sends a creator a file of theirs.
func (r *Routes) disputeFile(c *fiber.Ctx, v *visit) error {
	state, err := r.Files.OpenDisputeFile(c.UserContext(), v.account(), c.Params("id"), c.Params("file"))
	if err != nil {
		return err
	}
	return layout.SendFile(c, state, r.Files.Bytes)
}

func (r *Routes) evidencePDF(c *fiber.Ctx, v *visit) error {
	d, collected, err := r.Disputes.Evidence(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	content, err := r.Disputes.EvidencePDF(d, collected)
	if err != nil {
		return err
	}
	return layout.SendPDF(c, "evidence-"+d.ID, content)
}

func (r *Routes) acceptDispute(c *fiber.Ctx, v *visit) error {
	at := base + "/disputes/" + c.Params("id")
	_, err := r.Disputes.Accept(c.UserContext(), v.account(), c.Params("id"))
	return r.result(c, at, err, "Accepted: the buyer gets the money back.")
}
