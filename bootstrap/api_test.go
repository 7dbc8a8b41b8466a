package bootstrap

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"sundry/adapters/httpapi"
	"sundry/config"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/webhook"
)

// loadedAPI reads the document once: no test changes it.
var loadedAPI = sync.OnceValues(func() (*openapi3.T, error) {
	api := API(config.Sandbox)
	text, err := api.Document().YAML()
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
})

func loadAPI(t *testing.T) (*openapi3.T, []httpapi.Route) {
	t.Helper()
	api := API(config.Sandbox)
	return loadDocument(t), api.Routes()
}

// written is one form of the document.
func written(t *testing.T, form func() ([]byte, error)) []byte {
	t.Helper()
	text, err := form()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func loadDocument(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := loadedAPI()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// operations lists the document's operations by "METHOD /path".
func operations(doc *openapi3.T) map[string]*openapi3.Operation {
	all := map[string]*openapi3.Operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			whole := *op // the document is shared
			whole.Parameters = slices.Concat(op.Parameters, item.Parameters)
			all[method+" "+path] = &whole
		}
	}
	return all
}

var (
	fiberParameter    = regexp.MustCompile(`:[A-Za-z]+`)
	documentParameter = regexp.MustCompile(`\{[A-Za-z]+\}`)
)

// shapeOf makes /v1/listings/:slug and /v1/listings/{ref} the same line.
func shapeOf(line string) string {
	return documentParameter.ReplaceAllString(fiberParameter.ReplaceAllString(line, "{}"), "{}")
}

// mounted are the operations that the composition root adds beside the route table: pages.
var mounted = []string{
	"GET /c/{secret}", "GET /c/{secret}/again", "GET /l/{code}", "GET /r/{secret}", "GET /docs", "GET /docs/{page}",
	"GET /a/{secret}", "GET /a/{secret}/calendar.ics", "GET /a/{secret}/reschedule", "POST /a/{secret}/reschedule",
	"GET /m/{room}", "GET /a/{secret}/cancel", "POST /a/{secret}/cancel",
	"GET /i/{secret}", "GET /i/{secret}/pdf", "POST /i/{secret}/pay",
	"GET /i/{secret}/challenge", "POST /i/{secret}/authenticate", "GET /r/{secret}/pdf", "GET /d/{kind}/{secret}",
	"GET /d/{kind}/{secret}/pdf", "GET /r/{secret}/files/{file}", "GET /f/{until}/{checkout}/{token}",
}

func TestTheDocumentIsValid(t *testing.T) {
	t.Parallel()
	doc := loadDocument(t)
	if err := doc.Validate(context.Background()); err != nil {
		t.Error(err)
	}
	ids := map[string]string{}
	for line, op := range operations(doc) {
		if other, taken := ids[op.OperationID]; taken || op.OperationID == "" {
			t.Errorf("%s: operationId %q is missing or also of %s", line, op.OperationID, other)
		}
		ids[op.OperationID] = line
		if op.Summary == "" || len(op.Tags) != 1 || doc.Tags.Get(op.Tags[0]) == nil {
			t.Errorf("%s: needs a summary and one declared tag", line)
		}
	}
}

func TestTheDocumentAndTheRouteTableSayTheSame(t *testing.T) {
	t.Parallel()
	documented := map[string]*openapi3.Operation{}
	doc, routes := loadAPI(t)
	for line, op := range operations(doc) {
		documented[shapeOf(line)] = op
		if slices.Contains(mounted, line) {
			delete(documented, shapeOf(line))
		}
	}
	for _, route := range routes {
		line := route.Method + " " + route.Path
		op, ok := documented[shapeOf(line)]
		if !ok {
			t.Errorf("%s is served and not documented", line)
			continue
		}
		delete(documented, shapeOf(line))
		compareAuth(t, line, route, op)
		compareIdempotency(t, line, route, op)
	}
	for line := range documented {
		t.Errorf("%s is documented and not served", line)
	}
}

