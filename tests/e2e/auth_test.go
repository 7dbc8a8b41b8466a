package e2e_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/bootstrap"
	"sundry/config"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

func TestBadSignUpsAndKeysAreRefusedWithEveryFault(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300)
	cases := map[string]struct {
		path   string
		body   any
		fields []string
	}{
		"sign-up of nothing": {
			"/v1/auth/sign-up", harness.JSON{}, []string{"email", "password", "displayName"},
		},
		"sign-up with everything wrong": {
			"/v1/auth/sign-up", harness.JSON{"email": "ada", "password": "short", "displayName": long},
			[]string{"email", "password", "displayName"},
		},
		"sign-up with members of its own": {
			"/v1/auth/sign-up",
			harness.JSON{
				"email": "x@example.com", "password": harness.Password, "displayName": "A", "admin": true,
				"id": "crt_1",
			},
			[]string{"admin", "id"},
		},
		"sign-up with wrong types": {
			"/v1/auth/sign-up", harness.JSON{"email": 1, "password": []string{}, "displayName": nil},
			[]string{"email", "password", "displayName"},
		},
		"the address as password": {
			"/v1/auth/sign-up",
			harness.JSON{"email": "somebody@example.com", "password": "Somebody@example.com", "displayName": "A"},
			[]string{"password"},
		},
		"sign-in of nothing": {"/v1/auth/sign-in", harness.JSON{}, []string{"email", "password"}},
		"sign-in with huge texts": {
			"/v1/auth/sign-in", harness.JSON{"email": long, "password": long}, []string{"email", "password"},
		},
		"refresh of nothing":   {"/v1/auth/refresh", harness.JSON{}, []string{"refreshToken"}},
		"sign-out of nothing":  {"/v1/auth/sign-out", harness.JSON{}, []string{"refreshToken"}},
		"a key without a name": {"/v1/api-keys", harness.JSON{}, []string{"name"}},
		"a key that ended before it began": {
			"/v1/api-keys", harness.JSON{"name": " ", "expiresAt": "2020-01-01T00:00:00Z"},
			[]string{"name", "expiresAt"},
		},
		"a key with scopes that do not exist": {
			"/v1/api-keys", harness.JSON{"name": "n", "scopes": []string{"reed", "all"}}, []string{"scopes[0]", "scopes[1]"},
		},
		"a key with no scope at all": {
			"/v1/api-keys", harness.JSON{"name": "n", "scopes": []string{}}, []string{"scopes"},
		},
		"a key that ends at a strange time": {
			"/v1/api-keys", harness.JSON{"name": "", "expiresAt": "tomorrow"}, []string{"name", "expiresAt"},
		},
		"a key that ends at a number": {
			"/v1/api-keys", harness.JSON{"name": "n", "expiresAt": 1}, []string{"expiresAt"},
		},
	}
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				r := harness.Request{Method: http.MethodPost, Path: c.path, Body: c.body}
				if c.path == "/v1/api-keys" {
					r.Bearer = a.Token
				}
				app.Ask(t, r).Refuses(t, 400, "VALIDATION_FAILED", c.fields...)
			})
		}
		var keys struct{ Data []harness.JSON }
		a.AsCreator(t, http.MethodGet, "/v1/api-keys", nil).Want(t, 200).Into(t, &keys)
		if len(keys.Data) != 1 {
			t.Errorf("the account has %d keys, want the one it began with", len(keys.Data))
		}
		app.Ask(t, harness.Request{Method: http.MethodPost, Path: "/v1/auth/sign-in",
			Body:                              harness.JSON{"email": "x@example.com", "password": harness.Password}}).
			Refuses(t, 401, "UNAUTHENTICATED") // the refused sign-up made nobody
	})
}

func TestAKeyIsShownOnceAndRevokedAtOnce(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		ends := time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano)
		made := a.AsCreator(t, http.MethodPost, "/v1/api-keys", harness.JSON{"name": " Backend ", "expiresAt": ends}).
			Want(t, 201)
		if made.Header.Get("Cache-Control") != "no-store" {
			t.Error("the response with the key may be cached")
		}
		view := made.Map(t)
		id, _ := view["id"].(string)
		key, _ := view["key"].(string)
		if view["name"] != "Backend" || view["prefix"] != "sk_test_" || !strings.HasSuffix(key, view["last4"].(string)) ||
			view["livemode"] != false {
			t.Errorf("made %v", view)
		}
		read := func() *harness.Response {
			return app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/v1/customer-access/anybody", Bearer: key})
		}
		read().Want(t, 200)
		list := a.AsCreator(t, http.MethodGet, "/v1/api-keys", nil).Want(t, 200)
		if !bytes.Contains(list.Body, []byte(id)) || bytes.Contains(list.Body, []byte(key)) {
			t.Errorf("the list lacks the key's id or shows the key: %s", list.Body)
		}
		for range 2 { // again is given the same response
			revoked := a.AsCreator(t, http.MethodDelete, "/v1/api-keys/"+id, nil).Want(t, 200).Map(t)
			if revoked["id"] != id || revoked["revokedAt"] == nil || revoked["key"] != nil {
				t.Errorf("revoked %v", revoked)
			}
		}
		read().Refuses(t, 401, "UNAUTHENTICATED")
		list = a.AsCreator(t, http.MethodGet, "/v1/api-keys", nil).Want(t, 200)
		if bytes.Contains(list.Body, []byte(id)) {
			t.Errorf("the revoked key is still listed: %s", list.Body)
		}
	})
}

