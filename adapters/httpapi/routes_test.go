package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/ports"
)

const thingsDocument = `
paths:
  /v1/things:
    get:
      operationId: listThings
      security: []
      parameters:
        - {name: externalCustomerId, in: query, schema: {type: string}}
        - {$ref: '#/components/parameters/Limit'}
      responses: {'200': {description: They.}}
    post:
      operationId: createThing
      responses: {'201': {description: It.}}
  /v1/own-things:
    get:
      operationId: listOwnThings
      parameters:
        - {name: externalCustomerId, in: query, schema: {type: string}}
        - {$ref: '#/components/parameters/Limit'}
        - {$ref: '#/components/parameters/Cursor'}
      responses: {'200': {description: They.}}
`

// onlyKey lets one key and one token in.
type onlyKey struct{}

func (onlyKey) AuthenticateToken(_ context.Context, token string) (identity.User, error) {
	if token != "token" {
		return identity.User{}, fault.New(fault.Unauthenticated, "expired yesterday")
	}
	return identity.User{CreatorID: "crt_1", Role: identity.RoleOwner}, nil
}

func (onlyKey) AuthenticateKey(_ context.Context, key string) (AuthenticatedKey, error) {
	if key != "sk" {
		return AuthenticatedKey{}, fault.New(fault.Unauthenticated, "revoked yesterday")
	}
	return AuthenticatedKey{ID: "key_1", CreatorID: "crt_1"}, nil
}

// fixedQuota treats every attempt alike.
type fixedQuota struct {
	ports.RateLimiter
	quota ports.Quota
}

func (f fixedQuota) Allow(context.Context, string, int, time.Duration) (ports.Quota, error) {
	return f.quota, nil
}

func things(t *testing.T, quota ports.Quota) *Server {
	t.Helper()
	show := func(c *fiber.Ctx) error { return c.JSON(fiber.Map{"url": "https://x.example/?a=1&b=<2>"}) }
	return newServer(t, Deps{Auth: onlyKey{}, RateLimiter: fixedQuota{quota: quota}, RateLimitPerMinute: 600,
		Log: slog.New(slog.DiscardHandler)}, Area{
		Document: []byte(thingsDocument),
		Routes: []Route{
			{Method: fiber.MethodGet, Path: "/v1/things", Handle: show},
			{Method: fiber.MethodPost, Path: "/v1/things", Auth: SecretKey, Handle: show},
			{Method: fiber.MethodGet, Path: "/v1/own-things", Auth: SecretKey, Handle: show},
			{Method: fiber.MethodGet, Path: "/v1/creator", Auth: AccessToken, Handle: show},
			{Method: fiber.MethodGet, Path: "/v1/receipt", Auth: SecretKeyOrReturnToken, Handle: show},
			{Method: fiber.MethodGet, Path: "/c/:secret/state", Handle: show},
			{
				Method: fiber.MethodGet, Path: "/v1/down/:what",
				Handle: func(c *fiber.Ctx) error { return down[c.Params("what")] },
			},
		},
	})
}

func call(t *testing.T, s *Server, method, target string, headers ...string) (*http.Response, string) {
	t.Helper()
	request := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.App().Test(request, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestEveryGetHasAHead(t *testing.T) {
	t.Parallel()
	s := things(t, ports.Quota{})
	for target, want := range map[string]int{"/v1/things": 200, "/v1/creator": 401, "/healthz": 200, "/nowhere": 404} {
		response, body := call(t, s, fiber.MethodHead, target)
		if response.StatusCode != want || body != "" {
			t.Errorf("HEAD %s: %d %q, want %d", target, response.StatusCode, body, want)
		}
	}
}

func TestAWrongMethodIsAnsweredWithThoseThatAreAllowed(t *testing.T) {
	t.Parallel()
	s := things(t, ports.Quota{})
	for line, allowed := range map[string]string{
		"DELETE /v1/things": "GET, HEAD, POST, OPTIONS", "POST /v1/creator": "GET, HEAD", "OPTIONS /v1/creator": "GET, HEAD",
		"PATCH /healthz": "GET, HEAD, OPTIONS",
	} {
		method, target, _ := strings.Cut(line, " ")
		response, body := call(t, s, method, target)
		if response.StatusCode != 405 || !strings.Contains(body, `"code":"METHOD_NOT_ALLOWED"`) ||
			response.Header.Get("Allow") != allowed {
			t.Errorf("%s: %d, Allow %q, %s", line, response.StatusCode, response.Header.Get("Allow"), body)
		}
	}
	if response, _ := call(t, s, fiber.MethodPost, "/nowhere"); response.StatusCode != 404 ||
		response.Header.Get("Allow") != "" {
		t.Errorf("no such path: %d, Allow %q", response.StatusCode, response.Header.Get("Allow"))
	}
}

func TestAnyPageMayReadWhatIsPublic(t *testing.T) {
	t.Parallel()
	s := things(t, ports.Quota{})
	for target, want := range map[string]string{
		"/v1/things": "*", "/v1/things?surprise=1": "*", "/v1/receipt": "*", "/v1/creator": "", "/c/s3cret/state": "*",
	} {
		response, _ := call(t, s, fiber.MethodGet, target, "Origin", "https://shop.example")
		if got := response.Header.Get("Access-Control-Allow-Origin"); got != want ||
			response.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("GET %s: Access-Control-Allow-Origin %q, want %q", target, got, want)
		}
	}
	response, body := call(
		t, s, fiber.MethodOptions, "/v1/things", "Origin", "https://shop.example", "Access-Control-Request-Method",
		"GET",
	)
	h := response.Header
	if response.StatusCode != 204 || body != "" || h.Get("Access-Control-Allow-Origin") != "*" ||
		h.Get("Access-Control-Allow-Methods") != "GET, HEAD, OPTIONS" || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("preflight: %d %v", response.StatusCode, h)
	}
	if got, want := h.Get("Allow"), "GET, HEAD, POST, OPTIONS"; got != want {
		t.Errorf("preflight: Allow %q, want %q", got, want)
	}
}

