package dashboard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/usage"
)

var priceRows = ui.RowList{Name: "prices", Typed: []string{"amountInCents"}}

func (r *Routes) mountPlans(at fiber.Router) {
	r.form(at, "/listings/:id/plans", r.plan)
	r.post(at, "/listings/:id/plans", r.savePlan)
	r.get(at, "/listings/:id/plans/:plan", r.plan)
	r.post(at, "/listings/:id/plans/:plan", r.savePlan)
	r.post(at, "/listings/:id/plans/:plan/retire", r.retirePlan)
}

// entitlementLine and creditLine describe terms in a line.
func (v *visit) entitlementLine(e plan.Entitlement) string {
	line := e.Key
	if value := entitlementValue(e); value != "" {
		line += ": " + value
	}
	if e.PerSeat {
		line = v.text("%s per seat", line)
	}
	return line
}

func (v *visit) creditLine(c plan.Credit) string {
	line := fmt.Sprintf("%s: %d %s", c.Key, c.Amount, c.Unit)
	if c.Renews {
		line = v.text("%s, renews", line)
	}
	return line
}

// usageCreditLine describes a usage credit in a line: "100.00 eur, api.calls, 90 days".
func (v *visit) usageCreditLine(c plan.UsageCredit) string {
	amount := money.Amount{Minor: c.AmountInCents, Currency: money.Currency(c.Currency)}
	line := amount.Coded()
	if c.Meter != "" {
		line += ", " + c.Meter
	}
	if c.ExpiresInDays > 0 {
		line = v.text(ui.Plural(v.reader.Language, c.ExpiresInDays, "%s, %d day", "%s, %d days"), line, c.ExpiresInDays)
	}
	return line
}

func planForm(v *visit, l listing.State, p plan.State, meters []usage.Meter) ui.Form {
	at := base + "/listings/" + l.ID
	target := at + "/plans"
	if p.Key != "" {
		target = at + "/plans/" + p.Key
	}
	f := v.form("plan", target, "Save plan")
	f.Cancel = at
	f.Fields = []ui.Field{
		{Name: "name", Label: "Name", Value: p.Name, Required: true, Half: true, Hint: "Buyers read it."},
		{Name: "planKey", Label: "Key", Value: p.Key, Required: true, Half: true, Mono: true, ReadOnly: p.Key != "",
			Hint: "Used in your code. Can’t be changed later."},
		{Name: "trialDays", Label: "Free trial", Value: zeroless(p.TrialDays), Suffix: "days", Half: true},
		{Name: "isDefault", Label: "Default plan", Type: "checkbox", Checked: p.IsDefault},
	}
	f.Fields = append(f.Fields,
		v.planPriceFields(l, p),
		ui.Field{Type: "heading", Name: "terms", Label: "What it gives"},
		v.entitlementFields("Entitlements", p.Terms.Entitlements, true),
		v.creditFields("Credits", p.Terms.Credits, true),
		v.meterFields(p.Terms.Meters, meters),
		v.usageCreditFields(p.Terms.UsageCredits, string(l.Price.Currency), meters),
	)
	if p.Key != "" {
		return f.OfStored()
	}
	return f
}

// planPriceFields are the rows of a plan's prices.
func (v *visit) planPriceFields(l listing.State, p plan.State) ui.Field {
	f := priceRows.Field("Prices", "Add a price", len(p.Prices), func(i int) ui.FieldRow {
		price, amount := plan.Price{Amount: money.Amount{Currency: l.Price.Currency}}, ""
		if i < len(p.Prices) {
			price, amount = p.Prices[i], p.Prices[i].Amount.Typed()
		} else if l.Type.Recurring() {
			price.Interval = period.Interval(l.Text(listing.Interval))
			price.IntervalCount = int(l.Number(listing.IntervalCount))
		}
		return ui.FieldRow{Title: v.say("Price %d", i+1), Fields: []ui.Field{
			{Name: "amountInCents", Label: "Amount", Value: amount, Required: i == 0},
			{
				Name: "currency", Label: "Currency", Type: "select",
				Options: ui.Currencies(string(price.Amount.Currency)),
			},
			{
				Name: "interval", Label: "Billed", Type: "select", Options: v.intervals(price),
				Also: []string{"intervalCount"},
			},
		}}
	})
	f.Hint = "Buyers pay in the currency of their country where the plan has a price in it. " +
		"Clear an amount to remove its price."
	return f
}

