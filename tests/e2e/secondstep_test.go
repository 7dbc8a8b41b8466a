package e2e_test

import (
	"encoding/base32"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"sundry/core/identity"
	"sundry/tests/harness"
)

var (
	appSecret     = regexp.MustCompile(`<pre id="app-secret"[^>]*>([A-Z2-7]+)</pre>`)
	recoveryCodes = regexp.MustCompile(`[a-km-np-z2-9]{4}(?:-[a-km-np-z2-9]{4}){3}`)
	pendingField  = regexp.MustCompile(`name="pending" value="([^"]+)"`)
)

// addApp turns two-step sign-in on; code is what the app shows a number of steps from now.
func addApp(t *testing.T, v *harness.Visitor) (code func(steps int) string, recovery []string) {
	t.Helper()
	v.Open(t, "/dashboard/security/steps")
	page := v.Send(t, "/dashboard/security/steps/app")
	found := appSecret.FindStringSubmatch(page.Body)
	if found == nil {
		t.Fatalf("no secret on %d %s: %s", page.Status, page.Path, page.Body)
	}
	secret, err := base32.StdEncoding.DecodeString(found[1])
	if err != nil {
		t.Fatal(err)
	}
	code = func(steps int) string {
		return identity.TOTPCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
	}
	page = v.Send(t, "/dashboard/security/steps/app/confirm", "code", "000000")
	if page.Status != http.StatusBadRequest || !strings.Contains(page.Body, found[1]) {
		t.Errorf("a wrong code is %d", page.Status)
	}
	page = v.Send(t, "/dashboard/security/steps/app/confirm", "code", code(0))
	recovery = recoveryCodes.FindAllString(page.Body, -1)
	if len(recovery) != 10 || !strings.Contains(page.Body, "The app is added.") {
		t.Fatalf("the page has %d recovery codes: %s", len(recovery), page.Body)
	}
	if page = v.Open(t, "/dashboard/security/steps"); recoveryCodes.MatchString(page.Body) {
		t.Error("the recovery codes are shown twice")
	}
	return code, recovery
}

func TestSecondStep_OfTheAPI(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		code, recovery := addApp(t, w.Visit(t))
		signIn := func(code any) *harness.Response {
			body := harness.JSON{"email": w.Email, "password": harness.Password}
			if code != nil {
				body["code"] = code
			}
			return app.Ask(t, harness.Request{Method: post, Path: "/v1/auth/sign-in", Body: body})
		}
		signIn(nil).Refuses(t, 401, "SECOND_STEP_REQUIRED")
		signIn("").Refuses(t, 401, "SECOND_STEP_REQUIRED")
		signIn("000000").Refuses(t, 401, "UNAUTHENTICATED")
		app.Ask(t, harness.Request{Method: post, Path: "/v1/auth/sign-in", Body: harness.JSON{
			"email": w.Email, "password": "wrong horse battery", "code": code(0),
		}}).Refuses(t, 401, "UNAUTHENTICATED")
		used := code(1)
		signIn(used).Want(t, 200)
		signIn(used).Refuses(t, 401, "UNAUTHENTICATED")
		signIn(recovery[0]).Want(t, 200)
		signIn(recovery[0]).Refuses(t, 401, "UNAUTHENTICATED")
		if n := app.Count(t, "SELECT COUNT(*) FROM second_steps WHERE app_secret IS NOT NULL AND id = $1", w.ID); n != 1 {
			t.Errorf("%d apps are stored", n)
		}
		workOff(t, w.Account)
		subjects := map[string]int{}
		for _, m := range mailsTo(t, app, w.Email) {
			subjects[m.Subject]++
		}
		if subjects["[Test] You added an authenticator app"] != 1 || subjects["[Test] A recovery code was used"] != 1 {
			t.Errorf("mailed are %v", subjects)
		}
		if out := admin(t, app, "reset-second-step", w.Email, "lost", "phone"); !strings.Contains(out, "is off") {
			t.Errorf("the operator reads %q", out)
		}
		signIn(nil).Want(t, 200)
	})
}

