package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/plan"
	"sundry/ports"
)

func (r *Routes) mountListings(at fiber.Router) {
	r.get(at, "/listings", r.listings)
	r.get(at, "/listings/new", r.newListing)
	r.post(at, "/listings/new", r.createListing)
	r.get(at, "/listings/:id", r.listing)
	r.get(at, "/listings/:id/edit", r.editListing)
	r.post(at, "/listings/:id/edit", r.saveListing)
	r.post(at, "/listings/:id/publish", r.publishListing)
	r.post(at, "/listings/:id/archive", r.archiveListing)
	r.mountPlans(at)
	r.mountVariants(at)
}

var listingTones = map[listing.Status]cell{
	listing.Draft: badge("Draft", "wait"), listing.Active: badge("Published", "ok"), listing.Archived: badge("Archived", "mute"),
}

var typeNames = map[listing.Type]string{
	listing.Digital: "Download", listing.Service: "Service", listing.Subscription: "Subscription", listing.Appointment: "Appointment",
}

func typeOptions(first string) []option {
	all := []option{{Label: first}}
	for _, t := range listing.Types() {
		all = append(all, option{Value: string(t), Label: typeNames[t]})
	}
	return all
}

func (r *Routes) listingList(v *visit) *list[listing.State] {
	return &list[listing.State]{
		path: base + "/listings", name: "listings",
		filters: []filter{
			{Name: "status", Label: "Status", Options: choices("", "", "Any status", "DRAFT", "Draft", "ACTIVE", "Published", "ARCHIVED", "Archived")},
			{Name: "type", Label: "Kind", Options: typeOptions("Any kind")},
			{Name: "q", Label: "Search", Placeholder: "Title or key"},
		},
		columns: []column[listing.State]{
			{label: "Listing", cell: func(l listing.State) cell {
				return cell{Text: l.Title, Href: base + "/listings/" + l.ID, Sub: l.CatalogKey}
			}},
			{label: "Kind", cell: func(l listing.State) cell { return text(typeNames[l.Type]) }},
			{label: "Price", num: true, cell: func(l listing.State) cell { return text(v.listingPrice(l)) },
				csv: func(l listing.State) string { return l.Price.Typed() + " " + string(l.Price.Currency) }},
			{label: "Status", cell: func(l listing.State) cell { return listingTones[l.Status] }},
			{label: "Updated", cell: func(l listing.State) cell { return v.moment(l.UpdatedAt) }, csv: func(l listing.State) string { return exact(l.UpdatedAt) }},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[listing.State], error) {
			return r.Catalog.OwnListings(ctx, v.account(), page)
		},
		match: func(q query, l listing.State) bool {
			return q.is("status", string(l.Status)) && q.is("type", string(l.Type)) && q.has("q", l.Title, l.CatalogKey, l.Slug, l.ID)
		},
		empty: empty{
			Title: "What do you sell?", Text: "A listing is one product: a download, a service, a subscription or appointments with you.",
			Action: &action{Label: "Make your first listing", Href: base + "/listings/new", Tone: "primary"},
		},
	}
}

// listingPrice is a listing's own price with its interval.
func (v *visit) listingPrice(l listing.State) string {
	if l.Type != listing.Subscription {
		return v.reader.Money(l.Price)
	}
	return v.reader.Money(l.Price) + " " + v.reader.Interval(l.Text(listing.Interval), int(l.Number(listing.IntervalCount)))
}

func (r *Routes) listings(c *fiber.Ctx, v *visit) error {
	return show(r, c, v, r.listingList(v), page{
		Title: "Listings", Lead: "What you sell.", Actions: []action{link("New listing", base+"/listings/new").primary()},
	})
}

// kinds are what can be sold, with an example each.
var kinds = []struct {
	kind        listing.Type
	title, text string
}{
	{listing.Digital, "Download", "A file that buyers get at once: a book, a template, a recording."},
	{listing.Service, "Service", "Work that you do for a buyer: a review, a design, a repair."},
	{listing.Subscription, "Subscription", "Access that renews: a membership, an app, a course."},
	{listing.Appointment, "Appointment", "Time with you, booked from your calendar, alone or in packs."},
}

