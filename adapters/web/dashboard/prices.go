package dashboard

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/money"
	"sundry/core/usage"
	"sundry/ports"
)

func (r *Routes) mountPrices(at fiber.Router) {
	r.get(at, "/usage/prices", r.prices)
	r.form(at, "/usage/prices/new", r.newPrice)
	r.post(at, "/usage/prices/new", r.createPrice)
	r.get(at, "/usage/prices/:id", r.usagePrice)
	r.get(at, "/usage/products", r.products)
}

// shift moves the point of a decimal number to the right, or to the left when places is negative.
func shift(text string, places int) string {
	whole, decimals, _ := strings.Cut(text, ".")
	for ; places > 0; places-- {
		next := "0"
		if decimals != "" {
			next, decimals = decimals[:1], decimals[1:]
		}
		whole += next
	}
	for ; places < 0; places++ {
		if whole == "" {
			whole = "0"
		}
		decimals, whole = whole[len(whole)-1:]+decimals, whole[:len(whole)-1]
	}
	whole, decimals = strings.TrimLeft(whole, "0"), strings.TrimRight(decimals, "0")
	if decimals == "" {
		return cmp.Or(whole, "0")
	}
	return cmp.Or(whole, "0") + "." + decimals
}

// unitPrice returns the price of a unit, in whole units of its currency.
func unitPrice(u usage.UnitAmount, c money.Currency) string {
	return shift(u.String(), -c.Exponent()) + " " + strings.ToUpper(string(c))
}

// tiersLine describes a price in one line.
func (v *visit) tiersLine(p usage.Price) string {
	all := []string{v.tiersIn(p, p.Tiers)}
	if p.MinimumMinor > 0 {
		all[0] = v.text("%s, at least %s", all[0], minimumOf(p))
	}
	for _, r := range p.Rates {
		all = append(all, usage.Describe(r.When)+": "+v.tiersIn(p, r.Tiers))
	}
	line := strings.Join(all, "; ")
	return capitalized(line)
}

// tiersIn describes tiers of a price, its own or those of a rate, in one line.
func (v *visit) tiersIn(p usage.Price, tiers usage.Tiers) string {
	var all []string
	for _, t := range tiers {
		each := unitPrice(t.Unit, p.Currency)
		if t.Unit.String() == "0" {
			each = v.text("free")
		}
		if !t.Unbounded {
			each = v.text("%s up to %s", each, t.UpTo.String())
		}
		all = append(all, each)
	}
	line := strings.Join(all, v.text(", then "))
	if p.TiersMode == usage.Package {
		line = v.text("%s per package of %d, every package begun", line, p.PackageSize)
	}
	if p.TiersMode == usage.Volume && len(tiers) > 1 {
		line = v.text("all units: %s", line)
	}
	return line
}

// minimumOf is the least that a period costs, in whole units of the currency.
func minimumOf(p usage.Price) string { return majorAmount(p.MinimumMinor, p.Currency) }

func majorAmount(minor int64, c money.Currency) string {
	return shift(strconv.FormatInt(minor, 10), -c.Exponent()) + " " + strings.ToUpper(string(c))
}

// chargesLine describes how a line came about.
func chargesLine(charges []usage.Charge, c money.Currency) string {
	var all []string
	for _, one := range charges {
		all = append(all, one.Counted()+" × "+unitPrice(one.Tier.Unit, c))
	}
	return strings.Join(all, " + ")
}

// pricePartsOf shows the tiers of a price, and before them those of its rates.
func (v *visit) pricePartsOf(p usage.Price) (parts []ui.Part) {
	for _, r := range p.Rates {
		parts = append(parts, v.tiersPart(v.say("Price of %s", usage.Describe(r.When)), p, r.Tiers))
	}
	title := ui.Words("Price")
	if len(p.Rates) > 0 {
		title = "Price of all other use"
	}
	return append(parts, v.tiersPart(title, p, p.Tiers))
}

func (v *visit) tiersPart(title ui.Words, p usage.Price, tiers usage.Tiers) ui.Part {
	if p.TiersMode == usage.Package {
		return ui.Facts(title,
			ui.Fact{Label: "Units in a package", Value: ui.Text(strconv.FormatInt(p.PackageSize, 10))},
			ui.Fact{Label: "Price of each package begun", Value: ui.Text(unitPrice(tiers[0].Unit, p.Currency))},
		)
	}
	t := ui.Table{Label: "Tiers", Heads: []ui.Head{{Label: "Units"}, {Label: "Price of each", Num: true}}}
	from := ""
	for _, tier := range tiers {
		units := v.say("Above %s, up to %s", from, tier.UpTo.String())
		switch {
		case tier.Unbounded && from == "":
			units = "Every unit"
		case tier.Unbounded:
			units = v.say("Above %s", from)
		case from == "":
			units = v.say("The first %s", tier.UpTo.String())
		}
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			ui.Label(units),
			ui.Number(unitPrice(tier.Unit, p.Currency)),
		}})
		from = tier.UpTo.String()
	}
	return ui.TablePart(title, t)
}

