package dashboard

import (
	"errors"
	"slices"
	"strings"

	"sundry/core/fault"
)

// field is one entry of a form. Name is the member's path in the use case's violations, so that a violation finds it.
type field struct {
	Name, Label, Hint string
	// Type is an input's type, or textarea, select, checkbox, hidden; "" = text.
	Type         string
	Value        string
	Checked      bool // of a checkbox
	Options      []option
	Autocomplete string
	Placeholder  string
	Suffix       string // a unit beside the field
	Rows         int    // of a textarea
	Required     bool
	ReadOnly     bool
	Half         bool // half as wide as the form
	Mono         bool
	Error        string
	// Also are further paths whose violations belong here.
	Also []string
}

type option struct {
	Value, Label string
	Selected     bool
}

func hidden(name, value string) field { return field{Name: name, Type: "hidden", Value: value} }

// form is a form with what its use case found wrong with it.
type form struct {
	// ID is unique on its page.
	ID, Action, Token string
	Title, Lead       string
	Fields            []field
	Submit            string
	Cancel            string // where "Cancel" leads; "" for none
	Danger            bool
	Multipart         bool
	// Get asks for a page instead of changing something.
	Get bool
	// Facts stand above the fields.
	Facts []fact
	// Wide gives the button the form's width.
	Wide bool
	// Compact puts everything in one line where there is space.
	Compact bool
	// Problem is what was refused that no field is to blame for, Notice what went well.
	Problem, Notice string
	// Problems are violations of members that have no field.
	Problems []string
}

// refuse shows a refusal at the fields to blame; false for an error that is not the sender's.
func (f *form) refuse(err error) bool {
	var refusal *fault.Error
	if !errors.As(err, &refusal) {
		return false
	}
	if len(refusal.Details) == 0 {
		f.Problem = refusal.Message
		return true
	}
	for _, d := range refusal.Details {
		if at := f.fieldOf(d.Field); at != nil {
			at.Error = strings.TrimSpace(at.Error + " " + d.Message)
			continue
		}
		text := d.Message
		if d.Field != "" {
			text = d.Field + ": " + text
		}
		f.Problems = append(f.Problems, text)
	}
	f.Problem = "That didn’t work yet. Please check what is marked."
	if len(refusal.Details) == len(f.Problems) {
		f.Problem = "That didn’t work."
	}
	return true
}

// fieldOf is the field of a member, or of the member that it is below of: metadata.downloadUrl, prices[0].
func (f *form) fieldOf(path string) *field {
	for path != "" {
		for i := range f.Fields {
			if f.Fields[i].Type != "hidden" && f.Fields[i].isOf(path) {
				return &f.Fields[i]
			}
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return nil
		}
		path = path[:cut]
	}
	return nil
}

func (f field) isOf(path string) bool {
	if f.Name == path {
		return true
	}
	return slices.Contains(f.Also, path)
}

// choices makes the options of a select from values and labels, in turns.
func choices(selected string, valuesAndLabels ...string) []option {
	var all []option
	for i := 0; i+1 < len(valuesAndLabels); i += 2 {
		all = append(all, option{valuesAndLabels[i], valuesAndLabels[i+1], valuesAndLabels[i] == selected})
	}
	return all
}
