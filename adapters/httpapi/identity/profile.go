package identity

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/httpapi/strictjson"
	"sundry/core/apiformat"
	"sundry/core/fault"
	core "sundry/core/identity"
	"sundry/core/image"
	"sundry/core/payout"
)

func (h handlers) profileRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/creator", Auth: httpapi.AccessToken, Handle: h.getCreator},
		{Method: fiber.MethodPatch, Path: "/v1/creator", Auth: httpapi.AccessToken, Handle: h.updateCreator},
	}
}

// profileView is a creator as they see themselves.
type profileView struct {
	ID             string          `json:"id"`
	Email          string          `json:"email"`
	EmailConfirmed bool            `json:"emailConfirmed"`
	DisplayName    string          `json:"displayName"`
	LogoURL        *string         `json:"logoUrl"`
	AccentColor    *string         `json:"accentColor"`
	SupportEmail   *string         `json:"supportEmail"`
	RefundPolicy   *string         `json:"refundPolicy"`
	EmbedOrigins   []string        `json:"embedOrigins"`
	PayoutSchedule payout.Schedule `json:"payoutSchedule"`
	NotifyOrders   bool            `json:"notifyOrders"`
	NotifyPayouts  bool            `json:"notifyPayouts"`
	Livemode       bool            `json:"livemode"`
	CreatedAt      *string         `json:"createdAt"`
}

func (h handlers) newProfileView(c core.CreatorState) profileView {
	return profileView{
		ID: c.ID, Email: c.Email, EmailConfirmed: !c.EmailUnconfirmed, DisplayName: c.DisplayName,
		LogoURL:      apiformat.Text(image.WithBase(h.BaseURL, c.Profile.LogoURL)),
		AccentColor:  apiformat.Text(c.Profile.AccentColor),
		SupportEmail: apiformat.Text(c.Profile.SupportEmail), RefundPolicy: apiformat.Text(c.Profile.RefundPolicy),
		EmbedOrigins:   c.Profile.EmbedOrigins.List(),
		PayoutSchedule: c.PayoutSchedule,
		NotifyOrders:   c.Notifications.Orders, NotifyPayouts: c.Notifications.Payouts,
		Livemode: h.Live, CreatedAt: apiformat.Time(c.CreatedAt),
	}
}

func (h handlers) getCreator(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newProfileView)(h.Identity.Creator(c.UserContext(), httpapi.Account(c)))
}

type updateCreatorRequest struct {
	DisplayName    strictjson.Optional[string]          `json:"displayName"`
	LogoURL        strictjson.Optional[string]          `json:"logoUrl"`
	AccentColor    strictjson.Optional[string]          `json:"accentColor"`
	SupportEmail   strictjson.Optional[string]          `json:"supportEmail"`
	RefundPolicy   strictjson.Optional[string]          `json:"refundPolicy"`
	EmbedOrigins   strictjson.Optional[[]string]        `json:"embedOrigins"`
	PayoutSchedule strictjson.Optional[payout.Schedule] `json:"payoutSchedule"`
	NotifyOrders   strictjson.Optional[bool]            `json:"notifyOrders"`
	NotifyPayouts  strictjson.Optional[bool]            `json:"notifyPayouts"`
}

func (h handlers) updateCreator(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[updateCreatorRequest](c)
	var f fault.Violations
	e := core.ProfileEdit{
		DisplayName:    httpapi.PatchValue(&f, "displayName", in.DisplayName),
		LogoURL:        httpapi.PatchNullable(&f, "logoUrl", in.LogoURL),
		AccentColor:    httpapi.PatchNullable(&f, "accentColor", in.AccentColor),
		SupportEmail:   httpapi.PatchNullable(&f, "supportEmail", in.SupportEmail),
		RefundPolicy:   httpapi.PatchNullable(&f, "refundPolicy", in.RefundPolicy),
		EmbedOrigins:   httpapi.PatchValue(&f, "embedOrigins", in.EmbedOrigins),
		PayoutSchedule: httpapi.PatchValue(&f, "payoutSchedule", in.PayoutSchedule),
		NotifyOrders:   httpapi.PatchValue(&f, "notifyOrders", in.NotifyOrders),
		NotifyPayouts:  httpapi.PatchValue(&f, "notifyPayouts", in.NotifyPayouts),
	}
	if e.LogoURL != nil {
		e.LogoURL = new(image.WithoutBase(h.BaseURL, *e.LogoURL))
	}
	_, invalid := e.Clean()
	if err := httpapi.MergeFieldErrors(reading, f.Err(), invalid); err != nil {
		return err
	}
	return httpapi.Respond(c, h.newProfileView)(h.Identity.EditProfile(c.UserContext(), httpapi.Account(c), e))
}
