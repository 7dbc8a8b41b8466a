package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	coreaccess "sundry/core/access"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/plan"
	"sundry/modules/access"
)

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

// grantEnds explain the ends of grants; see endOf.
var grantEnds = map[coreaccess.EndReason]ui.Words{
	coreaccess.Revoked: "You took it back", coreaccess.Expired: "Its time was over",
	coreaccess.SourceEnded: "The subscription ended or is paused", coreaccess.Refunded: "Refunded",
	coreaccess.Disputed: "The payment is disputed",
}

// endOf explains why a grant no longer counts.
func endOf(g coreaccess.State) ui.Words {
	if g.Source == coreaccess.Appointment && g.EndReason == coreaccess.SourceEnded {
		return "Appointments canceled"
	}
	return grantEnds[g.EndReason]
}

// grantRow shows a grant; plan is the name of what it gives, "" for one of loose entitlements and credits.
func (v *visit) grantRow(s customer.State, g coreaccess.State, plan string, running bool) ui.Row {
	var gives []string
	if plan != "" {
		gives = append(gives, plan)
	}
	for _, e := range g.Entitlements {
		gives = append(gives, v.entitlementLine(e))
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
		until = ui.Cell{Text: v.say("Ended %s", v.when(g.EndedAt)), Sub: endOf(g)}
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
	coreaccess.DisputeWon: "Dispute won", coreaccess.RefundFailed: "Refund came back",
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
	zone, err := r.zone(c.UserContext(), v)
	if err != nil {
		return ui.Form{}, err
	}
	options := []ui.Option{{Label: "No plan"}}
	listings, err := r.ownListings(c.UserContext(), v)
	if err != nil {
		return ui.Form{}, err
	}
	plans, err := r.Catalog.AllPlans(c.UserContext(), v.account())
	if err != nil {
		return ui.Form{}, err
	}
	for _, l := range listings {
		if l.Status == listing.Draft {
			continue
		}
		for _, p := range plans[l.ID] {
			name := ui.Data(l.Title + " – " + p.Name)
			options = append(options, ui.Option{Value: l.CatalogKey + ":" + p.Key, Label: name})
		}
	}
	f := v.form("grant", base+"/customers/"+s.ID+"/grant", "Give access",
		ui.Field{Name: "plan", Label: "A plan", Type: "select", Options: options, Also: []string{"listing"}},
		v.entitlementFields("Or entitlements", nil, false),
		v.creditFields("And credits", nil, false),
		v.lastDayField(zone),
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
	return r.ask(c, v, grantPage(v, s), f)
}

func (r *Routes) createGrant(c *fiber.Ctx, v *visit) error {
	s, err := r.Customers.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	zone, err := r.zone(c.UserContext(), v)
	if err != nil {
		return err
	}
	in := ui.ReadInput(c)
	request := access.GrantRequest{Note: in.Text("note"), ExpiresAt: in.LastDay("expiresAt", "expiresAt", zone)}
	request.Listing, request.Plan, _ = strings.Cut(in.Text("plan"), ":")
	request.Entitlements, request.Credits = readTerms(in)
	err = in.Submit(func() error {
		var f fault.Violations
		request.Check(accessID(s), &f)
		return f.Err()
	}, func() error {
		if err := s.RefuseErased(); err != nil {
			return err
		}
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
	_, err = r.Access.RevokeManually(c.UserContext(), v.account(), accessID(s), c.Params("grant"))
	return r.result(c, at, err, "Taken back.")
}
