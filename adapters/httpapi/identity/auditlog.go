package identity

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/fault"
	core "sundry/core/identity"
)

func (h handlers) auditRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: fiber.MethodGet, Path: "/v1/audit-log", Auth: httpapi.SecretKeyOrAccessToken, Handle: h.listAuditLog, MayBeStale: true,
		},
	}
}

// auditView is one line of the audit log.
type auditView struct {
	ID   string                `json:"id"`
	Kind core.AccountEventKind `json:"kind"`
	// Actor is null where nobody was signed in, or where that was not recorded yet.
	Actor     *actorView `json:"actor"`
	Address   *string    `json:"address"`
	UserAgent *string    `json:"userAgent"`
	ObjectID  *string    `json:"objectId"`
	Note      *string    `json:"note"`
	CreatedAt *string    `json:"createdAt"`
}

type actorView struct {
	Type string  `json:"type"`
	ID   string  `json:"id"`
	Name *string `json:"name"`
}

func newAuditView(e core.AccountEvent) auditView {
	v := auditView{
		ID: e.ID, Kind: e.Kind, Address: apiformat.Text(e.Address), UserAgent: apiformat.Text(e.UserAgent),
		ObjectID: apiformat.Text(e.ObjectID), Note: apiformat.Text(e.Note), CreatedAt: apiformat.Time(e.At),
	}
	switch {
	case e.Actor.ID == "":
	case core.IsMember(e.Actor.ID):
		v.Actor = &actorView{Type: "member", ID: e.Actor.ID, Name: &e.Name}
	case e.Name != "":
		v.Actor = &actorView{Type: "api_key", ID: e.Actor.ID, Name: &e.Name}
	default:
		v.Actor = &actorView{Type: "creator", ID: e.Actor.ID}
	}
	return v
}

func (h handlers) listAuditLog(c *fiber.Ctx) error {
	var f fault.Violations
	p := httpapi.ReadPage(c, &f, core.AccountEventPrefix)
	kind := httpapi.QueryOneOf(c, &f, "kind", core.AccountEventKinds()...)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, newAuditView)(h.Identity.AccessLog(c.UserContext(), httpapi.Account(c), kind, p))
}
