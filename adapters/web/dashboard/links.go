package dashboard

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/paymentlink"
	"sundry/ports"
)

func (r *Routes) mountLinks(at fiber.Router) {
	r.get(at, "/links", r.links)
	r.get(at, "/links/new", r.newLink)
	r.post(at, "/links/new", r.createLink)
	r.get(at, "/links/:id", r.link)
	r.post(at, "/links/:id", r.saveLink)
	r.post(at, "/links/:id/active", r.switchLink)
}

// linkURL is the address that a creator shares.
func (r *Routes) linkURL(l paymentlink.State) string {
	return r.layout.Config().BaseURL + "/l/" + l.Code
}

// titles are the titles of the account's listings by id, as far as they are needed for one page.
func (r *Routes) titles(ctx context.Context, v *visit) func(listingID string) string {
	known := map[string]string{}
	return func(listingID string) string {
		title, ok := known[listingID]
		if !ok {
			title = listingID
			if l, err := r.Catalog.OwnListing(ctx, v.account(), listingID); err == nil {
				title = l.Title
			}
			known[listingID] = title
		}
		return title
	}
}

// linkTerms is the plan or variant that a link sells; "" for the default one.
func linkTerms(l paymentlink.State) string {
	terms := strings.TrimSpace(l.PlanKey + " " + string(l.Interval))
	if l.VariantID != "" {
		terms = strings.TrimSpace(terms + " " + l.VariantID)
	}
	return terms
}

func linkTone(l paymentlink.State) cell {
	if l.Active {
		return badge("Active", "ok")
	}
	return badge("Inactive", "mute")
}

func (r *Routes) links(c *fiber.Ctx, v *visit) error {
	title := r.titles(c.UserContext(), v)
	l := &list[paymentlink.State]{
		path: base + "/links", name: "payment-links",
		filters: []filter{
			{Name: "active", Label: "Status", Options: choices("", "", "Any status", "yes", "Active", "no", "Inactive")},
			{Name: "q", Label: "Search", Placeholder: "Listing or code"},
		},
		columns: []column[paymentlink.State]{
			{label: "Link", cell: func(l paymentlink.State) cell {
				return cell{Text: title(l.ListingID), Href: base + "/links/" + l.ID, Sub: linkTerms(l)}
			}},
			{label: "Address", cell: func(l paymentlink.State) cell { return copied(r.linkURL(l)) }},
			{label: "Status", cell: linkTone},
			{label: "Created", cell: func(l paymentlink.State) cell { return v.moment(l.CreatedAt) }, csv: func(l paymentlink.State) string { return exact(l.CreatedAt) }},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[paymentlink.State], error) {
			return r.Catalog.Links(ctx, v.account(), page)
		},
		match: func(q query, l paymentlink.State) bool {
			return q.is("active", map[bool]string{true: "yes", false: "no"}[l.Active]) && q.has("q", title(l.ListingID), l.Code, l.ID)
		},
		empty: empty{
			Title: "Share a link, get paid", Text: "A payment link opens the checkout of one listing. Put it on your site, in a mail or on a poster: no code is needed.",
			Action: &action{Label: "Create a payment link", Href: base + "/links/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, page{Title: "Payment links", Lead: "Addresses that open your checkout.", Actions: []action{link("New link", base+"/links/new").primary()}})
}

// linkForm asks which listing, or with a listing which of its plans or variants.
func (r *Routes) linkForm(c *fiber.Ctx, v *visit, l listing.State) (form, error) {
	f := v.form("link", base+"/links/new", "Create link", hidden("listing", l.ID))
	f.Cancel = base + "/links"
	if l.Type == listing.Appointment && len(l.Variants) > 1 {
		options := []option{{Label: "The default variant"}}
		for _, one := range l.Variants {
			options = append(options, option{Value: one.ID, Label: one.Name})
		}
		f.Fields = append(f.Fields, field{Name: "variantId", Label: "Variant", Type: "select", Options: options})
	}
	plans, err := r.Catalog.Plans(c.UserContext(), v.account(), l.ID)
	if err != nil {
		return f, err
	}
	options := []option{{Label: "The default plan"}}
	for _, p := range plans {
		for _, price := range p.Prices {
			if !p.Retired {
				options = append(options, option{Value: p.Key + ":" + string(price.Interval), Label: p.Name + ", " + v.intervalPrice(price)})
			}
		}
	}
	if len(options) > 1 {
		f.Fields = append(f.Fields, field{Name: "plan", Label: "Plan", Type: "select", Options: options, Also: []string{"interval"}})
	}
	f.Fields = append(f.Fields, field{Name: "successUrl", Label: "Where buyers go afterwards", Type: "url", Placeholder: "https://…", Hint: "Empty: they stay on our confirmation page."})
	return f, nil
}

func (r *Routes) newLink(c *fiber.Ctx, v *visit) error {
	p := page{Nav: base + "/links", Title: "New payment link", Up: &action{Label: "Payment links", Href: base + "/links"}}
	if chosen := c.Query("listing"); chosen != "" {
		l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), chosen)
		if err != nil {
			return err
		}
		f, err := r.linkForm(c, v, l)
		if err != nil {
			return err
		}
		p.Title = "New link for " + l.Title
		p.Parts = []part{formPart(f)}
		return r.send(c, v, p)
	}
	own := r.listingList(v)
	found, _, err := own.page(c.UserContext(), query{"status": string(listing.Active)}, ports.Cursor{})
	if err != nil {
		return err
	}
	p.Lead = "For which listing?"
	var steps []check
	for _, l := range found {
		steps = append(steps, check{Icon: strings.ToLower(string(l.Type)), Title: l.Title, Text: typeNames[l.Type] + ", " + v.listingPrice(l), Href: base + "/links/new?listing=" + l.ID, Label: "Choose"})
	}
	if len(steps) == 0 {
		p.Parts = []part{tablePart("", table{Empty: &empty{
			Title: "Publish a listing first", Text: "A link sells a published listing.", Action: &action{Label: "Your listings", Href: base + "/listings", Tone: "primary"},
		}})}
		return r.send(c, v, p)
	}
	p.Parts = []part{{Kind: "checks", Data: steps}}
	return r.send(c, v, p)
}

func (r *Routes) createLink(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.FormValue("listing"))
	if err != nil {
		return err
	}
	in := read(c)
	edit := paymentlink.Edit{ListingID: &l.ID, VariantID: in.given("variantId"), SuccessURL: in.given("successUrl")}
	if plan, interval, ok := strings.Cut(in.text("plan"), ":"); ok {
		edit.PlanKey, edit.Interval = &plan, &interval
	}
	made, err := r.Catalog.CreateLink(c.UserContext(), v.account(), edit)
	if err != nil {
		f, formErr := r.linkForm(c, v, l)
		if formErr != nil {
			return formErr
		}
		p := page{Nav: base + "/links", Title: "New link for " + l.Title, Up: &action{Label: "Payment links", Href: base + "/links"}}
		return r.again(c, v, p, f, err)
	}
	return r.done(c, base+"/links/"+made.ID, "Your link is ready to share.")
}

