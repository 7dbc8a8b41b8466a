package httpapi

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"

	"sundry/core/apiformat"
)

// sharedDocument is the part of the OpenAPI document that belongs to no area: its head, the schemas that all share and
// the routes of the frame.
//
//go:embed openapi.yaml
var sharedDocument []byte

// Document is the API's OpenAPI document: the promise to integrators, and what the reference page is made of.
type Document struct {
	YAML []byte
	JSON []byte
	// query are the names of the query parameters of each operation.
	query map[string][]string
}

// newDocument makes one document of the shared part and the areas', and adds to each route what the frame itself
// responds.
func newDocument(areas []Area, routes []Route) (Document, error) {
	whole, err := joinDocuments(areas)
	if err != nil {
		return Document{}, err
	}
	d := Document{query: map[string][]string{}}
	for _, o := range operationsOf(whole) {
		if slices.ContainsFunc(routes, func(r Route) bool { return operationKey(r.Method, r.Path) == o.key }) {
			addFrameResponses(o.node)
			d.query[o.key] = append(queryParameters(whole, o.node), queryParameters(whole, o.item)...)
		}
	}
	if err := addExamples(whole); err != nil {
		return Document{}, err
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(whole), encoder.Close()); err != nil {
		return Document{}, fmt.Errorf("write the API document: %w", err)
	}
	d.YAML = text.Bytes()
	var asJSON bytes.Buffer
	if err := writeJSON(&asJSON, whole); err != nil {
		return Document{}, fmt.Errorf("write the API document as JSON: %w", err)
	}
	d.JSON = asJSON.Bytes()
	return d, nil
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
		part, err := parseDocument(area.Document)
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

// sendDocument serves the document in one of its forms.
func (s *Server) sendDocument(form []byte, mediaType string) fiber.Handler {
	etag := ETagOf(form)
	send := func(c *fiber.Ctx) error { return c.Send(form) }
	if s.SendFixed != nil {
		send = s.SendFixed(form)
	}
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderETag, etag)
		c.Set(fiber.HeaderCacheControl, "no-cache")
		if matchesETag(c.Get(fiber.HeaderIfNoneMatch), etag) {
			return c.SendStatus(fiber.StatusNotModified)
		}
		c.Set(fiber.HeaderContentType, mediaType)
		err := send(c)
		if c.GetRespHeader(fiber.HeaderContentEncoding) != "" {
			c.Set(fiber.HeaderETag, "W/"+etag) // other bytes that mean the same
		}
		return err
	}
}
