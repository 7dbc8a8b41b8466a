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
	"sundry/core/country"
	"sundry/core/customer"
	"sundry/core/metadata"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/subscription"
	"sundry/modules/customers"
	"sundry/ports"
)

func (r *Routes) mountCustomers(at fiber.Router) {
	r.get(at, "/customers", r.customers)
	r.form(at, "/customers/new", r.newCustomer)
	r.post(at, "/customers/new", r.createCustomer)
	r.get(at, "/customers/:id", r.customer)
	r.form(at, "/customers/:id/edit", r.editCustomer)
	r.post(at, "/customers/:id/edit", r.saveCustomer)
	r.get(at, "/customers/:id/access", r.customerAccess)
	r.form(at, "/customers/:id/grant", r.newGrant)
	r.post(at, "/customers/:id/grant", r.createGrant)
	r.post(at, "/customers/:id/grants/:grant/revoke", r.revokeGrant)
	r.post(at, "/customers/:id/portal", r.openPortal)
	r.post(at, "/customers/:id/erase", r.eraseCustomer)
	r.form(at, "/customers/:id/portal", r.openedPortal)
}

func (r *Routes) customers(c *fiber.Ctx, v *visit) error {
	return show(r, c, v, r.customerList(v), ui.Page{
		Title: "Customers",
		Lead: v.say("Who bought from you, and what they may use. They find their purchases at %s.",
			r.Customers.FindURL(v.account())),
		Actions: []ui.Action{ui.Link("New customer", base+"/customers/new")},
	})
}

func (r *Routes) customerList(v *visit) *ui.List[customer.State] {
	var sameEmail map[string]int
	return &ui.List[customer.State]{
		Path: base + "/customers", FileName: "customers",
		Filters: []ui.Filter{
			{Name: "email", Label: "Email", Placeholder: "grace@example.com"},
			{Name: "external", Label: "External ID"},
			{Name: "q", Label: "Search", Placeholder: "Name, email or ID", Matched: true},
		},
		Columns: []ui.Column[customer.State]{
			{Label: "Customer", Sort: "email", Cell: func(s customer.State) ui.Cell {
				return ui.Cell{
					Text: ui.Data(cmp.Or(s.Email, s.ExternalCustomerID, s.ID)), Href: base + "/customers/" + s.ID,
					Sub: v.sharedEmail(s, sameEmail),
				}
			}},
			{Label: "External ID", Cell: func(s customer.State) ui.Cell { return ui.Text(orDash(s.ExternalCustomerID)) }},
			{
				Label: "Country", Cell: func(s customer.State) ui.Cell { return v.country(s.Details.Country) },
				CSV: func(s customer.State) string { return s.Details.Country },
			},
			timeColumn(v, "Since", "-created", func(s customer.State) time.Time { return s.CreatedAt }),
			{Label: "ID", Cell: func(s customer.State) ui.Cell { return ui.Mono(s.ID) }},
		},
		Read: func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[customer.State], error) {
			found, err := r.Customers.List(
				ctx, ports.CustomerFilter{CreatorID: v.account(), Email: q["email"], ExternalCustomerID: q["external"]},
				page,
			)
			if err == nil {
				sameEmail, err = r.Customers.CountByEmail(ctx, v.account(), found.Items)
			}
			return found, err
		},
		Summary: totals[customer.State](v, "Customers", ""),
		Match: func(q ui.Query, s customer.State) bool {
			return q.Has("q", s.Email, s.DisplayName, s.ExternalCustomerID, s.ID)
		},
		Empty: ui.Empty{
			Title: "No customers yet", Text: "Everyone who buys from you appears here, with what they may use.",
			Action: &ui.Action{Label: "Create a payment link", Href: base + "/links/new", Tone: "primary"},
		},
	}
}

// sharedEmail is a customer's name, with a note where several have their address: every guest purchase makes one.
func (v *visit) sharedEmail(s customer.State, counts map[string]int) ui.Words {
	n := counts[strings.ToLower(s.Email)]
	if s.Email == "" || n < 2 {
		return ui.Data(s.DisplayName)
	}
	shared := v.text("one of %d with this email", n)
	if s.DisplayName != "" {
		shared = s.DisplayName + " · " + shared
	}
	return ui.Data(shared)
}

