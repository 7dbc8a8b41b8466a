package dashboard

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/tax"
)

// newListingForm is an empty form for a kind.
func newListingForm(v *visit, kind listing.Type) ui.Form {
	f := v.form("listing", base+"/listings/new", "Save")
	if kind.Bookable() {
		f.Fields = append(f.Fields, ui.Field{
			Name: "durationMinutes", Label: "Length", Value: "60", Suffix: "minutes", Required: true, Half: true,
			Hint: "Of one appointment. Other lengths and packs can be added later.",
		})
	}
	f.Fields = append(append(f.Fields, v.listingFields(listing.State{Type: kind})...), ui.Field{
		Name: "publish", Label: "Publish it and make a payment link", Type: "checkbox",
		Checked: kind != listing.Digital, // which gets its files first
		Hint:    "Otherwise it’s saved as a draft, which only you see.",
	}, ui.Hidden("type", string(kind)))
	f.Cancel, f.Preview = base+"/listings", base+"/listings/new/preview"
	return f
}

// listingFields are the fields of a listing with its values.
func (v *visit) listingFields(l listing.State) []ui.Field {
	price := ""
	if l.ID != "" {
		price = l.Price.Typed()
	}
	currency := string(l.Price.Currency)
	if currency == "" {
		currency = "eur"
	}
	taxed := ui.Words("Tax is included. 0 makes it free.")
	if l.TaxBehavior == tax.Exclusive {
		taxed = "Tax is added at the checkout. 0 makes it free."
	}
	fields := []ui.Field{
		{
			Name: "title", Label: "Title", Value: l.Title, Required: true,
			Hint: "What buyers read on the checkout and on their receipt.",
		},
		{Name: "description", Label: "Description", Type: "textarea", Value: l.Description, Rows: 5},
		{
			Name: "price", Label: "Price", Value: price, Required: true, Half: true, Also: []string{"priceInCents"},
			Hint: taxed,
		},
		{Name: "currency", Label: "Currency", Type: "select", Options: ui.Currencies(currency), Half: true},
	}
	fields = append(fields, metadataFields(l)...)
	if l.Type.Bookable() {
		fields = append(fields, v.questionFields(l))
	}
	if l.Type.Recurring() {
		fields = append(fields,
			ui.Field{
				Name: "trialOncePerCustomer", Label: "One free trial per customer", Type: "checkbox",
				Checked: l.ID == "" || l.TrialOncePerCustomer,
				Hint:    "Customers who had one pay the first period at once.",
			},
			ui.Field{
				Name: "oneSubscriptionPerCustomer", Label: "One subscription per customer", Type: "checkbox",
				Checked: l.ID == "" || l.OneSubscriptionPerCustomer,
				Hint:    "Customers whom your code names can’t buy a second one while the first runs.",
			})
	}
	return append(fields,
		ui.Field{Type: "heading", Name: "more", Label: "For your links and your code"},
		ui.Field{
			Name: "slug", Label: "Slug", Value: l.Slug, Mono: true, Half: true,
			Hint: "Its name in addresses: lower-case letters, digits and hyphens. Made from the title unless you choose.",
		},
		ui.Field{
			Name: "catalogKey", Label: "Catalog key", Value: l.CatalogKey, Mono: true, Half: true,
			Hint: "What your code calls it, the same in sandbox and live.",
		},
	)
}

// metadataField is a member of a listing's metadata as a form has it.
type metadataField struct {
	ui.Field
	number, lines bool
}

