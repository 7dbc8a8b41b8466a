package e2e_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/core/identity"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// liveSettings are those that live wants.
func liveSettings() map[string]string {
	return map[string]string{
		"ENVIRONMENT": "live", "BASE_URL": "https://pay.example.com",
		"APP_SECRET": strings.Repeat("only for tests ", 4),
		"SMTP_URL":   "smtp://127.0.0.1:9", "MAIL_FROM": "Example <no-reply@example.com>",
		"SELLER_NAME": "Example Ltd.", "SELLER_ADDRESS": "1 Main Street, Dublin", "SELLER_VAT_ID": "IE1234567T",
		"SELLER_EMAIL": "help@example.com",
		"TERMS_URL":    "https://example.com/terms", "PRIVACY_URL": "https://example.com/privacy",
		"STRIPE_SECRET_KEY": "sk_live_1", "STRIPE_PUBLISHABLE_KEY": "pk_live_1", "STRIPE_WEBHOOK_SECRET": "whsec_1",
	}
}

// confirmsItsAddress signs up, is kept from publishing, and opens the link.
func confirmsItsAddress(t *testing.T, app *harness.App, a *harness.Account) {
	t.Helper()
	listing := a.NewListing(t, nil)
	a.AsCreator(t, post, "/v1/listings/"+listing.ID+"/publish", nil).Refuses(t, 403, "FORBIDDEN")
	if creator := a.AsCreator(t, get, "/v1/creator", nil).Want(t, 200).Map(t); creator["emailConfirmed"] != false {
		t.Errorf("before: %v", creator["emailConfirmed"])
	}
	link := app.Program.ForCommands().Accounts.EmailConfirmationURL(identity.ConfirmationLink{
		CreatorID: a.ID, ExpiresAt: time.Now().Add(time.Hour),
	})
	page := app.NewVisitor(t)
	page.Open(t, link[strings.Index(link, "/dashboard"):])
	if n := app.Count(t, "SELECT COUNT(*) FROM creators WHERE email_unconfirmed"); n != 1 {
		t.Errorf("opening the link confirmed it: %d unconfirmed", n)
	}
	page.Send(t, link[strings.Index(link, "/dashboard"):])
	a.Publish(t, listing)
}

// TestLiveIsAnEnvironmentOfItsOwn: its keys, its marks, and none of the sandbox's helpers.
func TestLiveIsAnEnvironmentOfItsOwn(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		if engine.Name != testdb.Postgres.Name {
			return // live has no embedded database
		}
		app := harness.New(t, engine, liveSettings())
		a := app.NewAccount(t)
		if !strings.HasPrefix(a.Key, "sk_live_") {
			t.Errorf("a live key reads %.8s…", a.Key)
		}
		if listing := a.AsCreator(t, post, "/v1/listings", listingBody()).Want(t, 201).Map(t); listing["livemode"] != true {
			t.Errorf("a live listing: %v", listing)
		}
		if access := a.Access(t, "nobody"); access["livemode"] != true {
			t.Errorf("a live snapshot: %v", access)
		}
		app.Ask(t, harness.Request{Method: get, Path: "/v1/customer-access/nobody", Bearer: freshKey(false)}).Refuses(t, 401,
			"UNAUTHENTICATED")
		confirmsItsAddress(t, app, a)
		for _, op := range harness.Operations(t) {
			if op.Tags[0] != "Sandbox" {
				continue
			}
			path := placeholder.ReplaceAllString(op.Path, "x")
			request := harness.Request{Method: op.Method, Path: path, Bearer: a.Key}
			if op.TakesBody() {
				request.Body = harness.JSON{}
			}
			if response := app.AskUnjudged(t, request); response.Status != http.StatusNotFound {
				t.Errorf("%s exists in live: %d %s", op.Line(), response.Status, response.Body)
			}
		}
	})
}

func TestRequestsPerKeyAreLimitedWhereConfigured(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{"RATE_LIMIT_PER_MINUTE": "5"})
		a := app.NewAccount(t)
		ask := func(key string) *harness.Response {
			return app.Ask(t, harness.Request{Method: get, Path: "/v1/customer-access/nobody", Bearer: key})
		}
		var refused *harness.Response
		for range 20 {
			if response := ask(a.Key); response.Status != http.StatusOK {
				refused = response
				break
			}
		}
		if refused == nil {
			t.Fatal("twenty requests at once passed a limit of five a minute")
		}
		refused.Refuses(t, 429, "RATE_LIMITED")
		if wait, err := strconv.Atoi(refused.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 {
			t.Errorf("Retry-After: %q", refused.Header.Get("Retry-After"))
		}
		ask(app.NewAccount(t).Key).Want(t, 200) // nobody else waits
	})
}