// sameEmailPart lists the other customers with a customer's address; ok is false when there are none.
func (r *Routes) sameEmailPart(ctx context.Context, v *visit, s customer.State) (p ui.Part, ok bool, err error) {
	if s.Email == "" {
		return p, false, nil
	}
	found, err := r.Customers.List(
		ctx, ports.CustomerFilter{CreatorID: v.account(), Email: s.Email}, ports.Page{Limit: 20},
	)
	t := ui.Table{Label: "Same email", Heads: []ui.Head{{Label: "Customer"}, {Label: "Since"}}}
	for _, other := range found.Items {
		if other.ID != s.ID {
			name := ui.TextLink(cmp.Or(other.DisplayName, other.ExternalCustomerID, other.ID), base+"/customers/"+other.ID)
			t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{name, v.moment(other.CreatedAt)}})
		}
	}
	p = ui.TablePart("Same email", t)
	p.Lead = "Each guest checkout makes a customer of its own: anyone can type an address. The portal that we email " +
		"them shows all."
	return p, len(t.Rows) > 0, err
}

func customerForm(v *visit, s customer.State) ui.Form {
	f := v.form("customer", base+"/customers/new", "Save",
		ui.Field{Name: "email", Label: "Email", Type: "email", Value: s.Email, Required: true},
		ui.Field{Name: "displayName", Label: "Name", Value: s.DisplayName, Required: true, Half: true},
		ui.Field{
			Name: "externalCustomerId", Label: "External ID", Value: s.ExternalCustomerID, Half: true, Mono: true,
			Hint: "What your app calls them. Their access is read under it.",
		})
	f.Cancel = base + "/customers"
	if s.ID != "" {
		f.Action, f.Cancel = base+"/customers/"+s.ID+"/edit", base+"/customers/"+s.ID
		return f.OfStored()
	}
	return f
}

func newCustomerPage() ui.Page {
	return ui.Page{
		Nav: base + "/customers", Title: "New customer", Up: &ui.Action{Label: "Customers", Href: base + "/customers"},
	}
}

func (r *Routes) newCustomer(c *fiber.Ctx, v *visit) error {
	return r.ask(c, v, newCustomerPage(), customerForm(v, customer.State{}))
}

func (r *Routes) createCustomer(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	made, err := r.Customers.Create(c.UserContext(), v.account(), customer.Draft{
		Email: in.Text("email"), DisplayName: in.Text("displayName"), ExternalCustomerID: in.Text("externalCustomerId"),
	})
	if err != nil {
		return r.again(c, v, newCustomerPage(), customerForm(v, customer.State{}), err)
	}
	return r.done(c, base+"/customers/"+made.ID, "Customer saved.")
}

func customerName(s customer.State) string {
	return cmp.Or(s.DisplayName, s.Email, s.ExternalCustomerID, s.ID)
}

// accessID returns the id under which a customer's access is read.
func accessID(s customer.State) string { return cmp.Or(s.ExternalCustomerID, s.ID) }

func editCustomerPage(v *visit, s customer.State) ui.Page {
	return ui.Page{
		Nav: base + "/customers", Title: v.say("Edit %s", customerName(s)),
		Up: &ui.Action{Label: ui.Data(customerName(s)), Href: base + "/customers/" + s.ID},
	}
}

func (r *Routes) editCustomer(c *fiber.Ctx, v *visit) error {
	s, err := r.Customers.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	return r.ask(c, v, editCustomerPage(v, s), customerForm(v, s))
}

func (r *Routes) saveCustomer(c *fiber.Ctx, v *visit) error {
	s, err := r.Customers.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	f, in := customerForm(v, s), ui.ReadInput(c)
	patch := customer.Patch{}
	for name, at := range map[string]struct {
		now string
		to  **string
	}{
		"email": {s.Email, &patch.Email}, "displayName": {s.DisplayName, &patch.DisplayName},
		"externalCustomerId": {s.ExternalCustomerID, &patch.ExternalCustomerID},
	} {
		if value := in.Text(name); value != at.now {
			*at.to = &value
		}
	}
	if err = f.CheckStored(c); err == nil {
		_, err = r.Customers.Update(c.UserContext(), v.account(), s.ID, patch)
	}
	if err != nil {
		return r.again(c, v, editCustomerPage(v, s), f, err)
	}
	return r.done(c, base+"/customers/"+s.ID, "Saved.")
}

