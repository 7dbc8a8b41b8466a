package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
	"sundry/core/listing"
)

// variantView is one way to book an appointment listing.
type variantView struct {
	VariantID       string `json:"variantId"`
	Name            string `json:"name"`
	DurationMinutes int    `json:"durationMinutes"`
	SessionCount    int    `json:"sessionCount"`
	// PriceInCents is null where the listing's own price holds.
	PriceInCents *int64 `json:"priceInCents"`
	IsDefault    bool   `json:"isDefault"`
}

func variantViewOf(v listing.Variant) variantView {
	return variantView{
		VariantID: v.ID, Name: v.Name, DurationMinutes: v.DurationMinutes, SessionCount: v.SessionCount,
		PriceInCents: v.PriceInCents, IsDefault: v.IsDefault,
	}
}

type variantRequest struct {
	Name            strictjson.Optional[string] `json:"name"`
	DurationMinutes strictjson.Optional[int]    `json:"durationMinutes"`
	SessionCount    strictjson.Optional[int]    `json:"sessionCount"`
	PriceInCents    strictjson.Optional[int64]  `json:"priceInCents"`
	IsDefault       strictjson.Optional[bool]   `json:"isDefault"`
}

// variantEdit reads the body of a request that writes a variant.
func variantEdit(c *fiber.Ctx, isNew bool) (listing.VariantEdit, error) {
	in, reading := decode[variantRequest](c)
	var f fault.Faults
	e := listing.VariantEdit{
		Name: given(&f, "name", in.Name), DurationMinutes: given(&f, "durationMinutes", in.DurationMinutes),
		SessionCount: given(&f, "sessionCount", in.SessionCount), IsDefault: given(&f, "isDefault", in.IsDefault),
		PriceGiven: in.PriceInCents.Set,
	}
	if in.PriceInCents.Set && !in.PriceInCents.Null {
		e.Price = &in.PriceInCents.Value
	}
	return e, together(reading, f.Err(), e.Check(isNew))
}

func (s *Server) createVariant(c *fiber.Ctx) error {
	e, err := variantEdit(c, true)
	if err != nil {
		return err
	}
	c.Status(fiber.StatusCreated)
	return answerVariant(c)(s.Catalog.AddVariant(c.UserContext(), account(c), c.Params("id"), e))
}

func (s *Server) updateVariant(c *fiber.Ctx) error {
	e, err := variantEdit(c, false)
	if err != nil {
		return err
	}
	return answerVariant(c)(s.Catalog.EditVariant(c.UserContext(), account(c), c.Params("id"), c.Params("variantId"), e))
}

func (s *Server) removeVariant(c *fiber.Ctx) error {
	return answerVariant(c)(s.Catalog.RemoveVariant(c.UserContext(), account(c), c.Params("id"), c.Params("variantId")))
}

func answerVariant(c *fiber.Ctx) func(listing.Variant, error) error {
	return func(v listing.Variant, err error) error {
		if err != nil {
			return err
		}
		return c.JSON(variantViewOf(v))
	}
}
