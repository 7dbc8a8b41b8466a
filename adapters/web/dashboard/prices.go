package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/usage"
	"sundry/ports"
)

func (r *Routes) mountPrices(at fiber.Router) {
	r.get(at, "/usage/prices", r.prices)
	r.get(at, "/usage/prices/new", r.newPrice)
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

// unitPrice is what a unit costs, in whole units of its currency.
func unitPrice(u usage.UnitAmount, c money.Currency) string {
	return shift(u.String(), -c.Exponent()) + " " + strings.ToUpper(string(c))
}

// tiersLine describes in one line what a price asks for.
func tiersLine(p usage.Price) string {
	var all []string
	for _, t := range p.Tiers {
		each := unitPrice(t.Unit, p.Currency)
		if t.Unit.String() == "0" {
			each = "free"
		}
		if !t.Unbounded {
			each += " up to " + t.UpTo.String()
		}
		all = append(all, each)
	}
	line := strings.Join(all, ", then ")
	return strings.ToUpper(line[:min(1, len(line))]) + line[min(1, len(line)):]
}

// chargesLine describes how a line came about.
func chargesLine(charges []usage.Charge, c money.Currency) string {
	var all []string
	for _, one := range charges {
		all = append(all, one.Quantity.String()+" × "+unitPrice(one.Tier.Unit, c))
	}
	return strings.Join(all, " + ")
}

func tiersPart(p usage.Price) part {
	t := table{Label: "Tiers", Heads: []head{{Label: "Units"}, {Label: "Price of each", Num: true}}}
	from := ""
	for _, tier := range p.Tiers {
		units := from + ", up to " + tier.UpTo.String()
		switch {
		case tier.Unbounded && from == "":
			units = "Every unit"
		case tier.Unbounded:
			units = from
		case from == "":
			units = "The first " + tier.UpTo.String()
		}
		t.Rows = append(t.Rows, row{[]cell{text(units), {Text: unitPrice(tier.Unit, p.Currency), Num: true}}})
		from = "Above " + tier.UpTo.String()
	}
	return tablePart("Price", t)
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
	l := &list[usage.Price]{
		path: base + "/usage/prices", name: "usage-prices",
		filters: []filter{{Name: "q", Label: "Search", Placeholder: "Product, price or ID"}},
		columns: []column[usage.Price]{
			{label: "Price", cell: func(p usage.Price) cell {
				return cell{Text: tiersLine(p), Href: base + "/usage/prices/" + p.ID, Sub: p.ID}
			}},
			{label: "Product", cell: func(p usage.Price) cell { return text(cmp.Or(names[p.ProductID], p.ProductID)) }},
			{label: "Billed every", cell: func(p usage.Price) cell { return text(string(p.Interval)) }},
			{label: "Created", cell: func(p usage.Price) cell { return v.moment(p.CreatedAt) }, csv: func(p usage.Price) string { return exact(p.CreatedAt) }},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[usage.Price], error) {
			return r.Usage.Prices(ctx, v.account(), page)
		},
		match: func(q query, p usage.Price) bool { return q.has("q", names[p.ProductID], tiersLine(p), p.ID) },
		empty: empty{Title: "What does a unit cost?", Text: "A price has tiers: for example the first thousand free, and each one above for a fraction of a cent.",
			Action: &action{Label: "Create a price", Href: base + "/usage/prices/new", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Nav: base + "/usage", Title: "Prices", Lead: "What a unit costs, tier by tier. A price never changes; make another one instead.", Up: usageUp(),
		Actions: []action{link("Products", base+"/usage/products"), link("New price", base+"/usage/prices/new").primary()}})
}

// newProduct is the option that makes a product with the price.
const newProduct = "new"

func priceForm(v *visit, products []usage.Product) form {
	options := []option{{Value: newProduct, Label: "A new product"}}
	for n, p := range products {
		options = append(options, option{Value: p.ID, Label: p.Name, Selected: n == 0})
	}
	f := v.form("price", base+"/usage/prices/new", "Create price",
		field{Name: "productId", Label: "Product", Type: "select", Options: options, Half: true, Hint: "What the price is for."},
		field{Name: "name", Label: "Name of a new product", Placeholder: "API calls", Half: true},
		field{Name: "tiers", Label: "Price of a unit", Type: "textarea", Rows: 4, Mono: true, Required: true, Placeholder: "1000: 0\n*: 0.02",
			Hint: "A single price such as 0.02, or one tier per line: up to how many units, and what each costs. The last line begins with *. Here the first 1,000 are free."},
		field{Name: "currency", Label: "Currency", Type: "select", Options: currencies("eur"), Half: true},
		field{Name: "recurring.interval", Label: "Billed every", Type: "select", Half: true, Options: choices("month", "day", "day", "week", "week", "month", "month", "year", "year")})
	f.Cancel = base + "/usage/prices"
	return f
}

func pricePage() page {
	return page{Nav: base + "/usage", Title: "New price", Up: &action{Label: "Prices", Href: base + "/usage/prices"}}
}

func (r *Routes) newPrice(c *fiber.Ctx, v *visit) error {
	_, products, err := r.productNames(c.UserContext(), v)
	if err != nil {
		return err
	}
	p := pricePage()
	p.Parts = []part{formPart(priceForm(v, products))}
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

// shifted is a price in minor units; what is no number stays, for the use case to refuse.
func shifted(text string, c money.Currency) string {
	if text == "" || strings.Trim(text, "0123456789.") != "" || strings.Count(text, ".") > 1 {
		return text
	}
	return shift(text, c.Exponent())
}

// createPrice makes the product too when it is new, once nothing is wrong with the price.
func (r *Routes) createPrice(c *fiber.Ctx, v *visit) error {
	ctx, in := c.UserContext(), read(c)
	currency := in.text("currency")
	known, _ := money.ParseCurrency(currency) // the draft refuses what is none
	draft := usage.PriceDraft{
		ProductID: in.text("productId"), BillingScheme: "usage_based", Currency: currency, Tiers: parseTiers(in.lines("tiers"), known),
		Recurring: &usage.RecurringDraft{Interval: in.text("recurring.interval")},
	}
	product, isNew := usage.ProductDraft{Name: in.text("name"), Type: "SERVICE"}, draft.ProductID == newProduct
	_, invalid := draft.Parse()
	err := in.f.Merge(invalid)
	if isNew && err == nil {
		_, invalid = product.Parse()
		err = in.f.Merge(invalid)
	}
	if err == nil {
		err = in.err()
	}
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
		return r.again(c, v, pricePage(), priceForm(v, products), cmp.Or(readErr, inWords(err)))
	}
	return r.done(c, base+"/usage/prices/"+price.ID, "The price is ready. Next, create a billing plan for a subscription.")
}

// inWords puts what the API reports of tiers in the words of the form.
func inWords(err error) error {
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	worded := *refusal
	worded.Details = nil
	for _, d := range refusal.Details {
		if strings.HasSuffix(d.Field, ".upTo") || strings.HasSuffix(d.Field, ".unitAmountDecimal") {
			d.Message = strings.NewReplacer("(upTo null)", "(*)", "number of minor units, such as 0.35", "number, such as 0.02").Replace(d.Message)
		}
		worded.Details = append(worded.Details, d)
	}
	return &worded
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
	return r.send(c, v, page{
		Nav: base + "/usage", Title: product.Name, Lead: "Billed every " + string(price.Interval) + ".", Up: &action{Label: "Prices", Href: base + "/usage/prices"},
		Actions: []action{link("New billing plan", base+"/usage/plans/new").primary()}, Parts: []part{tiersPart(price)},
		Aside: []part{facts("Details", fact{"ID", copied(price.ID)}, fact{"Product", copied(product.ID)}, fact{"Created", v.moment(price.CreatedAt)})},
	})
}

func (r *Routes) products(c *fiber.Ctx, v *visit) error {
	l := &list[usage.Product]{
		path: base + "/usage/products", name: "usage-products",
		filters: []filter{{Name: "q", Label: "Search", Placeholder: "Name or ID"}},
		columns: []column[usage.Product]{
			{label: "Product", cell: func(p usage.Product) cell { return text(p.Name) }}, {label: "ID", cell: func(p usage.Product) cell { return copied(p.ID) }},
			{label: "Created", cell: func(p usage.Product) cell { return v.moment(p.CreatedAt) }, csv: func(p usage.Product) string { return exact(p.CreatedAt) }},
		},
		read: func(ctx context.Context, _ query, page ports.Page) (ports.List[usage.Product], error) {
			return r.Usage.Products(ctx, v.account(), page)
		},
		match: func(q query, p usage.Product) bool { return q.has("q", p.Name, p.ID) },
		empty: empty{Title: "No products", Text: "A product is what usage prices are for. Create one with its first price.", Action: &action{Label: "Create a price", Href: base + "/usage/prices/new", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Nav: base + "/usage", Title: "Products", Lead: "What usage prices are for.", Up: &action{Label: "Prices", Href: base + "/usage/prices"}})
}
