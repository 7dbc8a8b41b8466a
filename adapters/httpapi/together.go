package httpapi

import (
	"errors"
	"slices"
	"strings"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
)

// together is one error of the faults that reading a document found and of those that its values have, so that the
// caller mends them in one round. A member that could not be read is not judged twice, and a document that could not
// be read to its end is not judged at all. nil when every error is nil.
func together(reading error, judging ...error) error {
	var all []fault.Detail
	for i, err := range append([]error{reading}, judging...) {
		if err == nil {
			continue
		}
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.ValidationFailed {
			return err
		}
		if i == 0 && slices.ContainsFunc(f.Details, func(d fault.Detail) bool { return d.Field == "body" }) {
			return err
		}
		read := slices.Clone(all)
		for _, d := range f.Details {
			if !slices.ContainsFunc(read, func(r fault.Detail) bool { return within(d.Field, r.Field) || within(r.Field, d.Field) }) {
				all = append(all, d)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fault.Invalid(all...)
}

// within reports whether a member's path is another's or lies below it.
func within(field, outer string) bool {
	rest, ok := strings.CutPrefix(field, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// given is what a member of a PATCH sets: nil leaves it as it is. It cannot be null.
func given[T any](f *fault.Faults, field string, o strictjson.Optional[T]) *T {
	if !o.Set || !f.Check(!o.Null, field, fault.DetailWrongType, "This member cannot be null.") {
		return nil
	}
	return &o.Value
}

// clearable is given for a text that null clears; to the rules that is the empty text, which nobody else may send.
func clearable(f *fault.Faults, field string, o strictjson.Optional[string]) *string {
	if !o.Set || !f.Check(o.Null || o.Value != "", field, fault.DetailTooShort, "Expected some text, or null for none.") {
		return nil
	}
	return &o.Value
}
