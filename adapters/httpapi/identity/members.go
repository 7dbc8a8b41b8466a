package identity

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	core "sundry/core/identity"
)

func (h handlers) memberRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodPost, Path: "/v1/members", Auth: httpapi.AccessToken, Handle: h.inviteMember},
		{Method: fiber.MethodGet, Path: "/v1/members", Auth: httpapi.AccessToken, Handle: h.listMembers},
		{Method: fiber.MethodPatch, Path: "/v1/members/:id", Auth: httpapi.AccessToken, Handle: h.changeMember},
		{Method: fiber.MethodDelete, Path: "/v1/members/:id", Auth: httpapi.AccessToken, Handle: h.removeMember},
	}
}

// memberView is a member of the account's team.
type memberView struct {
	ID    string    `json:"id"`
	Email string    `json:"email"`
	Name  *string   `json:"name"`
	Role  core.Role `json:"role"`
	// Status is invited until the member has accepted, and then active.
	Status string `json:"status"`
	// SecondStep is set for who signs in with a second step.
	SecondStep bool `json:"secondStep"`
	// InvitationExpiresAt is null for an active member.
	InvitationExpiresAt *string `json:"invitationExpiresAt"`
	JoinedAt            *string `json:"joinedAt"`
	CreatedAt           *string `json:"createdAt"`
}

func newMemberView(m core.MemberState, secondStep bool) memberView {
	v := memberView{
		ID: m.ID, Email: m.Email, Name: apiformat.Text(m.Name), Role: m.Role, Status: "active",
		SecondStep: secondStep,
		JoinedAt:   apiformat.Time(m.JoinedAt), CreatedAt: apiformat.Time(m.CreatedAt),
	}
	if m.JoinedAt.IsZero() {
		v.Status, v.InvitationExpiresAt = "invited", apiformat.Time(m.ExpiresAt)
	}
	return v
}

type inviteMemberRequest struct {
	Email string    `json:"email"`
	Role  core.Role `json:"role"`
}

func (h handlers) inviteMember(c *fiber.Ctx) error {
	in, malformed := httpapi.Decode[inviteMemberRequest](c)
	_, invalid := core.MemberRequest(in).Clean()
	if err := httpapi.MergeFieldErrors(malformed, invalid); err != nil {
		return err
	}
	state, err := h.Identity.InviteMember(c.UserContext(), httpapi.User(c), core.MemberRequest(in))
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(newMemberView(state, false))
}

func (h handlers) listMembers(c *fiber.Ctx) error {
	page, err := httpapi.QueryPage(c, core.MemberPrefix)
	if err != nil {
		return err
	}
	members, err := h.Identity.Members(c.UserContext(), httpapi.Account(c), page)
	if err != nil {
		return err
	}
	steps, err := h.Identity.SecondStepsOn(c.UserContext(), httpapi.Account(c))
	if err != nil {
		return err
	}
	return c.JSON(httpapi.NewListView(members, func(m *core.Member) memberView {
		return newMemberView(m.State(), steps[m.State().ID])
	}))
}

type changeMemberRequest struct {
	Role core.Role `json:"role"`
}

func (h handlers) changeMember(c *fiber.Ctx) error {
	in, malformed := httpapi.Decode[changeMemberRequest](c)
	if err := httpapi.MergeFieldErrors(malformed, core.CheckMemberRole(in.Role)); err != nil {
		return err
	}
	return h.respondMember(c)(h.Identity.ChangeMember(c.UserContext(), httpapi.User(c), c.Params("id"), in.Role))
}

func (h handlers) removeMember(c *fiber.Ctx) error {
	return h.respondMember(c)(h.Identity.RemoveMember(c.UserContext(), httpapi.User(c), c.Params("id")))
}

func (h handlers) respondMember(c *fiber.Ctx) func(core.MemberState, error) error {
	return func(m core.MemberState, err error) error {
		if err != nil {
			return err
		}
		steps, err := h.Identity.SecondStepsOn(c.UserContext(), m.CreatorID)
		if err != nil {
			return err
		}
		return c.JSON(newMemberView(m, steps[m.ID]))
	}
}
