package ui

import (
	"errors"
	"slices"
	"strings"

	"sundry/core/fault"
)

// Field is an entry of a form. Name is the member's path in the use case's violations, so that a violation finds it.
type Field struct {
	Name        string
	Label, Hint Words
	// Type is an input's type, or textarea, select, checkbox, boxes, hidden, day, rows; "" = text.
	Type    string
	Value   string
	Checked bool // of a checkbox
	Options []Option
	// Groups follow the Options of a field of the type boxes. All that are checked are sent under its name.
	Groups []Group
	// Day is set for a field of the type day.
	Day *Day
	// List is set for a field of the type rows.
	List *Rows
	// OwnZone has the script choose the time zone of the browser.
	OwnZone bool
	// Search says what the list of options, which is searched by typing, shows when none matches; "" for a short list.
	Search       Words
	Autocomplete string
	Placeholder  Words
	Suffix       Words  // a unit beside the field
	Rows         int    // of a textarea
	Accept       string // of a picture: its media types
	Required     bool
	ReadOnly     bool
	Half         bool // half as wide as the form
	Mono         bool
	InRow        bool // one of several fields of a row, which is optional as a whole
	Errors       []Words
	// Also are further paths whose violations belong here.
	Also []string
}

// Day is a row of hours: a day of the week, which is open or not, or a date, which replaces its weekday.
type Day struct {
	// Input begins the names of what the row sends.
	Input string
	// Date is an exception's, YYYY-MM-DD; Dated distinguishes one that is still empty from a day of the week.
	Date  string
	Dated bool
	Open  bool
	// Ranges are the hours, one after the other.
	Ranges []DayRange
	// Change is the address to which the buttons of the row send the form.
	Change string
}

// DayRange offers when a range begins and ends. An empty beginning is no range.
type DayRange struct{ From, To []Option }

// Group is a set of checkboxes with a heading. Where the value of one ends in "*", those that follow it look optional
// once it is checked.
type Group struct {
	Label   Words
	Options []Option
}

// Option is an entry of a select, or a checkbox.
type Option struct {
	Value    string
	Label    Words
	Selected bool
	// Former are further words that a search finds it by.
	Former string
}

// Hidden returns a field that is sent, but not shown.
func Hidden(name, value string) Field { return Field{Name: name, Type: "hidden", Value: value} }

// Form is a form with the faults that its use case found.
type Form struct {
	// ID is unique on its page.
	ID, Action, Token string
	Title, Lead       Words
	Fields            []Field
	Submit            Words
	Cancel            string // where "Cancel" leads; "" for none
	Preview           string // where the form is sent to show what it would make; "" for none
	Danger            bool
	Multipart         bool
	// Upload is below which address the script sends a file in parts; "" for a form without one.
	Upload string
	// Passkey has the script ask the browser for a passkey before the form is sent; nil for other forms. Without a script
	// the form is not shown.
	Passkey *Passkey
	// Get submits the form with GET: it opens a page and changes nothing.
	Get bool
	// Facts stand above the fields.
	Facts []Fact
	// Inner says that buttons stand before the last one, which Enter is to press.
	Inner bool
	// Wide gives the button the form's width.
	Wide bool
	// Compact puts everything in one line where there is space.
	Compact bool
	// Stored is the digest of the values that a form that replaces what is stored was made with; "" for other forms.
	Stored string
	// Problem is a refusal that belongs to no field. Notice reports success.
	Problem, Notice Words
	// Problems are violations of members that have no field.
	Problems []Problem
}

// Problem is a violation of a member, which "" leaves out.
type Problem struct {
	Member string
	Text   Words
}

// Passkey makes a form ask the browser to create or use a passkey.
type Passkey struct {
	// Options is JSON of WebAuthn. Ceremony is sent back as it is.
	Options, Ceremony string
	// Suffix ends the names of the two fields, ceremony and passkey.
	Suffix string
}

// Refuse shows a refusal at the fields to blame. It returns false for an error that is not the sender's.
func (f *Form) Refuse(err error) bool {
	var refusal *fault.Error
	if !errors.As(err, &refusal) {
		return false
	}
	if len(refusal.Details) == 0 {
		f.Problem = Words(refusal.Message)
		return true
	}
	for _, d := range refusal.Details {
		if at := f.FieldFor(d.Field); at != nil {
			at.Errors = append(at.Errors, Words(d.Message))
			continue
		}
		f.Problems = append(f.Problems, Problem{d.Field, Words(d.Message)})
	}
	f.Problem = "Check the highlighted fields."
	if len(refusal.Details) == len(f.Problems) {
		f.Problem = "That didn’t work."
	}
	return true
}

// FieldFor returns the field of a violation's path, such as metadata.downloadUrl or prices[0], or of its nearest
// parent. It returns nil where no field is to blame.
func (f *Form) FieldFor(path string) *Field {
	for path != "" {
		for i := range f.Fields {
			at := &f.Fields[i]
			if at.isOf(path) {
				return at
			}
			if at.List == nil {
				continue
			}
			if inRow := at.List.fieldFor(path); inRow != nil {
				return inRow
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

func (f Field) isOf(path string) bool {
	return f.Type != "hidden" && (f.Name == path || slices.Contains(f.Also, path))
}

// Choices makes the options of a select from values and labels, in turns. The labels are Words.
func Choices(selected string, valuesAndLabels ...string) []Option {
	var all []Option
	for i := 0; i+1 < len(valuesAndLabels); i += 2 {
		all = append(all, Option{
			Value: valuesAndLabels[i], Label: Words(valuesAndLabels[i+1]), Selected: valuesAndLabels[i] == selected,
		})
	}
	return all
}