func compareAuth(t *testing.T, line string, route httpapi.Route, op *openapi3.Operation) {
	t.Helper()
	want := map[httpapi.AuthMode][]string{httpapi.Public: nil, httpapi.AccessToken: {"creatorToken"},
		httpapi.SecretKey:              {"secretKey"},
		httpapi.SecretKeyOrReturnToken: {"returnToken", "secretKey"},
		httpapi.SecretKeyOrAccessToken: {"creatorToken", "secretKey"}}[route.Auth]
	got := []string{"secretKey"} // the document's default
	if op.Security != nil {
		got = nil
		for _, alternative := range *op.Security {
			got = append(got, slices.Collect(maps.Keys(alternative))...)
		}
		slices.Sort(got)
		got = slices.Compact(got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: the route takes %v, the document declares %v", line, want, got)
	}
}

// TestEveryKeyedRouteHasAScope holds the table of scopes to the route table, and the document to both.
func TestEveryKeyedRouteHasAScope(t *testing.T) {
	t.Parallel()
	doc, routes := loadAPI(t)
	documented := map[string]any{}
	for line, op := range operations(doc) {
		documented[shapeOf(line)] = op.Extensions["x-scopes"]
	}
	used := map[identity.Scope]bool{identity.ScopeRead: true}
	for _, route := range routes {
		line, keyed := route.Method+" "+route.Path, route.Auth != httpapi.Public && route.Auth != httpapi.AccessToken
		enough := httpapi.ScopesFor(route)
		if keyed != (len(enough) > 0) {
			t.Errorf("%s takes a key: %v, its scopes are %v", line, keyed, enough)
		}
		var want any
		for i, scope := range enough {
			used[scope] = true
			if names, ok := documented[shapeOf(line)].([]any); !ok || len(names) != len(enough) || names[i] != string(scope) {
				want = enough
			}
			if scope == identity.ScopeRead && route.Method != "GET" {
				t.Errorf("%s changes something by the scope read", line)
			}
		}
		if want != nil || len(enough) == 0 && documented[shapeOf(line)] != nil {
			t.Errorf("%s: the document's scopes are %v, want %v", line, documented[shapeOf(line)], enough)
		}
	}
	for _, scope := range identity.LimitedScopes() {
		if !used[scope] {
			t.Errorf("no route needs the scope %s", scope)
		}
	}
}

func compareIdempotency(t *testing.T, line string, route httpapi.Route, op *openapi3.Operation) {
	t.Helper()
	documented := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
	if documented != (route.Idempotency != httpapi.None) {
		t.Errorf("%s: Idempotency-Key applied %v, documented %v", line, route.Idempotency != httpapi.None, documented)
	}
	if route.Method == "POST" && (route.Auth == httpapi.SecretKey || route.Auth == httpapi.SecretKeyOrAccessToken) && route.Idempotency == httpapi.None {
		t.Errorf("%s: every POST with a secret key applies Idempotency-Key", line)
	}
}

// promises are the responses that follow from what an operation takes.
func promises(op *openapi3.Operation) []string {
	var want []string
	if op.RequestBody != nil {
		want = append(want, "413")
	}
	if op.Security == nil || len(*op.Security) > 0 {
		want = append(want, "401")
	}
	if op.Security == nil {
		want = append(want, "403", "429")
	}
	return append(want, "400", "415", "500", "503")
}

func TestEveryOperationDocumentsItsRefusals(t *testing.T) {
	t.Parallel()
	for line, op := range operations(loadDocument(t)) {
		for _, status := range promises(op) {
			if slices.Contains(mounted, line) {
				break // a page shows its refusals as pages
			}
			if op.Responses.Value(status) == nil {
				t.Errorf("%s: %s is not documented", line, status)
			}
		}
		for status, response := range op.Responses.Map() {
			if h := response.Value.Headers["X-Request-Id"]; h == nil || !h.Value.Required {
				t.Errorf("%s %s: X-Request-Id is not promised", line, status)
			}
			if status == "401" && response.Value.Headers["WWW-Authenticate"] == nil {
				t.Errorf("%s 401: WWW-Authenticate is not promised", line)
			}
			checkCodes(t, line, status, response.Value)
		}
	}
}

// checkCodes holds the codes that an error response names against the one map from faults to statuses.
func checkCodes(t *testing.T, line, status string, response *openapi3.Response) {
	t.Helper()
	media := response.Content.Get("application/json")
	if status < "400" || media == nil || strings.HasPrefix(line, "GET /readyz") {
		return
	}
	codes := httpapi.DocumentedCodes(*response.Description)
	for _, code := range codes {
		if got := httpapi.StatusOf(fault.New(code, "")); status != strconv.Itoa(got) {
			t.Errorf("%s: %s is documented as %s and sent as %d", line, code, status, got)
		}
	}
	if len(codes) == 0 {
		t.Errorf("%s %s: names no codes", line, status)
	}
	if ref := media.Schema.Ref; !strings.HasPrefix(ref, "#/components/schemas/") {
		t.Errorf("%s %s: the error's schema has no name", line, status)
	}
}

func TestTheErrorCodesOfTheDocumentAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	var documented []fault.Code
	for _, value := range loadDocument(t).Components.Schemas["ErrorCode"].Value.Enum {
		name, _ := value.(string)
		documented = append(documented, fault.Code(name))
	}
	if !slices.Equal(documented, fault.Codes()) {
		t.Errorf("documented %v\ndeclared   %v", documented, fault.Codes())
	}
}

