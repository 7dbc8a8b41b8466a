package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	core "sundry/core/webhook"
	"sundry/modules/webhooks"
	"sundry/ports"
)

func (r *Routes) mountWebhooks(at fiber.Router) {
	r.get(at, "/webhooks", r.endpoints)
	r.get(at, "/webhooks/new", r.newEndpoint)
	r.post(at, "/webhooks/new", r.createEndpoint)
	r.get(at, "/webhooks/:id", r.endpoint)
	r.get(at, "/webhooks/:id/edit", r.editEndpoint)
	r.post(at, "/webhooks/:id/edit", r.saveEndpoint)
	r.post(at, "/webhooks/:id/secret", r.showSecret)
	r.post(at, "/webhooks/:id/rotate", r.rotateSecret)
	r.post(at, "/webhooks/:id/test", r.testEndpoint)
	r.post(at, "/webhooks/:id/enabled", r.switchEndpoint)
	r.post(at, "/webhooks/:id/delete", r.deleteEndpoint)
	r.get(at, "/webhooks/:id/deliveries/:delivery", r.delivery)
	r.post(at, "/webhooks/:id/deliveries/:delivery/resend", r.resend)
}

func endpointTone(e core.EndpointState) cell {
	switch {
	case !e.Enabled:
		return badge("Disabled", "bad")
	case e.Failures > 0:
		return badge("Failing", "wait")
	default:
		return badge("Enabled", "ok")
	}
}

