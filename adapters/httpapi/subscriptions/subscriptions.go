package subscriptions

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/plan"
	core "sundry/core/subscription"
	"sundry/modules/subscriptions"
	"sundry/ports"
)

func (h handlers) newView(s core.State) core.View { return core.NewView(s, h.Live) }

func (h handlers) list(c *fiber.Ctx) error {
	var f fault.Violations
	page := httpapi.ReadPage(c, &f, id.Subscription)
	filter := ports.SubscriptionFilter{
		CreatorID: httpapi.Account(c), CustomerID: httpapi.QueryText(c, &f, "customerId"),
		ExternalCustomerID: httpapi.QueryText(c, &f, "externalCustomerId"),
		Status:             httpapi.QueryOneOf(c, &f, "status", core.Statuses()...),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newView)(h.Subscriptions.List(c.UserContext(), filter, page))
}

func (h handlers) get(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newView)(h.Subscriptions.Get(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) patch(c *fiber.Ctx) error {
	change, err := httpapi.DecodeMetadata(c)
	if err != nil {
		return err
	}
	return httpapi.Respond(c, h.newView)(
		h.Subscriptions.SetMetadata(c.UserContext(), httpapi.Account(c), c.Params("id"), change),
	)
}

// cancelRequest is the body of POST …/cancel; without one the subscription ends now.
type cancelRequest struct {
	AtPeriodEnd *bool `json:"atPeriodEnd"`
}

func (h handlers) cancel(c *fiber.Ctx) error {
	in, err := httpapi.DecodeOptional[cancelRequest](c)
	if err != nil {
		return err
	}
	return httpapi.Respond(c, h.newView)(h.Subscriptions.Cancel(
		c.UserContext(), httpapi.Account(c), c.Params("id"), httpapi.ValueOf(in.AtPeriodEnd),
	))
}

func (h handlers) pause(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newView)(h.Subscriptions.Pause(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) resume(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newView)(h.Subscriptions.Resume(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

// previewRequest is the body of POST …/change/preview.
type previewRequest struct {
	Plan          *string `json:"plan"`
	Quantity      *int    `json:"quantity"`
	Interval      *string `json:"interval"`
	IntervalCount *int    `json:"intervalCount"`
	ProrationMode *string `json:"prorationMode"`
}

// changeRequest is the body of POST …/change.
type changeRequest struct {
	previewRequest
	QuoteID *string `json:"quoteId"`
}

// checked reads what both requests have in common.
func (p previewRequest) checked(f *fault.Violations) subscriptions.Change {
	change := subscriptions.Change{
		Plan: httpapi.ValueOf(p.Plan), Quantity: httpapi.ValueOf(p.Quantity), Mode: core.ChargeNow,
	}
	f.Check(
		change.Plan != "" || p.Plan == nil && p.Quantity != nil, "plan", fault.DetailRequired,
		"Expected the key of a plan of the listing, or a quantity.",
	)
	f.Check(
		p.Interval == nil || change.Plan != "", "interval", fault.DetailNotAllowed,
		"Name the plan that has the interval.",
	)
	plan.CheckSeats(f, "quantity", p.Quantity)
	change.Every = httpapi.ReadCadence(f, p.Interval, p.IntervalCount)
	if p.ProrationMode != nil {
		mode, err := core.ParseProrationMode(*p.ProrationMode)
		_ = f.Nest("prorationMode").Merge(err)
		change.Mode = mode
	}
	return change
}

// quoteView is a previewed change of plan.
type quoteView struct {
	QuoteID          string      `json:"quoteId"`
	AmountDueInCents int64       `json:"amountDueInCents"`
	TaxInCents       int64       `json:"taxInCents"`
	CreditInCents    int64       `json:"creditInCents"`
	Currency         string      `json:"currency"`
	Lines            []quoteLine `json:"lines"`
	EffectiveAt      string      `json:"effectiveAt"`
	ExpiresAt        string      `json:"expiresAt"`
}

type quoteLine struct {
	Description   string `json:"description"`
	AmountInCents int64  `json:"amountInCents"`
}

func newQuoteView(q core.Quote, s core.State) (quoteView, error) {
	due, err := q.Sale.Total()
	if err != nil {
		return quoteView{}, err
	}
	effective := q.ExpiresAt.Add(-core.QuoteLifetime)
	if q.Mode == core.NextPeriod {
		effective = s.CurrentPeriodEnd
	}
	return quoteView{
		QuoteID: q.ID, AmountDueInCents: due.Minor, TaxInCents: q.Sale.Tax.Minor,
		CreditInCents: q.Bill.CreditAfter.Minor,
		Currency:      string(due.Currency), Lines: newQuoteLines(q.Bill.Breakdown(locale.Default)),
		EffectiveAt: apiformat.Instant(effective),
		ExpiresAt:   apiformat.Instant(q.ExpiresAt),
	}, nil
}

func newQuoteLines(lines []payment.Line) []quoteLine {
	views := make([]quoteLine, len(lines))
	for i, l := range lines {
		views[i] = quoteLine{l.Description, l.Amount.Minor}
	}
	return views
}

func (h handlers) preview(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[previewRequest](c)
	var f fault.Violations
	change := in.checked(&f)
	if err := httpapi.MergeFieldErrors(reading, f.Err()); err != nil {
		return err
	}
	quote, err := h.Subscriptions.Preview(c.UserContext(), httpapi.Account(c), c.Params("id"), change)
	if err != nil {
		return err
	}
	s, err := h.Subscriptions.Get(c.UserContext(), httpapi.Account(c), quote.SubscriptionID)
	if err != nil {
		return err
	}
	view, err := newQuoteView(quote, s)
	if err != nil {
		return err
	}
	return c.JSON(view)
}

func (h handlers) change(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[changeRequest](c)
	var f fault.Violations
	change := in.checked(&f)
	change.QuoteID = httpapi.ValueOf(in.QuoteID)
	if err := httpapi.MergeFieldErrors(reading, f.Err()); err != nil {
		return err
	}
	return httpapi.Respond(c, h.newView)(
		h.Subscriptions.ChangePlan(c.UserContext(), httpapi.Account(c), c.Params("id"), change),
	)
}
