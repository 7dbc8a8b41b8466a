package docs

import (
	"html/template"
	"reflect"
	"slices"
	"strings"

	"sundry/core/locale"
)

// apiField is one member of a body, or one parameter.
type apiField struct {
	Name     string
	Type     string
	Required bool
	Text     template.HTML
	Enum     []string
	Limits   []string // "1–200 characters", "default 20"
	Example  string   // of a path parameter
	Children []apiField
}

// expandedMember holds whole objects, which are described at their own routes.
const expandedMember = "expanded"

// maxDepth bounds the depth of nested members; a schema that contains itself stops there.
const maxDepth = 6

// shape returns a schema's type in words and its members.
func (d *document) shape(of *schema, depth int) (string, []apiField) {
	s := d.schema(of)
	if s == nil || depth > maxDepth {
		return "", nil
	}
	if len(s.AllOf) > 0 {
		kind, fields := "object", d.members(s, depth)
		for _, part := range s.AllOf {
			partKind, more := d.shape(part, depth)
			if partKind != anyType {
				kind = partKind
			}
			fields = refined(fields, more)
		}
		return kind, fields
	}
	if options := slices.Concat(s.OneOf, s.AnyOf); len(options) > 0 {
		return d.choice(options, depth)
	}
	kind := typeName(s)
	switch {
	case strings.HasPrefix(kind, "array") && s.Items != nil:
		inner, fields := d.shape(s.Items, depth+1)
		if inner == "" {
			return kind, fields
		}
		return strings.Replace(kind, "array", "array of "+inner, 1), fields
	case strings.HasPrefix(kind, "object"):
		return kind, d.members(s, depth)
	default:
		return kind, nil
	}
}

// choice joins alternatives: their types in words, the members of those that have some.
func (d *document) choice(options []*schema, depth int) (string, []apiField) {
	var kinds []string
	var fields []apiField
	for _, option := range options {
		kind, more := d.shape(option, depth+1)
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		fields = either(fields, more)
	}
	return strings.Join(kinds, " or "), fields
}

// either joins the members of two alternatives: a member of both has the values of either, and members of its own only
// where they are the same in both.
func either(fields, more []apiField) []apiField {
	for _, f := range more {
		i := slices.IndexFunc(fields, func(known apiField) bool { return known.Name == f.Name })
		if i < 0 {
			fields = append(fields, f)
			continue
		}
		for _, value := range f.Enum {
			if !slices.Contains(fields[i].Enum, value) {
				fields[i].Enum = append(fields[i].Enum, value)
			}
		}
		if !reflect.DeepEqual(fields[i].Children, f.Children) {
			fields[i].Children = nil
		}
	}
	return fields
}

// refined adds members, each name once: a later part completes what an earlier one specifies of a member.
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

func (d *document) members(s *schema, depth int) []apiField {
	var fields []apiField
	add := func(name string, of *schema) {
		below := depth + 1
		if name == expandedMember {
			below = max(below, maxDepth-2)
		}
		kind, children := d.shape(of, below)
		fields = append(fields, apiField{
			Name: name, Type: kind, Required: slices.Contains(s.Required, name), Text: markup(d.described(of)),
			Enum: d.enum(of), Limits: d.limits(of), Children: children,
		})
	}
	for _, property := range s.Properties {
		add(property.name, property.value)
	}
	if extra := s.AdditionalProperties.schema; extra != nil {
		add(locale.Default.Text("docs.any_key"), extra)
	}
	return fields
}

// described returns a schema's description, or that of the last part that has one.
func (d *document) described(of *schema) string {
	s := d.schema(of)
	if s == nil || s.Description != "" {
		if s == nil {
			return ""
		}
		return s.Description
	}
	for _, part := range slices.Backward(s.AllOf) { // what is beside a reference comes last
		if p := d.schema(part); p != nil && p.Description != "" {
			return p.Description
		}
	}
	return ""
}

func (d *document) enum(of *schema) []string {
	s := d.schema(of)
	if s == nil {
		return nil
	}
	if s.Items != nil {
		if s = d.schema(s.Items); s == nil {
			return nil
		}
	}
	var values []string
	for _, v := range s.Enum {
		if v.Tag != "!!null" { // the type names it
			values = append(values, v.Value)
		}
	}
	if !s.Const.IsZero() {
		values = append(values, s.Const.Value)
	}
	return values
}

// limits describes the constraints of a value.
func (d *document) limits(of *schema) []string {
	s := d.schema(of)
	if s == nil {
		return nil
	}
	var out []string
	add := func(words string) {
		if words != "" {
			out = append(out, words)
		}
	}
	add(between(s.MinLength, s.MaxLength, " characters"))
	add(between(s.MinItems, s.MaxItems, " items"))
	add(between(s.Minimum, s.Maximum, ""))
	if s.Pattern != "" {
		add("pattern " + s.Pattern)
	}
	if s.Default.Value != "" {
		add("default " + s.Default.Value)
	}
	return out
}

func between(low, high, unit string) string {
	switch {
	case low != "" && low == high:
		return low + unit
	case low != "" && high != "":
		return low + "–" + high + unit
	case low != "":
		return "at least " + low + unit
	case high != "":
		return "at most " + high + unit
	}
	return ""
}

// anyType is the type of a schema that names none.
const anyType = "any"

// typeName is the type in words, with its format: "string (date-time) or null".
func typeName(s *schema) string {
	kinds := slices.Clone([]string(s.Type))
	switch {
	case len(kinds) == 0 && len(s.Properties) > 0:
		kinds = []string{"object"}
	case len(kinds) == 0:
		kinds = []string{anyType}
	}
	if s.Format != "" {
		kinds[0] += " (" + s.Format + ")"
	}
	return strings.Join(kinds, " or ")
}
