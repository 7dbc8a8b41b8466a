package strictjson

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"sundry/core/fault"
)

// maxLabel bounds how much of a name made up by the caller is repeated in a response, in bytes.
const maxLabel = 64

var kindNames = map[jsontext.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
}

// matches reports whether a value of the kind can be read as the form at all.
func (f form) matches(kind jsontext.Kind) bool {
	switch f {
	case formString:
		return kind == '"'
	case formBool:
		return kind == 't' || kind == 'f'
	case formInteger, formNumber:
		return kind == '0'
	case formSlice:
		return kind == '['
	case formMap, formStruct:
		return kind == '{'
	default:
		return false // the rest is read before the kind is checked
	}
}

// step is one part of a member's path: a name, or an index when the name is empty.
type step struct {
	name  []byte
	index int
}

// render writes a path as integrators know it: prices[0].currency, metadata["a.b"].
func render(path []step) string {
	if len(path) == 0 {
		return documentField
	}
	out := ""
	for _, s := range path {
		switch {
		case s.name == nil:
			out += "[" + strconv.Itoa(s.index) + "]"
		case plain(s.name):
			out = fault.Join(out, string(s.name))
		default:
			out += "[" + strconv.Quote(string(s.name)) + "]"
		}
	}
	return out
}

// label is the part of a quoted member name that paths show.
func label(quoted []byte) []byte {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, quoted) // refused elsewhere when it is not text
	}
	if len(name) <= maxLabel {
		return name
	}
	end := maxLabel
	for end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	return append(bytes.Clone(name[:end]), "…"...)
}

// plain reports whether a name reads unmistakably within a path.
func plain(name []byte) bool {
	for _, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '_' && c != '-' {
			return false
		}
	}
	return len(name) > 0
}

// position describes where an offset lies for a human reader.
func position(body []byte, offset int) string {
	before := body[:min(offset, len(body))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return " at line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
}

// unknownMember is the message for a name the object does not have, with the likeliest name that it has.
func unknownMember(name string, fields map[string]field) string {
	const message = "This object has no such member."
	if len(name) > maxLabel {
		return message
	}
	return message + fault.DidYouMean(name, slices.Collect(maps.Keys(fields))...)
}
