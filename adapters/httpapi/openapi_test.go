package httpapi

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sundry/core/fault"
)

func loadDocument(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(OpenAPI)
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
			op.Parameters = append(slices.Clone(op.Parameters), item.Parameters...)
			all[method+" "+path] = op
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
	"GET /c/{secret}", "GET /c/{secret}/again", "GET /l/{code}", "GET /r/{secret}", "GET /docs",
	"GET /a/{secret}", "GET /a/{secret}/calendar.ics", "GET /a/{secret}/reschedule", "POST /a/{secret}/reschedule",
	"GET /a/{secret}/cancel", "POST /a/{secret}/cancel",
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
	for line, op := range operations(loadDocument(t)) {
		documented[shapeOf(line)] = op
		if slices.Contains(mounted, line) {
			delete(documented, shapeOf(line))
		}
	}
	server := New(Config{Sandbox: true}, Modules{}, nil, nil, nil, nil, nil)
	for _, route := range server.Routes() {
		line := route.Method + " " + route.Path
		op, ok := documented[shapeOf(line)]
		if !ok {
			t.Errorf("%s is served and not documented", line)
			continue
		}
		delete(documented, shapeOf(line))
		compareGate(t, line, route, op)
		compareOnce(t, line, route, op)
	}
	for line := range documented {
		t.Errorf("%s is documented and not served", line)
	}
}

func compareGate(t *testing.T, line string, route Route, op *openapi3.Operation) {
	t.Helper()
	want := map[Gate][]string{Public: nil, Creator: {"creatorToken"}, SecretKey: {"secretKey"},
		KeyOrReturnToken: {"returnToken", "secretKey"}}[route.Gate]
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
		t.Errorf("%s: the gate wants %v, the document says %v", line, want, got)
	}
}

func compareOnce(t *testing.T, line string, route Route, op *openapi3.Operation) {
	t.Helper()
	documented := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
	if documented != (route.Once != Repeatable) {
		t.Errorf("%s: Idempotency-Key honoured %v, documented %v", line, route.Once != Repeatable, documented)
	}
	if route.Method == "POST" && route.Gate == SecretKey && route.Once == Repeatable {
		t.Errorf("%s: every POST with a secret key honours Idempotency-Key", line)
	}
}

// promises are the answers that follow from what an operation takes.
func promises(op *openapi3.Operation) []string {
	var want []string
	if op.RequestBody != nil {
		want = append(want, "400", "413")
	}
	if op.Security == nil || len(*op.Security) > 0 {
		want = append(want, "401")
	}
	if op.Security == nil {
		want = append(want, "429")
	}
	for _, p := range op.Parameters {
		if p.Value.In == "query" && p.Value.Name == "limit" {
			want = append(want, "400")
		}
	}
	if !slices.Contains([]string{"getHealth", "getReadiness", "getMetrics", "getOpenApi", "getDocs"}, op.OperationID) {
		want = append(want, "500")
	}
	return want
}

func TestEveryOperationDocumentsItsRefusals(t *testing.T) {
	t.Parallel()
	for line, op := range operations(loadDocument(t)) {
		for _, status := range promises(op) {
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

// checkCodes holds the codes of an error answer against the one map from faults to statuses.
func checkCodes(t *testing.T, line, status string, response *openapi3.Response) {
	t.Helper()
	media := response.Content.Get("application/json")
	if status < "400" || media == nil || strings.HasPrefix(line, "GET /readyz") {
		return
	}
	codes := 0
	for _, part := range media.Schema.Value.AllOf {
		code := part.Value.Properties["code"]
		if code == nil {
			continue
		}
		for _, value := range code.Value.Enum {
			codes++
			name, _ := value.(string)
			if got := statusOf[fault.Code(name)]; status != strconv.Itoa(got) {
				t.Errorf("%s: %s is documented as %s and answered as %d", line, name, status, got)
			}
			if response.Description == nil || !strings.Contains(*response.Description, "`"+name+"`") {
				t.Errorf("%s %s: the description does not explain %s", line, status, name)
			}
		}
	}
	if codes == 0 {
		t.Errorf("%s %s: names no codes", line, status)
	}
}
