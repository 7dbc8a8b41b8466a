package e2e_test

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// made holds the links, keys and signatures that a deployment issued before its secrets were replaced.
type made struct {
	*fixture
	checkout, receipt, portal, endpoint, secret string
	response                                    *harness.Response
}

func giveAway(t *testing.T, w *fixture) *made {
	t.Helper()
	m := &made{fixture: w}
	session := w.session(t)
	m.checkout = inside(w.App, session.CheckoutURL)
	m.response = w.Once(t, "kept", http.MethodPost, "/v1/webhook-endpoints", endpointBody()).Want(t, 201)
	m.endpoint, m.secret = text(t, m.response.Map(t)["id"]), text(t, m.response.Map(t)["secret"])
	paid := w.session(t)
	w.Pay(t, paid, harness.CardSucceeds).Want(t, 200)
	m.receipt = inside(w.App, text(t, w.Receipt(t, paid)["receiptUrl"]))
	m.portal = inside(w.App, text(t, w.AsBackend(t, post, "/v1/customer-portal-sessions", harness.JSON{
		"customerId": w.Receipt(t, paid)["customerId"], "returnUrl": "https://example.com/",
	}).Want(t, 201).Map(t)["url"]))
	return m
}

func inside(app *harness.App, url string) string { return strings.TrimPrefix(url, app.URL) }

// works asks for everything again. links says whether old links still open.
func (m *made) works(t *testing.T, when string, links bool) {
	t.Helper()
	status := map[bool]int{true: 200, false: 404}[links]
	for _, path := range []string{m.checkout, m.receipt, m.portal} {
		if got := m.App.AskUnjudged(t, harness.Request{Method: get, Path: path}).Status; got != status {
			t.Errorf("%s: %s responds with %d, want %d", when, path[:3], got, status)
		}
	}
	shown := m.AsBackend(t, get, "/v1/webhook-endpoints/"+m.endpoint+"/secret", nil).Want(t, 200).Map(t)
	if shown["secret"] != m.secret {
		t.Errorf("%s: the endpoint's secret is another one", when)
	}
	again := m.Once(t, "kept", http.MethodPost, "/v1/webhook-endpoints", endpointBody())
	if !isReplay(again) || !bytes.Equal(again.Body, m.response.Body) {
		t.Errorf("%s: a repeated request responds with %d %s", when, again.Status, again.Body)
	}
	m.AsCreator(t, get, "/v1/listings/mine", nil).Want(t, 200) // the access token
	m.AsBackend(t, get, "/v1/checkout-sessions", nil).Want(t, 200)
	m.Pay(t, m.session(t), harness.CardSucceeds).Want(t, 200)
}

func TestSecretsAreReplaced(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		one, two := rand.Text()+rand.Text(), rand.Text()+rand.Text()
		url := engine.EmptyURL(t)
		app := harness.On(t, engine, url, map[string]string{"APP_SECRET": one})
		m := giveAway(t, newFixture(t, app))
		origin := app.URL
		stored := app.Count(t, "SELECT COUNT(*) FROM deployment_keys")
		rotate := func(app *harness.App, when string) {
			t.Helper()
			var lines []string
			if err := app.Program.RotateSecrets(t.Context(), 0, func(l string) { lines = append(lines, l) }); err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			if all := strings.Join(lines, "\n"); strings.Contains(all, one) || strings.Contains(all, two) || len(lines) != 3 {
				t.Errorf("%s: reports %q", when, lines)
			}
		}
		rotate(app, "while it runs")
		m.works(t, "after a rotation", true)
		if got := app.Count(t, "SELECT COUNT(*) FROM deployment_keys"); got != stored+3 {
			t.Errorf("%d keys are stored, want three more than %d", got, stored)
		}
		if err := app.Close(); err != nil {
			t.Fatal(err)
		}
		// The links and tokens of the deployment name its address, which the next start keeps.
		restart := func(vars map[string]string) *harness.App {
			t.Helper()
			vars["BASE_URL"] = origin
			next := harness.On(t, engine, url, vars)
			m.App = next
			return next
		}
		next := restart(map[string]string{"APP_SECRET": two, "APP_SECRET_PREVIOUS": one})
		m.works(t, "with the new secret beside the old one", true)
		rotate(next, "with both")
		m.works(t, "after the rotation to the new secret", true)
		if err := next.Close(); err != nil {
			t.Fatal(err)
		}
		if err := harness.Refused(engine, url, map[string]string{"APP_SECRET": one}); err == nil ||
			!strings.Contains(err.Error(), "APP_SECRET") {
			t.Errorf("a start with the old secret: %v", err)
		}
		last := restart(map[string]string{"APP_SECRET": two})
		m.works(t, "with the new secret alone", true)
		if err := last.Program.RetireSecrets(t.Context(), func(string) {}); err != nil {
			t.Fatal(err)
		}
		m.Token = m.signIn(t).AccessToken // the key that signed the old one is gone
		m.works(t, "after former keys were retired", false)
		if got := last.Count(t, "SELECT COUNT(*) FROM deployment_keys"); got != stored {
			t.Errorf("%d keys are stored after the former ones were retired, want %d", got, stored)
		}
	})
}
