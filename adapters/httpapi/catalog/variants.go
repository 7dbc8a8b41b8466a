package catalog

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
	"sundry/core/listing"
)

// variantView is one way to book an appointment listing.
type variantView struct {
	VariantID       string `json:"variantId"`
	Key             string `json:"key"`
	Name            string `json:"name"`
	DurationMinutes int    `json:"durationMinutes"`
	SessionCount    int    `json:"sessionCount"`
	Seats           int    `json:"seats"`
	// PriceInCents is null where the listing's own price holds.
	PriceInCents *int64 `json:"priceInCents"`
	IsDefault    bool   `json:"isDefault"`
}

func newVariantView(v listing.Variant) variantView {
	return variantView{
		VariantID: v.ID, Key: v.Key, Name: v.Name, DurationMinutes: v.DurationMinutes, SessionCount: v.SessionCount,
		Seats:        max(v.Seats, 1),
		PriceInCents: v.PriceInCents, IsDefault: v.IsDefault,
	}
}

type variantRequest struct {
	Key             strictjson.Optional[string] `json:"key"`
	Name            strictjson.Optional[string] `json:"name"`
	DurationMinutes strictjson.Optional[int]    `json:"durationMinutes"`
	SessionCount    strictjson.Optional[int]    `json:"sessionCount"`
	Seats           strictjson.Optional[int]    `json:"seats"`
	PriceInCents    strictjson.Optional[int64]  `json:"priceInCents"`
	IsDefault       strictjson.Optional[bool]   `json:"isDefault"`
}

// variantEdit reads the body of a request that writes a variant.
func variantEdit(c *fiber.Ctx, isNew bool) (listing.VariantEdit, error) {
	in, reading := httpapi.Decode[variantRequest](c)
	var f fault.Violations
	e := listing.VariantEdit{
		Key:             httpapi.PatchValue(&f, "key", in.Key),
		Name:            httpapi.PatchValue(&f, "name", in.Name),
		DurationMinutes: httpapi.PatchValue(&f, "durationMinutes", in.DurationMinutes),
		SessionCount:    httpapi.PatchValue(&f, "sessionCount", in.SessionCount),
		Seats:           httpapi.PatchValue(&f, "seats", in.Seats),
		IsDefault:       httpapi.PatchValue(&f, "isDefault", in.IsDefault),
		PriceGiven:      in.PriceInCents.Set,
	}
	if in.PriceInCents.Set && !in.PriceInCents.Null {
		e.Price = &in.PriceInCents.Value
	}
	return e, httpapi.MergeFieldErrors(reading, f.Err(), e.Check(isNew))
}

func (h handlers) createVariant(c *fiber.Ctx) error {
	e, err := variantEdit(c, true)
	if err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, newVariantView)(
		h.Catalog.AddVariant(c.UserContext(), httpapi.Account(c), c.Params("id"), e),
	)
}

func (h handlers) updateVariant(c *fiber.Ctx) error {
	e, err := variantEdit(c, false)
	if err != nil {
		return err
	}
	return httpapi.Respond(c, newVariantView)(
		h.Catalog.EditVariant(c.UserContext(), httpapi.Account(c), c.Params("id"), c.Params("variantId"), e),
	)
}

func (h handlers) removeVariant(c *fiber.Ctx) error {
	return httpapi.Respond(c, newVariantView)(
		h.Catalog.RemoveVariant(c.UserContext(), httpapi.Account(c), c.Params("id"), c.Params("variantId")),
	)
}
