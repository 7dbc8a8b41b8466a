package e2e_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

var placeholder = regexp.MustCompile(`\{[A-Za-z]+\}`)

// once replaces the first match only.
func once(with string) func(string) string {
	done := false
	return func(match string) string {
		if done {
			return match
		}
		done = true
		return with
	}
}

func TestEveryOperationAcceptsItsValidRequest(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, op := range harness.Operations(t) {
			t.Run(op.OperationID, func(t *testing.T) {
				if response := app.Ask(t, w.request(t, op)); response.Status >= 300 {
					t.Errorf("%s refused a valid request: %d %s", op.Line(), response.Status, response.Body)
				}
			})
		}
	})
}

// assets are served beside the API and are no part of its document: what pages load, open times to move to included.
var assets = []string{
	"GET /", "GET /assets/{}", "GET /llms.txt", "GET /llms-full.txt", "GET /docs.md", "GET /accent/{}",
	"GET /images/{}/{}", "GET /media/{}", "GET /sundry.js", "GET /a/{}/times",
}

// site are the pages whose forms only they themselves send: card setup, the customer portal with the way to it, and the
// dashboard with its previews.
var site = regexp.MustCompile(`^/(setup|p|find|dashboard|preview)(/|$)`)

// TestTheDocumentNamesEverythingThatIsServed compares it with what the running program has really mounted, pages too.
func TestTheDocumentNamesEverythingThatIsServed(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		documented := map[string]bool{}
		for _, line := range harness.DocumentedLines(t) {
			documented[placeholder.ReplaceAllString(line, "{}")] = true
		}
		for _, line := range assets {
			documented[line] = true
		}
		for _, route := range app.Program.Handler().GetRoutes(true) {
			// companions of a GET
			if route.Method == http.MethodHead || route.Method == http.MethodOptions || site.MatchString(route.Path) {
				continue
			}
			line := route.Method + " " + fiberParameter.ReplaceAllString(route.Path, "{}")
			if !documented[line] {
				t.Errorf("%s is served and not documented", line)
			}
			delete(documented, line)
		}
		for line := range documented {
			t.Errorf("%s is documented and not served", line)
		}
	})
}

var fiberParameter = regexp.MustCompile(`:[A-Za-z]+`)

// An enumeration whose value may be null lists null: JSON Schema refuses it otherwise, whatever the type is.
func TestEnumsListNullWhereItIsAllowed(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	var document any
	app.AskUnjudged(t, harness.Request{Method: get, Path: "/openapi.json"}).Want(t, 200).Into(t, &document)
	found := 0
	var walk func(path string, node any)
	walk = func(path string, node any) {
		switch node := node.(type) {
		case []any:
			for i, child := range node {
				walk(fmt.Sprintf("%s/%d", path, i), child)
			}
		case map[string]any:
			if values, ok := node["enum"].([]any); ok {
				found++
				types, _ := node["type"].([]any)
				if slices.Contains(types, any("null")) != slices.Contains(values, nil) {
					t.Errorf("%s: the types are %v, and the values are %v", path, types, values)
				}
			}
			for name, child := range node {
				walk(path+"/"+name, child)
			}
		}
	}
	walk("", document)
	if found < 50 {
		t.Errorf("the document has %d enumerations, want more", found)
	}
}
