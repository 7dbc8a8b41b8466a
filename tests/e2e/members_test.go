package e2e_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/core/identity"
	"sundry/tests/harness"
)

type memberBody struct{ ID, Email, Role, Status string }

func (w *fixture) invite(t *testing.T, role string) (m memberBody) {
	t.Helper()
	w.AsCreator(t, post, "/v1/members", harness.JSON{
		"email": harness.Unique("grace") + "@example.com", "role": role,
	}).Want(t, 201).Into(t, &m)
	return m
}

var joinLink = regexp.MustCompile(`/dashboard/join/[\w.=-]+`)

// join invites a member and accepts by the mail: the member is signed in with the visitor and by the token.
func (w *fixture) join(t *testing.T, role string) (m memberBody, v *harness.Visitor, token string) {
	t.Helper()
	m = w.invite(t, role)
	workOff(t, w.Account)
	mails := mailsTo(t, w.App, m.Email)
	if len(mails) != 1 {
		t.Fatalf("%d mails to %s, want one", len(mails), m.Email)
	}
	link := joinLink.FindString(mails[0].Parts["text/plain"])
	v = w.NewVisitor(t)
	if page := v.Open(t, link); page.Status != 200 || !strings.Contains(page.Body, m.Email) {
		t.Fatalf("the invitation is %d: %s", page.Status, page.Body)
	}
	if page := v.Send(t, link, "name", "", "password", "short"); page.Status != 400 ||
		!strings.Contains(page.Body, "at least 10 characters") {
		t.Errorf("a bad answer to the invitation is %d", page.Status)
	}
	if page := v.Send(t, link, "name", "Grace", "password", harness.Password); page.Path != "/dashboard" {
		t.Fatalf("accepting led to %d %s", page.Status, page.Path)
	}
	if page := w.NewVisitor(t).Open(t, link); page.Status != 404 {
		t.Errorf("the link is %d once it was used", page.Status)
	}
	var in struct {
		AccessToken string
		Creator     struct{ ID string }
		Member      struct{ ID, Role string }
	}
	w.Ask(t, harness.Request{Method: post, Path: "/v1/auth/sign-in", Body: harness.JSON{
		"email": m.Email, "password": harness.Password,
	}}).Want(t, 200).Into(t, &in)
	if in.Creator.ID != w.ID || in.Member.ID != m.ID || in.Member.Role != role {
		t.Errorf("%s is signed in as %+v", role, in)
	}
	return m, v, in.AccessToken
}

// TestMembers_EveryRouteForEveryRole calls every route that takes an access token with one of each role: those that
// the document names get past the role, the others are refused in words that name who may.
func TestMembers_EveryRouteForEveryRole(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		tokens := map[string]string{}
		for _, role := range identity.Roles() {
			_, _, tokens[string(role)] = w.join(t, string(role))
		}
		routes := 0
		for _, op := range harness.Operations(t) {
			names, ok := op.Extensions["x-roles"].([]any)
			if !ok {
				continue
			}
			routes++
			r := harness.Request{Method: op.Method, Path: placeholder.ReplaceAllString(op.Path, "x")}
			if op.TakesBody() {
				r.Body = "{not json" // no request gets as far as an effect
			}
			for role, token := range tokens {
				r.Bearer = token
				got := app.Ask(t, r)
				if slices.Contains(names, any(role)) {
					if got.Status == http.StatusForbidden || got.Status == http.StatusUnauthorized {
						t.Errorf("%s refuses the role %s: %d %s", op.Line(), role, got.Status, got.Body)
					}
					continue
				}
				got.Refuses(t, 403, "FORBIDDEN")
				if message := got.Refusal(t).Message; !strings.Contains(message, "is "+role) ||
					!strings.Contains(message, names[0].(string)) {
					t.Errorf("%s: the refusal %q names neither %s nor who may", op.Line(), message, role)
				}
			}
		}
		if routes < 45 {
			t.Errorf("%d routes name their roles", routes)
		}
	})
}

