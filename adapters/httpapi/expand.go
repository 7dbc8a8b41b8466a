package httpapi

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"

	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/identity"
)

// expansion adds the response of another route to the response about one object.
type expansion struct {
	// name asks for it: ?expand=customer.
	name string
	// path is the other route, with {member} for the value of a member of the object. Of {one|another} the first counts
	// that the object has.
	path string
}

// expanded is the member of an object that holds its expansions.
const expanded = "expanded"

// expansions maps a route that reads one object to the members that `expand` can add. All of these routes take a secret
// key.
var expansions = map[string][]expansion{
	"/v1/customers/:id": {
		{"access", "/v1/customer-access/{externalCustomerId|id}"},
		{"subscriptions", "/v1/subscriptions?customerId={id}"},
		{"paymentMethods", "/v1/customers/{id}/payment-methods"},
		{"payments", "/v1/payments?customerId={id}"},
		{"invoices", "/v1/invoices?customerId={id}"},
		{"usageCredits", "/v1/usage/credits?customerId={id}"},
	},
	"/v1/subscriptions/:id": {
		{"customer", "/v1/customers/{customerId}"},
		{"recipe", "/v1/catalog/listings/{listingKey}/recipe"},
		{"paymentMethods", "/v1/customers/{customerId}/payment-methods"},
		{"billingPlans", "/v1/usage/billing-plans?subscriptionId={id}"},
		{"usage", "/v1/usage/summary?subscriptionId={id}"},
	},
	"/v1/checkout-sessions/:id": {
		{"receipt", "/v1/checkout-sessions/{id}/receipt?headless=true"},
	},
	"/v1/payments/:id": {
		{"customer", "/v1/customers/{customerId}"},
		{"checkoutSession", "/v1/checkout-sessions/{checkoutId}"},
		{"subscription", "/v1/subscriptions/{subscriptionId}"},
		{"invoice", "/v1/invoices/{invoiceId}"},
		{"refunds", "/v1/refunds?paymentId={id}"},
		{"disputes", "/v1/disputes?paymentId={id}"},
	},
	"/v1/invoices/:id": {
		{"customer", "/v1/customers/{customerId}"},
		{"subscription", "/v1/subscriptions/{subscriptionId}"},
		{"payment", "/v1/payments/{paymentId}"},
	},
	"/v1/refunds/:id": {
		{"payment", "/v1/payments/{paymentId}"},
		{"customer", "/v1/customers/{customerId}"},
	},
	"/v1/disputes/:id": {
		{"payment", "/v1/payments/{paymentId}"},
		{"customer", "/v1/customers/{customerId}"},
	},
}

// expanding lets the caller of a route ask for its expansions. A key needs a scope of each of them.
func (s *Server) expanding(r Route, handle fiber.Handler) fiber.Handler {
	all := expansionsOf(r)
	if len(all) == 0 {
		return handle
	}
	enough := map[string][]identity.Scope{}
	for _, e := range all {
		enough[e.name] = ScopesFor(s.routeOf(e))
	}
	return func(c *fiber.Ctx) error {
		asked, err := askedExpansions(c.Query("expand"), all)
		if err != nil {
			return err
		}
		for _, e := range asked {
			if scopes, ok := c.Locals("scopes").(identity.Scopes); ok && len(enough[e.name]) > 0 &&
				!scopes.Allow(enough[e.name]...) {
				return fault.Newf(fault.Forbidden, "expand=%s takes a key with the scope %s.", e.name, scopeNames(enough[e.name]))
			}
		}
		if err := handle(c); err != nil || len(asked) == 0 || c.Response().StatusCode() != fiber.StatusOK {
			return err
		}
		return s.addExpanded(c, asked)
	}
}

// expansionsOf returns the expansions of a route; none for routes that do more than read.
func expansionsOf(r Route) []expansion {
	if r.Method != fiber.MethodGet {
		return nil
	}
	return expansions[r.Path]
}

// expansionsAmong returns the expansions of a route that read one of the given routes.
func expansionsAmong(routes map[string]Route, r Route) []expansion {
	return slices.DeleteFunc(slices.Clone(expansionsOf(r)), func(e expansion) bool {
		_, among := routes[e.operation()]
		return !among
	})
}

