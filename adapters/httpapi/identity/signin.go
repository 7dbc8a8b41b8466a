package identity

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	core "sundry/core/identity"
	"sundry/modules/identity"
)

func (h handlers) signInRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodPost, Path: "/v1/auth/sign-up", Handle: h.signUp},
		{Method: fiber.MethodPost, Path: "/v1/auth/sign-in", Handle: h.signIn},
		{Method: fiber.MethodPost, Path: "/v1/auth/refresh", Handle: h.refresh},
		{Method: fiber.MethodPost, Path: "/v1/auth/sign-out", Handle: h.signOut},
	}
}

type creatorView struct {
	ID          string `json:"id"`
	Email       string `json:"email"`
	DisplayName string `json:"displayName"`
}

// signedInView is the response to sign-up, sign-in and refresh.
type signedInView struct {
	AccessToken string `json:"accessToken"`
	TokenType   string `json:"tokenType"`
	// ExpiresIn is in seconds.
	ExpiresIn    int         `json:"expiresIn"`
	RefreshToken string      `json:"refreshToken"`
	Creator      creatorView `json:"creator"`
	// Member identifies the member who is signed in; null for the owner.
	Member *memberRefView `json:"member"`
}

type memberRefView struct {
	ID    string    `json:"id"`
	Email string    `json:"email"`
	Name  string    `json:"name"`
	Role  core.Role `json:"role"`
}

func newSignedInView(in identity.Session) signedInView {
	view := signedInView{
		AccessToken: in.AccessToken, TokenType: "Bearer", ExpiresIn: int(in.ExpiresIn.Seconds()),
		RefreshToken: in.RefreshToken,
		Creator:      creatorView{ID: in.Creator.ID, Email: in.Creator.Email, DisplayName: in.Creator.DisplayName},
	}
	if in.User.MemberID != "" {
		view.Member = &memberRefView{ID: in.User.MemberID, Email: in.User.Email, Name: in.User.Name, Role: in.User.Role}
	}
	return view
}

// respondSignedIn renders a session, which no cache may keep.
func respondSignedIn(c *fiber.Ctx, status int) func(identity.Session, error) error {
	return func(in identity.Session, err error) error {
		if err == nil {
			c.Set(fiber.HeaderCacheControl, "no-store")
		}
		return httpapi.RespondStatus(c, status, newSignedInView)(in, err)
	}
}

type signUpRequest struct {
	Email       string `json:"email"`
	Password    string `json:"password"`
	DisplayName string `json:"displayName"`
	Invitation  string `json:"invitation"`
}

func (h handlers) signUp(c *fiber.Ctx) error {
	in, malformed := httpapi.Decode[signUpRequest](c)
	_, invalid := core.Registration(in).Clean()
	if err := httpapi.MergeFieldErrors(malformed, invalid); err != nil {
		return err
	}
	return respondSignedIn(c, fiber.StatusCreated)(
		h.Identity.SignUp(c.UserContext(), core.Registration(in), h.ClientAddress(c)),
	)
}

type signInRequest struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	Code     string `json:"code"`
}

func (h handlers) signIn(c *fiber.Ctx) error {
	in, malformed := httpapi.Decode[signInRequest](c)
	_, invalid := core.CheckCredentials(in.Email, in.Password)
	if err := httpapi.MergeFieldErrors(malformed, invalid); err != nil {
		return err
	}
	return respondSignedIn(c, fiber.StatusOK)(h.Identity.SignIn(c.UserContext(), core.Credentials(in), h.ClientAddress(c)))
}

type refreshRequest struct {
	RefreshToken string `json:"refreshToken"`
}

func (h handlers) refresh(c *fiber.Ctx) error {
	in, err := httpapi.Decode[refreshRequest](c)
	if err != nil {
		return err
	}
	return respondSignedIn(c, fiber.StatusOK)(h.Identity.Refresh(c.UserContext(), in.RefreshToken))
}

// signOut takes the refresh token in the body or, with no body, the access token in the header.
func (h handlers) signOut(c *fiber.Ctx) error {
	in, err := httpapi.DecodeOptional[refreshRequest](c)
	if err != nil {
		return err
	}
	if err := h.Identity.SignOut(c.UserContext(), in.RefreshToken, httpapi.BearerToken(c)); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
