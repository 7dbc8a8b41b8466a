package dashboard

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/listingtype"
	"sundry/core/paymentlink"
	"sundry/core/plan"
	"sundry/ports"
)

func (r *Routes) mountListings(at fiber.Router) {
	r.get(at, "/listings", r.listings)
	r.form(at, "/listings/new", r.newListing)
	r.post(at, "/listings/new", r.createListing)
	r.form(at, "/listings/archive", r.askArchive)
	r.post(at, "/listings/archive", r.archiveChosen)
	r.get(at, "/listings/:id", r.listing)
	r.form(at, "/listings/:id/edit", r.editListing)
	r.post(at, "/listings/:id/edit", r.saveListing)
	r.post(at, "/listings/:id/publish", r.publishListing)
	r.post(at, "/listings/:id/archive", r.archiveListing)
	r.mountPreviews(at)
	r.mountPlans(at)
	r.mountVariants(at)
}

var listingTones = map[listing.Status]ui.Cell{
	listing.Draft: ui.Badge("Draft", "wait"), listing.Active: ui.Badge("Published", "ok"),
	listing.Archived: ui.Badge("Archived", "mute"),
}

func typeOptions(first ui.Words) []ui.Option {
	all := []ui.Option{{Label: first}}
	for _, t := range listingtype.All() {
		all = append(all, ui.Option{Value: string(t), Label: ui.Words(t.Label())})
	}
	return all
}

func (r *Routes) listingList(v *visit) *ui.List[listing.State] {
	return &ui.List[listing.State]{
		Path: base + "/listings", FileName: "listings",
		Filters: []ui.Filter{
			{
				Name: "status", Label: "Status",
				Options: ui.Choices(
					"", "", "Any status", "DRAFT", "Draft", "ACTIVE", "Published", "ARCHIVED", "Archived",
				),
			},
			{Name: "type", Label: "Kind", Options: typeOptions("Any kind")},
			{Name: "q", Label: "Search", Placeholder: "Title or key"},
		},
		Columns: []ui.Column[listing.State]{
			{Label: "Listing", Sort: "title", Cell: func(l listing.State) ui.Cell {
				return ui.Cell{Text: ui.Data(l.Title), Href: base + "/listings/" + l.ID, Sub: ui.Data(l.CatalogKey)}
			}},
			{Label: "Kind", Cell: func(l listing.State) ui.Cell { return ui.Label(ui.Words(l.Type.Label())) }},
			{Label: "Price", Num: true, Sort: "-price",
				Cell: func(l listing.State) ui.Cell { return ui.Text(v.listingPrice(l)) },
				CSV:  func(l listing.State) string { return l.Price.Coded() }},
			{Label: "Status", Cell: func(l listing.State) ui.Cell { return listingTones[l.Status] }},
			{
				Label: "Updated", Sort: "-updated",
				Cell: func(l listing.State) ui.Cell { return v.moment(l.UpdatedAt) },
				CSV:  func(l listing.State) string { return ui.ExactTime(l.UpdatedAt) },
			},
		},
		Read: func(ctx context.Context, _ ui.Query, page ports.Page) (ports.List[listing.State], error) {
			return r.Catalog.OwnListings(ctx, v.account(), page)
		},
		Match: func(q ui.Query, l listing.State) bool {
			return q.Is("status", string(l.Status)) && q.Is("type", string(l.Type)) && q.Has(
				"q", l.Title, l.CatalogKey, l.Slug, l.ID,
			)
		},
		Empty: ui.Empty{
			Title:  "What do you sell?",
			Text:   "A listing is one product: a download, a service, a subscription or appointments with you.",
			Action: &ui.Action{Label: "Make your first listing", Href: base + "/listings/new", Tone: "primary"},
		},
		Bulk: &ui.Bulk[listing.State]{
			Action: base + "/listings/archive", Label: "Archive chosen listings",
			ID: func(l listing.State) string {
				if l.Status == listing.Archived {
					return ""
				}
				return l.ID
			},
			Name: func(l listing.State) string { return l.Title },
		},
	}
}