// intervals offers how often a price can be charged. How often this one is may be none of the usual ones.
func (v *visit) intervals(p plan.Price) []ui.Option {
	selected := string(p.Interval) + ":" + strconv.Itoa(max(1, p.IntervalCount))
	all := ui.Choices(selected, ":1", "once", "day:1", "every day", "week:1", "every week", "month:1", "every month",
		"month:3", "every 3 months", "month:6", "every 6 months", "year:1", "every year")
	if !slices.ContainsFunc(all, func(o ui.Option) bool { return o.Selected }) {
		label := ui.Data(v.reader.Interval(string(p.Interval), p.IntervalCount))
		all = append(all, ui.Option{Value: selected, Label: label, Selected: true})
	}
	return all
}

func zeroless(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func planPage(l listing.State, p plan.State) ui.Page {
	title := ui.Words("New plan")
	if p.Key != "" {
		title = ui.Data(p.Name)
	}
	return ui.Page{
		Nav: base + "/listings", Title: title,
		Up:   &ui.Action{Label: ui.Data(l.Title), Href: base + "/listings/" + l.ID},
		Lead: "What you change is for new buyers; running subscriptions keep their price and what the plan gave them.",
	}
}

// findPlan loads a listing and one of its plans, an empty one where none is named.
func (r *Routes) findPlan(c *fiber.Ctx, v *visit) (l listing.State, p plan.State, err error) {
	if l, err = r.Catalog.OwnListing(c.UserContext(), v.account(), c.Params("id")); err != nil ||
		c.Params("plan") == "" {
		return l, p, err
	}
	plans, err := r.Catalog.Plans(c.UserContext(), v.account(), l.ID)
	if err != nil {
		return l, p, err
	}
	for _, p := range plans {
		if p.Key == c.Params("plan") && !p.Retired {
			return l, p, nil
		}
	}
	return l, p, fault.NotFound("plan")
}

func (r *Routes) plan(c *fiber.Ctx, v *visit) error {
	l, p, err := r.findPlan(c, v)
	if err != nil {
		return err
	}
	_, meters, err := r.meterNames(c.UserContext(), v)
	if err != nil {
		return err
	}
	return r.ask(c, v, planPage(l, p), planForm(v, l, p, meters))
}

func (r *Routes) savePlan(c *fiber.Ctx, v *visit) error {
	l, p, err := r.findPlan(c, v)
	if err != nil {
		return err
	}
	_, meters, err := r.meterNames(c.UserContext(), v)
	if err != nil {
		return err
	}
	f, in := planForm(v, l, p, meters), ui.ReadInput(c)
	draft := readPlan(in)
	if p.Key != "" {
		draft.Key = p.Key
	} else if err := r.checkNewPlan(c, v, l.ID, draft.Key, in); err != nil {
		return err
	}
	if err = f.CheckStored(c); err == nil {
		err = in.Submit(draft.Check, func() error {
			_, err := r.Catalog.PutPlan(c.UserContext(), v.account(), l.ID, draft)
			return err
		})
	}
	if err != nil {
		return r.again(c, v, planPage(l, p), f, err)
	}
	return r.done(c, base+"/listings/"+l.ID, "Plan saved.")
}

// checkNewPlan adds a fault for a key that a plan on sale has: putting the draft would replace that plan.
func (r *Routes) checkNewPlan(c *fiber.Ctx, v *visit, listingID, key string, in *ui.Input) error {
	plans, err := r.Catalog.Plans(c.UserContext(), v.account(), listingID)
	in.Faults.Check(
		!slices.ContainsFunc(plans, func(p plan.State) bool { return p.Key == key && !p.Retired }),
		"planKey", fault.DetailDuplicate, "Another plan of this listing has this key.",
	)
	return err
}

func readPlan(in *ui.Input) plan.Draft {
	d := plan.Draft{Key: in.Text("planKey"), Name: in.Text("name"), IsDefault: in.Checked("isDefault")}
	if days := in.Number("trialDays", "trialDays"); days != nil {
		d.TrialDays = *days
	}
	for i, row := range priceRows.Read(in) {
		price := plan.PriceDraft{Currency: in.Text(row + "currency")}
		price.AmountInCents = in.Amount(row+"amountInCents", priceRows.Path(i, "amountInCents"), price.Currency)
		if interval, count, _ := strings.Cut(in.Text(row+"interval"), ":"); interval != "" {
			times, _ := strconv.Atoi(count) // a select offers numbers only; 0 is refused
			price.Interval, price.IntervalCount = &interval, &times
		}
		d.Prices = append(d.Prices, price)
	}
	d.Entitlements, d.Credits = readTerms(in)
	d.Meters, d.UsageCredits = readMeters(in), readUsageCredits(in)
	return d
}

func (r *Routes) retirePlan(c *fiber.Ctx, v *visit) error {
	at := base + "/listings/" + c.Params("id")
	_, err := r.Catalog.RetirePlan(c.UserContext(), v.account(), c.Params("id"), c.Params("plan"))
	return r.result(c, at, err, "Plan retired.")
}
