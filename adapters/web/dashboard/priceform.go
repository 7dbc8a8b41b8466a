package dashboard

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/money"
	"sundry/core/usage"
)

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
		v.tierFields(),
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
			Hint: "For meters with dimensions: one rate per line, the values it is for, and its price or tiers with " +
				"semicolons between them. The first line that matches bills a report; the price above bills the rest.",
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
	return r.ask(c, v, pricePage(), priceForm(v, products))
}

// tierRows are the rows of a price's tiers.
var tierRows = ui.RowList{Name: "tiers", Typed: []string{"upTo", "unitAmountDecimal"}}

func (v *visit) tierFields() ui.Field {
	f := tierRows.Field("Price of a unit", "Add a tier", 0, func(i int) ui.FieldRow {
		row := ui.FieldRow{Title: v.say("Tier %d", i+1), Fields: []ui.Field{
			{Name: "upTo", Label: "Up to how many units"},
			{Name: "unitAmountDecimal", Label: "Price of each", Required: i == 0, Also: []string{"unitAmountInCents"}},
		}}
		if i == 0 {
			row.Fields[0].Placeholder, row.Fields[1].Placeholder = "1000", "0.02"
		}
		return row
	})
	f.Hint = "A single price such as 0.02 needs one row. With tiers, the last has no “up to”: it prices everything above."
	return f
}

// readTiers reads the rows of tiers. Prices are in whole units of the currency.
func readTiers(in *ui.Input, c money.Currency) (tiers []usage.TierDraft) {
	for _, row := range tierRows.Read(in) {
		tiers = append(tiers, tierDraft(in.Text(row+"upTo"), in.Text(row+"unitAmountDecimal"), c))
	}
	return tiers
}

// tierDraft makes a tier of typed texts. It has no end where upTo is empty.
func tierDraft(upTo, unit string, c money.Currency) usage.TierDraft {
	draft := usage.TierDraft{UnitAmountDecimal: new(shifted(unit, c))}
	if upTo != "" {
		draft.UpTo = new(json.Number(strings.ReplaceAll(upTo, ",", "")))
	}
	return draft
}

// parseTiers reads the tiers of a rate: "0.02", or several such as "1000: 0" and "*: 0.02".
func parseTiers(lines []string, c money.Currency) (tiers []usage.TierDraft) {
	for _, line := range lines {
		upTo, unit, tiered := strings.Cut(line, ":")
		upTo, unit = strings.TrimSpace(upTo), strings.TrimSpace(unit)
		switch {
		case !tiered:
			upTo, unit = "", strings.TrimSpace(line)
		case upTo == "*":
			upTo = ""
		}
		tiers = append(tiers, tierDraft(upTo, unit, c))
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
		Tiers:     readTiers(in, known),
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
