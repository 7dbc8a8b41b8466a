package e2e_test

import (
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

func TestEveryResponseHasTheCommonHeaders(t *testing.T) {
	t.Parallel()
	for baseURL, want := range map[string]string{
		"https://pay.example.com": "max-age=31536000", "http://pay.example.com": "",
	} {
		app := harness.New(t, testdb.SQLite, map[string]string{"BASE_URL": baseURL})
		for _, request := range []harness.Request{
			{Method: get, Path: "/healthz"}, {Method: get, Path: "/dashboard/sign-in"}, {Method: get, Path: "/sundry.js"},
			{Method: get, Path: "/nowhere"}, {Method: post, Path: "/v1/checkout-sessions"}, {Method: "BREW", Path: "/healthz"},
		} {
			h := app.AskUnjudged(t, request).Header
			if h.Get("Strict-Transport-Security") != want || h.Get("X-Content-Type-Options") != "nosniff" ||
				h.Get("X-Request-Id") == "" {
				t.Errorf("%s: %s %s responds with %v", baseURL, request.Method, request.Path, h)
			}
		}
	}
}