func TestSecondStep_OfTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		first, other := w.Visit(t), w.Visit(t)
		code, recovery := addApp(t, first)
		if page := other.Open(t, "/dashboard"); !strings.HasPrefix(page.Path, "/dashboard/sign-in") {
			t.Errorf("another browser is still signed in: %s", page.Path)
		}
		v := app.NewVisitor(t)
		v.Open(t, "/dashboard/sign-in?next=/dashboard/orders")
		page := v.Send(t, "/dashboard/sign-in", "email", w.Email, "password", harness.Password, "next", "/dashboard/orders")
		pending := pendingField.FindStringSubmatch(page.Body)
		if pending == nil || v.Cookie(t, "sundry_session") != "" {
			t.Fatalf("the password alone leads to %d %s", page.Status, page.Path)
		}
		send := func(code string) *harness.Page {
			return v.Send(t, "/dashboard/sign-in/step", "pending", html.UnescapeString(pending[1]), "code", code,
				"next", "/dashboard/orders")
		}
		if page := send("000000"); page.Status != 401 || !strings.Contains(page.Body, "wrong, or was used") {
			t.Errorf("a wrong code is %d", page.Status)
		}
		if page := send(code(1)); page.Path != "/dashboard/orders" {
			t.Errorf("the right code leads to %d %s", page.Status, page.Path)
		}
		app.Exec(t, "UPDATE web_sessions SET created_at = created_at - 600000, confirmed_at = confirmed_at - 600000 "+
			"WHERE creator_id = $1", w.ID)
		v.Open(t, "/dashboard/security/steps")
		if page := v.Send(t, "/dashboard/security/steps/codes"); !strings.Contains(page.Body, `name="codeAgain"`) {
			t.Errorf("new codes are made without a proof: %d", page.Status)
		}
		page = v.Send(t, "/dashboard/security/steps/codes", "codeAgain", recovery[1])
		if fresh := recoveryCodes.FindAllString(page.Body, -1); len(fresh) != 10 || fresh[0] == recovery[0] {
			t.Errorf("the proof leads to %d %s with %d codes", page.Status, page.Path, len(fresh))
		}
		if page := v.Send(t, "/dashboard/security/steps/app/remove"); !strings.Contains(page.Body, "The app is removed.") {
			t.Errorf("removing the app is %d", page.Status)
		}
		w.Visit(t) // by the password alone
	})
}

func TestSecondStep_RequiredByTheOwner(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m, grace, token := w.join(t, "admin")
		ada := w.Visit(t)
		ada.Open(t, "/dashboard/team")
		if page := ada.Send(t, "/dashboard/team/second-step", "required", "yes"); !strings.Contains(page.Body,
			"for yourself first") {
			t.Errorf("an owner locks themselves out: %d", page.Status)
		}
		code, _ := addApp(t, ada)
		ada.Open(t, "/dashboard/team")
		if page := ada.Send(t, "/dashboard/team/second-step", "required", "yes"); !strings.Contains(page.Body,
			"is required of everybody now") {
			t.Errorf("requiring it is %d", page.Status)
		}
		if page := grace.Open(t, "/dashboard/orders"); page.Path != "/dashboard/security/steps" ||
			!strings.Contains(page.Body, "requires two-step sign-in") {
			t.Errorf("a member without it reads %s", page.Path)
		}
		app.Ask(t, harness.Request{Method: post, Path: "/v1/auth/sign-in", Body: harness.JSON{
			"email": m.Email, "password": harness.Password,
		}}).Refuses(t, 403, "FORBIDDEN")
		addApp(t, grace)
		if page := grace.Open(t, "/dashboard/orders"); page.Path != "/dashboard/orders" {
			t.Errorf("a member with it is led to %s", page.Path)
		}
		app.Ask(t, harness.Request{Method: get, Path: "/v1/members", Bearer: token}).Refuses(t, 401, "UNAUTHENTICATED")
		var in struct{ AccessToken string }
		app.Ask(t, harness.Request{Method: post, Path: "/v1/auth/sign-in", Body: harness.JSON{
			"email": w.Email, "password": harness.Password, "code": code(1),
		}}).Want(t, 200).Into(t, &in)
		members := app.Ask(t, harness.Request{Method: get, Path: "/v1/members", Bearer: in.AccessToken}).Want(t, 200)
		if !strings.Contains(string(members.Body), `"secondStep":true`) {
			t.Errorf("the members are %s", members.Body)
		}
	})
}
