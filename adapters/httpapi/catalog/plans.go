package catalog

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/listing"
	"sundry/core/period"
	"sundry/core/plan"
)

func (h handlers) planRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/listings/:id/plans", Auth: httpapi.AccessToken, Handle: h.listPlans},
		{
			Method: fiber.MethodPut, Path: "/v1/listings/:id/plans/:planKey", Auth: httpapi.AccessToken,
			Handle: h.putPlan,
		},
		{
			Method: fiber.MethodDelete, Path: "/v1/listings/:id/plans/:planKey", Auth: httpapi.AccessToken,
			Handle: h.retirePlan,
		},
		{
			Method: fiber.MethodGet, Path: "/v1/catalog/listings/:catalogKey/recipe", Auth: httpapi.SecretKey,
			Handle: h.getRecipe,
		},
	}
}

// planView is a plan as owners and recipes show it.
type planView struct {
	Key          string             `json:"key"`
	Name         string             `json:"name"`
	IsDefault    bool               `json:"isDefault"`
	TrialDays    int                `json:"trialDays"`
	Prices       []priceView        `json:"prices"`
	Entitlements []plan.Entitlement `json:"entitlements"`
	Credits      []plan.Credit      `json:"credits"`
	Meters       []plan.Meter       `json:"meters"`
	UsageCredits []plan.UsageCredit `json:"usageCredits"`
}

// priceView has null for interval and count of a one-time price.
type priceView struct {
	ID            string           `json:"id"`
	Interval      *period.Interval `json:"interval"`
	IntervalCount *int             `json:"intervalCount"`
	AmountInCents int64            `json:"amountInCents"`
	Currency      string           `json:"currency"`
}

func newPlanView(p plan.State) planView {
	view := planView{
		Key: p.Key, Name: p.Name, IsDefault: p.IsDefault, TrialDays: p.TrialDays,
		Prices:       make([]priceView, len(p.Prices)),
		Entitlements: p.Terms.Entitlements, Credits: p.Terms.Credits, Meters: p.Terms.Meters,
		UsageCredits: append([]plan.UsageCredit{}, p.Terms.UsageCredits...),
	}
	for i, price := range p.Prices {
		view.Prices[i] = priceView{
			ID: price.ID, AmountInCents: price.Amount.Minor, Currency: string(price.Amount.Currency),
		}
		if price.Interval != "" {
			view.Prices[i].Interval, view.Prices[i].IntervalCount = &price.Interval, &price.IntervalCount
		}
	}
	return view
}

// listPlans responds with the shape of every list; the plans of a listing always fit one page.
func (h handlers) listPlans(c *fiber.Ctx) error {
	return httpapi.RespondAll(c, newPlanView)(h.Catalog.Plans(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

type putPlanRequest struct {
	Name         string                  `json:"name"`
	IsDefault    bool                    `json:"isDefault"`
	TrialDays    int                     `json:"trialDays"`
	Prices       []plan.PriceDraft       `json:"prices"`
	Entitlements []plan.EntitlementDraft `json:"entitlements"`
	Credits      []plan.Credit           `json:"credits"`
	Meters       []plan.Meter            `json:"meters"`
	UsageCredits []plan.UsageCredit      `json:"usageCredits"`
}

func (h handlers) putPlan(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[putPlanRequest](c)
	d := plan.Draft{
		Key: c.Params("planKey"), Name: in.Name, IsDefault: in.IsDefault, TrialDays: in.TrialDays, Prices: in.Prices,
		Entitlements: in.Entitlements, Credits: in.Credits, Meters: in.Meters,
		UsageCredits: in.UsageCredits,
	}
	if err := httpapi.MergeFieldErrors(reading, d.Check()); err != nil {
		return err
	}
	return httpapi.Respond(c, newPlanView)(h.Catalog.PutPlan(c.UserContext(), httpapi.Account(c), c.Params("id"), d))
}

func (h handlers) retirePlan(c *fiber.Ctx) error {
	return httpapi.Respond(c, newPlanView)(
		h.Catalog.RetirePlan(c.UserContext(), httpapi.Account(c), c.Params("id"), c.Params("planKey")),
	)
}

// recipeView holds what an integrator needs to sell a listing. It holds no clock value, so that its tag moves with
// its content only.
type recipeView struct {
	Key         string         `json:"key"`
	ListingID   string         `json:"listingId"`
	Type        listing.Type   `json:"type"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Status      listing.Status `json:"status"`
	Livemode    bool           `json:"livemode"`
	Revision    int64          `json:"revision"`
	// TaxBehavior reports whether the prices contain the tax.
	TaxBehavior string     `json:"taxBehavior"`
	Plans       []planView `json:"plans"`
	UpdatedAt   *string    `json:"updatedAt"`
}

func (h handlers) getRecipe(c *fiber.Ctx) error {
	recipe, err := h.Catalog.Recipe(c.UserContext(), httpapi.Account(c), c.Params("catalogKey"))
	if err != nil {
		return err
	}
	l := recipe.Listing
	view := recipeView{
		Key: l.CatalogKey, ListingID: l.ID, Type: l.Type, Title: l.Title, Description: l.Description, Status: l.Status,
		Livemode: h.Live, Revision: l.Revision, TaxBehavior: string(l.TaxBehavior),
		Plans:     make([]planView, len(recipe.Plans)),
		UpdatedAt: apiformat.Time(l.UpdatedAt),
	}
	for i, p := range recipe.Plans {
		view.Plans[i] = newPlanView(p)
	}
	body, err := apiformat.JSON(view)
	if err != nil {
		return fmt.Errorf("render recipe of %s: %w", l.ID, err)
	}
	return httpapi.SendWithETag(c, httpapi.ETagOf(body), body)
}
