package strictjson

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// form selects how a Go type is read from JSON.
type form int

const (
	formString form = iota
	formBool
	formInteger
	formNumber
	formAny
	formRaw
	formSlice
	formMap
	formStruct
	formPointer
	formOptional
)

// What each form expects, in the words of the messages.
var expectations = map[form]string{
	formString: "a string", formBool: "true or false", formInteger: "an integer", formNumber: "a number",
	formSlice: "an array", formMap: "an object", formStruct: "an object",
}

// shape is a type prepared for decoding. Shapes may refer to themselves through elem and fields.
type shape struct {
	form   form
	typ    reflect.Type
	elem   *shape           // of slices, maps, pointers and optionals
	fields map[string]field // of structs
}

type field struct {
	order int   // position among the struct's members
	index []int // for reflect.Value.FieldByIndex
	shape *shape
}

var (
	shapes sync.Map // reflect.Type -> *shape, complete

	numberType          = reflect.TypeFor[json.Number]()
	rawType             = reflect.TypeFor[json.RawMessage]()
	optionalType        = reflect.TypeFor[interface{ optional() }]()
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape) //nolint:errcheck // nothing else is ever stored
	}
	s := build(t, map[reflect.Type]*shape{})
	shapes.Store(t, s)
	return s
}

// build prepares t and its parts; building holds the shapes begun, for types that contain themselves.
func build(t reflect.Type, building map[reflect.Type]*shape) *shape {
	if begun, ok := building[t]; ok {
		return begun
	}
	s := &shape{typ: t}
	building[t] = s
	switch {
	case t == numberType:
		s.form = formNumber
	case t == rawType:
		s.form = formRaw
	case reflect.PointerTo(t).Implements(optionalType):
		value, _ := t.FieldByName("Value")
		s.form, s.elem = formOptional, build(value.Type, building)
	case t.Kind() == reflect.Pointer:
		s.form, s.elem = formPointer, build(t.Elem(), building)
	case reflect.PointerTo(t).Implements(unmarshalerType), reflect.PointerTo(t).Implements(textUnmarshalerType):
		panic(fmt.Sprintf("strictjson: %s reads itself, so its faults would have no path", t))
	case t.Kind() == reflect.String:
		s.form = formString
	case t.Kind() == reflect.Bool:
		s.form = formBool
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		s.form = formInteger
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		s.form = formAny
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8: // encoding/json reads []byte as base64
		s.form, s.elem = formSlice, build(t.Elem(), building)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		s.form, s.elem = formMap, build(t.Elem(), building)
	case t.Kind() == reflect.Struct:
		s.form, s.fields = formStruct, map[string]field{}
		addFields(s, t, nil, building)
	default:
		panic(fmt.Sprintf("strictjson: cannot fill a %s", t))
	}
	return s
}

// addFields adds the members of struct type t, found at index within the shape's own type.
func addFields(s *shape, t reflect.Type, index []int, building map[reflect.Type]*shape) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int(nil), index...), i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			addFields(s, f.Type, at, building)
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			panic(fmt.Sprintf("strictjson: field %s of %s has no json name", f.Name, t))
		}
		if _, taken := s.fields[name]; taken {
			panic(fmt.Sprintf("strictjson: %s has the member %q twice", s.typ, name))
		}
		s.fields[name] = field{order: len(s.fields), index: at, shape: build(f.Type, building)}
	}
}
