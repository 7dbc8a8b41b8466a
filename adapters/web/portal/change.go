package portal

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/locale"
	"sundry/core/subscription"
	"sundry/modules/customers"
)

type choice struct {
	Plan, Interval, Label string
	Quantity              int // 0 leaves it as it is
}

type quoteView struct {
	ID, Plan, Interval, Name string
	// Quantity is the new quantity; 0 for a change that keeps it.
	Quantity    int
	Lines       []line
	Due, Credit string
	Tax         string // in the amount due; "" for none
	Free        bool
}

// askChange lists the plans to change to, or what changing to the chosen one costs.
func (r *Routes) askChange(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.own(c, v)
	if err != nil {
		return err
	}
	reader, p := layout.Reader(c), r.newPage(c, v)
	p.Plan = newPlanView(reader, s)
	if chosen := c.Query("plan"); chosen != "" {
		return r.showQuote(c, s, p, choice{Plan: chosen, Interval: c.Query("interval")})
	}
	if seats := quantityOf(c.Query("quantity")); seats > 0 && p.Plan.Seats > 0 {
		return r.showQuote(c, s, p, choice{Quantity: seats})
	}
	if p.Choices, err = r.choices(c.UserContext(), reader, s); err != nil {
		return refused(c, err)
	}
	return r.send(c, "portal_change.html", "portal.change.title", p)
}

// choices are the plans that a subscription can be changed to.
func (r *Routes) choices(ctx context.Context, reader locale.Locale, s subscription.State) (all []choice, err error) {
	recipe, err := r.Catalog.RecipeOf(ctx, s.CreatorID, s.Offer.ListingID)
	for _, plan := range recipe.Plans {
		for _, price := range plan.Prices {
			if price.Interval == "" || price.ID == s.Offer.PriceID || price.Amount.Currency != s.Offer.Price.Currency {
				continue
			}
			all = append(all, choice{
				Plan: plan.Key, Interval: string(price.Every()),
				Label: plan.Name + ", " + reader.Money(price.Amount) + " " + reader.Interval(
					string(price.Interval), price.IntervalCount,
				),
			})
		}
	}
	return all, err
}

func (r *Routes) showQuote(c *fiber.Ctx, s subscription.State, p page, to choice) error {
	reader := layout.Reader(c)
	quote, err := r.Subscriptions.Preview(c.UserContext(), s.CreatorID, s.ID, wish(to))
	if err != nil {
		return refused(c, err)
	}
	due, err := quote.Sale.Total()
	if err != nil {
		return err
	}
	p.Quote = &quoteView{
		ID: quote.ID, Plan: to.Plan, Interval: to.Interval, Quantity: to.Quantity, Name: quote.Bill.Offer.Name(),
		Due:  reader.Money(due),
		Free: due.Minor == 0,
	}
	p.Quote.Tax = taxLine(reader, quote.Sale)
	if quote.Bill.CreditAfter.Minor > 0 {
		p.Quote.Credit = reader.Money(quote.Bill.CreditAfter)
	}
	for _, l := range quote.Bill.Breakdown(reader) {
		p.Quote.Lines = append(p.Quote.Lines, line{l.Text(reader), reader.Money(l.Amount)})
	}
	return r.send(c, "portal_change.html", "portal.change.title", p)
}
