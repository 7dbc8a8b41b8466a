package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
	"sundry/core/paymentlink"
	"sundry/core/wire"
)

func (s *Server) paymentLinkRoutes() []Route {
	return []Route{
		{Method: fiber.MethodPost, Path: "/v1/payment-links", Gate: Creator, Handle: s.createPaymentLink},
		{Method: fiber.MethodGet, Path: "/v1/payment-links", Gate: Creator, Handle: s.listPaymentLinks},
		{Method: fiber.MethodGet, Path: "/v1/payment-links/:id", Gate: Creator, Handle: s.getPaymentLink},
		{Method: fiber.MethodPatch, Path: "/v1/payment-links/:id", Gate: Creator, Handle: s.updatePaymentLink},
		{Method: fiber.MethodDelete, Path: "/v1/payment-links/:id", Gate: Creator, Handle: s.deactivatePaymentLink},
	}
}

// paymentLinkView is a link to share. Null members leave the choice to the listing or the plan.
type paymentLinkView struct {
	ID         string  `json:"id"`
	URL        string  `json:"url"`
	Code       string  `json:"code"`
	ListingID  string  `json:"listingId"`
	VariantID  *string `json:"variantId"`
	Plan       *string `json:"plan"`
	Interval   *string `json:"interval"`
	SuccessURL *string `json:"successUrl"`
	Active     bool    `json:"active"`
	Livemode   bool    `json:"livemode"`
	CreatedAt  *string `json:"createdAt"`
}

func (s *Server) paymentLinkViewOf(l paymentlink.State) paymentLinkView {
	return paymentLinkView{
		ID: l.ID, URL: s.cfg.BaseURL + "/l/" + l.Code, Code: l.Code, ListingID: l.ListingID, VariantID: wire.Text(l.VariantID),
		Plan: wire.Text(l.PlanKey), Interval: wire.Text(string(l.Interval)), SuccessURL: wire.Text(l.SuccessURL), Active: l.Active,
		Livemode: !s.cfg.Sandbox, CreatedAt: wire.Time(l.CreatedAt),
	}
}

type paymentLinkRequest struct {
	ListingID  strictjson.Optional[string] `json:"listingId"`
	VariantID  strictjson.Optional[string] `json:"variantId"`
	Plan       strictjson.Optional[string] `json:"plan"`
	Interval   strictjson.Optional[string] `json:"interval"`
	SuccessURL strictjson.Optional[string] `json:"successUrl"`
	Active     strictjson.Optional[bool]   `json:"active"`
}

func (in paymentLinkRequest) edit(f *fault.Faults) paymentlink.Edit {
	return paymentlink.Edit{
		ListingID: given(f, "listingId", in.ListingID), VariantID: clearable(f, "variantId", in.VariantID), PlanKey: clearable(f, "plan", in.Plan),
		Interval: clearable(f, "interval", in.Interval), SuccessURL: clearable(f, "successUrl", in.SuccessURL), Active: given(f, "active", in.Active),
	}
}

func (s *Server) createPaymentLink(c *fiber.Ctx) error {
	in, reading := decode[paymentLinkRequest](c)
	var f fault.Faults
	e := in.edit(&f)
	if err := together(reading, f.Err(), e.CheckNew(s.cfg.Sandbox)); err != nil {
		return err
	}
	l, err := s.Catalog.CreateLink(c.UserContext(), account(c), e)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(s.paymentLinkViewOf(l))
}

func (s *Server) listPaymentLinks(c *fiber.Ctx) error {
	var f fault.Faults
	p := page(c, &f)
	if err := f.Err(); err != nil {
		return err
	}
	links, err := s.Catalog.Links(c.UserContext(), account(c), p)
	if err != nil {
		return err
	}
	return c.JSON(list(links, s.paymentLinkViewOf))
}

func (s *Server) getPaymentLink(c *fiber.Ctx) error {
	return s.answerPaymentLink(c)(s.Catalog.Link(c.UserContext(), account(c), c.Params("id")))
}

func (s *Server) updatePaymentLink(c *fiber.Ctx) error {
	in, reading := decode[paymentLinkRequest](c)
	var f fault.Faults
	e := in.edit(&f)
	if err := together(reading, f.Err(), e.Check(s.cfg.Sandbox)); err != nil {
		return err
	}
	return s.answerPaymentLink(c)(s.Catalog.EditLink(c.UserContext(), account(c), c.Params("id"), e))
}

func (s *Server) deactivatePaymentLink(c *fiber.Ctx) error {
	return s.answerPaymentLink(c)(s.Catalog.DeactivateLink(c.UserContext(), account(c), c.Params("id")))
}

// answerPaymentLink renders what a use case returned.
func (s *Server) answerPaymentLink(c *fiber.Ctx) func(paymentlink.State, error) error {
	return func(l paymentlink.State, err error) error {
		if err != nil {
			return err
		}
		return c.JSON(s.paymentLinkViewOf(l))
	}
}
