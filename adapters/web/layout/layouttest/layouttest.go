// Package layouttest helps the tests of sites: a layout without a deployment, and what every page must keep to.
package layouttest

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/ports"
)

// New returns a layout as a deployment at https://pay.example has it. Every error it shows is a 418.
func New(t *testing.T, sandbox bool) *layout.Layout {
	t.Helper()
	return newLayout(t, sandbox, ports.PaymentForm{})
}

// NewWithForm is New of a sandbox that takes payments by a form.
func NewWithForm(t *testing.T, form ports.PaymentForm) *layout.Layout {
	t.Helper()
	return newLayout(t, true, form)
}

func newLayout(t *testing.T, sandbox bool, form ports.PaymentForm) *layout.Layout {
	t.Helper()
	l, err := layout.New(layout.Config{
		BaseURL: "https://pay.example", Live: !sandbox, Form: form,
		ClientCountry: func(*fiber.Ctx) string { return "" },
		StatusOf:      func(error) int { return http.StatusTeapot }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Get asks an application for a page and returns the response with its body.
func Get(t *testing.T, app *fiber.App, path string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := app.Test(request, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

var (
	ids        = regexp.MustCompile(` id="([^"]+)"`)
	scripts    = regexp.MustCompile(`(?s)<script.*?</script>`)
	unfilled   = regexp.MustCompile(`>[^<]*%[sd]`)
	references = regexp.MustCompile(`(?:aria-describedby|aria-labelledby|for)="([^"]+)"`)
)

// CheckMarkup finds what a browser would forgive and a policy or a reader would not.
func CheckMarkup(t *testing.T, html []byte) {
	t.Helper()
	for _, bad := range []string{"ZgotmplZ", "<no value>", "%!", " style=", " onclick=", "<style"} {
		if bytes.Contains(html, []byte(bad)) {
			t.Errorf("page contains %q", bad)
		}
	}
	if text := unfilled.Find(scripts.ReplaceAll(html, nil)); text != nil {
		t.Errorf("a text lacks a value: %s", text)
	}
	seen := map[string]bool{}
	for _, m := range ids.FindAllSubmatch(html, -1) {
		if seen[string(m[1])] {
			t.Errorf("id %q occurs twice", m[1])
		}
		seen[string(m[1])] = true
	}
	for _, m := range references.FindAllSubmatch(html, -1) {
		if !seen[string(m[1])] {
			t.Errorf("nothing has the id %q that is referred to", m[1])
		}
	}
}
