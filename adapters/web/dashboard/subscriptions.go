package dashboard

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/core/period"
	"sundry/core/subscription"
	"sundry/modules/subscriptions"
	"sundry/ports"
)

func (r *Routes) mountSubscriptions(at fiber.Router) {
	r.get(at, "/subscriptions", r.subscriptions)
	r.get(at, "/subscriptions/revenue", r.recurring)
	r.get(at, "/subscriptions/:id", r.subscription)
	r.form(at, "/subscriptions/:id/change", r.askChange)
	r.post(at, "/subscriptions/:id/change", r.changePlan)
	r.post(at, "/subscriptions/:id/cancel", r.cancelSubscription)
	r.post(at, "/subscriptions/:id/pause", r.pauseSubscription)
	r.post(at, "/subscriptions/:id/resume", r.resumeSubscription)
}

var subscriptionTones = map[subscription.Status]ui.Cell{
	subscription.StatusIncomplete: ui.Badge("Incomplete", "mute"), subscription.StatusTrialing: ui.Badge("Trial", "ok"),
	subscription.StatusActive:  ui.Badge("Active", "ok"),
	subscription.StatusPastDue: ui.Badge("Past due", "bad"), subscription.StatusPaused: ui.Badge("Paused", "wait"),
	subscription.StatusCanceled: ui.Badge("Canceled", "mute"),
	subscription.StatusExpired:  ui.Badge("Expired", "mute"),
}

func subscriptionStatus(s subscription.State) ui.Cell {
	if s.CancelAtPeriodEnd && !s.Status.Terminal() {
		return ui.Badge("Ends soon", "wait")
	}
	return subscriptionTones[s.Status]
}

func (v *visit) recurringPrice(s subscription.State) string {
	return v.reader.Money(s.Offer.Price) + " " + v.reader.Interval(string(s.Offer.Interval), s.Offer.IntervalCount)
}

// subscriptionList lists subscriptions; customers are the names of who has them.
func (r *Routes) subscriptionList(v *visit, customers *names) *ui.List[subscription.State] {
	return &ui.List[subscription.State]{
		Path: base + "/subscriptions", FileName: "subscriptions",
		Filters: []ui.Filter{
			{Name: "status", Label: "Status", Options: ui.Choices("", "", "Any status", "active", "Active", "trialing", "Trial",
				"past_due", "Past due", "paused", "Paused", "canceled", "Canceled", "expired", "Expired")},
			{Name: "customer", Label: "Customer", Placeholder: "Email, cus_… or external ID", Matched: true},
			{Name: "q", Label: "Search", Placeholder: "Plan or ID", Matched: true},
		},
		Columns: []ui.Column[subscription.State]{
			{Label: "Plan", Cell: func(s subscription.State) ui.Cell {
				return ui.Cell{Text: ui.Data(s.Offer.Name()), Href: base + "/subscriptions/" + s.ID}
			}},
			{Label: "Price", Num: true, Cell: func(s subscription.State) ui.Cell { return ui.Text(v.recurringPrice(s)) }},
			{Label: "Status", Cell: subscriptionStatus},
			timeColumn(v, "Current period ends", "currentPeriodEnd",
				func(s subscription.State) time.Time { return s.CurrentPeriodEnd }),
			timeColumn(v, "Started", "-created", func(s subscription.State) time.Time { return s.StartedAt }),
			{Label: "Customer", Cell: func(s subscription.State) ui.Cell {
				return customers.cell(s.CustomerID,
					s.ExternalCustomerID)
			}},
		},
		Read: named(customers, func(one subscription.State) string { return one.CustomerID },
			func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[subscription.State], error) {
				return r.Subscriptions.List(ctx, ports.SubscriptionFilter{CreatorID: v.account(),
					Status: subscription.Status(q["status"])}, page)
			}),
		Summary: totals[subscription.State](v, "Subscriptions", ""),
		Match: func(q ui.Query, s subscription.State) bool {
			return q.Has("customer", s.CustomerID, s.ExternalCustomerID, customers.of(s.CustomerID, "")) &&
				q.Has("q", s.Offer.Name(), s.ID, s.Offer.PlanKey)
		},
		Empty: ui.Empty{Title: "No subscriptions yet",
			Text: "Sell a listing of the kind subscription, or a plan with a recurring price.",
			Action: &ui.Action{Label: "New subscription listing", Href: base + "/listings/new?type=SUBSCRIPTION",
				Tone: "primary"}},
	}
}

func (r *Routes) subscriptions(c *fiber.Ctx, v *visit) error {
	return show(r, c, v, r.subscriptionList(v, r.names(v)), ui.Page{
		Title: "Subscriptions", Lead: "What renews, and when.",
		Actions: []ui.Action{ui.Link("Recurring revenue", recurringPath)},
	})
}

