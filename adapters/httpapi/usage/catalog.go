package usage

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/invoice"
	core "sundry/core/usage"
)

type meterView struct {
	ID             string           `json:"id"`
	Name           string           `json:"name"`
	EventName      string           `json:"eventName"`
	Aggregation    core.Aggregation `json:"aggregation"`
	UniqueProperty *string          `json:"uniqueProperty"`
	Dimensions     []string         `json:"dimensions"`
	Livemode       bool             `json:"livemode"`
	CreatedAt      *string          `json:"createdAt"`
}

func (h handlers) newMeterView(m core.Meter) meterView {
	return meterView{
		m.ID, m.Name, m.EventName, m.Aggregation, apiformat.Text(m.UniqueProperty),
		append([]string{}, m.Dimensions...), h.Live, apiformat.Time(m.CreatedAt),
	}
}

func (h handlers) createMeter(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[core.MeterDraft](c)
	_, invalid := in.Parse()
	if err := httpapi.MergeFieldErrors(reading, invalid); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newMeterView)(
		h.Usage.CreateMeter(c.UserContext(), httpapi.Account(c), in),
	)
}

func (h handlers) listMeters(c *fiber.Ctx) error {
	page, err := httpapi.QueryPage(c, id.Meter)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newMeterView)(h.Usage.Meters(c.UserContext(), httpapi.Account(c), page))
}

func (h handlers) getMeter(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newMeterView)(h.Usage.Meter(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

type productView struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Type      string  `json:"type"`
	Livemode  bool    `json:"livemode"`
	CreatedAt *string `json:"createdAt"`
}

func (h handlers) newProductView(p core.Product) productView {
	return productView{p.ID, p.Name, p.Type, h.Live, apiformat.Time(p.CreatedAt)}
}

func (h handlers) createProduct(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[core.ProductDraft](c)
	_, invalid := in.Parse()
	if err := httpapi.MergeFieldErrors(reading, invalid); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newProductView)(
		h.Usage.CreateProduct(c.UserContext(), httpapi.Account(c), in),
	)
}

func (h handlers) listProducts(c *fiber.Ctx) error {
	page, err := httpapi.QueryPage(c, id.Product)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newProductView)(h.Usage.Products(c.UserContext(), httpapi.Account(c), page))
}

func (h handlers) getProduct(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newProductView)(h.Usage.Product(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

type priceView struct {
	ID            string        `json:"id"`
	ProductID     string        `json:"productId"`
	BillingScheme string        `json:"billingScheme"`
	Currency      string        `json:"currency"`
	TiersMode     string        `json:"tiersMode"`
	Tiers         []tierView    `json:"tiers"`
	PackageSize   *int64        `json:"packageSize"`
	Minimum       *int64        `json:"minimumAmountInCents"`
	Rates         []rateView    `json:"rates"`
	Recurring     recurringView `json:"recurring"`
	Livemode      bool          `json:"livemode"`
	CreatedAt     *string       `json:"createdAt"`
}

// rateView shows the tiers that price use with certain values of the meter's dimensions.
type rateView struct {
	When  map[string]string `json:"when"`
	Tiers []tierView        `json:"tiers"`
}

type recurringView struct {
	Interval string `json:"interval"`
}

// tierView is a tier of a price. UnitAmountInCents is null where the price has decimals.
type tierView struct {
	UpTo              *core.Quantity `json:"upTo"`
	UnitAmountInCents *int64         `json:"unitAmountInCents"`
	UnitAmountDecimal string         `json:"unitAmountDecimal"`
}

func newTierView(t core.Tier) tierView {
	v := tierView{UnitAmountDecimal: t.Unit.String()}
	if !t.Unbounded {
		v.UpTo = &t.UpTo
	}
	if minor, whole := t.Unit.Minor(); whole {
		v.UnitAmountInCents = &minor
	}
	return v
}

func newTierViews(tiers core.Tiers) []tierView {
	views := make([]tierView, len(tiers))
	for i, t := range tiers {
		views[i] = newTierView(t)
	}
	return views
}

func (h handlers) newPriceView(p core.Price) priceView {
	v := priceView{
		ID: p.ID, ProductID: p.ProductID, BillingScheme: p.BillingScheme, Currency: string(p.Currency),
		TiersMode: string(p.TiersMode),
		Tiers:     newTierViews(p.Tiers), Rates: make([]rateView, len(p.Rates)),
		Recurring: recurringView{string(p.Interval)}, Livemode: h.Live,
		CreatedAt: apiformat.Time(p.CreatedAt),
	}
	if p.TiersMode == core.Package {
		v.PackageSize = &p.PackageSize
	}
	if p.MinimumMinor > 0 {
		v.Minimum = &p.MinimumMinor
	}
	for i, r := range p.Rates {
		v.Rates[i] = rateView{r.When.Map(), newTierViews(r.Tiers)}
	}
	return v
}

func (h handlers) createPrice(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[core.PriceDraft](c)
	_, invalid := in.Parse()
	if err := httpapi.MergeFieldErrors(reading, invalid); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newPriceView)(
		h.Usage.CreatePrice(c.UserContext(), httpapi.Account(c), in),
	)
}

func (h handlers) listPrices(c *fiber.Ctx) error {
	page, err := httpapi.QueryPage(c, id.Price)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newPriceView)(h.Usage.Prices(c.UserContext(), httpapi.Account(c), page))
}

