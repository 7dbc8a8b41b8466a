package fault

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Violations collects every fault of a request, so that the integrator fixes them in one round. The zero value is
// ready to use. It is not safe for use by several goroutines.
type Violations struct {
	parent  *Violations // the collector that keeps the details of this one; nil for the outermost
	prefix  string      // path of the members named to this collector
	details []Detail
}

// Add records a fault of the member at field (a path below this collector's own; "" for that path itself).
func (f *Violations) Add(field, code, message string) {
	if f.parent != nil {
		f.parent.Add(Join(f.prefix, field), code, message)
		return
	}
	f.details = append(f.details, Detail{Field: field, Code: code, Message: message})
}

// Addf is Add with a formatted message.
func (f *Violations) Addf(field, code, format string, args ...any) {
	f.Add(field, code, fmt.Sprintf(format, args...))
}

// Check records the fault unless ok, and returns ok so that dependent checks can be left out.
func (f *Violations) Check(ok bool, field, code, message string) bool {
	if !ok {
		f.Add(field, code, message)
	}
	return ok
}

// OneOf records a fault unless the value is one of those allowed, and suggests the nearest. It returns whether it is.
func (f *Violations) OneOf(field, value string, allowed ...string) bool {
	return f.Check(slices.Contains(allowed, value), field, DetailNotAllowed, ExpectedOneOf(value, allowed...))
}

// Nest returns a collector for the members below prefix: Nest("prices[0]").Add("currency", …) records
// prices[0].currency here.
func (f *Violations) Nest(prefix string) *Violations {
	return &Violations{parent: f, prefix: prefix}
}

// Item is Nest for the i-th element of a list.
func (f *Violations) Item(list string, i int) *Violations {
	return f.Nest(list + "[" + strconv.Itoa(i) + "]")
}

// Merge takes over the details of a VALIDATION_FAILED error under this collector's path and returns nil. Any
// other error comes back as it is.
func (f *Violations) Merge(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != ValidationFailed {
		return err
	}
	for _, d := range e.Details {
		f.Add(d.Field, d.Code, d.Message)
	}
	if len(e.Details) == 0 {
		f.Add("", DetailInvalid, e.Message)
	}
	return nil
}

// Err returns a VALIDATION_FAILED *Error of all that was recorded, nil when nothing was. On a nested collector
// it speaks for the outermost.
func (f *Violations) Err() error {
	if f.parent != nil {
		return f.parent.Err()
	}
	if len(f.details) == 0 {
		return nil
	}
	return Invalid(append([]Detail(nil), f.details...)...)
}

// Join appends a member name or an index such as [0] to a path.
func Join(path, field string) string {
	if path == "" {
		return field
	}
	if field == "" || strings.HasPrefix(field, "[") {
		return path + field
	}
	return path + "." + field
}