func linkEditForm(v *visit, l paymentlink.State) form {
	f := v.form("link", base+"/links/"+l.ID, "Save",
		field{Name: "successUrl", Label: "Where buyers go afterwards", Type: "url", Value: l.SuccessURL, Placeholder: "https://…", Hint: "Empty: they stay on our confirmation page."})
	f.Title = "Settings"
	return f
}

func (r *Routes) link(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.Link(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	p, err := r.linkPage(c, v, l)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, formPart(linkEditForm(v, l)))
	return r.send(c, v, p)
}

func (r *Routes) linkPage(c *fiber.Ctx, v *visit, l paymentlink.State) (page, error) {
	address, status := r.linkURL(l), linkTone(l)
	title := r.titles(c.UserContext(), v)(l.ListingID)
	p := page{Nav: base + "/links", Title: title, Badge: &status, Up: &action{Label: "Payment links", Href: base + "/links"}}
	switched := v.button("Deactivate", base+"/links/"+l.ID+"/active").asking("Anyone who opens it will see that it is no longer active. You can activate it again.")
	if !l.Active {
		switched = v.button("Activate", base+"/links/"+l.ID+"/active", hidden("active", "yes")).primary()
	}
	p.Actions = []action{switched, link("Open", address)}
	drawn, err := qrCode(address, "QR code of this link")
	if err != nil && !fault.Is(err, fault.Internal) {
		return p, err
	}
	p.Parts = []part{
		codePart("Address", "address", address),
		{Kind: "table", Title: "Attribution", Lead: "Add parameters to see where buyers came from. They are on the order and in your webhooks.", Data: table{
			Label: "Parameters", Heads: []head{{Label: "Parameter"}, {Label: "What it does"}}, Rows: []row{
				{[]cell{mono("?utm_source=newsletter"), text("Any utm_ parameter is kept with the order.")}},
				{[]cell{mono("?reference_id=post-17"), text("Your own reference, to find the order by.")}},
				{[]cell{mono("?customer_email=ada@shop.eu"), text("Fills in the buyer’s email.")}},
				{[]cell{mono("?discount_code=SPRING"), text("Applies a discount code.")}},
			},
		}},
	}
	p.Aside = []part{
		{Kind: "drawing", Title: "QR code", Data: drawn},
		facts("Details", fact{"Sells", to(title, base+"/listings/"+l.ListingID)}, fact{"Plan or variant", text(orDash(linkTerms(l)))}, fact{"ID", copied(l.ID)}, fact{"Created", v.moment(l.CreatedAt)}),
	}
	return p, nil
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func (r *Routes) saveLink(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.Link(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	if _, err := r.Catalog.EditLink(c.UserContext(), v.account(), l.ID, paymentlink.Edit{SuccessURL: new(read(c).text("successUrl"))}); err != nil {
		p, pageErr := r.linkPage(c, v, l)
		if pageErr != nil {
			return pageErr
		}
		return r.again(c, v, p, linkEditForm(v, l), err)
	}
	return r.done(c, base+"/links/"+l.ID, "Saved.")
}

func (r *Routes) switchLink(c *fiber.Ctx, v *visit) error {
	at, active := base+"/links/"+c.Params("id"), read(c).checked("active")
	if _, err := r.Catalog.EditLink(c.UserContext(), v.account(), c.Params("id"), paymentlink.Edit{Active: &active}); err != nil {
		return r.refused(c, at, err)
	}
	if active {
		return r.done(c, at, "The link is active.")
	}
	return r.done(c, at, "The link is inactive.")
}