func (r *Routes) subscription(c *fiber.Ctx, v *visit) error {
	ctx := c.UserContext()
	s, err := r.Subscriptions.Get(ctx, v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	at, status := base+"/subscriptions/"+s.ID, subscriptionStatus(s)
	p := ui.Page{
		Nav: base + "/subscriptions", Title: ui.Data(s.Offer.Name()), Badge: &status,
		Lead: ui.Data(v.recurringPrice(s)), Up: &ui.Action{Label: "Subscriptions", Href: base + "/subscriptions"},
	}
	p.Actions = v.subscriptionActions(s, at, r.askResume(ctx, v, s))
	if s.Status == subscription.StatusPastDue {
		now, err := r.Clock.Now(ctx, v.account())
		if err != nil {
			return err
		}
		p.Parts = append(p.Parts, v.failedCardNote(s, now))
	}
	paid, err := r.Payments.List(ctx, v.account(), ports.PaymentSearch{SubscriptionID: s.ID}, ports.Page{Limit: 100})
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, ordersPart(v, paid.Items),
		ui.Part{Kind: "timeline", Title: "Timeline", Data: v.subscriptionTimeline(s)})
	measured, err := r.measuredPart(ctx, v, s.ID)
	if err != nil {
		return err
	}
	billed, err := r.billedPart(c, v, s.ID)
	if err != nil {
		return err
	}
	p.Parts = append(append(p.Parts, measured...), billed...)
	customers := r.names(v)
	if err := customers.load(ctx, s.CustomerID); err != nil {
		return err
	}
	p.Aside = append(p.Aside, ui.Facts("Details", v.subscriptionFacts(s, customers)...))
	return r.send(c, v, p)
}

// failedCardNote tells what follows from a card that failed, as of now.
func (v *visit) failedCardNote(s subscription.State, now time.Time) ui.Part {
	text := v.text("The card failed.")
	if len(s.Disputes) > 0 {
		text += " " + v.text("Nothing is charged while a payment is disputed.")
	} else if !s.Dunning.NextAttemptAt.IsZero() {
		text += " " + v.text("It is tried again on %s.", v.when(s.Dunning.NextAttemptAt))
	}
	switch ends := s.Dunning.GraceEndsAt; {
	case ends.IsZero():
	case now.Before(ends):
		text += " " + v.text("The customer keeps access until %s.", v.when(ends))
	default:
		text += " " + v.text("Access ended on %s.", v.when(ends))
	}
	return ui.NotePart("wait", ui.Data(text))
}

// measuredPart shows what was used in the current periods; none without a meter.
func (r *Routes) measuredPart(ctx context.Context, v *visit, subscriptionID string) ([]ui.Part, error) {
	measured, err := r.Usage.Summary(ctx, v.account(), subscriptionID)
	if err != nil || len(measured) == 0 {
		return nil, err
	}
	t := ui.Table{Label: "Usage", Heads: []ui.Head{
		{Label: "Meter"},
		{Label: "Used", Num: true},
		{Label: "Period ends"},
	}}
	for _, m := range measured {
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			ui.Text(m.Stream.EventName), ui.Number(m.Quantity.String()), v.moment(m.Period.End),
		}})
	}
	return []ui.Part{ui.TablePart("Usage in this period", t)}, nil
}

func (v *visit) subscriptionFacts(s subscription.State, customers *names) []ui.Fact {
	all := []ui.Fact{
		{Label: "Customer", Value: customers.cell(s.CustomerID, s.ExternalCustomerID)},
		{Label: "Listing", Value: ui.TextLink(s.Offer.Title, base+"/listings/"+s.Offer.ListingID)},
		{Label: "Price", Value: ui.Text(v.recurringPrice(s))},
		{Label: "Quantity", Value: ui.Text(strconv.Itoa(s.Offer.Seats()))},
		{Label: "Current period", Value: ui.Text(v.when(s.CurrentPeriodStart) + " – " + v.when(s.CurrentPeriodEnd))},
	}
	if !s.TrialEndsAt.IsZero() {
		all = append(all, ui.Fact{Label: "Trial ends", Value: v.moment(s.TrialEndsAt)})
	}
	if s.Discount != nil {
		all = append(all, ui.Fact{Label: "Discount", Value: ui.Text(s.Discount.Code)})
	}
	if s.Credit.Minor > 0 {
		all = append(all, ui.Fact{Label: "Credit", Value: ui.Text(v.reader.Money(s.Credit))})
	}
	if next := s.NextOffer(); next != nil {
		all = append(all, ui.Fact{Label: "From the next period",
			Value: ui.Text(next.Name() + ", " + v.reader.Money(next.Price))})
	}
	all = append(all, metadataFacts(s.Metadata)...)
	if s.CheckoutID != "" {
		all = append(all, ui.Fact{Label: "Checkout", Value: ui.Copyable(s.CheckoutID)})
	}
	return append(all, ui.Fact{Label: "ID", Value: ui.Copyable(s.ID)})
}

