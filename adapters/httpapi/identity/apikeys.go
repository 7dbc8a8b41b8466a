package identity

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/id"
	core "sundry/core/identity"
)

func (h handlers) keyRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodPost, Path: "/v1/api-keys", Auth: httpapi.AccessToken, Handle: h.createKey},
		{Method: fiber.MethodGet, Path: "/v1/api-keys", Auth: httpapi.AccessToken, Handle: h.listKeys},
		{Method: fiber.MethodDelete, Path: "/v1/api-keys/:id", Auth: httpapi.AccessToken, Handle: h.revokeKey},
	}
}

// keyView is an API key as its owner sees it.
type keyView struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Key is shown once, when it is made.
	Key      string `json:"key,omitempty"`
	Prefix   string `json:"prefix"`
	Last4    string `json:"last4"`
	Livemode bool   `json:"livemode"`
	// Scopes lists the key's permissions: all alone, or some of the others.
	Scopes     []core.Scope `json:"scopes"`
	CreatedAt  *string      `json:"createdAt"`
	ExpiresAt  *string      `json:"expiresAt"`
	LastUsedAt *string      `json:"lastUsedAt"`
	RevokedAt  *string      `json:"revokedAt"`
}

func (h handlers) newKeyView(k core.APIKeyState) keyView {
	return keyView{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Last4: k.Last4, Livemode: h.Live, Scopes: k.Scopes.List(),
		CreatedAt: apiformat.Time(k.CreatedAt),
		ExpiresAt: apiformat.Time(k.ExpiresAt), LastUsedAt: apiformat.Time(k.LastUsedAt),
		RevokedAt: apiformat.Time(k.RevokedAt),
	}
}

type createKeyRequest struct {
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	ExpiresAt *string  `json:"expiresAt"`
}

func (h handlers) createKey(c *fiber.Ctx) error {
	in, malformed := httpapi.Decode[createKeyRequest](c)
	var f fault.Violations
	scopes, unknown := core.ParseScopes(in.Scopes)
	order := core.NewKeyRequest{Name: in.Name, Scopes: scopes, ExpiresAt: httpapi.ReadTime(&f, "expiresAt", in.ExpiresAt)}
	_, invalid := order.Clean(h.Clock.Real())
	if err := httpapi.MergeFieldErrors(malformed, f.Err(), unknown, invalid); err != nil {
		return err
	}
	state, key, err := h.Identity.CreateKey(c.UserContext(), httpapi.User(c), order)
	if err != nil {
		return err
	}
	view := h.newKeyView(state)
	view.Key = key
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(view)
}

func (h handlers) listKeys(c *fiber.Ctx) error {
	p, err := httpapi.QueryPage(c, id.APIKey)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, func(k *core.APIKey) keyView { return h.newKeyView(k.State()) })(
		h.Identity.ListKeys(c.UserContext(), httpapi.Account(c), p),
	)
}

func (h handlers) revokeKey(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newKeyView)(h.Identity.RevokeKey(c.UserContext(), httpapi.Account(c), c.Params("id")))
}
