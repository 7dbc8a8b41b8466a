package e2e_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"sundry/adapters/httpapi"
	"sundry/core/identity"
	"sundry/tests/harness"
)

// freshKey is a well-formed key that nobody issued.
func freshKey(livemode bool) string {
	random := make([]byte, identity.KeyEntropy)
	_, _ = rand.Read(random)
	return identity.NewKey(livemode, 0, random)
}

// forged is a token whose signature covers other claims.
func forged(token, other string) string {
	a, b := strings.Split(token, "."), strings.Split(other, ".")
	return a[0] + "." + b[1] + "." + a[2]
}

// unsigned is a token that claims to need no signature.
func unsigned(token string) string {
	return "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." + strings.Split(token, ".")[1] + "."
}

// outsiders are the credentials that must not open a route, by what is wrong with them. Each is the whole header.
func outsiders(t *testing.T, w *fixture, other *harness.Account, op harness.Operation) map[string]string {
	t.Helper()
	bad := map[string]string{
		"nobody":                         "",
		"an empty credential":            "Bearer ",
		"garbage":                        "Bearer garbage",
		"a very long one":                "Bearer " + strings.Repeat("a", 3000),
		"another scheme":                 "Basic " + w.credential(op),
		"no scheme":                      w.credential(op),
		"two credentials":                "Bearer " + w.credential(op) + " " + w.credential(op),
		"a key of the other environment": "Bearer " + freshKey(true),
		"a key that nobody issued":       "Bearer " + freshKey(false),
		"a key with a typo":              "Bearer " + w.Key[:len(w.Key)-1] + "_",
		"a refresh token":                "Bearer " + w.RefreshToken,
		"a forged token":                 "Bearer " + forged(w.Token, other.Token),
		"a token without signature":      "Bearer " + unsigned(w.Token),
		"half a token":                   "Bearer " + w.Token[:len(w.Token)/2],
	}
	switch op.Auth {
	case httpapi.SecretKeyOrAccessToken:
	case httpapi.AccessToken:
		bad["a secret key where a token is wanted"] = "Bearer " + w.Key
	default:
		bad["a token where a secret key is wanted"] = "Bearer " + w.Token
	}
	return bad
}

func TestGatesOpenForTheRightCredentialOnly(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := &fixture{Account: app.NewAccount(t)}, app.NewAccount(t)
		same := map[httpapi.AuthMode]string{} // one per kind of credential
		for _, op := range harness.Operations(t) {
			if op.Auth == httpapi.Public {
				continue
			}
			path := placeholder.ReplaceAllString(op.Path, "x")
			for name, header := range outsiders(t, w, other, op) {
				r := harness.Request{Method: op.Method, Path: path, Headers: map[string]string{}}
				if header != "" {
					r.Headers["Authorization"] = header
				}
				if op.TakesBody() {
					r.Body = "{not json" // who may not pass learns nothing about the body either
				}
				response := app.Ask(t, r)
				if response.Status != http.StatusUnauthorized {
					t.Errorf("%s opened for %s: %d %s", op.Line(), name, response.Status, response.Body)
					continue
				}
				refusal := response.Refusal(t)
				body := strings.Replace(string(response.Body), refusal.RequestID, "", 1)
				if same[op.Auth] == "" {
					same[op.Auth] = body
				}
				if body != same[op.Auth] {
					t.Errorf("%s distinguishes %s: %s, elsewhere %s", op.Line(), name, body, same[op.Auth])
				}
			}
		}
	})
}

func TestPublicOperationsAskForNothing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		for _, op := range harness.Operations(t) {
			if op.Auth != httpapi.Public || op.Path == "/v1/auth/sign-out" {
				continue
			}
			r := harness.Request{
				Method: op.Method, Path: placeholder.ReplaceAllString(op.Path, "x"),
				Headers: map[string]string{"Authorization": "Bearer garbage"},
			}
			if op.TakesBody() {
				r.Body = harness.JSON{}
			}
			if response := app.Ask(t, r); response.Status == http.StatusUnauthorized {
				t.Errorf("%s asks for a credential: %s", op.Line(), response.Body)
			}
		}
	})
}

func TestAnotherAccountsObjectsDoNotExist(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, outsider := newFixture(t, app), newFixture(t, app)
		for _, op := range harness.Operations(t) {
			if op.Auth == httpapi.Public || !strings.Contains(op.Path, "{") || strings.Contains(op.Path, "customer-access") {
				continue
			}
			t.Run(op.OperationID, func(t *testing.T) {
				r := w.request(t, op)
				r.Bearer = outsider.credential(op)
				response := app.Ask(t, r)
				if response.Status != http.StatusNotFound && response.Status != http.StatusForbidden {
					t.Errorf("%s let an untrusted party in: %d %s", op.Line(), response.Status, response.Body)
				}
				r.Bearer = w.credential(op) // and nothing has happened to it
				if response := app.Ask(t, r); response.Status >= 300 {
					t.Errorf("%s: the outsider left a trace: %d %s", op.Line(), response.Status, response.Body)
				}
			})
		}
	})
}

// TestCustomersAreTheAccountsOwn: the same identifier names another customer in another account.
func TestCustomersAreTheAccountsOwn(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, outsider := newFixture(t, app), app.NewAccount(t)
		customer := harness.Unique("user")
		grant := w.grant(t, customer)
		if seen := outsider.Access(t, customer); len(seen["entitlements"].([]any)) != 0 ||
			seen["version"].(interface{ String() string }).String() != "0" {
			t.Errorf("an untrusted party sees %v", seen)
		}
		outsider.AsBackend(t, http.MethodDelete, "/v1/customer-access/"+customer+"/grants/"+grant, nil).Refuses(t, 404,
			"NOT_FOUND")
		outsider.AsBackend(t, http.MethodPost, "/v1/customer-access/"+customer+"/credits/consume",
			harness.JSON{"key": "renders", "amount": 1, "idempotencyKey": "x"}).Refuses(t, 409, "INSUFFICIENT_BALANCE")
		if seen := w.Access(t, customer); len(seen["entitlements"].([]any)) != 1 {
			t.Errorf("the owner sees %v", seen)
		}
	})
}
