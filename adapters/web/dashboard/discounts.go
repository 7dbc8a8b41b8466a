package dashboard

import (
	"context"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/civil"
	"sundry/core/discount"
	"sundry/core/listing"
	"sundry/ports"
)

func (r *Routes) mountDiscounts(at fiber.Router) {
	r.get(at, "/discounts", r.discounts)
	r.form(at, "/discounts/new", r.newDiscount)
	r.post(at, "/discounts/new", r.createDiscount)
	r.post(at, "/discounts/:id/delete", r.deleteDiscount)
}

func (v *visit) discountValue(d discount.State) string {
	value := v.text("%d%% off", d.PercentOff)
	if d.PercentOff == 0 {
		value = v.text("%s off", v.reader.Money(d.AmountOff))
	}
	switch d.Duration {
	case discount.Repeating:
		return v.text(ui.Plural(v.reader.Language, d.DurationInMonths, "%s for %d month", "%s for %d months"),
			value, d.DurationInMonths)
	case discount.Forever:
		return v.text("%s for ever", value)
	default:
		return v.text("%s once", value)
	}
}

func (v *visit) redemptions(d discount.State) string {
	if d.MaxRedemptions == 0 {
		return fmt.Sprint(d.Redeemed)
	}
	return v.text("%d of %d", d.Redeemed, d.MaxRedemptions)
}

