package e2e_test

import (
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

func TestSignUps_InviteAndClosed(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"APP_SECRET": "a secret of forty characters, for tests."}
	databaseURL := testdb.SQLite.URL(t)
	app := harness.On(t, testdb.SQLite, databaseURL, vars)
	before := app.NewAccount(t)
	if err := app.Close(); err != nil {
		t.Fatal(err)
	}
	vars["SIGN_UPS"] = "invite"
	inviting := harness.On(t, testdb.SQLite, databaseURL, vars)
	link := strings.TrimSpace(admin(t, inviting, "invite", "grace@example.com"))
	guest := inviting.NewVisitor(t)
	if page := guest.Open(t, link[strings.Index(link, "/dashboard"):]); !strings.Contains(page.Body, "grace@example.com") {
		t.Errorf("the invitation does not say for whom it is: %s", page.Body)
	}
	_, invitation, _ := strings.Cut(link, "=")
	guest.Send(t, "/dashboard/sign-up", "email", "grace@example.com", "password", harness.Password, "displayName",
		"Grace", "invitation", invitation)
	if page := guest.Open(t, "/dashboard"); page.Status != 200 || !strings.Contains(page.Body, "Grace") {
		t.Errorf("who was invited is not in: %d", page.Status)
	}
	inviting.Ask(t, harness.Request{Method: post, Path: "/v1/auth/sign-up", Body: harness.JSON{
		"email": "eve@example.com", "password": harness.Password, "displayName": "Eve",
	}}).Refuses(t, 403, "FORBIDDEN")
	if err := inviting.Close(); err != nil {
		t.Fatal(err)
	}
	vars["SIGN_UPS"] = "closed"
	app = harness.On(t, testdb.SQLite, databaseURL, vars)
	before.App = app

	registration := harness.JSON{
		"email": harness.Unique("eve") + "@example.com", "password": harness.Password, "displayName": "Eve",
	}
	app.Ask(t, harness.Request{Method: post, Path: "/v1/auth/sign-up", Body: registration}).Refuses(t, 403, "FORBIDDEN")
	v := app.NewVisitor(t)
	v.Open(t, "/dashboard/sign-up")
	v.Send(t, "/dashboard/sign-up", "email", registration["email"].(string), "password", harness.Password,
		"displayName", "Eve")
	if !strings.Contains(v.Page.Body, "takes no new accounts") {
		t.Errorf("the page does not say why: %s", v.Page.Body)
	}
	if n := app.Count(t, "SELECT COUNT(*) FROM creators"); n != 2 {
		t.Errorf("%d accounts, want the two from before", n)
	}
	app.Ask(t, harness.Request{Method: post, Path: "/v1/auth/sign-in", Body: harness.JSON{
		"email": before.Email, "password": harness.Password,
	}}).Want(t, 200)
	before.AsBackend(t, get, "/v1/checkout-sessions", nil).Want(t, 200)
}
