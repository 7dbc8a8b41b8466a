package e2e_test

import (
	"context"
	"path"
	"strings"
	"testing"

	"sundry/adapters/cli"
	"sundry/tests/harness"
)

// admin runs sundry admin on the program's database and returns what it prints.
func admin(t *testing.T, app *harness.App, args ...string) string {
	t.Helper()
	var out strings.Builder
	err := cli.Run(t.Context(), append([]string{"admin"}, args...), cli.Host{
		Out: &out, Open: forCommands(app),
	})
	if err != nil {
		t.Fatalf("admin %q: %v", args, err)
	}
	return out.String()
}

// forCommands lets commands use the program's database.
func forCommands(app *harness.App) func(context.Context) (*cli.App, error) {
	return func(context.Context) (*cli.App, error) {
		program := app.Program.ForCommands()
		program.Close = func() error { return nil }
		return program, nil
	}
}

func TestAdmin_SuspendAndResume(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		sold := w.NewSession(t, w.listing, "pro", "ada-1", nil)
		w.Pay(t, sold, harness.CardSucceeds).Want(t, 200)
		open := w.session(t)
		var link struct{ URL string }
		w.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": w.listing.ID}).Want(t, 201).Into(t, &link)
		payment := app.Agreed(t, open, harness.JSON{
			"email": "grace@example.com", "cardNumber": harness.CardSucceeds, "expiry": "12/34", "cvc": "123", "country": "IE",
		})
		onPage := func() *harness.Response {
			return app.Ask(t, harness.Request{Method: post, Path: "/c/" + open.Secret() + "/pay", Body: payment})
		}
		byLink := func() *harness.Response {
			return app.Ask(t, harness.Request{Method: get, Path: "/l/" + path.Base(link.URL)})
		}
		signIn := func() *harness.Response {
			return app.Ask(t, harness.Request{Method: post, Path: "/v1/auth/sign-in", Body: harness.JSON{
				"email": w.Email, "password": harness.Password,
			}})
		}
		visitor := w.Visit(t)

		admin(t, app, "suspend", w.Email, "sells", "fakes")
		if out := admin(t, app, "accounts", w.ID); !strings.Contains(out, "19.00 EUR") ||
			!strings.Contains(out, "listings: 1 ") || !strings.Contains(out, ": sells fakes") || strings.Count(out, "\n") != 1 {
			t.Errorf("the account is listed as %q", out)
		}
		w.AsBackend(t, post, "/v1/checkout-sessions", harness.SessionBody(w.listing, "pro", "ada-2", nil)).
			Refuses(t, 403, "FORBIDDEN")
		w.AsCreator(t, get, "/v1/creator", nil).Refuses(t, 403, "FORBIDDEN")
		signIn().Refuses(t, 403, "FORBIDDEN")
		onPage().Refuses(t, 403, "FORBIDDEN")
		if page := byLink().Want(t, 403); !strings.Contains(string(page.Body), "takes no new orders") {
			t.Errorf("the link does not say why: %s", page.Body)
		}
		if page := visitor.Open(t, "/dashboard"); page.Status != 403 || !strings.Contains(page.Body, "suspended") {
			t.Errorf("the dashboard is %d %s", page.Status, page.Body)
		}
		if n := app.Count(t, "SELECT COUNT(*) FROM sessions WHERE creator_id = '"+w.ID+"'"); n != 2 {
			t.Errorf("%d sessions, want the two from before", n)
		}

		if w.Access(t, "ada-1")["version"] == nil {
			t.Error("what was sold cannot be read")
		}
		w.Receipt(t, sold)
		w.AsBackend(t, post, "/v1/refunds", harness.JSON{"checkoutId": sold.ID, "reason": "asked"}).Want(t, 201)
		harness.Eventually(t, "the refund's event", func() bool {
			return strings.Contains(string(w.AsBackend(t, get, "/v1/events", nil).Want(t, 200).Body), "refund.created")
		})

		admin(t, app, "resume", w.Email, "a mistake")
		signIn().Want(t, 200)
		w.session(t)
		onPage().Want(t, 200)
		byLink().Want(t, 303)
		if page := visitor.Open(t, "/dashboard"); page.Status != 200 {
			t.Errorf("the dashboard is %d once it goes on", page.Status)
		}
		lines := strings.Split(strings.TrimSpace(admin(t, app, "audit", w.Email)), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "account.resumed") || !strings.Contains(lines[1], "sells fakes") {
			t.Errorf("the record is %q", lines)
		}
		verified(t, app)
	})
}

func TestAdmin_Limits(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), newFixture(t, app)
		shown := admin(t, app, "limits", w.Email, "listings=1", "api-keys=1", "sessions=1", "usage-events=2",
			"webhook-endpoints=none")
		for _, line := range []string{"listings 1 set", "usage-events 2 a minute set", "images 300 default"} {
			if !strings.Contains(strings.Join(strings.Fields(shown), " "), line) {
				t.Errorf("the limits are %q, want %q", shown, line)
			}
		}
		w.AsCreator(t, post, "/v1/listings", listingBody()).Refuses(t, 409, "LIMIT_REACHED")
		w.AsCreator(t, post, "/v1/api-keys", harness.JSON{"name": "more"}).Refuses(t, 409, "LIMIT_REACHED")
		w.session(t)
		more := harness.SessionBody(w.listing, "pro", "ada-2", nil)
		refused := w.AsBackend(t, post, "/v1/checkout-sessions", more)
		refused.Refuses(t, 429, "RATE_LIMITED")
		if refused.Header.Get("Retry-After") == "" {
			t.Error("the refusal does not say how long to wait")
		}
		report := harness.JSON{"subscriptionId": "sub_1", "meter": "calls", "quantity": 1, "idempotencyKey": "1"}
		w.AsBackend(t, post, "/v1/usage/events/batch", harness.JSON{"events": []harness.JSON{report, report}}).Want(t, 202)
		w.AsBackend(t, post, "/v1/usage/events", report).Refuses(t, 429, "RATE_LIMITED")
		if n := app.Count(t, "SELECT COUNT(*) FROM listings WHERE creator_id = '"+w.ID+"'"); n != 1 {
			t.Errorf("%d listings, want one", n)
		}
		other.session(t)
		other.session(t)

		admin(t, app, "limits", w.Email, "listings=default", "api-keys=default", "sessions=default")
		w.AsCreator(t, post, "/v1/listings", listingBody()).Want(t, 201)
		w.NewKey(t)
		w.AsBackend(t, post, "/v1/checkout-sessions", more).Want(t, 201)

		admin(t, app, "limits", w.Email, "requests=1")
		second := w.NewKey(t)
		w.AsBackend(t, get, "/v1/checkout-sessions", nil).Want(t, 200)
		app.Ask(t, harness.Request{Method: get, Path: "/v1/checkout-sessions", Bearer: second}).
			Refuses(t, 429, "RATE_LIMITED")
		other.AsBackend(t, get, "/v1/checkout-sessions", nil).Want(t, 200)
	})
}
