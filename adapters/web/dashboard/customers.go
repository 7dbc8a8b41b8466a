package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	coreaccess "sundry/core/access"
	"sundry/core/country"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/metadata"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/modules/access"
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
			{
				Label: "Since", Sort: "-created",
				Cell: func(s customer.State) ui.Cell { return v.moment(s.CreatedAt) },
				CSV:  func(s customer.State) string { return ui.ExactTime(s.CreatedAt) },
			},
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
	}
	return f
}

func (r *Routes) newCustomer(c *fiber.Ctx, v *visit) error {
	return r.send(c, v, ui.Page{
		Nav: base + "/customers", Title: "New customer", Up: &ui.Action{Label: "Customers", Href: base + "/customers"},
		Parts: []ui.Part{ui.FormPart(customerForm(v, customer.State{}))},
	})
}

func (r *Routes) createCustomer(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	made, err := r.Customers.Create(c.UserContext(), v.account(), customer.Draft{
		Email: in.Text("email"), DisplayName: in.Text("displayName"), ExternalCustomerID: in.Text("externalCustomerId"),
	})
	if err != nil {
		p := ui.Page{
			Nav: base + "/customers", Title: "New customer",
			Up: &ui.Action{Label: "Customers", Href: base + "/customers"},
		}
		return r.again(c, v, p, customerForm(v, customer.State{}), err)
	}
	return r.done(c, base+"/customers/"+made.ID, "Customer saved.")
}

func customerName(s customer.State) string {
	return cmp.Or(s.DisplayName, s.Email, s.ExternalCustomerID, s.ID)
}

// accessID returns the id under which a customer's access is read.
func accessID(s customer.State) string { return cmp.Or(s.ExternalCustomerID, s.ID) }

func (r *Routes) editCustomer(c *fiber.Ctx, v *visit) error {
	s, err := r.Customers.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	return r.send(c, v, ui.Page{
		Nav: base + "/customers", Title: v.say("Edit %s", customerName(s)),
		Up:    &ui.Action{Label: ui.Data(customerName(s)), Href: base + "/customers/" + s.ID},
		Parts: []ui.Part{ui.FormPart(customerForm(v, s))},
	})
}

func (r *Routes) saveCustomer(c *fiber.Ctx, v *visit) error {
	s, err := r.Customers.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	in := ui.ReadInput(c)
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
	if _, err := r.Customers.Update(c.UserContext(), v.account(), s.ID, patch); err != nil {
		p := ui.Page{
			Nav: base + "/customers", Title: v.say("Edit %s", customerName(s)),
			Up: &ui.Action{Label: ui.Data(customerName(s)), Href: base + "/customers/" + s.ID},
		}
		return r.again(c, v, p, customerForm(v, s), err)
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
	p.Parts = append(p.Parts, customerOrders(v, paid.Items), history)
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
	p.Aside = append(p.Aside, ui.Facts("Details", details...), v.historyPart(why))
	prepaid, err := r.usageCreditsPart(ctx, v, s.ID)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, prepaid...)
	return r.send(c, v, p)
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
	if _, err := r.Customers.Erase(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "Erased.")
}

// metadataFacts show an integrator's own pairs.
func metadataFacts(m metadata.Pairs) []ui.Fact {
	pairs := m.Map()
	facts := make([]ui.Fact, 0, len(pairs))
	for _, key := range sortedKeys(pairs) {
		facts = append(facts, ui.Fact{Label: ui.Data(key), Value: ui.Text(pairs[key])})
	}
	return facts
}