func TestUnknownQueryParametersAreRefused(t *testing.T) {
	t.Parallel()
	s := things(t, ports.Quota{})
	for target, want := range map[string]string{
		"/v1/things?externalCustomerId=x&limit=1": "",
		"/v1/things?externalCustomerid=x":         `Did you mean \"externalCustomerId\"?`,
		"/v1/things?limit=1&zzz=1&lmit=2":         `"field":"lmit"`,
		"/v1/things?%ff=1":                        `"field":"�"`,
		"/v1/receipt?anything=1":                  "", // not in the document: nothing is known of it
	} {
		response, body := call(t, s, fiber.MethodGet, target)
		if want == "" && response.StatusCode != 200 {
			t.Errorf("%s: %d %s", target, response.StatusCode, body)
		}
		if want != "" && (response.StatusCode != 400 || !strings.Contains(body, `"code":"UNKNOWN_PARAMETER"`) ||
			!strings.Contains(body, want)) {
			t.Errorf("%s: %d %s, want %s", target, response.StatusCode, body, want)
		}
	}
	if response, _ := call(t, s, fiber.MethodPost, "/v1/things?surprise=1"); response.StatusCode != 401 {
		t.Errorf("before the credential: %d", response.StatusCode)
	}
}

func TestEveryFaultOfAQueryAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, Deps{Auth: onlyKey{}, RateLimiter: fixedQuota{}, Log: slog.New(slog.DiscardHandler)}, Area{
		Document: []byte(thingsDocument),
		Routes: []Route{{Method: fiber.MethodGet, Path: "/v1/own-things", Auth: SecretKey, Handle: func(c *fiber.Ctx) error {
			var f fault.Violations
			ReadPage(c, &f, id.Customer)
			if err := f.Err(); err != nil {
				return err
			}
			if c.UserContext().Err() == nil {
				t.Errorf("%s is read", c.OriginalURL())
			}
			return c.UserContext().Err()
		}}},
	})
	for query, want := range map[string]string{
		"limit=0&creatorid=1":         "UNKNOWN_PARAMETER creatorid:UNKNOWN_MEMBER limit:OUT_OF_RANGE",
		"creatorid=1&limit=1&limit=0": "UNKNOWN_PARAMETER creatorid:UNKNOWN_MEMBER limit:DUPLICATE",
		"limit=0&externalCustomerId=": "VALIDATION_FAILED externalCustomerId:REQUIRED limit:OUT_OF_RANGE",
		"creatorid=1":                 "UNKNOWN_PARAMETER creatorid:UNKNOWN_MEMBER",
	} {
		_, body := call(t, s, fiber.MethodGet, "/v1/own-things?"+query, "Authorization", "Bearer sk")
		var refusal errorView
		if err := json.Unmarshal([]byte(body), &refusal); err != nil {
			t.Fatal(err)
		}
		got := string(refusal.Code)
		for _, d := range refusal.Details {
			got += " " + d.Field + ":" + d.Code
		}
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestEveryFaultOfAQueryAndABodyAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, Deps{Auth: onlyKey{}, RateLimiter: fixedQuota{}, Log: slog.New(slog.DiscardHandler)}, Area{
		Document: []byte(thingsDocument),
		Routes: []Route{{Method: fiber.MethodPost, Path: "/v1/things", Auth: SecretKey, Handle: func(c *fiber.Ctx) error {
			body, reading := Decode[struct {
				Name string `json:"name"`
				Size int    `json:"size"`
			}](c)
			var f fault.Violations
			f.Check(body.Name != "", "name", fault.DetailRequired, "Enter a name.")
			if err := MergeFieldErrors(reading, f.Err()); err != nil {
				return err
			}
			t.Errorf("%s is made", c.OriginalURL())
			return nil
		}}},
	})
	for body, want := range map[string]string{
		`{"name":"a","size":1}`:   "surprise:UNKNOWN_MEMBER",
		`{"name":"a","size":"1"}`: "surprise:UNKNOWN_MEMBER size:WRONG_TYPE",
		`{"name":"","colour":1}`:  "surprise:UNKNOWN_MEMBER colour:UNKNOWN_MEMBER name:REQUIRED",
		`{`:                       "surprise:UNKNOWN_MEMBER body:MALFORMED",
		``:                        "surprise:UNKNOWN_MEMBER",
	} {
		request := httptest.NewRequest(fiber.MethodPost, "/v1/things?surprise=1", strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer sk")
		response, err := s.App().Test(request, -1)
		if err != nil {
			t.Fatal(err)
		}
		var refusal errorView
		if err := json.NewDecoder(response.Body).Decode(&refusal); err != nil {
			t.Fatal(err)
		}
		got := make([]string, 0, len(refusal.Details))
		for _, d := range refusal.Details {
			got = append(got, d.Field+":"+d.Code)
		}
		if got := strings.Join(got, " "); refusal.Code != fault.UnknownParameter || got != want {
			t.Errorf("%s: %s with %s, want %s", body, refusal.Code, got, want)
		}
	}
}

