package e2e_test

import (
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestAChangedPasswordSignsOutElsewhereAndIsNoted(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		here, there := a.Visit(t), a.Visit(t)
		here.Open(t, "/dashboard/security")
		if page := here.Send(t, "/dashboard/security/password", "current", "wrong horse battery", "password",
			"another horse battery"); page.Status != 400 || !strings.Contains(page.Body, "not your current password") {
			t.Errorf("a wrong current password is %d", page.Status)
		}
		if page := here.Send(t, "/dashboard/security/password", "current", harness.Password, "password",
			a.Email); page.Status != 400 || !strings.Contains(page.Body, "must not be the email address") {
			t.Errorf("the address as password is %d", page.Status)
		}
		if page := there.Open(t, "/dashboard"); page.Path != "/dashboard" {
			t.Fatalf("a refused change signed the other browser out: %s", page.Path)
		}
		if page := here.Send(
			t, "/dashboard/security/password", "current", harness.Password, "password", "another horse battery",
		); page.Path != "/dashboard/security" {
			t.Fatalf("the change led to %d %s", page.Status, page.Path)
		}
		if page := there.Open(t, "/dashboard"); !strings.HasPrefix(page.Path, "/dashboard/sign-in") {
			t.Errorf("the other browser is still signed in: %s", page.Path)
		}
		log := here.Open(t, "/dashboard/security/log?format=csv").Body
		for _, words := range []string{"Password changed", "Signed in", "Signed up", "API key created", "127.0.0.1",
			"tests"} {
			if !strings.Contains(log+here.Open(t, "/dashboard/security/log").Body, words) {
				t.Errorf("the log lacks %q: %s", words, log)
			}
		}
	})
}

var signOutElsewhere = regexp.MustCompile(`action="(/dashboard/security/browsers/[^"]+/sign-out)"`)

func TestBrowsersAreSignedOutOneByOneAndAllTogether(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		here, there := a.Visit(t), a.Visit(t)
		found := signOutElsewhere.FindStringSubmatch(here.Open(t, "/dashboard/security").Body)
		if found == nil {
			t.Fatal("the other browser is not listed")
		}
		other := html.UnescapeString(found[1])
		eve := app.NewAccount(t).Visit(t)
		eve.Open(t, "/dashboard/security")
		if page := eve.Post(t, other, "token", eve.Token(t)); page.Status != http.StatusNotFound {
			t.Errorf("another account's sign-in is %d", page.Status)
		}
		if page := there.Open(t, "/dashboard"); page.Path != "/dashboard" {
			t.Fatalf("another account signed it out: %s", page.Path)
		}
		here.Open(t, "/dashboard/security")
		here.Send(t, other)
		if page := there.Open(t, "/dashboard"); !strings.HasPrefix(page.Path, "/dashboard/sign-in") {
			t.Errorf("it is still signed in: %s", page.Path)
		}
		here.Open(t, "/dashboard/security")
		here.Send(t, "/dashboard/sign-out-everywhere")
		if page := here.Open(t, "/dashboard"); !strings.HasPrefix(page.Path, "/dashboard/sign-in") {
			t.Errorf("this browser is still signed in: %s", page.Path)
		}
		app.Ask(t, harness.Request{Method: post, Path: "/v1/auth/refresh",
			Body: JSON{"refreshToken": a.RefreshToken}}).Want(t, 401)
	})
}

func TestRefusedSettingsAndHoursKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		v := a.Visit(t)
		v.Open(t, "/dashboard/settings")
		page := v.Send(
			t, "/dashboard/settings", "displayName", "Grace & Co", "accentColor", "green", "supportEmail",
			"help@example.com",
		)
		if page.Status != 400 || !strings.Contains(page.Body, "Expected a color") ||
			!strings.Contains(page.Body, `value="Grace &amp; Co"`) {
			t.Errorf("a color that is none is %d: %s", page.Status, page.Body)
		}
		v.Send(
			t, "/dashboard/settings", "displayName", "Grace & Co", "accentColor", "#123456", "supportEmail",
			"help@example.com", "refundPolicy", "Within 30 days.",
		)
		creator := a.AsCreator(t, get, "/v1/creator", nil).Want(t, 200).Map(t)
		if creator["displayName"] != "Grace & Co" || creator["accentColor"] != "#123456" ||
			creator["refundPolicy"] != "Within 30 days." {
			t.Errorf("saved %v", creator)
		}
		if page = v.Open(t, "/dashboard/bookings/settings"); !strings.Contains(page.Body, "Nothing is saved yet.") {
			t.Errorf("the hours that are only proposed look saved: %s", page.Body)
		}
		page = v.Send(
			t, "/dashboard/bookings/hours", "timezone", "Europe/Dublin", "monday.open", "yes", "monday.from", "09:00",
			"monday.to", "12:30", "tuesday.open", "yes", "tuesday.from", "25:00", "tuesday.to", "26:00",
		)
		if page.Status != 400 || !strings.Contains(page.Body, `id="hours-tuesday-error"`) ||
			strings.Contains(page.Body, `id="hours-monday-error"`) {
			t.Errorf("hours that do not exist are %d: %s", page.Status, page.Body)
		}
		sent := []string{
			"timezone", "Europe/Dublin", "monday.open", "yes", "monday.from", "09:00", "monday.to", "12:30",
			"monday.from", "13:30", "monday.to", "17:10", "friday.from", "09:00", "friday.to", "17:00",
			"exceptions.date", "2026-12-24", "exceptions.from", "", "exceptions.to", "24:00",
			"exceptions.date", "2026-12-28", "exceptions.from", "10:00", "exceptions.to", "12:00",
			"exceptions.date", "", "exceptions.from", "", "exceptions.to", "00:15",
			"exceptions.date", "2026-12-28", "exceptions.from", "14:00", "exceptions.to", "24:00",
		}
		page = v.Send(t, "/dashboard/bookings/hours", append(slices.Clone(sent), "add", "tuesday")...)
		if page.Status != 200 || strings.Count(page.Body, `name="tuesday.from"`) != 1 ||
			strings.Count(page.Body, `name="monday.from"`) != 2 || !strings.Contains(page.Body, `value="2026-12-24"`) {
			t.Errorf("adding hours is %d: %s", page.Status, page.Body)
		}
		page = v.Send(t, "/dashboard/bookings/hours", append(slices.Clone(sent), "copy", "monday")...)
		if page.Status != 200 || strings.Count(page.Body, `<option value="17:10" selected>`) != 7 {
			t.Errorf("copying hours is %d: %s", page.Status, page.Body)
		}
		hours := func() string {
			return string(a.AsCreator(t, get, "/v1/scheduling/availability", nil).Want(t, 200).Body)
		}
		if got := hours(); !strings.Contains(got, `"weekly":[]`) {
			t.Errorf("a button of a row saves %s", got)
		}
		page = v.Send(t, "/dashboard/bookings/hours", "timezone", "Europe/Dublin", "exceptions.date", "2026-12-28",
			"exceptions.from", "10:00", "exceptions.to", "12:00")
		if !strings.Contains(page.Body, "Nobody can book you: no day is ticked.") {
			t.Errorf("exceptions without weekly hours: %d %s", page.Status, page.Body)
		}
		page = v.Send(t, "/dashboard/bookings/hours", sent...)
		if page.Path != "/dashboard/bookings/settings" || !strings.Contains(page.Body, "Your hours are saved.") ||
			strings.Contains(page.Body, "Nothing is saved yet.") {
			t.Errorf("saving hours led to %d %s: %s", page.Status, page.Path, page.Body)
		}
		got := hours()
		for _, part := range []string{
			`"weekly":[{"weekday":"monday","start":"09:00","end":"12:30"},{"weekday":"monday","start":"13:30","end":"17:10"}]`,
			`{"date":"2026-12-24","windows":[]}`,
			`{"date":"2026-12-28","windows":[{"start":"10:00","end":"12:00"},{"start":"14:00","end":"24:00"}]}`,
		} {
			if !strings.Contains(got, part) {
				t.Errorf("saved are %s, without %s", got, part)
			}
		}
	})
}