// TestMembers_BrandingOfACatalog is for who may change the account, as with PATCH /v1/creator.
func TestMembers_BrandingOfACatalog(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		_, _, developer := w.join(t, "developer")
		_, _, admin := w.join(t, "admin")
		put := func(bearer, query string, file harness.JSON) *harness.Response {
			return app.Ask(t, harness.Request{Method: http.MethodPut, Path: "/v1/catalog" + query, Bearer: bearer, Body: file})
		}
		file := catalogFile(t, w.Account)
		put(developer, "", file).Want(t, 200)
		file["listings"].([]any)[0].(harness.JSON)["title"] = "Renamed"
		put(developer, "", file).Want(t, 200)
		before := asJSON(t, catalogFile(t, w.Account))

		file["listings"].([]any)[0].(harness.JSON)["title"] = "Renamed twice"
		file["branding"].(harness.JSON)["supportEmail"] = "help@other.example"
		for _, query := range []string{"", "?dryRun=true"} {
			got := put(developer, query, file)
			got.Refuses(t, 403, "FORBIDDEN")
			if message := got.Refusal(t).Message; !strings.Contains(message, "is developer") ||
				!strings.Contains(message, "owner or admin") {
				t.Errorf("the refusal %q names neither the role nor who may", message)
			}
		}
		if after := asJSON(t, catalogFile(t, w.Account)); after != before {
			t.Errorf("a refused import changed the catalog to %s from %s", after, before)
		}
		put(admin, "", file).Want(t, 200)
		if got := asJSON(t, catalogFile(t, w.Account)); got != asJSON(t, file) {
			t.Errorf("the import of an admin made %s, want %s", got, asJSON(t, file))
		}
		delete(file, "branding")
		put(developer, "", file).Want(t, 200)
	})
}

// dashboardRoles are pages and forms with the roles that may use them.
var dashboardRoles = []struct{ pages, forms, roles string }{
	{"/ /orders /customers /subscriptions /invoices /usage /bookings /disputes /listings /links /discounts " +
		"/search /security /bookings/settings /usage/prices /usage/meters", "", "owner admin support analyst developer"},
	{"/team /settings /security/log", "/team /settings /team/x /team/x/remove /customers/x/erase", "owner admin"},
	{"/keys /keys/new /webhooks/new /listings/new /links/new /discounts/new /usage/meters/new",
		"/keys/new /keys/x/revoke /webhooks/new /listings/new /listings/x/edit /links/new /discounts/new " +
			"/bookings/hours /sandbox/advance", "owner admin developer"},
	{"/customers/new", "/customers/new /customers/x/grant /orders/x/refund /disputes/x/accept /subscriptions/x/cancel " +
		"/bookings/x/cancel /invoices/x/pay", "owner admin support"},
	{"/balance /ledger /webhooks /events /requests", "", "owner admin analyst developer"},
	{"/balance/payout", "/balance/payout /balance/schedule", "owner admin"},
	{"", "/balance/account", "owner"},
}

func TestMembers_EveryPageForEveryRole(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, role := range identity.Roles() {
			_, v, _ := w.join(t, string(role))
			home := v.Open(t, "/dashboard").Body
			for _, row := range dashboardRoles {
				may := slices.Contains(strings.Fields(row.roles), string(role))
				for path := range strings.FieldsSeq(row.pages) {
					page := v.Open(t, "/dashboard"+path)
					if refused := page.Status == 403; refused == may || page.Status >= 500 {
						t.Errorf("%s opens %s: %d", role, path, page.Status)
					}
					linked := strings.Contains(home, `href="/dashboard`+path+`"><svg`)
					if linked && !may {
						t.Errorf("the navigation of %s leads to %s", role, path)
					}
				}
				for path := range strings.FieldsSeq(row.forms) {
					v.Open(t, "/dashboard/security")
					page := v.Post(t, "/dashboard"+path, "token", v.Token(t))
					if refused := page.Status == 403; refused == may || page.Status >= 500 {
						t.Errorf("%s sends %s: %d", role, path, page.Status)
					}
				}
			}
		}
	})
}

// TestMembers_ButtonsFollowRoles: what a role may not do is not offered.
func TestMembers_ButtonsFollowRoles(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
		order := "/dashboard/orders/" + text(t, receipt["paymentId"])
		_, support, _ := w.join(t, "support")
		_, analyst, _ := w.join(t, "analyst")
		if page := support.Open(t, order); !strings.Contains(page.Body, order+"/refund") {
			t.Error("support is not offered to refund")
		}
		if page := analyst.Open(t, order); page.Status != 200 || strings.Contains(page.Body, order+"/refund") {
			t.Errorf("an analyst is offered to refund: %d", page.Status)
		}
		if page := analyst.Open(t, "/dashboard/balance"); page.Status != 200 ||
			strings.Contains(page.Body, "/balance/payout\"") || strings.Contains(page.Body, "/balance/account\"") {
			t.Errorf("an analyst is offered payouts: %d", page.Status)
		}
		if page := support.Open(t, "/dashboard/listings"); strings.Contains(page.Body, "/listings/new") {
			t.Error("support is offered to make a listing")
		}
	})
}