func (r *Routes) endpoints(c *fiber.Ctx, v *visit) error {
	l := &list[core.EndpointState]{
		path: base + "/webhooks", name: "webhook-endpoints",
		filters: []filter{{Name: "enabled", Label: "Status", Options: choices("", "", "Any status", "yes", "Enabled", "no", "Disabled")}, {Name: "q", Label: "Search", Placeholder: "Address or event"}},
		columns: []column[core.EndpointState]{
			{label: "Address", cell: func(e core.EndpointState) cell { return cell{Text: e.URL, Href: base + "/webhooks/" + e.ID} }},
			{label: "Events", cell: func(e core.EndpointState) cell { return text(eventNames(e.Events)) }, csv: func(e core.EndpointState) string { return strings.Join(e.Events, "\n") }},
			{label: "Status", cell: endpointTone},
			{label: "Created", cell: func(e core.EndpointState) cell { return v.moment(e.CreatedAt) }, csv: func(e core.EndpointState) string { return exact(e.CreatedAt) }},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[core.EndpointState], error) {
			return r.Webhooks.Endpoints(ctx, v.account(), page)
		},
		match: func(q query, e core.EndpointState) bool {
			return q.is("enabled", map[bool]string{true: "yes", false: "no"}[e.Enabled]) && q.has("q", e.URL, strings.Join(e.Events, " "), e.ID)
		},
		empty: empty{Title: "Let your backend know", Text: "An endpoint is an address of yours that we send events to, signed: payments, renewals, changes of access.",
			Action: &action{Label: "Add an endpoint", Href: base + "/webhooks/new", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Title: "Webhooks", Lead: "Addresses of your backend that receive events.", Actions: []action{link("New endpoint", base+"/webhooks/new").primary()}})
}

// eventNames lists what an endpoint is sent.
func eventNames(types []string) string {
	if slices.Contains(types, "*") {
		return "All events"
	}
	return strings.Join(types, "\n")
}

func endpointForm(v *visit, e core.EndpointState) form {
	events := strings.Join(e.Events, "\n")
	if e.ID == "" {
		events = "*"
	}
	f := v.form("endpoint", base+"/webhooks/new", "Add endpoint",
		field{Name: "url", Label: "Address", Type: "url", Value: e.URL, Required: true, Placeholder: "https://example.com/webhooks"},
		field{Name: "events", Label: "Events", Type: "textarea", Rows: 4, Mono: true, Value: events, Required: true, Hint: "One per line: payment.completed, a family such as subscription.*, or * for everything."},
		field{Name: "maxInFlight", Label: "Concurrent deliveries", Value: zeroless(e.MaxInFlight), Half: true, Hint: "At most. Empty: 32."},
		field{Name: "maxPerSecond", Label: "Deliveries per second", Value: zeroless(e.MaxPerSecond), Half: true, Hint: "At most. Empty: no limit."})
	f.Cancel = base + "/webhooks"
	if e.ID != "" {
		f.Action, f.Submit, f.Cancel = base+"/webhooks/"+e.ID+"/edit", "Save", base+"/webhooks/"+e.ID
	}
	return f
}

func readEndpoint(c *fiber.Ctx) (core.EndpointEdit, error) {
	in := read(c)
	events := in.lines("events")
	e := core.EndpointEdit{URL: new(in.text("url")), Events: &events, MaxInFlight: in.number("maxInFlight", "maxInFlight"), MaxPerSecond: in.number("maxPerSecond", "maxPerSecond")}
	return e, in.err()
}

func newEndpointPage() page {
	return page{Nav: base + "/webhooks", Title: "New endpoint", Up: &action{Label: "Webhooks", Href: base + "/webhooks"}}
}

func (r *Routes) newEndpoint(c *fiber.Ctx, v *visit) error {
	p := newEndpointPage()
	p.Parts = []part{formPart(endpointForm(v, core.EndpointState{}))}
	return r.send(c, v, p)
}

func (r *Routes) createEndpoint(c *fiber.Ctx, v *visit) error {
	edit, err := readEndpoint(c)
	var made core.EndpointState
	var secret string
	if err == nil {
		made, secret, err = r.Webhooks.CreateEndpoint(c.UserContext(), v.account(), edit)
	}
	if err != nil {
		return r.again(c, v, newEndpointPage(), endpointForm(v, core.EndpointState{}), err)
	}
	return r.sendSecret(c, v, made, secret, "The endpoint is added. Verify every delivery with this secret.")
}

// sendSecret shows the secret that an endpoint's deliveries are signed with.
func (r *Routes) sendSecret(c *fiber.Ctx, v *visit, e core.EndpointState, secret, words string) error {
	return r.send(c, v, page{
		Nav: base + "/webhooks", Title: "Signing secret", Lead: e.URL, Up: &action{Label: "Endpoint", Href: base + "/webhooks/" + e.ID},
		Actions: []action{link("Done", base+"/webhooks/"+e.ID).primary()}, Parts: []part{notePart("ok", words), codePart("Secret", "secret", secret)},
	})
}

// endpoint is the page of one endpoint, with its deliveries.
func (r *Routes) endpoint(c *fiber.Ctx, v *visit) error {
	e, err := r.Webhooks.Endpoint(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	at, status := base+"/webhooks/"+e.ID, endpointTone(e)
	p := page{Title: e.URL, Badge: &status, Up: &action{Label: "Webhooks", Href: base + "/webhooks"}}
	if e.Enabled {
		p.Actions = []action{v.button("Send test event", at+"/test").primary(), link("Edit", at+"/edit"), v.button("Disable", at+"/enabled").asking("Events wait until you enable it again.")}
	} else {
		p.Actions = []action{v.button("Enable", at+"/enabled", hidden("enabled", "yes")).primary(), link("Edit", at+"/edit")}
		p.Parts = append(p.Parts, notePart("bad", "It is disabled: "+plainWords(e.DisabledReason)+". What happened meanwhile is delivered once you enable it."))
	}
	p.Actions = append(p.Actions, v.button("Delete", at+"/delete").asking("What waits for it is not sent any more. This can’t be undone."))
	secret := facts("Signing secret", fact{"Secret", cell{Text: "whsec_••••••••"}})
	secret.Actions = []action{v.button("Show", at+"/secret"), v.button("Rotate", at+"/rotate").asking("A new secret signs from now on. The one before goes on signing, too, for 24 hours.")}
	p.Wide, p.Aside = true, []part{
		secret,
		facts("Details", fact{"Events", text(eventNames(e.Events))}, fact{"Concurrent deliveries, at most", text(strconv.Itoa(e.MaxInFlight))}, fact{"Deliveries per second, at most", text(orDash(zeroless(e.MaxPerSecond)))},
			fact{"Failures in a row", text(strconv.Itoa(e.Failures))}, fact{"ID", copied(e.ID)}, fact{"Created", v.moment(e.CreatedAt)}),
	}
	l := r.deliveryList(v, e)
	if c.Query("format") == "csv" {
		return l.export(c)
	}
	shown, err := l.part(c, "Deliveries")
	if err != nil {
		return err
	}
	shown.Title, p.Nav = "Deliveries", base+"/webhooks"
	p.Parts = append(p.Parts, shown)
	return r.send(c, v, p)
}

var deliveryTones = map[core.DeliveryStatus]cell{
	core.Pending: badge("Pending", "wait"), core.Delivered: badge("Delivered", "ok"), core.Failed: badge("Failed", "bad"),
}

func (r *Routes) deliveryList(v *visit, e core.EndpointState) *list[webhooks.Delivered] {
	at := base + "/webhooks/" + e.ID
	return &list[webhooks.Delivered]{
		path: at, name: "deliveries",
		filters: []filter{
			{Name: "status", Label: "Status", Options: choices("", "", "Any status", "delivered", "Delivered", "pending", "Pending", "failed", "Failed")}, {Name: "q", Label: "Search", Placeholder: "Event type or ID"},
		},
		columns: []column[webhooks.Delivered]{
			{label: "Event", cell: func(d webhooks.Delivered) cell {
				return cell{Text: d.EventType, Href: at + "/deliveries/" + d.ID, Sub: d.EventID}
			}},
			{label: "Status", cell: func(d webhooks.Delivered) cell { return deliveryTones[d.Status] }},
			{label: "Response", cell: func(d webhooks.Delivered) cell { return text(lastResponse(d)) }},
			{label: "Attempts", num: true, cell: func(d webhooks.Delivered) cell { return text(strconv.Itoa(d.AttemptCount)) }},
			{label: "Date", cell: func(d webhooks.Delivered) cell { return v.moment(d.CreatedAt) }, csv: func(d webhooks.Delivered) string { return exact(d.CreatedAt) }},
			{cell: func(d webhooks.Delivered) cell {
				if !e.Enabled {
					return cell{}
				}
				return cell{Actions: []action{v.button("Resend", at+"/deliveries/"+d.ID+"/resend")}}
			}},
		},
		read: func(ctx context.Context, q query, page ports.Page) (ports.List[webhooks.Delivered], error) {
			return r.Webhooks.Deliveries(ctx, v.account(), e.ID, core.DeliveryStatus(q["status"]), page)
		},
		match: func(q query, d webhooks.Delivered) bool { return q.has("q", d.EventType, d.EventID, d.ID) },
		empty: empty{Title: "Nothing was sent yet", Text: "Send a test event to see whether your backend receives it."},
	}
}

// lastResponse is what the receiver responded last.
func lastResponse(d webhooks.Delivered) string {
	if len(d.Attempts) == 0 {
		return "–"
	}
	last := d.Attempts[len(d.Attempts)-1]
	if last.StatusCode == 0 {
		return last.Error
	}
	return fmt.Sprintf("%d in %d ms", last.StatusCode, last.Duration.Milliseconds())
}

// delivery shows what was sent and what came back, attempt by attempt.
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
	p := page{Nav: base + "/webhooks", Title: d.EventType, Badge: &status, Lead: e.URL, Up: &action{Label: "Endpoint", Href: at}}
	if e.Enabled {
		p.Actions = []action{v.button("Resend", at+"/deliveries/"+d.ID+"/resend").primary()}
	}
	if record, err := r.Webhooks.Event(ctx, v.account(), d.EventID); err == nil {
		p.Parts = append(p.Parts, codePart("What is sent", "payload", indented(record.Data)))
		p.Parts[0].Lead = "The member data of the event " + d.EventID + "."
	}
	var steps []step
	for _, a := range slices.Backward(d.Attempts) {

		tone, title := "bad", "Attempt "+strconv.Itoa(a.Number)+": "
		if a.StatusCode >= 200 && a.StatusCode < 300 {
			tone = "ok"
		}
		if a.StatusCode == 0 {
			title += "no response"
		} else {
			title += strconv.Itoa(a.StatusCode)
		}
		steps = append(steps, step{Title: title, Text: a.Error, Tone: tone, At: v.when(a.At) + ", " + strconv.FormatInt(a.Duration.Milliseconds(), 10) + " ms"})
	}
	p.Parts = append(p.Parts, part{Kind: "timeline", Title: "Attempts", Data: steps})
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].ResponseBody != "" {
		p.Parts = append(p.Parts, codePart("Last response", "response", d.Attempts[n-1].ResponseBody))
	}
	p.Aside = []part{facts("Details", fact{"Event", to(d.EventID, base+"/events/"+d.EventID)}, fact{"Delivery", copied(d.ID)}, fact{"Created", v.moment(d.CreatedAt)}, fact{"Next attempt", v.moment(d.NextAttemptAt)})}
	return r.send(c, v, p)
}

