package httpapi

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"

	"sundry/core/apiformat"
	"sundry/core/identity"
)

// sharedDocument is the part of the OpenAPI document that belongs to no area: its head, the schemas that all share and
// the routes of the frame.
//
//go:embed openapi.yaml
var sharedDocument []byte

// Document is the API's OpenAPI document: the promise to integrators, and what the reference page is made of. It is
// read for the first request with a query and written for its first reader, because both take longer than the rest of a
// start. Each returns an error when the areas' documents do not fit together.
type Document struct {
	YAML, JSON func() ([]byte, error)
	// Client is the document for generators of clients, in JSON: what a key with the scopes may call. It is written
	// with each call.
	Client func(scopes identity.Scopes) ([]byte, error)
	// query returns the names of the query parameters of each operation.
	query func() (map[string][]string, error)
}

// pages reports whether a route lists objects page by page.
func (d Document) pages(address string) (bool, error) {
	query, err := d.query()
	path, _, _ := strings.Cut(address, "?")
	for key, names := range query {
		pattern, reads := strings.CutPrefix(key, "GET ")
		if reads && slices.Contains(names, "cursor") && matchesPath(pattern, path) {
			return true, nil
		}
	}
	return false, err
}

// matchesPath reports whether a path is of a pattern with {} for each parameter.
func matchesPath(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	return len(want) == len(got) &&
		slices.EqualFunc(want, got, func(a, b string) bool { return a == b || a == "{}" })
}

// newDocument makes one document of the shared part and the areas', and adds to each route what the frame itself
// responds.
func newDocument(areas []Area, routes []Route) Document {
	known := map[string]Route{}
	for _, r := range routes {
		known[operationKey(r.Method, r.Path)] = r
	}
	query := func() (map[string][]string, error) {
		names := map[string][]string{}
		whole, err := completeDocument(areas, known)
		if err != nil {
			return nil, err
		}
		for _, o := range operationsOf(whole) {
			if _, served := known[o.key]; served {
				names[o.key] = append(queryParameters(whole, o.node), queryParameters(whole, o.item)...)
			}
		}
		return names, nil
	}
	form := func(write func(text *bytes.Buffer, whole *yaml.Node) error) func() ([]byte, error) {
		return sync.OnceValues(func() ([]byte, error) {
			var text bytes.Buffer
			whole, err := wholeDocument(areas, known)
			if err == nil {
				err = write(&text, whole)
			}
			if err != nil {
				return nil, fmt.Errorf("write the API document: %w", err)
			}
			return bytes.Clone(text.Bytes()), nil
		})
	}
	return Document{
		YAML: form(writeYAML), JSON: form(writeJSON), Client: writeClient(areas, known), query: sync.OnceValues(query),
	}
}

// wholeDocument joins the parts, completes the operations that are known, and adds examples.
func wholeDocument(areas []Area, known map[string]Route) (*yaml.Node, error) {
	whole, err := completeDocument(areas, known)
	if err != nil {
		return nil, err
	}
	return whole, addExamples(whole)
}

// completeDocument joins the parts, and completes the operations that are known. They expand what is known alone.
func completeDocument(areas []Area, known map[string]Route) (*yaml.Node, error) {
	whole, err := joinDocuments(areas)
	if err != nil {
		return nil, err
	}
	operations := map[string]*yaml.Node{}
	for _, o := range operationsOf(whole) {
		operations[o.key] = o.node
	}
	for key, operation := range operations {
		if route, served := known[key]; served {
			addScopes(operation, route)
			addRoles(operation, RolesFor(route))
			addFrameResponses(key, operation)
			addExpansions(whole, operation, operations, expansionsAmong(known, route))
		}
	}
	return whole, nil
}

// joinDocuments puts what an area declares before what the frame declares, in the order of the areas. A name that
// occurs twice is an error.
func joinDocuments(areas []Area) (*yaml.Node, error) {
	whole, err := parseDocument(sharedDocument)
	if err != nil {
		return nil, fmt.Errorf("read the shared part of the API document: %w", err)
	}
	own := map[string]*yaml.Node{}
	for _, name := range []string{"tags", "paths"} {
		own[name] = detach(whole, name)
	}
	for i, area := range areas {
		if len(area.Document) == 0 {
			continue
		}
		text := area.Document
		if area.Generated != nil {
			text = slices.Concat(text, area.Generated())
		}
		part, err := parseDocument(text)
		if err == nil {
			err = merge(whole, part)
		}
		if err != nil {
			return nil, fmt.Errorf("read part %d of the API document: %w", i+1, err)
		}
	}
	for _, name := range []string{"tags", "paths"} {
		if err := merge(member(whole, name), own[name]); err != nil {
			return nil, fmt.Errorf("join the API document: %w", err)
		}
	}
	return whole, nil
}