// customer is the page of one customer.
func (r *Routes) customer(c *fiber.Ctx, v *visit) error {
	ctx := c.UserContext()
	s, err := r.Customers.Get(ctx, v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	at := base + "/customers/" + s.ID
	p := ui.Page{Nav: base + "/customers", Title: ui.Data(customerName(s)), Lead: ui.Data(s.Email),
		Up: &ui.Action{Label: "Customers", Href: base + "/customers"}, Actions: []ui.Action{
			ui.Link("Edit", at+"/edit"), v.button("Open their portal", at+"/portal"),
			ui.Link("Give access", at+"/grant").Primary(),
		}}
	if p.Lead == p.Title {
		p.Lead = ""
	}
	v.offerErasure(&p, s)
	why, err := r.Access.Explain(ctx, v.account(), accessID(s))
	if err != nil {
		return err
	}
	grants, err := r.grantsPart(c, v, s, why)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, grants)
	subs, err := r.Subscriptions.OfCustomer(ctx, s.ID)
	if err != nil {
		return err
	}
	if len(subs) > 0 {
		p.Parts = append(p.Parts, r.customerSubscriptions(v, subs, s.ID))
	}
	paid, err := r.Payments.List(ctx, v.account(), ports.PaymentSearch{
		CustomerID: s.ID, Status: payment.Succeeded,
	}, ports.Page{Limit: 100})
	if err != nil {
		return err
	}
	history, err := r.customerTimeline(ctx, v, paid.Items, subs, s.ID)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, ordersPart(v, paid.Items), history)
	same, shared, err := r.sameEmailPart(ctx, v, s)
	if err != nil {
		return err
	}
	if shared {
		p.Parts = append(p.Parts, same)
	}
	cards, err := r.Payments.Cards(ctx, s.ID)
	if err != nil {
		return err
	}
	p.Aside = append(p.Aside, ui.Facts("Details", v.customerFacts(s, cards)...), v.historyPart(why))
	prepaid, err := r.usageCreditsPart(ctx, v, s.ID)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, prepaid...)
	return r.send(c, v, p)
}

func (v *visit) customerFacts(s customer.State, cards []paymentmethod.State) []ui.Fact {
	details := []ui.Fact{
		{Label: "Email", Value: ui.Text(orDash(s.Email))},
		{Label: "External ID", Value: ui.Copyable(s.ExternalCustomerID)},
		{Label: "ID", Value: ui.Copyable(s.ID)},
		{Label: "Country", Value: v.country(s.Details.Country)},
		{Label: "Tax ID", Value: ui.Text(orDash(s.Details.TaxID))},
		{Label: "Since", Value: v.moment(s.CreatedAt)},
	}
	details = append(details, metadataFacts(s.Metadata)...)
	for _, card := range cards {
		details = append(details, ui.Fact{Label: "Card", Value: ui.Text(layout.CardName(card.Brand, card.Last4))})
	}
	return details
}

// customerSubscriptions lists a customer's subscriptions, and leads to what was reported for them.
func (r *Routes) customerSubscriptions(v *visit, subs []subscription.State, customerID string) ui.Part {
	shown := r.subscriptionList(v, r.names(v))
	shown.Columns = shown.Columns[:len(shown.Columns)-1]
	p := ui.TablePart("Subscriptions", shown.TableOf(subs))
	p.Actions = []ui.Action{ui.Link("Usage reports", reportsOf("customer", customerID).Href)}
	return p
}

