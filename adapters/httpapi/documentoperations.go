package httpapi

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"

	"sundry/core/identity"
)

var pathParameter = regexp.MustCompile(`\{[A-Za-z]+\}|:[A-Za-z]+`)

// operationKey names an operation alike in fiber's form and in the document's: GET /v1/listings/{}.
func operationKey(method, path string) string {
	return strings.ToUpper(method) + " " + pathParameter.ReplaceAllString(path, "{}")
}

// documentOperation is one operation of the document.
type documentOperation struct {
	key string
	// item holds what the operations of one path share.
	node, item *yaml.Node
}

func operationsOf(document *yaml.Node) []documentOperation {
	var all []documentOperation
	paths := member(document, "paths")
	for i := 0; i < len(paths.Content); i += 2 {
		path, item := paths.Content[i].Value, paths.Content[i+1]
		for j := 0; j < len(item.Content); j += 2 {
			switch method := item.Content[j].Value; method {
			case "get", "post", "put", "patch", "delete":
				all = append(all, documentOperation{operationKey(method, path), item.Content[j+1], item})
			}
		}
	}
	return all
}

// queryParameters are the names of the query parameters that an operation or a path declares.
func queryParameters(document, declares *yaml.Node) []string {
	names := []string{}
	parameters := member(declares, "parameters")
	if parameters == nil {
		return names
	}
	for _, parameter := range parameters.Content {
		if reference := member(parameter, "$ref"); reference != nil {
			parameter = resolve(document, reference.Value)
		}
		if in := member(parameter, "in"); in != nil && in.Value == "query" {
			names = append(names, member(parameter, "name").Value)
		}
	}
	for _, credential := range credentials(declares) { // a credential in the query is a parameter too
		scheme := resolve(document, "#/components/securitySchemes/"+credential)
		if in := member(scheme, "in"); in != nil && in.Value == "query" {
			names = append(names, member(scheme, "name").Value)
		}
	}
	return names
}

// credentials are the security schemes that an operation names.
func credentials(operation *yaml.Node) []string {
	var names []string
	security := member(operation, "security")
	if security == nil {
		return nil
	}
	for _, alternative := range security.Content {
		for i := 0; i < len(alternative.Content); i += 2 {
			names = append(names, alternative.Content[i].Value)
		}
	}
	return names
}

// resolve follows a reference within the document; a mapping without members when it does not resolve, which the
// document's own validation reports.
func resolve(document *yaml.Node, reference string) *yaml.Node {
	node := document
	for name := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
		if node = member(node, name); node == nil {
			return &yaml.Node{Kind: yaml.MappingNode}
		}
	}
	return node
}

// addFrameResponses declares what the frame responds on every route, unless the operation declares it in its own
// words: an unknown query parameter, a missing credential, a suspended account, a limit, a body that is too large or
// encoded, and outages.
func addFrameResponses(key string, operation *yaml.Node) {
	responses := member(operation, "responses")
	if responses == nil {
		return
	}
	names := []string{"400", "Invalid"}
	if security := member(operation, "security"); security == nil {
		names = append(names, "401", "Unauthenticated", "429", "RateLimited")
		if !strings.HasPrefix(key, "GET ") {
			names = append(names, "403", "Suspended")
		}
	} else if len(security.Content) > 0 {
		names = append(names, "401", "Unauthenticated", "403", "Suspended")
	}
	if member(operation, "requestBody") != nil {
		names = append(names, "413", "TooLarge")
	}
	names = append(names, "415", "UnsupportedMediaType", "421", "Misdirected", "500", "Internal", "503", "Unavailable")
	for i := 0; i < len(names); i += 2 {
		if member(responses, names[i]) == nil {
			responses.Content = append(responses.Content,
				&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.SingleQuotedStyle, Value: names[i]},
				&yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{
					{Kind: yaml.ScalarNode, Value: "$ref"},
					{
						Kind: yaml.ScalarNode, Style: yaml.SingleQuotedStyle,
						Value: "#/components/responses/" + names[i+1],
					},
				}})
		}
	}
}

// addScopes declares the scopes of which a key needs one, and the refusal of a key that has none of them.
func addScopes(operation *yaml.Node, r Route) {
	responses, enough := member(operation, "responses"), ScopesFor(r)
	if responses == nil || len(enough) == 0 {
		return
	}
	names := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, scope := range enough {
		names.Content = append(names.Content, text(string(scope)))
	}
	operation.Content = append(operation.Content, text("x-scopes"), names)
	refusal := "the key lacks the scope `" + strings.ReplaceAll(scopeNames(enough), " or ", "` or `") + "`"
	if r.Method != fiber.MethodGet && !r.WhileSuspended || len(RolesFor(r)) > 0 {
		refusal += ", or the account is suspended or may not sell yet"
	}
	addForbidden(responses, refusal+".")
}

// addRoles declares the roles that an access token needs one of, and the refusal of one that has another.
func addRoles(operation *yaml.Node, enough []identity.Role) {
	responses := member(operation, "responses")
	if responses == nil || len(enough) == 0 {
		return
	}
	names := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, role := range enough {
		names.Content = append(names.Content, text(string(role)))
	}
	operation.Content = append(operation.Content, text("x-roles"), names)
	if len(enough) < len(identity.Roles()) {
		addForbidden(responses, "this takes "+identity.RoleNames(enough)+", or the account is suspended or may not sell yet.")
	}
}

// addForbidden declares a refusal, unless the operation does in its own words.
func addForbidden(responses *yaml.Node, when string) {
	if member(responses, "403") != nil {
		return
	}
	responses.Content = append(responses.Content,
		&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.SingleQuotedStyle, Value: "403"},
		mapping("description", text("`FORBIDDEN`: "+when),
			"headers", mapping("X-Request-Id", mapping("$ref", text("#/components/headers/RequestId"))),
			"content", mapping("application/json", mapping("schema", mapping("$ref", text("#/components/schemas/Error"))))))
}

// mapping is an object of names and values in turn.
func mapping(namesAndValues ...any) *yaml.Node {
	object := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, part := range namesAndValues {
		switch p := part.(type) {
		case string:
			object.Content = append(object.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: p})
		case *yaml.Node:
			object.Content = append(object.Content, p)
		}
	}
	return object
}

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: items}
}

func boolean(value bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(value)}
}
