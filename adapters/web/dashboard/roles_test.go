package dashboard

import (
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	core "sundry/core/identity"
	"sundry/modules/sandbox"
)

// TestEveryRouteHasItsRoles: a route that the table of areas does not have is nobody's.
func TestEveryRouteHasItsRoles(t *testing.T) {
	t.Parallel()
	r := &Routes{Deps: Deps{Sandbox: &sandbox.Service{}}}
	r.Mount(fiber.New())
	if len(r.permissions) < 130 {
		t.Errorf("%d routes have roles", len(r.permissions))
	}
	for _, p := range r.permissions {
		path := strings.Join(p.segments, "/")
		if !slices.Contains(p.roles, core.RoleOwner) {
			t.Errorf("%s %s is for %v", p.method, path, p.roles)
		}
		user := &visit{}
		for _, user.User.Role = range core.Roles() {
			want := slices.Contains(p.roles, user.User.Role)
			if got := r.may(user)(p.method, base+strings.ReplaceAll(path, ":", "x")+"?a=b#c"); got != want {
				t.Errorf("%s is offered %s %s: %v", user.User.Role, p.method, path, got)
			}
		}
	}
}
