package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"

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
			{
				Label: "Created", Cell: func(p usage.Price) ui.Cell { return v.moment(p.CreatedAt) },
				CSV: func(p usage.Price) string { return ui.ExactTime(p.CreatedAt) },
			},
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

// newProduct is the option that makes a product with the price.
const newProduct = "new"

func priceForm(v *visit, products []usage.Product) ui.Form {
	options := []ui.Option{{Value: newProduct, Label: "A new product"}}
	for n, p := range products {
		options = append(options, ui.Option{Value: p.ID, Label: ui.Data(p.Name), Selected: n == 0})
	}
	f := v.form("price", base+"/usage/prices/new", "Create price",
		ui.Field{
			Name: "productId", Label: "Product", Type: "select", Options: options, Half: true,
			Hint: "What the price is for.",
		},
		ui.Field{Name: "name", Label: "Name of a new product", Placeholder: "API calls", Half: true},
		ui.Field{
			Name: "tiers", Label: "Price of a unit", Type: "textarea", Rows: 4, Mono: true, Required: true,
			Placeholder: "1000: 0\n*: 0.02",
			Hint:        "A single price such as 0.02, or one tier per line: up to how many units, and what each costs. The last line begins with *. Here the first 1,000 are free.",
		},
		ui.Field{
			Name: "tiersMode", Label: "Tiers", Type: "select",
			Options: ui.Choices("", string(usage.Graduated), "Each unit at the price of its own tier",
				string(usage.Volume), "All units at the price of the tier that is reached",
				string(usage.Package), "Every package begun at a single price"),
		},
		ui.Field{
			Name: "packageSize", Label: "Units in a package", Type: "number", Placeholder: "1000",
			Hint: "For prices by package only. With 1000 the price above is of a package, and 1,001 units are two.",
		},
		ui.Field{
			Name: "minimumAmountInCents", Label: "Minimum of a period", Placeholder: "10.00",
			Hint: "What a period costs at least, whatever was used. Leave it empty for none.",
		},
		ui.Field{
			Name: "rates", Label: "Prices by dimension", Type: "textarea", Rows: 3, Mono: true,
			Placeholder: "model=large: 0.10\nmodel=small, region=eu: 1000: 0; *: 0.02",
			Hint:        "For meters with dimensions: one rate per line, the values it is for, and its price or tiers with semicolons between them. The first line that matches bills a report; the price above bills the rest.",
		},
		ui.Field{Name: "currency", Label: "Currency", Type: "select", Options: ui.Currencies("eur"), Half: true},
		ui.Field{
			Name: "recurring.interval", Label: "Billed every", Type: "select", Half: true,
			Options: ui.Choices("month", "day", "day", "week", "week", "month", "month", "year", "year"),
		})
	f.Cancel = base + "/usage/prices"
	return f
}

func pricePage() ui.Page {
	return ui.Page{
		Nav: base + "/usage", Title: "New price", Up: &ui.Action{Label: "Prices", Href: base + "/usage/prices"},
	}
}

func (r *Routes) newPrice(c *fiber.Ctx, v *visit) error {
	_, products, err := r.productNames(c.UserContext(), v)
	if err != nil {
		return err
	}
	p := pricePage()
	p.Parts = []ui.Part{ui.FormPart(priceForm(v, products))}
	return r.send(c, v, p)
}

// parseTiers reads "0.02", or lines such as "1000: 0" and "*: 0.02". Prices are in whole units of the currency.
func parseTiers(lines []string, c money.Currency) (tiers []usage.TierDraft) {
	for _, line := range lines {
		upTo, unit, tiered := strings.Cut(line, ":")
		if !tiered {
			upTo, unit = "*", line
		}
		draft := usage.TierDraft{UnitAmountDecimal: new(shifted(strings.TrimSpace(unit), c))}
		if limit := strings.ReplaceAll(strings.TrimSpace(upTo), ",", ""); limit != "*" {
			draft.UpTo = new(json.Number(limit))
		}
		tiers = append(tiers, draft)
	}
	return tiers
}

// parseRates reads lines such as "model=large, region=eu: 0.10", with tiers after the colon as parseTiers reads them
// and semicolons between them.
func parseRates(lines []string, c money.Currency) (rates []usage.RateDraft) {
	for _, line := range lines {
		values, tiers, _ := strings.Cut(line, ": ")
		rate := usage.RateDraft{When: map[string]string{}}
		for pair := range strings.SplitSeq(values, ",") {
			dimension, value, _ := strings.Cut(pair, "=")
			rate.When[strings.TrimSpace(dimension)] = strings.TrimSpace(value)
		}
		if tiers = strings.TrimSpace(tiers); tiers != "" {
			rate.Tiers = parseTiers(strings.Split(tiers, ";"), c)
		}
		rates = append(rates, rate)
	}
	return rates
}

// shifted converts a price to minor units. A text that is no number is returned unchanged, for the use case to
// refuse.
func shifted(text string, c money.Currency) string {
	if text == "" || strings.Trim(text, "0123456789.") != "" || strings.Count(text, ".") > 1 {
		return text
	}
	return shift(text, c.Exponent())
}

// createPrice makes the product too when it is new, once nothing is wrong with the price.
func (r *Routes) createPrice(c *fiber.Ctx, v *visit) error {
	ctx, in := c.UserContext(), ui.ReadInput(c)
	currency := in.Text("currency")
	known, _ := money.ParseCurrency(currency) // the draft refuses what is none
	draft := usage.PriceDraft{
		ProductID: in.Text("productId"), BillingScheme: "usage_based", Currency: currency,
		Tiers:     parseTiers(in.Lines("tiers"), known),
		Rates:     parseRates(in.Lines("rates"), known),
		Recurring: &usage.RecurringDraft{Interval: in.Text("recurring.interval")},
	}
	if mode := in.Text("tiersMode"); mode != "" {
		draft.TiersMode = &mode
	}
	if size := in.Number("packageSize", "packageSize"); size != nil {
		draft.PackageSize = new(int64(*size))
	}
	draft.Minimum = in.Amount("minimumAmountInCents", "minimumAmountInCents", currency)
	product, isNew := usage.ProductDraft{Name: in.Text("name"), Type: "SERVICE"}, draft.ProductID == newProduct
	_, invalid := draft.Parse()
	err := in.Faults.Merge(invalid)
	if isNew && err == nil {
		_, invalid = product.Parse()
		err = in.Faults.Merge(invalid)
	}
	err = cmp.Or(err, in.Err())
	if isNew && err == nil {
		var made usage.Product
		made, err = r.Usage.CreateProduct(ctx, v.account(), product)
		draft.ProductID = made.ID
	}
	var price usage.Price
	if err == nil {
		price, err = r.Usage.CreatePrice(ctx, v.account(), draft)
	}
	if err != nil {
		_, products, readErr := r.productNames(ctx, v)
		return r.again(c, v, pricePage(), priceForm(v, products), cmp.Or(readErr, err))
	}
	return r.done(
		c, base+"/usage/prices/"+price.ID, "The price is ready. Next, create a billing plan for a subscription.",
	)
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
			{
				Label: "Created", Cell: func(p usage.Product) ui.Cell { return v.moment(p.CreatedAt) },
				CSV: func(p usage.Product) string { return ui.ExactTime(p.CreatedAt) },
			},
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
