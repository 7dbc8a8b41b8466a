package harness

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sundry/adapters/httpapi"
)

// Operation is one operation of the API as the document and the route table know it.
type Operation struct {
	*openapi3.Operation
	Method string
	// Path is as the document writes it: /v1/listings/{ref}.
	Path string
	Auth httpapi.AuthMode
}

// Line names the operation: POST /v1/listings.
func (o Operation) Line() string { return o.Method + " " + o.Path }

// TakesBody reports whether the operation reads a JSON body.
func (o Operation) TakesBody() bool {
	return o.RequestBody != nil && o.RequestBody.Value.Content["application/json"] != nil
}

// TakesBytes reports whether the operation reads a body as it is.
func (o Operation) TakesBytes() bool {
	return o.RequestBody != nil && o.RequestBody.Value.Content["application/octet-stream"] != nil
}

// NeedsBody reports whether the operation refuses a request without one.
func (o Operation) NeedsBody() bool { return o.TakesBody() && o.RequestBody.Value.Required }

var parameter = regexp.MustCompile(`\{[A-Za-z]+\}|:[A-Za-z]+`)

// Operations returns the operations of the route table, in a fixed order. Pages are not among them.
func Operations(t testing.TB) []Operation {
	t.Helper()
	j := documented(t)
	modes := map[string]httpapi.AuthMode{}
	for _, r := range j.Routes {
		modes[parameter.ReplaceAllString(r.Method+" "+r.Path, "{}")] = r.Auth
	}
	var all []Operation
	for _, path := range slices.Sorted(maps.Keys(j.Document.Paths.Map())) {
		item := j.Document.Paths.Value(path)
		for method, op := range item.Operations() {
			mode, served := modes[parameter.ReplaceAllString(method+" "+path, "{}")]
			if _, signed := op.Extensions["x-signed-body"]; !served || signed {
				continue // a body that is signed has tests of its own
			}
			merged := *op
			merged.Parameters = append(slices.Clone(op.Parameters), item.Parameters...)
			all = append(all, Operation{Operation: &merged, Method: method, Path: path, Auth: mode})
		}
	}
	slices.SortFunc(all, func(a, b Operation) int { return strings.Compare(a.Line(), b.Line()) })
	return all
}

// DocumentedLines are the document's operations by their lines, pages included.
func DocumentedLines(t testing.TB) []string {
	t.Helper()
	j := documented(t)
	var lines []string
	for path, item := range j.Document.Paths.Map() {
		for method := range item.Operations() {
			lines = append(lines, method+" "+path)
		}
	}
	return lines
}