func TestGuessingPasswordsIsLimitedInTheSandboxToo(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		limitsGuesses(t, harness.New(t, engine, nil)) // its own: the limit per address would refuse the other tests
	})
}

func TestARedisThatIsDownNeitherLocksOutNorLiftsLimits(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, map[string]string{"REDIS_URL": "redis://127.0.0.1:1/0"})
	limitsGuesses(t, app)
	ready := app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/readyz"}).Want(t, 200).Map(t)
	if ready["status"] != "ok" || ready["redis"] != "unavailable" {
		t.Errorf("nothing needs the Redis that is down: %v", ready)
	}
	metrics := app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/metrics"}).Want(t, 200).Body
	if !strings.Contains(string(metrics), "\nsundry_redis_up 0\n") {
		t.Error("the metrics do not show that Redis is down")
	}
}

// limitsGuesses shows that guessing at an account's password is stopped and that who is signed in stays so.
func limitsGuesses(t *testing.T, app *harness.App) {
	t.Helper()
	a := app.NewAccount(t)
	guess := func(password string) *harness.Response {
		return app.Ask(t, harness.Request{
			Method: http.MethodPost, Path: "/v1/auth/sign-in",
			Body: harness.JSON{"email": a.Email, "password": password},
		})
	}
	last := guess("wrong horse battery")
	// capacity grows back while slow hashing goes on, so not exactly ten pass
	for tries := 1; last.Status != 429; tries++ {
		last.Refuses(t, 401, "UNAUTHENTICATED")
		if tries == 40 {
			t.Fatal("forty guesses passed")
		}
		last = guess("wrong horse battery")
	}
	if wait, err := strconv.Atoi(last.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 6 {
		t.Errorf("Retry-After: %q", last.Header.Get("Retry-After"))
	}
	last.Refuses(t, 429, "RATE_LIMITED")
	// who is signed in stays so
	app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/v1/api-keys", Bearer: a.Token}).Want(t, 200)
}

// TestLogsHoldNoSecret reads everything that the program logs at its chattiest, through good requests, bad ones and a
// database that is gone.
func TestLogsHoldNoSecret(t *testing.T) {
	t.Parallel()
	cfg, err := config.FromMap(map[string]string{
		"DATA_DIR": t.TempDir(), "DATABASE_URL": testdb.SQLite.URL(t), "SEED_DEMO": "false", "LOG_LEVEL": "debug",
	})
	if err != nil {
		t.Fatal(err)
	}
	logs := &harness.Log{}
	program, err := bootstrap.New(
		t.Context(), cfg, slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		bootstrap.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, bearer, body string) string {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		if bearer != "" {
			request.Header.Set("Authorization", "Bearer "+bearer)
		}
		response, err := program.Handler().Test(request, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		res, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(res)
	}
	const secret = "zebra horse battery"
	signIn := `{"email":"quagga@example.com","password":"` + secret + `"}`
	in := ask(http.MethodPost, "/v1/auth/sign-up", "", strings.Replace(signIn, "}", `,"displayName":"Quagga"}`, 1))
	access, refresh := between(in, `"accessToken":"`), between(in, `"refreshToken":"`)
	key := between(ask(http.MethodPost, "/v1/api-keys", access, `{"name":"n"}`), `"key":"`)
	if access == "" || refresh == "" || key == "" {
		t.Fatal("no credentials to look for")
	}
	requests := func() {
		ask(http.MethodPost, "/v1/auth/sign-in", "", signIn)
		ask(http.MethodPost, "/v1/auth/sign-in", "", strings.Replace(signIn, "zebra", "zebra zebra", 1))
		ask(http.MethodPost, "/v1/auth/sign-up", "", strings.Replace(signIn, "}", `,"displayName":"Quagga"}`, 1))
		ask(http.MethodPost, "/v1/auth/sign-up", "", signIn+"{")
		ask(http.MethodPost, "/v1/auth/refresh", "", `{"refreshToken":"`+refresh+`x"}`)
		ask(http.MethodPost, "/v1/auth/refresh", "", `{"refreshToken":"`+refresh+`"}`)
		ask(http.MethodGet, "/v1/customer-access/anybody", key, "")
		ask(http.MethodGet, "/v1/api-keys", access, "")
		ask(http.MethodGet, "/v1/api-keys", key, "")
		ask(http.MethodGet, "/v1/customer-access/"+key+"?"+refresh, access, "")
	}
	requests()
	if err := program.Close(); err != nil {
		t.Fatal(err)
	}
	requests() // now everything that needs the database fails, and is logged as failing
	for name, text := range map[string]string{
		"password": "zebra", "access token": access[:40], "access token's signature": access[len(access)-20:],
		"refresh token": refresh[30:], "API key": key[8:30], "e-mail address": "quagga@",
	} {
		if line := logs.About(text); line != "" {
			t.Errorf("the log holds the %s: %s", name, line)
		}
	}
	if logs.About("level=DEBUG") == "" || logs.About("level=ERROR") == "" {
		t.Error("the test read no log of requests or of failures")
	}
}

// between is the text after prefix up to the next quote.
func between(text, prefix string) string {
	_, rest, _ := strings.Cut(text, prefix)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
