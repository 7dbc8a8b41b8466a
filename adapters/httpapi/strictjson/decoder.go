package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"sundry/core/fault"
)

const (
	documentField = "body"
	whitespace    = " \t\r\n"
)

// decoder walks one document. Each method reads exactly one value and records its faults. Once stopped is set the
// input cannot be read on, and every loop ends.
type decoder struct {
	body    []byte
	in      *jsontext.Decoder
	path    []step
	faults  fault.Violations
	count   int  // of the members' faults
	utf8    bool // the whole body is valid, so no string needs to be checked
	stopped bool
}

// value reads the next value into v.
func (d *decoder) value(s *shape, v reflect.Value) {
	kind := d.in.PeekKind()
	switch s.form {
	case formPointer, formOptional:
		d.nullable(s, v, kind)
	case formAny:
		if x := d.any(); x != nil {
			v.Set(reflect.ValueOf(x))
		} else {
			v.SetZero()
		}
	case formRaw:
		before := d.in.InputOffset()
		d.any()
		if !d.stopped {
			v.SetBytes(bytes.Clone(bytes.TrimLeft(d.body[before:d.in.InputOffset()], whitespace+":,")))
		}
	default:
		if !s.form.matches(kind) {
			d.mismatch(s.form, kind)
			return
		}
		d.typed(s, v)
	}
}

// typed reads a value whose kind is already known to match.
func (d *decoder) typed(s *shape, v reflect.Value) {
	switch s.form {
	case formString:
		v.SetString(d.text())
	case formBool:
		if token, ok := d.token(); ok {
			v.SetBool(token.Bool())
		}
	case formInteger:
		d.integer(v)
	case formNumber:
		v.SetString(string(d.raw()))
	case formSlice:
		d.slice(s, v)
	case formMap:
		m := reflect.MakeMap(s.typ)
		d.object(func(name []byte) {
			key := reflect.ValueOf(string(name)).Convert(s.typ.Key())
			if m.MapIndex(key).IsValid() {
				d.duplicate()
				return
			}
			element := reflect.New(s.elem.typ).Elem()
			d.value(s.elem, element)
			m.SetMapIndex(key, element)
		})
		v.Set(m)
	case formStruct:
		seen := make([]bool, len(s.fields))
		d.object(func(name []byte) {
			f, known := s.fields[string(name)]
			switch {
			case !known:
				d.add(fault.DetailUnknownMember, unknownMember(string(name), s.fields))
				d.any()
			case seen[f.order]:
				d.duplicate()
			default:
				seen[f.order] = true
				d.value(f.shape, v.FieldByIndex(f.index))
			}
		})
	case formAny, formRaw, formPointer, formOptional:
		// value has read these: they match every kind.
	}
}

// nullable reads a pointer's or an Optional's value.
func (d *decoder) nullable(s *shape, v reflect.Value, kind jsontext.Kind) {
	null := kind == 'n'
	if null {
		_, _ = d.token()
	}
	if s.form == formPointer {
		v.SetZero()
		if !null {
			target := reflect.New(s.elem.typ)
			d.value(s.elem, target.Elem())
			v.Set(target)
		}
		return
	}
	v.SetZero()
	v.FieldByName("Set").SetBool(true)
	v.FieldByName("Null").SetBool(null)
	if !null {
		d.value(s.elem, v.FieldByName("Value"))
	}
}

// any reads a value of no expected type: a string, bool, json.Number, nil, []any or map[string]any. It also
// passes over values that are refused already, so that faults inside them are listed too.
func (d *decoder) any() any {
	switch kind := d.in.PeekKind(); kind {
	case '"':
		return d.text()
	case '0':
		return json.Number(d.raw())
	case '[':
		list := []any{}
		d.array(func() { list = append(list, d.any()) })
		return list
	case '{':
		members := map[string]any{}
		d.object(func(name []byte) {
			if _, taken := members[string(name)]; taken {
				d.duplicate()
				return
			}
			members[string(name)] = d.any()
		})
		return members
	default: // true, false, null, or no value at all
		token, ok := d.token()
		if !ok || kind == 'n' {
			return nil
		}
		return token.Bool()
	}
}

func (d *decoder) slice(s *shape, v reflect.Value) {
	list := reflect.MakeSlice(s.typ, 0, 0)
	d.array(func() {
		list = reflect.Append(list, reflect.Zero(s.elem.typ))
		d.value(s.elem, list.Index(list.Len()-1))
	})
	v.Set(list)
}

func (d *decoder) integer(v reflect.Value) {
	number := string(d.raw())
	n, err := strconv.ParseInt(number, 10, v.Type().Bits())
	switch {
	case err == nil:
		v.SetInt(n)
	case errors.Is(err, strconv.ErrRange):
		limit := uint64(1) << (v.Type().Bits() - 1)
		d.add(
			fault.DetailOutOfRange,
			"Expected an integer from -"+strconv.FormatUint(limit, 10)+" to "+strconv.FormatUint(limit-1, 10)+".",
		)
	case !d.stopped:
		d.add(fault.DetailWrongType, "Expected an integer, got a number with a fraction or an exponent.")
	}
}