// customerOrders lists what a customer has paid.
func customerOrders(v *visit, paid []ports.ListedPayment) ui.Part {
	orders := ui.Table{Label: "Orders", Heads: []ui.Head{
		{Label: "Order"},
		{Label: "Amount", Num: true},
		{Label: "Status"},
		{Label: "Date"},
	}}
	for _, one := range paid {
		orders.Rows = append(orders.Rows, ui.Row{Cells: []ui.Cell{
			{Text: soldAs(one.State), Href: base + "/orders/" + one.ID, Sub: ui.Data(one.Sale.ReceiptNumber)},
			ui.Number(v.reader.Money(one.Amount)), orderStatus(one), v.moment(one.CreatedAt),
		}})
	}
	if len(paid) == 0 {
		orders.Empty = &ui.Empty{Title: "No orders", Text: "What they pay appears here."}
	}
	return ui.TablePart("Orders", orders)
}

// grantsPart explains which payment, subscription or manual grant gives what.
func (r *Routes) grantsPart(c *fiber.Ctx, v *visit, s customer.State, why access.Explanation) (ui.Part, error) {
	names := r.planNames(c.UserContext(), v)
	t := ui.Table{Label: "Access", Heads: []ui.Head{
		{Label: "Gives"},
		{Label: "Because of"},
		{Label: "Since"},
		{Label: "Expires"},
		{},
	}}
	ended := why.Ended[:min(len(why.Ended), 10)]
	for i, g := range slices.Concat(why.Running, ended) {
		plan := ""
		if of := g.State().Plan; of != nil {
			var err error
			if plan, err = names(of.ListingID, of.Key); err != nil {
				return ui.Part{}, err
			}
		}
		t.Rows = append(t.Rows, v.grantRow(s, g.State(), plan, i < len(why.Running)))
	}
	if len(t.Rows) == 0 {
		t.Empty = &ui.Empty{Title: "No access", Text: "Nothing that this customer bought or was given counts now."}
	}
	p := ui.TablePart("Access", t)
	p.Lead = v.say("What they may use, and why. Version %d.", why.Document.Version)
	p.Actions = []ui.Action{ui.Link("Show as JSON", base+"/customers/"+s.ID+"/access")}
	return p, nil
}

// planNames returns a function that names a plan as its buyer knows it: "Studio – Pro", or the listing alone where the
// plan adds nothing.
func (r *Routes) planNames(ctx context.Context, v *visit) func(listingID, key string) (string, error) {
	titles, plans := r.titles(ctx, v), map[string][]plan.State{}
	return func(listingID, key string) (string, error) {
		if _, known := plans[listingID]; !known {
			found, err := r.Catalog.Plans(ctx, v.account(), listingID)
			if err != nil && !fault.Is(err, fault.NotFoundCode) {
				return "", err
			}
			plans[listingID] = found
		}
		offer := plan.Offer{Title: titles(listingID)}
		for _, p := range plans[listingID] {
			if p.Key == key {
				offer.PlanName = p.Name
			}
		}
		return offer.Name(), nil
	}
}

// grantEnds explain why a grant no longer counts.
var grantEnds = map[coreaccess.EndReason]ui.Words{
	coreaccess.Revoked: "You took it back", coreaccess.Expired: "Its time was over",
	coreaccess.SourceEnded: "The subscription ended", coreaccess.Refunded: "Refunded",
	coreaccess.Disputed: "The payment is disputed",
}

// grantRow shows a grant; plan is the name of what it gives, "" for one of loose entitlements and credits.
func (v *visit) grantRow(s customer.State, g coreaccess.State, plan string, running bool) ui.Row {
	var gives []string
	if plan != "" {
		gives = append(gives, plan)
	}
	for _, e := range g.Entitlements {
		gives = append(gives, entitlementLine(e))
	}
	for _, credit := range g.Credits {
		if credit.Hidden() {
			continue
		}
		gives = append(
			gives,
			v.text("%s: %d of %d %s left", credit.Key, credit.Left(), credit.Granted, credit.Unit),
		)
	}
	source := ui.Cell{Text: wordsOf(grantSources, g.Source), Sub: ui.Data(g.Note)}
	switch g.Source {
	case coreaccess.Subscription:
		source.Href = base + "/subscriptions/" + g.SourceID
	case coreaccess.Purchase, coreaccess.Appointment:
		source.Href = base + "/orders/" + g.SourceID
	case coreaccess.Manual:
		source.Text = "Given by you"
	}
	until := ui.Text("–")
	var buttons ui.Cell
	switch {
	case !running:
		until = ui.Cell{Text: v.say("Ended %s", v.when(g.EndedAt)), Sub: grantEnds[g.EndReason]}
	case !g.ExpiresAt.IsZero():
		until = v.moment(g.ExpiresAt)
	}
	if running && g.Source == coreaccess.Manual {
		buttons.Actions = []ui.Action{
			v.button("Take back", base+"/customers/"+s.ID+"/grants/"+g.ID+"/revoke").Confirm("They lose it at once."),
		}
	}
	return ui.Row{Cells: []ui.Cell{ui.Text(strings.Join(gives, "\n")), source, v.moment(g.StartedAt), until, buttons}}
}

