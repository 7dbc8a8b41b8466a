package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/identity"
	"sundry/ports"
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

func TestClientDocument_Scopes(t *testing.T) {
	t.Parallel()
	s := things(t, ports.Quota{})
	for query, want := range map[string]int{
		"": 200, "?scopes=usage": 200, "?scopes=usage,read": 200, "?scopes=all": 200, "?scopes=usage%2Cread": 200,
		"?scopes=usgae": 400, "?scopes=": 400, "?scopes=usage,": 400, "?scopes=usage,usage": 400, "?scopes=all,usage": 400,
		"?scope=usage": 400,
	} {
		response, err := s.App().Test(httptest.NewRequest(fiber.MethodGet, "/openapi-client.json"+query, nil), -1)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%q responds with %d, want %d", query, response.StatusCode, want)
		}
	}
}

// A document that is kept costs nothing; to make one takes about a tenth of a second.
func TestClientDocument_LimitedPerNetwork(t *testing.T) {
	t.Parallel()
	quota := &fixedQuota{}
	s := newServer(t, Deps{RateLimiter: quota, Log: slog.New(slog.DiscardHandler)})
	ask := func(query string) int {
		t.Helper()
		response, err := s.App().Test(httptest.NewRequest(fiber.MethodGet, "/openapi-client.json"+query, nil), -1)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if got := ask("?scopes=usage"); got != 200 {
		t.Fatalf("within the limit: %d", got)
	}
	quota.quota = ports.Quota{Wait: time.Second}
	for query, want := range map[string]int{"?scopes=usage": 200, "?scopes=refunds": 429, "": 429} {
		if got := ask(query); got != want {
			t.Errorf("%q beyond the limit: %d, want %d", query, got, want)
		}
	}
}

func TestClientDocument_KeepsAFew(t *testing.T) {
	t.Parallel()
	written := 0
	documents := &clientDocuments{
		write: func(scopes identity.Scopes) ([]byte, error) {
			written++
			return []byte(scopes.Text()), nil
		},
		fix: func(document []byte) fixedDocument { return fixedDocument{etag: string(document)} },
	}
	get := func(scope identity.Scope) {
		t.Helper()
		document, err := documents.get(identity.RestoreScopes(string(scope)), func() error { return nil })
		if err != nil || document.etag != string(scope) {
			t.Errorf("%s gives the document for %q, %v", scope, document.etag, err)
		}
	}
	every := identity.LimitedScopes()
	for _, scope := range every {
		get(scope)
		get(scope)
	}
	if written != len(every) {
		t.Errorf("%d documents were written for %d sets of scopes", written, len(every))
	}
	if got := len(documents.kept); got > maxClientDocuments {
		t.Errorf("%d documents are kept, want at most %d", got, maxClientDocuments)
	}
}
