package docs

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"go.yaml.in/yaml/v4"
)

// curl writes the line that tries an operation.
func (r *docReader) curl(op *apiOp, media *v3.MediaType) string {
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
	for _, name := range op.Auth {
		if scheme := r.document.Components.SecuritySchemes.GetOrZero(name); scheme != nil && scheme.Type == "http" {
			line += " \\\n  -H \"Authorization: Bearer $" + envName(name) + "\""
			break
		}
	}
	if media == nil {
		return line
	}
	if op.Method == http.MethodPost && len(op.Auth) > 0 && hasHeader(op, "Idempotency-Key") {
		line += " \\\n  -H 'Idempotency-Key: order-1001'"
	}
	body := indented(example(media), "  ")
	if body == "" {
		return line
	}
	return line + " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'"
}

func hasHeader(op *apiOp, name string) bool {
	return slices.ContainsFunc(op.Params, func(p apiField) bool { return strings.EqualFold(p.Name, name) })
}

// envName is the shell variable a credential is put in.
func envName(scheme string) string {
	if strings.Contains(strings.ToLower(scheme), "key") {
		return "SUNDRY_KEY"
	}
	return "ACCESS_TOKEN"
}

// indented is a value as JSON; "" for none.
func indented(value any, prefix string) string {
	if value == nil {
		return ""
	}
	raw, err := json.MarshalIndent(value, prefix, "  ")
	if err != nil {
		return ""
	}
	return string(raw)
}

// example prefers what the document's author wrote and makes the rest from the schema.
func example(media *v3.MediaType) any {
	if media.Example != nil {
		return plain(media.Example)
	}
	for _, e := range media.Examples.FromOldest() {
		if e.Value != nil {
			return plain(e.Value)
		}
	}
	return sample(media.Schema, 0)
}

// ordered keeps the members of an example in the schema's order.
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

func (o *ordered) add(key string, value any) {
	if i := slices.Index(o.keys, key); i >= 0 {
		o.values[i] = value
		return
	}
	o.keys, o.values = append(o.keys, key), append(o.values, value)
}

func sample(proxy *base.SchemaProxy, depth int) any {
	s := resolved(proxy)
	if s == nil || depth > maxDepth {
		return nil
	}
	switch {
	case s.Example != nil:
		return plain(s.Example)
	case len(s.Examples) > 0:
		return plain(s.Examples[0])
	}
	if values := enum(proxy); len(values) > 0 && !slices.Contains(s.Type, "array") {
		return values[0]
	}
	if options := slices.Concat(s.OneOf, s.AnyOf); len(options) > 0 {
		return sample(options[0], depth)
	}
	kind := typeName(s)
	switch {
	case strings.HasPrefix(kind, "object"), len(s.AllOf) > 0:
		return sampleObject(s, depth)
	case strings.HasPrefix(kind, "array"):
		if s.Items == nil || !s.Items.IsA() {
			return []any{}
		}
		return []any{sample(s.Items.A, depth+1)}
	case strings.HasPrefix(kind, "integer"), strings.HasPrefix(kind, "number"):
		return 1
	case strings.HasPrefix(kind, "boolean"):
		return true
	case strings.HasPrefix(kind, "string (date-time)"):
		return "2026-06-15T08:30:00.000Z"
	default:
		return "string"
	}
}

// sampleObject has the required members, all of them where none is required.
func sampleObject(s *base.Schema, depth int) any {
	o := ordered{}
	for _, part := range s.AllOf {
		if inner, ok := sample(part, depth).(ordered); ok {
			for i, key := range inner.keys {
				o.add(key, inner.values[i])
			}
		}
	}
	for name, member := range s.Properties.FromOldest() {
		if len(s.Required) == 0 || slices.Contains(s.Required, name) {
			o.add(name, sample(member, depth+1))
		}
	}
	return o
}

// plain turns a node into a value JSON can write, members in their order.
func plain(node *yaml.Node) any {
	switch node.Kind {
	case yaml.MappingNode:
		o := ordered{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			o.add(node.Content[i].Value, plain(node.Content[i+1]))
		}
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
