package dashboard

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/listingtype"
	"sundry/core/paymentlink"
	"sundry/core/plan"
	"sundry/ports"
)

func (r *Routes) mountLinks(at fiber.Router) {
	r.get(at, "/links", r.links)
	r.form(at, "/links/new", r.newLink)
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
func (v *visit) linkTerms(l paymentlink.State) string {
	every := ""
	if interval, count := l.Every.Parts(); interval != "" {
		every = v.reader.Interval(string(interval), count)
	}
	terms := []string{l.PlanKey, every, strings.ToUpper(string(l.Currency)), l.VariantID}
	return strings.Join(slices.DeleteFunc(terms, func(s string) bool { return s == "" }), " ")
}

func linkTone(l paymentlink.State) ui.Cell {
	if l.Active {
		return ui.Badge("Active", "ok")
	}
	return ui.Badge("Inactive", "mute")
}

func (r *Routes) links(c *fiber.Ctx, v *visit) error {
	title := r.titles(c.UserContext(), v)
	l := &ui.List[paymentlink.State]{
		Path: base + "/links", FileName: "payment-links",
		Filters: []ui.Filter{
			{
				Name: "active", Label: "Status",
				Options: ui.Choices("", "", "Any status", "yes", "Active", "no", "Inactive"),
			},
			{Name: "q", Label: "Search", Placeholder: "Listing or code"},
		},
		Columns: []ui.Column[paymentlink.State]{
			{Label: "Link", Cell: func(l paymentlink.State) ui.Cell {
				return ui.Cell{
					Text: ui.Data(title(l.ListingID)), Href: base + "/links/" + l.ID, Sub: ui.Data(v.linkTerms(l)),
				}
			}},
			{Label: "Address", Cell: func(l paymentlink.State) ui.Cell { return ui.Copyable(r.linkURL(l)) }},
			{Label: "Status", Cell: linkTone},
			timeColumn(v, "Created", "-created", func(l paymentlink.State) time.Time { return l.CreatedAt }),
		},
		Read: func(ctx context.Context, _ ui.Query, page ports.Page) (ports.List[paymentlink.State], error) {
			return r.Catalog.Links(ctx, v.account(), page)
		},
		Match: func(q ui.Query, l paymentlink.State) bool {
			return q.Is("active", map[bool]string{true: "yes", false: "no"}[l.Active]) && q.Has(
				"q", title(l.ListingID), l.Code, l.ID,
			)
		},
		Empty: ui.Empty{
			Title:  "Share a link, get paid",
			Text:   "A payment link opens the checkout of one listing. Put it on your site, in a mail or on a poster: no code is needed.",
			Action: &ui.Action{Label: "Create a payment link", Href: base + "/links/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Title: "Payment links", Lead: "Addresses that open your checkout.",
		Actions: []ui.Action{ui.Link("New link", base+"/links/new").Primary()},
	})
}

// linkForm asks which listing, or with a listing which of its plans or variants.
func (r *Routes) linkForm(c *fiber.Ctx, v *visit, l listing.State) (ui.Form, error) {
	f := v.form("link", base+"/links/new", "Create link", ui.Hidden("listing", l.ID))
	f.Cancel = base + "/links"
	if l.Type.Bookable() && len(l.Variants) > 1 {
		options := []ui.Option{{Label: "The default option"}}
		for _, one := range l.Variants {
			options = append(options, ui.Option{Value: one.ID, Label: ui.Data(one.Name)})
		}
		f.Fields = append(f.Fields, ui.Field{Name: "variantId", Label: "Option", Type: "select", Options: options})
	}
	plans, err := r.Catalog.Plans(c.UserContext(), v.account(), l.ID)
	if err != nil {
		return f, err
	}
	options := []ui.Option{{Label: "The default plan"}}
	currencies := []ui.Option{{Label: "That of the buyer’s country"}}
	for _, p := range plans {
		if p.Retired {
			continue
		}
		for _, price := range p.Prices {
			code := string(price.Amount.Currency)
			options = v.addOption(options, p.Key+":"+string(price.Every()), p.Name+", ", v.intervalPrice(price))
			currencies = v.addOption(currencies, code, strings.ToUpper(code), "")
		}
	}
	if len(options) > 1 {
		f.Fields = append(f.Fields, ui.Field{
			Name: "plan", Label: "Plan", Type: "select", Options: options, Also: []string{"interval"},
		})
	}
	if renews(l, plans) {
		f.Fields = append(f.Fields, changeFields(plan.Changes{})...)
	}
	if len(currencies) > 2 {
		f.Fields = append(f.Fields, ui.Field{
			Name: "currency", Label: "Currency", Type: "select", Options: currencies,
		})
	}
	f.Fields = append(f.Fields, ui.Field{
		Name: "successUrl", Label: "Where buyers go afterwards", Type: "url", Placeholder: "https://…",
		Hint: "Leave empty to keep them on our confirmation page.",
	})
	return f, nil
}

// renews reports whether buyers can subscribe to a listing.
func renews(l listing.State, plans []plan.State) bool {
	return l.Type == listingtype.Subscription || slices.ContainsFunc(plans, func(p plan.State) bool {
		return !p.Retired && slices.ContainsFunc(p.Prices, func(price plan.Price) bool { return price.Interval != "" })
	})
}

// changeFields ask what buyers may change at checkout.
func changeFields(may plan.Changes) []ui.Field {
	return []ui.Field{
		{
			Name: "mayChangeInterval", Label: "Buyers may choose another interval", Type: "checkbox", Checked: may.Interval,
			Hint: "Such as yearly instead of monthly, where the plan has a price for it.",
		},
		{
			Name: "mayChangeQuantity", Label: "Buyers may choose the quantity", Type: "checkbox", Checked: may.Quantity,
			Hint: "Such as seats. The price is multiplied.",
		},
	}
}

// readChanges reads what changeFields ask.
func readChanges(in *ui.Input) *[]string {
	return new(plan.Changes{Interval: in.Checked("mayChangeInterval"), Quantity: in.Checked("mayChangeQuantity")}.Names())
}

// addOption adds a value with a name and a price, or the price alone to the label of a value that is there.
func (v *visit) addOption(options []ui.Option, value, name, price string) []ui.Option {
	i := slices.IndexFunc(options, func(o ui.Option) bool { return o.Value == value })
	switch {
	case i < 0:
		return append(options, ui.Option{Value: value, Label: ui.Data(name + price)})
	case price != "":
		options[i].Label = v.say("%s or %s", options[i].Label, price)
	}
	return options
}

func (r *Routes) newLink(c *fiber.Ctx, v *visit) error {
	p := ui.Page{
		Nav: base + "/links", Title: "New payment link", Up: &ui.Action{Label: "Payment links", Href: base + "/links"},
	}
	if chosen := c.Query("listing"); chosen != "" {
		l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), chosen)
		if err != nil {
			return err
		}
		f, err := r.linkForm(c, v, l)
		if err != nil {
			return err
		}
		p.Title = v.say("New link for %s", l.Title)
		return r.ask(c, v, p, f)
	}
	listings, err := r.ownListings(c.UserContext(), v)
	if err != nil {
		return err
	}
	p.Lead = "For which listing?"
	var steps []ui.Check
	for _, l := range listings {
		if l.Status != listing.Active {
			continue
		}
		steps = append(steps, ui.Check{
			Icon: l.Type.Icon(), Title: ui.Data(l.Title), Text: ui.Data(l.Type.Label() + ", " + v.listingPrice(l)),
			Href: base + "/links/new?listing=" + l.ID, Label: "Choose",
		})
	}
	if len(steps) == 0 {
		p.Parts = []ui.Part{ui.TablePart("", ui.Table{Empty: &ui.Empty{
			Title: "Publish a listing first", Text: "A link sells a published listing.",
			Action: &ui.Action{Label: "Your listings", Href: base + "/listings", Tone: "primary"},
		}})}
		return r.send(c, v, p)
	}
	p.Parts = []ui.Part{{Kind: "checks", Data: steps}}
	return r.send(c, v, p)
}

