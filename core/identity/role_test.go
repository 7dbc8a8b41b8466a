package identity_test

import (
	"slices"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/identity"
)

func names(roles []identity.Role) string {
	var all []string
	for _, r := range identity.Roles() {
		if slices.Contains(roles, r) {
			all = append(all, string(r))
		}
	}
	return strings.Join(all, " ")
}

// The areas are those of docs/roles.md.
func TestRolesFor_TheAreaOfAnAddress(t *testing.T) {
	t.Parallel()
	const (
		everyone   = "owner admin support analyst developer"
		managers   = "owner admin"
		builders   = "owner admin developer"
		helpers    = "owner admin support"
		notSupport = "owner admin analyst developer"
	)
	for path, want := range map[string]struct{ read, change string }{
		"/security/password":       {everyone, everyone},
		"/security/steps/sst_1":    {everyone, everyone},
		"/filters":                 {everyone, everyone},
		"/security/log":            {managers, managers},
		"/v1/export":               {managers, managers},
		"/team/second-step":        {"owner", "owner"},
		"/team":                    {managers, managers},
		"/v1/members/mbr_1":        {managers, managers},
		"/settings":                {managers, managers},
		"/v1/creator":              {everyone, managers},
		"/v1/api-keys":             {builders, builders},
		"/webhooks/we_1":           {notSupport, builders},
		"/balance/account":         {"owner", "owner"},
		"/balance":                 {notSupport, managers},
		"/balance/payouts":         {notSupport, managers},
		"/v1/listings/lst_1":       {everyone, builders},
		"/usage/prices":            {everyone, builders},
		"/usage":                   {everyone, helpers},
		"/bookings/hours":          {everyone, builders},
		"/bookings":                {everyone, helpers},
		"/v1/tasks":                {notSupport, builders},
		"/sandbox":                 {everyone, builders},
		"/orders/pay_1/refund":     {everyone, helpers},
		"/disputes/dsp_1":          {everyone, helpers},
		"/customers/cus_1/erase":   {managers, managers},
		"/customers/cus_1":         {everyone, helpers},
		"/customers":               {everyone, helpers},
		"/customers/cus_1/erased":  {everyone, helpers},
		"/security/browsers":       {everyone, everyone},
		"/sign-out":                {everyone, everyone},
		"/sign-out-everywhere":     {everyone, everyone},
		"/v1/audit-log":            {managers, managers},
		"/confirmation":            {managers, managers},
		"/keys/key_1":              {builders, builders},
		"/events":                  {notSupport, builders},
		"/requests":                {notSupport, builders},
		"/ledger":                  {notSupport, managers},
		"/v1/files/fil_1":          {everyone, builders},
		"/v1/payment-links":        {everyone, builders},
		"/v1/discounts":            {everyone, builders},
		"/v1/catalog":              {everyone, builders},
		"/listings/lst_1":          {everyone, builders},
		"/links":                   {everyone, builders},
		"/discounts":               {everyone, builders},
		"/usage/products":          {everyone, builders},
		"/usage/plans":             {everyone, builders},
		"/usage/meters":            {everyone, builders},
		"/v1/scheduling":           {everyone, builders},
		"/bookings/settings":       {everyone, builders},
		"/bookings/meetings":       {everyone, builders},
		"/bookings/feed":           {everyone, builders},
		"/orders":                  {everyone, helpers},
		"/orders/refunds":          {everyone, helpers},
		"/subscriptions/sub_1":     {everyone, helpers},
		"/invoices":                {everyone, helpers},
		"/search":                  {everyone, ""},
		"/security":                {everyone, ""},
		"/":                        {everyone, ""},
		"/unheard-of":              {"", ""},
		"//balance":                {"", ""},
		"/balances":                {"", ""},
		"":                         {"", ""},
		"/v1/balance":              {"", ""},
		"/security/steps-to-climb": {everyone, ""},
	} {
		if read, change := names(identity.RolesFor(path, false)),
			names(identity.RolesFor(path, true)); read != want.read || change != want.change {
			t.Errorf("%q is read by %q and changed by %q, want %q and %q", path, read, change, want.read, want.change)
		}
	}
}

func TestAreas_WhoChangesMayRead(t *testing.T) {
	t.Parallel()
	all := identity.Areas()
	for _, area := range all {
		for _, r := range area.Change {
			if !slices.Contains(area.Read, r) {
				t.Errorf("%s: %s changes what they can't read", area.Name, r)
			}
		}
	}
	all[0].Name = "changed"
	if identity.Areas()[0].Name == "changed" {
		t.Error("who reads the table can change it")
	}
}

func TestCheckManage_OnlyOwnersManageOwners(t *testing.T) {
	t.Parallel()
	for _, by := range identity.Roles() {
		for _, of := range identity.Roles() {
			err := by.CheckManage(identity.RoleSupport, of)
			if want := of == identity.RoleOwner && by != identity.RoleOwner; fault.Is(err, fault.Forbidden) != want ||
				!want && err != nil {
				t.Errorf("%s changes a member to %s: %v", by, of, err)
			}
		}
	}
}

func TestCheckKey_NoScopeBeyondTheRole(t *testing.T) {
	t.Parallel()
	for _, scope := range append(identity.LimitedScopes(), identity.ScopeAll) {
		scopes, err := identity.ParseScopes([]string{string(scope)})
		if err != nil {
			t.Fatal(err)
		}
		refused := map[identity.Role]bool{}
		switch scope {
		case identity.ScopeAll, identity.ScopePayouts:
			refused = map[identity.Role]bool{"admin": true, "support": true, "analyst": true, "developer": true}
		case identity.ScopeRefunds:
			refused = map[identity.Role]bool{"analyst": true, "developer": true}
		default:
		}
		for _, r := range identity.Roles() {
			if err := r.CheckKey(scopes); fault.Is(err, fault.Forbidden) != refused[r] || !refused[r] && err != nil {
				t.Errorf("%s gives the scope %s: %v", r, scope, err)
			}
		}
	}
	several, err := identity.ParseScopes([]string{"read", "refunds"})
	if err != nil {
		t.Fatal(err)
	}
	if err := identity.RoleDeveloper.CheckKey(several); !fault.Is(err, fault.Forbidden) ||
		!strings.Contains(err.Error(), "developer") || !strings.Contains(err.Error(), "refunds") {
		t.Errorf("the second of two scopes: %v", err)
	}
}

func TestCheckRole_NamesThoseThatSuffice(t *testing.T) {
	t.Parallel()
	enough := []identity.Role{identity.RoleOwner, identity.RoleAdmin, identity.RoleSupport}
	if err := identity.CheckRole(identity.RoleSupport, enough); err != nil {
		t.Errorf("support is refused: %v", err)
	}
	err := identity.CheckRole(identity.RoleAnalyst, enough)
	if !fault.Is(err, fault.Forbidden) ||
		!strings.Contains(err.Error(), "is analyst. This takes owner, admin or support.") {
		t.Errorf("analyst: %v", err)
	}
	for want, roles := range map[string][]identity.Role{
		"": nil, "owner": enough[:1], "owner or admin": enough[:2], "owner, admin or support": enough,
	} {
		if got := identity.RoleNames(roles); got != want {
			t.Errorf("%v are %q, want %q", roles, got, want)
		}
	}
}
