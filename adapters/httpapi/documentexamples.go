package httpapi

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// memberExamples are values by member, or by schema and member.
//
//go:embed examples.yaml
var memberExamples []byte

// exampler makes the examples of the document's responses.
type exampler struct {
	document, members *yaml.Node
}

// addExamples gives each JSON response an example that does not have one: a success is made from its schema, a refusal
// has one example for each code that its description names.
func addExamples(document *yaml.Node) error {
	members, err := parseDocument(memberExamples)
	if err != nil {
		return fmt.Errorf("read the examples of members: %w", err)
	}
	e := exampler{document, members}
	shared := member(member(document, "components"), "responses")
	for i := 1; i < len(shared.Content); i += 2 {
		e.addTo(shared.Content[i])
	}
	for _, o := range operationsOf(document) {
		responses := member(o.node, "responses")
		for i := 1; responses != nil && i < len(responses.Content); i += 2 {
			e.addTo(responses.Content[i])
		}
	}
	return nil
}

func (e exampler) addTo(response *yaml.Node) {
	content := member(response, "content")
	if content == nil {
		return
	}
	media := member(content, "application/json")
	if media == nil || member(media, "example") != nil || member(media, "examples") != nil {
		return
	}
	description := member(response, "description").Value
	if codes := DocumentedCodes(description); len(codes) > 0 {
		examples := &yaml.Node{Kind: yaml.MappingNode}
		for _, code := range codes {
			value := e.of(member(media, "schema"), "", "", 0)
			set(value, "code", text(string(code)))
			set(value, "message", text(sentence(description, string(code))))
			example := &yaml.Node{Kind: yaml.MappingNode}
			set(example, "value", value)
			set(examples, string(code), example)
		}
		set(media, "examples", examples)
		return
	}
	set(media, "example", e.of(member(media, "schema"), "", "", 0))
}

// of is an example of a schema. owner is the schema that has it as the member called name.
func (e exampler) of(schema *yaml.Node, owner, name string, depth int) *yaml.Node {
	if given := member(schema, "example"); given != nil {
		return given
	}
	if given := e.ofMember(schema, owner, name); given != nil {
		return given
	}
	if reference := member(schema, "$ref"); reference != nil {
		return e.of(
			resolve(e.document, reference.Value), reference.Value[strings.LastIndexByte(reference.Value, '/')+1:], "",
			depth+1,
		)
	}
	if _, nullable := typeOf(schema); depth > 12 || nullable && member(schema, "enum") == nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	if values := member(schema, "enum"); values != nil {
		return values.Content[0]
	}
	for _, choice := range []string{"oneOf", "anyOf"} {
		if alternatives := member(schema, choice); alternatives != nil {
			return e.of(alternatives.Content[0], owner, name, depth+1)
		}
	}
	if parts := member(schema, "allOf"); parts != nil {
		whole := &yaml.Node{Kind: yaml.MappingNode}
		for _, part := range parts.Content {
			whole.Content = append(whole.Content, e.of(part, owner, name, depth+1).Content...)
		}
		return whole
	}
	return e.ofType(schema, owner, depth)
}

// ofMember is the value that examples.yaml has for a member, where its schema allows it.
func (e exampler) ofMember(schema *yaml.Node, owner, name string) *yaml.Node {
	if given := member(e.members, owner+"."+name); given != nil {
		return given
	}
	for reference := member(schema, "$ref"); reference != nil; reference = member(schema, "$ref") {
		schema = resolve(e.document, reference.Value)
	}
	given := member(e.members, name)
	kind, nullable := typeOf(schema)
	switch {
	case given == nil || kind == "" || kind == "object" || kind == "array":
		return nil
	case given.Tag == "!!null" && !nullable:
		return nil
	}
	return given
}

// typeOf is the type of a schema beside null; "" when it names none.
func typeOf(schema *yaml.Node) (kind string, nullable bool) {
	node := member(schema, "type")
	if node == nil {
		return "", false
	}
	for _, name := range append(node.Content, node) {
		switch {
		case name.Value == "null":
			nullable = true
		case name.Value != "":
			kind = name.Value
		}
	}
	return kind, nullable
}

// idPattern is the pattern of an id; its group is the prefix.
var idPattern = regexp.MustCompile(`^\^([a-z]+_)\[0-9a-z\]\{26\}\$$`)

func (e exampler) ofType(schema *yaml.Node, owner string, depth int) *yaml.Node {
	value := func(name string) string {
		if node := member(schema, name); node != nil {
			return node.Value
		}
		return ""
	}
	switch kind, _ := typeOf(schema); kind {
	case "object":
		object := &yaml.Node{Kind: yaml.MappingNode}
		if properties := member(schema, "properties"); properties != nil {
			for i := 0; i < len(properties.Content); i += 2 {
				name := properties.Content[i].Value
				if owner == "Error" && !slices.Contains([]string{"code", "message", "requestId"}, name) {
					continue // what only some refusals have
				}
				if name == expanded {
					continue // what only some responses have
				}
				set(object, name, e.of(properties.Content[i+1], owner, name, depth+1))
			}
		}
		return object
	case "array":
		return &yaml.Node{
			Kind: yaml.SequenceNode, Content: []*yaml.Node{e.of(member(schema, "items"), owner, "", depth+1)},
		}
	case "boolean":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"}
	case "integer", "number":
		number := "1"
		if least := value("minimum"); least != "" && least != "0" {
			number = least
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Value: number}
	}
	if id := idPattern.FindStringSubmatch(value("pattern")); id != nil {
		return text(id[1] + "01jqz5y2c4e6g8h0k2m4p6r8s0")
	}
	switch value("format") {
	case "date-time":
		return text("2026-03-08T09:00:00.000Z")
	case "date":
		return text("2026-03-08")
	case "uri":
		return text("https://shop.example")
	case "email":
		return text("grace@example.com")
	}
	return text("example")
}

// sentence is the description of a code, as a message.
func sentence(description, code string) string {
	_, after, _ := strings.Cut(description, "`"+code+"`")
	line, _, _ := strings.Cut(strings.TrimLeft(after, ": "), "\n")
	if end := strings.IndexAny(line, ".;"); end >= 0 {
		line = line[:end]
	}
	line = strings.TrimSpace(strings.ReplaceAll(line, "`", ""))
	if line == "" {
		return "The request was refused."
	}
	return strings.ToUpper(line[:1]) + line[1:] + "."
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: value}
}

// set gives a mapping's member a value, in place or at the end.
func set(mapping *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			mapping.Content[i+1] = value
			return
		}
	}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, value)
}