func (r *Routes) newListing(c *fiber.Ctx, v *visit) error {
	p := page{Nav: base + "/listings", Title: "New listing", Up: &action{Label: "Listings", Href: base + "/listings"}}
	for _, k := range kinds {
		if string(k.kind) == c.Query("type") {
			p.Title, p.Lead = "New "+strings.ToLower(k.title), k.text
			p.Parts = []part{formPart(newListingForm(v, k.kind))}
			return r.send(c, v, p)
		}
	}
	p.Lead = "What kind of thing is it? This can’t be changed later."
	var steps []check
	for _, k := range kinds {
		steps = append(steps, check{Icon: strings.ToLower(string(k.kind)), Title: k.title, Text: k.text, Href: base + "/listings/new?type=" + string(k.kind), Label: "Choose"})
	}
	p.Parts = []part{{Kind: "checks", Data: steps}}
	return r.send(c, v, p)
}

// newListingForm is an empty form for a kind.
func newListingForm(v *visit, kind listing.Type) form {
	f := v.form("listing", base+"/listings/new", "Save draft", listingFields(listing.State{Type: kind})...)
	f.Fields = append(f.Fields, hidden("type", string(kind)))
	f.Cancel = base + "/listings"
	return f
}

// listingFields are the fields of a listing with its values.
func listingFields(l listing.State) []field {
	price := ""
	if l.ID != "" {
		price = l.Price.Typed()
	}
	currency := string(l.Price.Currency)
	if currency == "" {
		currency = "eur"
	}
	fields := []field{
		{Name: "title", Label: "Title", Value: l.Title, Required: true, Hint: "What buyers read on the checkout and on their receipt."},
		{Name: "description", Label: "Description", Type: "textarea", Value: l.Description, Rows: 5},
		{Name: "price", Label: "Price", Value: price, Required: true, Half: true, Also: []string{"priceInCents"}, Hint: "Tax is included. 0 makes it free."},
		{Name: "currency", Label: "Currency", Type: "select", Options: currencies(currency), Half: true},
	}
	fields = append(fields, metadataFields(l)...)
	return append(fields,
		field{Type: "heading", Name: "more", Label: "For your links and your code"},
		field{Name: "slug", Label: "Slug", Value: l.Slug, Mono: true, Half: true, Hint: "Its name in addresses: lower-case letters, digits and hyphens. Made from the title unless you choose."},
		field{Name: "catalogKey", Label: "Catalog key", Value: l.CatalogKey, Mono: true, Half: true, Hint: "What your code calls it, the same in sandbox and live."})
}

// metadataField is a member of a listing's metadata as a form has it.
type metadataField struct {
	field
	number, lines bool
}