// listingPrice is a listing's own price with its interval.
func (v *visit) listingPrice(l listing.State) string {
	if !l.Type.Recurring() {
		return v.reader.Money(l.Price)
	}
	return v.reader.Money(l.Price) + " " + v.reader.Interval(
		l.Text(listing.Interval), int(l.Number(listing.IntervalCount)),
	)
}

func (r *Routes) listings(c *fiber.Ctx, v *visit) error {
	return show(r, c, v, r.listingList(v), ui.Page{
		Title: "Listings", Lead: "What you sell.",
		Actions: []ui.Action{ui.Link("New listing", base+"/listings/new").Primary()},
	})
}

// newTitles are the titles of the form by kind.
var newTitles = map[listing.Type]ui.Words{
	listing.Digital: "New download", listing.Service: "New service", listing.Subscription: "New subscription",
	listing.Appointment: "New appointment",
}

// newListingPage is the page of the form for a kind, or of the choice of one for anything else.
func newListingPage(kind listing.Type) ui.Page {
	p := ui.Page{
		Nav: base + "/listings", Title: "New listing", Up: &ui.Action{Label: "Listings", Href: base + "/listings"},
	}
	if slices.Contains(listingtype.All(), kind) {
		p.Title, p.Lead = newTitles[kind], ui.Words(kind.Example())
		p.Aside = []ui.Part{framePart("")}
	}
	return p
}

func (r *Routes) newListing(c *fiber.Ctx, v *visit) error {
	kind := listing.Type(c.Query("type"))
	p := newListingPage(kind)
	if slices.Contains(listingtype.All(), kind) {
		p.Parts = []ui.Part{ui.FormPart(newListingForm(v, kind))}
		return r.send(c, v, p)
	}
	p.Lead = "What kind of thing is it? This can’t be changed later."
	var steps []ui.Check
	for _, t := range listingtype.All() {
		steps = append(steps, ui.Check{
			Icon: t.Icon(), Title: ui.Words(t.Label()), Text: ui.Words(t.Example()),
			Href: base + "/listings/new?type=" + string(t), Label: "Choose",
		})
	}
	p.Parts = []ui.Part{{Kind: "checks", Data: steps}}
	return r.send(c, v, p)
}

func (r *Routes) createListing(c *fiber.Ctx, v *visit) error {
	proposal, in := readProposal(c)
	kind := listing.Type(proposal.Type)
	var made listing.State
	err := in.Submit(proposal.Check, func() (err error) {
		made, err = r.createWithSlug(c, v, proposal)
		return err
	})
	if err != nil {
		return r.again(c, v, newListingPage(kind), newListingForm(v, kind), err)
	}
	if in.Checked("publish") {
		return r.publishAndLink(c, v, made)
	}
	if in.Text("gives") == givesFiles {
		return r.done(c, base+"/listings/"+made.ID, "Saved as a draft. Upload its files, then publish it.")
	}
	return r.done(c, base+"/listings/"+made.ID, "Saved as a draft. Publish it when it’s ready.")
}

// publishAndLink publishes a draft and makes its payment link. One that cannot be published stays a draft, and
// one that cannot be booked yet is led to what is missing.
func (r *Routes) publishAndLink(c *fiber.Ctx, v *visit, l listing.State) error {
	ctx, at := c.UserContext(), base+"/listings/"+l.ID
	if _, err := r.Catalog.Publish(ctx, v.account(), l.ID); err != nil {
		return r.refused(c, at, err)
	}
	if l.Type.Bookable() {
		missing, err := r.Booking.Readiness(ctx, v.account(), l.ID, "")
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return r.done(c, at, "Published. Buyers can book it once the steps below are done.")
		}
	}
	link, err := r.Catalog.CreateLink(ctx, v.account(), paymentlink.Edit{ListingID: &l.ID})
	if err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, base+"/links/"+link.ID, "Published, and your link is ready to share.")
}

