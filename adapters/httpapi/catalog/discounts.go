package catalog

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/discount"
	"sundry/core/fault"
	"sundry/core/id"
)

func (h handlers) discountRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodPost, Path: "/v1/discounts", Auth: httpapi.AccessToken, Handle: h.createDiscount},
		{Method: fiber.MethodGet, Path: "/v1/discounts", Auth: httpapi.AccessToken, Handle: h.listDiscounts},
		{Method: fiber.MethodGet, Path: "/v1/discounts/:id", Auth: httpapi.AccessToken, Handle: h.getDiscount},
		{Method: fiber.MethodDelete, Path: "/v1/discounts/:id", Auth: httpapi.AccessToken, Handle: h.deleteDiscount},
	}
}

// discountView is a discount code. Of percentOff and amountOffInCents with currency, one is null.
type discountView struct {
	ID               string            `json:"id"`
	Code             string            `json:"code"`
	PercentOff       *int              `json:"percentOff"`
	AmountOffInCents *int64            `json:"amountOffInCents"`
	Currency         *string           `json:"currency"`
	Duration         discount.Duration `json:"duration"`
	DurationInMonths *int              `json:"durationInMonths"`
	MaxRedemptions   *int              `json:"maxRedemptions"`
	TimesRedeemed    int               `json:"timesRedeemed"`
	ExpiresAt        *string           `json:"expiresAt"`
	// ListingIDs is empty when the code is good for everything.
	ListingIDs []string `json:"listingIds"`
	Active     bool     `json:"active"`
	Livemode   bool     `json:"livemode"`
	CreatedAt  *string  `json:"createdAt"`
}

func (h handlers) newDiscountView(d discount.State) discountView {
	view := discountView{
		ID: d.ID, Code: d.Code, Duration: d.Duration, TimesRedeemed: d.Redeemed, ExpiresAt: apiformat.Time(d.ExpiresAt),
		MaxRedemptions: apiformat.Count(d.MaxRedemptions),
		ListingIDs:     d.ListingIDs, Active: d.DeletedAt.IsZero(), Livemode: h.Live,
		CreatedAt: apiformat.Time(d.CreatedAt),
	}
	if view.ListingIDs == nil {
		view.ListingIDs = []string{}
	}
	if d.PercentOff > 0 {
		view.PercentOff = &d.PercentOff
	} else {
		view.AmountOffInCents, view.Currency = &d.AmountOff.Minor, apiformat.Text(string(d.AmountOff.Currency))
	}
	if d.Duration == discount.Repeating {
		view.DurationInMonths = &d.DurationInMonths
	}
	return view
}

type discountRequest struct {
	Code             *string   `json:"code"`
	PercentOff       *int      `json:"percentOff"`
	AmountOffInCents *int64    `json:"amountOffInCents"`
	Currency         *string   `json:"currency"`
	Duration         *string   `json:"duration"`
	DurationInMonths *int      `json:"durationInMonths"`
	MaxRedemptions   *int      `json:"maxRedemptions"`
	ExpiresAt        *string   `json:"expiresAt"`
	ListingIDs       *[]string `json:"listingIds"`
}

func (in discountRequest) draft(f *fault.Violations) discount.Draft {
	d := discount.Draft{
		Code: httpapi.ValueOf(in.Code), PercentOff: in.PercentOff, AmountOffInCents: in.AmountOffInCents,
		Currency: httpapi.ValueOf(in.Currency), Duration: httpapi.ValueOf(in.Duration),
		DurationInMonths: in.DurationInMonths,
		MaxRedemptions:   in.MaxRedemptions, ListingIDs: httpapi.ValueOf(in.ListingIDs),
	}
	d.ExpiresAt = httpapi.ReadTime(f, "expiresAt", in.ExpiresAt)
	return d
}

func (h handlers) createDiscount(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[discountRequest](c)
	var f fault.Violations
	draft := in.draft(&f)
	checked := h.Catalog.CheckDiscount(c.UserContext(), httpapi.Account(c), draft)
	if err := httpapi.MergeFieldErrors(reading, f.Err(), checked); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newDiscountView)(
		h.Catalog.CreateDiscount(c.UserContext(), httpapi.Account(c), draft),
	)
}

func (h handlers) listDiscounts(c *fiber.Ctx) error {
	p, err := httpapi.QueryPage(c, id.Discount)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newDiscountView)(h.Catalog.Discounts(c.UserContext(), httpapi.Account(c), p))
}

func (h handlers) getDiscount(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newDiscountView)(h.Catalog.Discount(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) deleteDiscount(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newDiscountView)(
		h.Catalog.DeleteDiscount(c.UserContext(), httpapi.Account(c), c.Params("id")),
	)
}