func parseDocument(text []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("not a mapping")
	}
	return document.Content[0], nil
}

// member is the value of a mapping's member; nil when it has none of the name.
func member(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// detach removes a member of a mapping and returns its value.
func detach(mapping *yaml.Node, name string) *yaml.Node {
	value := member(mapping, name)
	if value == nil {
		return &yaml.Node{}
	}
	held := *value
	value.Content = nil
	return &held
}

// merge adds a part to the whole: members to mappings, at every depth, and elements to lists.
func merge(whole, part *yaml.Node) error {
	if whole == nil || whole.Kind != part.Kind || part.Kind == yaml.ScalarNode {
		return fmt.Errorf("line %d cannot be merged", part.Line)
	}
	if part.Kind == yaml.SequenceNode {
		whole.Content = append(whole.Content, part.Content...)
		return nil
	}
	for i := 0; i < len(part.Content); i += 2 {
		name, value := part.Content[i], part.Content[i+1]
		found := member(whole, name.Value)
		if found == nil {
			whole.Content = append(whole.Content, name, value)
			continue
		}
		if err := merge(found, value); err != nil {
			return fmt.Errorf("%s is declared twice: %w", name.Value, err)
		}
	}
	return nil
}

func writeYAML(text *bytes.Buffer, node *yaml.Node) error {
	encoder := yaml.NewEncoder(text)
	encoder.SetIndent(2)
	return errors.Join(encoder.Encode(node), encoder.Close())
}

// writeJSON writes a YAML node as JSON, members in their order.
func writeJSON(text *bytes.Buffer, node *yaml.Node) error {
	if node.Kind == yaml.MappingNode {
		return jsonList(text, '{', '}', node.Content, 2)
	}
	if node.Kind == yaml.SequenceNode {
		return jsonList(text, '[', ']', node.Content, 1)
	}
	var value any = node.Value
	if tag := node.ShortTag(); tag != "!!str" && tag != "!!timestamp" {
		if err := node.Decode(&value); err != nil {
			return err
		}
	}
	scalar, err := apiformat.JSON(value)
	text.Write(scalar)
	return err
}

// jsonList writes nodes between brackets: pairs of name and value when step is 2.
func jsonList(text *bytes.Buffer, open, end byte, nodes []*yaml.Node, step int) error {
	text.WriteByte(open)
	for i := 0; i < len(nodes); i += step {
		if i > 0 {
			text.WriteByte(',')
		}
		if step == 2 {
			text.WriteString(strconv.Quote(nodes[i].Value))
			text.WriteByte(':')
		}
		if err := writeJSON(text, nodes[i+step-1]); err != nil {
			return err
		}
	}
	text.WriteByte(end)
	return nil
}

// fixedDocument is a document that never changes.
type fixedDocument struct {
	etag string
	send fiber.Handler
}

func (s *Server) fixed(document []byte) fixedDocument {
	if s.SendFixed != nil {
		return fixedDocument{ETagOf(document), s.SendFixed(document)}
	}
	return fixedDocument{ETagOf(document), func(c *fiber.Ctx) error { return c.Send(document) }}
}

func (d fixedDocument) serve(c *fiber.Ctx, mediaType string) error {
	c.Set(fiber.HeaderETag, d.etag)
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if matchesETag(c.Get(fiber.HeaderIfNoneMatch), d.etag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, mediaType)
	err := d.send(c)
	if c.GetRespHeader(fiber.HeaderContentEncoding) != "" {
		c.Set(fiber.HeaderETag, "W/"+d.etag) // other bytes that mean the same
	}
	return err
}

// sendDocument serves the document in one of its forms.
func (s *Server) sendDocument(form func() ([]byte, error), mediaType string) fiber.Handler {
	prepare := sync.OnceValues(func() (fixedDocument, error) {
		text, err := form()
		if err != nil {
			return fixedDocument{}, err
		}
		return s.fixed(text), nil
	})
	return func(c *fiber.Ctx) error {
		document, err := prepare()
		if err != nil {
			return err
		}
		return document.serve(c, mediaType)
	}
}