func (v *visit) historyPart(why access.Explanation) ui.Part {
	var steps []ui.Step
	for _, change := range why.History[:min(len(why.History), 12)] {
		steps = append(steps, ui.Step{
			Title: wordsOf(accessCauses, change.Cause.Kind), Href: causePage(change.Cause),
			Text: v.say("%s · version %d", v.changedWords(change.Changed), change.Version),
			At:   v.when(change.At), Tone: "ok",
		})
	}
	return ui.Part{Kind: "timeline", Title: "Access history", Data: steps}
}

// accessCauses put what changed a customer's access into words.
var accessCauses = map[coreaccess.CauseKind]ui.Words{
	coreaccess.CustomerErased: "Customer erased",
	coreaccess.PurchasePaid:   "Purchase paid", coreaccess.SubscriptionStarted: "Subscription started",
	coreaccess.SubscriptionChanged: "Subscription changed", coreaccess.SubscriptionEnded: "Subscription ended",
	coreaccess.AppointmentsCanceled: "Appointments canceled", coreaccess.CustomerRenamed: "External ID changed",
	coreaccess.GrantCreated: "Access given", coreaccess.GrantRevoked: "Access taken back",
	coreaccess.GrantExpired: "Access ran out", coreaccess.CreditsConsumed: "Credits used",
	coreaccess.PaymentRefunded: "Payment refunded", coreaccess.DisputeOpened: "Payment disputed",
	coreaccess.DisputeWon: "Dispute won",
}

// causePages maps the cause of a change of access to the folder of its page.
var causePages = map[coreaccess.CauseKind]string{
	coreaccess.PurchasePaid: "/orders/", coreaccess.SubscriptionStarted: "/subscriptions/",
	coreaccess.SubscriptionChanged: "/subscriptions/", coreaccess.SubscriptionEnded: "/subscriptions/",
	coreaccess.DisputeOpened: "/disputes/", coreaccess.DisputeWon: "/disputes/",
}

// causePage returns the page of what changed a customer's access; "" where there is none.
func causePage(cause coreaccess.Cause) string {
	if at := causePages[cause.Kind]; at != "" {
		return base + at + cause.ID
	}
	return ""
}

// snapshotMembers name the members of a snapshot.
var snapshotMembers = map[string]ui.Words{
	"activePlans": "plans", "entitlements": "entitlements", "credits": "credits",
}

// changedWords name the members of a snapshot that changed: "Plans, credits".
func (v *visit) changedWords(members []string) string {
	words := make([]string, len(members))
	for i, member := range members {
		words[i] = v.text(snapshotMembers[member])
	}
	return capitalized(strings.Join(words, ", "))
}

// country names a country; a dash for none.
func (v *visit) country(code string) ui.Cell {
	return ui.Text(orDash(country.Name(code, v.reader.Language)))
}

