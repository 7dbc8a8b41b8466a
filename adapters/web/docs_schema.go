package web

import (
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// apiField is one member of a body, or one parameter.
type apiField struct {
	Name     string
	Type     string
	Required bool
	Text     template.HTML
	Enum     []string
	Example  string // of a path parameter
	Children []apiField
}

// maxDepth is how deep nested members are shown; a schema that contains itself stops there.
const maxDepth = 6

// shape says a schema's type in words and lists its members.
func (r *docReader) shape(schema *yaml.Node) (string, []apiField) { return r.shapeAt(schema, 0) }

func (r *docReader) shapeAt(schema *yaml.Node, depth int) (string, []apiField) {
	s := r.resolve(schema)
	if s == nil || depth > maxDepth {
		return "", nil
	}
	if all := items(at(s, "allOf")); len(all) > 0 {
		kind, fields := "object", r.members(s, depth)
		for _, part := range all {
			partKind, more := r.shapeAt(part, depth)
			kind, fields = partKind, refined(fields, more)
		}
		return kind, fields
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		if options := items(at(s, word)); len(options) > 0 {
			return r.choice(options, depth)
		}
	}
	kind := typeName(s)
	switch {
	case strings.HasPrefix(kind, "array"):
		inner, fields := r.shapeAt(at(s, "items"), depth+1)
		if inner == "" {
			return kind, fields
		}
		return strings.Replace(kind, "array", "array of "+inner, 1), fields
	case strings.HasPrefix(kind, "object"):
		return kind, r.members(s, depth)
	default:
		return kind, nil
	}
}

// choice joins alternatives: their types in words, the members of those that have some.
func (r *docReader) choice(options []*yaml.Node, depth int) (string, []apiField) {
	var kinds []string
	var fields []apiField
	for _, option := range options {
		kind, more := r.shapeAt(option, depth+1)
		kinds = append(kinds, kind)
		fields = refined(fields, more)
	}
	return strings.Join(kinds, " or "), fields
}

// refined adds members, telling each name once: what a later part says of a member completes what an earlier one said.
func refined(fields, more []apiField) []apiField {
	for _, f := range more {
		i := slices.IndexFunc(fields, func(known apiField) bool { return known.Name == f.Name })
		if i < 0 {
			fields = append(fields, f)
			continue
		}
		if len(f.Enum) > 0 {
			fields[i].Enum = f.Enum
		}
		if fields[i].Text == "" {
			fields[i].Text = f.Text
		}
	}
	return fields
}

func (r *docReader) members(s *yaml.Node, depth int) []apiField {
	required := map[string]bool{}
	for _, name := range items(at(s, "required")) {
		required[name.Value] = true
	}
	var fields []apiField
	add := func(name string, schema *yaml.Node) {
		target := r.resolve(schema)
		kind, children := r.shapeAt(schema, depth+1)
		described := str(schema, "description")
		if described == "" {
			described = str(target, "description")
		}
		fields = append(fields, apiField{
			Name: name, Type: kind, Required: required[name], Text: markup(described),
			Enum: r.enum(schema), Children: children,
		})
	}
	each(at(s, "properties"), add)
	if extra := at(s, "additionalProperties"); extra != nil && extra.Kind == yaml.MappingNode {
		add(text("docs.any_key"), extra)
	}
	return fields
}

func (r *docReader) enum(schema *yaml.Node) []string {
	s := r.resolve(schema)
	if inner := at(s, "items"); inner != nil {
		s = r.resolve(inner)
	}
	var values []string
	for _, v := range items(at(s, "enum")) {
		values = append(values, v.Value)
	}
	if c := str(s, "const"); c != "" {
		values = append(values, c)
	}
	return values
}

// typeName says "string (date-time) or null" for both ways OpenAPI writes it.
func typeName(s *yaml.Node) string {
	node := at(s, "type")
	var kinds []string
	switch {
	case node == nil && at(s, "properties") != nil:
		kinds = []string{"object"}
	case node == nil:
		kinds = []string{"any"}
	case node.Kind == yaml.SequenceNode:
		for _, k := range node.Content {
			kinds = append(kinds, k.Value)
		}
	default:
		kinds = []string{node.Value}
	}
	if str(s, "nullable") == "true" {
		kinds = append(kinds, "null")
	}
	if format := str(s, "format"); format != "" {
		kinds[0] += " (" + format + ")"
	}
	return strings.Join(kinds, " or ")
}

// curl writes the line that tries an operation.
func (r *docReader) curl(op *apiOp, media *yaml.Node) string {
	line := "curl"
	if op.Method != http.MethodGet {
		line += " -X " + op.Method
	}
	path := op.Path
	for _, p := range op.Params {
		if p.Example != "" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", p.Example)
		}
	}
	line += " '" + r.baseURL + path + "'"
	for _, scheme := range op.Auth {
		if str(at(at(at(r.root, "components"), "securitySchemes"), scheme), "type") == "http" {
			line += " \\\n  -H \"Authorization: Bearer $" + envName(scheme) + "\""
			break
		}
	}
	if media == nil {
		return line
	}
	if op.Method == http.MethodPost && len(op.Auth) > 0 && hasHeader(op, "Idempotency-Key") {
		line += " \\\n  -H 'Idempotency-Key: order-1001'"
	}
	body := r.example(media)
	if body == nil {
		return line
	}
	raw, err := json.MarshalIndent(body, "  ", "  ")
	if err != nil {
		return line
	}
	return line + " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(string(raw), "'", `'\''`) + "'"
}

func hasHeader(op *apiOp, name string) bool {
	for _, p := range op.Params {
		if strings.EqualFold(p.Name, name) {
			return true
		}
	}
	return false
}

// envName is the shell variable a credential is put in.
func envName(scheme string) string {
	if strings.Contains(strings.ToLower(scheme), "key") {
		return "SUNDRY_KEY"
	}
	return "ACCESS_TOKEN"
}

// example prefers what the document's author wrote and makes the rest from the schema.
func (r *docReader) example(media *yaml.Node) any {
	if e := at(media, "example"); e != nil {
		return plain(e)
	}
	if all := at(media, "examples"); all != nil && len(all.Content) > 1 {
		if v := at(r.resolve(all.Content[1]), "value"); v != nil {
			return plain(v)
		}
	}
	return r.sample(at(media, "schema"), 0)
}

// ordered keeps the members of a made-up example in the schema's order.
type ordered struct {
	keys   []string
	values []any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var out strings.Builder
	out.WriteByte('{')
	for i, key := range o.keys {
		if i > 0 {
			out.WriteByte(',')
		}
		k, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(o.values[i])
		if err != nil {
			return nil, err
		}
		out.Write(k)
		out.WriteByte(':')
		out.Write(v)
	}
	out.WriteByte('}')
	return []byte(out.String()), nil
}

func (r *docReader) sample(schema *yaml.Node, depth int) any {
	s := r.resolve(schema)
	if s == nil || depth > maxDepth {
		return nil
	}
	if e := at(s, "example"); e != nil {
		return plain(e)
	}
	if e := items(at(s, "examples")); len(e) > 0 {
		return plain(e[0])
	}
	if values := r.enum(s); len(values) > 0 {
		return values[0]
	}
	kind := typeName(s)
	switch {
	case strings.HasPrefix(kind, "object"):
		o := ordered{}
		required := map[string]bool{}
		for _, name := range items(at(s, "required")) {
			required[name.Value] = true
		}
		each(at(s, "properties"), func(name string, member *yaml.Node) {
			if len(required) > 0 && !required[name] {
				return
			}
			o.keys = append(o.keys, name)
			o.values = append(o.values, r.sample(member, depth+1))
		})
		return o
	case strings.HasPrefix(kind, "array"):
		return []any{r.sample(at(s, "items"), depth+1)}
	case strings.HasPrefix(kind, "integer"), strings.HasPrefix(kind, "number"):
		return 1
	case strings.HasPrefix(kind, "boolean"):
		return true
	default:
		return "string"
	}
}

// plain turns a node into a value JSON can write, members in their order.
func plain(node *yaml.Node) any {
	switch node.Kind {
	case yaml.MappingNode:
		o := ordered{}
		each(node, func(key string, value *yaml.Node) {
			o.keys = append(o.keys, key)
			o.values = append(o.values, plain(value))
		})
		return o
	case yaml.SequenceNode:
		out := make([]any, 0, len(node.Content))
		for _, v := range node.Content {
			out = append(out, plain(v))
		}
		return out
	case yaml.AliasNode:
		return plain(node.Alias)
	default:
		var v any
		if err := node.Decode(&v); err != nil {
			return node.Value
		}
		if _, isTime := v.(interface{ Unix() int64 }); isTime {
			return node.Value
		}
		return v
	}
}
