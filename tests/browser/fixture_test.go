package browser

import (
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

// program is the application that all tests share, and the integrator's shop beside it, which has another origin.
var program struct {
	sync.Once
	app  *harness.App
	site *httptest.Server
	err  error
}

func stopProgram() error {
	if program.app == nil {
		return nil
	}
	program.site.Close()
	return program.app.Close()
}

// fixture is a creator with something of each kind to sell, as one test sees it.
type fixture struct {
	*harness.Account
	t                testing.TB
	site             string // origin of the shop's pages
	customer         string // who buys in this test
	book, free, club harness.Listing
}

// common is the fixture that most tests share: each has a customer of its own.
var common struct {
	sync.Once
	fixture fixture
}

func sharedFixture(t *testing.T) *fixture {
	t.Helper()
	testenv.Need(t, testenv.Chromium)
	common.Do(func() { common.fixture = *newFixture(t) })
	if common.fixture.Account == nil {
		t.Fatal("the fixture could not be set up; see the first test that failed")
	}
	s := common.fixture
	s.t, s.customer = t, harness.Unique("user")
	return &s
}

// newFixture is a separate fixture of one test, for those that move its clock.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	testenv.Need(t, testenv.Chromium)
	program.Do(func() {
		program.site = httptest.NewServer(http.HandlerFunc(serveSite))
		program.app, program.err = harness.Start(testdb.SQLite, nil)
	})
	if program.err != nil {
		t.Fatalf("start the program: %v", program.err)
	}
	s := &fixture{Account: program.app.NewAccount(t), t: t, site: program.site.URL, customer: harness.Unique("user")}
	s.book = s.Published(t, harness.JSON{
		"title": "The Letterpress Handbook", "priceInCents": 2900,
		"metadata": harness.JSON{"downloadUrl": "https://files.example/handbook.pdf"},
	})
	s.free = s.Published(t, harness.JSON{"title": "Starter Type Specimens", "priceInCents": 0})
	s.club = s.Published(t, harness.JSON{
		"type": "SUBSCRIPTION", "title": "Studio Club", "priceInCents": 900,
		"metadata": harness.JSON{"interval": "month", "intervalCount": 1, "trialDays": 14},
	})
	return s
}

// session opens a checkout that leads back to the shop's pages. over replaces members of the request.
func (s *fixture) session(l harness.Listing, over harness.JSON) harness.JSON {
	s.t.Helper()
	body := harness.SessionBody(l, "default", s.customer, harness.JSON{
		"successUrl": s.site + "/thanks?order={CHECKOUT_SESSION_ID}", "cancelUrl": s.site + "/pricing",
	})
	maps.Copy(body, over)
	return s.AsBackend(s.t, http.MethodPost, "/v1/checkout-sessions", body).Want(s.t, http.StatusCreated).Map(s.t)
}

// checkout is the address of a new session's page.
func (s *fixture) checkout(l harness.Listing) string {
	s.t.Helper()
	return s.session(l, nil)["checkoutUrl"].(string)
}

// pay pays a session without the page.
func (s *fixture) pay(session harness.JSON, card string) *harness.Response {
	s.t.Helper()
	return s.Pay(s.t, harness.Session{ID: session["id"].(string)}, card)
}

// plans lists what the customer may use.
func (s *fixture) plans() []any {
	s.t.Helper()
	return s.Access(s.t, s.customer)["activePlans"].([]any)
}

// expire ends a session that is not paid.
func (s *fixture) expire(session harness.JSON) {
	s.t.Helper()
	s.AsBackend(s.t, http.MethodPost, "/v1/checkout-sessions/"+session["id"].(string)+"/expire", nil).Want(s.t,
		http.StatusOK)
}

// later moves the account's clock on by an hour.
func (s *fixture) later() {
	s.t.Helper()
	s.AsBackend(s.t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 3600}).Want(s.t, http.StatusOK)
}

var overlayPage = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Shop</title><link rel="icon" href="data:,"><script src="{{.Script}}"></script></head><body><main><h1>Shop</h1><button id="buy" type="button">Buy</button></main>
<script>
window.heard = [];
const options = { onClose() { heard.push("close"); } };
if ({{.Callback}}) options.onComplete = (done) => heard.push("complete " + done.checkoutId);
document.getElementById("buy").addEventListener("click", () => { window.overlay = Sundry.open({{.Embed}}, options); });
</script></body></html>`))

// serveSite is the integrator's own site.
func serveSite(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q := r.URL.Query()
	if r.URL.Path == "/overlay" {
		_ = overlayPage.Execute(w, map[string]any{
			"Script": q.Get("script"), "Embed": q.Get("embed"), "Callback": q.Get("callback") == "1",
		})
		return
	}
	_, _ = fmt.Fprintf(
		w, `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>Shop page %s</h1>`,
		template.HTMLEscapeString(r.URL.Path),
	)
}