// TestMembers_RefundButNotPayOut is a colleague's day: she refunds by the dashboard, in her name, and pays nothing out.
func TestMembers_RefundButNotPayOut(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		_, receipt := w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)
		order := "/dashboard/orders/" + text(t, receipt["paymentId"])
		m, v, token := w.join(t, "support")
		v.Open(t, order+"/refund")
		v.Send(t, order+"/refund", "amount", "5.00", "reason", "requested_by_customer")
		lines := w.auditLog(t, string(identity.RefundCreated))
		if len(lines) != 1 || lines[0].Actor == nil || lines[0].Actor.Type != "member" || lines[0].Actor.ID != m.ID ||
			lines[0].Actor.Name != "Grace ("+m.Email+")" {
			t.Errorf("the refund is noted as %+v", lines)
		}
		if page := v.Post(t, "/dashboard/balance/payout", "amount", "1.00", "currency", "eur", "token",
			v.Token(t)); page.Status != 403 ||
			!strings.Contains(page.Body, "Your role is support.") {
			t.Errorf("a payout by support is %d", page.Status)
		}
		other := newFixture(t, app)
		for _, r := range []harness.Request{
			{Method: patch, Path: "/v1/members/" + m.ID, Body: harness.JSON{"role": "owner"}},
			{Method: "DELETE", Path: "/v1/members/" + m.ID},
		} {
			r.Bearer = other.Token
			app.Ask(t, r).Refuses(t, 404, "NOT_FOUND")
			r.Bearer = token
			app.Ask(t, r).Refuses(t, 403, "FORBIDDEN")
		}
		w.AsCreator(t, "DELETE", "/v1/members/"+w.ID, nil).Refuses(t, 403, "FORBIDDEN")
		w.AsCreator(t, "DELETE", "/v1/members/"+m.ID, nil).Want(t, 200)
		if page := v.Open(t, "/dashboard"); !strings.HasPrefix(page.Path, "/dashboard/sign-in") {
			t.Errorf("who was removed is still in: %s", page.Path)
		}
		app.Ask(t, harness.Request{Method: get, Path: "/v1/creator", Bearer: token}).Refuses(t, 401, "UNAUTHENTICATED")
	})
}

// TestCarefulForms_AskForThePassword: money and access are changed with the password of the last ten minutes only, and
// what was typed is not lost.
func TestCarefulForms_AskForThePassword(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v := w.Visit(t)
		age := func() {
			app.Exec(t, "UPDATE web_sessions SET created_at = created_at - 600000, confirmed_at = confirmed_at - 600000 "+
				"WHERE creator_id = $1", w.ID)
		}
		keys := func() int64 {
			return app.Count(t, "SELECT COUNT(*) FROM api_keys WHERE creator_id = $1 AND name = 'later'", w.ID)
		}
		send := func(fields ...string) *harness.Page {
			fields = append(fields, "name", "later", "scopes", "read", "token", v.Token(t))
			return v.Post(t, "/dashboard/keys/new", fields...)
		}
		v.Open(t, "/dashboard/keys/new")
		age()
		if page := send(); page.Status != 200 || !strings.Contains(page.Body, "Confirm that it’s you") ||
			!strings.Contains(page.Body, `name="scopes" value="read"`) || keys() != 0 {
			t.Fatalf("an old sign-in makes a key: %d, %d keys", page.Status, keys())
		}
		if page := send("passwordAgain", "wrong horse battery"); page.Status != 400 ||
			!strings.Contains(page.Body, "not your current password") || keys() != 0 {
			t.Errorf("a wrong password is %d, %d keys", page.Status, keys())
		}
		if page := v.Send(t, "/dashboard/keys/new", "name", "later", "scopes", "read", "passwordAgain",
			harness.Password); page.Path != "/dashboard/keys/created" || keys() != 1 {
			t.Errorf("the password leads to %d %s, %d keys", page.Status, page.Path, keys())
		}
		v.Open(t, "/dashboard/keys/new")
		if send(); keys() != 2 {
			t.Error("the password is asked for again at once")
		}
		for _, path := range []string{
			"/balance/payout", "/balance/schedule", "/balance/account", "/team", "/team/x", "/team/x/remove", "/team/x/invite",
		} {
			age()
			v.Open(t, "/dashboard")
			page := v.Post(t, "/dashboard"+path, "token", v.Token(t))
			if page.Status != 200 || !strings.Contains(page.Body, "Confirm that it’s you") {
				t.Errorf("%s asks nothing: %d", path, page.Status)
			}
		}
	})
}
