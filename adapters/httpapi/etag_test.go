package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"
)

func TestMatchesETag(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"":                   false,
		`"abc"`:              true,
		`W/"abc"`:            true,
		`"x", "abc"`:         true,
		`"x" ,W/"abc" , "y"`: true,
		"*":                  true,
		"abc":                false,
		`"ABC"`:              false,
		`"abc`:               false,
		`"ab", "c"`:          false,
		`w/"abc"`:            false,
	} {
		if got := matchesETag(header, `"abc"`); got != want {
			t.Errorf("%s matches: %v, want %v", header, got, want)
		}
	}
}

func TestACompressedDocumentHasAWeakTag(t *testing.T) {
	t.Parallel()
	s := newServer(t, Deps{Log: slog.New(slog.DiscardHandler), SendFixed: func(body []byte) fiber.Handler {
		return func(c *fiber.Ctx) error {
			if c.Get(fiber.HeaderAcceptEncoding) == "" {
				return c.Send(body)
			}
			c.Set(fiber.HeaderContentEncoding, "gzip")
			return c.SendString("less")
		}
	}})
	get := func(headers ...string) *http.Response {
		request := httptest.NewRequest(fiber.MethodGet, "/openapi.yaml", nil)
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response, err := s.App().Test(request, -1)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response
	}
	plain, small := get().Header.Get("ETag"), get("Accept-Encoding", "gzip").Header.Get("ETag")
	if plain == "" || small != "W/"+plain {
		t.Errorf("tags %q and %q", plain, small)
	}
	for _, tag := range []string{plain, small} {
		if again := get("Accept-Encoding", "gzip", "If-None-Match", tag); again.StatusCode != 304 {
			t.Errorf("%s gives %d", tag, again.StatusCode)
		}
	}
}
