package dashboard

import (
	"cmp"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/listing"
)

func (r *Routes) mountVariants(at fiber.Router) {
	r.get(at, "/listings/:id/variants/:variant", r.variant)
	r.post(at, "/listings/:id/variants/:variant", r.saveVariant)
	r.post(at, "/listings/:id/variants/:variant/remove", r.removeVariant)
}

// variantsPart lists the ways to book a listing.
func (r *Routes) variantsPart(v *visit, l listing.State) ui.Part {
	at := base + "/listings/" + l.ID + "/variants/"
	t := ui.Table{Label: "Options", Heads: []ui.Head{
		{Label: "Option"},
		{Label: "Length"},
		{Label: "Sessions", Num: true},
		{Label: "Seats", Num: true},
		{Label: "Price", Num: true},
		{},
	}}
	for _, one := range l.Variants {
		name := ui.Cell{Text: ui.Data(one.Name), Sub: ui.Data(one.Key)}
		if one.IsDefault {
			name.Sub = v.say("%s · default", one.Key)
		}
		price := v.reader.Money(l.Price)
		if one.PriceInCents != nil {
			price = v.price(*one.PriceInCents, string(l.Price.Currency))
		}
		buttons := ui.Cell{}
		if l.Status != listing.Archived {
			buttons.Actions = []ui.Action{ui.Link("Edit", at+one.ID)}
			if len(l.Variants) > 1 {
				buttons.Actions = append(buttons.Actions, v.button("Remove", at+one.ID+"/remove").Confirm(
					"It can’t be booked any more. What is booked stays.",
				))
			}
		}
		t.Rows = append(t.Rows, ui.Row{
			Cells: []ui.Cell{
				name, ui.Text(v.reader.Minutes(one.DurationMinutes)), ui.Number(strconv.Itoa(one.SessionCount)),
				ui.Number(strconv.Itoa(max(one.Seats, 1))),
				ui.Number(price), buttons,
			},
		})
	}
	p := ui.TablePart("Options", t)
	p.Lead = "How long, how many times, at what price."
	if l.Status != listing.Archived {
		p.Actions = []ui.Action{ui.Link("Add option", at+"new")}
	}
	return p
}

func variantForm(v *visit, l listing.State, one listing.Variant) ui.Form {
	at := base + "/listings/" + l.ID
	target := at + "/variants/new"
	if one.ID != "" {
		target = at + "/variants/" + one.ID
	}
	f := v.form("variant", target, "Save option",
		ui.Field{Name: "name", Label: "Name", Value: one.Name, Half: true},
		ui.Field{
			Name: "key", Label: "Key", Value: one.Key, Half: true, Mono: true, ReadOnly: one.ID != "",
			Hint: "Used in your code. Can’t be changed later.",
		},
		ui.Field{
			Name: "durationMinutes", Label: "Length", Value: zeroless(one.DurationMinutes), Suffix: "minutes",
			Half: true, Required: true,
		},
		ui.Field{
			Name: "sessionCount", Label: "Sessions", Value: zeroless(one.SessionCount), Half: true,
			Hint: "More than one makes a pack: the buyer picks so many times.",
		},
		ui.Field{
			Name: "seats", Label: "Seats", Value: zeroless(one.Seats), Half: true, Placeholder: "1",
			Hint: "More than one makes a group appointment: so many buyers share a time.",
		},
		ui.Field{
			Name: "price", Label: "Price", Value: ui.TypedAmount(one.PriceInCents, string(l.Price.Currency)),
			Half: true, Also: []string{"priceInCents"},
			Hint: v.say("For all sessions together. Leave empty for %s.", v.reader.Money(l.Price)),
		},
		ui.Field{
			Name: "isDefault", Label: "Default option", Type: "checkbox",
			Checked: one.IsDefault,
		})
	f.Cancel = at
	if one.ID != "" {
		return f.OfStored()
	}
	return f
}

func variantPage(v *visit, l listing.State, one listing.Variant) ui.Page {
	title := ui.Words("New option")
	if one.ID != "" {
		title = v.say("Edit %s", one.Name)
	}
	return ui.Page{
		Nav: base + "/listings", Title: title,
		Up: &ui.Action{Label: ui.Data(l.Title), Href: base + "/listings/" + l.ID},
	}
}

// findVariant loads a listing and one of its variants; "new" is an empty one.
func (r *Routes) findVariant(c *fiber.Ctx, v *visit) (l listing.State, one listing.Variant, err error) {
	if l, err = r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id")); err != nil ||
		c.Params("variant") == "new" {
		return l, one, err
	}
	for _, one := range l.Variants {
		if one.ID == c.Params("variant") {
			return l, one, nil
		}
	}
	return l, one, fault.NotFound("variant")
}

func (r *Routes) variant(c *fiber.Ctx, v *visit) error {
	l, one, err := r.findVariant(c, v)
	if err != nil {
		return err
	}
	return r.ask(c, v, variantPage(v, l, one), variantForm(v, l, one))
}

func (r *Routes) saveVariant(c *fiber.Ctx, v *visit) error {
	l, one, err := r.findVariant(c, v)
	if err != nil {
		return err
	}
	f, in := variantForm(v, l, one), ui.ReadInput(c)
	edit := listing.VariantEdit{
		Name: in.Optional("name"), DurationMinutes: in.Number("durationMinutes", "durationMinutes"),
		SessionCount: cmp.Or(in.Number("sessionCount", "sessionCount"), new(1)),
		Seats:        cmp.Or(in.Number("seats", "seats"), new(1)),
		Price:        in.Amount("price", "priceInCents", string(l.Price.Currency)), PriceGiven: true,
	}
	if in.Checked("isDefault") {
		edit.IsDefault = new(true)
	}
	isNew := one.ID == ""
	if isNew {
		edit.Key = in.Optional("key")
	}
	if err = f.CheckStored(c); err == nil {
		err = in.Submit(func() error { return edit.Check(isNew) }, func() (err error) {
			if isNew {
				_, err = r.Catalog.AddVariant(c.UserContext(), v.account(), l.ID, edit)
				return err
			}
			_, err = r.Catalog.EditVariant(c.UserContext(), v.account(), l.ID, one.ID, edit)
			return err
		})
	}
	if err != nil {
		return r.again(c, v, variantPage(v, l, one), f, err)
	}
	return r.done(c, base+"/listings/"+l.ID, "Option saved.")
}

func (r *Routes) removeVariant(c *fiber.Ctx, v *visit) error {
	at := base + "/listings/" + c.Params("id")
	_, err := r.Catalog.RemoveVariant(
		c.UserContext(), v.account(), c.Params("id"), c.Params("variant"),
	)
	return r.result(c, at, err, "Option removed.")
}