func (r *Routes) editListing(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	p := r.editListingPage(v, l)
	p.Parts = []ui.Part{ui.FormPart(editListingForm(v, l))}
	return r.send(c, v, p)
}

func (r *Routes) editListingPage(v *visit, l listing.State) ui.Page {
	return ui.Page{
		Nav: base + "/listings", Title: v.say("Edit %s", l.Title),
		Up:    &ui.Action{Label: ui.Data(l.Title), Href: base + "/listings/" + l.ID},
		Aside: []ui.Part{framePart(r.Checkout.PreviewPath(l.ID))},
	}
}

func editListingForm(v *visit, l listing.State) ui.Form {
	f := v.form("listing", base+"/listings/"+l.ID+"/edit", "Save", v.listingFields(l)...)
	f.Cancel, f.Preview = base+"/listings/"+l.ID, base+"/listings/"+l.ID+"/preview"
	return f
}

func (r *Routes) saveListing(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	in := ui.ReadInput(c)
	edit := readListing(in, l.Type)
	err = in.Submit(func() error {
		return listing.Restore(l).Edit(edit, func() string { return l.PriceID }, l.UpdatedAt)
	}, func() error {
		_, err := r.Catalog.EditListing(c.UserContext(), v.account(), l.ID, edit)
		return err
	})
	if err != nil {
		return r.again(c, v, r.editListingPage(v, l), editListingForm(v, l), err)
	}
	return r.done(c, base+"/listings/"+l.ID, "Saved.")
}

func (r *Routes) publishListing(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	return r.publishAndLink(c, v, l)
}

func (r *Routes) archiveListing(c *fiber.Ctx, v *visit) error {
	at := base + "/listings/" + c.Params("id")
	if _, err := r.Catalog.Archive(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "Archived: nobody can buy it any more. Running subscriptions go on.")
}

// listing is the page of one listing.
func (r *Routes) listing(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	at := base + "/listings/" + l.ID
	status := listingTones[l.Status]
	p := ui.Page{
		Nav: base + "/listings", Title: ui.Data(l.Title), Badge: &status,
		Up: &ui.Action{Label: "Listings", Href: base + "/listings"},
	}
	switch l.Status {
	case listing.Draft:
		p.Actions = []ui.Action{
			ui.Link("Edit", at+"/edit"),
			v.button("Delete draft", at+"/archive").Confirm("The draft is archived. This can’t be undone."),
			v.publishButton(l),
		}
	case listing.Active:
		p.Actions = []ui.Action{ui.Link("Edit", at+"/edit"),
			v.button("Archive", at+"/archive").Confirm(
				"Nobody can buy it any more. Running subscriptions go on. This can’t be undone.",
			),
			ui.Link("Create payment link", base+"/links/new?listing="+l.ID).Primary()}
	case listing.Archived:
		p.Lead = "Nobody can buy it any more."
	}
	if l.Type.Bookable() {
		if l.Status != listing.Archived {
			ready, err := r.readiness(c, v, l)
			if err != nil {
				return err
			}
			p.Parts = append(p.Parts, ready)
		}
		p.Parts = append(p.Parts, r.variantsPart(v, l))
	} else {
		plans, err := r.plansPart(c, v, l)
		if err != nil {
			return err
		}
		files, err := r.filesPart(c, v, l)
		if err != nil {
			return err
		}
		if l.Type == listing.Subscription {
			p.Parts = append(p.Parts, plans)
			p.Parts = append(p.Parts, files...)
		} else {
			p.Parts = append(p.Parts, files...)
			p.Parts = append(p.Parts, plans)
		}
	}
	p.Parts = append(p.Parts, imagesPart(v, l)...)
	if l.Description != "" {
		p.Parts = append(p.Parts, ui.TextPart("Description", ui.Data(l.Description)))
	}
	if l.Status != listing.Archived {
		preview := r.Checkout.PreviewPath(l.ID)
		p.Aside = append(p.Aside, framePart(preview, ui.Link("Open preview", preview)))
	}
	p.Aside = append(p.Aside, ui.Facts("Details", listingFacts(v, l)...))
	return r.send(c, v, p)
}