// text reads a string, "" when it is one that no text column could hold.
func (d *decoder) text() string {
	return string(d.unquote(d.raw()))
}

func (d *decoder) unquote(quoted []byte) []byte {
	if len(quoted) < 2 {
		return nil
	}
	text := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		unescaped, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil && d.valid(quoted) {
			d.add(fault.DetailMalformed, "The string has half of a surrogate pair (\\ud800 to \\udfff).")
			return nil
		}
		text = unescaped
	}
	switch {
	case !d.valid(quoted):
		d.add(fault.DetailMalformed, "The string is not valid UTF-8.")
	case bytes.IndexByte(text, 0) >= 0:
		d.add(fault.DetailMalformed, "The string has a NUL character (\\u0000).")
	default:
		return text
	}
	return nil
}

func (d *decoder) valid(text []byte) bool {
	return d.utf8 || utf8.Valid(text)
}

// object reads an object; member is called with each name to read that name's value.
func (d *decoder) object(member func(name []byte)) {
	if !d.enter() {
		return
	}
	for !d.stopped && d.in.PeekKind() != '}' {
		quoted := d.raw()
		if d.stopped {
			return
		}
		before := d.count
		d.path = append(d.path, step{name: label(quoted)})
		if name := d.unquote(quoted); d.count == before {
			member(name)
		} else {
			d.any()
		}
		d.path = d.path[:len(d.path)-1]
	}
	_, _ = d.token()
}

// array reads an array; element is called to read each of its values.
func (d *decoder) array(element func()) {
	if !d.enter() {
		return
	}
	d.path = append(d.path, step{index: -1})
	for !d.stopped && d.in.PeekKind() != ']' {
		d.path[len(d.path)-1].index++
		element()
	}
	d.path = d.path[:len(d.path)-1]
	_, _ = d.token()
}

// enter reads the opening bracket, or skips the whole value when it is nested too deep.
func (d *decoder) enter() bool {
	if d.in.StackDepth() < maxDepth {
		_, ok := d.token()
		return ok
	}
	d.add(fault.DetailMalformed, "Objects and arrays may be nested "+strconv.Itoa(maxDepth)+" deep at most.")
	if err := d.in.SkipValue(); err != nil {
		d.syntax(err)
	}
	return false
}

func (d *decoder) duplicate() {
	d.add(fault.DetailDuplicate, "This member occurs more than once.")
	d.any()
}

func (d *decoder) mismatch(want form, got jsontext.Kind) {
	if name, ok := kindNames[got]; ok {
		d.add(fault.DetailWrongType, "Expected "+expectations[want]+", got "+name+".")
	}
	d.any()
}

// token reads the next token; a syntax error stops the decoder.
func (d *decoder) token() (jsontext.Token, bool) {
	if d.stopped {
		return jsontext.Token{}, false
	}
	token, err := d.in.ReadToken()
	if err != nil {
		d.syntax(err)
	}
	return token, err == nil
}

// raw reads the next string or number unchanged, nil after a syntax error. It returns the body's own bytes: those of
// the library are valid until its next read only, while names are needed for paths after it.
func (d *decoder) raw() []byte {
	if d.stopped {
		return nil
	}
	value, err := d.in.ReadValue()
	if err != nil {
		d.syntax(err)
		return nil
	}
	end := int(d.in.InputOffset())
	return d.body[end-len(value) : end]
}

// finish refuses whatever follows the document.
func (d *decoder) finish() {
	if d.stopped {
		return
	}
	if rest := bytes.TrimLeft(d.body[d.in.InputOffset():], whitespace); len(rest) > 0 {
		d.faults.Add(documentField, fault.DetailMalformed,
			"There is something after the end of the JSON value"+position(d.body, len(d.body)-len(rest))+".")
	}
}

// syntax ends the list with the place where the document stops being JSON.
func (d *decoder) syntax(err error) {
	if d.stopped {
		return
	}
	message := "The body is not valid JSON."
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		message = "The JSON document ends too early."
	case errors.As(err, &syntactic):
		message = "The body is not valid JSON" + position(d.body, int(syntactic.ByteOffset)) + ": " + syntactic.Err.Error() +
			"."
	}
	d.faults.Add(documentField, fault.DetailMalformed, message)
	d.stopped = true
}

// add records a fault of the member at the current path.
func (d *decoder) add(code, message string) {
	if d.stopped {
		return
	}
	d.faults.Add(render(d.path), code, message)
	if d.count++; d.count == maxFaults {
		d.faults.Add(
			documentField, fault.DetailTooLong,
			"There are more faults; these are the first "+strconv.Itoa(maxFaults)+".",
		)
		d.stopped = true
	}
}
