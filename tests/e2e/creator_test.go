package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
)

type creator struct {
	ID, Email, DisplayName                           string
	NotifyOrders, NotifyPayouts                      bool
	LogoURL, AccentColor, SupportEmail, RefundPolicy *string
}

func TestACreatorSaysWhatBuyersSeeOfThem(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		var before, after, again creator
		a.AsCreator(t, http.MethodGet, "/v1/creator", nil).Want(t, 200).Into(t, &before)
		if before.Email != a.Email || before.LogoURL != nil || before.RefundPolicy != nil {
			t.Errorf("a new creator is %+v", before)
		}
		a.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{
			"displayName": "Ada Ltd", "logoUrl": "https://a.example/l.png", "accentColor": "#4F46E5",
			"supportEmail": "help@a.example", "refundPolicy": "14 days.",
		}).Want(t, 200).Into(t, &after)
		if after.DisplayName != "Ada Ltd" || *after.AccentColor != "#4f46e5" || *after.SupportEmail != "help@a.example" ||
			*after.RefundPolicy != "14 days." || *after.LogoURL != "https://a.example/l.png" {
			t.Errorf("changed to %+v", after)
		}
		a.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"logoUrl": nil}).Want(t, 200).Into(t, &again)
		if again.LogoURL != nil || again.DisplayName != "Ada Ltd" {
			t.Errorf("cleared to %+v", again)
		}
		if !before.NotifyOrders || !before.NotifyPayouts {
			t.Errorf("a new creator is not notified: %+v", before)
		}
		var quiet creator
		a.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"notifyOrders": false}).Want(t, 200).Into(t, &quiet)
		if quiet.NotifyOrders || !quiet.NotifyPayouts {
			t.Errorf("switched orders off: %+v", quiet)
		}
		a.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"notifyPayouts": nil}).
			Refuses(t, 400, "VALIDATION_FAILED", "notifyPayouts")
		a.AsCreator(t, http.MethodPatch, "/v1/creator",
			harness.JSON{"displayName": nil, "logoUrl": "ftp://x", "accentColor": "", "supportEmail": 1,
				"email": "b@example.com"}).
			Refuses(t, 400, "VALIDATION_FAILED", "displayName", "logoUrl", "accentColor", "supportEmail", "email")
		a.AsBackend(t, http.MethodGet, "/v1/creator", nil).Refuses(t, 401, "UNAUTHENTICATED")

		var foreign creator
		other.AsCreator(t, http.MethodGet, "/v1/creator", nil).Want(t, 200).Into(t, &foreign)
		if foreign.DisplayName == "Ada Ltd" {
			t.Error("one account's name became another's")
		}
	})
}

// The address that an embedded session returns to is often not that of the page which shows it.
func TestACreatorNamesTheSitesThatShowTheirCheckout(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := a.Published(t, nil)
		policy := func(mode string) string {
			session := a.NewSession(t, listing, "default", "user-1", harness.JSON{"uiMode": mode})
			page := app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/c/" + session.Secret()})
			return page.Want(t, 200).Header.Get("Content-Security-Policy")
		}
		changed := a.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{
			"embedOrigins": []string{"https://Blog.example/", "http://localhost:3000"},
		}).Want(t, 200).Map(t)
		if got := fmt.Sprint(changed["embedOrigins"]); got != "[https://blog.example http://localhost:3000]" {
			t.Errorf("stored %s", got)
		}
		const want = "frame-ancestors https://shop.example https://blog.example http://localhost:3000"
		if got := policy("embedded"); !strings.HasSuffix(got, want) {
			t.Errorf("an embedded session's policy is %q", got)
		}
		if got := policy("hosted"); !strings.HasSuffix(got, "frame-ancestors 'none'") {
			t.Errorf("a hosted session's policy is %q", got)
		}
		v := a.Visit(t)
		v.Open(t, "/dashboard/settings")
		v.Send(t, "/dashboard/settings", "displayName", "Ada", "embedOrigins", "https://one.example\nhttps://two.example")
		const both = "https://shop.example https://one.example https://two.example"
		if got := policy("embedded"); !strings.HasSuffix(got, both) {
			t.Errorf("after the form the policy is %q", got)
		}
		a.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"embedOrigins": []string{"a.example", "*"}}).
			Refuses(t, 400, "VALIDATION_FAILED", "embedOrigins[0]", "embedOrigins[1]")
		a.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"embedOrigins": []string{}}).Want(t, 200)
		if got := policy("embedded"); !strings.HasSuffix(got, "frame-ancestors https://shop.example") {
			t.Errorf("without sites the policy is %q", got)
		}
	})
}

// A form from before the boxes, or a script that leaves them out, must not turn mails off.
func TestSettingsWithoutTheBoxesKeepTheMails(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		v := a.Visit(t)
		wants := func(what string, orders, payouts bool) {
			t.Helper()
			creator := a.AsCreator(t, get, "/v1/creator", nil).Want(t, 200).Map(t)
			if creator["notifyOrders"] != orders || creator["notifyPayouts"] != payouts {
				t.Errorf("%s: %v and %v", what, creator["notifyOrders"], creator["notifyPayouts"])
			}
		}
		v.Open(t, "/dashboard/settings")
		v.Send(t, "/dashboard/settings", "displayName", "Ada")
		wants("a form without the boxes", true, true)
		v.Open(t, "/dashboard/settings")
		v.Send(t, "/dashboard/settings", "displayName", "Ada", "mailsShown", "yes", "notifyPayouts", "yes")
		wants("a form with one of them unchecked", false, true)
	})
}