// publishButton asks once more before a download is sold that gives its buyers nothing here.
func (v *visit) publishButton(l listing.State) ui.Action {
	publish := v.button("Publish", base+"/listings/"+l.ID+"/publish").Primary()
	if l.Type != listing.Digital || l.HasFiles || l.Text(listing.DownloadURL) != "" {
		return publish
	}
	return publish.Confirm("Buyers get no download: there is no file and no address. Publish it only if your own app gives access.")
}

func listingFacts(v *visit, l listing.State) []ui.Fact {
	all := []ui.Fact{
		{Label: "Kind", Value: ui.Label(ui.Words(l.Type.Label()))},
		{Label: "Price", Value: ui.Text(v.listingPrice(l))},
		{Label: "Catalog key", Value: ui.Copyable(l.CatalogKey)},
		{Label: "ID", Value: ui.Copyable(l.ID)},
	}
	for _, m := range metadataForms[l.Type] {
		switch value := l.Metadata[m.Name].(type) {
		case string:
			all = append(all, ui.Fact{Label: m.Label, Value: ui.Label(labelOf(m.Options, value))})
		case int64:
			all = append(all, ui.Fact{
				Label: m.Label, Value: ui.Text(strings.TrimSpace(fmt.Sprint(value, " ", v.text(m.Suffix)))),
			})
		case []string:
			all = append(all, ui.Fact{Label: m.Label, Value: ui.Text(strings.Join(value, "\n"))})
		}
	}
	titled := "?q=" + url.QueryEscape(l.Title)
	all = append(all, ui.Fact{Label: "Orders", Value: ui.Cell{Text: "See orders", Href: base + "/orders" + titled}})
	if l.Type.Bookable() {
		booked := ui.Cell{Text: "See bookings", Href: base + "/bookings" + titled}
		all = append(all, ui.Fact{Label: "Bookings", Value: booked})
	}
	return append(all,
		ui.Fact{Label: "Created", Value: v.moment(l.CreatedAt)},
		ui.Fact{Label: "Updated", Value: v.moment(l.UpdatedAt)},
	)
}

func labelOf(options []ui.Option, value string) ui.Words {
	for _, o := range options {
		if o.Value == value {
			return o.Label
		}
	}
	return ui.Data(value)
}

// readiness shows what keeps an appointment listing from being booked.
func (r *Routes) readiness(c *fiber.Ctx, v *visit, l listing.State) (ui.Part, error) {
	missing, err := r.Booking.Readiness(c.UserContext(), v.account(), l.ID, "")
	if err != nil {
		return ui.Part{}, err
	}
	if len(missing) == 0 {
		return ui.NotePart("ok", "Buyers can book this: your hours and your meeting place are set."), nil
	}
	var steps []ui.Check
	for _, m := range missing {
		steps = append(steps, v.cure(l, m))
	}
	return ui.Part{Kind: "checks", Title: "Before buyers can book", Data: steps}, nil
}

// cure tells the creator how to supply what keeps a listing from being booked, with the button that leads there.
func (v *visit) cure(l listing.State, missing fault.Detail) ui.Check {
	const settings = base + "/bookings/settings"
	at := base + "/listings/" + l.ID
	switch missing.Field {
	case "status":
		publish := v.button("Publish", at+"/publish")
		return ui.Check{Title: "Publish the listing", Text: "Only a published listing can be booked.", Do: &publish}
	case "variant.durationMinutes":
		return ui.Check{
			Title: "Make it longer", Text: "An appointment lasts at least 5 minutes.",
			Href: at + "/variants/" + defaultVariant(l), Label: "Set length",
		}
	case "availability.weekly":
		return ui.Check{
			Title: "Set your weekly hours", Text: "Buyers choose a time within them.", Href: settings + "#hours",
			Label: "Set hours",
		}
	case "meetingSettings.virtual":
		return ui.Check{
			Title: "Choose where you meet online", Text: "Buyers get the link when they book.", Href: settings + "#meetings",
			Label: "Set up meetings",
		}
	case "meetingSettings.inPerson.address":
		return ui.Check{
			Title: "Enter where you meet in person", Text: "Buyers get the address when they book.",
			Href: settings + "#meetings", Label: "Enter address",
		}
	}
	return ui.Check{Title: ui.Words(missing.Message), Href: settings, Label: "Open settings"}
}

