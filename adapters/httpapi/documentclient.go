package httpapi

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"

	"sundry/core/identity"
	"sundry/ports"
)

// clientDescription introduces the document for generators of clients.
const clientDescription = "What a secret key may call, for generators of clients: a part of `/openapi.yaml`, which has " +
	"every other operation, each refusal by its status, the headers of responses, examples and the messages to receivers."

// refusalDescription describes the one response that stands for all refusals.
const refusalDescription = "Any refusal. `code` is what to switch on; the status follows from it."

// clientOperation reports whether a route is of the document for clients: a key with the scopes may call it, or it
// shows objects of the API to anybody.
func clientOperation(r Route, scopes identity.Scopes) bool {
	if r.Auth == Public {
		return r.Method == fiber.MethodGet && strings.HasPrefix(r.Path, "/v1/")
	}
	enough := ScopesFor(r)
	return len(enough) > 0 && scopes.Allow(enough...)
}

// clientDocument makes the document for generators of clients: what a key with the scopes may call, one default
// response for all refusals, no headers of responses, and no component that nothing refers to. Whatever else it has is
// as the whole document has it.
func clientDocument(areas []Area, known map[string]Route, scopes identity.Scopes) (*yaml.Node, error) {
	called := maps.Clone(known)
	maps.DeleteFunc(called, func(_ string, r Route) bool { return !clientOperation(r, scopes) })
	document, err := completeDocument(areas, called)
	if err != nil {
		return nil, err
	}
	set(member(document, "info"), "description", text(clientDescription))
	remove(document, "webhooks")
	set(member(member(document, "components"), "responses"), "Refusal", mapping(
		"description", text(refusalDescription),
		"content", mapping(fiber.MIMEApplicationJSON,
			mapping("schema", mapping("$ref", text("#/components/schemas/Error")))),
	))
	keepOperations(document, called)
	for _, o := range operationsOf(document) {
		simplifyOperation(document, o.node)
	}
	keepTags(document)
	keepReferred(document)
	return document, nil
}

// simplifyOperation leaves an operation with the credential of a program, with its successes and with one refusal.
func simplifyOperation(document, operation *yaml.Node) {
	remove(operation, "x-roles")
	if security := member(operation, "security"); security != nil && len(security.Content) > 0 {
		remove(operation, "security") // the document's default is a secret key
	}
	responses := member(operation, "responses")
	kept := mapping()
	for i := 0; i < len(responses.Content); i += 2 {
		if status := responses.Content[i]; status.Value >= "400" {
			continue
		}
		response := responses.Content[i+1]
		if reference := member(response, "$ref"); reference != nil {
			response = resolve(document, reference.Value)
		}
		remove(response, "headers")
		kept.Content = append(kept.Content, responses.Content[i], responses.Content[i+1])
	}
	set(kept, "default", mapping("$ref", text("#/components/responses/Refusal")))
	responses.Content = kept.Content
}

// keepOperations removes every operation that is not among the routes.
func keepOperations(document *yaml.Node, routes map[string]Route) {
	paths := member(document, "paths")
	var kept []*yaml.Node
	for i := 0; i < len(paths.Content); i += 2 {
		path, item := paths.Content[i].Value, paths.Content[i+1]
		called := false
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if _, kept := routes[operationKey(method, path)]; kept {
				called = called || member(item, method) != nil
				continue
			}
			remove(item, method)
		}
		if called {
			kept = append(kept, paths.Content[i], item)
		}
	}
	paths.Content = kept
}

// keepTags removes the tags that no operation has.
func keepTags(document *yaml.Node) {
	used := map[string]bool{}
	for _, o := range operationsOf(document) {
		if tags := member(o.node, "tags"); tags != nil {
			used[tags.Content[0].Value] = true
		}
	}
	tags := member(document, "tags")
	tags.Content = slices.DeleteFunc(tags.Content, func(tag *yaml.Node) bool { return !used[member(tag, "name").Value] })
}

