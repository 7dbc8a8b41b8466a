package bootstrap

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sundry/adapters/httpapi"
	"sundry/config"
	"sundry/core/identity"
)

// clientDocument is the document for generators of clients, as it is sent and as somebody else's parser reads it.
func clientDocument(t *testing.T, scopes ...string) (sent map[string]any, read *openapi3.T, routes []httpapi.Route) {
	t.Helper()
	api := API(config.Sandbox)
	set, err := identity.ParseScopes(scopes)
	if err != nil {
		t.Fatal(err)
	}
	text, err := api.Document().Client(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &sent); err != nil {
		t.Fatal(err)
	}
	if read, err = openapi3.NewLoader().LoadFromData(text); err != nil {
		t.Fatal(err)
	}
	return sent, read, api.Routes()
}

// clientScopes are the whole document for clients, and some of its parts.
var clientScopes = map[string][]string{
	"everything":                   nil,
	"what reads":                   {"read"},
	"one area":                     {"webhooks"},
	"an area that expands another": {"customers", "checkout"},
}

// TestClientDocument_Operations holds the document to the route table: whatever a key with the scopes may call, and
// what anybody may read of the API.
func TestClientDocument_Operations(t *testing.T) {
	t.Parallel()
	for name, scopes := range clientScopes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, doc, routes := clientDocument(t, scopes...)
			set, err := identity.ParseScopes(scopes)
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, route := range routes {
				keyed := route.Auth != httpapi.Public && route.Auth != httpapi.AccessToken
				open := route.Auth == httpapi.Public && route.Method == "GET" && strings.HasPrefix(route.Path, "/v1/")
				if open || keyed && set.Allow(httpapi.ScopesFor(route)...) {
					want = append(want, shapeOf(route.Method+" "+route.Path))
				}
			}
			for line := range operations(doc) {
				got = append(got, shapeOf(line))
			}
			slices.Sort(want)
			slices.Sort(got)
			if len(want) < 10 || !slices.Equal(got, want) {
				t.Errorf("operations\n%q, want\n%q", got, want)
			}
		})
	}
}

// TestClientDocument_IsSmallAndValid also holds that nothing is declared which no operation refers to.
func TestClientDocument_IsSmallAndValid(t *testing.T) {
	t.Parallel()
	for name, scopes := range clientScopes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, doc, _ := clientDocument(t, scopes...)
			if err := doc.Validate(context.Background()); err != nil {
				t.Error(err)
			}
			for line, op := range operations(doc) {
				checkClientOperation(t, line, op)
			}
			text, err := json.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			components, _ := sent["components"].(map[string]any)
			for kind, all := range components {
				named, _ := all.(map[string]any)
				for component := range named {
					if kind != "securitySchemes" && !strings.Contains(string(text), `"#/components/`+kind+"/"+component+`"`) {
						t.Errorf("nothing refers to %s of the %s", component, kind)
					}
				}
			}
			if schemes := slices.Collect(maps.Keys(doc.Components.SecuritySchemes)); !slices.Equal(schemes, []string{"secretKey"}) {
				t.Errorf("credentials %q, want a secret key alone", schemes)
			}
		})
	}
}

func checkClientOperation(t *testing.T, line string, op *openapi3.Operation) {
	t.Helper()
	for status, response := range op.Responses.Map() {
		if status >= "400" && status != "default" || len(response.Value.Headers) > 0 {
			t.Errorf("%s declares the response %s with %d headers", line, status, len(response.Value.Headers))
		}
	}
	refusal := op.Responses.Default()
	if refusal == nil || refusal.Value.Content.Get("application/json").Schema.Ref != "#/components/schemas/Error" {
		t.Errorf("%s: its refusals have no default response in the one shape", line)
	}
}

// TestClientDocument_IsAPart: what it has, the whole document has alike. Its schemas are the same, but for what the
// caller may not expand.
func TestClientDocument_IsAPart(t *testing.T) {
	t.Parallel()
	api := API(config.Sandbox)
	var whole map[string]any
	if err := json.Unmarshal(written(t, api.Document().JSON), &whole); err != nil {
		t.Fatal(err)
	}
	for name, scopes := range clientScopes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part, _, _ := clientDocument(t, scopes...)
			wantPart(t, "", part, whole)
		})
	}
}

// onlyInPart are the places at which the document for clients has words of its own.
var onlyInPart = []string{"/info/description", "/components/responses/Refusal"}

func wantPart(t *testing.T, at string, part, whole any) {
	t.Helper()
	if slices.Contains(onlyInPart, at) || strings.HasSuffix(at, "/responses/default") {
		return
	}
	isSchema := strings.HasPrefix(at, "/components/schemas/") && strings.Count(at, "/") == 3
	if isSchema && !reflect.DeepEqual(notExpanded(part), notExpanded(whole)) {
		t.Errorf("%s differs from the whole document's", at)
	}
	switch p := part.(type) {
	case map[string]any:
		w, _ := whole.(map[string]any)
		for name, value := range p {
			wantPart(t, at+"/"+name, value, w[name])
		}
	case []any:
		w, _ := whole.([]any)
		for _, value := range p {
			if !slices.ContainsFunc(w, func(other any) bool { return isPart(value, other) }) {
				t.Errorf("%s: %v is not in the whole document", at, value)
			}
		}
	default:
		if !reflect.DeepEqual(part, whole) {
			t.Errorf("%s is %v, and %v in the whole document", at, part, whole)
		}
	}
}

// notExpanded is a schema without the member of an object's expansions.
func notExpanded(schema any) any {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	if properties["expanded"] == nil {
		return schema
	}
	rest, members := maps.Clone(s), maps.Clone(properties)
	delete(members, "expanded")
	rest["properties"] = members
	return rest
}

// isPart reports whether an element of a list is another, or less of it.
func isPart(part, whole any) bool {
	p, isObject := part.(map[string]any)
	w, both := whole.(map[string]any)
	if !isObject || !both {
		if list, ok := part.([]any); ok {
			other, _ := whole.([]any)
			return !slices.ContainsFunc(list, func(one any) bool {
				return !slices.ContainsFunc(other, func(two any) bool { return isPart(one, two) })
			})
		}
		return reflect.DeepEqual(part, whole)
	}
	for name, value := range p {
		if other, has := w[name]; !has || !isPart(value, other) {
			return false
		}
	}
	return true
}

// TestClientDocument_ExpandsWhatTheKeyMayRead: the shapes of other areas are left out with their scopes.
func TestClientDocument_ExpandsWhatTheKeyMayRead(t *testing.T) {
	t.Parallel()
	_, doc, _ := clientDocument(t, "customers", "checkout")
	got := slices.Sorted(maps.Keys(doc.Components.Schemas["Customer"].Value.Properties["expanded"].Value.Properties))
	if want := []string{"paymentMethods", "payments"}; !slices.Equal(got, want) {
		t.Errorf("a customer expands %q, want %q", got, want)
	}
	if doc.Components.Schemas["Subscription"] != nil {
		t.Error("the schema of a subscription is there")
	}
}
