package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestCommonMistakesGetAHint(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		customer := text(t, w.AsBackend(t, post, "/v1/customers",
			JSON{"email": "ada@example.com", "displayName": "Ada"}).Want(t, 201).Map(t)["id"])
		body := JSON{"externalCustomerId": "ada", "successUrl": "https://shop.example/ok",
			"cancelUrl": "https://shop.example/no"}
		with := func(name string, value any) JSON {
			changed := JSON{name: value}
			for other, kept := range body {
				if other != name {
					changed[other] = kept
				}
			}
			return changed
		}
		for name, c := range map[string]struct {
			path   string
			body   any
			status int
			hint   string
		}{
			"a slug as the listing's id": {"/v1/checkout-sessions", with("listingId", w.listing.Slug), 404, "catalog.listing"},
			"an app's own scheme":        {"/v1/checkout-sessions", with("successUrl", "shop://done"), 400, "app link"},
			"braces in a return URL": {
				"/v1/card-setup-sessions", JSON{"customerId": customer, "returnUrl": "https://shop.example/{id}"}, 400, "%7B",
			},
			"braces in a webhook's URL": {
				"/v1/webhook-endpoints", JSON{"url": "https://shop.example/{id}", "events": []string{"*"}}, 400, "%7B",
			},
		} {
			response := w.AsBackend(t, post, c.path, c.body)
			if response.Status != c.status || !strings.Contains(string(response.Body), c.hint) {
				t.Errorf("%s: %d %s, want %d with %q", name, response.Status, response.Body, c.status, c.hint)
			}
		}
		form := app.Ask(t, harness.Request{
			Method: http.MethodPost, Path: "/v1/customers", Bearer: w.Key, Body: "email=ada@example.com&displayName=Ada",
			Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		})
		form.Refuses(t, 400, "VALIDATION_FAILED")
		if !strings.Contains(string(form.Body), "application/json") {
			t.Errorf("a form: %s", form.Body)
		}
	})
}
