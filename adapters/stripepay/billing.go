package stripepay

import (
	"context"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/customer"
	"sundry/core/imports"
	"sundry/core/money"
	"sundry/core/paymentmethod"
	"sundry/core/period"
	"sundry/core/tax"
	"sundry/ports"
)

var _ ports.BillingSource = (*Processor)(nil)

// goesOnAs is the pair of a subscription's metadata that names what it goes on here as.
const goesOnAs = "sundry_subscription_id"

// pageAfter are the parameters of one page of a list.
func pageAfter(ctx context.Context, after string) stripe.ListParams {
	p := stripe.ListParams{Context: ctx, Limit: stripe.Int64(100), Single: true}
	if after != "" {
		p.StartingAfter = new(after)
	}
	return p
}

// pages reads any of the library's lists.
type pages interface {
	Next() bool
	Err() error
	Meta() *stripe.ListMeta
}

// readPage reads one page, whose items take returns one by one.
func readPage[T any](what string, list pages, take func() (item T, id string, err error)) (ports.SourcePage[T], error) {
	var page ports.SourcePage[T]
	last := ""
	for list.Next() {
		item, id, err := take()
		if err != nil {
			return page, err
		}
		page.Items, last = append(page.Items, item), id
	}
	if err := list.Err(); err != nil {
		return page, failed("list "+what, err)
	}
	if list.Meta().HasMore {
		page.Next = last
	}
	return page, nil
}

// ListProducts implements ports.BillingSource.
func (p *Processor) ListProducts(ctx context.Context, after string) (ports.SourcePage[imports.Product], error) {
	list := p.api.Products.List(&stripe.ProductListParams{ListParams: pageAfter(ctx, after)})
	return readPage("products", list, func() (imports.Product, string, error) {
		one := list.Product()
		prices, behavior, err := p.pricesOf(ctx, one.ID)
		return imports.Product{
			ID: one.ID, Name: one.Name, Description: one.Description, Active: one.Active, Prices: prices,
			TaxBehavior: behavior,
		}, one.ID, err
	})
}

// pricesOf lists every price of a product, the oldest first. Tax is added to them where it is to each.
func (p *Processor) pricesOf(ctx context.Context, productID string) (all []imports.Price, b tax.Behavior, err error) {
	params := &stripe.PriceListParams{ListParams: listing(ctx), Product: new(productID)}
	params.AddExpand("data.currency_options")
	list := p.api.Prices.List(params)
	b = tax.Exclusive
	for list.Next() {
		one := list.Price()
		if one.TaxBehavior != stripe.PriceTaxBehaviorExclusive {
			b = tax.Inclusive
		}
		all = append([]imports.Price{priceOf(one)}, all...)
	}
	if err := list.Err(); err != nil {
		return nil, b, failed("list prices", err)
	}
	return all, b, nil
}

func priceOf(one *stripe.Price) imports.Price {
	price := imports.Price{ID: one.ID, Name: one.Nickname, Active: one.Active, Obstacle: obstacleOf(one)}
	if one.Recurring != nil {
		price.Interval = period.Interval(one.Recurring.Interval)
		price.IntervalCount = int(one.Recurring.IntervalCount)
	}
	price.Amounts = []money.Amount{amountOf(one.UnitAmount, one.Currency)}
	for currency, option := range one.CurrencyOptions {
		whole := option.UnitAmountDecimal == float64(option.UnitAmount) && option.CustomUnitAmount == nil
		if currency != string(one.Currency) && len(option.Tiers) == 0 && whole {
			price.Amounts = append(price.Amounts, amountOf(option.UnitAmount, stripe.Currency(currency)))
		}
	}
	return price
}

