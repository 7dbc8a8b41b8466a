package dashboard

import (
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/event"
	"sundry/core/id"
	core "sundry/core/identity"
	"sundry/core/webhook"
	"sundry/ports"
)

func (r *Routes) mountDevelopers(at fiber.Router) {
	r.get(at, "/keys", r.keys)
	r.form(at, "/keys/new", r.newKey)
	r.careful(at, "/keys/new", r.createKey)
	r.form(at, "/keys/created", r.createdKey)
	r.post(at, "/keys/:id/revoke", r.revokeKey)
	r.get(at, "/events", r.events)
	r.get(at, "/events/:id", r.event)
	r.get(at, "/requests", r.requests)
	r.mountWebhooks(at)
}

func (r *Routes) keys(c *fiber.Ctx, v *visit) error {
	l := &ui.List[*core.APIKey]{
		Path: base + "/keys", FileName: "api-keys",
		Filters: []ui.Filter{{Name: "q", Label: "Search", Placeholder: "Name or last four"}},
		Columns: []ui.Column[*core.APIKey]{
			{Label: "Name", Cell: func(k *core.APIKey) ui.Cell { return ui.Text(k.State().Name) }},
			{
				Label: "Key",
				Cell:  func(k *core.APIKey) ui.Cell { return ui.Mono(k.State().Prefix + "…" + k.State().Last4) },
			},
			{Label: "Scopes", Cell: func(k *core.APIKey) ui.Cell { return ui.Label(scopeList(k.State().Scopes)) }},
			{Label: "Last used", Cell: func(k *core.APIKey) ui.Cell {
				if k.State().LastUsedAt.IsZero() {
					return ui.Label("Never")
				}
				return v.moment(k.State().LastUsedAt)
			}, CSV: func(k *core.APIKey) string { return ui.ExactTime(k.State().LastUsedAt) }},
			timeColumn(v, "Created", "", func(k *core.APIKey) time.Time { return k.State().CreatedAt }),
			{Label: "Expires", Cell: func(k *core.APIKey) ui.Cell {
				if k.State().ExpiresAt.IsZero() {
					return ui.Label("Never")
				}
				return v.moment(k.State().ExpiresAt)
			}, CSV: func(k *core.APIKey) string { return ui.ExactTime(k.State().ExpiresAt) }},
			{Cell: func(k *core.APIKey) ui.Cell {
				return ui.Cell{
					Actions: []ui.Action{
						v.button("Revoke", base+"/keys/"+k.State().ID+"/revoke").Confirm(
							"Whatever uses it stops working within seconds. This can’t be undone.",
						),
					},
				}
			}},
		},
		Read: func(ctx context.Context, _ ui.Query, page ports.Page) (ports.List[*core.APIKey], error) {
			return r.Identity.ListKeys(ctx, v.account(), page)
		},
		Match: func(q ui.Query, k *core.APIKey) bool { return q.Has("q", k.State().Name, k.State().Last4) },
		Empty: ui.Empty{
			Title:  "No API keys",
			Text:   "Your backend uses a secret key to open checkouts and to read what customers may use.",
			Action: &ui.Action{Label: "Create a key", Href: base + "/keys/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Title: "API keys", Lead: "Secret keys for your backend. Never put one into a page or an app.",
		Actions: []ui.Action{ui.Link("Documentation", "/docs"), ui.Link("New key", base+"/keys/new").Primary()},
	})
}

// scopesField offers the scopes by what they are about, in words of the sidebar.
func scopesField(live bool) ui.Field {
	developers := ui.Choices("", string(core.ScopeWebhooks), "Events and webhooks",
		string(core.ScopeSandbox), "The sandbox’s clock")
	if live {
		developers = developers[:1]
	}
	return ui.Field{
		Name: "scopes", Label: "What the key may do: everything, unless you choose", Type: "boxes",
		Options: ui.Choices("", string(core.ScopeRead), "Read everything, change nothing"),
		Groups: []ui.Group{
			{Label: "Sell", Options: ui.Choices("", string(core.ScopeCatalog), "Catalog, meters and prices",
				string(core.ScopeCheckout), "Checkout sessions and payments",
				string(core.ScopeAppointments), "Appointments")},
			{Label: "Buyers", Options: ui.Choices("", string(core.ScopeCustomers), "Customers, cards and portal links",
				string(core.ScopeAccess), "Customers’ access, grants and credits",
				string(core.ScopeSubscriptions), "Subscriptions",
				string(core.ScopeUsage), "Usage reports, billing plans and alerts",
				string(core.ScopeInvoices), "Invoices")},
			{Label: "Money", Options: ui.Choices("", string(core.ScopeRefunds), "Refunds and disputes",
				string(core.ScopePayouts), "Balance and payouts")},
			{Label: "Developers", Options: developers},
		},
	}
}

// scopeList names the scopes of a key as the API does.
func scopeList(scopes core.Scopes) ui.Words {
	if scopes == (core.Scopes{}) {
		return "Everything"
	}
	return ui.Data(strings.ReplaceAll(scopes.Text(), ",", ", "))
}

func (r *Routes) keyForm(v *visit) ui.Form {
	f := v.form("key", base+"/keys/new", "Create key",
		ui.Field{
			Name: "name", Label: "Name", Required: true, Placeholder: "Backend",
			Hint: "Where it is used, so that you know what to revoke.",
		},
		ui.Field{
			Name: "expiresAt", Label: "Expires", Type: "date",
			Hint: "The key stops working when this day begins, in UTC. Leave it empty for a key without an end.",
		},
		scopesField(r.layout.Config().Live))
	f.Cancel = base + "/keys"
	return f
}

func keyPage() ui.Page {
	return ui.Page{Nav: base + "/keys", Title: "New API key", Up: &ui.Action{Label: "API keys", Href: base + "/keys"}}
}

func (r *Routes) newKey(c *fiber.Ctx, v *visit) error {
	return r.ask(c, v, keyPage(), r.keyForm(v))
}

func (r *Routes) createKey(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	scopes, err := core.ParseScopes(in.Texts("scopes"))
	_ = in.Faults.Merge(err) // its only error is a violation
	order := core.NewKeyRequest{Name: in.Text("name"), ExpiresAt: in.Day("expiresAt", "expiresAt"), Scopes: scopes}
	var key string
	err = in.Submit(func() error {
		_, err := order.Clean(r.Clock.Real())
		return err
	}, func() (err error) {
		_, key, err = r.Identity.CreateKey(c.UserContext(), v.User, order)
		return err
	})
	if err != nil {
		return r.again(c, v, keyPage(), r.keyForm(v), err)
	}
	return r.reveal(c, base+"/keys/created", "The key is created.", key)
}

// createdKey shows a new key once.
func (r *Routes) createdKey(c *fiber.Ctx, v *visit) error {
	key := r.takeRevealed(c)
	if key == "" {
		return layout.SeeOther(c, base+"/keys")
	}
	p := keyPage()
	p.Parts = []ui.Part{
		ui.NotePart("wait", "This is the only time that the key is shown. Keep it where your backend reads its secrets."),
		ui.CodePart("Secret key", "key", key),
	}
	holder, err := r.Identity.AuthenticateKey(c.UserContext(), key)
	if err == nil && holder.Scopes.Allow(core.ScopeRead, core.ScopeCheckout) {
		p.Parts = append(p.Parts, ui.CodePart(
			"Try it", "try", "curl -s "+r.layout.Config().BaseURL+"/v1/payments -H 'Authorization: Bearer "+key+"'",
		))
	}
	p.Actions = []ui.Action{ui.Link("Done", base+"/keys").Primary()}
	return r.send(c, v, p)
}

func (r *Routes) revokeKey(c *fiber.Ctx, v *visit) error {
	_, err := r.Identity.RevokeKey(c.UserContext(), v.account(), c.Params("id"))
	return r.result(c, base+"/keys", err, "The key is revoked.")
}

// eventTypes are the types to filter by.
func eventTypes(selected string) []ui.Option {
	all := []ui.Option{{Label: "Any type"}}
	for _, kind := range webhook.Catalogue() {
		all = append(all, ui.Option{
			Value: string(kind.Type), Label: ui.Data(string(kind.Type)), Selected: string(kind.Type) == selected,
		})
	}
	return all
}

func (r *Routes) events(c *fiber.Ctx, v *visit) error {
	l := &ui.List[event.Record]{
		Path: base + "/events", FileName: "events",
		Filters: []ui.Filter{
			{Name: "type", Label: "Type", Options: eventTypes("")},
			{Name: "customer", Label: "Customer", Placeholder: "External ID or cus_…"},
			{Name: "q", Label: "Search", Placeholder: "Any text in it"},
		},
		Columns: []ui.Column[event.Record]{
			{
				Label: "Event",
				Cell: func(e event.Record) ui.Cell {
					return ui.Cell{Text: ui.Data(string(e.Type)), Href: base + "/events/" + e.ID}
				},
			},
			{Label: "ID", Cell: func(e event.Record) ui.Cell { return ui.Mono(e.ID) }},
			timeColumn(v, "Date", "", func(e event.Record) time.Time { return e.CreatedAt }),
		},
		Read: func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[event.Record], error) {
			return r.Webhooks.Events(ctx, v.account(), eventSearch(q), page)
		},
		Match: func(q ui.Query, e event.Record) bool { return q.Has("q", e.ID, string(e.Data)) },
		Empty: ui.Empty{
			Title:  "Nothing happened yet",
			Text:   "Every payment, subscription and change of access leaves an event here. Webhooks deliver them to your backend.",
			Action: &ui.Action{Label: "Add a webhook endpoint", Href: base + "/webhooks/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Title: "Events", Lead: "What happened in your account, as your integration receives it.",
	})
}

// eventSearch translates the filters to a query of the store. A customer is named by our id or by the integrator's.
func eventSearch(q ui.Query) ports.EventSearch {
	var search ports.EventSearch
	if q["type"] != "" {
		search.Types = []event.Type{event.Type(q["type"])}
	}
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
	return r.send(c, v, ui.Page{
		Nav: base + "/events", Title: ui.Data(string(e.Type)), Lead: ui.Data(v.when(e.CreatedAt)),
		Up:    &ui.Action{Label: "Events", Href: base + "/events"},
		Parts: []ui.Part{ui.CodePart("Data", "data", indented(e.Data))}, Aside: []ui.Part{ui.Facts("Details",
			ui.Fact{Label: "ID", Value: ui.Copyable(e.ID)},
			ui.Fact{Label: "Type", Value: ui.Text(string(e.Type))},
			ui.Fact{Label: "Created", Value: v.moment(e.CreatedAt)},
		)},
	})
}