// productNames are the names of the account's newest products by id.
func (r *Routes) productNames(ctx context.Context, v *visit) (map[string]string, []usage.Product, error) {
	products, err := r.Usage.Products(ctx, v.account(), ports.Page{Limit: maxChoices})
	names := map[string]string{}
	for _, p := range products.Items {
		names[p.ID] = p.Name
	}
	return names, products.Items, err
}

func (r *Routes) prices(c *fiber.Ctx, v *visit) error {
	names, _, err := r.productNames(c.UserContext(), v)
	if err != nil {
		return err
	}
	l := &ui.List[usage.Price]{
		Path: base + "/usage/prices", FileName: "usage-prices",
		Filters: []ui.Filter{{Name: "q", Label: "Search", Placeholder: "Product, price or ID"}},
		Columns: []ui.Column[usage.Price]{
			{Label: "Price", Cell: func(p usage.Price) ui.Cell {
				return ui.Cell{Text: ui.Data(v.tiersLine(p)), Href: base + "/usage/prices/" + p.ID, Sub: ui.Data(p.ID)}
			}},
			{
				Label: "Product",
				Cell:  func(p usage.Price) ui.Cell { return ui.Text(cmp.Or(names[p.ProductID], p.ProductID)) },
			},
			{
				Label: "Billed every",
				Cell:  func(p usage.Price) ui.Cell { return ui.Label(intervals[string(p.Interval)]) },
			},
			timeColumn(v, "Created", "", func(p usage.Price) time.Time { return p.CreatedAt }),
		},
		Read: func(ctx context.Context, _ ui.Query, page ports.Page) (ports.List[usage.Price], error) {
			return r.Usage.Prices(ctx, v.account(), page)
		},
		Match: func(q ui.Query, p usage.Price) bool { return q.Has("q", names[p.ProductID], v.tiersLine(p), p.ID) },
		Empty: ui.Empty{
			Title:  "What does a unit cost?",
			Text:   "A price has tiers: for example the first thousand free, and each one above for a fraction of a cent.",
			Action: &ui.Action{Label: "Create a price", Href: base + "/usage/prices/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Nav: base + "/usage", Title: "Prices",
		Lead: "What a unit costs, tier by tier. A price never changes; make another one instead.", Up: usageUp(),
		Actions: []ui.Action{
			ui.Link("Products", base+"/usage/products"), ui.Link("New price", base+"/usage/prices/new").Primary(),
		},
	})
}

func (r *Routes) usagePrice(c *fiber.Ctx, v *visit) error {
	price, err := r.Usage.Price(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	product, err := r.Usage.Product(c.UserContext(), v.account(), price.ProductID)
	if err != nil {
		return err
	}
	facts := []ui.Fact{
		{Label: "ID", Value: ui.Copyable(price.ID)},
		{Label: "Product", Value: ui.Copyable(product.ID)},
		{Label: "Created", Value: v.moment(price.CreatedAt)},
	}
	if price.MinimumMinor > 0 {
		facts = append([]ui.Fact{{Label: "Minimum of a period", Value: ui.Text(minimumOf(price))}}, facts...)
	}
	return r.send(c, v, ui.Page{
		Nav: base + "/usage", Title: ui.Data(product.Name),
		Lead:    v.say("Billed every %s.", intervals[string(price.Interval)]),
		Up:      &ui.Action{Label: "Prices", Href: base + "/usage/prices"},
		Actions: []ui.Action{ui.Link("New billing plan", base+"/usage/plans/new").Primary()},
		Parts:   v.pricePartsOf(price),
		Aside:   []ui.Part{ui.Facts("Details", facts...)},
	})
}

func (r *Routes) products(c *fiber.Ctx, v *visit) error {
	l := &ui.List[usage.Product]{
		Path: base + "/usage/products", FileName: "usage-products",
		Filters: []ui.Filter{{Name: "q", Label: "Search", Placeholder: "Name or ID"}},
		Columns: []ui.Column[usage.Product]{
			{Label: "Product", Cell: func(p usage.Product) ui.Cell { return ui.Text(p.Name) }},
			{Label: "ID", Cell: func(p usage.Product) ui.Cell { return ui.Copyable(p.ID) }},
			timeColumn(v, "Created", "", func(p usage.Product) time.Time { return p.CreatedAt }),
		},
		Read: func(ctx context.Context, _ ui.Query, page ports.Page) (ports.List[usage.Product], error) {
			return r.Usage.Products(ctx, v.account(), page)
		},
		Match: func(q ui.Query, p usage.Product) bool { return q.Has("q", p.Name, p.ID) },
		Empty: ui.Empty{
			Title: "No products", Text: "A product is what usage prices are for. Create one with its first price.",
			Action: &ui.Action{Label: "Create a price", Href: base + "/usage/prices/new", Tone: "primary"},
		},
	}
	return show(r, c, v, l, ui.Page{
		Nav: base + "/usage", Title: "Products", Lead: "What usage prices are for.",
		Up: &ui.Action{Label: "Prices", Href: base + "/usage/prices"},
	})
}