// customerAccess shows the snapshot as the API responds with it.
func (r *Routes) customerAccess(c *fiber.Ctx, v *visit) error {
	s, err := r.Customers.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	d, err := r.Access.Snapshot(c.UserContext(), v.account(), accessID(s))
	if err != nil {
		return err
	}
	return r.send(c, v, ui.Page{
		Nav: base + "/customers", Title: "Access snapshot",
		Lead: v.say("What GET /v1/customer-access/%s responds with.", accessID(s)),
		Up:   &ui.Action{Label: ui.Data(customerName(s)), Href: base + "/customers/" + s.ID},
		Parts: []ui.Part{ui.CodePart("Snapshot", "snapshot", indented(d.Body)), ui.CodePart("Ask for it", "ask",
			"curl -s "+r.layout.Config().BaseURL+"/v1/customer-access/"+accessID(s)+" -H 'Authorization: Bearer $KEY'")},
	})
}

// indented writes JSON over several lines.
func indented(raw []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// grantForm asks what to give.
func (r *Routes) grantForm(c *fiber.Ctx, v *visit, s customer.State) (ui.Form, error) {
	options := []ui.Option{{Label: "No plan"}}
	found, err := r.Catalog.OwnListings(c.UserContext(), v.account(), ports.Page{Limit: 50})
	if err != nil {
		return ui.Form{}, err
	}
	for _, l := range found.Items {
		plans, err := r.Catalog.Plans(c.UserContext(), v.account(), l.ID)
		if err != nil {
			return ui.Form{}, err
		}
		for _, p := range plans {
			if !p.Retired {
				name := ui.Data(l.Title + " – " + p.Name)
				options = append(options, ui.Option{Value: l.CatalogKey + ":" + p.Key, Label: name})
			}
		}
	}
	f := v.form("grant", base+"/customers/"+s.ID+"/grant", "Give access",
		ui.Field{Name: "plan", Label: "A plan", Type: "select", Options: options, Also: []string{"listing"}},
		v.entitlementFields("Or entitlements", nil, false),
		v.creditFields("And credits", nil, false),
		ui.Field{Name: "expiresAt", Label: "Expires", Type: "date", Half: true, Hint: "Leave empty for no end."},
		ui.Field{Name: "note", Label: "Note", Half: true, Hint: "Only you see it."})
	f.Cancel = base + "/customers/" + s.ID
	return f, nil
}

func grantPage(v *visit, s customer.State) ui.Page {
	return ui.Page{
		Nav: base + "/customers", Title: "Give access", Lead: v.say("To %s, without a payment.", customerName(s)),
		Up: &ui.Action{Label: ui.Data(customerName(s)), Href: base + "/customers/" + s.ID},
	}
}

func (r *Routes) newGrant(c *fiber.Ctx, v *visit) error {
	s, err := r.Customers.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	f, err := r.grantForm(c, v, s)
	if err != nil {
		return err
	}
	p := grantPage(v, s)
	p.Parts = []ui.Part{ui.FormPart(f)}
	return r.send(c, v, p)
}

func (r *Routes) createGrant(c *fiber.Ctx, v *visit) error {
	s, err := r.Customers.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	in := ui.ReadInput(c)
	request := access.GrantRequest{Note: in.Text("note"), ExpiresAt: in.Day("expiresAt", "expiresAt")}
	request.Listing, request.Plan, _ = strings.Cut(in.Text("plan"), ":")
	request.Entitlements, request.Credits = readTerms(in)
	err = in.Submit(func() error {
		var f fault.Violations
		request.Check(accessID(s), &f)
		return f.Err()
	}, func() error {
		_, err := r.Access.GrantManually(c.UserContext(), v.account(), accessID(s), request)
		return err
	})
	if err != nil {
		f, formErr := r.grantForm(c, v, s)
		if formErr != nil {
			return formErr
		}
		return r.again(c, v, grantPage(v, s), f, err)
	}
	return r.done(c, base+"/customers/"+s.ID, "Access given.")
}

func (r *Routes) revokeGrant(c *fiber.Ctx, v *visit) error {
	s, err := r.Customers.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	at := base + "/customers/" + s.ID
	if _, err := r.Access.RevokeManually(c.UserContext(), v.account(), accessID(s), c.Params("grant")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "Taken back.")
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
