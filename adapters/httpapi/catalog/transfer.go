package catalog

import (
	"reflect"
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/modules/catalog"
)

func (h handlers) transferRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/catalog", Auth: httpapi.SecretKeyOrAccessToken, Handle: h.getCatalog},
		{Method: fiber.MethodPut, Path: "/v1/catalog", Auth: httpapi.SecretKeyOrAccessToken, Handle: h.putCatalog},
	}
}

// importView is the outcome of an import.
type importView struct {
	DryRun bool `json:"dryRun"`
	// Changes are lines that begin with + (new), - (removed) or ~ (another value).
	Changes []string `json:"changes"`
}

func (h handlers) getCatalog(c *fiber.Ctx) error {
	d, err := h.Transfer.Export(c.UserContext(), httpapi.Account(c))
	if err != nil {
		return err
	}
	return c.JSON(d)
}

func (h handlers) putCatalog(c *fiber.Ctx) error {
	d, malformed := httpapi.Decode[catalog.Document](c)
	var f fault.Violations
	text := c.Query("dryRun")
	f.Check(text == "" || text == "true" || text == "false", "dryRun", fault.DetailInvalid, "Expected true or false.")
	if malformed == nil {
		malformed = d.Check()
	}
	if err := httpapi.MergeFieldErrors(malformed, f.Err()); err != nil {
		return err
	}
	if err := h.checkBranding(c, &d); err != nil {
		return err
	}
	write := h.Transfer.Import
	if text == "true" {
		write = h.Transfer.PreviewImport
	}
	changes, err := write(c.UserContext(), httpapi.Account(c), d)
	if err != nil {
		return err
	}
	return c.JSON(importView{DryRun: text == "true", Changes: append([]string{}, changes...)})
}

// checkBranding refuses another branding from a person whose role may not change the account. Their document may have
// the stored branding, as an export has it; then that part is not imported. FORBIDDEN.
func (h handlers) checkBranding(c *fiber.Ctx, d *catalog.Document) error {
	enough, role := identity.RolesFor("/v1/creator", true), httpapi.User(c).Role
	if d.Branding == nil || role == "" || slices.Contains(enough, role) { // an API key has no role
		return nil
	}
	stored, err := h.Transfer.Export(c.UserContext(), httpapi.Account(c))
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(d.Branding, stored.Branding) {
		return fault.Newf(fault.Forbidden, "Your role in this account is %s. Another branding takes %s: send the one that the "+
			"export has, or none.", role, identity.RoleNames(enough))
	}
	d.Branding = nil
	return nil
}
