package layout_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/layout/layouttest"
	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/payment"
)

func TestErrorPagesRender(t *testing.T) {
	t.Parallel()
	l := layouttest.New(t, true)
	for name, c := range map[string]struct {
		status int
		want   string
	}{
		"not found":     {404, "Page not found"},
		"gone":          {410, "no longer active"},
		"broken":        {503, "our side"},
		"not valid":     {400, "This link isn’t valid"},
		"not sold now":  {409, "no longer active"},
		"too many":      {429, "Too many requests"},
		"other refusal": {405, "Page not found"},
	} {
		html, err := l.ErrorHTML(locale.Default, c.status, "req_1")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(html), c.want) || !strings.Contains(string(html), "req_1") {
			t.Errorf("%s: page lacks %q", name, c.want)
		}
		layouttest.CheckMarkup(t, html)
	}
}

func TestFrenchHasASpaceBeforeAColon(t *testing.T) {
	t.Parallel()
	html, err := layouttest.New(t, true).ErrorHTML(locale.ParseTag("fr-FR"), 404, "req_1")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(html), "Référence\u00a0: <code>") {
		t.Errorf("the reference: %s", html)
	}
}

func newApp(t *testing.T) *fiber.App {
	t.Helper()
	l := layouttest.New(t, true)
	app := fiber.New()
	l.Mount(app)
	app.Get("/broken", func(c *fiber.Ctx) error { return l.Fail(c, errors.New("secret words")) })
	app.Get("/unbookable", func(c *fiber.Ctx) error { return l.Fail(c, fault.New(fault.NotBookable, "no hours")) })
	return app
}

func TestAssetsAreServedForEver(t *testing.T) {
	t.Parallel()
	app := newApp(t)
	path, err := layouttest.New(t, true).Assets().Path("sundry.css")
	if err != nil {
		t.Fatal(err)
	}
	response, body := layouttest.Get(t, app, path, nil)
	if response.StatusCode != 200 || !strings.Contains(response.Header.Get("Cache-Control"), "immutable") ||
		!strings.Contains(body, "--ink") {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	if response, _ := layouttest.Get(t, app, "/assets/sundry.0000000000.css", nil); response.StatusCode != 404 ||
		response.Header.Get("Cache-Control") != "" {
		t.Errorf("an old hash gives %d %v", response.StatusCode, response.Header)
	}
	if response, _ := layouttest.Get(t, app, path,
		map[string]string{"Accept-Encoding": "gzip"}); response.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("not compressed: %v", response.Header)
	}
}

func TestAFaultIsAPageThatSaysNothingOfItsCause(t *testing.T) {
	t.Parallel()
	response, body := layouttest.Get(t, newApp(t), "/broken", nil)
	if response.StatusCode != 418 || !strings.Contains(body, "<h1>") || strings.Contains(body, "secret words") ||
		response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
	}
}

func TestAChallengeThatIsRefusedSaysWhenToAskAgain(t *testing.T) {
	t.Parallel()
	app, l := fiber.New(), layouttest.New(t, true)
	app.Get("/challenge", func(c *fiber.Ctx) error {
		return l.SendChallenge(c, payment.NextAction{}, fault.TooMany("Wait a minute.", time.Minute))
	})
	response, _ := layouttest.Get(t, app, "/challenge", nil)
	if got := response.Header.Get("Retry-After"); response.StatusCode != 418 || got != "60" {
		t.Errorf("%d with Retry-After %q, want 418 with 60", response.StatusCode, got)
	}
}

// The page of a listing that can no longer be booked does not call its address wrong.
func TestAnUnbookableListingIsNoWrongAddress(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	l, err := layout.New(layout.Config{Live: true, StatusOf: func(error) int { return 400 }})
	if err != nil {
		t.Fatal(err)
	}
	app.Get("/unbookable", func(c *fiber.Ctx) error { return l.Fail(c, fault.New(fault.NotBookable, "no hours")) })
	response, body := layouttest.Get(t, app, "/unbookable", nil)
	if response.StatusCode != 409 || !strings.Contains(body, "no longer active") || !strings.Contains(body, ">409<") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

func TestAnErrorSpeaksTheReadersLanguage(t *testing.T) {
	t.Parallel()
	_, body := layouttest.Get(t, newApp(t), "/broken", map[string]string{"Accept-Language": "de-AT"})
	if !strings.Contains(body, `<html lang="de-AT">`) {
		t.Errorf("%s", body)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want string }{
		"host without www":  {layout.HostOf("https://www.shop.example/a?b"), "shop.example"},
		"host keeps a port": {layout.HostOf("http://127.0.0.1:3000/x"), "127.0.0.1:3000"},
		"origin of an address": {
			layout.OriginOf("https://shop.example:8443/a#b"), "https://shop.example:8443",
		},
		"origin drops user info":            {layout.OriginOf("https://u:p@shop.example/"), "https://shop.example"},
		"no origin of a script":             {layout.OriginOf("javascript:alert(1)"), ""},
		"no origin of a path":               {layout.OriginOf("/a"), ""},
		"no origin that would widen policy": {layout.OriginOf("https://*;script-src/"), ""},
		"origin of an IPv6 address":         {layout.OriginOf("http://[::1]:3000/a"), "http://[::1]:3000"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}