// usageCreditsPart lists what a customer has prepaid for metered use; none where that is nothing.
func (r *Routes) usageCreditsPart(ctx context.Context, v *visit, customerID string) ([]ui.Part, error) {
	found, err := r.Usage.Credits(ctx, ports.CreditFilter{CreatorID: v.account(), CustomerID: customerID},
		ports.Page{Limit: 100})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	t := ui.Table{Label: "Usage credits", Heads: []ui.Head{
		{Label: "Bought"}, {Label: "For"}, {Label: "Until"}, {Label: "Credit", Num: true}, {Label: "Left", Num: true},
	}}
	for _, one := range found.Items {
		until := ui.Label("no end")
		if !one.ExpiresAt.IsZero() {
			until = v.moment(one.ExpiresAt)
		}
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			v.moment(one.CreatedAt), ui.Label(cmp.Or(ui.Data(one.Meter), "all usage")), until,
			ui.Number(v.price(one.Granted, string(one.Currency))),
			ui.Number(v.price(one.Rest(), string(one.Currency))),
		}})
	}
	return []ui.Part{ui.TablePart("Usage credits", t)}, nil
}

// offerErasure adds the way to erase a customer to their page, or says that it was done.
func (v *visit) offerErasure(p *ui.Page, s customer.State) {
	if !s.ErasedAt.IsZero() {
		p.Actions = nil
		p.Parts = append(p.Parts, ui.NotePart("wait", v.say("Who this was has been erased on %s.", v.when(s.ErasedAt))))
		return
	}
	p.Actions = append(p.Actions, v.button("Erase", base+"/customers/"+s.ID+"/erase").Confirm(
		"Who they are is forgotten, and their access ends. Receipts and invoices stay. It can't be undone.",
	))
}

// eraseCustomer forgets who a customer is.
func (r *Routes) eraseCustomer(c *fiber.Ctx, v *visit) error {
	at := base + "/customers/" + c.Params("id")
	_, err := r.Customers.Erase(c.UserContext(), v.account(), c.Params("id"))
	return r.result(c, at, err, "Erased.")
}

// metadataFacts show an integrator's own pairs.
func metadataFacts(m metadata.Pairs) []ui.Fact {
	pairs := m.Map()
	facts := make([]ui.Fact, 0, len(pairs))
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		facts = append(facts, ui.Fact{Label: ui.Data(key), Value: ui.Text(pairs[key])})
	}
	return facts
}

// ordersPart lists what a customer has paid.
func ordersPart(v *visit, paid []ports.ListedPayment) ui.Part {
	orders := ui.Table{Label: "Orders", Heads: []ui.Head{
		{Label: "Order"},
		{Label: "Amount", Num: true},
		{Label: "Status"},
		{Label: "Date"},
	}}
	for _, one := range paid {
		orders.Rows = append(orders.Rows, ui.Row{Cells: []ui.Cell{
			{Text: v.soldAs(one.State), Href: base + "/orders/" + one.ID, Sub: ui.Data(one.Sale.ReceiptNumber)},
			ui.Number(v.reader.Money(one.Amount)), orderStatus(one), v.moment(one.CreatedAt),
		}})
	}
	if len(paid) == 0 {
		orders.Empty = &ui.Empty{Title: "No orders", Text: "What they pay appears here."}
	}
	return ui.TablePart("Orders", orders)
}

// openPortal makes a link to the customer's own portal, as the customer sees it.
func (r *Routes) openPortal(c *fiber.Ctx, v *visit) error {
	at := base + "/customers/" + c.Params("id")
	address, _, err := r.Customers.OpenPortal(c.UserContext(), v.account(), customers.PortalRequest{
		CustomerID: c.Params("id"), ReturnURL: r.layout.Config().BaseURL + at,
	})
	if err != nil {
		return r.refused(c, at, err)
	}
	return r.reveal(c, at+"/portal", "The link is made.", address)
}

// openedPortal shows a link to a customer's portal once.
func (r *Routes) openedPortal(c *fiber.Ctx, v *visit) error {
	at, address := base+"/customers/"+c.Params("id"), r.takeRevealed(c)
	if address == "" {
		return layout.SeeOther(c, at)
	}
	return r.send(c, v, ui.Page{
		Nav: base + "/customers", Title: "Customer portal",
		Lead: "Anyone with this address can see receipts and manage plans. It works for a limited time.",
		Up:   &ui.Action{Label: "Customer", Href: at}, Actions: []ui.Action{ui.Link("Open portal", address).Primary()},
		Parts: []ui.Part{ui.CodePart("Address", "portal", address)},
	})
}

// country names a country; a dash for none.
func (v *visit) country(code string) ui.Cell {
	return ui.Text(orDash(country.Name(code, v.reader.Language)))
}
