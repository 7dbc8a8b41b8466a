package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	core "sundry/core/identity"
	"sundry/core/wire"
)

func (s *Server) keyRoutes() []Route {
	return []Route{
		{Method: fiber.MethodPost, Path: "/v1/api-keys", Gate: Creator, Handle: s.createKey},
		{Method: fiber.MethodGet, Path: "/v1/api-keys", Gate: Creator, Handle: s.listKeys},
		{Method: fiber.MethodDelete, Path: "/v1/api-keys/:id", Gate: Creator, Handle: s.revokeKey},
	}
}

// keyView is an API key as its owner sees it.
type keyView struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Key is shown once, when it is made.
	Key        string  `json:"key,omitempty"`
	Prefix     string  `json:"prefix"`
	Last4      string  `json:"last4"`
	Livemode   bool    `json:"livemode"`
	CreatedAt  *string `json:"createdAt"`
	ExpiresAt  *string `json:"expiresAt"`
	LastUsedAt *string `json:"lastUsedAt"`
	RevokedAt  *string `json:"revokedAt"`
}

func (s *Server) keyViewOf(k core.APIKeyState) keyView {
	return keyView{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Last4: k.Last4, Livemode: !s.cfg.Sandbox, CreatedAt: wire.Time(k.CreatedAt),
		ExpiresAt: wire.Time(k.ExpiresAt), LastUsedAt: wire.Time(k.LastUsedAt), RevokedAt: wire.Time(k.RevokedAt),
	}
}

type createKeyRequest struct {
	Name      string  `json:"name"`
	ExpiresAt *string `json:"expiresAt"`
}

func (s *Server) createKey(c *fiber.Ctx) error {
	in, reading := decode[createKeyRequest](c)
	var f fault.Faults
	order := core.KeyOrder{Name: in.Name, ExpiresAt: instant(&f, "expiresAt", in.ExpiresAt)}
	_, judging := order.Clean(s.clock.Real())
	if err := together(reading, f.Err(), judging); err != nil {
		return err
	}
	state, key, err := s.Identity.CreateKey(c.UserContext(), account(c), order)
	if err != nil {
		return err
	}
	view := s.keyViewOf(state)
	view.Key = key
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(view)
}

func (s *Server) listKeys(c *fiber.Ctx) error {
	var f fault.Faults
	p := page(c, &f)
	if err := f.Err(); err != nil {
		return err
	}
	keys, err := s.Identity.ListKeys(c.UserContext(), account(c), p)
	if err != nil {
		return err
	}
	return c.JSON(list(keys, func(k *core.APIKey) keyView { return s.keyViewOf(k.State()) }))
}

func (s *Server) revokeKey(c *fiber.Ctx) error {
	state, err := s.Identity.RevokeKey(c.UserContext(), account(c), c.Params("id"))
	if err != nil {
		return err
	}
	return c.JSON(s.keyViewOf(state))
}
