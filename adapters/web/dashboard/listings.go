package dashboard

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/listing"
	"sundry/core/listingtype"
	"sundry/core/paymentlink"
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

// ownListings returns all of the account's listings, newest first, for forms that offer them.
func (r *Routes) ownListings(ctx context.Context, v *visit) (all []listing.State, err error) {
	for page := (ports.Page{Limit: 100}); ; {
		found, err := r.Catalog.OwnListings(ctx, v.account(), page)
		if err != nil {
			return nil, err
		}
		all, page.After = append(all, found.Items...), found.Next
		if page.After == (ports.Cursor{}) {
			return all, nil
		}
	}
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
			timeColumn(v, "Updated", "-updated", func(l listing.State) time.Time { return l.UpdatedAt }),
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
			Action: base + "/listings/archive", Label: "Archive selected listings",
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
		return r.ask(c, v, p, newListingForm(v, kind))
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
	return r.ask(c, v, r.editListingPage(v, l), editListingForm(v, l))
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
	return f.OfStored()
}

func (r *Routes) saveListing(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	f, in := editListingForm(v, l), ui.ReadInput(c)
	edit := readListing(in, l.Type)
	if err = f.CheckStored(c); err == nil {
		err = in.Submit(func() error {
			return listing.Restore(l).Edit(edit, func() string { return l.PriceID }, l.UpdatedAt)
		}, func() error {
			_, err := r.Catalog.EditListing(c.UserContext(), v.account(), l.ID, edit)
			return err
		})
	}
	if err != nil {
		return r.again(c, v, r.editListingPage(v, l), f, err)
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
	_, err := r.Catalog.Archive(c.UserContext(), v.account(), c.Params("id"))
	return r.result(c, at, err, "Archived: nobody can buy it any more. Running subscriptions go on.")
}