func TestAQueryParameterIsSentOnceAndWithAValue(t *testing.T) {
	t.Parallel()
	s := things(t, ports.Quota{})
	for target, want := range map[string]string{
		"/v1/things?limit=1&limit=2":                                 `"field":"limit","code":"DUPLICATE"`,
		"/v1/things?externalCustomerId=a&externalCustomerId=a":       `"field":"externalCustomerId","code":"DUPLICATE"`,
		"/v1/own-things?externalCustomerId=&limit=":                  `"field":"externalCustomerId","code":"REQUIRED"`,
		"/v1/own-things?externalCustomerId":                          `"field":"externalCustomerId","code":"REQUIRED"`,
		"/v1/own-things?externalCustomerId=a&limit=1&cursor=":        "",
		"/v1/things?externalCustomerId=&limit=1":                     "",
		"/v1/own-things?externalCustomerId=+&externalCustomerId=%20": `"field":"externalCustomerId","code":"DUPLICATE"`,
	} {
		response, body := call(t, s, fiber.MethodGet, target, "Authorization", "Bearer sk")
		if want == "" && response.StatusCode != 200 {
			t.Errorf("%s: %d %s", target, response.StatusCode, body)
		}
		if want != "" && (response.StatusCode != 400 || !strings.Contains(body, `"code":"VALIDATION_FAILED"`) ||
			!strings.Contains(body, want)) {
			t.Errorf("%s: %d %s, want %s", target, response.StatusCode, body, want)
		}
	}
}

func TestAMethodThatNobodyKnowsIsRefusedAsAnyOther(t *testing.T) {
	t.Parallel()
	s := things(t, ports.Quota{})
	for _, method := range []string{"PROPFIND", "QUERY", "get", "X"} {
		response, body := call(t, s, method, "/v1/creator")
		if response.StatusCode != 405 || !strings.Contains(body, `"code":"METHOD_NOT_ALLOWED"`) ||
			response.Header.Get("Allow") != "GET, HEAD" ||
			response.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v %s", method, response.StatusCode, response.Header, body)
		}
		if response, _ := call(t, s, method, "/nowhere"); response.StatusCode != 404 {
			t.Errorf("%s of no path: %d", method, response.StatusCode)
		}
	}
}