// askResume names what resuming a paused subscription charges; "" where that costs nothing. A tax service that does not
// respond leaves out the amount.
func (r *Routes) askResume(ctx context.Context, v *visit, s subscription.State) ui.Words {
	if over, err := r.Subscriptions.IsPaidTimeOver(ctx, s); err != nil || !over ||
		s.Status != subscription.StatusPaused {
		return ""
	}
	if sale, _, ok, err := r.Subscriptions.NextCharge(ctx, s); err == nil && ok {
		if due, err := sale.Total(); err == nil {
			return v.say("The paid time is over: the customer is charged %s now, for a new period.", v.reader.Money(due))
		}
	}
	return "The paid time is over: the customer is charged now, for a new period."
}

func (v *visit) subscriptionActions(s subscription.State, at string, askResume ui.Words) (all []ui.Action) {
	running := s.Status == subscription.StatusActive || s.Status == subscription.StatusTrialing
	if running && !s.CancelAtPeriodEnd {
		all = append(all, ui.Link("Change plan", at+"/change"))
	}
	if s.Status == subscription.StatusActive && !s.CancelAtPeriodEnd {
		all = append(all, v.button("Pause", at+"/pause"))
	}
	if s.CancelAtPeriodEnd && !s.Status.Terminal() || s.Status == subscription.StatusPaused {
		resume := v.button("Resume", at+"/resume").Primary()
		resume.Ask = askResume
		all = append(all, resume)
	}
	if !s.Status.Terminal() {
		all = append(all, ui.Link("Bill usage", base+"/usage/plans/new?subscription="+s.ID))
		if !s.CancelAtPeriodEnd && running {
			all = append(all, v.button("Cancel at period end", at+"/cancel",
				ui.Hidden("atPeriodEnd", "yes")).Confirm("Access stays until the paid time is over."))
		}
		all = append(all, v.button("Cancel now", at+"/cancel").Confirm("Access ends at once. Nothing is refunded; you can refund the order."))
	}
	return all
}

func (v *visit) subscriptionTimeline(s subscription.State) []ui.Step {
	var steps []ui.Step
	add := func(tone string, title ui.Words, at string) {
		steps = append(steps, ui.Step{Title: title, At: at, Tone: tone})
	}
	if !s.EndedAt.IsZero() {
		add("bad", "Ended", v.when(s.EndedAt))
	}
	if !s.CanceledAt.IsZero() {
		title := ui.Words("Canceled")
		switch s.CancelReason {
		case subscription.CancelRefunded:
			title = "Canceled with a refund"
		case subscription.CancelDisputeLost:
			title = "Canceled: a dispute was lost"
		case subscription.NotCanceled, subscription.CancelRequested:
		}
		add("wait", title, v.when(s.CanceledAt))
	}
	if len(s.Disputes) > 0 {
		steps = append(steps, ui.Step{Title: "In dispute: nothing is charged", Tone: "bad"})
	}
	if !s.PausedAt.IsZero() {
		add("wait", "Paused", v.when(s.PausedAt))
	}
	if !s.Dunning.FirstFailedAt.IsZero() {
		add("bad", "Charge failed", v.when(s.Dunning.FirstFailedAt))
	}
	add("ok", "Current period began", v.when(s.CurrentPeriodStart))
	add("mute", "Started", v.when(s.StartedAt))
	return steps
}

// changed leads back to a subscription that was changed, or could not be.
func (r *Routes) changed(c *fiber.Ctx, err error, text ui.Words) error {
	return r.result(c, base+"/subscriptions/"+c.Params("id"), err, text)
}

// charged is changed for what waits for a charge, whose outcome may not be known yet.
func (r *Routes) charged(c *fiber.Ctx, s subscription.State, err error, text ui.Words) error {
	if s.Charge != nil {
		text = "The payment is being processed: the change follows it."
	}
	return r.changed(c, err, text)
}

func (r *Routes) cancelSubscription(c *fiber.Ctx, v *visit) error {
	atPeriodEnd := ui.ReadInput(c).Checked("atPeriodEnd")
	_, err := r.Subscriptions.Cancel(c.UserContext(), v.account(), c.Params("id"), atPeriodEnd)
	if atPeriodEnd {
		return r.changed(c, err, "It ends when the paid time is over.")
	}
	return r.changed(c, err, "Canceled.")
}

func (r *Routes) pauseSubscription(c *fiber.Ctx, v *visit) error {
	_, err := r.Subscriptions.Pause(c.UserContext(), v.account(), c.Params("id"))
	return r.changed(c, err, "Paused: nothing is charged until it is resumed.")
}

