package dashboard

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	core "sundry/core/webhook"
	"sundry/modules/webhooks"
	"sundry/ports"
)

func (r *Routes) mountWebhooks(at fiber.Router) {
	r.get(at, "/webhooks", r.endpoints)
	r.form(at, "/webhooks/new", r.newEndpoint)
	r.post(at, "/webhooks/new", r.createEndpoint)
	r.get(at, "/webhooks/:id", r.endpoint)
	r.form(at, "/webhooks/:id/edit", r.editEndpoint)
	r.post(at, "/webhooks/:id/edit", r.saveEndpoint)
	r.post(at, "/webhooks/:id/secret", r.showSecret)
	r.form(at, "/webhooks/:id/secret", r.shownSecret)
	r.post(at, "/webhooks/:id/rotate", r.rotateSecret)
	r.post(at, "/webhooks/:id/test", r.testEndpoint)
	r.post(at, "/webhooks/:id/enabled", r.switchEndpoint)
	r.post(at, "/webhooks/:id/delete", r.deleteEndpoint)
	r.get(at, "/webhooks/:id/deliveries/:delivery", r.delivery)
	r.post(at, "/webhooks/:id/deliveries/:delivery/resend", r.resend)
}

func endpointTone(e core.EndpointState) ui.Cell {
	switch {
	case !e.Enabled:
		return ui.Badge("Disabled", "bad")
	case e.Failures > 0:
		return ui.Badge("Failing", "wait")
	default:
		return ui.Badge("Enabled", "ok")
	}
}