// metadataForms are the members by type. What is allowed in them is for core/listing to decide.
var metadataForms = map[listing.Type][]metadataField{
	listing.Digital: {
		{
			Field: ui.Field{
				Name: listing.DownloadURL, Label: "Download address", Type: "url", Placeholder: "https://…",
				Hint: "For a download elsewhere: buyers get this link once they have paid.",
			},
		},
		{Field: ui.Field{Name: "fileFormat", Label: "Format", Placeholder: "pdf", Half: true}},
		{Field: ui.Field{Name: "pageCount", Label: "Pages", Half: true}, number: true},
		{Field: ui.Field{Name: "previewUrl", Label: "Preview address", Type: "url", Placeholder: "https://…"}},
	},
	listing.Service: {
		{Field: ui.Field{Name: "deliveryDays", Label: "Delivered within", Suffix: "days", Half: true}, number: true},
		{Field: ui.Field{Name: "revisions", Label: "Revisions", Half: true}, number: true},
	},
	listing.Subscription: {
		{
			Field: ui.Field{
				Name: listing.Interval, Label: "Billed every", Type: "select", Half: true,
				Options: ui.Choices("", "day", "day", "week", "week", "month", "month", "year", "year"),
			},
		},
		{
			Field: ui.Field{
				Name: listing.IntervalCount, Label: "Number of intervals", Half: true,
				Hint: "3 with month: billed every three months.",
			},
			number: true,
		},
		{Field: ui.Field{Name: listing.TrialDays, Label: "Free trial", Suffix: "days", Half: true}, number: true},
		{Field: ui.Field{
			Name: listing.CustomersMayPause, Label: "Customers may pause", Type: "checkbox",
			Hint: "In their portal. A paused plan gives no access and isn’t charged.",
		}},
		{
			Field: ui.Field{
				Name: listing.Features, Label: "Features", Type: "textarea",
				Hint: "One per line. Each becomes an entitlement that your app can ask for.",
			},
			lines: true,
		},
	},
	listing.Appointment: {
		{Field: ui.Field{Name: listing.DeliveryMethod, Label: "Where you meet", Type: "select",
			Options: ui.Choices("", "virtual", "Online", "in_person", "In person", "hybrid", "The buyer chooses")}},
		{
			Field: ui.Field{
				Name: listing.InPersonAddress, Label: "Meeting address",
				Hint: "For meetings in person. Leave empty for the address in your meeting settings.",
			},
		},
		{
			Field: ui.Field{
				Name: listing.MinimumNotice, Label: "Minimum notice", Suffix: "minutes", Half: true,
				Hint: "How far ahead buyers have to book.",
			},
			number: true,
		},
		{
			Field:  ui.Field{Name: listing.HorizonDays, Label: "Bookable for", Suffix: "days ahead", Half: true},
			number: true,
		},
		{
			Field:  ui.Field{Name: listing.BufferBefore, Label: "Buffer before", Suffix: "minutes", Half: true},
			number: true,
		},
		{
			Field:  ui.Field{Name: listing.BufferAfter, Label: "Buffer after", Suffix: "minutes", Half: true},
			number: true,
		},
		{
			Field: ui.Field{
				Name: listing.SlotIntervalMinutes, Label: "Start times every", Suffix: "minutes", Half: true,
				Hint: "Leave empty for the length of the appointment.",
			},
			number: true,
		},
		{
			Field: ui.Field{
				Name: listing.FullRefundHours, Label: "Full refund until", Suffix: "hours before", Half: true,
				Hint: "For buyers who cancel. Leave empty for no refund.",
			},
			number: true,
		},
		{Field: ui.Field{Name: listing.DailyCap, Label: "At most per day", Half: true}, number: true},
		{Field: ui.Field{Name: listing.WeeklyCap, Label: "At most per week", Half: true}, number: true},
		{
			Field: ui.Field{
				Name: listing.MaxGuests, Label: "Guests", Suffix: "at most", Half: true, Placeholder: "10",
				Hint: "Whom a buyer may invite by email. 0 for none.",
			},
			number: true,
		},
	},
}

// What a download gives its buyers.
const (
	givesFiles  = "files"
	givesLink   = "link"
	givesAccess = "access"
)

// givesField asks what buyers of a download get, so that none is sold without it by mistake.
func givesField(l listing.State) ui.Field {
	gives := givesFiles
	switch {
	case l.Text(listing.DownloadURL) != "":
		gives = givesLink
	case l.ID != "" && !l.HasFiles:
		gives = givesAccess
	}
	return ui.Field{
		Name: "gives", Label: "What buyers get", Type: "select",
		Options: ui.Choices(
			gives, givesFiles, "Files that you upload here", givesLink, "A link to the download elsewhere", givesAccess,
			"Access in your own app",
		),
		Hint: "Files are uploaded on the listing’s page. Your app asks for access by its catalog key.",
	}
}

