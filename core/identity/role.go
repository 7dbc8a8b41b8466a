package identity

import (
	"slices"
	"strings"

	"sundry/core/fault"
)

// Role specifies what a person may do in an account.
type Role string

// The roles. RoleOwner is that of the creator, and of members whom an owner made one.
const (
	RoleOwner     Role = "owner"
	RoleAdmin     Role = "admin"
	RoleSupport   Role = "support"
	RoleAnalyst   Role = "analyst"
	RoleDeveloper Role = "developer"
)

// Roles lists every role, in the order in which they are shown.
func Roles() []Role { return []Role{RoleOwner, RoleAdmin, RoleSupport, RoleAnalyst, RoleDeveloper} }

// checkRole lists what is wrong with a role that a request names.
func checkRole(f *fault.Violations, role Role) {
	names := make([]string, 0, len(Roles()))
	for _, r := range Roles() {
		names = append(names, string(r))
	}
	f.OneOf("role", string(role), names...)
}

// CheckManage refuses who is no owner to make, change or remove an owner. FORBIDDEN.
func (r Role) CheckManage(roles ...Role) error {
	if r == RoleOwner || !slices.Contains(roles, RoleOwner) {
		return nil
	}
	return fault.New(fault.Forbidden, "Only an owner may invite, change or remove an owner.")
}

// CheckKey refuses a key with a scope that is not for the role to give. FORBIDDEN.
func (r Role) CheckKey(scopes Scopes) error {
	for _, scope := range scopes.List() {
		if area, ok := scopeAreas[scope]; ok && !slices.Contains(area.Change, r) {
			return fault.Newf(fault.Forbidden, "As %s you can't give a key the scope %s.", r, scope)
		}
	}
	return nil
}

// Area is a part of an account with the roles that may read and change it. The table of areas is the one that API,
// dashboard and documents follow.
type Area struct {
	Name string
	// Read and Change list the roles that may read and change it. Every role of Change is in Read.
	Read, Change []Role
	// paths are the addresses below which the area is: of the API, or of the dashboard without /dashboard. A segment
	// that begins with a colon stands for any.
	paths []string
}

var (
	everyone   = Roles()
	owners     = []Role{RoleOwner}
	managers   = []Role{RoleOwner, RoleAdmin}
	builders   = []Role{RoleOwner, RoleAdmin, RoleDeveloper}
	helpers    = []Role{RoleOwner, RoleAdmin, RoleSupport}
	notSupport = []Role{RoleOwner, RoleAdmin, RoleAnalyst, RoleDeveloper}
)

var payoutAccount = Area{
	Name: "Payout account", Read: owners, Change: owners, paths: []string{"/balance/account"},
}

var refunds = Area{
	Name: "Refunds and disputes", Read: everyone, Change: helpers,
	paths: []string{"/orders/:id/refund", "/orders/refunds", "/disputes"},
}

// areas is the table. The first area that an address is below of counts.
var areas = []Area{
	{Name: "Own password and sign-ins", Read: everyone, Change: everyone, paths: []string{
		"/security/password", "/security/browsers", "/security/steps", "/sign-out", "/sign-out-everywhere",
	}},
	{Name: "Own saved filters", Read: everyone, Change: everyone, paths: []string{"/filters"}},
	{Name: "Access log", Read: managers, Change: managers, paths: []string{"/v1/audit-log", "/security/log"}},
	{Name: "Export of all data", Read: managers, Change: managers, paths: []string{"/v1/export"}},
	{Name: "Two-step sign-in of the team", Read: owners, Change: owners, paths: []string{"/team/second-step"}},
	{Name: "Members", Read: managers, Change: managers, paths: []string{"/v1/members", "/team"}},
	{Name: "Settings", Read: managers, Change: managers, paths: []string{"/settings", "/confirmation"}},
	{Name: "Account", Read: everyone, Change: managers, paths: []string{"/v1/creator"}},
	{Name: "API keys", Read: builders, Change: builders, paths: []string{"/v1/api-keys", "/keys"}},
	{Name: "Webhooks", Read: notSupport, Change: builders, paths: []string{"/webhooks", "/events", "/requests"}},
	payoutAccount,
	{Name: "Balance and payouts", Read: notSupport, Change: managers, paths: []string{"/balance", "/ledger"}},
	{Name: "Catalog", Read: everyone, Change: builders, paths: []string{
		"/v1/listings", "/v1/files", "/v1/payment-links", "/v1/discounts", "/v1/catalog", "/listings", "/links",
		"/discounts", "/usage/prices", "/usage/products", "/usage/plans", "/usage/meters",
	}},
	{Name: "Hours and meetings", Read: everyone, Change: builders, paths: []string{
		"/v1/scheduling", "/bookings/settings", "/bookings/hours", "/bookings/meetings", "/bookings/feed",
	}},
	{Name: "Tasks", Read: notSupport, Change: builders, paths: []string{"/v1/tasks"}},
	{Name: "Sandbox clock", Read: everyone, Change: builders, paths: []string{"/sandbox"}},
	refunds,
	{Name: "Erasure of customers", Read: managers, Change: managers, paths: []string{"/customers/:id/erase"}},
	{Name: "Orders, customers, subscriptions and appointments", Read: everyone, Change: helpers, paths: []string{
		"/orders", "/customers", "/subscriptions", "/invoices", "/usage", "/bookings",
	}},
	{Name: "Home and search", Read: everyone, paths: []string{"/search", "/security", "/"}},
}

// scopeAreas are the areas whose Change lists the roles that may give a key the scope. The others are everybody's.
var scopeAreas = map[Scope]Area{ScopeAll: payoutAccount, ScopePayouts: payoutAccount, ScopeRefunds: refunds}

// Areas returns the table of who may do what.
func Areas() []Area { return slices.Clone(areas) }

// RolesFor returns the roles that may read or change what is at an address of the API, or of the dashboard without
// /dashboard. It returns none for an address that no area has.
func RolesFor(path string, change bool) []Role {
	for _, a := range areas {
		if !slices.ContainsFunc(a.paths, func(p string) bool { return isBelow(path, p) }) {
			continue
		}
		if change {
			return a.Change
		}
		return a.Read
	}
	return nil
}

// isBelow reports whether a path is another one or continues it.
func isBelow(path, above string) bool {
	if above == "/" {
		return path == "/"
	}
	segments, wanted := strings.Split(path, "/"), strings.Split(above, "/")
	if len(segments) < len(wanted) {
		return false
	}
	for i, w := range wanted {
		if w != segments[i] && !strings.HasPrefix(w, ":") {
			return false
		}
	}
	return true
}

// CheckRole refuses who has none of the given roles. FORBIDDEN.
func CheckRole(r Role, enough []Role) error {
	if slices.Contains(enough, r) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "Your role in this account is %s. This takes %s.", r, RoleNames(enough))
}

// RoleNames joins alternatives to a phrase: "owner, admin or support".
func RoleNames(roles []Role) string {
	names := make([]string, 0, len(roles))
	for _, r := range roles {
		names = append(names, string(r))
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
