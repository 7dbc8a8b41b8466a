package dashboard

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"sundry/core/discount"
	"sundry/ports"
)

func (r *Routes) mountDiscounts(at fiber.Router) {
	r.get(at, "/discounts", r.discounts)
	r.get(at, "/discounts/new", r.newDiscount)
	r.post(at, "/discounts/new", r.createDiscount)
	r.post(at, "/discounts/:id/delete", r.deleteDiscount)
}

func (v *visit) discountValue(d discount.State) string {
	value := fmt.Sprintf("%d%% off", d.PercentOff)
	if d.PercentOff == 0 {
		value = v.reader.Money(d.AmountOff) + " off"
	}
	switch d.Duration {
	case discount.Repeating:
		return fmt.Sprintf("%s for %d months", value, d.DurationInMonths)
	case discount.Forever:
		return value + " for ever"
	default:
		return value + " once"
	}
}

func redemptions(d discount.State) string {
	if d.MaxRedemptions == 0 {
		return fmt.Sprint(d.Redeemed)
	}
	return fmt.Sprintf("%d of %d", d.Redeemed, d.MaxRedemptions)
}

func (r *Routes) discounts(c *fiber.Ctx, v *visit) error {
	l := &list[discount.State]{
		path: base + "/discounts", name: "discounts",
		filters: []filter{
			{Name: "duration", Label: "Duration", Options: choices("", "", "Any duration", "once", "Once", "repeating", "Some months", "forever", "For ever")}, {Name: "q", Label: "Search", Placeholder: "Code"},
		},
		columns: []column[discount.State]{
			{label: "Code", cell: func(d discount.State) cell { return copied(d.Code) }},
			{label: "Takes off", cell: func(d discount.State) cell { return text(v.discountValue(d)) }},
			{label: "Used", num: true, cell: func(d discount.State) cell { return text(redemptions(d)) }},
			{label: "Good for", cell: func(d discount.State) cell {
				if len(d.ListingIDs) == 0 {
					return text("Everything")
				}
				return text(plural(len(d.ListingIDs), "listing", "listings"))
			}},
			{label: "Expires", cell: func(d discount.State) cell { return v.moment(d.ExpiresAt) }, csv: func(d discount.State) string { return exact(d.ExpiresAt) }},
			{cell: func(d discount.State) cell {
				return cell{Actions: []action{v.button("Delete", base+"/discounts/"+d.ID+"/delete").asking("Nobody can use the code any more. What it took off before stays.")}}
			}},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[discount.State], error) {
			return r.Catalog.Discounts(ctx, v.account(), page)
		},
		match: func(q query, d discount.State) bool {
			return q.is("duration", string(d.Duration)) && q.has("q", d.Code, d.ID)
		},
		empty: empty{Title: "No discount codes", Text: "A code takes something off at the checkout. Put it into a link with ?discount_code=…",
			Action: &action{Label: "Create a code", Href: base + "/discounts/new", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Title: "Discounts", Lead: "Codes that buyers type at the checkout.", Actions: []action{link("New code", base+"/discounts/new").primary()}})
}

// discountForm asks for everything about a code.
func (r *Routes) discountForm(c *fiber.Ctx, v *visit) (form, error) {
	found, err := r.Catalog.OwnListings(c.UserContext(), v.account(), ports.Page{Limit: 100})
	if err != nil {
		return form{}, err
	}
	options := []option{{Label: "Everything"}}
	for _, l := range found.Items {
		options = append(options, option{Value: l.ID, Label: l.Title})
	}
	f := v.form("discount", base+"/discounts/new", "Create code",
		field{Name: "code", Label: "Code", Required: true, Mono: true, Half: true, Placeholder: "SPRING", Hint: "Upper and lower case are the same."},
		field{Name: "listing", Label: "Good for", Type: "select", Options: options, Half: true, Also: []string{"listingIds"}},
		field{Name: "percentOff", Label: "Percent off", Half: true, Suffix: "%", Hint: "Or an amount."},
		field{Name: "amount", Label: "Amount off", Half: true, Also: []string{"amountOffInCents"}},
		field{Name: "currency", Label: "Currency of the amount", Type: "select", Half: true, Options: currencies("eur")},
		field{Name: "duration", Label: "For subscriptions", Type: "select", Half: true, Options: choices("", "once", "The first payment", "repeating", "Some months", "forever", "Every payment")},
		field{Name: "durationInMonths", Label: "Months", Half: true, Hint: "With “Some months”."},
		field{Name: "maxRedemptions", Label: "Can be used", Half: true, Suffix: "times", Hint: "Empty: no limit."},
		field{Name: "expiresAt", Label: "Until", Type: "date", Half: true, Hint: "Empty: it doesn’t expire."})
	f.Cancel = base + "/discounts"
	return f, nil
}

func discountPage() page {
	return page{Nav: base + "/discounts", Title: "New discount code", Up: &action{Label: "Discounts", Href: base + "/discounts"}}
}

func (r *Routes) newDiscount(c *fiber.Ctx, v *visit) error {
	f, err := r.discountForm(c, v)
	if err != nil {
		return err
	}
	p := discountPage()
	p.Parts = []part{formPart(f)}
	return r.send(c, v, p)
}

func (r *Routes) createDiscount(c *fiber.Ctx, v *visit) error {
	in := read(c)
	d := discount.Draft{
		Code: in.text("code"), PercentOff: in.number("percentOff", "percentOff"), Duration: in.text("duration"), DurationInMonths: in.number("durationInMonths", "durationInMonths"),
		MaxRedemptions: in.number("maxRedemptions", "maxRedemptions"), ExpiresAt: in.day("expiresAt", "expiresAt"),
	}
	if d.AmountOffInCents = in.amount("amount", "amountOffInCents", in.text("currency")); d.AmountOffInCents != nil {
		d.Currency = in.text("currency")
	}
	if id := in.text("listing"); id != "" {
		d.ListingIDs = []string{id}
	}
	err := in.err()
	if err == nil {
		_, err = r.Catalog.CreateDiscount(c.UserContext(), v.account(), d)
	}
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
	if _, err := r.Catalog.DeleteDiscount(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, base+"/discounts", err)
	}
	return r.done(c, base+"/discounts", "The code is deleted.")
}
