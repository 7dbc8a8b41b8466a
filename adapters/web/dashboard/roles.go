package dashboard

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	core "sundry/core/identity"
)

// permission is a route of the dashboard with the roles that may use it.
type permission struct {
	method   string
	segments []string
	roles    []core.Role
}

// permit keeps which roles may use a route: those that identity.Areas gives it.
func (r *Routes) permit(method, path string, change bool) []core.Role {
	roles := core.RolesFor(path, change)
	r.permissions = append(r.permissions, permission{method, strings.Split(path, "/"), roles})
	return roles
}

// only runs the handler for users with one of the roles. Others get a page that says who may.
func (r *Routes) only(roles []core.Role, handle handler) handler {
	return func(c *fiber.Ctx, v *visit) error {
		err := core.CheckRole(v.User.Role, roles)
		if err == nil {
			return handle(c, v)
		}
		c.Status(fiber.StatusForbidden)
		return r.send(c, v, ui.Page{
			Title: "You can’t do this", Lead: v.say("Your role is %s.", roleNames[v.User.Role].inSentence),
			Parts: []ui.Part{ui.NotePart("wait", v.say("This takes %s. Ask who manages the team.", v.anyRole(roles)))},
		})
	}
}

// anyRole names roles as alternatives: owner, admin or developer.
func (v *visit) anyRole(roles []core.Role) string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = v.text(roleNames[role].inSentence)
	}
	if last := len(names) - 1; last > 0 {
		return v.text("%s or %s", strings.Join(names[:last], ", "), names[last])
	}
	return strings.Join(names, "")
}

// may reports whether the user may use an address of the dashboard; every other address is open.
func (r *Routes) may(v *visit) ui.May {
	return func(method, address string) bool {
		u, err := url.Parse(address)
		if err != nil || u.Host != "" {
			return true
		}
		path, ok := strings.CutPrefix(u.Path, base)
		if !ok {
			return true
		}
		if path == "" {
			path = "/"
		}
		segments := strings.Split(path, "/")
		for _, p := range r.permissions {
			if p.method == method && slices.EqualFunc(p.segments, segments, isSegment) {
				return slices.Contains(p.roles, v.User.Role)
			}
		}
		return true
	}
}

// hasPage reports whether an address that a form is sent to is that of a page, too.
func (r *Routes) hasPage(address string) bool {
	segments := strings.Split(strings.TrimPrefix(address, base), "/")
	return slices.ContainsFunc(r.permissions, func(p permission) bool {
		return p.method == fiber.MethodGet && slices.EqualFunc(p.segments, segments, isSegment)
	})
}

// isSegment reports whether a segment of a route's path stands for that of an address.
func isSegment(pattern, segment string) bool {
	return pattern == segment || strings.HasPrefix(pattern, ":") && segment != ""
}