func (r *Routes) resumeSubscription(c *fiber.Ctx, v *visit) error {
	s, err := r.Subscriptions.Resume(c.UserContext(), v.account(), c.Params("id"))
	return r.charged(c, s, err, "Resumed.")
}

// askChange asks which plan, and then shows what the change costs before anything is done.
func (r *Routes) askChange(c *fiber.Ctx, v *visit) error {
	s, err := r.Subscriptions.Get(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	at := base + "/subscriptions/" + s.ID
	p := ui.Page{
		Nav: base + "/subscriptions", Title: "Change plan",
		Lead: v.say("Now: %s, %s", s.Offer.Name(), v.recurringPrice(s)),
		Up:   &ui.Action{Label: ui.Data(s.Offer.Name()), Href: at},
	}
	if plan, interval, chosen := strings.Cut(c.Query("plan"), ":"); chosen {
		return r.confirmChange(c, v, p, s, subscriptions.Change{
			Plan: plan, Every: period.Cadence(interval), Quantity: c.QueryInt("quantity"),
			Mode: subscription.ProrationMode(c.Query("mode")),
		})
	}
	recipe, err := r.Catalog.RecipeOf(c.UserContext(), v.account(), s.Offer.ListingID)
	if fault.Is(err, fault.NotFoundCode) {
		return r.flash(c, at, "bad", "Its listing is no longer sold, so there is no plan to change to.")
	}
	if err != nil {
		return r.refused(c, at, err)
	}
	options := []ui.Option{{Value: ":", Label: v.say("Keep %s", cmp.Or(s.Offer.PlanName, s.Offer.Title))}}
	for _, one := range recipe.Plans {
		for _, price := range one.Prices {
			if price.Interval != "" && price.ID != s.Offer.PriceID && price.Amount.Currency == s.Offer.Price.Currency {
				options = append(options, ui.Option{Value: one.Key + ":" + string(price.Every()),
					Label: ui.Data(one.Name + ", " + v.intervalPrice(price))})
			}
		}
	}
	return r.ask(c, v, p, ui.Form{ID: "change", Action: at + "/change", Get: true, Submit: "Preview",
		Cancel: at, Fields: []ui.Field{
			{Name: "plan", Label: "Plan", Type: "select", Options: options},
			{Name: "quantity", Label: "Quantity", Type: "number", Value: strconv.Itoa(s.Offer.Seats())},
			{Name: "mode", Label: "When", Type: "select",
				Options: ui.Choices("", string(subscription.ChargeNow), "Now, with proration by days",
					string(subscription.NextPeriod), "With the next period")},
		}})
}

// confirmChange shows what a change of plan costs, and asks for confirmation.
func (r *Routes) confirmChange(
	c *fiber.Ctx, v *visit, p ui.Page, s subscription.State, change subscriptions.Change,
) error {
	at := base + "/subscriptions/" + s.ID
	quote, err := r.Subscriptions.Preview(c.UserContext(), v.account(), s.ID, change)
	if err != nil {
		return r.refused(c, at, err)
	}
	due, err := quote.Sale.Total()
	if err != nil {
		return err
	}
	f := v.form("confirm", at+"/change", "Change plan", ui.Hidden("plan", change.Plan),
		ui.Hidden("interval", string(change.Every)), ui.Hidden("quantity", strconv.Itoa(quote.Bill.Offer.Seats())),
		ui.Hidden("mode", string(change.Mode)), ui.Hidden("quote", quote.ID))
	f.Cancel, f.Title = at, "What changes"
	f.Facts = []ui.Fact{{Label: "New plan", Value: ui.Text(quote.Bill.Offer.Name())}}
	for _, l := range quote.Bill.Breakdown(v.reader) {
		f.Facts = append(f.Facts, ui.Fact{Label: ui.Data(l.Text(v.reader)), Value: ui.Text(v.reader.Money(l.Amount))})
	}
	f.Facts = append(f.Facts,
		ui.Fact{Label: "Charged now", Value: ui.Text(v.reader.Money(due))},
		ui.Fact{Label: "This price is good until", Value: v.moment(quote.ExpiresAt)},
	)
	return r.ask(c, v, p, f)
}

func (r *Routes) changePlan(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	quantity, err := strconv.Atoi(cmp.Or(in.Text("quantity"), "0"))
	if err != nil {
		return r.changed(c, fault.Invalid(fault.Detail{
			Field: "quantity", Code: fault.DetailInvalid, Message: "Expected an integer from 1 to 10000.",
		}), "")
	}
	s, err := r.Subscriptions.ChangePlan(c.UserContext(), v.account(), c.Params("id"), subscriptions.Change{
		Plan: in.Text("plan"), Every: period.Cadence(in.Text("interval")), Quantity: quantity,
		Mode: subscription.ProrationMode(in.Text("mode")), QuoteID: in.Text("quote"),
	})
	return r.charged(c, s, err, "The plan is changed.")
}
