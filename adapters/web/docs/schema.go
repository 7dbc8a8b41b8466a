package docs

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/pb33f/libopenapi/datamodel/high/base"
	"github.com/pb33f/libopenapi/orderedmap"

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

// maxDepth is how deep nested members are shown; a schema that contains itself stops there.
const maxDepth = 6

// shape is a schema's type in words and its members.
func shape(proxy *base.SchemaProxy, depth int) (string, []apiField) {
	s := resolved(proxy)
	if s == nil || depth > maxDepth {
		return "", nil
	}
	if len(s.AllOf) > 0 {
		kind, fields := "object", members(s, depth)
		for _, part := range s.AllOf {
			partKind, more := shape(part, depth)
			if partKind != anyType {
				kind = partKind
			}
			fields = refined(fields, more)
		}
		return kind, fields
	}
	if options := slices.Concat(s.OneOf, s.AnyOf); len(options) > 0 {
		return choice(options, depth)
	}
	kind := typeName(s)
	switch {
	case strings.HasPrefix(kind, "array") && s.Items != nil && s.Items.IsA():
		inner, fields := shape(s.Items.A, depth+1)
		if inner == "" {
			return kind, fields
		}
		return strings.Replace(kind, "array", "array of "+inner, 1), fields
	case strings.HasPrefix(kind, "object"):
		return kind, members(s, depth)
	default:
		return kind, nil
	}
}

// choice joins alternatives: their types in words, the members of those that have some.
func choice(options []*base.SchemaProxy, depth int) (string, []apiField) {
	var kinds []string
	var fields []apiField
	for _, option := range options {
		kind, more := shape(option, depth+1)
		kinds = append(kinds, kind)
		fields = refined(fields, more)
	}
	return strings.Join(kinds, " or "), fields
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

func members(s *base.Schema, depth int) []apiField {
	var fields []apiField
	add := func(name string, proxy *base.SchemaProxy) {
		kind, children := shape(proxy, depth+1)
		fields = append(fields, apiField{
			Name: name, Type: kind, Required: slices.Contains(s.Required, name), Text: markup(described(proxy)),
			Enum: enum(proxy), Limits: limits(proxy), Children: children,
		})
	}
	for name, proxy := range s.Properties.FromOldest() {
		add(name, proxy)
	}
	if extra := s.AdditionalProperties; extra != nil && extra.IsA() {
		add(locale.Default.Text("docs.any_key"), extra.A)
	}
	return fields
}

// described is a schema's description, or that of the first part that has one.
func described(proxy *base.SchemaProxy) string {
	s := resolved(proxy)
	if s == nil || s.Description != "" {
		if s == nil {
			return ""
		}
		return s.Description
	}
	for _, part := range slices.Backward(s.AllOf) { // what is beside a reference comes last
		if p := resolved(part); p != nil && p.Description != "" {
			return p.Description
		}
	}
	return ""
}

func enum(proxy *base.SchemaProxy) []string {
	s := resolved(proxy)
	if s == nil {
		return nil
	}
	if s.Items != nil && s.Items.IsA() {
		if s = resolved(s.Items.A); s == nil {
			return nil
		}
	}
	var values []string
	for _, v := range s.Enum {
		values = append(values, v.Value)
	}
	if s.Const != nil {
		values = append(values, s.Const.Value)
	}
	return values
}

// limits are what a value must keep to, in words.
func limits(proxy *base.SchemaProxy) []string {
	s := resolved(proxy)
	if s == nil {
		return nil
	}
	var out []string
	add := func(words string) {
		if words != "" {
			out = append(out, words)
		}
	}
	add(between(number(s.MinLength), number(s.MaxLength), " characters"))
	add(between(number(s.MinItems), number(s.MaxItems), " items"))
	add(between(decimal(s.Minimum), decimal(s.Maximum), ""))
	if s.Pattern != "" {
		add("pattern " + s.Pattern)
	}
	if s.Default != nil && s.Default.Value != "" {
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

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func decimal(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// anyType is the type of a schema that names none.
const anyType = "any"

// typeName is the type in words, with its format: "string (date-time) or null".
func typeName(s *base.Schema) string {
	kinds := slices.Clone(s.Type)
	switch {
	case len(kinds) == 0 && orderedmap.Len(s.Properties) > 0:
		kinds = []string{"object"}
	case len(kinds) == 0:
		kinds = []string{anyType}
	}
	if s.Nullable != nil && *s.Nullable {
		kinds = append(kinds, "null")
	}
	if s.Format != "" {
		kinds[0] += " (" + s.Format + ")"
	}
	return strings.Join(kinds, " or ")
}