// routeOf is the route that an expansion reads.
func (s *Server) routeOf(e expansion) Route {
	read := e.operation()
	i := slices.IndexFunc(s.routes, func(r Route) bool {
		return r.Method == fiber.MethodGet && operationKey(r.Method, r.Path) == read
	})
	return s.routes[i]
}

// operation names the operation that an expansion reads, as operationKey does.
func (e expansion) operation() string {
	path, _, _ := strings.Cut(e.path, "?")
	return operationKey(fiber.MethodGet, expansionMember.ReplaceAllString(path, "{}"))
}

// askedExpansions reads the parameter. VALIDATION_FAILED.
func askedExpansions(parameter string, all []expansion) (asked []expansion, err error) {
	if parameter == "" {
		return nil, nil
	}
	var f fault.Violations
	for name := range strings.SplitSeq(parameter, ",") {
		i := slices.IndexFunc(all, func(e expansion) bool { return e.name == name })
		if i < 0 {
			f.OneOf("expand", name, expansionNames(all)...)
		} else if !slices.Contains(asked, all[i]) {
			asked = append(asked, all[i])
		}
	}
	return asked, f.Err()
}

func expansionNames(all []expansion) []string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.name
	}
	return names
}

// addExpanded adds the member expanded to the object in the response, with null for what there is none of.
func (s *Server) addExpanded(c *fiber.Ctx, asked []expansion) error {
	body := c.Response().Body()
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return err
	}
	read := map[string]json.RawMessage{}
	for _, e := range asked {
		text, err := s.readExpansion(Account(c), e, object)
		if err != nil {
			return err
		}
		read[e.name] = text
	}
	members, err := apiformat.JSON(read)
	if err != nil {
		return err
	}
	whole := append(slices.Clone(body[:len(body)-1]), `,"`+expanded+`":`...)
	c.Response().SetBody(append(append(whole, members...), '}'))
	return nil
}

func (s *Server) readExpansion(account string, e expansion, object map[string]json.RawMessage) ([]byte, error) {
	none := []byte("null")
	missing := false
	address := expansionMember.ReplaceAllStringFunc(e.path, func(names string) string {
		for name := range strings.SplitSeq(strings.Trim(names, "{}"), "|") {
			var value string
			if json.Unmarshal(object[name], &value) == nil && value != "" {
				return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") // for a path and for a query
			}
		}
		missing = true
		return ""
	})
	if missing {
		return none, nil
	}
	text, err := s.readAs(account, address)
	f, refused := errors.AsType[*fault.Error](err)
	if refused && (f.Code == fault.NotFoundCode || f.Code == fault.CustomerNotFound) {
		return none, nil
	}
	return text, err
}

var expansionMember = regexp.MustCompile(`\{[A-Za-z|]+\}`)

// addExpansions declares the parameter of a route with expansions, and the member that it adds to the object.
func addExpansions(document, operation *yaml.Node, operations map[string]*yaml.Node, all []expansion) {
	if len(all) == 0 {
		return
	}
	names := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	members := mapping()
	for _, e := range all {
		names.Content = append(names.Content, text(e.name))
		schema := mapping("$ref", responseSchema(operations[e.operation()]))
		set(members, e.name, mapping("anyOf", list(schema, mapping("type", text("null")))))
	}
	parameter := mapping(
		"name", text("expand"), "in", text("query"), "style", text("form"), "explode", boolean(false),
		"description", text("What the response carries besides, in its member `expanded`: names with commas between them."),
		"schema", mapping("type", text("array"), "items", mapping("type", text("string"), "enum", names)),
	)
	parameters := member(operation, "parameters")
	if parameters == nil {
		parameters = &yaml.Node{Kind: yaml.SequenceNode}
		set(operation, "parameters", parameters)
	}
	parameters.Content = append(parameters.Content, parameter)
	object := resolve(document, responseSchema(operation).Value)
	set(member(object, "properties"), expanded, mapping(
		"type", text("object"), "additionalProperties", boolean(false), "properties", members,
		"description", text("What `expand` asked for: what the route of each responds with, a list its first page; null for none."),
	))
}

// responseSchema is the reference to the schema of what an operation responds with.
func responseSchema(operation *yaml.Node) *yaml.Node {
	node := operation
	for _, name := range []string{"responses", "200", "content", "application/json", "schema", "$ref"} {
		if node = member(node, name); node == nil {
			return text("")
		}
	}
	return node
}
