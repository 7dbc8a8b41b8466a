package docs

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document holds the parts of an OpenAPI document that the reference shows.
type document struct {
	Info       struct{ Title, Version, Description string }
	Tags       []struct{ Name, Description string }
	Security   []object[[]string]
	Paths      object[pathItem]
	Components struct {
		Schemas         object[*schema]
		Parameters      object[parameter]
		Responses       object[response]
		SecuritySchemes object[struct{ Type string }] `yaml:"securitySchemes"`
	}
}

// pathItem holds the operations of a path by their methods.
type pathItem struct {
	parameters []parameter
	operations object[operation]
}

type operation struct {
	Tags                 []string
	Summary, Description string
	Security             []object[[]string] // nil inherits the document's; empty makes the operation public
	Parameters           []parameter
	RequestBody          struct{ Content content } `yaml:"requestBody"`
	Responses            object[response]
}

type parameter struct {
	Ref                   string `yaml:"$ref"`
	Name, In, Description string
	Required              bool
	Example               yaml.Node
	Schema                *schema
}

type response struct {
	Ref         string `yaml:"$ref"`
	Description string
	Headers     object[yaml.Node]
	Content     content
}

// content maps media types to what a body of each looks like.
type content = object[*mediaType]

type mediaType struct {
	Schema   *schema
	Example  yaml.Node
	Examples object[struct{ Value yaml.Node }]
}

type schema struct {
	Ref                  string `yaml:"$ref"`
	Type                 oneOrMore
	Format, Description  string
	AllOf                []*schema `yaml:"allOf"`
	OneOf                []*schema `yaml:"oneOf"`
	AnyOf                []*schema `yaml:"anyOf"`
	Items                *schema
	Properties           object[*schema]
	AdditionalProperties schemaOrBool `yaml:"additionalProperties"`
	Required             []string
	Enum                 []yaml.Node
	Const                yaml.Node
	MinLength            string `yaml:"minLength"`
	MaxLength            string `yaml:"maxLength"`
	MinItems             string `yaml:"minItems"`
	MaxItems             string `yaml:"maxItems"`
	Minimum, Maximum     string
	Pattern              string
	Default              yaml.Node
	Example              yaml.Node
	Examples             []yaml.Node
}

// parseDocument fails when the text is no OpenAPI document and when one of its references leads nowhere.
func parseDocument(raw []byte) (*document, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	if len(root.Content) == 0 {
		return nil, errors.New("the document is empty")
	}
	d := &document{}
	if err := root.Decode(d); err != nil {
		return nil, err
	}
	return d, checkReferences(root.Content[0], root.Content[0])
}

// checkReferences returns an error for the first reference below node that does not resolve within root.
func checkReferences(root, node *yaml.Node) error {
	if reference := member(node, "$ref"); reference != nil && reference.Kind == yaml.ScalarNode {
		target := root
		for name := range strings.SplitSeq(strings.TrimPrefix(reference.Value, "#/"), "/") {
			if target = member(target, name); target == nil {
				return fmt.Errorf("line %d: %s does not resolve", reference.Line, reference.Value)
			}
		}
	}
	for _, child := range node.Content {
		if err := checkReferences(root, child); err != nil {
			return err
		}
	}
	return nil
}

// member returns the value of a mapping's member, nil when there is none.
func member(mapping *yaml.Node, name string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for pair := range slices.Chunk(mapping.Content, 2) {
		if pair[0].Value == name {
			return pair[1]
		}
	}
	return nil
}

// schema follows references; nil for nil.
func (d *document) schema(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas.get(path.Base(s.Ref))
	}
	return s
}

func (d *document) parameter(p parameter) parameter {
	if p.Ref != "" {
		return d.Components.Parameters.get(path.Base(p.Ref))
	}
	return p
}

func (d *document) response(r response) response {
	if r.Ref != "" {
		return d.Components.Responses.get(path.Base(r.Ref))
	}
	return r
}

// object keeps the members of a mapping in the order of the text.
type object[T any] []entry[T]

type entry[T any] struct {
	name  string
	value T
}

// UnmarshalYAML decodes each member's value.
func (o *object[T]) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: not a mapping", node.Line)
	}
	*o = make(object[T], 0, len(node.Content)/2)
	for pair := range slices.Chunk(node.Content, 2) {
		e := entry[T]{name: pair[0].Value}
		if err := pair[1].Decode(&e.value); err != nil {
			return err
		}
		*o = append(*o, e)
	}
	return nil
}

// get returns the value of a member, the zero value when there is none.
func (o object[T]) get(name string) (value T) {
	for _, e := range o {
		if e.name == name {
			return e.value
		}
	}
	return value
}

// UnmarshalYAML tells operations from the other members of a path.
func (p *pathItem) UnmarshalYAML(node *yaml.Node) error {
	var shared struct{ Parameters []parameter }
	if err := node.Decode(&shared); err != nil {
		return err
	}
	p.parameters = shared.Parameters
	methods := yaml.Node{Kind: yaml.MappingNode}
	for pair := range slices.Chunk(node.Content, 2) {
		switch pair[0].Value {
		case "get", "put", "post", "delete", "options", "head", "patch", "trace":
			methods.Content = append(methods.Content, pair...)
		}
	}
	return methods.Decode(&p.operations)
}

// oneOrMore is a word or a list of words.
type oneOrMore []string

// UnmarshalYAML decodes either form.
func (o *oneOrMore) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*o = oneOrMore{node.Value}
		return nil
	}
	return node.Decode((*[]string)(o))
}

// schemaOrBool holds a schema; nil for true and false.
type schemaOrBool struct{ *schema }

// UnmarshalYAML decodes either form.
func (s *schemaOrBool) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return nil
	}
	return node.Decode(&s.schema)
}
