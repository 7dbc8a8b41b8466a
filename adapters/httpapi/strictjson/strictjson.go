// Package strictjson reads request bodies strictly: it refuses unknown, doubled, mistyped and malformed members, and
// lists every fault in one response so that an integrator fixes them in one round. It does not check whether a member
// is present: use cases know what they require.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"sundry/core/fault"
)

const (
	maxDepth  = 32  // objects and arrays within each other, the outermost counted
	maxFaults = 256 // beyond these a hostile body would make the response larger than itself
)

// Decode reads the JSON document body into the value that the pointer into leads to, or returns a
// VALIDATION_FAILED *fault.Error with every fault in the order of the document; a syntax error ends the list.
// A detail's field is the member's path, such as prices[0].currency, or "body" for the document as a whole.
// After an error into may hold some of the members.
//
// It fills structs by their json tags (names match by case; embedded structs are flattened), strings, bools,
// signed integers, json.Number and json.RawMessage (both kept to the letter), slices, maps with string keys,
// pointers (null is nil), Optional, and any (string, bool, json.Number, nil, []any, map[string]any). null is
// a value of pointers, Optional, any and json.RawMessage only. Members that are absent stay as they were.
// Another kind of target is a defect of the caller, and Decode panics.
func Decode(body []byte, into any) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		panic(fmt.Sprintf("strictjson: %T is not a pointer to fill", into))
	}
	shape := shapeOf(target.Type().Elem())
	if len(bytes.TrimLeft(body, whitespace)) == 0 {
		return fault.Invalid(fault.Detail{
			Field: documentField, Code: fault.DetailRequired, Message: "A JSON body is required.",
		})
	}
	d := decoder{body: body, utf8: utf8.Valid(body), path: make([]step, 0, 8),
		in: jsontext.NewDecoder(bytes.NewBuffer(body),
			// Both are checked here, where the path is known and the list goes on.
			jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	d.value(shape, target.Elem())
	d.finish()
	return d.faults.Err()
}

// Optional is a member of a PATCH body: absent (the zero value), null, or a value.
type Optional[T any] struct {
	Set   bool // the member is present
	Null  bool // and is null
	Value T    // and has this value unless Null
}

// MarshalJSON writes the value or null. Leave out absent members with the tag option omitzero.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Set || o.Null {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// UnmarshalJSON lets encoding/json read what Decode reads.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	*o = Optional[T]{Set: true, Null: string(data) == "null"}
	if o.Null {
		return nil
	}
	return json.Unmarshal(data, &o.Value)
}

func (*Optional[T]) optional() {}
