package httpapi

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

func TestWhoCannotBeServedIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var delay time.Duration
	s := newServer(t, Deps{
		Log: slog.New(slog.NewTextHandler(&log, nil)), Delay: func() time.Duration { return delay },
	})
	served := func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusNoContent) }
	s.App().All("/v1/listings", served)
	s.App().Post("/c/:secret/pay", served)
	s.App().Get("/assets/:file", served)
	for _, one := range []struct {
		method, path string
		until        time.Duration // the longest delay with which it is served; -1 = any
	}{
		{"GET", "/v1/listings", maxReadWait}, {"HEAD", "/v1/listings", maxReadWait},
		{"POST", "/v1/listings", maxWriteWait}, {"DELETE", "/v1/listings", maxWriteWait},
		{"POST", "/c/cs_1/pay", maxPayWait}, {"GET", "/healthz", -1}, {"GET", "/assets/a.css", -1},
	} {
		for _, delay = range []time.Duration{0, maxReadWait, maxReadWait + 1, maxWriteWait, maxWriteWait + 1,
			maxPayWait, maxPayWait + 1} {
			response, err := s.App().Test(httptest.NewRequest(one.method, one.path, nil), -1)
			if err != nil {
				t.Fatal(err)
			}
			refused := response.StatusCode == fiber.StatusServiceUnavailable
			if want := one.until >= 0 && delay > one.until; refused != want {
				t.Errorf("%s %s after %v: %d", one.method, one.path, delay, response.StatusCode)
			}
			if refused && response.Header.Get("Retry-After") == "" {
				t.Errorf("%s %s shows no time to come back", one.method, one.path)
			}
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if strings.Contains(log.String(), "request failed") {
		t.Errorf("each refusal is logged:\n%s", log.String())
	}
}
