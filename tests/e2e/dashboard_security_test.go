package e2e_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

func TestEveryFormOfTheDashboardNeedsItsOwnToken(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	ada, eve := app.NewAccount(t), app.NewAccount(t)
	v, other := ada.Visit(t), eve.Visit(t)
	before := ada.AsBackend(t, get, "/v1/sandbox/clock", nil).Want(t, 200).Map(t)
	for name, token := range map[string][]string{
		"no token":              nil,
		"an empty token":        {"token", ""},
		"an invented token":     {"token", strings.Repeat("0", 64)},
		"another user's token":  {"token", other.Token(t)},
		"two tokens, bad first": {"token", "x", "token", v.Token(t)},
	} {
		page := v.Post(t, "/dashboard/sandbox/advance", append([]string{"seconds", "86400"}, token...)...)
		if page.Status != http.StatusForbidden || !strings.Contains(page.Body, "out of date") {
			t.Errorf("%s: %d", name, page.Status)
		}
	}
	v.Post(t, "/dashboard/sign-out")
	if page := v.Open(t, "/dashboard"); page.Path != "/dashboard" {
		t.Errorf("signed out by a form without a token: %s", page.Path)
	}
	after := ada.AsBackend(t, get, "/v1/sandbox/clock", nil).Want(t, 200).Map(t)
	if day := func(c harness.JSON) string { return c["now"].(string)[:10] }; day(before) != day(after) {
		t.Errorf("the clock moved from %v to %v", before, after)
	}
	v.Open(t, "/dashboard")
	if v.Send(t, "/dashboard/sandbox/advance", "seconds", "3600", "back", "/dashboard/orders"); v.Page.Status != 200 ||
		!strings.HasPrefix(v.Page.Path, "/dashboard/orders") {
		t.Errorf("the form itself: %d %s", v.Page.Status, v.Page.Path)
	}
}

func TestNobodyIsSignedInByAnotherSite(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	eve := app.NewAccount(t)
	target := app.NewVisitor(t)
	target.Open(t, "/dashboard/sign-in")
	attacker := app.NewVisitor(t)
	attacker.Open(t, "/dashboard/sign-in")
	for name, token := range map[string]string{"none": "", "of the attacker's own page": attacker.Token(t)} {
		page := target.Post(t, "/dashboard/sign-in", "email", eve.Email, "password", harness.Password, "token", token)
		if page.Status != http.StatusForbidden || target.Cookie(t, "sundry_session") != "" {
			t.Errorf("a token %s: %d", name, page.Status)
		}
	}
}

func TestASignInReplacesWhateverTheBrowserHeld(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	ada, eve := app.NewAccount(t), app.NewAccount(t)
	planted := eve.Visit(t).Cookie(t, "sundry_session")
	v := app.NewVisitor(t)
	v.SetCookie(t, "sundry_session", planted)
	v.Open(t, "/dashboard/sign-up") // the planted session is not asked here
	v.Send(
		t, "/dashboard/sign-up", "displayName", "Grace", "email", harness.Unique("grace")+"@example.com", "password",
		harness.Password,
	)
	if got := v.Cookie(t, "sundry_session"); got == "" || got == planted {
		t.Errorf("the session after signing up is %q, planted %q", got, planted)
	}
	first := ada.Visit(t)
	before := first.Cookie(t, "sundry_session")
	first.Send(t, "/dashboard/sign-out")
	first.SetCookie(t, "sundry_session", before)
	if page := first.Open(t, "/dashboard"); !strings.HasPrefix(page.Path, "/dashboard/sign-in") {
		t.Errorf("a cookie opens the dashboard after signing out: %s", page.Path)
	}
	forged := before[:len(before)-4] + "AAAA"
	first.SetCookie(t, "sundry_session", forged)
	if page := first.Open(t, "/dashboard"); !strings.HasPrefix(page.Path, "/dashboard/sign-in") {
		t.Errorf("a forged cookie opens the dashboard: %s", page.Path)
	}
}

func TestSigningInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	ada := app.NewAccount(t)
	for _, next := range []string{
		"https://evil.example/", "//evil.example/", `/\evil.example`, `/dashboard\..\..\evil`,
		"/dashboard//evil.example", "javascript:alert(1)",
		"/dashboard/../c/x", "/c/secret", "/dashboardx", "http:/dashboard", "/dashboard/%2e%2e/x",
		"/dashboard/\t/evil.example", "/dashboard/sign-out",
	} {
		v := app.NewVisitor(t)
		v.Open(t, "/dashboard/sign-in?next="+url.QueryEscape(next))
		if page := v.Send(
			t, "/dashboard/sign-in", "email", ada.Email, "password", harness.Password, "next", next,
		); page.Path != "/dashboard" {
			if page.Status == http.StatusTooManyRequests {
				continue // ten a minute; the rest is covered by the unit test of safeNext
			}
			t.Errorf("next=%q led to %d %s", next, page.Status, page.Path)
		}
	}
	v := app.NewAccount(t).Visit(t)
	v.Send(t, "/dashboard/sign-out")
	if page := v.Open(
		t, "/dashboard/orders?status=succeeded",
	); page.Path != "/dashboard/sign-in?next=%2Fdashboard%2Forders%3Fstatus%3Dsucceeded" {
		t.Errorf("asked to sign in at %s", page.Path)
	}
}