// obstacleOf says why a price cannot be carried over; "" when it can.
func obstacleOf(one *stripe.Price) string {
	switch {
	case one.Recurring != nil && one.Recurring.UsageType == stripe.PriceRecurringUsageTypeMetered:
		return "It is metered. Make a usage price of it."
	case one.BillingScheme == stripe.PriceBillingSchemeTiered:
		return "It has tiers, which only usage prices have here."
	case one.TransformQuantity != nil:
		return "It is per package of a quantity, which only usage prices are here."
	case one.CustomUnitAmount != nil:
		return "The buyer chooses the amount."
	case one.UnitAmountDecimal != float64(one.UnitAmount):
		return "It has a fraction of a minor unit."
	}
	return ""
}

// ListCustomers implements ports.BillingSource.
func (p *Processor) ListCustomers(ctx context.Context, after string) (ports.SourcePage[imports.Customer], error) {
	params := &stripe.CustomerListParams{ListParams: pageAfter(ctx, after)}
	for _, part := range []string{"invoice_settings.default_payment_method", "default_source", "tax_ids"} {
		params.AddExpand("data." + part)
	}
	list := p.api.Customers.List(params)
	return readPage("customers", list, func() (imports.Customer, string, error) {
		one := list.Customer()
		return customerOf(one), one.ID, nil
	})
}

func customerOf(one *stripe.Customer) imports.Customer {
	c := imports.Customer{ID: one.ID, Email: one.Email, Name: one.Name, Metadata: one.Metadata}
	if a := one.Address; a != nil && *a != (stripe.Address{}) {
		c.Address = customer.Address{
			Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: a.Country,
		}
	}
	if one.TaxIDs != nil && len(one.TaxIDs.Data) > 0 {
		c.TaxID = one.TaxIDs.Data[0].Value
	}
	if s := one.InvoiceSettings; s != nil && s.DefaultPaymentMethod != nil {
		c.Card = savedCardOf(one.ID, s.DefaultPaymentMethod)
	} else if one.DefaultSource != nil {
		c.Card = savedSourceOf(one.ID, one.DefaultSource)
	}
	return c
}

// savedCardOf is a payment method as a saved card: our token names Stripe's customer and payment method.
func savedCardOf(customerID string, m *stripe.PaymentMethod) *imports.Card {
	if m.Card == nil {
		return &imports.Card{ID: m.ID, Obstacle: "It is no card but " + string(m.Type) + "."}
	}
	return &imports.Card{ID: m.ID, SavedAt: time.Unix(m.Created, 0).UTC(), Card: paymentmethod.Card{
		Provider: Name, Token: customerID + methodSeparator + m.ID, Brand: string(m.Card.Brand), Last4: m.Card.Last4,
		ExpMonth: int(m.Card.ExpMonth), ExpYear: int(m.Card.ExpYear), Country: m.Card.Country,
	}}
}

// savedSourceOf is a source, which is older than payment methods, as a saved card: Stripe charges its cards as one.
func savedSourceOf(customerID string, source *stripe.PaymentSource) *imports.Card {
	if source.Card == nil {
		return &imports.Card{ID: source.ID, Obstacle: "It is no card but " + string(source.Type) + "."}
	}
	return &imports.Card{ID: source.ID, Card: paymentmethod.Card{
		Provider: Name, Token: customerID + methodSeparator + source.ID, Last4: source.Card.Last4,
		Brand:    strings.ToLower(string(source.Card.Brand)),
		ExpMonth: int(source.Card.ExpMonth), ExpYear: int(source.Card.ExpYear), Country: source.Card.Country,
	}}
}

// EndSubscription implements ports.BillingSource.
func (p *Processor) EndSubscription(ctx context.Context, id, as string) error {
	params := &stripe.SubscriptionParams{
		Params: keyed(ctx, as+":end"), CancelAtPeriodEnd: new(true),
		ProrationBehavior: new("none"),
	}
	params.AddMetadata(goesOnAs, as)
	_, err := call(ctx, "end "+id, func() (*stripe.Subscription, error) { return p.api.Subscriptions.Update(id, params) })
	return err
}
