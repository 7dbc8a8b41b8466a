package dashboard

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"sundry/core/event"
	"sundry/core/id"
	core "sundry/core/identity"
	"sundry/ports"
)

func (r *Routes) mountDevelopers(at fiber.Router) {
	r.get(at, "/keys", r.keys)
	r.get(at, "/keys/new", r.newKey)
	r.post(at, "/keys/new", r.createKey)
	r.post(at, "/keys/:id/revoke", r.revokeKey)
	r.get(at, "/events", r.events)
	r.get(at, "/events/:id", r.event)
	r.get(at, "/requests", r.requests)
	r.mountWebhooks(at)
}

func (r *Routes) keys(c *fiber.Ctx, v *visit) error {
	l := &list[*core.APIKey]{
		path: base + "/keys", name: "api-keys",
		filters: []filter{{Name: "q", Label: "Search", Placeholder: "Name or last four"}},
		columns: []column[*core.APIKey]{
			{label: "Name", cell: func(k *core.APIKey) cell { return text(k.State().Name) }},
			{label: "Key", cell: func(k *core.APIKey) cell { return mono(k.State().Prefix + "…" + k.State().Last4) }},
			{label: "Last used", cell: func(k *core.APIKey) cell {
				if k.State().LastUsedAt.IsZero() {
					return text("Never")
				}
				return v.moment(k.State().LastUsedAt)
			}, csv: func(k *core.APIKey) string { return exact(k.State().LastUsedAt) }},
			{label: "Created", cell: func(k *core.APIKey) cell { return v.moment(k.State().CreatedAt) }, csv: func(k *core.APIKey) string { return exact(k.State().CreatedAt) }},
			{cell: func(k *core.APIKey) cell {
				return cell{Actions: []action{v.button("Revoke", base+"/keys/"+k.State().ID+"/revoke").asking("Whatever uses it stops working within seconds. This can’t be undone.")}}
			}},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[*core.APIKey], error) {
			return r.Identity.ListKeys(ctx, v.account(), page)
		},
		match: func(q query, k *core.APIKey) bool { return q.has("q", k.State().Name, k.State().Last4) },
		empty: empty{Title: "No API keys", Text: "Your backend uses a secret key to open checkouts and to read what customers may use.",
			Action: &action{Label: "Create a key", Href: base + "/keys/new", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Title: "API keys", Lead: "Secret keys for your backend. Never put one into a page or an app.", Actions: []action{link("Documentation", "/docs"), link("New key", base+"/keys/new").primary()}})
}

func keyForm(v *visit) form {
	f := v.form("key", base+"/keys/new", "Create key", field{Name: "name", Label: "Name", Required: true, Placeholder: "Backend", Hint: "Where it is used, so that you know what to revoke."})
	f.Cancel = base + "/keys"
	return f
}

func keyPage() page {
	return page{Nav: base + "/keys", Title: "New API key", Up: &action{Label: "API keys", Href: base + "/keys"}}
}

func (r *Routes) newKey(c *fiber.Ctx, v *visit) error {
	p := keyPage()
	p.Parts = []part{formPart(keyForm(v))}
	return r.send(c, v, p)
}

// createKey shows the key this once.
func (r *Routes) createKey(c *fiber.Ctx, v *visit) error {
	made, key, err := r.Identity.CreateKey(c.UserContext(), v.account(), core.NewKeyRequest{Name: read(c).text("name")})
	if err != nil {
		return r.again(c, v, keyPage(), keyForm(v), err)
	}
	p := keyPage()
	p.Title = made.Name
	p.Parts = []part{
		notePart("wait", "This is the only time that the key is shown. Keep it where your backend reads its secrets."), codePart("Secret key", "key", key),
		codePart("Try it", "try", "curl -s "+r.layout.Config().BaseURL+"/v1/payments -H 'Authorization: Bearer "+key+"'"),
	}
	p.Actions = []action{link("Done", base+"/keys").primary()}
	return r.send(c, v, p)
}

func (r *Routes) revokeKey(c *fiber.Ctx, v *visit) error {
	if _, err := r.Identity.RevokeKey(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, base+"/keys", err)
	}
	return r.done(c, base+"/keys", "The key is revoked.")
}

// eventTypes are the types to filter by.
func eventTypes(selected string) []option {
	all := []option{{Label: "Any type"}}
	for _, kind := range event.Catalogue() {
		all = append(all, option{Value: string(kind.Type), Label: string(kind.Type), Selected: string(kind.Type) == selected})
	}
	return all
}

func (r *Routes) events(c *fiber.Ctx, v *visit) error {
	l := &list[event.Record]{
		path: base + "/events", name: "events",
		filters: []filter{
			{Name: "type", Label: "Type", Options: eventTypes("")}, {Name: "customer", Label: "Customer", Placeholder: "Your ID or cus_…"},
			{Name: "q", Label: "Search", Placeholder: "Any text in it"},
		},
		columns: []column[event.Record]{
			{label: "Event", cell: func(e event.Record) cell { return cell{Text: string(e.Type), Href: base + "/events/" + e.ID} }},
			{label: "ID", cell: func(e event.Record) cell { return mono(e.ID) }},
			{label: "Date", cell: func(e event.Record) cell { return v.moment(e.CreatedAt) }, csv: func(e event.Record) string { return exact(e.CreatedAt) }},
		},
		read: func(ctx context.Context, q query, page ports.Page) (ports.List[event.Record], error) {
			return r.Webhooks.Events(ctx, v.account(), eventSearch(q), page)
		},
		match: func(q query, e event.Record) bool { return q.has("q", e.ID, string(e.Data)) },
		empty: empty{Title: "Nothing happened yet", Text: "Every payment, subscription and change of access leaves an event here. Webhooks deliver them to your backend.",
			Action: &action{Label: "Add a webhook endpoint", Href: base + "/webhooks/new", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Title: "Events", Lead: "What happened in your account, as your integration receives it."})
}

// eventSearch is what the database is asked for; a customer is named by our id or by the integrator's.
func eventSearch(q query) ports.EventSearch {
	search := ports.EventSearch{Type: event.Type(q["type"])}
	if id.Valid(id.Customer, q["customer"]) {
		search.CustomerID = q["customer"]
	} else {
		search.ExternalCustomerID = q["customer"]
	}
	return search
}

func (r *Routes) event(c *fiber.Ctx, v *visit) error {
	e, err := r.Webhooks.Event(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	return r.send(c, v, page{
		Nav: base + "/events", Title: string(e.Type), Lead: v.when(e.CreatedAt), Up: &action{Label: "Events", Href: base + "/events"},
		Parts: []part{codePart("Data", "data", indented(e.Data))}, Aside: []part{facts("Details", fact{"ID", copied(e.ID)}, fact{"Type", text(string(e.Type))}, fact{"Created", v.moment(e.CreatedAt)})},
	})
}