func (r *Routes) createLink(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.FormValue("listing"))
	if err != nil {
		return err
	}
	in := ui.ReadInput(c)
	edit := paymentlink.Edit{
		ListingID: &l.ID, VariantID: in.Optional("variantId"), Currency: in.Optional("currency"),
		SuccessURL: in.Optional("successUrl"), BuyerMayChange: readChanges(in),
	}
	if key, every, ok := strings.Cut(in.Text("plan"), ":"); ok {
		edit.PlanKey, edit.Every = &key, &every
	}
	made, err := r.Catalog.CreateLink(c.UserContext(), v.account(), edit)
	if err != nil {
		f, formErr := r.linkForm(c, v, l)
		if formErr != nil {
			return formErr
		}
		p := ui.Page{
			Nav: base + "/links", Title: v.say("New link for %s", l.Title),
			Up: &ui.Action{Label: "Payment links", Href: base + "/links"},
		}
		return r.again(c, v, p, f, err)
	}
	return r.done(c, base+"/links/"+made.ID, "Your link is ready to share.")
}

func (r *Routes) linkEditForm(c *fiber.Ctx, v *visit, link paymentlink.State) (ui.Form, error) {
	f := v.form("link", base+"/links/"+link.ID, "Save",
		ui.Field{
			Name: "successUrl", Label: "Where buyers go afterwards", Type: "url", Value: link.SuccessURL,
			Placeholder: "https://…", Hint: "Leave empty to keep them on our confirmation page.",
		})
	f.Title = "Settings"
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), link.ListingID)
	if err != nil {
		return f, err
	}
	plans, err := r.Catalog.Plans(c.UserContext(), v.account(), l.ID)
	if renews(l, plans) {
		f.Fields = append(f.Fields, changeFields(link.BuyerMayChange)...)
	}
	return f.OfStored(), err
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
	f, err := r.linkEditForm(c, v, l)
	if err != nil {
		return err
	}
	return r.ask(c, v, p, f)
}

