package dashboard

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/plan"
)

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
	if l.Status != listing.Archived && !givesDownload(l) {
		p.Parts = append(p.Parts, ui.NotePart("wait", noDownload))
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

const noDownload = "Buyers get no download: there is no file and no address. That’s fine if your own app gives access."

// givesDownload reports whether a listing gives its buyers what its type promises: a download, where it is one.
func givesDownload(l listing.State) bool {
	return l.Type != listing.Digital || l.HasFiles || l.Text(listing.DownloadURL) != ""
}

// publishButton asks once more before a download is sold that gives its buyers nothing here.
func (v *visit) publishButton(l listing.State) ui.Action {
	publish := v.button("Publish", base+"/listings/"+l.ID+"/publish").Primary()
	if givesDownload(l) {
		return publish
	}
	return publish.Confirm(noDownload)
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
			all = append(all, ui.Fact{Label: m.Label, Value: ui.Text(v.counted(value, m.Suffix))})
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

// singular are the units of one.
var singular = map[ui.Words]ui.Words{
	"minutes": "minute", "days": "day", "days ahead": "day ahead", "hours before": "hour before",
}

// counted writes a number with its unit: 1 day, 3 days.
func (v *visit) counted(n int64, unit ui.Words) string {
	one := cmp.Or(singular[unit], unit)
	return strings.TrimSpace(fmt.Sprint(n, " ", v.text(ui.Plural(v.reader.Language, int(n), one, unit))))
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
	retired := ui.Words("It can’t be bought any more. Running subscriptions go on.")
	if len(plans) == 1 {
		retired = v.say("It can’t be bought any more, and running subscriptions go on. It’s the last plan: buyers then pay %s. "+
			"Archive the listing instead to stop selling it.", v.listingPrice(l))
	}
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
				v.button("Retire", at+pl.Key+"/retire").Confirm(retired),
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
		p.Actions = []ui.Action{ui.Link("Add plan", base+"/listings/"+l.ID+"/plans")}
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
		all = append(all, v.entitlementLine(e))
	}
	for _, credit := range p.Terms.Credits {
		all = append(all, v.creditLine(credit))
	}
	for _, m := range p.Terms.Meters {
		all = append(all, fmt.Sprintf("%s: %d", m.EventName, m.Included))
	}
	for _, credit := range p.Terms.UsageCredits {
		all = append(all, v.text("prepaid use: %s", v.usageCreditLine(credit)))
	}
	if len(all) == 0 {
		return "–"
	}
	return strings.Join(all, "\n")
}