func metadataFields(l listing.State) []ui.Field {
	var fields []ui.Field
	if l.Type == listing.Digital {
		fields = append(fields, givesField(l))
	}
	for _, m := range metadataForms[l.Type] {
		f := m.Field
		switch value := l.Metadata[m.Name].(type) {
		case string:
			f.Value = value
		case int64:
			f.Value = strconv.FormatInt(value, 10)
		case []string:
			f.Value = strings.Join(value, "\n")
		case bool:
			f.Checked = value
		}
		if f.Type == "select" {
			selected := l.Text(m.Name)
			f.Options = append([]ui.Option(nil), f.Options...)
			for i := range f.Options {
				f.Options[i].Selected = f.Options[i].Value == selected
			}
		}
		f.Name = "metadata." + m.Name
		fields = append(fields, f)
	}
	return fields
}

// readProposal reads the form of a new listing.
func readProposal(c *fiber.Ctx) (listing.Proposal, *ui.Input) {
	kind, in := listing.Type(c.FormValue("type")), ui.ReadInput(c)
	p := listing.Proposal{Type: string(kind), Edit: readListing(in, kind)}
	if kind.Bookable() {
		p.DurationMinutes = in.Number("durationMinutes", "durationMinutes")
	}
	return p, in
}

// readListing reads the form of a listing.
func readListing(in *ui.Input, kind listing.Type) listing.Edit {
	currency, title := in.Text("currency"), in.Text("title")
	e := listing.Edit{
		Title: &title, Description: new(in.Text("description")), Currency: &currency,
		PriceInCents: in.Amount("price", "priceInCents", currency), Metadata: map[string]any{},
	}
	in.Faults.Check(title != "", "title", fault.DetailRequired, "Enter a title.")
	in.Faults.Check(in.Text("price") != "", "priceInCents", fault.DetailRequired, "Enter a price. 0 makes it free.")
	slug := in.Text("slug")
	if slug == "" {
		slug = slugOf(title)
	}
	e.Slug, e.CatalogKey = &slug, in.Optional("catalogKey")
	if kind.Recurring() {
		e.TrialOncePerCustomer = new(in.Checked("trialOncePerCustomer"))
		e.OneSubscriptionPerCustomer = new(in.Checked("oneSubscriptionPerCustomer"))
	}
	for _, m := range metadataForms[kind] {
		name := "metadata." + m.Name
		switch {
		case in.Text(name) == "":
			e.Metadata[m.Name] = nil
		case m.Type == "checkbox":
			e.Metadata[m.Name] = true
		case m.lines:
			var items []any
			for _, line := range in.Lines(name) {
				items = append(items, line)
			}
			e.Metadata[m.Name] = items
		case m.number:
			if n := in.Number(name, name); n != nil {
				e.Metadata[m.Name] = json.Number(strconv.Itoa(*n))
			}
		default:
			e.Metadata[m.Name] = in.Text(name)
		}
	}
	if kind.Bookable() {
		e.Metadata[listing.Questions] = readQuestions(in)
	}
	if kind == listing.Digital && in.Text("gives") == givesLink {
		in.Faults.Check(
			in.Text("metadata."+listing.DownloadURL) != "", "metadata."+listing.DownloadURL, fault.DetailRequired,
			"Enter the address that buyers get, or choose what else they get.",
		)
	}
	if gives := in.Text("gives"); gives == givesAccess || gives == givesFiles {
		e.Metadata[listing.DownloadURL] = nil
	}
	return e
}

// slugOf makes an address of a title.
func slugOf(title string) string {
	slug := latin(title, 80)
	if len(slug) < 3 { // nothing that an address can have, as in most scripts of the world
		slug = strings.TrimSuffix("listing-"+slug, "-")
	}
	return slug
}

// latin returns up to most bytes of the letters and digits that addresses and keys can have, with hyphens for the rest.
func latin(s string, most int) string {
	var out strings.Builder
	for _, char := range strings.ToLower(s) {
		switch {
		case char >= 'a' && char <= 'z' || char >= '0' && char <= '9':
			out.WriteRune(char)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	return strings.Trim(out.String()[:min(out.Len(), most)], "-")
}

// slugTries bounds the slugs made of a title before its creator has to choose one.
const slugTries = 20

// createWithSlug creates a listing. Slugs are unique across the platform: if the one made of the title is taken, a
// slug that ends with part of the account's id is tried instead.
func (r *Routes) createWithSlug(c *fiber.Ctx, v *visit, p listing.Proposal) (listing.State, error) {
	chosen, made, account := ui.ReadInput(c).Text("slug") != "", *p.Slug, v.account()
	for try := 1; ; try++ {
		l, err := r.Catalog.CreateListing(c.UserContext(), account, p)
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