// metadataForms are the members by type. What is allowed in them is for core/listing to decide.
var metadataForms = map[listing.Type][]metadataField{
	listing.Digital: {
		{field: field{Name: listing.DownloadURL, Label: "Download address", Type: "url", Placeholder: "https://…", Hint: "Buyers get this link once they have paid."}},
		{field: field{Name: "fileFormat", Label: "Format", Placeholder: "pdf", Half: true}},
		{field: field{Name: "pageCount", Label: "Pages", Half: true}, number: true},
		{field: field{Name: "previewUrl", Label: "Preview address", Type: "url", Placeholder: "https://…"}},
	},
	listing.Service: {
		{field: field{Name: "deliveryDays", Label: "Delivered within", Suffix: "days", Half: true}, number: true},
		{field: field{Name: "revisions", Label: "Revisions", Half: true}, number: true},
	},
	listing.Subscription: {
		{field: field{Name: listing.Interval, Label: "Billed every", Type: "select", Half: true, Options: choices("", "day", "day", "week", "week", "month", "month", "year", "year")}},
		{field: field{Name: listing.IntervalCount, Label: "Number of intervals", Half: true, Hint: "3 with month: billed every three months."}, number: true},
		{field: field{Name: listing.TrialDays, Label: "Free trial", Suffix: "days", Half: true}, number: true},
		{field: field{Name: listing.Features, Label: "Features", Type: "textarea", Hint: "One per line. Each becomes an entitlement that your app can ask for."}, lines: true},
	},
	listing.Appointment: {
		{field: field{Name: listing.DeliveryMethod, Label: "Where you meet", Type: "select",
			Options: choices("", "virtual", "Online", "in_person", "In person", "hybrid", "The buyer chooses")}},
		{field: field{Name: listing.InPersonAddress, Label: "Meeting address", Hint: "For meetings in person. Empty: the one of your meeting settings."}},
		{field: field{Name: listing.MinimumNotice, Label: "Notice", Suffix: "minutes", Half: true, Hint: "How far ahead buyers have to book."}, number: true},
		{field: field{Name: listing.HorizonDays, Label: "Bookable for", Suffix: "days ahead", Half: true}, number: true},
		{field: field{Name: listing.BufferBefore, Label: "Free time before", Suffix: "minutes", Half: true}, number: true},
		{field: field{Name: listing.BufferAfter, Label: "Free time after", Suffix: "minutes", Half: true}, number: true},
		{field: field{Name: listing.SlotIntervalMinutes, Label: "A time every", Suffix: "minutes", Half: true, Hint: "Empty: as long as the appointment."}, number: true},
		{field: field{Name: listing.FullRefundHours, Label: "Full refund until", Suffix: "hours before", Half: true, Hint: "For buyers who cancel. Empty: no refund."}, number: true},
		{field: field{Name: listing.DailyCap, Label: "At most per day", Half: true}, number: true},
		{field: field{Name: listing.WeeklyCap, Label: "At most per week", Half: true}, number: true},
	},
}

func metadataFields(l listing.State) []field {
	var fields []field
	for _, m := range metadataForms[l.Type] {
		f := m.field
		switch value := l.Metadata[m.Name].(type) {
		case string:
			f.Value = value
		case int64:
			f.Value = strconv.FormatInt(value, 10)
		case []string:
			f.Value = strings.Join(value, "\n")
		}
		if f.Type == "select" {
			selected := l.Text(m.Name)
			f.Options = append([]option(nil), f.Options...)
			for i := range f.Options {
				f.Options[i].Selected = f.Options[i].Value == selected
			}
		}
		f.Name = "metadata." + m.Name
		fields = append(fields, f)
	}
	return fields
}

// readListing reads the form of a listing.
func readListing(c *fiber.Ctx, kind listing.Type) (listing.Edit, error) {
	in := read(c)
	currency, title := in.text("currency"), in.text("title")
	e := listing.Edit{Description: new(in.text("description")), Currency: &currency, PriceInCents: in.amount("price", "priceInCents", currency), Metadata: map[string]any{}}
	if title != "" {
		e.Title = &title
	}
	slug := in.text("slug")
	if slug == "" {
		slug = slugOf(title)
	}
	e.Slug, e.CatalogKey = &slug, in.given("catalogKey")
	for _, m := range metadataForms[kind] {
		name := "metadata." + m.Name
		switch {
		case in.text(name) == "":
			e.Metadata[m.Name] = nil
		case m.lines:
			var items []any
			for _, line := range in.lines(name) {
				items = append(items, line)
			}
			e.Metadata[m.Name] = items
		case m.number:
			if n := in.number(name, name); n != nil {
				e.Metadata[m.Name] = json.Number(strconv.Itoa(*n))
			}
		default:
			e.Metadata[m.Name] = in.text(name)
		}
	}
	return e, in.err()
}