func (r *Routes) linkPage(c *fiber.Ctx, v *visit, l paymentlink.State) (ui.Page, error) {
	address, status := r.linkURL(l), linkTone(l)
	title := r.titles(c.UserContext(), v)(l.ListingID)
	p := ui.Page{
		Nav: base + "/links", Title: ui.Data(title), Badge: &status,
		Up: &ui.Action{Label: "Payment links", Href: base + "/links"},
	}
	switched := v.button("Deactivate", base+"/links/"+l.ID+"/active").Confirm(
		"Anyone who opens it will see that it is no longer active. You can activate it again.",
	)
	if !l.Active {
		switched = v.button("Activate", base+"/links/"+l.ID+"/active", ui.Hidden("active", "yes")).Primary()
	}
	p.Actions = []ui.Action{switched, ui.Link("Open checkout", address)}
	drawn, err := ui.QRCode(address, v.text("QR code of this link"))
	if err != nil && !fault.Is(err, fault.Internal) {
		return p, err
	}
	p.Parts = []ui.Part{
		ui.CodePart("Address", "address", address),
		{Kind: "table", Title: "Attribution", Lead: "Add parameters to see where buyers came from. They are on the order and in your webhooks.", Data: ui.Table{
			Label: "Parameters", Heads: []ui.Head{{Label: "Parameter"}, {Label: "What it does"}}, Rows: []ui.Row{
				{
					Cells: []ui.Cell{
						ui.Mono("?utm_source=newsletter"), ui.Label("Any utm_ parameter is kept with the order."),
					},
				},
				{
					Cells: []ui.Cell{
						ui.Mono("?reference_id=post-17"), ui.Label("Your own reference, to find the order by."),
					},
				},
				{Cells: []ui.Cell{ui.Mono("?customer_email=ada@shop.eu"), ui.Label("Fills in the buyer’s email.")}},
				{Cells: []ui.Cell{ui.Mono("?discount_code=SPRING"), ui.Label("Applies a discount code.")}},
			},
		}},
	}
	p.Aside = []ui.Part{
		{Kind: "drawing", Title: "QR code", Data: drawn},
		ui.Facts("Details",
			ui.Fact{Label: "Sells", Value: ui.TextLink(title, base+"/listings/"+l.ListingID)},
			ui.Fact{Label: "Plan or option", Value: ui.Text(orDash(v.linkTerms(l)))},
			ui.Fact{Label: "ID", Value: ui.Copyable(l.ID)},
			ui.Fact{Label: "Created", Value: v.moment(l.CreatedAt)},
		),
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
	f, err := r.linkEditForm(c, v, l)
	if err != nil {
		return err
	}
	in := ui.ReadInput(c)
	if err = f.CheckStored(c); err == nil {
		_, err = r.Catalog.EditLink(c.UserContext(), v.account(), l.ID, paymentlink.Edit{
			SuccessURL: new(in.Text("successUrl")), BuyerMayChange: readChanges(in),
		})
	}
	if err != nil {
		p, pageErr := r.linkPage(c, v, l)
		if pageErr != nil {
			return pageErr
		}
		return r.again(c, v, p, f, err)
	}
	return r.done(c, base+"/links/"+l.ID, "Saved.")
}

func (r *Routes) switchLink(c *fiber.Ctx, v *visit) error {
	at, active := base+"/links/"+c.Params("id"), ui.ReadInput(c).Checked("active")
	if _, err := r.Catalog.EditLink(
		c.UserContext(), v.account(), c.Params("id"), paymentlink.Edit{Active: &active},
	); err != nil {
		return r.refused(c, at, err)
	}
	if active {
		return r.done(c, at, "The link is active.")
	}
	return r.done(c, at, "The link is inactive.")
}