func (h handlers) getPrice(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newPriceView)(h.Usage.Price(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

type planView struct {
	ID                 string          `json:"id"`
	SubscriptionID     string          `json:"subscriptionId"`
	CustomerID         string          `json:"customerId"`
	MeterID            string          `json:"meterId"`
	PriceID            string          `json:"priceId"`
	NextPriceID        *string         `json:"nextPriceId"`
	EndsAt             *string         `json:"endsAt"`
	BillingInterval    string          `json:"billingInterval"`
	Status             core.PlanStatus `json:"status"`
	CurrentPeriodStart *string         `json:"currentPeriodStart"`
	CurrentPeriodEnd   *string         `json:"currentPeriodEnd"`
	NextInvoiceAt      *string         `json:"nextInvoiceAt"`
	Livemode           bool            `json:"livemode"`
	CreatedAt          *string         `json:"createdAt"`
}

func (h handlers) newPlanView(p core.PlanState) planView {
	return planView{
		ID: p.ID, SubscriptionID: p.SubscriptionID, CustomerID: p.CustomerID, MeterID: p.MeterID, PriceID: p.PriceID,
		NextPriceID: apiformat.Text(p.NextPriceID), EndsAt: apiformat.Time(p.Schedule.EndsAt),
		BillingInterval: string(p.Schedule.Interval), Status: p.Status,
		CurrentPeriodStart: apiformat.Time(p.Current.Start),
		CurrentPeriodEnd:   apiformat.Time(p.Current.End), NextInvoiceAt: apiformat.Time(p.NextInvoiceAt()),
		Livemode:  h.Live,
		CreatedAt: apiformat.Time(p.CreatedAt),
	}
}

func (h handlers) createPlan(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[core.PlanDraft](c)
	_, invalid := in.Parse()
	if err := httpapi.MergeFieldErrors(reading, invalid); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newPlanView)(
		h.Usage.CreateBillingPlan(c.UserContext(), httpapi.Account(c), in),
	)
}

func (h handlers) listPlans(c *fiber.Ctx) error {
	var f fault.Violations
	page := httpapi.ReadPage(c, &f, id.BillingPlan)
	subscriptionID := httpapi.QueryText(c, &f, "subscriptionId")
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newPlanView)(
		h.Usage.BillingPlans(c.UserContext(), httpapi.Account(c), subscriptionID, page),
	)
}

func (h handlers) getPlan(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newPlanView)(h.Usage.BillingPlan(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) changePlan(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[core.PriceChange](c)
	if err := httpapi.MergeFieldErrors(reading, in.Check()); err != nil {
		return err
	}
	return httpapi.Respond(c, h.newPlanView)(h.Usage.ChangePrice(c.UserContext(), httpapi.Account(c), c.Params("id"), in))
}

func (h handlers) endPlan(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newPlanView)(h.Usage.EndBillingPlan(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

// previewView shows the bill of the running period as of now.
type previewView struct {
	BillingPlanID string                    `json:"billingPlanId"`
	Currency      string                    `json:"currency"`
	Lines         []invoice.LineExplanation `json:"lines"`
	CreditInCents int64                     `json:"usageCreditInCents"`
	TotalInCents  int64                     `json:"totalInCents"`
	PeriodStart   *string                   `json:"periodStart"`
	PeriodEnd     *string                   `json:"periodEnd"`
	NextInvoiceAt *string                   `json:"nextInvoiceAt"`
	AsOf          *string                   `json:"asOf"`
}

func (h handlers) previewPlan(c *fiber.Ctx) error {
	p, err := h.Usage.Preview(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	v := previewView{
		BillingPlanID: p.Plan.ID, Currency: string(p.Currency), Lines: []invoice.LineExplanation{},
		CreditInCents: p.CreditMinor, TotalInCents: p.TotalMinor(),
		PeriodStart: apiformat.Time(p.Plan.Current.Start), PeriodEnd: apiformat.Time(p.Plan.Current.End),
		NextInvoiceAt: apiformat.Time(p.Plan.NextInvoiceAt()), AsOf: apiformat.Time(p.AsOf),
	}
	for _, line := range invoice.LinesOf(p.Lines) {
		v.Lines = append(v.Lines, invoice.NewLineExplanation(line))
	}
	return c.JSON(v)
}