func TestTheDashboardCannotBeFramedCachedOrRead(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	v := app.NewAccount(t).Visit(t)
	for _, path := range []string{"/dashboard", "/dashboard/orders", "/dashboard/sign-up"} {
		h := v.Open(t, path).Header
		if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") ||
			!strings.Contains(policy, "script-src 'self';") ||
			!strings.Contains(policy, "form-action 'self'") || h.Get("X-Frame-Options") != "DENY" ||
			h.Get("Cache-Control") != "no-store" ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, h)
		}
	}
	response := app.AskUnjudged(t, harness.Request{Method: get, Path: "/dashboard/sign-in"})
	if cookie := response.Header.Get("Set-Cookie"); !strings.Contains(cookie, "HttpOnly") ||
		!strings.Contains(cookie, "SameSite=Lax") || !strings.Contains(cookie, "path=/dashboard") {
		t.Errorf("cookie %q", cookie)
	}
}

func TestHostileNamesAreOnlyText(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`
	v := app.NewVisitor(t)
	v.Open(t, "/dashboard/sign-up")
	v.Send(
		t, "/dashboard/sign-up", "displayName", hostile, "email", harness.Unique("eve")+"@example.com", "password",
		harness.Password,
	)
	if v.Page.Path != "/dashboard" || !strings.Contains(v.Page.Body, "&lt;script&gt;alert(1)") {
		t.Fatalf("signing up led to %s", v.Page.Path)
	}
	for _, path := range []string{"/dashboard", "/dashboard/orders?q=" + url.QueryEscape(hostile),
		"/dashboard/sign-in?next=" + url.QueryEscape(hostile)} {
		if page := v.Open(t, path); strings.Contains(page.Body, "<script>alert") ||
			strings.Contains(page.Body, "<img src=x") {
			t.Errorf("%s: %s", path, page.Body)
		}
	}
}

func TestAPasswordIsSetByMailOnce(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil)
		ada := app.NewAccount(t)
		other := ada.Visit(t)
		v := app.NewVisitor(t)
		v.Open(t, "/dashboard/forgot")
		unknown := v.Send(t, "/dashboard/forgot", "email", "nobody@example.com").Body
		v.Open(t, "/dashboard/forgot")
		known := v.Send(t, "/dashboard/forgot", "email", ada.Email).Body
		if strings.ReplaceAll(known, ada.Email, "") != strings.ReplaceAll(unknown, "nobody@example.com", "") ||
			!strings.Contains(known, "If there is an account") {
			t.Errorf("the pages reveal whether there is an account:\n%s\n%s", known, unknown)
		}
		link := resetLinkIn(t, ada)
		if page := v.Open(t, link+"x"); page.Status != 404 {
			t.Errorf("a changed link is %d", page.Status)
		}
		v.Open(t, link)
		if page := v.Send(t, link, "password", "short"); page.Status != 400 ||
			!strings.Contains(page.Body, "at least 10 characters") {
			t.Errorf("a short password is %d", page.Status)
		}
		const fresh = "another horse battery"
		if page := v.Send(t, link, "password", fresh); page.Path != "/dashboard/sign-in?reset=done" {
			t.Fatalf("setting the password led to %d %s", page.Status, page.Path)
		}
		if page := v.Open(t, link); page.Status != 404 || !strings.Contains(page.Body, "no longer works") {
			t.Errorf("the link works twice: %d", page.Status)
		}
		if page := other.Open(t, "/dashboard"); !strings.HasPrefix(page.Path, "/dashboard/sign-in") {
			t.Errorf("another browser is still signed in: %s", page.Path)
		}
		app.Ask(t, harness.Request{Method: post, Path: "/v1/auth/refresh",
			Body: harness.JSON{"refreshToken": ada.RefreshToken}}).Want(t, 401)
		v.Open(t, "/dashboard/sign-in")
		if page := v.Send(
			t, "/dashboard/sign-in", "email", ada.Email, "password", harness.Password,
		); page.Status != 401 {
			t.Errorf("the old password: %d", page.Status)
		}
		if page := v.Send(t, "/dashboard/sign-in", "email", ada.Email, "password", fresh); page.Path != "/dashboard" {
			t.Errorf("the new password led to %d %s", page.Status, page.Path)
		}
	})
}

var resetLink = regexp.MustCompile(`/dashboard/reset/[\w.=-]+`)

// resetLinkIn is the link in the last mail to an account's owner.
func resetLinkIn(t *testing.T, a *harness.Account) string {
	t.Helper()
	workOff(t, a)
	mails := mailsTo(t, a.App, a.Email)
	if len(mails) != 1 {
		t.Fatalf("%d mails, want one", len(mails))
	}
	link := resetLink.FindString(mails[0].Parts["text/plain"])
	if link == "" {
		t.Fatalf("no link in %s", mails[0].Parts["text/plain"])
	}
	return link
}