func TestARefusedCredentialIsToldOnlyWhatTheRouteTakes(t *testing.T) {
	t.Parallel()
	s := things(t, ports.Quota{})
	for line, want := range map[string]string{"GET /v1/creator": "access token", "POST /v1/things": "secret key",
		"GET /v1/receipt": "secret key"} {
		method, target, _ := strings.Cut(line, " ")
		bodies := map[string]bool{}
		for _, credential := range []string{"Bearer wrong", "Bearer sk_live_x", "Basic c2s6", "Bearer"} {
			response, body := call(t, s, method, target, "Authorization", credential)
			if response.StatusCode != 401 || response.Header.Get("WWW-Authenticate") != "Bearer" ||
				!strings.Contains(body, want) || strings.Contains(body, "yesterday") {
				t.Errorf("%s with %q: %d %s", line, credential, response.StatusCode, body)
			}
			bodies[body] = true
		}
		if len(bodies) != 1 {
			t.Errorf("%s has several responses: %v", line, bodies)
		}
	}
}

func TestKeyedRoutesReportTheirLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quota  ports.Quota
		status int
		limit  string
	}{
		"with some left": {ports.Quota{Remaining: 599, Reset: 100 * time.Millisecond}, 200, `"key";r=599;t=1`},
		"with none left": {ports.Quota{Wait: time.Second, Reset: time.Minute}, 429, `"key";r=0;t=60`},
	} {
		response, body := call(t, things(t, c.quota), fiber.MethodPost, "/v1/things", "Authorization", "Bearer sk")
		if response.StatusCode != c.status || response.Header.Get("RateLimit") != c.limit ||
			response.Header.Get("RateLimit-Policy") != `"key";q=600;w=60` {
			t.Errorf("%s: %d %v %s", name, response.StatusCode, response.Header, body)
		}
	}
	if response, _ := call(t, things(t, ports.Quota{}), fiber.MethodGet,
		"/v1/things"); response.Header.Get("RateLimit") != "" {
		t.Error("a public route reports a key's limit")
	}
}

func TestTextIsNotEscapedForPages(t *testing.T) {
	t.Parallel()
	if _, body := call(
		t, things(t, ports.Quota{}), fiber.MethodGet, "/v1/things",
	); body != `{"url":"https://x.example/?a=1&b=<2>"}` {
		t.Error(body)
	}
}

func TestEncodedBodiesAreRefusedUnread(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"gzip", "gzip, gzip", "br", "identity"} {
		response, body := call(
			t, things(t, ports.Quota{}), fiber.MethodPost, "/v1/things", "Content-Encoding", encoding, "Authorization",
			"Bearer sk",
		)
		if response.StatusCode != 415 || !strings.Contains(body, `"code":"UNSUPPORTED_MEDIA_TYPE"`) {
			t.Errorf("%s: %d %s", encoding, response.StatusCode, body)
		}
	}
}

func TestACursorIsOfItsListAndSort(t *testing.T) {
	t.Parallel()
	s := newServer(t, Deps{Auth: onlyKey{}, RateLimiter: fixedQuota{}, Log: slog.New(slog.DiscardHandler)}, Area{
		Document: []byte(thingsDocument),
		Routes: []Route{{Method: fiber.MethodGet, Path: "/v1/own-things", Auth: SecretKey, Handle: func(c *fiber.Ctx) error {
			var f fault.Violations
			ReadPage(c, &f, id.Customer)
			return f.Err()
		}}},
	})
	for cursor, want := range map[ports.Cursor]string{
		{ID: "cus_1"}:                          "",
		{Value: 5, ID: "cus_1"}:                "",
		{Value: 5, ID: noItem}:                 "",
		{ID: "pay_1"}:                          "another list",
		{ID: "customer"}:                       "another list",
		{Value: 5, Text: "price", ID: "cus_1"}: "another sort",
	} {
		path := "/v1/own-things?cursor=" + *FormatCursor(cursor)
		response, body := call(t, s, fiber.MethodGet, path, "Authorization", "Bearer sk")
		if want == "" && response.StatusCode != 200 || want != "" &&
			(response.StatusCode != 400 || !strings.Contains(body, `"field":"cursor"`) || !strings.Contains(body, want)) {
			t.Errorf("%+v: %d %s, want %q", cursor, response.StatusCode, body, want)
		}
	}
}

func TestDocumentsThatDoNotFitTogetherAreAnError(t *testing.T) {
	t.Parallel()
	things := Area{Document: []byte(thingsDocument)}
	d := newServer(t, Deps{Log: slog.New(slog.DiscardHandler)}, things, things).Document()
	_, whole := d.YAML()
	_, paged := d.pages("/v1/things")
	for what, err := range map[string]error{"written": whole, "asked for the parameters of a query": paged} {
		if err == nil || !strings.Contains(err.Error(), "operationId is declared twice") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