func (r *Routes) discounts(c *fiber.Ctx, v *visit) error {
	l := &ui.List[discount.State]{
		Path: base + "/discounts", FileName: "discounts",
		Filters: []ui.Filter{
			{
				Name: "duration", Label: "Duration",
				Options: ui.Choices(
					"", "", "Any duration", "once", "Once", "repeating", "Some months", "forever", "Forever",
				),
			},
			{Name: "q", Label: "Search", Placeholder: "Code"},
		},
		Columns: []ui.Column[discount.State]{
			{Label: "Code", Sort: "code", Cell: func(d discount.State) ui.Cell { return ui.Copyable(d.Code) }},
			{Label: "Takes off", Cell: func(d discount.State) ui.Cell { return ui.Text(v.discountValue(d)) }},
			{
				Label: "Used", Num: true, Sort: "-redeemed",
				Cell: func(d discount.State) ui.Cell { return ui.Text(v.redemptions(d)) },
			},
			{Label: "Applies to", Cell: func(d discount.State) ui.Cell {
				if len(d.ListingIDs) == 0 {
					return ui.Label("Everything")
				}
				return ui.Label(v.plural(len(d.ListingIDs), "%d listing", "%d listings"))
			}},
			timeColumn(v, "Expires", "expiresAt", func(d discount.State) time.Time { return d.ExpiresAt }),
			{Cell: func(d discount.State) ui.Cell {
				return ui.Cell{
					Actions: []ui.Action{
						v.button("Delete", base+"/discounts/"+d.ID+"/delete").Confirm(
							"Nobody can use the code any more. What it took off before stays.",
						),
					},
				}
			}},
		},
		Read: func(ctx context.Context, _ ui.Query, page ports.Page) (ports.List[discount.State], error) {
			return r.Catalog.Discounts(ctx, v.account(), page)
		},
		Match: func(q ui.Query, d discount.State) bool {
			return q.Is("duration", string(d.Duration)) && q.Has("q", d.Code, d.ID)
		},
		Empty: ui.Empty{
			Title:  "No discount codes",
			Text:   "A code takes something off at the checkout. Put it into a link with ?discount_code=…",
			Action: &ui.Action{Label: "Create a code", Href: base + "/discounts/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Title: "Discounts", Lead: "Codes that buyers type at the checkout.",
		Actions: []ui.Action{ui.Link("New code", base+"/discounts/new").Primary()},
	})
}

// discountForm asks for everything about a code.
func (r *Routes) discountForm(c *fiber.Ctx, v *visit) (ui.Form, error) {
	listings, err := r.ownListings(c.UserContext(), v)
	if err != nil {
		return ui.Form{}, err
	}
	zone, err := r.zone(c.UserContext(), v)
	if err != nil {
		return ui.Form{}, err
	}
	options := []ui.Option{{Label: "Everything"}}
	for _, l := range listings {
		if l.Status != listing.Archived {
			options = append(options, ui.Option{Value: l.ID, Label: ui.Data(l.Title)})
		}
	}
	f := v.form("discount", base+"/discounts/new", "Create code",
		ui.Field{
			Name: "code", Label: "Code", Required: true, Mono: true, Half: true, Placeholder: "SPRING",
			Hint: "Not case-sensitive.",
		},
		ui.Field{
			Name: "listing", Label: "Applies to", Type: "select", Options: options, Half: true,
			Also: []string{"listingIds"},
		},
		ui.Field{Name: "percentOff", Label: "Percent off", Half: true, Suffix: "%", Hint: "Or an amount."},
		ui.Field{Name: "amount", Label: "Amount off", Half: true, Also: []string{"amountOffInCents"}},
		ui.Field{
			Name: "currency", Label: "Currency of the amount", Type: "select", Half: true,
			Options: ui.Currencies("eur"),
		},
		ui.Field{
			Name: "duration", Label: "For subscriptions", Type: "select", Half: true,
			Options: ui.Choices(
				"", "once", "The first payment", "repeating", "Some months", "forever", "Every payment",
			),
		},
		ui.Field{Name: "durationInMonths", Label: "Months", Half: true, Hint: "With “Some months”."},
		ui.Field{Name: "maxRedemptions", Label: "Usage limit", Half: true, Suffix: "times",
			Hint: "Leave empty for no limit."},
		v.lastDayField(zone))
	f.Cancel = base + "/discounts"
	return f, nil
}

// lastDayField asks for the last day of something.
func (v *visit) lastDayField(zone *time.Location) ui.Field {
	return ui.Field{
		Name: "expiresAt", Label: "Last day", Type: "date", Half: true,
		Hint: v.say("It ends when this day does (%s). Leave empty for no end.", civil.CurrentZoneName(zone.String())),
	}
}

func discountPage() ui.Page {
	return ui.Page{
		Nav: base + "/discounts", Title: "New discount code",
		Up: &ui.Action{Label: "Discounts", Href: base + "/discounts"},
	}
}

func (r *Routes) newDiscount(c *fiber.Ctx, v *visit) error {
	f, err := r.discountForm(c, v)
	if err != nil {
		return err
	}
	return r.ask(c, v, discountPage(), f)
}

func (r *Routes) createDiscount(c *fiber.Ctx, v *visit) error {
	zone, err := r.zone(c.UserContext(), v)
	if err != nil {
		return err
	}
	in := ui.ReadInput(c)
	d := discount.Draft{
		Code: in.Text("code"), PercentOff: in.Number("percentOff", "percentOff"), Duration: in.Text("duration"),
		DurationInMonths: in.Number("durationInMonths", "durationInMonths"),
		MaxRedemptions:   in.Number("maxRedemptions", "maxRedemptions"),
		ExpiresAt:        in.LastDay("expiresAt", "expiresAt", zone),
	}
	if d.AmountOffInCents = in.Amount("amount", "amountOffInCents", in.Text("currency")); d.AmountOffInCents != nil {
		d.Currency = in.Text("currency")
	}
	if id := in.Text("listing"); id != "" {
		d.ListingIDs = []string{id}
	}
	err = in.Submit(
		func() error { return r.Catalog.CheckDiscount(c.UserContext(), v.account(), d) },
		func() error {
			_, err := r.Catalog.CreateDiscount(c.UserContext(), v.account(), d)
			return err
		})
	if err != nil {
		f, formErr := r.discountForm(c, v)
		if formErr != nil {
			return formErr
		}
		return r.again(c, v, discountPage(), f, err)
	}
	return r.done(c, base+"/discounts", "The code is ready.")
}

func (r *Routes) deleteDiscount(c *fiber.Ctx, v *visit) error {
	_, err := r.Catalog.DeleteDiscount(c.UserContext(), v.account(), c.Params("id"))
	return r.result(c, base+"/discounts", err, "The code is deleted.")
}
