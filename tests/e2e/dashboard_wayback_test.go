package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

func TestSignIn_LeadsBackToTheFormThatWasNotSaved(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	a := app.NewAccount(t)
	l := a.Published(t, harness.JSON{"title": "A book"})
	for action, page := range map[string]string{
		"/dashboard/settings":                      "/dashboard/settings",
		"/dashboard/discounts/new":                 "/dashboard/discounts/new",
		"/dashboard/listings/" + l.ID + "/edit":    "/dashboard/listings/" + l.ID + "/edit",
		"/dashboard/listings/" + l.ID + "/archive": "/dashboard/listings/" + l.ID,
		"/dashboard/filters":                       "/dashboard",
		"/dashboard/sandbox/advance":               "/dashboard",
	} {
		v := app.NewVisitor(t)
		asked := v.Post(t, action, "title", "Another book")
		reads(t, asked, "You were signed out, so nothing was saved.", "Another book")
		fields := replaced(asked.Fields("/dashboard/sign-in"), "email", a.Email)
		v.Send(t, "/dashboard/sign-in", replaced(fields, "password", harness.Password)...)
		if v.Page.Path != page {
			t.Errorf("%s led back to %s", action, v.Page.Path)
		}
	}
}

func TestTheDashboardSaysInItsOwnFrameWhatIsNotThere(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	v := app.NewAccount(t).Visit(t)
	for _, path := range []string{"/dashboard/listings/lst_gone", "/dashboard/orders/pay_gone", "/dashboard/nope"} {
		page := v.Open(t, path)
		if page.Status != http.StatusNotFound || !strings.Contains(page.Body, `<nav class="nav"`) {
			t.Errorf("%s is %d, without a way back: %s", path, page.Status, page.Body)
		}
		reads(t, page, "It may have been deleted", "checkout link")
	}
}

func TestALanguageIsChosenWithoutLosingAnInvitation(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	for _, path := range []string{
		"/dashboard/sign-up?invitation=abc&next=%2Fdashboard%2Forders", "/dashboard/sign-in?next=%2Fdashboard%2Forders",
		"/dashboard/sign-up", "/dashboard/sign-in",
	} {
		v := app.NewVisitor(t)
		back := v.Open(t, path).Fields("/dashboard/language")
		if page := v.Send(t, "/dashboard/language", append(back, "language", "de")...); page.Path != path {
			t.Errorf("choosing a language on %s led to %s", path, page.Path)
		}
	}
	v := app.NewVisitor(t)
	reads(t, v.Open(t, "/dashboard/sign-up?next=%2Fdashboard%2Forders"),
		`href="/dashboard/sign-in?next=%2fdashboard%2forders"`, "!never")
}

func TestForgottenPassword_ReloadSendsNothing(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	v := app.NewVisitor(t)
	v.Open(t, "/dashboard/forgot")
	if page := v.Send(t, "/dashboard/forgot", "email", "nobody@example.com"); page.Path != "/dashboard/forgot?sent=yes" {
		t.Errorf("the answer is at %s, which a reload sends again", page.Path)
	}
}
