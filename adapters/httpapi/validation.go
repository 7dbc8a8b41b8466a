package httpapi

import (
	"errors"
	"slices"
	"strings"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
)

// MergeFieldErrors merges the faults of reading a document and of validating its values into one error, so that the
// caller fixes them in one round. A member that could not be read is not validated twice, and a document that could
// not be read to its end is not validated at all. It returns nil when every error is nil.
func MergeFieldErrors(reading error, validation ...error) error {
	var all []fault.Detail
	for i, err := range append([]error{reading}, validation...) {
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
			if !slices.ContainsFunc(read, func(r fault.Detail) bool {
				return isPathWithin(d.Field, r.Field) ||
					isPathWithin(r.Field, d.Field)
			}) {
				all = append(all, d)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fault.Invalid(all...)
}

// isPathWithin reports whether a member's path is another's or lies below it.
func isPathWithin(field, outer string) bool {
	rest, ok := strings.CutPrefix(field, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// PatchValue returns the value that a member of a PATCH sets; nil leaves it as it is. Null is refused.
func PatchValue[T any](f *fault.Violations, field string, o strictjson.Optional[T]) *T {
	if !o.Set || !f.Check(!o.Null, field, fault.DetailWrongType, "This member cannot be null.") {
		return nil
	}
	return &o.Value
}

// PatchNullable is PatchValue for a text that null clears; to the rules that is the empty text, which a request may not
// send itself.
func PatchNullable(f *fault.Violations, field string, o strictjson.Optional[string]) *string {
	if !o.Set || !f.Check(o.Null || o.Value != "", field, fault.DetailTooShort, "Expected some text, or null for none.") {
		return nil
	}
	return &o.Value
}