// slugOf makes an address of a title.
func slugOf(title string) string {
	var out strings.Builder
	for _, char := range strings.ToLower(title) {
		switch {
		case char >= 'a' && char <= 'z' || char >= '0' && char <= '9':
			out.WriteRune(char)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	slug := out.String()
	slug = strings.Trim(slug[:min(len(slug), 80)], "-")
	if len(slug) < 3 { // nothing that an address can have, as in most scripts of the world
		slug = strings.TrimSuffix("listing-"+slug, "-")
	}
	return slug
}

func (r *Routes) createListing(c *fiber.Ctx, v *visit) error {
	kind := listing.Type(c.FormValue("type"))
	edit, err := readListing(c, kind)
	var made listing.State
	if err == nil {
		made, err = r.createWithSlug(c, v, listing.Proposal{Type: string(kind), Edit: edit})
	}
	if err != nil {
		p := page{Nav: base + "/listings", Title: "New listing", Up: &action{Label: "Listings", Href: base + "/listings"}}
		return r.again(c, v, p, newListingForm(v, kind), err)
	}
	return r.done(c, base+"/listings/"+made.ID, "Saved as a draft. Publish it when it’s ready.")
}

// slugTries is how many slugs are made of a title before its creator has to choose one.
const slugTries = 20

// createWithSlug makes a listing. Slugs are unique across the platform: a slug that was made of the title, and not chosen,
// gives way to one with the end of the account's id, which its creator need not know.
func (r *Routes) createWithSlug(c *fiber.Ctx, v *visit, p listing.Proposal) (listing.State, error) {
	chosen, made, account := read(c).text("slug") != "", *p.Slug, v.account()
	for try := 1; ; try++ {
		l, err := r.Catalog.Create(c.UserContext(), account, p)
		if chosen || try > slugTries || !fault.Is(err, fault.SlugTaken) {
			return l, err
		}
		slug := made + "-" + account[max(len(account)-4, 0):]
		if try > 1 {
			slug += "-" + strconv.Itoa(try)
		}
		p.Slug = &slug
	}
}

func (r *Routes) editListing(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	p := editListingPage(l)
	p.Parts = []part{formPart(editListingForm(v, l))}
	return r.send(c, v, p)
}

func editListingPage(l listing.State) page {
	return page{Nav: base + "/listings", Title: "Edit " + l.Title, Up: &action{Label: l.Title, Href: base + "/listings/" + l.ID}}
}

func editListingForm(v *visit, l listing.State) form {
	f := v.form("listing", base+"/listings/"+l.ID+"/edit", "Save", listingFields(l)...)
	f.Cancel = base + "/listings/" + l.ID
	return f
}

func (r *Routes) saveListing(c *fiber.Ctx, v *visit) error {
	l, err := r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	edit, err := readListing(c, l.Type)
	if err == nil {
		_, err = r.Catalog.Edit(c.UserContext(), v.account(), l.ID, edit)
	}
	if err != nil {
		return r.again(c, v, editListingPage(l), editListingForm(v, l), err)
	}
	return r.done(c, base+"/listings/"+l.ID, "Saved.")
}

func (r *Routes) publishListing(c *fiber.Ctx, v *visit) error {
	at := base + "/listings/" + c.Params("id")
	if _, err := r.Catalog.Publish(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "Published: it can be bought now. Create a payment link to share it.")
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
	p := page{Nav: base + "/listings", Title: l.Title, Badge: &status, Up: &action{Label: "Listings", Href: base + "/listings"}}
	switch l.Status {
	case listing.Draft:
		p.Actions = []action{link("Edit", at+"/edit"), v.button("Delete draft", at+"/archive").asking("The draft is archived. This can’t be undone."), v.button("Publish", at+"/publish").primary()}
	case listing.Active:
		p.Actions = []action{link("Edit", at+"/edit"),
			v.button("Archive", at+"/archive").asking("Nobody can buy it any more. Running subscriptions go on. This can’t be undone."),
			link("Create payment link", base+"/links/new?listing="+l.ID).primary()}
	case listing.Archived:
		p.Lead = "Nobody can buy it any more."
	}
	if l.Type == listing.Appointment {
		ready, err := r.readiness(c, v, l)
		if err != nil {
			return err
		}
		p.Parts = append(p.Parts, ready, r.variantsPart(v, l))
	} else {
		plans, err := r.plansPart(c, v, l)
		if err != nil {
			return err
		}
		p.Parts = append(p.Parts, plans)
	}
	p.Parts = append(p.Parts, imagesPart(v, l)...)
	if l.Description != "" {
		p.Parts = append(p.Parts, part{Kind: "text", Title: "Description", Data: l.Description})
	}
	p.Aside = append(p.Aside, facts("Details", listingFacts(v, l)...))
	return r.send(c, v, p)
}

func listingFacts(v *visit, l listing.State) []fact {
	all := []fact{
		{"Kind", text(typeNames[l.Type])}, {"Price", text(v.listingPrice(l))}, {"Catalog key", copied(l.CatalogKey)}, {"ID", copied(l.ID)},
	}
	for _, m := range metadataForms[l.Type] {
		switch value := l.Metadata[m.Name].(type) {
		case string:
			all = append(all, fact{m.Label, text(labelOf(m.Options, value))})
		case int64:
			all = append(all, fact{m.Label, text(strings.TrimSpace(fmt.Sprint(value, " ", m.Suffix)))})
		case []string:
			all = append(all, fact{m.Label, text(strings.Join(value, "\n"))})
		}
	}
	return append(all, fact{"Created", v.moment(l.CreatedAt)}, fact{"Updated", v.moment(l.UpdatedAt)})
}

func labelOf(options []option, value string) string {
	for _, o := range options {
		if o.Value == value {
			return o.Label
		}
	}
	return value
}

// readiness is what keeps an appointment from being booked.
func (r *Routes) readiness(c *fiber.Ctx, v *visit, l listing.State) (part, error) {
	missing, err := r.Booking.Readiness(c.UserContext(), v.account(), l.ID, "")
	if err != nil {
		return part{}, err
	}
	if len(missing) == 0 {
		return notePart("ok", "Buyers can book this: your hours and your meeting place are set."), nil
	}
	var steps []check
	for _, m := range missing {
		steps = append(steps, check{Title: m.Message, Href: base + "/bookings/settings", Label: "Set it up"})
	}
	return part{Kind: "checks", Title: "Before buyers can book", Data: steps}, nil
}

// plansPart lists what a listing's plans cost and give.
func (r *Routes) plansPart(c *fiber.Ctx, v *visit, l listing.State) (part, error) {
	plans, err := r.Catalog.Plans(c.UserContext(), v.account(), l.ID)
	if err != nil {
		return part{}, err
	}
	at := base + "/listings/" + l.ID + "/plans/"
	t := table{Label: "Plans", Heads: []head{{Label: "Plan"}, {Label: "Prices"}, {Label: "Gives"}, {Label: "Trial"}, {}}}
	for _, pl := range plans {
		if pl.Retired {
			continue
		}
		name := cell{Text: pl.Name, Href: at + pl.Key, Sub: pl.Key}
		if pl.IsDefault {
			name.Sub += " · default"
		}
		trial := "–"
		if pl.TrialDays > 0 {
			trial = v.reader.Days(pl.TrialDays)
		}
		buttons := cell{}
		if l.Status != listing.Archived {
			buttons.Actions = []action{link("Edit", at+pl.Key), v.button("Retire", at+pl.Key+"/retire").asking("It can’t be bought any more. Running subscriptions go on.")}
		}
		t.Rows = append(t.Rows, row{[]cell{name, text(v.planPrices(pl)), text(planGives(pl)), text(trial), buttons}})
	}
	if len(t.Rows) == 0 {
		t.Empty = &empty{Title: "One price, no plans", Text: "Buyers pay " + v.listingPrice(l) + ". Add plans to sell levels with entitlements and credits that your app can check."}
	}
	p := tablePart("Plans", t)
	if l.Status != listing.Archived {
		p.Actions = []action{link("Add plan", at+"new")}
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
		return v.reader.Money(p.Amount) + " once"
	}
	return v.reader.Money(p.Amount) + " " + v.reader.Interval(string(p.Interval), p.IntervalCount)
}

func planGives(p plan.State) string {
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
	if len(all) == 0 {
		return "–"
	}
	return strings.Join(all, "\n")
}
