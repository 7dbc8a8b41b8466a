package httpapi

import (
	"github.com/gofiber/fiber/v2"

	core "sundry/core/identity"
	"sundry/modules/identity"
)

func (s *Server) authRoutes() []Route {
	return []Route{
		{Method: fiber.MethodPost, Path: "/v1/auth/sign-up", Handle: s.signUp},
		{Method: fiber.MethodPost, Path: "/v1/auth/sign-in", Handle: s.signIn},
		{Method: fiber.MethodPost, Path: "/v1/auth/refresh", Handle: s.refresh},
		{Method: fiber.MethodPost, Path: "/v1/auth/sign-out", Handle: s.signOut},
	}
}

type creatorView struct {
	ID          string `json:"id"`
	Email       string `json:"email"`
	DisplayName string `json:"displayName"`
}

// signedInView is the answer to sign-up, sign-in and refresh.
type signedInView struct {
	AccessToken string `json:"accessToken"`
	TokenType   string `json:"tokenType"`
	// ExpiresIn is in seconds.
	ExpiresIn    int         `json:"expiresIn"`
	RefreshToken string      `json:"refreshToken"`
	Creator      creatorView `json:"creator"`
}

func answerSignedIn(c *fiber.Ctx, status int, in identity.SignedIn) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(status).JSON(signedInView{
		AccessToken: in.AccessToken, TokenType: "Bearer", ExpiresIn: int(in.ExpiresIn.Seconds()), RefreshToken: in.RefreshToken,
		Creator: creatorView{ID: in.Creator.ID, Email: in.Creator.Email, DisplayName: in.Creator.DisplayName},
	})
}

type signUpRequest struct {
	Email       string `json:"email"`
	Password    string `json:"password"`
	DisplayName string `json:"displayName"`
}

func (s *Server) signUp(c *fiber.Ctx) error {
	in, reading := decode[signUpRequest](c)
	_, judging := core.Registration(in).Clean()
	if err := together(reading, judging); err != nil {
		return err
	}
	signed, err := s.Identity.SignUp(c.UserContext(), core.Registration(in), s.clientAddress(c))
	if err != nil {
		return err
	}
	return answerSignedIn(c, fiber.StatusCreated, signed)
}

type signInRequest struct {
	Email    string `json:"email"`
	Password string `json:"password"`
}

func (s *Server) signIn(c *fiber.Ctx) error {
	in, reading := decode[signInRequest](c)
	_, judging := core.CheckCredentials(in.Email, in.Password)
	if err := together(reading, judging); err != nil {
		return err
	}
	signed, err := s.Identity.SignIn(c.UserContext(), in.Email, in.Password, s.clientAddress(c))
	if err != nil {
		return err
	}
	return answerSignedIn(c, fiber.StatusOK, signed)
}

type refreshRequest struct {
	RefreshToken string `json:"refreshToken"`
}

func (s *Server) refresh(c *fiber.Ctx) error {
	in, err := decode[refreshRequest](c)
	if err != nil {
		return err
	}
	signed, err := s.Identity.Refresh(c.UserContext(), in.RefreshToken)
	if err != nil {
		return err
	}
	return answerSignedIn(c, fiber.StatusOK, signed)
}

// signOut takes the refresh token in the body or, with no body, the access token in the header.
func (s *Server) signOut(c *fiber.Ctx) error {
	var in refreshRequest
	if len(c.Body()) > 0 {
		var err error
		if in, err = decode[refreshRequest](c); err != nil {
			return err
		}
	}
	if err := s.Identity.SignOut(c.UserContext(), in.RefreshToken, bearer(c)); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
