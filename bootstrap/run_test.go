package bootstrap

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Not parallel: it sets a variable of the process.
func TestHealthcheckAsksTheConfiguredAddress(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(server.Close)
	t.Setenv("ADDR", strings.TrimPrefix(server.URL, "http://"))
	if err := run(t.Context(), []string{"healthcheck"}, Options{}); err != nil || !asked {
		t.Errorf("asked: %t, error: %v", asked, err)
	}
}

// Not parallel: it sets a variable of the process.
func TestCommandsReportConfigurationFaults(t *testing.T) {
	t.Setenv("ENVIRONMENT", "moon")
	for _, command := range []string{"healthcheck", "verify"} {
		if err := run(t.Context(), []string{command}, Options{}); err == nil ||
			!strings.HasPrefix(err.Error(), "configuration:\n") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// The key and the password of the demo creator are printed once, so not where nobody can use them. Not parallel: it
// sets variables of the process.
func TestServe_SeedsOnceItsAddressIsFree(t *testing.T) {
	busy := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(busy.Close)
	t.Setenv("ADDR", strings.TrimPrefix(busy.URL, "http://"))
	t.Setenv("DATA_DIR", t.TempDir())
	if err := run(t.Context(), nil, Options{}); err == nil || !strings.HasPrefix(err.Error(), "listen on ") {
		t.Errorf("got %v, want a line about the address", err)
	}
	if err := run(t.Context(), []string{"seed"}, Options{}); err != nil {
		t.Errorf("seed: %v, want an empty database", err)
	}
}

//nolint:paralleltest // it sets variables of the process
func TestSeed_WhateverTheSignUps(t *testing.T) {
	for _, signUps := range []string{"open", "invite", "closed"} {
		t.Setenv("SIGN_UPS", signUps)
		t.Setenv("DATA_DIR", t.TempDir())
		if err := run(t.Context(), []string{"seed"}, Options{}); err != nil {
			t.Errorf("SIGN_UPS=%s: %v", signUps, err)
		}
	}
}