// defaultVariant returns the id of the variant that buyers get unless they choose another.
func defaultVariant(l listing.State) string {
	for _, one := range l.Variants {
		if one.IsDefault {
			return one.ID
		}
	}
	return "new"
}

// plansPart lists what a listing's plans cost and give.
func (r *Routes) plansPart(c *fiber.Ctx, v *visit, l listing.State) (ui.Part, error) {
	plans, err := r.Catalog.Plans(c.UserContext(), v.account(), l.ID)
	if err != nil {
		return ui.Part{}, err
	}
	at := base + "/listings/" + l.ID + "/plans/"
	t := ui.Table{Label: "Plans", Heads: []ui.Head{
		{Label: "Plan"},
		{Label: "Prices"},
		{Label: "Gives"},
		{Label: "Trial"},
		{},
	}}
	for _, pl := range plans {
		if pl.Retired {
			continue
		}
		name := ui.Cell{Text: ui.Data(pl.Name), Href: at + pl.Key, Sub: ui.Data(pl.Key)}
		if pl.IsDefault {
			name.Sub = v.say("%s · default", pl.Key)
		}
		trial := "–"
		if pl.TrialDays > 0 {
			trial = v.reader.Days(pl.TrialDays)
		}
		buttons := ui.Cell{}
		if l.Status != listing.Archived {
			buttons.Actions = []ui.Action{
				ui.Link("Edit", at+pl.Key),
				v.button("Retire", at+pl.Key+"/retire").Confirm(
					"It can’t be bought any more. Running subscriptions go on.",
				),
			}
		}
		t.Rows = append(t.Rows, ui.Row{
			Cells: []ui.Cell{name, ui.Text(v.planPrices(pl)), ui.Text(v.planGives(pl)), ui.Text(trial), buttons},
		})
	}
	if len(t.Rows) == 0 {
		t.Empty = &ui.Empty{
			Title: "One price, no plans",
			Text: v.say("Buyers pay %s. Add plans to sell levels with entitlements and credits that your app can "+
				"check.", v.listingPrice(l)),
		}
	}
	p := ui.TablePart("Plans", t)
	if l.Status != listing.Archived {
		p.Actions = []ui.Action{ui.Link("Add plan", at+"new")}
	}
	return p, nil
}

func (v *visit) planPrices(p plan.State) string {
	var all []string
	for _, price := range p.Prices {
		all = append(all, v.intervalPrice(price))
	}
	return strings.Join(all, "\n")
}

// intervalPrice is a price with its interval.
func (v *visit) intervalPrice(p plan.Price) string {
	if p.Interval == "" {
		return v.text("%s once", v.reader.Money(p.Amount))
	}
	return v.reader.Money(p.Amount) + " " + v.reader.Interval(string(p.Interval), p.IntervalCount)
}

func (v *visit) planGives(p plan.State) string {
	var all []string
	for _, e := range p.Terms.Entitlements {
		all = append(all, entitlementLine(e))
	}
	for _, credit := range p.Terms.Credits {
		all = append(all, creditLine(credit))
	}
	for _, m := range p.Terms.Meters {
		all = append(all, fmt.Sprintf("%s: %d", m.EventName, m.Included))
	}
	for _, credit := range p.Terms.UsageCredits {
		all = append(all, v.text("prepaid use: %s", usageCreditLine(credit)))
	}
	if len(all) == 0 {
		return "–"
	}
	return strings.Join(all, "\n")
}
