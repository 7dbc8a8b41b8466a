package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/core/identity"
)

// RolesFor returns the roles that may call the route with an access token; none for a route that takes none.
func RolesFor(r Route) []identity.Role {
	if r.Auth != AccessToken && r.Auth != SecretKeyOrAccessToken {
		return nil
	}
	return identity.RolesFor(r.Path, r.Method != fiber.MethodGet)
}
