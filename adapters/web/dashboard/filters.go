package dashboard

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	core "sundry/core/identity"
)

const filtersPath = base + "/filters"

func (r *Routes) mountFilters(at fiber.Router) {
	r.post(at, "/filters", r.saveFilter)
	r.post(at, "/filters/delete", r.deleteFilter)
}

// savedFilters returns the filters of a list that its reader has saved.
func (r *Routes) savedFilters(c *fiber.Ctx, v *visit, list string) (*ui.Saved, error) {
	kept, err := r.Identity.SavedFilters(c.UserContext(), v.User, list)
	saved := &ui.Saved{Save: filtersPath, Delete: filtersPath + "/delete", Token: v.FormToken}
	for _, f := range kept {
		saved.Filters = append(saved.Filters, ui.SavedFilter{Name: f.Name, Query: f.Query})
	}
	return saved, err
}

// mayKeep reports whether filters of a list can be kept: it is a page of its own, which the user may see.
func (r *Routes) mayKeep(v *visit, list string) bool {
	return slices.ContainsFunc(r.permissions, func(p permission) bool {
		return p.method == fiber.MethodGet && base+strings.Join(p.segments, "/") == list &&
			slices.Contains(p.roles, v.User.Role)
	})
}

// sentFilter reads the filter of a form, and the address of the list with it. NOT_FOUND for no list.
func (r *Routes) sentFilter(c *fiber.Ctx, v *visit) (f core.SavedFilter, at string, err error) {
	in := ui.ReadInput(c)
	f = core.SavedFilter{List: in.Text("list"), Name: in.Text("name"), Query: in.Text("query")}
	values, err := url.ParseQuery(f.Query)
	if err != nil || !r.mayKeep(v, f.List) {
		return f, "", fault.NotFound("list")
	}
	return f, strings.TrimSuffix(f.List+"?"+values.Encode(), "?"), nil
}

func (r *Routes) saveFilter(c *fiber.Ctx, v *visit) error {
	f, at, err := r.sentFilter(c, v)
	if err != nil {
		return err
	}
	err = r.Identity.SaveFilter(c.UserContext(), v.User, f)
	return r.result(c, at, err, "Saved. Only you see it.")
}

func (r *Routes) deleteFilter(c *fiber.Ctx, v *visit) error {
	f, at, err := r.sentFilter(c, v)
	if err != nil {
		return err
	}
	if err := r.Identity.DeleteFilter(c.UserContext(), v.User, f.List, f.Name); err != nil {
		return err
	}
	return r.done(c, at, "Deleted.")
}