func (r *Routes) editEndpoint(c *fiber.Ctx, v *visit) error {
	e, err := r.Webhooks.Endpoint(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	p := newEndpointPage()
	p.Title, p.Up = "Edit endpoint", &action{Label: "Endpoint", Href: base + "/webhooks/" + e.ID}
	p.Parts = []part{formPart(endpointForm(v, e))}
	return r.send(c, v, p)
}

func (r *Routes) saveEndpoint(c *fiber.Ctx, v *visit) error {
	e, err := r.Webhooks.Endpoint(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	edit, err := readEndpoint(c)
	if err == nil {
		_, err = r.Webhooks.EditEndpoint(c.UserContext(), v.account(), e.ID, edit)
	}
	if err != nil {
		p := newEndpointPage()
		p.Title, p.Up = "Edit endpoint", &action{Label: "Endpoint", Href: base + "/webhooks/" + e.ID}
		return r.again(c, v, p, endpointForm(v, e), err)
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
	return r.sendSecret(c, v, e, secret, "Verify every delivery with this secret, and keep it where your backend reads its secrets.")
}

func (r *Routes) rotateSecret(c *fiber.Ctx, v *visit) error {
	e, secret, err := r.Webhooks.RotateSecret(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return r.refused(c, base+"/webhooks/"+c.Params("id"), err)
	}
	return r.sendSecret(c, v, e, secret, "This is the new secret. The one before goes on signing, too, until "+v.when(e.PreviousUntil)+".")
}

func (r *Routes) testEndpoint(c *fiber.Ctx, v *visit) error {
	at := base + "/webhooks/" + c.Params("id")
	if _, err := r.Webhooks.Test(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "A test event is on its way. Reload to see what came back.")
}

func (r *Routes) switchEndpoint(c *fiber.Ctx, v *visit) error {
	at, enabled := base+"/webhooks/"+c.Params("id"), read(c).checked("enabled")
	if _, err := r.Webhooks.EditEndpoint(c.UserContext(), v.account(), c.Params("id"), core.EndpointEdit{Enabled: &enabled}); err != nil {
		return r.refused(c, at, err)
	}
	if enabled {
		return r.done(c, at, "Enabled. What waited is on its way.")
	}
	return r.done(c, at, "Disabled.")
}

func (r *Routes) deleteEndpoint(c *fiber.Ctx, v *visit) error {
	if _, err := r.Webhooks.DeleteEndpoint(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, base+"/webhooks", err)
	}
	return r.done(c, base+"/webhooks", "The endpoint is deleted.")
}

func (r *Routes) resend(c *fiber.Ctx, v *visit) error {
	at := base + "/webhooks/" + c.Params("id")
	if _, err := r.Webhooks.Redeliver(c.UserContext(), v.account(), c.Params("id"), c.Params("delivery")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "Sent again.")
}