// keepReferred removes the components that neither an operation nor another such component refers to.
func keepReferred(document *yaml.Node) {
	referred := map[string]bool{}
	var follow func(node *yaml.Node)
	follow = func(node *yaml.Node) {
		for _, child := range node.Content {
			follow(child)
		}
		// References and the targets of a discriminator are the only texts that begin so.
		if node.Kind != yaml.ScalarNode || !strings.HasPrefix(node.Value, "#/components/") || referred[node.Value] {
			return
		}
		referred[node.Value] = true
		follow(resolve(document, node.Value))
	}
	follow(member(document, "paths"))
	for _, name := range credentials(document) {
		referred["#/components/securitySchemes/"+name] = true
	}
	components := member(document, "components")
	for i := 0; i < len(components.Content); i += 2 {
		kind, all := components.Content[i].Value, components.Content[i+1]
		var kept []*yaml.Node
		for j := 0; j < len(all.Content); j += 2 {
			if referred["#/components/"+kind+"/"+all.Content[j].Value] {
				kept = append(kept, all.Content[j], all.Content[j+1])
			}
		}
		all.Content = kept
	}
	for _, kind := range []string{"parameters", "headers", "responses", "schemas", "requestBodies"} {
		if all := member(components, kind); all != nil && len(all.Content) == 0 {
			remove(components, kind)
		}
	}
}

// remove takes a member out of a mapping.
func remove(mapping *yaml.Node, name string) {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return
		}
	}
}

// maxClientDocuments bounds the documents for clients that are kept, of some hundred kilobytes each.
const maxClientDocuments = 8

// How many documents for clients one network may have made: each keeps a core busy for about a tenth of a second.
const (
	maxClientDocumentsMade = 30
	clientDocumentWindow   = 10 * time.Minute
)

// clientDocuments makes and keeps the documents for clients by their scopes, one at a time.
type clientDocuments struct {
	write func(scopes identity.Scopes) ([]byte, error)
	fix   func(document []byte) fixedDocument

	mu   sync.Mutex
	kept map[identity.Scopes]fixedDocument
}

// find returns the document for the scopes, if it is kept.
func (d *clientDocuments) find(scopes identity.Scopes) (fixedDocument, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.kept[scopes]
	return known, ok
}

// get returns the document for the scopes. admit may refuse to have it made; it may ask another server, so nothing is
// locked meanwhile.
func (d *clientDocuments) get(scopes identity.Scopes, admit func() error) (fixedDocument, error) {
	if known, ok := d.find(scopes); ok {
		return known, nil
	}
	if err := admit(); err != nil {
		return fixedDocument{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.kept[scopes]; ok { // made by another request
		return known, nil
	}
	document, err := d.write(scopes)
	if err != nil {
		return fixedDocument{}, err
	}
	if d.kept == nil || len(d.kept) >= maxClientDocuments {
		d.kept = map[identity.Scopes]fixedDocument{}
	}
	d.kept[scopes] = d.fix(document)
	return d.kept[scopes], nil
}

// sendClientDocument serves the document for generators of clients, whole or for the scopes of a key.
func (s *Server) sendClientDocument() fiber.Handler {
	documents := &clientDocuments{write: s.document.Client, fix: s.fixed}
	return func(c *fiber.Ctx) error {
		var names []string
		if arguments := c.Context().QueryArgs(); arguments.Has("scopes") {
			names = strings.Split(c.Query("scopes"), ",")
		}
		scopes, err := identity.ParseScopes(names)
		if err != nil {
			return err
		}
		document, err := documents.get(scopes, func() error { return s.countClientDocument(c) })
		if err != nil {
			return err
		}
		return document.serve(c, fiber.MIMEApplicationJSON)
	}
}

// countClientDocument counts a document for clients that is made, by the network that asks. RATE_LIMITED.
func (s *Server) countClientDocument(c *fiber.Ctx) error {
	return ports.Admit(c.UserContext(), s.RateLimiter, ports.Attempt{
		Key: "client-document:" + s.clientAddress(c), Limit: maxClientDocumentsMade, Window: clientDocumentWindow,
		Message: "Too many documents were asked for. Wait a few minutes.",
	})
}

// writeClient writes the document for clients as JSON.
func writeClient(areas []Area, known map[string]Route) func(scopes identity.Scopes) ([]byte, error) {
	return func(scopes identity.Scopes) ([]byte, error) {
		var written bytes.Buffer
		document, err := clientDocument(areas, known, scopes)
		if err == nil {
			err = writeJSON(&written, document)
		}
		if err != nil {
			return nil, fmt.Errorf("write the API document for clients: %w", err)
		}
		return bytes.Clone(written.Bytes()), nil
	}
}