func (r *Routes) endpoints(c *fiber.Ctx, v *visit) error {
	l := &ui.List[core.EndpointState]{
		Path: base + "/webhooks", FileName: "webhook-endpoints",
		Filters: []ui.Filter{
			{
				Name: "enabled", Label: "Status",
				Options: ui.Choices("", "", "Any status", "yes", "Enabled", "no", "Disabled"),
			},
			{Name: "q", Label: "Search", Placeholder: "Address or event"},
		},
		Columns: []ui.Column[core.EndpointState]{
			{
				Label: "Address",
				Cell: func(e core.EndpointState) ui.Cell {
					return ui.Cell{Text: ui.Data(e.URL), Href: base + "/webhooks/" + e.ID}
				},
			},
			{
				Label: "Events", Cell: func(e core.EndpointState) ui.Cell { return ui.Label(eventNames(e.Events)) },
				CSV: func(e core.EndpointState) string { return strings.Join(e.Events, "\n") },
			},
			{Label: "Status", Cell: endpointTone},
			timeColumn(v, "Created", "", func(e core.EndpointState) time.Time { return e.CreatedAt }),
		},
		Read: func(ctx context.Context, _ ui.Query, page ports.Page) (ports.List[core.EndpointState], error) {
			return r.Webhooks.Endpoints(ctx, v.account(), page)
		},
		Match: func(q ui.Query, e core.EndpointState) bool {
			return q.Is("enabled", map[bool]string{true: "yes", false: "no"}[e.Enabled]) && q.Has(
				"q", e.URL, strings.Join(e.Events, " "), e.ID,
			)
		},
		Empty: ui.Empty{
			Title:  "Let your backend know",
			Text:   "An endpoint is an address of yours that we send events to, signed: payments, renewals, changes of access.",
			Action: &ui.Action{Label: "Add an endpoint", Href: base + "/webhooks/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Title: "Webhooks", Lead: "Addresses of your backend that receive events.",
		Actions: []ui.Action{ui.Link("New endpoint", base+"/webhooks/new").Primary()},
	})
}

// eventNames lists what an endpoint is sent.
func eventNames(types []string) ui.Words {
	if slices.Contains(types, "*") {
		return "All events"
	}
	return ui.Data(strings.Join(types, "\n"))
}

func newEndpointPage() ui.Page {
	return ui.Page{
		Nav: base + "/webhooks", Title: "New endpoint", Up: &ui.Action{Label: "Webhooks", Href: base + "/webhooks"},
	}
}

func (r *Routes) newEndpoint(c *fiber.Ctx, v *visit) error {
	return r.ask(c, v, newEndpointPage(), endpointForm(v, core.EndpointState{}))
}

func (r *Routes) createEndpoint(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	edit := readEndpoint(in, nil)
	var made core.EndpointState
	var secret string
	err := in.Submit(func() error { return r.Webhooks.CheckEndpoint(edit, true) }, func() (err error) {
		made, secret, err = r.Webhooks.CreateEndpoint(c.UserContext(), v.account(), edit)
		return err
	})
	if err != nil {
		return r.again(c, v, newEndpointPage(), endpointForm(v, core.EndpointState{}), err)
	}
	return r.reveal(c, base+"/webhooks/"+made.ID+"/secret",
		"The endpoint is added. Verify every delivery with this secret.", secret)
}

// shownSecret shows the secret that an endpoint's deliveries are signed with, once.
func (r *Routes) shownSecret(c *fiber.Ctx, v *visit) error {
	e, err := r.Webhooks.Endpoint(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	secret := r.takeRevealed(c)
	if secret == "" {
		return layout.SeeOther(c, base+"/webhooks/"+e.ID)
	}
	return r.send(c, v, ui.Page{
		Nav: base + "/webhooks", Title: "Signing secret", Lead: ui.Data(e.URL),
		Up:      &ui.Action{Label: "Endpoint", Href: base + "/webhooks/" + e.ID},
		Actions: []ui.Action{ui.Link("Done", base+"/webhooks/"+e.ID).Primary()},
		Parts:   []ui.Part{ui.CodePart("Secret", "secret", secret)},
	})
}

// endpoint is the page of one endpoint, with its deliveries.
func (r *Routes) endpoint(c *fiber.Ctx, v *visit) error {
	e, err := r.Webhooks.Endpoint(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	at, status := base+"/webhooks/"+e.ID, endpointTone(e)
	p := ui.Page{Title: ui.Data(e.URL), Badge: &status, Up: &ui.Action{Label: "Webhooks", Href: base + "/webhooks"}}
	if e.Enabled {
		p.Actions = []ui.Action{
			v.button("Send test event", at+"/test").Primary(), ui.Link("Edit", at+"/edit"),
			v.button("Disable", at+"/enabled").Confirm("Events wait until you enable it again."),
		}
	} else {
		p.Actions = []ui.Action{
			v.button("Enable", at+"/enabled", ui.Hidden("enabled", "yes")).Primary(), ui.Link("Edit", at+"/edit"),
		}
		p.Parts = append(p.Parts, ui.NotePart(
			"bad",
			v.say("It is disabled: %s. What happened meanwhile is delivered once you enable it.",
				wordsOf(disabledReasons, e.DisabledReason)),
		))
	}
	p.Actions = append(p.Actions, v.button("Delete", at+"/delete").Confirm(
		"What waits for it is not sent any more. This can’t be undone.",
	))
	secret := ui.Facts("Signing secret", ui.Fact{Label: "Secret", Value: ui.Cell{Text: "whsec_••••••••"}})
	secret.Actions = []ui.Action{
		v.button("Show", at+"/secret"),
		v.button("Rotate", at+"/rotate").Confirm(
			"A new secret signs from now on. The one before goes on signing, too, for 24 hours.",
		),
	}
	p.Wide, p.Aside = true, []ui.Part{
		secret,
		ui.Facts("Details",
			ui.Fact{Label: "Events", Value: ui.Label(eventNames(e.Events))},
			ui.Fact{Label: "Concurrent deliveries, at most", Value: ui.Text(strconv.Itoa(e.MaxInFlight))},
			ui.Fact{Label: "Deliveries per second, at most", Value: ui.Text(orDash(zeroless(e.MaxPerSecond)))},
			ui.Fact{Label: "Failures in a row", Value: ui.Text(strconv.Itoa(e.Failures))},
			ui.Fact{Label: "ID", Value: ui.Copyable(e.ID)},
			ui.Fact{Label: "Created", Value: v.moment(e.CreatedAt)},
		),
	}
	l := r.deliveryList(v, e)
	if c.Query("format") == "csv" {
		return r.export(c, v, l.FileName, l.Export)
	}
	shown, err := l.Part(c, "Deliveries")
	if err != nil {
		return err
	}
	shown.Title, p.Nav = "Deliveries", base+"/webhooks"
	p.Parts = append(p.Parts, shown)
	return r.send(c, v, p)
}

var deliveryTones = map[core.DeliveryStatus]ui.Cell{
	core.Pending: ui.Badge("Pending", "wait"), core.Delivered: ui.Badge("Delivered", "ok"),
	core.Failed: ui.Badge("Failed", "bad"),
}

func (r *Routes) deliveryList(v *visit, e core.EndpointState) *ui.List[webhooks.Delivered] {
	at := base + "/webhooks/" + e.ID
	return &ui.List[webhooks.Delivered]{
		Path: at, FileName: "deliveries",
		Filters: []ui.Filter{
			{
				Name: "status", Label: "Status",
				Options: ui.Choices(
					"", "", "Any status", "delivered", "Delivered", "pending", "Pending", "failed", "Failed",
				),
			},
			{Name: "q", Label: "Search", Placeholder: "Event type or ID"},
		},
		Columns: []ui.Column[webhooks.Delivered]{
			{Label: "Event", Cell: func(d webhooks.Delivered) ui.Cell {
				return ui.Cell{Text: ui.Data(d.EventType), Href: at + "/deliveries/" + d.ID, Sub: ui.Data(d.EventID)}
			}},
			{Label: "Status", Cell: func(d webhooks.Delivered) ui.Cell { return deliveryTones[d.Status] }},
			{Label: "Response", Cell: func(d webhooks.Delivered) ui.Cell { return ui.Text(v.lastResponse(d)) }},
			{
				Label: "Attempts", Num: true,
				Cell: func(d webhooks.Delivered) ui.Cell { return ui.Text(strconv.Itoa(d.AttemptCount)) },
			},
			timeColumn(v, "Date", "", func(d webhooks.Delivered) time.Time { return d.CreatedAt }),
			{Cell: func(d webhooks.Delivered) ui.Cell {
				if !e.Enabled {
					return ui.Cell{}
				}
				return ui.Cell{Actions: []ui.Action{v.button("Resend", at+"/deliveries/"+d.ID+"/resend")}}
			}},
		},
		Read: func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[webhooks.Delivered], error) {
			return r.Webhooks.Deliveries(ctx, v.account(), e.ID, core.DeliveryStatus(q["status"]), page)
		},
		Match: func(q ui.Query, d webhooks.Delivered) bool { return q.Has("q", d.EventType, d.EventID, d.ID) },
		Empty: ui.Empty{
			Title: "Nothing was sent yet", Text: "Send a test event to see whether your backend receives it.",
		},
	}
}

// lastResponse describes the receiver's last response.
func (v *visit) lastResponse(d webhooks.Delivered) string {
	if len(d.Attempts) == 0 {
		return "–"
	}
	last := d.Attempts[len(d.Attempts)-1]
	if last.StatusCode == 0 {
		return last.Error
	}
	return v.text("%d in %d ms", last.StatusCode, last.Duration.Milliseconds())
}

// delivery shows each attempt with its request and its response.
func (r *Routes) delivery(c *fiber.Ctx, v *visit) error {
	ctx := c.UserContext()
	e, err := r.Webhooks.Endpoint(ctx, v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	d, err := r.Webhooks.Delivery(ctx, v.account(), e.ID, c.Params("delivery"))
	if err != nil {
		return err
	}
	at, status := base+"/webhooks/"+e.ID, deliveryTones[d.Status]
	p := ui.Page{
		Nav: base + "/webhooks", Title: ui.Data(d.EventType), Badge: &status, Lead: ui.Data(e.URL),
		Up: &ui.Action{Label: "Endpoint", Href: at},
	}
	if e.Enabled {
		p.Actions = []ui.Action{v.button("Resend", at+"/deliveries/"+d.ID+"/resend").Primary()}
	}
	if record, err := r.Webhooks.Event(ctx, v.account(), d.EventID); err == nil {
		p.Parts = append(p.Parts, ui.CodePart("What is sent", "payload", indented(record.Data)))
		p.Parts[0].Lead = v.say("The member data of the event %s.", d.EventID)
	}
	var steps []ui.Step
	for _, a := range slices.Backward(d.Attempts) {

		tone, title := "bad", v.say("Attempt %d: %d", a.Number, a.StatusCode)
		if a.StatusCode >= 200 && a.StatusCode < 300 {
			tone = "ok"
		}
		if a.StatusCode == 0 {
			title = v.say("Attempt %d: no response", a.Number)
		}
		steps = append(steps, ui.Step{
			Title: title, Text: ui.Data(a.Error), Tone: tone,
			At: v.when(a.At) + ", " + strconv.FormatInt(a.Duration.Milliseconds(), 10) + " ms",
		})
	}
	p.Parts = append(p.Parts, ui.Part{Kind: "timeline", Title: "Attempts", Data: steps})
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].ResponseBody != "" {
		p.Parts = append(p.Parts, ui.CodePart("Last response", "response", d.Attempts[n-1].ResponseBody))
	}
	p.Aside = []ui.Part{ui.Facts("Details",
		ui.Fact{Label: "Event", Value: ui.TextLink(d.EventID, base+"/events/"+d.EventID)},
		ui.Fact{Label: "Delivery", Value: ui.Copyable(d.ID)},
		ui.Fact{Label: "Created", Value: v.moment(d.CreatedAt)},
		ui.Fact{Label: "Next attempt", Value: v.moment(d.NextAttemptAt)},
	)}
	return r.send(c, v, p)
}

func editEndpointPage(e core.EndpointState) ui.Page {
	return ui.Page{
		Nav: base + "/webhooks", Title: "Edit endpoint",
		Up: &ui.Action{Label: "Endpoint", Href: base + "/webhooks/" + e.ID},
	}
}

func (r *Routes) editEndpoint(c *fiber.Ctx, v *visit) error {
	e, err := r.Webhooks.Endpoint(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	return r.ask(c, v, editEndpointPage(e), endpointForm(v, e))
}

func (r *Routes) saveEndpoint(c *fiber.Ctx, v *visit) error {
	e, err := r.Webhooks.Endpoint(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	f, in := endpointForm(v, e), ui.ReadInput(c)
	edit := readEndpoint(in, e.Events)
	if err = f.CheckStored(c); err == nil {
		err = in.Submit(func() error { return r.Webhooks.CheckEndpoint(edit, false) }, func() error {
			_, err := r.Webhooks.EditEndpoint(c.UserContext(), v.account(), e.ID, edit)
			return err
		})
	}
	if err != nil {
		return r.again(c, v, editEndpointPage(e), f, err)
	}
	return r.done(c, base+"/webhooks/"+e.ID, "Saved.")
}

func (r *Routes) showSecret(c *fiber.Ctx, v *visit) error {
	e, err := r.Webhooks.Endpoint(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	secret, err := r.Webhooks.Secret(c.UserContext(), v.account(), e.ID)
	if err != nil {
		return err
	}
	return r.reveal(c, base+"/webhooks/"+e.ID+"/secret",
		"Verify every delivery with this secret, and keep it where your backend reads its secrets.", secret)
}

func (r *Routes) rotateSecret(c *fiber.Ctx, v *visit) error {
	e, secret, err := r.Webhooks.RotateSecret(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return r.refused(c, base+"/webhooks/"+c.Params("id"), err)
	}
	return r.reveal(c, base+"/webhooks/"+e.ID+"/secret",
		v.say("This is the new secret. The one before goes on signing, too, until %s.", v.when(e.PreviousUntil)),
		secret)
}

func (r *Routes) testEndpoint(c *fiber.Ctx, v *visit) error {
	at := base + "/webhooks/" + c.Params("id")
	_, err := r.Webhooks.Test(c.UserContext(), v.account(), c.Params("id"))
	return r.result(c, at, err, "A test event is on its way. Reload to see what came back.")
}

func (r *Routes) switchEndpoint(c *fiber.Ctx, v *visit) error {
	at, enabled := base+"/webhooks/"+c.Params("id"), ui.ReadInput(c).Checked("enabled")
	if _, err := r.Webhooks.EditEndpoint(
		c.UserContext(), v.account(), c.Params("id"), core.EndpointEdit{Enabled: &enabled},
	); err != nil {
		return r.refused(c, at, err)
	}
	if enabled {
		return r.done(c, at, "Enabled. What waited is on its way.")
	}
	return r.done(c, at, "Disabled.")
}

func (r *Routes) deleteEndpoint(c *fiber.Ctx, v *visit) error {
	_, err := r.Webhooks.DeleteEndpoint(c.UserContext(), v.account(), c.Params("id"))
	return r.result(c, base+"/webhooks", err, "The endpoint is deleted.")
}

func (r *Routes) resend(c *fiber.Ctx, v *visit) error {
	at := base + "/webhooks/" + c.Params("id")
	_, err := r.Webhooks.Redeliver(c.UserContext(), v.account(), c.Params("id"), c.Params("delivery"))
	return r.result(c, at, err, "Sent again.")
}