func TestTheDocumentIsTheSameInJSON(t *testing.T) {
	t.Parallel()
	api := API(config.Sandbox)
	var fromYAML, fromJSON any
	if err := yaml.Unmarshal(written(t, api.Document().YAML), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(written(t, api.Document().JSON), &fromJSON); err != nil {
		t.Fatal(err)
	}
	a, errA := json.Marshal(fromYAML)
	b, errB := json.Marshal(fromJSON)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the two forms differ (%v, %v): %d and %d bytes", errA, errB, len(a), len(b))
	}
}

func TestEveryEventTypeIsAWebhookOfTheDocument(t *testing.T) {
	t.Parallel()
	messages := loadDocument(t).Webhooks
	for _, kind := range webhook.Catalogue() {
		if messages[string(kind.Type)] == nil {
			t.Errorf("%s is not described", kind.Type)
		}
	}
}

func TestEveryResponseHasAnExampleThatItsSchemaAllows(t *testing.T) {
	t.Parallel()
	for line, op := range operations(loadDocument(t)) {
		for status, response := range op.Responses.Map() {
			media := response.Value.Content["application/json"]
			if media == nil {
				continue
			}
			values := map[string]any{}
			if media.Example != nil {
				values["example"] = media.Example
			}
			for name, example := range media.Examples {
				values[name] = example.Value.Value
			}
			if len(values) == 0 {
				t.Errorf("%s %s has no example", line, status)
			}
			for name, value := range values {
				if err := media.Schema.Value.VisitJSON(value, openapi3.VisitAsResponse()); err != nil {
					t.Errorf("%s %s %s: %v", line, status, name, err)
				}
			}
		}
	}
}

// TestNullIsAType: JSON Schema has no nullable, which OpenAPI had until 3.0.
func TestNullIsAType(t *testing.T) {
	t.Parallel()
	api := API(config.Sandbox)
	if i := bytes.Index(written(t, api.Document().JSON), []byte(`"nullable":`)); i >= 0 {
		t.Errorf("the document has nullable, which means nothing since OpenAPI 3.1, at byte %d", i)
	}
}

// TestNoRequestHasADefault keeps generated clients from making such members required.
func TestNoRequestHasADefault(t *testing.T) {
	t.Parallel()
	for name, schema := range loadDocument(t).Components.Schemas {
		for member, property := range schema.Value.Properties {
			if property.Value.Default != nil {
				t.Errorf("%s.%s has a default", name, member)
			}
		}
	}
}
